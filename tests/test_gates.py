"""Gates over a comparison: what breaks them, what does not, and what they say."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.comparison import CaseLabel, Comparison
from harness.errors import InputError
from harness.gates import (
    ALPHA,
    Against,
    Floor,
    Place,
    below_floors,
    held_against,
    nothing_scored,
    parse_floor,
    place_of,
    too_many_errors,
)
from harness.scoring import (
    CaseScore,
    JudgeFailed,
    Missing,
    NotAnnotated,
    Outcome,
    Scored,
    SystemFailed,
    SystemScores,
)

What = Outcome | float


def made(clusters: Sequence[str | None] = (), **systems: Sequence[What]) -> Comparison:
    """Return a table; case n is of layer 1, 2 or 3 in turn."""
    count = len(next(iter(systems.values())))
    held = clusters or [None] * count
    cases = tuple(
        CaseLabel(f"layer{1 + at % 3}_{at:02}", f"layer{1 + at % 3}", "Title", held[at])
        for at in range(count)
    )
    scored = tuple(
        SystemScores(
            name.replace("__", "(k=8)"),
            tuple(
                CaseScore(
                    case.id, case.category, "k", Scored(what) if isinstance(what, float | int) else what
                )
                for case, what in zip(cases, outcomes, strict=True)
            ),
        )
        for name, outcomes in systems.items()
    )
    return Comparison(cases, scored, "k", "", True, 0.6, "suite", "0" * 64, "source")


def rewards(result: Comparison, values: Sequence[float]) -> dict[str, float]:
    return {case.id: value for case, value in zip(result.cases, values, strict=True)}


def held(result: Comparison, before: Sequence[float], **options: float):  # type: ignore[no-untyped-def]
    pairs = [
        Against(result, one.system, rewards(result, before), "--not-below old", "old")
        for one in result.systems
    ]
    return held_against(pairs, **options)


# ---- floors ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "least", "name"),
    [
        ("0.6", 0.6, None),
        ("1", 1.0, None),
        ("layer2=0.6", 0.6, "layer2"),
        ("mem0:layer3=0", 0.0, "mem0:layer3"),
        ("bm25(k=8)=0.5", 0.5, "bm25(k=8)"),
        ("memory_api(url=http://h:1)=.5", 0.5, "memory_api(url=http://h:1)"),
    ],
)
def test_floors_parse(text: str, least: float, name: str | None) -> None:
    assert parse_floor(text) == Floor(text, least, name)


@pytest.mark.parametrize("text", ["", "x", "=0.5", " =0.5", "layer2", "layer2=", "layer2=x", "bm25(k=8)"])
def test_what_is_no_floor(text: str) -> None:
    with pytest.raises(InputError, match=r"--fail-under .*write X, LAYER=X, SYSTEM=X or SYSTEM:LAYER=X"):
        parse_floor(text)


@pytest.mark.parametrize("figure", ["1.01", "-0.1", "nan", "inf", "2"])
@pytest.mark.parametrize("name", ["", "layer1="])
def test_a_floor_lies_between_0_and_1(name: str, figure: str) -> None:
    with pytest.raises(InputError, match="is not in the range from 0 to 1"):
        parse_floor(name + figure)


SYSTEMS = ("bm25", "bm25(k=8)", "api(url=http://h:layer1)", "a:layer1", "a", "layer3")
GROUPS = ("layer1", "layer3")


@pytest.mark.parametrize(
    ("name", "place"),
    [
        (None, Place(None, "overall")),
        ("overall", Place(None, "overall")),
        ("layer1", Place(None, "layer1")),
        ("bm25", Place("bm25", "overall")),
        ("bm25(k=8):layer3", Place("bm25(k=8)", "layer3")),
        ("bm25:overall", Place("bm25", "overall")),
        ("api(url=http://h:layer1)", Place("api(url=http://h:layer1)", "overall")),
        ("layer3:layer3", Place("layer3", "layer3")),
    ],
)
def test_places(name: str | None, place: Place) -> None:
    assert place_of(Floor("x", 0.5, name), SYSTEMS, GROUPS) == place


@pytest.mark.parametrize(
    "name", ["bm2", "layer2", "Layer1", "bm25:layer2", ":layer1", "bm25:", "bm25 :layer1"]
)
def test_a_name_that_stands_for_nothing_lists_what_there_is(name: str) -> None:
    with pytest.raises(
        InputError, match=r"is no system, no layer .* Systems: bm25, .* Layers: layer1, layer3"
    ):
        place_of(Floor(f"{name}=0.5", 0.5, name), SYSTEMS, GROUPS)


@pytest.mark.parametrize("name", ["layer3", "a:layer1"])
def test_a_name_that_stands_for_two_things_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="stands for several things"):
        place_of(Floor(name, 0.5, name), SYSTEMS, GROUPS)


TABLE = made(
    good=[1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
    half=[1.0, 0.5, 0.0, 1.0, 0.5, 0.0],
    gaps=[1.0, Missing(), SystemFailed("timeout"), 1.0, 1.0, JudgeFailed("refusal")],
)


@pytest.mark.parametrize(
    ("floor", "named"),
    [
        ("0.5", []),
        ("0.51", ["half 0.5 (6/6 scored)", "gaps 0.5 (3/6 scored)"]),
        ("layer1=1", []),
        ("layer2=0.6", ["half:layer2 0.5 (2/2 scored)", "gaps:layer2 0.5 (1/2 scored)"]),
        ("half=0.5", []),
        ("half=0.6", ["half 0.5 (6/6 scored)"]),
        ("gaps:layer3=0.1", ["gaps:layer3 0 (0/2 scored)"]),
        ("good:layer3=1", []),
    ],
)
def test_floors_count_what_is_missing_and_failed_as_0(floor: str, named: list[str]) -> None:
    breaches = below_floors([TABLE], [parse_floor(floor)])
    assert len(breaches) == bool(named)
    for breach in breaches:
        assert breach.gate == f"--fail-under {floor}"
        assert breach.message.startswith(f"--fail-under {floor} not met")
        assert breach.message.endswith(": " + ", ".join(named))


def test_every_floor_that_is_not_met_is_named() -> None:
    floors = [parse_floor(text) for text in ("0.4", "layer3=0.5", "half=0.9")]
    assert [breach.gate for breach in below_floors([TABLE], floors)] == [
        "--fail-under layer3=0.5",
        "--fail-under half=0.9",
    ]


def test_a_floor_is_over_several_tables() -> None:
    other = made(echo=[0.0] * 6)
    assert not below_floors([TABLE, other], [parse_floor("good=1")])
    (breach,) = below_floors([TABLE, other], [parse_floor("0.2")])
    assert breach.message.endswith(": echo 0 (6/6 scored)")


def test_a_mean_that_reaches_its_floor_but_for_rounding_is_not_below() -> None:
    table = made(a=[0.1] * 3 + [0.9] * 7)
    assert not below_floors([table], [parse_floor(str(round(sum([0.1] * 3 + [0.9] * 7) / 10, 4)))])
    (breach,) = below_floors([made(a=[0.69999] * 4)], [parse_floor("0.7")])
    assert "a 0.69999 (" in breach.message, "a figure below its floor is not shown as the floor"


def test_where_nothing_can_be_scored_no_floor_is_met() -> None:
    (breach,) = below_floors([made(a=[NotAnnotated()] * 3)], [parse_floor("0")])
    assert "a – (0/0 scored)" in breach.message


# ---- errors ---------------------------------------------------------------------------


@pytest.mark.parametrize(("limit", "broken"), [(0.0, True), (0.1, True), (2 / 18, False), (1.0, False)])
def test_errors_are_a_share_of_all_answers(limit: float, broken: bool) -> None:
    breaches = too_many_errors([TABLE], limit)
    assert len(breaches) == broken
    if broken:
        assert breaches[0].message == (
            f"--max-errors {limit:g} not met: 2 errors in 18 answers: "
            "gaps 1 refusal (judge error), 1 timeout (system error)"
        )


def test_where_no_case_has_a_score_nothing_was_measured_though_some_repeats_were() -> None:
    result = made(mem=[SystemFailed("timeout"), Scored(1.0)])
    (system,) = result.systems
    half = (SystemFailed("timeout"), Scored(1.0))
    one_left = replace(result, systems=(system._replace(repeats=(half, (Scored(1.0),) * 2)),))
    assert nothing_scored([one_left]) == []
    assert not too_many_errors([one_left], 0.25)
    none_left = made(mem=[SystemFailed("timeout")] * 2)
    none_left = replace(none_left, systems=(none_left.systems[0]._replace(repeats=(half, half)),))
    assert nothing_scored([none_left])[0].message == (
        "nothing could be scored: 2 errors in 4 answers: mem 2 timeout (system error)"
    )


# ---- not below ------------------------------------------------------------------------


@pytest.mark.parametrize(("fallen", "broken"), [(0, False), (1, False), (5, False), (6, True), (20, True)])
def test_only_a_difference_beyond_chance_breaks_it(fallen: int, broken: bool) -> None:
    now = [0.0] * fallen + [1.0] * (20 - fallen)
    (verdict,) = held(made(a=now), [1.0] * 20)
    assert verdict.broken is broken
    assert len(verdict.fell) == fallen
    assert verdict.p == pytest.approx(min(1.0, 2 / 2**fallen) if fallen else 1.0)
    assert (verdict.breach is not None) is broken


def test_a_rise_is_no_breach() -> None:
    (verdict,) = held(made(a=[1.0] * 20), [0.0] * 20)
    assert verdict.p < ALPHA
    assert not verdict.broken


@pytest.mark.parametrize(("margin", "broken"), [(0.0, True), (0.29, True), (0.3, False), (0.31, False)])
def test_the_margin_lets_a_small_fall_pass(margin: float, broken: bool) -> None:
    (verdict,) = held(made(a=[0.7] * 10), [1.0] * 10, margin=margin)
    assert verdict.broken is broken


def test_the_cases_that_fell_are_named_deepest_first() -> None:
    now: list[What] = [0.5, 0.0, Missing(), 0.9, 0.8, SystemFailed("timeout"), 0.25, 1.0]
    (verdict,) = held(made(a=now), [1.0] * 8)
    assert verdict.breach is not None
    assert verdict.breach.message == (
        "--not-below old not met: a 0.4313, below 1 of old over 8 cases (p 0.016); 7 fell"
    )
    assert verdict.breach.cases == (
        "layer2_01: 1 → 0",
        "layer3_02: 1 → 0 (missing, counts as 0)",
        "layer3_05: 1 → 0 (system error, counts as 0)",
        "layer1_06: 1 → 0.25",
        "layer1_00: 1 → 0.5",
        "layer2_04: 1 → 0.8",
        "layer1_03: 1 → 0.9",
    )


def test_holm_is_over_the_systems_held() -> None:
    six_fell = [0.0] * 6 + [1.0] * 14
    (alone,) = held(made(a=six_fell), [1.0] * 20)
    assert alone.broken
    both = held(made(a=six_fell, b=[1.0] * 20), [1.0] * 20)
    assert [verdict.p for verdict in both] == pytest.approx([2 * alone.p, 1.0])
    assert not both[0].broken, "2 x 0.03125 is above 0.05"


def test_the_pairing_is_over_the_cases_that_both_have() -> None:
    table = made(a=[0.0, 0.5, NotAnnotated(), 1.0])
    before = {"layer2_01": 1.0, "layer3_02": 1.0, "layer1_99": 1.0}
    (verdict,) = held_against([Against(table, "a", before, "--not-below old", "old")])
    assert (verdict.n, verdict.now, verdict.before) == (1, 0.5, 1.0)
    with pytest.raises(InputError, match="no scored case in common"):
        held_against([Against(table, "a", {"layer3_02": 1.0}, "--not-below old", "old")])


def test_cases_of_one_cluster_fall_together() -> None:
    clusters = [f"c{at // 5}" for at in range(20)]
    (verdict,) = held(made(clusters, a=[0.0] * 20), [1.0] * 20)
    assert verdict.p == pytest.approx(2 / 2**4)
    assert not verdict.broken


@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.sampled_from([0.0, 0.5, 1.0])),
        min_size=1,
        max_size=15,
    )
)
def test_a_gate_is_never_broken_from_above_and_its_figures_agree(pairs: list[tuple[float, float]]) -> None:
    (verdict,) = held(made(a=[now for now, _ in pairs]), [before for _, before in pairs])
    assert math.isclose(
        verdict.now - verdict.before, sum(a - b for a, b in pairs) / len(pairs), abs_tol=1e-12
    )
    assert not (verdict.broken and verdict.now >= verdict.before)
    assert {fall.case for fall in verdict.fell} == {
        f"layer{1 + at % 3}_{at:02}" for at, (now, before) in enumerate(pairs) if now < before
    }
