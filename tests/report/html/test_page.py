"""The page without a browser: what is escaped, what the policy allows, what the JSON holds."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.adapters.protocol import Memory
from harness.comparison import compare, compare_scores
from harness.report.html import render as renderer
from harness.report.html.answer_page import Recalled, answer_view
from harness.report.html.case_page import case_view
from harness.report.html.payload import block
from harness.report.html.render import part, policy, render_report
from harness.runs.folder import RunFolder
from harness.runs.manifest import Manifest, ReaderPart, SystemPart
from harness.runs.record import Record
from harness.runs.scoring import score_run
from harness.scoring import Answer, find_scorer, score_systems
from harness.suite import Suite

BIDI_CONTROLS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
TEMPLATES = Path(renderer.__file__).with_name("templates")


class Elements(HTMLParser):
    """The elements of a page with their attributes, and what stands in scripts and styles."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.raw: list[tuple[str, dict[str, str | None], str]] = []
        self._open: tuple[str, dict[str, str | None]] | None = None
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._open = (tag, dict(attrs)) if tag in ("script", "style") else None

    def handle_data(self, data: str) -> None:
        if self._open is not None:
            self.raw.append((*self._open, data))
            self._open = None


def blocks(html: str) -> list[Any]:
    return [json.loads(text) for tag, one, text in Elements(html).raw if one.get("type")]


def test_the_policy_names_the_hashes_of_what_is_inline(small: Any) -> None:
    found = Elements(small.html)
    content = next(str(one["content"]) for tag, one in found.tags if "http-equiv" in one)
    code = [text for tag, one, text in found.raw if tag == "script" and "type" not in one]
    styles = [text for tag, _, text in found.raw if tag == "style"]
    assert len(code) == len(styles) == 1
    for text, directive in ((code[0], "script-src"), (styles[0], "style-src")):
        digest = b64encode(sha256(text.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in content
    assert "unsafe" not in content
    assert content.startswith("default-src 'none'; ")


def test_another_style_has_another_policy() -> None:
    assert policy("a", "b") != policy("a ", "b")


@pytest.mark.parametrize("name", ["style.css", "pages.js", "script.js"])
def test_inline_parts_cannot_end_their_element(name: str) -> None:
    assert not re.search(r"</|<!--|\r", part(name))


def test_scripts_make_no_markup_of_strings() -> None:
    code = part("pages.js") + part("script.js")
    for name in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "Function(",
        ".style",
    ):
        assert name not in code


@pytest.mark.parametrize("template", sorted(TEMPLATES.iterdir()), ids=lambda path: path.name)
def test_templates_escape_everything_and_style_nothing_inline(template: Path) -> None:
    text = template.read_text(encoding="utf-8")
    assert not re.search(r"\|\s*safe|autoescape|\sstyle=|\son\w+=", text)


def test_nothing_of_others_becomes_an_element_or_a_handler(hostile: Any, small: Any) -> None:
    ours = {tag for tag, _ in Elements(small.html).tags}
    found = Elements(hostile.html)
    assert {tag for tag, _ in found.tags} <= ours
    assert not [name for _, attributes in found.tags for name in attributes if name.startswith("on")]
    links = {str(one["href"]) for _, one in found.tags if "href" in one}
    assert {link for link in links if not link.startswith("#")} == {"data:,"}
    assert sum(tag == "script" for tag, _ in found.tags) == 3  # the index, one case, the page's own


def test_nothing_hidden_is_in_the_page(hostile: Any) -> None:
    assert not BIDI_CONTROLS.search(unescape(hostile.html))
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]", hostile.html)
    assert "[U+202E]" in hostile.html


def test_json_blocks_hold_what_the_data_holds(small: Any) -> None:
    index, *cases = blocks(small.html)
    assert index["systems"] == ["good", "stale"]
    assert [case["id"] for case in cases] == list(small.suite.ids)
    assert index["cases"][1]["outcomes"] == ["passed", "system_error"]
    assert [answer["outcome"] for answer in cases[2]["answers"]] == ["failed", "missing"]
    assert cases[0]["answers"][0]["text"][1] == ["$45", "found", "required: fee"]
    assert cases[0]["answers"][1]["text"][1][:2] == ["$30", "wrong"]
    assert cases[0]["talks"][0]["messages"][0]["text"][1] == ["$45", "found", "required: fee"]
    assert cases[0]["answers"][1]["lines"][0][-1] == "not recalled, store unseen"


@given(st.recursive(st.text() | st.none() | st.floats(0, 1), lambda inner: st.lists(inner), max_leaves=8))
def test_a_block_round_trips_and_ends_nothing(data: object) -> None:
    text = block(data)
    assert json.loads(text) == data
    assert not re.search("[<>&\u2028\u2029]", text)


def test_memories_that_systems_share_stand_once(small: Any) -> None:
    answers = {name: {"layer1_01_fee": Answer("$45", memory=("A memory of two.",))} for name in ("a", "b")}
    html = render_report(compare(small.suite, answers), small.suite, answers=answers)
    assert html.count("A memory of two.") == 1


def test_the_same_comparison_gives_the_same_page(small: Any) -> None:
    assert render_report(small.comparison, small.suite, answers=small.answers) == small.html


def test_a_page_without_answers_still_has_verdicts(small: Any) -> None:
    html = render_report(small.comparison, small.suite)
    assert "stated as true (voids fee" in html
    assert '"text":null' in html


