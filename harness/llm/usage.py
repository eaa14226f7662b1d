"""What calls cost: tokens, and money where a price is known.

A cost is the provider's own `usage.cost`, else the tokens times a price file's rates, else
unknown. Unknown is None, never 0.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from harness.errors import InputError

_PER = 1_000_000
_MOST = 1_000_000


class Price(NamedTuple):
    """US dollars for a million tokens."""

    prompt: float
    completion: float


class Spent(NamedTuple):
    """The use of some calls, summed up.

    Attributes:
        calls: replies that arrived.
        prompt_tokens: tokens read; replies that do not say are left out.
        completion_tokens: tokens written, reasoning included.
        counted: replies that said how many tokens they took.
        cost: US dollars over the replies whose cost is known, None when none is.
        priced: replies whose cost is known.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    counted: int = 0
    cost: float | None = None
    priced: int = 0

    @property
    def tokens(self) -> int | None:
        """Tokens read and written, None where a reply did not say."""
        return (
            self.prompt_tokens + self.completion_tokens if self.calls and self.counted == self.calls else None
        )

    def plus(self, other: Spent) -> Spent:
        """Add the use of further calls."""
        costs = [cost for cost in (self.cost, other.cost) if cost is not None]
        return Spent(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.counted + other.counted,
            math.fsum(costs) if costs else None,
            self.priced + other.priced,
        )


class Budget:
    """What several models may cost together, in US dollars; None is no limit."""

    def __init__(self, limit: float | None) -> None:
        self.limit = limit
        self.spent = 0.0

    @property
    def used_up(self) -> bool:
        """Whether nothing may be asked any more."""
        return self.limit is not None and self.spent >= self.limit


def load_prices(path: Path) -> dict[str, Price]:
    """Read a price file: `{model: {prompt: dollars, completion: dollars}}` for a million tokens.

    Raises:
        InputError: for a file that cannot be read or holds anything else.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise InputError(f"{path}: no such price file.") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8. Save the file as UTF-8.") from None
    except json.JSONDecodeError as error:
        raise InputError(f"{path}:{error.lineno}: not JSON: {error.msg}.") from None
    except (ValueError, RecursionError):
        raise InputError(
            f"{path}: not JSON that can be read: nested too deep, or a number too long."
        ) from None
    form = '{"model": {"prompt": 0.15, "completion": 0.6}}, in US dollars for a million tokens'
    if not isinstance(data, dict) or not data:
        raise InputError(f"{path}: holds no prices. Write {form}.")
    return {model: _price(path, model, value, form) for model, value in data.items()}


def _price(path: Path, model: str, value: object, form: str) -> Price:
    if not isinstance(value, dict) or set(value) != {"prompt", "completion"}:
        raise InputError(f"{path}: {model}: expected prompt and completion. Write {form}.")
    for name, amount in value.items():
        number = isinstance(amount, int | float) and not isinstance(amount, bool)
        if not number or not 0 <= amount <= _MOST:
            said = repr(amount)[:40]
            raise InputError(f"{path}: {model}: {name} is {said}; expected dollars, 0 to {_MOST:,}.")
    return Price(float(value["prompt"]), float(value["completion"]))


def spent(
    prompt_tokens: int | None,
    completion_tokens: int | None,
    cost: float | None,
    model: str,
    prices: Mapping[str, Price],
) -> Spent:
    """Return the use of one call."""
    counted = prompt_tokens is not None and completion_tokens is not None
    price = prices.get(model)
    if cost is None and price is not None and counted:
        cost = ((prompt_tokens or 0) * price.prompt + (completion_tokens or 0) * price.completion) / _PER
    return Spent(1, prompt_tokens or 0, completion_tokens or 0, int(counted), cost, 0 if cost is None else 1)
