"""The data sets that come with the harness."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from harness.effectiveness.dataset import EffectivenessSet, combined
from harness.effectiveness.evaluators import NAMES, served_by
from harness.effectiveness.loading import load_effectiveness
from harness.effectiveness.matching import is_supported, read
from harness.suite import load_suite

FOLDER = Path(__file__).parents[2] / "fixtures" / "effectiveness"
SETS = ("deduplication", "extraction", "notes", "people", "update")


@cache
def sets() -> dict[str, EffectivenessSet]:
    return {one.id: one for one in load_effectiveness(FOLDER)}


def test_they_load_and_serve_every_evaluator_with_sixty_items_or_more() -> None:
    assert tuple(sets()) == SETS
    whole = combined(sets().values())
    assert served_by(whole) == NAMES
    assert {name: len(getattr(whole, f"for_{name}")()) >= 60 for name in NAMES} == dict.fromkeys(NAMES, True)


@pytest.mark.parametrize("name", ["deduplication", "people", "update"])
def test_no_fact_is_stated_by_an_entry_that_is_about_something_else(name: str) -> None:
    one = sets()[name]
    clusters = one.clusters()
    texts = {entry.id: read(entry.text) for entry in one.entries}
    crossed = [
        (entry.id, other)
        for entry in one.entries
        for fact in entry.facts or ()
        for other, text in texts.items()
        if other != entry.id
        and (not clusters or clusters[other] != clusters[entry.id])
        and fact.stated_in(text)
    ]
    assert crossed == []


def test_each_fact_written_out_states_itself_and_what_was_said_supports_itself() -> None:
    for one in sets().values():
        for entry in one.entries:
            assert is_supported(entry.text, entry)
            for fact in entry.facts or ():
                assert fact.stated_in(read(fact.shown)), fact.shown


def test_excerpts_stand_in_the_suite_word_for_word() -> None:
    import json

    suite = load_suite(None)
    cases = json.loads((FOLDER / "extraction.json").read_text(encoding="utf-8"))["test_cases"]
    cited = [case for case in cases if "source" in case]
    assert len(cited) >= 59
    for case in cited:
        found = re.fullmatch(r"(\S+) (\S+)#(\d+)-(\d+)", case["source"])
        assert found is not None
        talk = next(one for one in suite.get(found[1]).conversations() if one.id == found[2])
        messages = talk.messages[int(found[3]) - 1 : int(found[4])]
        assert [{one.role: " ".join(one.text.split())} for one in messages] == case["conversation"]


def test_types_are_balanced_and_weights_use_the_whole_scale() -> None:
    entries = sets()["notes"].entries
    types = [entry.memory_type for entry in entries]
    assert {types.count(label) for label in sets()["notes"].types} == {11}
    assert {entry.importance for entry in entries} == {float(score) for score in range(1, 11)}


def test_numbers_for_telephones_are_fictional() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in FOLDER.glob("*.json"))
    assert all(number.startswith("555-01") for number in re.findall(r"\b555-\d{4}\b", text))
    assert all(host.startswith("example.") for host in re.findall(r"@([\w.]+)", text))
