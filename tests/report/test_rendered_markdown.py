"""Markdown as a parser reads it: whatever names and answers hold, tables keep their columns and cells their text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.comparison import Comparison, compare
from harness.evaluation import Evaluation, Item, Metric
from harness.report import (
    calibration,
    card,
    census_view,
    change_view,
    evaluation_view,
    footers,
    github,
    judged,
    layout,
    markdown,
    render,
)
from harness.report import evidence as told
from harness.report.boxes import visible
from harness.report.layout import Grid
from harness.scoring import Answer, SystemScores
from harness.scoring.calibration import Calibration
from harness.scoring.judge.disagreement import Disagreement
from harness.suite import Suite, load_suite
from tests.conftest import WriteSuite, case_header
from tests.report.test_judged import PANEL
from tests.report.test_judged import calibration as made_calibration
from tests.report.test_judged import comparison as panel

markdown_it = pytest.importorskip("markdown_it", reason="markdown-it-py is not installed")

HOSTILE = (
    "a|b||c", "`code` ``x", "line\nbreak\r\n\r\nafter", "<script>alert(1)</script>", "<b onclick=x>x</b><!-- y",
    "&lt;i&gt; &copy; &#65; R&D", "**bold** _it_ ~~no~~ ~x~", "[l](http://x.y) ![i](x) [ref]: x", "<http://x.y>",
    "a\\|b", "ends in \\", "\\`", "| --- | --- |", "- item", "+ item", "-", "--- x", "- - -", "1. one", "2) two", "# head",
    "> quote", "* star", "___", "===", "🧠🇵🇱👩‍👩‍👧", "記憶システム｜東京 **太字**「x」", "\x1b[31mred\x1b[0m", "\u202eevil",
    "tab\there", "a\u2028b", "    code", "```\nfence", "| a | b |\n| --- | --- |", "$45", "[x]", "x" * 300,
)  # fmt: skip
_BAR = re.compile(r"(?:\\.|[^\\|])+|(\|)")
_NOT_TEXT = {"text", "text_special"}


class Read:
    """What a parser makes of Markdown: its tables, list items, headings and raw HTML."""

    def __init__(self, text: str) -> None:
        assert text.endswith("\n")
        assert not {"\x1b", "\u202e"} & set(text)
        lines = text.split("\n")
        self.tables: list[list[list[str]]] = []
        self.items: list[str] = []
        self.headings: list[str] = []
        self.paragraphs: list[str] = []
        self.html: list[str] = []
        self.kinds: set[str] = set()
        inside: list[str] = []
        for token in markdown_it.MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text):
            self.kinds.add(token.type)
            if token.type == "table_open":
                self.tables.append([])
                widths = {_bars(line) for line in lines[token.map[0] : token.map[1]]}
                assert len(widths) == 1, lines[token.map[0] : token.map[1]]
            elif token.type == "tr_open":
                self.tables[-1].append([])
            elif token.type == "html_block":
                self.html.append(token.content.strip())
            elif token.type == "inline":
                said = _text(token)
                if inside[-1] in ("th", "td"):
                    self.tables[-1][-1].append(said)
                elif inside[-1] == "heading":
                    self.headings.append(said)
                elif "list_item" in inside:
                    self.items.append(said)
                else:
                    self.paragraphs.append(said)
            if token.nesting == 1:
                inside.append(token.type.removesuffix("_open"))
            elif token.nesting == -1:
                inside.pop()
        assert not self.kinds & {"ordered_list_open", "hr", "fence", "code_block", "blockquote_open"}, (
            self.kinds
        )

    def check(self, grids: Iterable[Grid], notes: Iterable[str] | None = None) -> None:
        assert self.tables == [plain(grid) for grid in grids]
        assert self.html == []
        if notes is not None:
            assert self.items == [shown(note) for note in notes]


def _text(token: Any) -> str:
    kinds = {child.type for child in token.children}
    assert kinds <= {*_NOT_TEXT, "softbreak"} or kinds <= {*_NOT_TEXT, "strong_open", "strong_close"}, (
        token.content
    )
    return "".join("\n" if child.type == "softbreak" else child.content for child in token.children)


def _bars(line: str) -> int:
    return sum(found[1] is not None for found in _BAR.finditer(line))


def shown(text: str) -> str:
    return " ".join(visible(text).split())


def plain(grid: Grid) -> list[list[str]]:
    return [[shown(cell) for cell in row] for row in (grid.header, *grid.rows)]


def body(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    return [[shown(cell) for cell in row] for row in rows]


def test_the_reader_sees_what_it_should() -> None:
    found = Read("| a | b |\n| --- | ---: |\n| x | y \\| z |\n\n- one\n")
    assert (found.tables, found.items) == ([[["a", "b"], ["x", "y | z"]]], ["one"])
    with pytest.raises(AssertionError):
        Read("| a | b |\n| --- | ---: |\n| x | y | z |\n")
    with pytest.raises(AssertionError):
        Read("| a | b |\n| --- | ---: |\n| x | <b>y</b> |\n")


@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_is_shown_as_it_is_wherever_it_stands(text: str) -> None:
    grid = Grid(("", text), (("x", text), (text, "x"), (text, text)))
    parts = [markdown.table(*grid), f"- {markdown.escape(text)}", f"### {markdown.escape(text)}"]
    found = Read("\n\n".join(parts) + "\n")
    found.check([grid], [text])
    assert found.headings == [shown(text)]


# --- comparisons ---


@pytest.fixture
def suite(write_suite: WriteSuite) -> Suite:
    headers = [
        case_header(f"layer{1 + at % 3}_{at:02}_fee", title=f"{text[:80]}.")
        for at, text in enumerate(HOSTILE)
    ]
    return load_suite(write_suite(*headers))


@pytest.fixture
def result(suite: Suite) -> Comparison:
    def said(at: int, text: str) -> Answer:
        clause = " ".join(text.split())
        if at % 5 == 4:
            return Answer(None, error=text)
        return Answer(f"The fee is {'$30' if at % 2 else '$45'} {clause} as agreed")

    answers = {case.id: said(at, HOSTILE[at]) for at, case in enumerate(suite)}
    return compare(suite, dict.fromkeys(HOSTILE[:12], answers), notes=HOSTILE)


def test_a_comparison_case_by_case(result: Comparison) -> None:
    found = Read(markdown.comparison(result, per_case=True))
    found.check([layout.by_layer(result), layout.by_case(result)], footers.lines(result))
    assert found.tables[0][0][1:] == [shown(name) for name in HOSTILE[:12]]


def test_a_batch_with_its_evidence(result: Comparison) -> None:
    one = replace(result, systems=result.systems[:1])
    scores = one.systems[0].scores
    tables = [
        Grid(("", "Fact", "Value", "Evidence"), tuple(told.fact_lines(score)))
        for score in scores
        if score.reward is not None
    ]
    found = Read(markdown.batch(one))
    found.check([layout.by_layer(one), *tables], footers.lines(one))
    assert found.headings == [shown(f"{case.id}: {case.title}") for case in one.cases]
    reasons = [shown(told.outcome_words(score)) for score in scores if score.reward is None]
    assert [line for line in found.paragraphs if not line.startswith("Reward")] == reasons


@pytest.mark.parametrize("text", HOSTILE)
def test_a_judged_table(text: str) -> None:
    different = (Disagreement(text, text, text, text, text, text),)
    made = panel(**{**PANEL, "disagreements": different, "stopped": text})
    made = replace(made, systems=(SystemScores(text, made.systems[0].scores), made.systems[1]))
    grids = [layout.by_layer(made), judged.dimensions(made), judged.disagreements(made)]
    Read(markdown.comparison(made)).check([grid for grid in grids if grid is not None], footers.lines(made))


def test_answers_from_a_file_have_a_card_and_tell_where_facts_were_lost(suite: Suite) -> None:
    answers = {"mine": {suite.ids[0]: Answer("It is $30.", memory=("The fee is $45.",))}}
    text = render(compare(suite, answers), "md", suite=suite, answers=answers)
    found = Read(text)
    assert found.html == ["<details>\n<summary>Disclosure</summary>", "</details>"]
    (lost,) = (table for table in found.tables if table[0][0] == "Missed facts")
    assert lost[1][0] == "mine"
    assert ["suite hash", suite.hash] in found.tables[-2]
    assert ["adapter", "not recorded"] in found.tables[-1] + found.tables[-2]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_card_is_folded_away_and_nothing_else_in_it_is_html(text: str) -> None:
    rows = (card.Row("a", "label", text, text), card.Row("b", text, "x", 1))
    other = (card.Row("a", "label", "other", 1),)
    found = Read(card.as_markdown(card.Card(rows, (card.Part(text, rows), card.Part("b", other)))))
    assert found.html == ["<details>\n<summary>Disclosure</summary>", "</details>"]
    expected = body([["", ""], ["label", text], [text, "x"]])
    assert found.tables == [expected, expected, body([["", ""], ["label", "other"]])]
    assert found.paragraphs == [shown(text), "b"]


def test_the_summary_of_a_step(result: Comparison) -> None:
    found = Read(github.summary([result]))
    assert found.tables[0] == plain(layout.by_layer(result))
    assert found.tables[1][0] == ["System", "Case", "Reward", "Why"]
    assert {row[0] for row in found.tables[1][1:]} <= {shown(name) for name in HOSTILE}
    assert found.html == []


# --- retrieval, changes, census, calibration ---


def measured(system: str, best: str) -> Evaluation:
    from harness.retrieval.dataset import Query
    from tests.retrieval import corpus

    queries = [
        Query(str(at), text, {"m1": 1.0, "m2": 1.0}, tags=(text,)) for at, text in enumerate(HOSTILE, start=1)
    ]
    rankings: dict[str, Any] = {query.id: ["m9", best, "m2"] for query in queries}
    rankings["1"] = "failed: <b>|`x`\n- no"
    return replace(corpus.measured(corpus.data(queries), rankings), system=system, warnings=HOSTILE)


@pytest.mark.parametrize("name", HOSTILE)
def test_retrieval(name: str) -> None:
    both = [measured(name, "m1"), measured("other", "m8")]
    sections = [evaluation_view.GROUPS, "tags", "misses"]
    found = Read(evaluation_view.as_markdown(both, ["mrr"], sections))
    grids = [evaluation_view.side_by_side(both), evaluation_view.per_item(both, ["mrr"])]
    grids.append(evaluation_view.by_group(both))
    titles = [(one, part) for one in both for part in sections[1:] if one.sections[part]]
    grids += [Grid(one.sections[part][0], one.sections[part][1:]) for one, part in titles]
    found.check(grids, evaluation_view.notes(both))
    assert found.headings == ["groups", *(shown(f"{one.system}: {part}") for one, part in titles)]


def test_a_change_of_retrieval() -> None:
    from harness.retrieval.comparing import compare as changed

    found = changed(measured("one", "m1"), measured("two", "m8"))
    Read(change_view.as_markdown(found)).check(
        [change_view.by_metric(found), change_view.by_query(found)], change_view.notes(found)
    )


def test_a_census(write_suite: WriteSuite) -> None:
    from harness.validation import take_census

    headers = [
        case_header(f"layer1_{at:02}_fee", title=f"{text[:80]}.", domain=f"{text[:80]}.")
        for at, text in enumerate(HOSTILE)
    ]
    census = take_census(write_suite(*headers))
    Read(census_view.as_markdown(census, per_case=True)).check(
        [census_view.by_layer(census), census_view.abilities(census), census_view.by_case(census)],
        census_view.notes(census),
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_calibrations(text: str) -> None:
    made = replace(Calibration.from_data(made_calibration()), scorer=text, of=text)
    wrong = tuple(
        one._replace(probe=replace(one.probe, id=text, case_id=text), status=text) for one in made.wrong
    )
    made = replace(made, wrong=wrong)
    named = [(text, made)]
    grids = [calibration.figures(named), calibration.to_accept(named), calibration.to_reject(named)]
    grids.append(calibration.wrongly_ruled(text, made))
    Read(calibration.render([made], "md", mistakes=True)).check(
        [grid for grid in grids if grid.rows], calibration.notes([made])
    )


# --- effectiveness and performance, whose tables the command line puts together ---


def test_effectiveness(tmp_path: Path) -> None:
    from harness.cli import effectiveness_tables as tables
    from harness.effectiveness.evaluators import make_evaluators
    from harness.effectiveness.predictions import load_predictions
    from tests.effectiveness.made import dataset

    said = [text for text in HOSTILE if any(map(str.isalnum, text))]
    cases = [
        {"test_case_id": str(at), "input_text": text, "expected_facts": [f"{text} $45"]}
        for at, text in enumerate(said)
    ]
    data = dataset(tmp_path, *cases)
    predictions = {str(at): {"facts": [f"{text} $54"]} for at, text in enumerate(said)}
    (tmp_path / "mine.json").write_text(json.dumps({HOSTILE[0]: predictions}), encoding="utf-8")
    (observed,) = load_predictions(tmp_path / "mine.json", data)
    made = [make_evaluators()[name].evaluate(observed) for name in ("extraction", "update")]
    wanted = tables.Wanted(True, ("hallucinated", "missed"), "md")
    text = tables._text([made], wanted)
    assert text is not None
    grids = list(tables._grids([made], wanted))
    found = Read(text)
    found.check([one.grid for one in grids], tables._notes([made]))
    assert found.headings == [shown(one.title) for one in grids]
    assert any("missed" in one.title for one in grids)


@pytest.mark.parametrize("text", HOSTILE)
def test_performance(text: str) -> None:
    from harness.cli.performance import _notes, _written
    from harness.performance.rows import SECTIONS

    told_of = {"machine": text, "workload": "ab", "system_version": text, "limit": text}
    rows = (("System", "Characters"), (text, "100"), ("x", text))
    one = Evaluation(
        "performance", text, text, (Metric("search_p50_ms", 1.0, 1, 1),), (Item("a", text),), (text,), (text,),
        provenance=told_of, sections=dict.fromkeys(SECTIONS, rows),
    )  # fmt: skip
    found = Read(_written([one], None, "md", 100))
    found.check([Grid(rows[0], rows[1:])] * len(SECTIONS), _notes([one]))
    assert found.headings == [shown(name) for name in SECTIONS]
