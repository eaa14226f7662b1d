"""What importing and calling the matcher may and may not do."""

from __future__ import annotations

import subprocess
import sys

import pytest

import harness.facts as facts
from harness.facts import AnswerText, FactType, GoldFact, match_fact, typed_values

HEAVY = ("babel", "text_to_num", "numpy", "regex", "dateparser", "pydantic", "yaml")


def test_everything_exported_is_there() -> None:
    assert sorted(facts.__all__) == sorted(set(facts.__all__))
    assert all(hasattr(facts, name) for name in facts.__all__)


def test_importing_loads_nothing_heavy() -> None:
    code = f"import sys, harness.facts; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_matching_english_digits_loads_nothing_heavy() -> None:
    code = (
        "import sys; from harness.facts import match_fact; "
        "assert match_fact('Ready on March 24 for $800.', {'fact': '$800', 'type': 'money'}).asserted; "
        f"print([m for m in {HEAVY} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (FactType.ID, ["hf-61942", "2025"]),
        (FactType.DATE, ["march 24, 2025"]),
        (FactType.TIME, ["3:30 pm"]),
        (FactType.MONEY, ["$800"]),
        (FactType.PERCENT, ["20%"]),
        (FactType.TEXT, []),
    ],
)
def test_values_by_type(kind: FactType, values: list[str]) -> None:
    text = AnswerText("File HF-61942: on March 24, 2025 at 3:30 PM you paid $800, a rise of 20%.")
    assert [text.text[start:end] for start, end in typed_values(text, kind)] == values


def test_a_mapping_is_a_fact_and_may_change_between_calls() -> None:
    fact = {"fact": "Paris", "type": "text", "accepted": ["City of Light"]}
    assert match_fact("The City of Light.", fact).form == "City of Light"
    fact["fact"] = "Rome"
    assert match_fact("It is Rome.", fact).asserted
    assert not match_fact("It is Paris.", fact).mentioned
    assert match_fact("It is 42.", {"fact": 42, "type": "number"}).asserted


def test_an_unknown_locale_reads_as_english() -> None:
    assert match_fact("On March 5, 2024.", GoldFact("2024-03-05", FactType.DATE), locale="xx-YY").asserted
