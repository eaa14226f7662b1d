"""Annotations and step summaries for GitHub: nothing in a name or an answer is a command."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.comparison import CaseLabel, Comparison
from harness.gates import Breach
from harness.report import github, render
from harness.scoring import CaseScore, Missing, Outcome, Scored, SystemFailed, SystemScores

BREACH = Breach(
    "--fail-under mem0=0.7", "--fail-under mem0=0.7 not met: mem0 0.5 (2/2 scored)", ("case_1: 1 → 0",)
)
COMMAND = re.compile(r"::(error|warning|notice) title=[^:,\r\n]*::[^\r\n]*")


def made(outcomes: list[Outcome], label: str = "mem0", title: str = "Title") -> Comparison:
    cases = tuple(CaseLabel(f"layer1_{at:02}_x", "layer1", title) for at in range(len(outcomes)))
    scores = tuple(
        CaseScore(case.id, "layer1", "keyword-recall", outcome)
        for case, outcome in zip(cases, outcomes, strict=True)
    )
    return Comparison(
        cases, (SystemScores(label, scores),), "keyword-recall", "Foot.", True, 0.6, "suite", "0" * 64, "a.json"
    )  # fmt: skip


def test_an_error_a_breach_and_a_warning_a_case_that_failed() -> None:
    result = made([Scored(1.0), Scored(0.5), Missing(), SystemFailed("timeout", "2 s")])
    assert render(result, "github", breaches=[BREACH]).splitlines() == [
        "::error title=--fail-under mem0=0.7 not met::--fail-under mem0=0.7 not met: mem0 0.5 (2/2 scored)%0Acase_1: 1 → 0",
        "::warning title=mem0%3A layer1_01_x::reward 0.5, passes from 0.6",
        "::warning title=mem0%3A layer1_02_x::missing: no answer was supplied",
        "::warning title=mem0%3A layer1_03_x::system error (timeout): 2 s",
    ]


def test_a_gate_that_could_not_be_held_is_an_error_and_stands_in_the_summary() -> None:
    refused = Breach("--not-below a:b", "--not-below a:b: was scored by x\n::error::y", refused=True)
    assert github.workflow_commands([], [refused]) == (
        "::error title=--not-below a%3Ab could not be held::--not-below a:b: was scored by x%0A::error::y\n"
    )
    assert "could not be held: --not-below a:b: was scored by x" in github.summary([], [refused])


def test_nothing_is_said_where_all_passed() -> None:
    assert render(made([Scored(1.0)]), "github") == ""


def test_what_github_would_not_show_is_counted() -> None:
    lines = github.workflow_commands([made([Scored(0.0)] * 34)]).splitlines()
    assert [line.split(" ")[0] for line in lines] == ["::warning"] * 10 + ["::notice"]
    assert lines[-1].endswith("::24 more are in the step's summary.")


@pytest.mark.parametrize(
    ("text", "data", "property"),
    [
        ("100%", "100%25", "100%25"),
        ("a\nb", "a%0Ab", "a%0Ab"),
        ("a: b, c", "a: b, c", "a%3A b%2C c"),
        ("%0A", "%250A", "%250A"),
        ("a\r::error::b", "a\ufffd::error::b", "a\ufffd%3A%3Aerror%3A%3Ab"),
    ],
)
def test_escaping(text: str, data: str, property: str) -> None:
    assert github.command("error", text, title=text) == f"::error title={property}::{data}"


@given(st.text(st.characters(exclude_categories=()), max_size=60))
def test_a_line_is_one_command_whatever_it_holds(text: str) -> None:
    failed = made([SystemFailed("raised", text)], label=text or "s")
    printed = github.workflow_commands([failed], [Breach(text, text, (text,))])
    lines = printed.removesuffix("\n").split("\n")
    assert len(lines) == 2
    assert all(COMMAND.fullmatch(line) for line in lines), lines


def test_the_summary_has_gates_tables_and_failed_cases() -> None:
    text = github.summary([made([Scored(1.0), Scored(0.5)])], [BREACH])
    order = ["## recallbench", "❌ --fail-under mem0=0.7 not met", "  - case\\_1: 1 → 0", "| Layer 1", "Cases not passed: 1", "| mem0 | layer1\\_01\\_x | 0.50 |"]  # fmt: skip
    places = [text.index(part) for part in order]
    assert places == sorted(places)


def test_the_summary_shows_markup_and_does_not_obey_it() -> None:
    hostile = "<img src=x onerror=alert(1)>|\n# [x](javascript:1)\x1b[31m\u202e"
    text = github.summary(
        [made([SystemFailed("raised", hostile)], label=hostile)], [Breach("g", hostile, (hostile,))]
    )
    assert not re.search(r"(?<!\\)[<\]]", text.replace("…", ""))
    assert not {"\x1b", "\u202e"} & set(text)
    assert not [line for line in text.splitlines() if line.startswith("# ")]


@pytest.mark.parametrize("limit", [0, 10, 60, 100, 1_000, 4_000, github.SUMMARY_LIMIT])
def test_the_summary_stays_below_its_limit_and_says_what_it_left_out(limit: int) -> None:
    many = made([SystemFailed("raised", "é" * 3_000)] * 400, label="システム" * 20)
    text = github.summary([many], [BREACH] * 3, limit)
    assert len(text.encode()) <= limit
    if limit >= 60:
        assert text.endswith("a step's summary holds at most 1 MiB.\n")