def test_passes_have_their_interval_and_pairs_their_discordant_cases(small: Any) -> None:
    (good, stale) = small.comparison.statistics.standings[2::3]
    assert f">{good.passed}/3 <small" in small.html
    for one in (good, stale):
        assert f"{one.pass_low95:.2f}–{one.pass_high95:.2f}</small>" in small.html
    (pair,) = small.comparison.statistics.pairs
    assert f'<td class="number">{pair.only_first} : {pair.only_second}</td>' in small.html
    assert "p of passes" in small.html


def test_evidence_recall_has_no_pass_and_marks_memories(small: Any) -> None:
    scorer = find_scorer("evidence-recall")
    scores = score_systems(small.suite.cases, small.answers, scorer)
    html = render_report(compare_scores(small.suite, scores, scorer), small.suite, answers=small.answers)
    assert '["$45","found","required: fee"]' in html
    assert "Passed" not in html
    assert "Mention" not in html


def test_cases_that_the_suite_lacks_are_named(small: Any) -> None:
    html = render_report(small.comparison, Suite(small.suite.root, small.suite.cases[:1]))
    assert html.count("does not have the case") == 2


def test_without_systems_there_is_still_a_page(small: Any) -> None:
    assert "0 memory systems on 3 cases" in render_report(compare(small.suite, {}), small.suite)


def test_conversations_that_cannot_be_read_are_said_so(small: Any) -> None:
    small.suite.cases[0].path.unlink()
    assert "cannot be read" in render_report(small.comparison, small.suite, answers=small.answers)


def test_long_haystacks_keep_what_is_around_the_evidence(small: Any) -> None:
    case = small.suite.cases[0]
    (talk,) = case_view(case, (), budget=10).conversations
    assert [said.number for said in talk.messages] == [1, 2, 3, 4]
    gold = replace(case.gold, forbidden=(), required=case.gold.required[:1])
    (talk,) = case_view(replace(case, gold=gold), (), budget=10).conversations
    assert ([said.number for said in talk.messages], talk.left_out) == ([1, 2], 2)


def test_memories_beyond_the_budget_are_counted(small: Any) -> None:
    case, score = small.suite.cases[0], small.comparison.systems[0].scores[0]
    answer = Answer("$45", memory=("a" * 900, "b" * 900, "c" * 900))
    view = answer_view(score, small.comparison, Recalled(case), answer=answer, budget=1_000)
    assert view.memories is not None
    assert [(len(one.text[0].text), one.cut) for one in view.memories] == [(900, 0), (200, 700)]
    assert view.memories_left_out == 1


# ---- runs and judges ------------------------------------------------------------------


def test_a_run_shows_what_its_journal_holds(small: Any, tmp_path: Path) -> None:
    case = small.suite.cases[0]
    memories = (
        Memory("m1", "The fee is $45.", 0.9, datetime(2025, 3, 4, tzinfo=UTC), ("conv_001#1",)),
        Memory("m2", "The weather was fine.", 0.1),
    )
    system = SystemPart("mine", "bm25", "bm25", "retrieval", {"rounds": 3}, "bm25 of SQLite")
    manifest = Manifest(system, ReaderPart("extractive", 10, 20), "suite", {case.id: "x"}, "y")
    run = RunFolder.begin(tmp_path / "runs", manifest)
    timings = {"ingest": 0.25, "recall": 0.01}
    record = Record(case.id, 0, 2, "n", memories=memories, kept=("The fee is $45.",), timings=timings)
    attempts, answers = run.journals()
    with attempts, answers:
        answers.append(record.as_data())
    scorer = find_scorer("evidence-recall")
    suite = Suite(small.suite.root, (case,))
    scores = score_run(run, suite.cases, scorer).scores
    html = render_report(compare_scores(suite, [scores], scorer), suite, [run])
    _, page = blocks(html)
    (answer,) = page["answers"]
    assert [[one[2], one[3], one[4], one[5]] for one in answer["memories"]] == [
        ["0.9", "2025-03-04", "conv_001#1", True],
        ["0.1", "", "", False],
    ]
    assert page["texts"][0] == ["The fee is ", ["$45", "found", "required: fee"], "."]
    assert answer["facts"][-2:] == ["attempt 2", "ingest 250.0 ms, recall 10.0 ms"]
    assert "bm25 of SQLite" in html


def test_a_judged_page_has_reasoning_quotes_and_calibration(judged: Any) -> None:
    _, page = blocks(judged.html)
    answer = page["answers"][0]
    assert answer["ruling"]["reasoning"] == "It states the fee. <b>Not bold</b>"
    assert answer["ruling"]["judges"] == "openai/gpt-5 (served as gpt-5-2025)"
    assert ["It is $45.", "quote", "judge: fee"] in answer["text"]
    assert ["made up", "wrong", "judge: unsupported claim"] in answer["text"]
    assert "Rulings against the labels of known answers" in judged.html
    assert "1/2 (50%)" in judged.html
    assert "<b>Not bold</b>" not in judged.html


def test_an_uncalibrated_judge_is_called_that(judged: Any) -> None:
    assert judged.comparison.judge is not None
    without = replace(judged.comparison, judge=judged.comparison.judge._replace(calibration=None))
    html = render_report(without, judged.suite)
    assert "Calibration: none for this judge" in html
    assert "Rulings against the labels" not in html
