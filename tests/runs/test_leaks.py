"""With the conversations taken away, nobody passes: no header, title or label gives an answer away."""

from __future__ import annotations

import pytest

from harness.runs.scoring import score_run
from harness.scoring import find_scorer, score_case
from harness.suite import Suite, load_suite
from tests.runs.conftest import Go
from tests.runs.probe import built_in

EMPTIED = """---
conversation_id: conv_001
timestamp: 2020-01-01T09:00:00+00:00
messages:
  - user: Hello.
  - assistant: Hello, how can I help?
"""
RECALLING = ("bm25", "no_memory", "last_conversation", "full_context", "oracle")
ANSWERING = ("echo", "abstain", "bluffer", "dump")


@pytest.fixture(scope="module")
def emptied(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    root = tmp_path_factory.mktemp("emptied")
    for case in load_suite():
        header = case.path.read_text(encoding="utf-8").split("\n---\n", 1)[0]
        path = root / case.category / case.path.name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{header}\n{EMPTIED}", encoding="utf-8")
    return load_suite(root)


def test_nothing_is_recalled(go: Go, emptied: Suite) -> None:
    done = go(emptied, built_in(*RECALLING))
    assert done.failed == 0
    for folder in done.folders:
        scores = score_run(folder, emptied.cases, find_scorer("evidence-recall")).scores.scores
        assert {score.reward for score in scores} == {0.0, None}, folder.manifest.system.label


def test_nobody_passes_but_who_says_that_it_was_never_said(go: Go, emptied: Suite) -> None:
    done = go(emptied, built_in(*ANSWERING))
    assert done.failed == 0
    unsaid = {case.id for case in emptied if not case.answerable}
    for folder in done.folders:
        scores = score_run(folder, emptied.cases, find_scorer("keyword-recall")).scores.scores
        passed = {score.case_id for score in scores if score.passed()}
        assert passed == (unsaid if folder.manifest.system.label == "abstain" else set())


def test_question_title_id_and_labels_answer_nothing() -> None:
    for case in load_suite():
        labels = [str(value) for talk in case.conversations() for value in talk.metadata.values()]
        told = ". ".join([case.question, case.title, case.id.replace("_", " "), *labels])
        assert score_case(case, told).mention == 0.0, case.id
