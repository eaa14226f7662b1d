"""A directory with twelve kinds of broken case gives one report that names all twelve."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.validation import validate

from .conftest import CODE, NUMBER, WriteCase, conversation, line_of

SAID = {38: f"The number is {NUMBER}.", 40: f"And the code is {CODE}."}

# What is broken, and where the report must say so: rule and line.
Kind = Callable[[WriteCase, str], tuple[Path, int, str]]


def bad_yaml(write: WriteCase, stem: str) -> tuple[Path, int, str]:
    path = write("layer1", stem)
    path.write_text(path.read_text().replace("title: ", "title: one: two: "))
    return path, 3, "yaml"


def unknown_key(write: WriteCase, stem: str) -> tuple[Path, int, str]:
    path = write("layer1", stem, expected_behaviour="x")
    return path, line_of(path, "expected_behaviour"), "unknown-key"


def duplicate_id(write: WriteCase, stem: str) -> tuple[Path, int, str]:
    original = write("layer1", stem)
    path = original.with_suffix(".yml")
    path.write_text(original.read_text().replace("Person", "Somebody"))
    return path, 1, "duplicate-id"


def wrong_directory(write: WriteCase, stem: str) -> tuple[Path, int, str]:
    return write("layer1", stem, folder="layer2"), 2, "wrong-directory"


def empty_fact(write: WriteCase, stem: str) -> tuple[Path, int, str]:
    facts = {"required": [{"id": "number", "fact": "  ", "type": "id"}]}
    path = write("layer1", stem, gold_facts=facts)
    return path, line_of(path, "fact: "), "empty-fact"


def fact_not_in_evidence(write: WriteCase, stem: str) -> tuple[Path, int, str]:
    facts = {"required": [{"id": "number", "fact": NUMBER, "type": "id", "evidence": ["conv_001#2"]}]}
    path = write("layer1", stem, gold_facts=facts)
    return path, line_of(path, "evidence:"), "fact-not-in-evidence"


def fact_in_question(write: WriteCase, stem: str) -> tuple[Path, int, str]:
    path = write("layer1", stem, user_question=f"Was my number {NUMBER}?")
    return path, line_of(path, "user_question"), "fact-in-question"


def not_chronological(write: WriteCase, stem: str) -> tuple[Path, int, str]:
    path = write("layer1", stem, conversations=(conversation(when="2025-04-01T09:00:00-05:00", said=SAID),))
    return path, line_of(path, "timestamp:"), "chronology"


def wrong_weekday(write: WriteCase, stem: str) -> tuple[Path, int, str]:
    said = {**SAID, 7: "I could come on Tuesday, March 24, if that suits you."}
    path = write("layer1", stem, conversations=(conversation(said=said),))
    return path, line_of(path, "Tuesday, March 24"), "weekday"


def too_few_rounds(write: WriteCase, stem: str) -> tuple[Path, int, str]:
    path = write("layer1", stem, conversations=(conversation(said=SAID, rounds=49),))
    return path, line_of(path, "conversation_id"), "too-few-rounds"


def bad_date(write: WriteCase, stem: str) -> tuple[Path, int, str]:
    path = write("layer1", stem, conversations=(conversation(when="2025-02-30", said=SAID),))
    return path, line_of(path, "timestamp:"), "bad-timestamp"


def not_utf8(write: WriteCase, stem: str) -> tuple[Path, int, str]:
    path = write("layer1", stem)
    line = line_of(path, "w20x3")
    path.write_bytes(path.read_bytes().replace(b"w20x3", b"w20\xe9"))
    return path, line, "not-utf8"


KINDS: tuple[Kind, ...] = (
    bad_yaml,
    unknown_key,
    duplicate_id,
    wrong_directory,
    empty_fact,
    fact_not_in_evidence,
    fact_in_question,
    not_chronological,
    wrong_weekday,
    too_few_rounds,
    bad_date,
    not_utf8,
)


def places(root: Path, profile: Any = "bundled") -> set[tuple[Path, int, str]]:
    return {
        (problem.path, problem.line, problem.rule) for problem in validate(root, profile=profile).problems
    }


def test_all_twelve_in_one_report(tmp_path: Path, write_case: WriteCase) -> None:
    expected = {kind(write_case, f"{number:02}_case") for number, kind in enumerate(KINDS, 1)}
    assert len({rule for _, _, rule in expected}) == 12
    report = validate(tmp_path, profile="bundled")
    assert expected <= places(tmp_path)
    assert report.problems == tuple(sorted(report.problems))
    for path, line, rule in expected:
        (shown,) = [str(it) for it in report.problems if (it.path, it.line, it.rule) == (path, line, rule)]
        assert shown.startswith(f"{path}:{line}: ")
        assert shown.endswith(f" [{rule}]")
        assert "Mend: " in shown


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_each_kind_alone(tmp_path: Path, write_case: WriteCase, kind: Kind) -> None:
    write_case("layer1", "99_sound")
    expected = kind(write_case, "01_case")
    found = places(tmp_path)
    assert expected in found
    follow_ups = {
        "reference-answer",
        "echoed-question",
        "one-source",
        "layer-conversations",
        "shared-wording",
    }
    assert {rule for _, _, rule in found} - {expected[2]} <= follow_ups
    assert {path for path, _, _ in found} <= {expected[0], expected[0].with_suffix(".yaml")}


def test_too_few_rounds_is_a_rule_of_the_bundled_profile(tmp_path: Path, write_case: WriteCase) -> None:
    too_few_rounds(write_case, "01_case")
    assert places(tmp_path, "basic") == set()
