"""The same values laid out in the ways in which models answer: lines, labels, tables, slashes, dashes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from harness.facts import AnswerText, FactType, GoldFact, match_fact, match_wrong
from harness.suite import load_suite

from .verdicts import match, rows

SUITE = load_suite()


def labelled(written: str) -> Callable[[Sequence[GoldFact]], str]:
    def layout(facts: Sequence[GoldFact]) -> str:
        return "\n".join(written.format(at, fact.fact) for at, fact in enumerate(facts, 1))

    return layout


LAYOUTS = {
    "lines": labelled("{1}"),
    "label, colon": labelled("Item {0}: {1}"),
    "label, new line": labelled("Name\n{1}"),
    "label, spaced dash": labelled("- Check {0} - {1}"),
    "label, em dash": labelled("- Check {0} — {1}"),
    "bullets": labelled("- {1}"),
    "bold": labelled("- the value: **{1}**"),
    "numbers": labelled("{0}. {1}"),
    "table": lambda facts: "| what | value |\n|---|---|\n" + labelled("| value {0} | {1} |")(facts),
    "arrows": labelled("value → {1}"),
    "quotes": labelled('value: "{1}"'),
    "slashes": lambda facts: " / ".join(fact.fact for fact in facts),
    "semicolons": lambda facts: "; ".join(fact.fact for fact in facts) + ".",
    "commas": lambda facts: ", ".join(fact.fact for fact in facts) + ".",
    "bars": lambda facts: " | ".join(fact.fact for fact in facts),
    "sentences": lambda facts: " ".join(f"{fact.fact}." for fact in facts),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_fact_of_the_suite_is_found_in_every_layout(layout: str) -> None:
    lost = []
    for case in SUITE:
        facts = [fact for fact in case.gold.required if fact.type is not FactType.ABSTAIN]
        answer = AnswerText(LAYOUTS[layout](facts), case.locale)
        lost += [
            (case.id, fact.fact) for fact in facts if not match_fact(answer, fact, siblings=facts).asserted
        ]
    assert lost == []


@pytest.mark.parametrize("layout", ["lines", "label, new line", "table"])
def test_every_wrong_value_of_the_suite_is_seen_in_a_layout(layout: str) -> None:
    unseen = []
    for case in SUITE:
        for fact in case.gold.forbidden:
            answer = AnswerText(LAYOUTS[layout]([fact]), case.locale)
            if not match_wrong(answer, fact).mentioned:
                unseen.append((case.id, fact.fact))
    assert unseen == []


DASHES = rows(
    (
        "$12,160",
        """
        Sep 11, 2023 - $12,160
        Payment 1 — $12,160
        Check #1 - $12,160
        Kenwick 2086 — $12,160
        11 - $12,160
        - $9,000 - $12,160
        - $9,000–12,160
        - 9,000-12,160 dollars
        """,
    ),
    ("5.9%", "Year 1 - 5.9%\nMay 3 - 5.9%\n- 3 - 5.9%\n- 3-5.9%\n- 3% - 5.9%"),
    ("256 GB", "iPhone 15 - 256 GB\n28 GB / June 9 / 256 GB\n- 15 - 256 GB\n- 128-256 GB"),
    ("3:40 PM", "Slot 2 - 3:40 PM\nroom 1 – 3:40 PM\n- 2 - 3:40 PM\n- 2:30–3:40 PM"),
    (
        "May 20",
        """
        May 20 (Monday the 19th was given up)
        May 20, Thursday May 30 and Tuesday June 18
        May 20 (Thursday May 30 for Pruett)
        third - May 20
        May 20, 2025 (a Tuesday)
        - May 18 - May 20
        - May 20, 2025 (a Friday)
        """,
    ),
)


@pytest.mark.parametrize(("fact", "answer", "expected"), DASHES)
def test_a_dash_after_a_label_begins_no_range(fact: str, answer: str, expected: bool) -> None:
    kinds = {"$12,160": "money", "5.9%": "percent", "256 GB": "quantity", "3:40 PM": "time", "May 20": "date"}
    whole = "May 20, 2025" if fact == "May 20" else fact
    assert match(whole, kinds[fact], answer, accept=[fact]).asserted is expected


SLASHED = rows(
    ("clay", "Brevon X2 / 256 GB / clay / $74.00\n256 GB / clay\n- slate / clay\n- clay or slate"),
)


@pytest.mark.parametrize(("fact", "answer", "expected"), SLASHED)
def test_a_slash_between_values_of_other_kinds_parts_them(fact: str, answer: str, expected: bool) -> None:
    assert match(fact, "text", answer).asserted is expected


@pytest.mark.parametrize("answer", ["Quote no. HC-2039", "Quote no: HC-2039", "The quote no is HC-2039"])
def test_no_may_stand_for_number(answer: str) -> None:
    assert match("HC-2039", "id", answer).asserted
