"""The page without a browser: what is escaped, what the policy allows, what the JSON holds."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.comparison import compare, compare_scores
from harness.report.html import render as renderer
from harness.report.html.data import report_data
from harness.report.html.marks import Piece, Span, cut, quotes, visible
from harness.report.html.payload import block
from harness.report.html.plots import frontiers
from harness.report.html.render import part, policy, render, render_report
from harness.scoring import Answer, find_scorer, score_systems
from harness.suite import Suite, load_suite
from tests.conftest import WriteSuite, case_header
from tests.report.html.pages import ANSWERS, HOSTILE, hostile_answers, hostile_suite, page

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


@pytest.fixture
def small(write_suite: WriteSuite) -> Path:
    return write_suite("layer1_01_fee", "layer1_02_fee", "layer2_01_fee")


@pytest.fixture
def hostile(tmp_path: Path) -> str:
    answers = hostile_answers()
    suite = load_suite(hostile_suite(tmp_path / "hostile", case_header("layer1_01_fee")))
    return render_report(compare(suite, answers), suite, answers=answers, title=HOSTILE[0])


def test_the_policy_names_the_hashes_of_what_is_inline(small: Path) -> None:
    found = Elements(page(small))
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


def test_nothing_of_others_becomes_an_element_or_a_handler(hostile: str, small: Path) -> None:
    ours = {tag for tag, _ in Elements(page(small)).tags}
    found = Elements(hostile)
    assert {tag for tag, _ in found.tags} <= ours | {"small"}
    assert not [name for _, attributes in found.tags for name in attributes if name.startswith("on")]
    assert not [one for _, one in found.tags if str(one.get("href", "#"))[:1] not in ("#", "d")]
    assert sum(tag == "script" for tag, _ in found.tags) == 3  # the index, one case, the page's own


def test_nothing_hidden_is_in_the_page(hostile: str) -> None:
    assert not BIDI_CONTROLS.search(unescape(hostile))
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]", hostile)
    hostile.encode("utf-8")
    assert "[U+202E]" in hostile


def test_json_blocks_hold_what_the_data_holds(small: Path) -> None:
    suite = load_suite(small)
    data = report_data(compare(suite, ANSWERS), suite, answers=ANSWERS)
    blocks = [json.loads(text) for tag, one, text in Elements(render(data)).raw if one.get("type")]
    index, *cases = blocks
    assert index["systems"] == ["good", "stale"]
    assert [case["id"] for case in cases] == list(suite.ids)
    assert index["cases"][1]["outcomes"] == ["passed", "system_error"]
    assert [answer["outcome"] for answer in cases[2]["answers"]] == ["failed", "missing"]
    first = cases[0]["answers"][0]
    assert first["text"][1] == ["$45", "found", "required: fee"]
    assert cases[0]["answers"][1]["text"][1][:2] == ["$30", "wrong"]
    assert cases[0]["talks"][0]["messages"][0]["text"][1] == ["$45", "found", "required: fee"]


@given(st.recursive(st.text() | st.none() | st.floats(0, 1), lambda inner: st.lists(inner), max_leaves=8))
def test_a_block_round_trips_and_ends_nothing(data: object) -> None:
    text = block(data)
    assert json.loads(text) == data
    assert not re.search("[<>&\u2028\u2029]", text)


def test_memories_that_systems_share_stand_once(small: Path) -> None:
    shared = {name: {"layer1_01_fee": Answer("$45", memory=("A memory of two.",))} for name in ("a", "b")}
    assert page(small, shared).count("A memory of two.") == 1


def test_the_same_data_gives_the_same_page(small: Path) -> None:
    assert page(small) == page(small)


def test_a_page_without_answers_still_has_verdicts(small: Path) -> None:
    suite = load_suite(small)
    html = render_report(compare(suite, ANSWERS), suite)
    assert "stated as true (voids fee" in html
    assert '"text":null' in html


def test_evidence_recall_has_no_pass_and_marks_memories(small: Path) -> None:
    suite = load_suite(small)
    scorer = find_scorer("evidence-recall")
    scores = score_systems(suite.cases, ANSWERS, scorer)
    html = render_report(compare_scores(suite, scores, scorer), suite, answers=ANSWERS)
    assert '["$45","found","required: fee"]' in html
    assert "Passed" not in html


def test_cases_that_the_suite_lacks_are_named(small: Path) -> None:
    suite = load_suite(small)
    html = render_report(compare(suite, ANSWERS), Suite(suite.root, suite.cases[:1]))
    assert html.count("does not have the case") == 2


def test_without_systems_there_is_still_a_page(small: Path) -> None:
    suite = load_suite(small)
    assert "0 memory systems on 3 cases" in render_report(compare(suite, {}), suite)


def test_conversations_that_cannot_be_read_are_said_so(small: Path) -> None:
    suite = load_suite(small)
    comparison = compare(suite, ANSWERS)
    suite.cases[0].path.unlink()
    assert "cannot be read" in render_report(comparison, suite, answers=ANSWERS)


# ---- marks ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain text\nof two lines\t", "plain text\nof two lines\t"),
        ("a\u202eb", "a[U+202E]b"),
        ("a\x00b\x1b[0m", "a[U+0000]b[U+001B][0m"),
        ("half \ud800", "half [U+D800]"),
        ("tag \U000e0041", "tag [U+E0041]"),
        ("emoji 👩‍👧 and مرحبا", "emoji 👩‍👧 and مرحبا"),
        ("one\r\ntwo", "one\ntwo"),
    ],
)
def test_visible(text: str, expected: str) -> None:
    assert visible(text) == expected


def test_the_strongest_of_overlapping_spans_shows() -> None:
    spans = [Span(0, 6, "found", "a"), Span(4, 8, "wrong", "b"), Span(20, 30, "found", "outside")]
    assert cut("abcdefghij", spans) == (
        Piece("abcd", "found", "a"),
        Piece("ef", "wrong", "a; b"),
        Piece("gh", "wrong", "b"),
        Piece("ij"),
    )


@given(st.text(), st.lists(st.tuples(st.integers(-3, 40), st.integers(-3, 40))))
def test_pieces_make_up_the_text(text: str, places: list[tuple[int, int]]) -> None:
    pieces = cut(text, [Span(start, end, "found", "") for start, end in places])
    joined = "".join(piece.text for piece in pieces)
    assert joined.replace("\n", "") == visible(text).replace("\n", "")


def test_quotes_are_found_where_they_stand() -> None:
    assert quotes("the fee is 45", [("fee", "quote", "n"), ("gone", "quote", ""), ("", "quote", "")]) == [
        Span(4, 7, "quote", "n")
    ]


# ---- plots ----------------------------------------------------------------------------


def test_the_frontier_leaves_out_what_is_beaten(small: Path) -> None:
    suite = load_suite(small)
    right, wrong = (
        Answer(GOOD := "The fee is $45, due March 24, 2025.", memory=("a b",)),
        Answer("No.", memory=("a " * 9,)),
    )
    answers = {
        "cheap": dict.fromkeys(suite.ids, Answer("The fee is $45.", memory=("a",))),
        "dear": dict.fromkeys(suite.ids, right),
        "beaten": dict.fromkeys(suite.ids, wrong),
    }
    assert GOOD
    (plot,) = frontiers(report_data(compare(suite, answers), suite, answers=answers).systems)
    assert [(dot.name, dot.best) for dot in plot.dots] == [("cheap", True), ("dear", True), ("beaten", False)]
    assert len(plot.lines) == 1
    assert all(0 <= dot.x <= 100 and 0 <= dot.y <= 100 for dot in plot.dots)


def test_one_system_has_no_frontier(small: Path) -> None:
    suite = load_suite(small)
    answers = {"one": dict.fromkeys(suite.ids, Answer("The fee is $45.", memory=("a",)))}
    assert report_data(compare(suite, answers), suite, answers=answers).frontiers == ()
