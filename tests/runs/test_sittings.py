"""Questions that share a haystack: one agent, ingested once, asked many times."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.errors import EndpointError
from harness.runs.execute import Done
from harness.runs.folder import RunFolder
from harness.runs.record import Record
from harness.suite import Suite, load_suite
from tests.conftest import TALK
from tests.runs.conftest import Go, planned_for
from tests.runs.probe import Watch, built_in, entrant, failing

Shared = Callable[..., Suite]


@pytest.fixture
def shared(tmp_path: Path) -> Shared:
    """Write haystacks with so many questions each; every question stands in a group of its own number."""

    def write(haystacks: int = 2, questions: int = 3) -> Suite:
        root = tmp_path / "suite"
        (root / "haystacks").mkdir(parents=True)
        for at in range(1, haystacks + 1):
            talks = [{**TALK, "conversation_id": f"h{at}_c{part}"} for part in (1, 2)]
            (root / "haystacks" / f"h{at}.yaml").write_text(yaml.safe_dump_all(talks))
            for number in range(1, questions + 1):
                header = {
                    "test_id": f"g{number}_h{at}", "category": f"g{number}", "haystack": f"h{at}", "title": "A fee",
                    "user_question": f"What is fee {number} of h{at}?", "expected_behavior": "$45",
                    "gold_facts": {"required": [{"id": "a", "fact": "$45", "type": "money", "evidence": [f"h{at}_c1#1"]}]},
                }  # fmt: skip
                path = root / f"g{number}" / f"h{at}.yaml"
                path.parent.mkdir(exist_ok=True)
                path.write_text(yaml.safe_dump(header, sort_keys=False))
        return load_suite(root)

    return write


def records(done: Done) -> list[Record]:
    return list(done.folders[0].records())


def test_a_haystack_is_ingested_once_and_asked_many_times(shared: Shared, go: Go) -> None:
    suite, watch = shared(), Watch()
    done = go(suite, [entrant(watch)], concurrency=1)
    assert [phase for phase, _ in watch.seen] == 2 * [
        "open",
        "ingest",
        "ingest",
        "wait",
        *3 * ["recall"],
        "close",
    ]
    assert watch.of("recall") == [f"What is fee {number} of h{at}?" for at in (1, 2) for number in (1, 2, 3)]
    assert (done.fresh, done.failed, watch.in_flight) == (6, 0, 0)
    assert {record.case for record in records(done)} == set(suite.ids)
    for record in records(done):
        assert [talk.id for talk in record.delivered] == [f"{record.case[-2:]}_c1", f"{record.case[-2:]}_c2"]
        assert record.memories
    first, second, third = records(done)[:3]
    assert len({first.namespace, second.namespace, third.namespace}) == 1
    assert first.timings.keys() == {"open", "ingest", "wait", "recall", "read"}
    assert second.timings.keys() == {"recall", "read"}
    assert third.timings.keys() == {"recall", "close", "read"}


def test_repeats_are_sittings_of_their_own(shared: Shared, go: Go) -> None:
    watch = Watch()
    go(shared(1, 2), [entrant(watch)], repeats=2)
    assert len(set(watch.of("open"))) == 2
    assert len(watch.of("ingest")) == 4


def test_the_plan_is_what_is_done(shared: Shared, go: Go) -> None:
    suite = shared()
    entrants = built_in("bm25", "oracle", "no_memory")
    for one, folder in zip(planned_for(suite, entrants), go(suite, entrants).folders, strict=True):
        found = list(folder.records())
        opened = [record for record in found if "open" in record.timings]
        assert one.answers == len(found) == 6
        assert one.conversations == sum(len(record.delivered) for record in opened)
        assert one.words == sum(record.words_in for record in opened)


def test_the_oracle_gets_what_each_question_cites(shared: Shared, go: Go) -> None:
    done = go(shared(), built_in("oracle"))
    assert [[(talk.id, talk.messages) for talk in record.delivered] for record in records(done)] == [
        [(f"{record.case[-2:]}_c1", 1)] for record in records(done)
    ]


def test_a_failed_question_is_its_own_and_the_next_gets_a_fresh_agent(shared: Shared, go: Go) -> None:
    watch = Watch(failing("recall", RuntimeError("no"), on="fee 2"))
    done = go(shared(1, 4), [entrant(watch, "Discarding")], concurrency=1)
    assert [record.failure is None for record in records(done)] == [True, False, True, True]
    assert len(watch.of("open")) == 2
    assert watch.of("discard") == watch.of("open")[:1]
    assert watch.in_flight == 0


def test_a_failure_to_ingest_is_that_of_every_question(shared: Shared, go: Go) -> None:
    watch = Watch(failing("ingest", RuntimeError("full"), on="h1_c2"))
    done = go(shared(), [entrant(watch, "Discarding")], concurrency=1)
    failed = [record for record in records(done) if record.failure is not None]
    assert [record.case for record in failed] == ["g1_h1", "g2_h1", "g3_h1"]
    assert {str(record.failure) for record in failed} == {"raised in ingest: RuntimeError: full"}
    assert len(watch.of("open")) == 2
    assert len(watch.of("discard")) == 1


def test_what_is_left_of_a_haystack_is_asked_of_a_new_agent(shared: Shared, go: Go, tmp_path: Path) -> None:
    suite = shared(1, 4)

    async def kill(phase: str, what: str) -> None:
        if phase == "recall" and "fee 3" in what:
            raise EndpointError("refused")

    watch = Watch(kill)
    with pytest.raises(EndpointError):
        go(suite, [entrant(watch, "Discarding")], concurrency=1)
    again = Watch()
    done = go(suite, [entrant(again, "Discarding")], concurrency=1)
    assert done.fresh == 2
    assert again.of("recall") == ["What is fee 3 of h1?", "What is fee 4 of h1?"]
    assert again.of("discard") == watch.of("open")
    assert {record.case: record.attempt for record in records(done)} == {
        "g1_h1": 1, "g2_h1": 1, "g3_h1": 2, "g4_h1": 1,
    }  # fmt: skip
    once = go(suite, [entrant(Watch(), "Discarding")], concurrency=1)
    assert once.fresh == 0


def test_an_agent_killed_between_two_questions_is_cleaned_up(shared: Shared, go: Go) -> None:
    suite, watch = shared(1, 3), Watch()
    done = go(suite, [entrant(watch, "Discarding")])
    answers = done.folders[0].path / "answers.jsonl"
    attempts = done.folders[0].path / "attempts.jsonl"
    for path in (answers, attempts):  # as a kill after the first answer leaves them
        path.write_text("".join(path.read_text().splitlines(keepends=True)[:1]))
    again = Watch()
    assert go(suite, [entrant(again, "Discarding")]).fresh == 2
    assert again.of("discard") == watch.of("open")


def test_new_work_stops_in_the_middle_of_a_haystack(shared: Shared, go: Go) -> None:
    watch = Watch(failing("recall", RuntimeError("no")))
    done = go(shared(1, 6), [entrant(watch)], max_errors=0.2, concurrency=1)
    assert done.stopped
    assert len(records(done)) == 2
    assert watch.in_flight == 0


def test_a_readers_failure_leaves_the_agent_at_work(
    shared: Shared, go: Go, monkeypatch: pytest.MonkeyPatch
) -> None:
    from harness.adapters.protocol import AgentFailure
    from harness.runs.reader import ExtractiveReader, Read

    async def read(self: Any, question: Any, memories: Any, repeat: int) -> Read:
        if "fee 1" in question.text:
            raise AgentFailure("reader", "cut off", "read")
        return Read(None)

    monkeypatch.setattr(ExtractiveReader, "read", read)
    watch = Watch()
    done = go(shared(1, 3), [entrant(watch, "Discarding")])
    assert [record.failure is None for record in records(done)] == [False, True, True]
    assert len(watch.of("open")) == 1
    assert watch.of("discard") == []


def test_the_same_questions_give_the_same_run(shared: Shared, go: Go) -> None:
    suite = shared()
    one = go(suite, built_in("bm25"))
    assert go(suite, built_in("bm25")).fresh == 0
    assert RunFolder.load(one.folders[0].path).manifest.cases.keys() == set(suite.ids)
