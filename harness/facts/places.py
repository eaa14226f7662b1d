"""Where in an answer a value could stand: quick to find, and never missing a place.

Scanning a sentence for values is slow beside a search for the digits or words that any
writing of one value has to hold, so a form first asks here which sentences to scan.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from harness.facts.dates import DateValue
from harness.facts.normalise import FRACTIONS
from harness.facts.patterns import LazyPattern
from harness.facts.times import TimeValue
from harness.facts.words import ORDINAL_TENS, ORDINAL_UNITS, TENS, UNITS

_SCALES = ("hundred", "thousand", "million", "billion", "trillion")


class Parted(NamedTuple):
    """Digits that marks may part.

    Attributes:
        digits: as they stand once the marks are taken out.
        marks: what may part them.
        pattern: where they stand; compiled only for a text that has the digits.
    """

    digits: str
    marks: str
    pattern: LazyPattern

    def within(self, text: str) -> list[int]:
        """Return the places in folded `text`."""
        if self.digits not in _without(text, self.marks):
            return []
        return [match.start() for match in self.pattern.finditer(text)]


@lru_cache(maxsize=16)
def _without(text: str, marks: str) -> str:
    return text.translate(dict.fromkeys(map(ord, marks)))


class Places(NamedTuple):
    """What to look for.

    Attributes:
        whole: digits that stand by themselves, zeros before them aside.
        parts: what a word may begin with.
        parted: digits that marks may part.
    """

    whole: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    parted: Parted | None = None

    @classmethod
    def of(cls, whole: Iterable[str], parts: Iterable[str], parted: Parted | None = None) -> Places:
        """Drop the parts that begin with another one, which finds them too."""
        kept: list[str] = []
        for part in sorted(set(parts), key=len):
            if not part.startswith(tuple(kept)):
                kept.append(part)
        return cls(tuple(sorted(set(whole))), tuple(kept), parted)

    def within(self, text: str) -> list[int]:
        """Return the places in folded `text`, in no order."""
        found: list[int] = []
        for digits in self.whole:
            at = text.find(digits)
            while at >= 0:
                end = at + len(digits)
                if _is_whole(text, at, end):
                    found.append(at)
                at = text.find(digits, end)
        for part in self.parts:
            at = text.find(part)
            while at >= 0:
                if not "a" <= text[at - 1 : at] <= "z":  # `one`, but not in `phone`
                    found.append(at)
                at = text.find(part, at + len(part))
        if self.parted is not None:
            found += self.parted.within(text)
        return found


def _is_whole(text: str, start: int, end: int) -> bool:
    """Say whether no digit stands next to the digits, zeros before them aside."""
    if text[end : end + 1].isdigit():
        return False
    before = text[start - 1 : start]
    return not before.isdigit() or (before == "0" and not text[start - 2 : start - 1].isdigit())


def date_places(date: DateValue, names: Mapping[str, int], weekdays: Mapping[str, int]) -> Places:
    """Return where a date could stand; `names` and `weekdays` are those of the locale."""
    if date.day is not None:
        return _day_places(date.day)
    if date.month is not None:
        return Places.of((str(date.month),), _named(names, date.month))
    if date.year is not None:
        return Places.of((str(date.year % 100),), (str(date.year),))
    return Places.of((), _named(weekdays, date.weekday if date.weekday is not None else -1))


@lru_cache(maxsize=31)
def _day_places(day: int) -> Places:
    if day > 20:  # twenty-first, twenty one
        return Places.of([str(day)], ["twent" if day < 30 else "thirt"])
    # A day below ten is not said as a cardinal.
    return Places.of([str(day)], [ORDINAL_UNITS[day - 1], UNITS[day]] if 9 < day < 20 else [_ORDINALS[day]])


_ORDINALS = {day: ORDINAL_UNITS[day - 1] for day in range(1, 20)} | {20: "twent"}


def _named(names: Mapping[str, int], number: int) -> tuple[str, ...]:
    """Return the names of a month or weekday, without those that begin with a shorter one."""
    own = sorted((name for name, value in names.items() if value == number), key=len)
    return tuple(name for i, name in enumerate(own) if not name.startswith(tuple(own[:i])))


def time_places(time: TimeValue) -> Places:
    """Return where a clock time could stand."""
    hour = time.hour % 12 or 12
    parts = {UNITS[hour], f"{time.hour:02}{time.minute:02}"}
    if time.half is None:
        parts.add(f"{hour % 12 + 12:02}{time.minute:02}")
    if time.minute:
        whole = {f"{time.minute:02}"}
        if time.minute >= 30:
            parts.add("半")
        if time.minute > 30:  # quarter to four, 20 to 4
            whole.add(str(60 - time.minute))
            parts.add(UNITS[hour % 12 + 1])
        return Places.of(whole, parts | _SPOKEN_QUARTERS.get(time.minute, set()))
    whole = {str(hour), str(time.hour), str((hour % 12) + 12)}
    if hour == 12:
        whole |= {"0", "00"}
        parts |= {"noon", "midday", "midnight"}
    return Places.of(whole, parts)


_SPOKEN_QUARTERS = {15: {"quarter"}, 30: {"half"}, 45: {"quarter"}}  # half past 3


def number_places(number: Decimal, marks: str) -> Places:
    """Return where a number could stand; `marks` are those that may part its digits."""
    digits = "".join(map(str, number.as_tuple().digits)).strip("0") or "0"
    parts = _last_words(number, digits)
    if number == int(number):
        parts += ["dozen"] * (int(number) % 6 == 0)
    else:
        parts += ["/", "half", "cent", "pence", *FRACTIONS]
    return Places.of((), parts, Parted(digits, marks, _digits_pattern(number, digits, marks)))


def _last_words(number: Decimal, digits: str) -> list[str]:
    """Return the words that one of has to be said last, scales aside: `three` of 1,633."""
    last = int(digits[-1])
    if digits == "0":
        return [UNITS[0]]
    if digits == "1":
        return ["one", "ten", *_SCALES]
    if number != int(number) or abs(number) >= 10**6:  # one point two five million
        return [UNITS[last], *(TENS[last - 2 : last - 1] if last >= 2 else ["ten"]), "eleven"]
    place = _trailing_zeros(number) % 3
    if place == 1:
        return [TENS[last - 2]] if last >= 2 else ["ten"]
    if place == 0 and digits[-2:-1] == "1":
        return [UNITS[10 + last]]
    return [UNITS[last], *([UNITS[10 + last]] if digits[-2:-1] == "1" else [])]


def _trailing_zeros(number: Decimal) -> int:
    written = str(abs(int(number)))
    return len(written) - len(written.rstrip("0"))


def _digits_pattern(number: Decimal, digits: str, marks: str) -> LazyPattern:
    """Return what any writing in digits holds: these, no others before, at most zeros after."""
    joint, first = rf"[{marks}]?", digits[0]
    zeros = 4 if number != int(number) else _trailing_zeros(number)
    return LazyPattern(
        rf"{first}(?<![1-9]{first})(?<![1-9][.,']{first}){joint}{joint.join(digits[1:])}"
        rf"(?:{joint}0){{0,{zeros}}}(?![0-9]|[.,'][0-9]{{0,9}}[1-9])",
        keep=False,
    )


def ordinal_places(rank: int) -> Places:
    """Return where an ordinal could stand."""
    tens, unit = divmod(rank, 10)
    parts = []
    if 1 <= rank < 20:
        parts = [ORDINAL_UNITS[rank - 1]]
    elif rank < 100:
        parts = [ORDINAL_UNITS[unit - 1] if unit else ORDINAL_TENS[tens - 2]] if rank else []
    return Places.of((str(rank),), parts)
