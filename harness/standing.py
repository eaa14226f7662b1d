"""The records of where each system of a comparison stands: intervals, tests between systems, ranks.

`harness.inference` fills them. The unit is the case, or the cluster where cases name one (a persona
or a haystack that they share). `docs/statistics.md` says what each figure is and why it was chosen.
"""

from __future__ import annotations

from typing import NamedTuple

from harness.statistics.paired import RESAMPLES, SEED
from harness.statistics.power import ALPHA

OVERALL = "overall"
"""The group of all cases; no layer has this name."""
METHODS = {
    "interval": "score interval of the mean: Wilson's with an effective number of cases, by cluster",
    "pass_interval": "the same of passed (1) and not passed (0): Wilson's where no cases share a cluster",
    "pair": "paired sign-flip permutation test of the mean rewards, by cluster",
    "pass_pair": "exact McNemar test of passed and not passed; a sign-flip test by cluster where cases share one",
    "correction": "Holm over the pairs",
    "rank": "systems share a rank exactly when they cannot be told apart",
    "places": "joint bootstrap of the cases, by cluster; systems that differ on too few for any test share theirs",
    "detectable": "difference found with that power by a two-sided test at alpha over the number of pairs; median of the pairs",
}


class Standing(NamedTuple):
    """One system in one group of cases.

    Attributes:
        system: its label.
        group: a layer, or `overall`.
        n: cases that were scored.
        clusters: clusters that they belong to.
        mean: mean reward, None when nothing was scored; so are the intervals.
        low95: lower end of its 95% interval.
        high95: upper end.
        passed: cases that passed, None for scorers without a pass; so is their interval.
        pass_low95: lower end of the 95% interval of the share that passed.
        pass_high95: upper end.
        ranks: of a system that is ranked, overall only; two systems share one exactly when they
            cannot be told apart. Empty for a system that is not ranked, or ranked against none.
        first_place: the best place that it takes in 95% of resamples of the cases; None if not ranked.
        last_place: the last one.
    """

    system: str
    group: str
    n: int
    clusters: int
    mean: float | None
    low95: float | None
    high95: float | None
    passed: int | None
    pass_low95: float | None
    pass_high95: float | None
    ranks: tuple[int, ...] = ()
    first_place: int | None = None
    last_place: int | None = None


class Pair(NamedTuple):
    """Two systems over the cases that were scored for both.

    Attributes:
        first: label of the one, in the comparison's order.
        second: label of the other.
        n: cases scored for both.
        clusters: clusters that they belong to.
        difference: mean reward of the first less that of the second.
        low95: lower end of its 95% interval.
        high95: upper end.
        differing: cases on which the rewards differ.
        p: of the mean difference, by a sign-flip test.
        p_holm: the same after Holm over all pairs of the comparison; it decides.
        only_first: cases that only the first passed, None for scorers without a pass; so are the rest.
        only_second: cases that only the second passed.
        pass_p: of passed and not passed, by McNemar's test.
        pass_p_holm: the same after Holm over all pairs.
        detectable: true difference that this pair would show with 80% power; None where none can.
    """

    first: str
    second: str
    n: int
    clusters: int
    difference: float
    low95: float
    high95: float
    differing: int
    p: float
    p_holm: float
    only_first: int | None
    only_second: int | None
    pass_p: float | None
    pass_p_holm: float | None
    detectable: float | None

    @property
    def apart(self) -> bool:
        """Whether the two can be told apart: the adjusted p of the mean difference is below 0.05."""
        return self.p_holm < ALPHA

    @property
    def above(self) -> str | None:
        """The label of the better system, None where the two cannot be told apart."""
        if not self.apart:
            return None
        return self.first if self.difference > 0 else self.second

    @property
    def below(self) -> str | None:
        """The label of the worse one, None where the two cannot be told apart."""
        if not self.apart:
            return None
        return self.second if self.difference > 0 else self.first


class Statistics(NamedTuple):
    """The statistics of a comparison.

    Attributes:
        standings: one for each system and group, in the comparison's order.
        pairs: every two systems that share a scored case.
        cases: cases asked, those that the scorer has nothing to compare with left out.
        clusters: clusters that they belong to.
        detectable: smallest difference that pairs of this table show with 80% power, the median over
            the pairs of complete systems; None where they show none.
        resamples: how often cases were drawn, and signs where not all patterns were counted; signs more often
            where more than 125 pairs are tested (see `sign_flip`).
        seed: of every draw.
    """

    standings: tuple[Standing, ...]
    pairs: tuple[Pair, ...]
    cases: int
    clusters: int
    detectable: float | None
    resamples: int = RESAMPLES
    seed: int = SEED

    def standing(self, system: str, group: str = OVERALL) -> Standing:
        """Return where a system stands in a group.

        Raises:
            KeyError: when there is no such system or group.
        """
        for one in self.standings:
            if (one.system, one.group) == (system, group):
                return one
        raise KeyError(f"{system}, {group}")

    @property
    def ranked(self) -> bool:
        """Whether any system is ranked."""
        return any(one.ranks for one in self.standings)
