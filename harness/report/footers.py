"""The lines under a table, the same in every format: what was measured, and on what."""

from __future__ import annotations

from collections.abc import Sequence

from harness.comparison import OVERALL, Comparison
from harness.report import numbers
from harness.standing import Pair, Statistics
from harness.statistics.power import ALPHA


def lines(comparison: Comparison) -> list[str]:
    """Return the lines that stand under a comparison."""
    made = list(comparison.notes)
    made.append(_caption(comparison))
    if comparison.has_pass:
        made.append(_passes(comparison))
    made.extend(_mentions(comparison))
    made.extend(_words(comparison))
    made.extend(_standing(comparison))
    made.extend(_gaps(comparison))
    made.extend(_dumps(comparison))
    made.extend(_judge(comparison))
    made.append(comparison.footnote)
    return [line for line in made if line]


def _judge(comparison: Comparison) -> list[str]:
    if comparison.judge is None:
        return []
    from harness.report import judged  # loads what only a judged table needs

    return judged.lines(comparison)


def _caption(comparison: Comparison) -> str:
    noun = "case" if len(comparison.cases) == 1 else "cases"
    return (
        f"Mean {comparison.scorer} reward in [0, 1]; {len(comparison.cases)} {noun}, "
        f"suite {comparison.suite_hash[:12]}; overall: each case counts once."
    )


def _passes(comparison: Comparison) -> str:
    shares = []
    for system in comparison.systems:
        cell = comparison.cell(OVERALL, system)
        if cell.passed is not None and cell.scored:
            one = comparison.statistics.standing(system.system)
            span = numbers.interval(one.pass_low95, one.pass_high95)
            shares.append(f"{system.system} {cell.passed}/{cell.scored} [{span}]")
    told = f"Passed (reward ≥ {comparison.threshold:g}) [95% interval]"
    return f"{told}: {', '.join(shares)}." if shares else ""


def _mentions(comparison: Comparison) -> list[str]:
    shares = []
    for system in comparison.systems:
        cell = comparison.cell(OVERALL, system)
        if cell.mention is not None:
            shares.append(f"{system.system} {numbers.reward(cell.mention)}")
    if not shares or comparison.scorer == "evidence-recall":
        return []
    return [f"Mention recall (the value is present, whether or not stated as true): {', '.join(shares)}."]


def _words(comparison: Comparison) -> list[str]:
    """Say how much each memory handed over, where it is the memory that is scored."""
    if comparison.scorer != "evidence-recall":
        return []
    shares = []
    for system in comparison.systems:
        words = [score.memory_words for score in system.scores if score.memory_words is not None]
        if words:
            shares.append(f"{system.system} {sum(words) / len(words):.0f}")
    return [f"Words handed over a case (mean): {', '.join(shares)}."] if shares else []


def _gaps(comparison: Comparison) -> list[str]:
    made = []
    for system in comparison.systems:
        cell = comparison.cell(OVERALL, system)
        if not cell.complete:
            errors = "1 error" if cell.errors == 1 else f"{cell.errors} errors"
            parts = [f"{cell.missing} missing" if cell.missing else "", errors if cell.errors else ""]
            why = ", ".join(filter(None, parts))
            made.append(
                f"{system.system}: {cell.scored} of {cell.asked} scored ({why}); not to be ranked. "
                "Bounds count what is missing as 0 and as 1."
            )
    left_out = max(
        (comparison.cell(OVERALL, system).not_annotated for system in comparison.systems), default=0
    )
    if left_out:
        noun, counts = ("case has", "counts") if left_out == 1 else ("cases have", "count")
        made.append(
            f"{left_out} {noun} nothing that {comparison.scorer} can compare with, and {counts} for nobody."
        )
    return made


def _dumps(comparison: Comparison) -> list[str]:
    counted = ((system.system, comparison.cell(OVERALL, system).dumps) for system in comparison.systems)
    flagged = [f"{name} {dumps}" for name, dumps in counted if dumps]
    return [f"Dumps (transcript instead of an answer, reward 0): {', '.join(flagged)}."] if flagged else []


