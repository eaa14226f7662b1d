"""How far two raters agree beyond what chance would give them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """Return Cohen's kappa of two raters' labels of the same things, in the same order.

        κ = (agreement - agreement expected by chance) / (1 - agreement expected by chance)

    - 1 is full agreement, 0 what two raters with these habits reach by chance; it can be negative.
    - None where it is undefined: nothing was rated, or both raters gave one and the same label
      to everything, so that chance alone explains all agreement.
    - Where one label is rare, κ is low though raters nearly always agree; so it stands beside
      the two error rates, never alone.

    Source: J. Cohen, A coefficient of agreement for nominal scales, 1960.

    Raises:
        ValueError: when the raters did not rate equally many things.
    """
    if len(first) != len(second):
        raise ValueError(f"two raters rate the same things, not {len(first)} and {len(second)}")
    n = len(first)
    agreed = sum(one == other for one, other in zip(first, second, strict=True))
    mine, theirs = Counter(first), Counter(second)
    # Kept in whole numbers (each share times n), so that "undefined" is no matter of rounding.
    by_chance = sum(count * theirs[label] for label, count in mine.items())
    if by_chance == n * n:
        return None
    return (n * agreed - by_chance) / (n * n - by_chance)
