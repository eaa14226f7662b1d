"""How often intervals cover and tests raise a false alarm, by simulation; the time of a comparison's statistics."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest

from harness.comparison import CaseLabel, Comparison
from harness.scoring import CaseScore, Scored, SystemScores
from harness.statistics import Interval, bca_interval, score_interval, t_interval, wilson

pytestmark = pytest.mark.benchmark

SHARES = [p / 100 for p in range(5, 100, 5)]
CASES = 20

Draw = Callable[[random.Random, float], float]
Method = Callable[[Sequence[float]], Interval | None]


def all_or_nothing(draw: random.Random, p: float) -> float:
    """0 or 1."""
    return float(draw.random() < p)


def fractions(draw: random.Random, p: float) -> float:
    """A share of one to six facts, each found with probability p."""
    facts = draw.randint(1, 6)
    return sum(draw.random() < p for _ in range(facts)) / facts


def uneven(draw: random.Random, p: float) -> float:
    """A share of two to six facts in cases of different difficulty: many 0 and 1, some between."""
    found = draw.betavariate(1.5 * p, 1.5 * (1 - p))
    facts = draw.randint(2, 6)
    return sum(draw.random() < found for _ in range(facts)) / facts


def graded(draw: random.Random, p: float) -> float:
    """Any figure between, such as a judge's weighted criteria."""
    return draw.betavariate(4 * p, 4 * (1 - p))


def of_passes(values: Sequence[float]) -> Interval:
    return wilson(int(sum(values)), len(values))


def coverage(method: Method, draw_one: Draw, samples: int, cases: int = CASES) -> tuple[float, float, float]:
    """Return the mean and the lowest coverage over all shares, and the mean width."""
    draw = random.Random(11)
    covered, widths = [], []
    for p in SHARES:
        hits = 0
        for _ in range(samples):
            found = method([draw_one(draw, p) for _ in range(cases)])
            assert found is not None
            hits += found.low - 1e-9 <= p <= found.high + 1e-9
            widths.append(found.high - found.low)
        covered.append(hits / samples)
    return sum(covered) / len(covered), min(covered), sum(widths) / len(widths)


KINDS = [all_or_nothing, fractions, uneven, graded]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_the_default_interval_covers(kind: Draw) -> None:
    mean, least, width = coverage(score_interval, kind, 4000)
    print(f"\nscore interval, {kind.__name__}: mean {mean:.3f}, minimum {least:.3f}, width {width:.2f}")
    assert mean >= 0.94
    assert least >= 0.90


def test_the_interval_of_a_pass_rate_covers() -> None:
    mean, least, width = coverage(of_passes, all_or_nothing, 4000)
    print(f"\nWilson, passes: mean {mean:.3f}, minimum {least:.3f}, width {width:.2f}")
    assert mean >= 0.94
    assert least >= 0.90


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_what_the_other_intervals_cover(kind: Draw) -> None:
    t = coverage(t_interval, kind, 2000)
    bca = coverage(lambda values: bca_interval(values, resamples=1000), kind, 300)
    for name, (mean, least, width) in (("t", t), ("BCa", bca)):
        print(f"\n{name}, {kind.__name__}: mean {mean:.3f}, minimum {least:.3f}, width {width:.2f}", end="")
    assert t[1] < 0.90, "then t would do, and is simpler"


@pytest.mark.parametrize(("groups", "size"), [(5, 4), (10, 4), (20, 3)])
@pytest.mark.parametrize("alike", [0.0, 0.5, 1.0])
def test_the_default_interval_covers_with_clusters(groups: int, size: int, alike: float) -> None:
    names = [group for group in range(groups) for _ in range(size)]
    draw = random.Random(5)
    covered = []
    for p in SHARES:
        hits = 0
        for _ in range(1000):
            shared = [float(draw.random() < p) for _ in range(groups)]
            values = [
                shared[name] if draw.random() < alike**0.5 else float(draw.random() < p) for name in names
            ]
            low, high = score_interval(values, names)
            hits += low <= p <= high
        covered.append(hits / 1000)
    mean, least = sum(covered) / len(covered), min(covered)
    print(f"\n{groups} clusters of {size}, correlation {alike}: mean {mean:.3f}, minimum {least:.3f}")
    assert mean >= 0.94
    assert least >= 0.90


def made(systems: Sequence[Sequence[float]]) -> Comparison:
    ids = [f"layer1_{at:03}_case" for at in range(len(systems[0]))]
    return Comparison(
        tuple(CaseLabel(one, "layer1", one) for one in ids),
        tuple(
            SystemScores(
                f"system{at}",
                tuple(CaseScore(one, "layer1", "k", Scored(r)) for one, r in zip(ids, rewards, strict=True)),
            )
            for at, rewards in enumerate(systems)
        ),
        "k", "", True, 0.6, ".", "0" * 64, "made up",
    )  # fmt: skip


def test_five_equal_systems_are_seldom_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    from harness import inference

    monkeypatch.setattr(inference, "place_intervals", lambda columns, _: [inference.Places(1, 5)] * 5)
    draw = random.Random(3)
    alarms = {kind.__name__: 0 for kind in (all_or_nothing, fractions)}
    times = 2000
    for kind in (all_or_nothing, fractions):
        for _ in range(times):
            hard = [draw.betavariate(1, 1) for _ in range(CASES)]
            found = made([[kind(draw, p) for p in hard] for _ in range(5)]).statistics
            alarms[kind.__name__] += any(pair.apart for pair in found.pairs)
    for name, count in alarms.items():
        print(
            f"\n{name}: {count} of {times} null comparisons of 5 systems raise an alarm, {count / times:.1%}",
            end="",
        )
    assert max(alarms.values()) / times <= 0.06


@pytest.mark.parametrize(("cases", "systems", "limit"), [(9, 4, 1.0), (60, 3, 4.0), (60, 8, 10.0)])
def test_time_of_the_statistics(
    cases: int, systems: int, limit: float, fastest: Callable[..., float]
) -> None:
    draw = random.Random(1)
    rewards = [[fractions(draw, 0.2 + 0.07 * at) for _ in range(cases)] for at in range(systems)]

    def bare() -> None:
        source = random.Random(1)
        for _ in range(600_000):
            source.random()

    ours, loop = fastest(lambda: made(rewards).statistics), fastest(bare)
    print(
        f"\n{cases} cases × {systems} systems × 10,000 resamples: {ours * 1000:.0f} ms, "
        f"{ours / loop:.1f}x of drawing 600,000 random figures"
    )
    assert ours / loop <= limit
