"""What a locale decides: decimal mark, order of numeric dates, month names, home currency.

English is written out, so that the common case loads nothing; every other locale comes
from the CLDR through babel, on first use.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

DEFAULT_LOCALE = "en-US"

_ENGLISH_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan",
            "february feb febr",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sept sep",
            "october oct",
            "november nov",
            "december dec",
        ),
        start=1,
    )
    for name in names.split()
}
_ENGLISH_WEEKDAYS = {
    name: number
    for number, names in enumerate(
        (
            "monday mondays mon",
            "tuesday tuesdays tues tue",
            "wednesday wednesdays weds wed",
            "thursday thursdays thurs thur thu",
            "friday fridays fri",
            "saturday saturdays sat",
            "sunday sundays sun",
        )
    )
    for name in names.split()
}
_MONTH_FIRST = frozenset({"US", "PH", "FM", "MH", "PW", "PR", "GU", "VI"})
_DOLLARS = {"CA": "CAD", "AU": "AUD", "NZ": "NZD", "SG": "SGD", "HK": "HKD"}


@dataclass(frozen=True, slots=True, eq=False)
class LocaleRules:
    """How numbers and dates are written in one locale.

    Attributes:
        decimal: the decimal mark.
        groups: characters that may group thousands.
        date_order: order of a numeric date, `mdy`, `dmy` or `ymd`.
        months: folded month names and abbreviations, English ones included, to 1–12.
        weekdays: folded weekday names to 0 (Monday) – 6.
        dollar: the currency that a bare dollar sign means.
        dotted_days: whether a day of the month may be written with a full stop, `5. März`.
    """

    decimal: str
    groups: str
    date_order: str
    months: dict[str, int]
    weekdays: dict[str, int]
    dollar: str
    dotted_days: bool = False


@lru_cache(maxsize=64)
def locale_rules(locale: str) -> LocaleRules:
    """Return the rules of a locale such as `en-US`; one that babel lacks reads as en-US."""
    language, _, territory = locale.replace("_", "-").partition("-")
    territory = territory.rpartition("-")[2].upper()
    if language.lower() == "en":
        order = "mdy" if not territory or territory in _MONTH_FIRST else "dmy"
        if territory == "CA":
            order = "ymd"
        return LocaleRules(
            ".", ", '", order, _ENGLISH_MONTHS, _ENGLISH_WEEKDAYS, _DOLLARS.get(territory, "USD")
        )
    return _from_cldr(language, territory)


def _from_cldr(language: str, territory: str) -> LocaleRules:
    from babel import Locale, UnknownLocaleError

    try:
        data = Locale.parse("_".join(filter(None, (language, territory))))
    except (UnknownLocaleError, ValueError):
        return locale_rules(DEFAULT_LOCALE)
    symbols = data.number_symbols.get("latn", {})
    decimal = symbols.get("decimal", ".")
    pattern = data.date_formats["short"].pattern.lower()
    order = "".join(dict.fromkeys(char for char in pattern if char in "dmy"))
    months = dict(_ENGLISH_MONTHS)
    weekdays = dict(_ENGLISH_WEEKDAYS)
    for context in ("format", "stand-alone"):
        for width in ("wide", "abbreviated"):
            months.update({_name(name): number for number, name in data.months[context][width].items()})
            weekdays.update({_name(name): number for number, name in data.days[context][width].items()})
    grouping = ". '" if decimal == "," else ", '"
    return LocaleRules(
        decimal, grouping, order, months, weekdays, _DOLLARS.get(territory, "USD"), dotted_days=True
    )


def _name(name: str) -> str:
    return name.casefold().rstrip(".")
