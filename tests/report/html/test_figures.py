"""Where things stand in plots and heat maps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from harness.comparison import compare
from harness.report.html.data import report_data
from harness.report.html.overview import letter
from harness.report.html.plots import frontiers
from harness.scoring import Answer
from harness.suite import Suite


def row(small: Any, **figures: tuple[float, str]) -> Any:
    """Return rows of systems with such words handed over, and answers."""
    answers = {
        name: dict.fromkeys(small.suite.ids, Answer(text, memory=("word " * int(words),)))
        for name, (words, text) in figures.items()
    }
    return report_data(compare(small.suite, answers), small.suite, answers=answers).systems


RIGHT, HALF, WRONG = "The fee is $45, due March 24, 2025.", "The fee is $45.", "No."


@pytest.mark.parametrize(
    ("figures", "best"),
    [
        ({"cheap": (1, HALF), "dear": (2, RIGHT), "beaten": (9, WRONG)}, ["cheap", "dear"]),
        ({"one": (5, HALF), "same": (5, HALF)}, ["one", "same"]),
        ({"better": (5, RIGHT), "worse": (5, HALF)}, ["better"]),
        ({"nothing": (0, WRONG), "all": (5000, RIGHT)}, ["nothing", "all"]),
    ],
    ids=["beaten in both", "a tie", "equal cost", "wide axis"],
)
def test_the_frontier_is_of_those_that_no_other_beats(small: Any, figures: Any, best: list[str]) -> None:
    (plot,) = frontiers(row(small, **figures))
    assert [dot.name for dot in plot.dots if dot.best] == best
    assert len(plot.lines) == len(best) - 1
    assert all(0 <= dot.x <= 100 and 0 <= dot.y <= 100 for dot in plot.dots)
    assert all(0 <= tick.at <= 100 for tick in plot.ticks)
    assert len(plot.ticks) >= 2


def test_one_system_has_no_frontier(small: Any) -> None:
    assert frontiers(row(small, one=(5, RIGHT))) == ()


@pytest.mark.parametrize(("at", "expected"), [(0, "A"), (25, "Z"), (26, "AA"), (51, "AZ"), (52, "BA")])
def test_letters(at: int, expected: str) -> None:
    assert letter(at) == expected


def test_domains_of_one_case_stand_in_one_row(small: Any) -> None:
    domains = ("banking", "banking", "sport", "art")
    cases = [replace(case, domain=domain) for case, domain in zip(small.suite.cases, domains, strict=False)]
    suite = Suite(small.suite.root, tuple(cases))
    rows = report_data(small.comparison, suite).domains
    assert [(one.label, one.size) for one in rows] == [("banking", 2), ("sport", 1)]