def _standing(comparison: Comparison) -> list[str]:
    """Say how sure the means are, who can be told apart, and what so many cases can show."""
    found = comparison.statistics
    if not any(one.mean is not None for one in found.standings):
        return []
    made = [f"95% interval of the overall mean: score interval over the cases scored; {_size(found)} asked."]
    if found.pairs:
        made += [_apart(found), _passes_apart(found), _power(comparison)]
    if found.ranked:
        places = (
            f"{one.system} {numbers.ranks(range(one.first_place, one.last_place + 1))}"
            for one in found.standings
            if one.first_place is not None and one.last_place is not None
        )
        ranks = {one.ranks for one in found.standings if one.first_place is not None}
        shared = "Systems that cannot be told apart share a rank. " if len(ranks) > 1 else ""
        made.append(
            f"{shared}Places in 95% of "
            f"{found.resamples:,} resamples of the cases (seed {found.seed}): {', '.join(places)}."
        )
    return made


def _size(found: Statistics) -> str:
    if found.cases == 1:
        return "1 case"
    if found.clusters == found.cases:
        return f"{found.cases} independent cases"
    return f"{found.cases} cases in {found.clusters} cluster{'s' if found.clusters > 1 else ''}"


def _apart(found: Statistics) -> str:
    pairs = found.pairs
    test = f"sign-flip test, Holm over {len(pairs)} pairs" if len(pairs) > 1 else "sign-flip test"
    by_winner: dict[str, list[Pair]] = {}
    for pair in pairs:
        if pair.above is not None:
            by_winner.setdefault(pair.above, []).append(pair)
    if not by_winner:
        smallest = numbers.p_value(min(pair.p_holm for pair in pairs))
        if len(pairs) > 1:
            return f"Not distinguishable: no two systems can be told apart ({test}; smallest {smallest})."
        only = pairs[0]
        noun = "case" if only.n == 1 else "cases"
        return (
            f"Not distinguishable: {only.first} and {only.second}, whose rewards differ on {only.differing} "
            f"of {only.n} {noun} ({test}, {smallest})."
        )
    means = {one.system: one.mean or 0.0 for one in found.standings if one.group == OVERALL}
    winners = sorted(by_winner, key=lambda name: -means[name])
    told = "; ".join(_above(name, by_winner[name], found.cases) for name in winners)
    rest = "" if all(pair.apart for pair in pairs) else " No other two can be told apart."
    return f"Told apart ({test}, p < 0.05): {told}.{rest}"


def _above(winner: str, pairs: Sequence[Pair], cases: int) -> str:
    """Write whom a system is above, and over how many cases where some were not scored for both."""
    losers = (f"{pair.below}{f' over {pair.n} cases' if pair.n < cases else ''}" for pair in pairs)
    return f"{winner} above {', '.join(losers)} ({_at_most([pair.p_holm for pair in pairs])})"


def _at_most(ps: Sequence[float]) -> str:
    p = numbers.p_value(max(ps))
    return p if len(ps) == 1 or "<" in p else p.replace(" ", " ≤ ", 1)


def _passes_apart(found: Statistics) -> str:
    """Say who passes more cases than whom, with the cases that only one of two passed; no word without a pass."""
    held = [(pair, pair.pass_p_holm) for pair in found.pairs if pair.pass_p_holm is not None]
    if not held:
        return ""
    exact = all(pair.clusters == pair.n for pair, _ in held)
    test = "exact McNemar test" if exact else "sign-flip test by cluster"
    if len(held) == 1:
        only, p = held[0]
        told = f"{only.first} {only.only_first}, {only.second} {only.only_second}"
        return f"Cases that only one of them passed: {told} ({test}, {numbers.p_value(p)})."
    test += f", Holm over {len(held)} pairs"
    by_winner: dict[str, list[tuple[str, float]]] = {}
    for pair, p in held:
        if p < ALPHA:
            sides = [(pair.only_first or 0, pair.first), (pair.only_second or 0, pair.second)]
            (more, winner), (fewer, loser) = sorted(sides, reverse=True)
            by_winner.setdefault(winner, []).append((f"{loser} {more}:{fewer}", p))
    if not by_winner:
        smallest = numbers.p_value(min(p for _, p in held))
        return f"By cases passed no two can be told apart ({test}; smallest {smallest})."
    told = "; ".join(
        f"{winner} above {', '.join(loser for loser, _ in over)} ({_at_most([p for _, p in over])})"
        for winner, over in by_winner.items()
    )
    return f"By cases that only one of two passed ({test}, p < {ALPHA:g}): {told}."


def _power(comparison: Comparison) -> str:
    found = comparison.statistics
    if found.detectable == 0:
        return ""  # one is at 1 and the other at 0 wherever one looks: the spread says nothing
    if found.detectable is not None:
        return f"Smallest true difference that 4 of 5 such tables would show: {numbers.reward(found.detectable)}."
    if found.ranked:
        return f"Whatever the rewards, {_size(found)} cannot tell any two of these systems apart."
    return ""
