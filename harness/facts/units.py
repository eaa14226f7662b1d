"""Units by their written forms. Nothing is converted: 2 hours are not 120 minutes."""

from __future__ import annotations

import re
from functools import lru_cache

from harness.facts.patterns import LazyPattern, alternation
from harness.facts.words import NUMBER_WORDS

# unit: its forms; single words first, then forms of several words, each after a `|`.

_UNITS: dict[str, str] = {
    # length
    "mm": "mm millimeter millimeters millimetre millimetres",
    "cm": "cm cms centimeter centimeters centimetre centimetres",
    "m": "m meter meters metre metres",
    "km": "km kms kilometer kilometers kilometre kilometres",
    "in": "in inch inches",
    "ft": "ft foot feet",
    "yd": "yd yds yard yards",
    "mi": "mi mile miles",
    # area and volume
    "m2": "m2 m² sqm sq.m|square meter|square meters|square metre|square metres|sq m",
    "ft2": "ft2 ft² sqft|square foot|square feet|sq ft|sq. ft|sq. ft.",
    "ha": "ha hectare hectares",
    "acre": "acre acres",
    "ml": "ml milliliter milliliters millilitre millilitres",
    "l": "l liter liters litre litres ltr ltrs",
    "gal": "gal gals gallon gallons",
    "cup": "cup cups",
    "tbsp": "tbsp tbsps tablespoon tablespoons",
    "tsp": "tsp tsps teaspoon teaspoons",
    "floz": "|fl oz|fluid ounce|fluid ounces",
    # mass
    "ug": "ug µg μg mcg microgram micrograms",
    "mg": "mg mgs milligram milligrams milligramme milligrammes",
    "g": "g gram grams gramme grammes",
    "kg": "kg kgs kilo kilos kilogram kilograms kilogramme kilogrammes",
    "lb": "lb lbs pound pounds",
    "oz": "oz ounce ounces",
    "t": "tonne tonnes",
    "ton": "ton tons",
    "st": "stone stones",
    # time
    "ms": "ms msec millisecond milliseconds",
    "s": "s sec secs second seconds",
    "min": "min mins minute minutes",
    "h": "h hr hrs hour hours",
    "day": "day days",
    "week": "wk wks week weeks",
    "month": "mo mos month months",
    "year": "yr yrs year years",
    # temperature and angle
    "°c": "°c celsius °celsius|° c|deg c|degrees c|degree celsius|degrees celsius|degrees centigrade",
    "°f": "°f fahrenheit|° f|deg f|degrees f|degree fahrenheit|degrees fahrenheit",
    "°": "° degree degrees",
    # data
    "bit": "bit bits",
    "byte": "byte bytes",
    "kb": "kb kilobyte kilobytes",
    "mb": "mb megabyte megabytes",
    "gb": "gb gig gigs gigabyte gigabytes",
    "tb": "tb terabyte terabytes",
    "kbps": "kbps kbit/s|kilobits per second",
    "mbps": "mbps mbit/s mb/s|megabits per second",
    "gbps": "gbps gbit/s gb/s|gigabits per second",
    # electricity and power
    "w": "w watt watts",
    "kw": "kw kilowatt kilowatts",
    "mw": "mw megawatt megawatts",
    "wh": "wh|watt hour|watt hours",
    "kwh": "kwh|kilowatt hour|kilowatt hours",
    "v": "v volt volts",
    "a": "amp amps ampere amperes",
    "mah": "mah",
    "hz": "hz hertz",
    "khz": "khz kilohertz",
    "mhz": "mhz megahertz",
    "ghz": "ghz gigahertz",
    "hp": "hp horsepower",
    # speed, pressure, energy, sound, medicine
    "mph": "mph mi/h|miles per hour|miles an hour",
    "km/h": "km/h kmh kph kmph|kilometers per hour|kilometres per hour|km per hour",
    "m/s": "m/s|meters per second|metres per second",
    "psi": "psi",
    "bar": "bar bars",
    "kpa": "kpa",
    "mmhg": "mmhg|mm hg",
    "cal": "cal cals calorie calories",
    "kcal": "kcal kcals kilocalorie kilocalories",
    "kj": "kj kilojoule kilojoules",
    "db": "db decibel decibels",
    "px": "px pixel pixels",
    "mp": "mp megapixel megapixels",
    "bpm": "bpm|beats per minute",
    "iu": "iu",
    "mg/dl": "mg/dl",
    "mmol/l": "mmol/l",
    "pp": "pp|percentage point|percentage points|% points",
}


