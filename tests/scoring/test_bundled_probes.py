"""The bundled probes: every case has them, of every kind, with labels that fit the kind."""

from __future__ import annotations

from collections import Counter

import pytest

from harness.resources import bundled
from harness.scoring.probes import Probe, load_probes
from harness.suite import Case, load_suite

SUITE = load_suite(bundled("test_cases"))
PROBES = load_probes(None, SUITE)
KINDS = frozenset(
    "verbatim paraphrase extra_but_right specific_wrong vague_topical stale hedged partial dump abstain injection "
    "empty".split()
)
RIGHT = frozenset("verbatim paraphrase extra_but_right".split())
CASES = [pytest.param(case, id=case.id) for case in SUITE]


def of(case: Case) -> tuple[Probe, ...]:
    return tuple(probe for probe in PROBES if probe.case_id == case.id)


@pytest.mark.parametrize("case", CASES)
def test_every_case_has_ten_probes_or_more_of_every_kind(case: Case) -> None:
    assert len(of(case)) >= 10
    assert {probe.kind for probe in of(case)} >= KINDS


@pytest.mark.parametrize("case", CASES)
def test_the_verbatim_probe_is_the_reference(case: Case) -> None:
    assert [probe.answer for probe in of(case) if probe.kind == "verbatim"] == [case.expected_behavior]


@pytest.mark.parametrize("case", CASES)
def test_labels_fit_their_kinds(case: Case) -> None:
    for probe in of(case):
        if probe.kind == "abstain":
            # Where nothing was ever said, saying so is right; elsewhere it never is.
            assert not (case.answerable and probe.label == "accept"), probe.id
        elif probe.kind in KINDS:
            assert (probe.label == "accept") == (probe.kind in RIGHT), probe.id


@pytest.mark.parametrize("case", CASES)
def test_the_answers_are_what_their_kinds_say(case: Case) -> None:
    for probe in of(case):
        assert any(map(str.isalnum, probe.answer)) == (probe.kind != "empty"), probe.id
        if probe.kind == "dump":
            assert len(probe.answer.split()) > len(case.expected_behavior.split()), probe.id
    answers = Counter(
        " ".join(probe.answer.split()).casefold() for probe in of(case) if probe.kind != "empty"
    )
    assert answers.most_common(1)[0][1] == 1


def test_an_unanswerable_case_accepts_abstaining() -> None:
    unanswerable = [case for case in SUITE if not case.answerable]
    assert unanswerable
    for case in unanswerable:
        assert any(probe.kind == "abstain" and probe.label == "accept" for probe in of(case))