def _forms(written: str) -> list[str]:
    """Split `a b|two words|c d e` into its forms."""
    single, *phrases = written.split("|")
    forms = single.split()
    for phrase in phrases:
        forms.append(phrase)
    return [form for form in forms if form]


_UNIT_OF: dict[str, str] = {form: unit for unit, written in _UNITS.items() for form in _forms(written)}
_WORD_END = r"(?![a-z0-9_²³\u00c0-\u024f])"
_ATTACHED = LazyPattern(r"[^\W\d_]{1,24}[23²³]?(?:/[a-z]{1,12})?")
_SAID_TWICE = r"(?:\s?\((?:\d+|[a-z]+(?:-[a-z]+)?)\))?"  # nineteen (19) days
_COUNT = rf"(?:\d+|(?:{'|'.join(sorted(NUMBER_WORDS, key=len, reverse=True))}|an?))"

# Units that follow one another in one quantity: 5 feet 10 inches is not 5 feet.
_FINER = {
    "h": ("min",), "min": ("s",), "ft": ("in",), "lb": ("oz",), "st": ("lb",), "year": ("month", "week", "day"),
    "month": ("week", "day"), "week": ("day",), "day": ("h",), "kg": ("g",), "m": ("cm",),
}  # fmt: skip
# 5 mg a day is still 5 mg and 8 hours a night still 8 hours; 5 km an hour and 5 mg/dl are other units.
_NO_RATE = (
    r"(?!/\s?(?!day|d\b|week|wk|month|mo\b|year|yr|night|person|dose|serving))"
    r"(?!\s+(?:per|an?|every|each)\s+(?:second|minute|hour|sec|min|hr|liter|litre|deciliter|kilo\w*)\b)(?!²|³)"
)


def is_attached(text: str, at: int) -> bool:
    """Say whether a unit is written at `at`, onto the digits before it, as in `16GB`."""
    if text.startswith("°", at):
        return True
    found = _ATTACHED.match(text, at)
    return found is not None and (found[0] in _UNIT_OF or found[0].partition("/")[0] in _UNIT_OF)


def unit_name(written: str) -> str:
    """Return the canonical unit of a written form, or the form with its plural s dropped."""
    folded = " ".join(written.split())
    return _UNIT_OF.get(folded) or " ".join(_singular(word) for word in folded.split())


@lru_cache(maxsize=1024)
def unit_pattern(unit: str) -> LazyPattern:
    """Return what may follow a number for it to carry `unit`."""
    if unit in _UNITS:
        return LazyPattern(
            rf"{_SAID_TWICE}[\s-]?(?:{alternation(_forms(_UNITS[unit]))}){_WORD_END}{_NO_RATE}"
        )
    words = r"[\s-]+".join(rf"{re.escape(word)}(?:s|es|'s?)?" for word in unit.split())
    return LazyPattern(rf"{_SAID_TWICE}[\s-]{words}{_WORD_END}", keep=False)


def one_pattern(unit: str) -> LazyPattern:
    """Return what stands for one of `unit` in words: `an hour`, `a week`."""
    return LazyPattern(rf"a(?<!\wa)(?<!half a)n?(?=\s){unit_pattern(unit).source}", keep=False)


@lru_cache(maxsize=256)
def finer_part(unit: str) -> LazyPattern | None:
    """Return what continues a quantity in a finer unit, or None when nothing can."""
    finer = _FINER.get(unit)
    if not finer:
        return None
    forms = alternation([form for name in finer for form in _forms(_UNITS[name])])
    return LazyPattern(rf"[\s,]*(?:and\s+)?{_COUNT}[\s-]?(?:{forms}){_WORD_END}")


@lru_cache(maxsize=256)
def coarser_part(unit: str) -> LazyPattern | None:
    """Return what stands before a quantity when it is the finer part of another."""
    coarser = [name for name, finer in _FINER.items() if unit in finer]
    if not coarser:
        return None
    forms = alternation([form for name in coarser for form in _forms(_UNITS[name])])
    return LazyPattern(rf"(?<![\w]){_COUNT}[\s-]?(?:{forms})[\s,]*(?:and\s+)?\Z")


def _singular(word: str) -> str:
    if len(word) > 3 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("ses", "xes", "ches", "shes")):
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
