"""Units and currencies by their written forms. No conversion: 2 hours is not 120 minutes."""

from __future__ import annotations

import re
from functools import lru_cache

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
    "°c": "°c|° c|deg c|degrees c|degree celsius|degrees celsius|degrees centigrade|°celsius celsius",
    "°f": "°f|° f|deg f|degrees f|degree fahrenheit|degrees fahrenheit fahrenheit",
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

# `50p` and `25 cents` are hundredths of the currency.
_CURRENCIES: dict[str, tuple[str, str]] = {
    # code: (written before the amount, written after it), `|` between forms
    "USD": (r"us\$|usd|\$us", r"us\$|usd|us dollars?"),
    "CAD": (r"ca\$|c\$|cad|can\$", r"cad|canadian dollars?"),
    "AUD": (r"au\$|a\$|aud", r"aud|australian dollars?"),
    "NZD": (r"nz\$|nzd", r"nzd|new zealand dollars?"),
    "SGD": (r"s\$|sgd", r"sgd|singapore dollars?"),
    "HKD": (r"hk\$|hkd", r"hkd|hong kong dollars?"),
    "$": (r"\$", r"\$|dollars?|bucks?"),
    "EUR": (r"€|eur|euros?", r"€|eur|euros?"),
    "GBP": (r"£|gbp|stg", r"£|gbp|quid|pounds?(?: sterling)?|sterling"),
    "JPY": (r"¥|jpy|yen", r"¥|円|jpy|yen"),
    "CNY": (r"cn¥|rmb|cny", r"元|rmb|cny|yuan|renminbi"),
    "INR": (r"₹|rs\.?|inr", r"₹|inr|rupees?"),
    "KRW": (r"₩|krw", r"₩|원|krw|won"),
    "CHF": (r"chf|sfr\.?|fr\.", r"chf|swiss francs?|francs?"),
    "SEK": (r"sek", r"sek|kronor|swedish kron(?:a|or)"),
    "NOK": (r"nok", r"nok|kroner|norwegian kroner?"),
    "DKK": (r"dkk", r"dkk|danish kroner?"),
    "PLN": (r"pln|zł", r"pln|zł|zloty|zlotys"),
    "CZK": (r"czk|kč", r"czk|kč|koruna|korunas"),
    "BRL": (r"r\$|brl", r"brl|reais|real"),
    "MXN": (r"mx\$|mxn", r"mxn|pesos?"),
    "ZAR": (r"zar|r(?=\d)", r"zar|rand"),
    "TRY": (r"₺|try", r"₺|try|liras?"),
    "RUB": (r"₽|rub", r"₽|rub|roubles?|rubles?"),
    "UAH": (r"₴|uah", r"₴|uah|hryvnias?"),
    "ILS": (r"₪|ils", r"₪|ils|shekels?"),
    "NGN": (r"₦|ngn", r"₦|ngn|naira"),
    "VND": (r"₫|vnd", r"₫|vnd|dong"),
    "AED": (r"aed", r"aed|dirhams?"),
    "BTC": (r"₿|btc", r"btc|bitcoins?"),
}
_CENTS = {"cent": "$", "cents": "$", "¢": "$", "p": "GBP", "pence": "GBP", "penny": "GBP", "eurocents": "EUR"}


def _forms(written: str) -> list[str]:
    """Split `a b|two words|c d e` into its forms."""
    single, *phrases = written.split("|")
    forms = single.split()
    for phrase in phrases:
        forms.append(phrase)
    return [form for form in forms if form]


_UNIT_OF: dict[str, str] = {form: unit for unit, written in _UNITS.items() for form in _forms(written)}
# Units whose letters stand for something else when capital or small are not told apart: 16 Gb = 16 GB.
_WORD_END = r"(?![a-z0-9_²³\u00c0-\u024f])"


def _alternation(forms: list[str]) -> str:
    return "|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True))


# A unit that may stand at the end of digits without a space, as in 16GB.
ATTACHED_UNIT = re.compile(
    rf"(?:{_alternation([form for form in _UNIT_OF if ' ' not in form])}){_WORD_END}|°"
)
CURRENCY_BEFORE = re.compile(
    "(?<![a-z])(?:"
    + "|".join(f"(?P<c{i}>{before})" for i, (before, _) in enumerate(_CURRENCIES.values()))
    + r")\s?$"
)
CURRENCY_AFTER = re.compile(
    r"[\s-]?(?:"
    + "|".join(f"(?P<c{i}>{after})" for i, (_, after) in enumerate(_CURRENCIES.values()))
    + rf"|(?P<cents>{_alternation(list(_CENTS))}))"
    + r"(?![a-z0-9_\u00c0-\u024f])"
)
_CODES = tuple(_CURRENCIES)

# Units that follow one another in one quantity: 5 feet 10 inches is not 5 feet.
_FINER = {
    "h": ("min",), "min": ("s",), "ft": ("in",), "lb": ("oz",), "st": ("lb",), "year": ("month", "week", "day"),
    "month": ("week", "day"), "week": ("day",), "day": ("h",), "kg": ("g",), "m": ("cm",),
}  # fmt: skip


def currency(found: re.Match[str], dollar: str) -> tuple[str, bool]:
    """Return the currency code that a CURRENCY_* match names, and whether it is hundredths."""
    name = found.lastgroup or ""
    if name == "cents":
        code, hundredths = _CENTS[found["cents"]], True
    else:
        code, hundredths = _CODES[int(name[1:])], False
    return (dollar if code == "$" else code), hundredths


def unit_name(written: str) -> str:
    """Return the canonical unit of a written form, or the form with its plural s dropped."""
    folded = " ".join(written.split())
    return _UNIT_OF.get(folded) or " ".join(_singular(word) for word in folded.split())


@lru_cache(maxsize=1024)
def unit_pattern(unit: str) -> re.Pattern[str]:
    """Return what may follow a number for it to carry `unit`."""
    if unit in _UNITS:
        forms = _alternation(_forms(_UNITS[unit]))
        # 5 mg a day is still 5 mg; 5 mg/dl is something else.
        tail = r"(?!\s?/\s?(?!day|d\b|week|wk|month|mo\b|year|yr|night|person|h\b|hr|hour))(?!²|³)"
        return re.compile(rf"[\s-]?(?:{forms}){_WORD_END}{tail}")
    words = r"[\s-]+".join(rf"{re.escape(word)}(?:s|es|'s?)?" for word in unit.split())
    return re.compile(rf"[\s-]{words}{_WORD_END}")


@lru_cache(maxsize=256)
def finer_part(unit: str) -> re.Pattern[str] | None:
    """Return what continues a quantity in a finer unit, or None when nothing can."""
    finer = _FINER.get(unit)
    if not finer:
        return None
    forms = _alternation([form for name in finer for form in _forms(_UNITS[name])])
    return re.compile(rf"[\s,]*(?:and\s+)?(?:\d+|[a-z]+(?:-[a-z]+)?)[\s-]?(?:{forms}){_WORD_END}")


@lru_cache(maxsize=256)
def coarser_part(unit: str) -> re.Pattern[str] | None:
    """Return what stands before a quantity when it is the finer part of another."""
    coarser = [name for name, finer in _FINER.items() if unit in finer]
    if not coarser:
        return None
    forms = _alternation([form for name in coarser for form in _forms(_UNITS[name])])
    return re.compile(rf"(?:\d|[a-z])[\s-]?(?:{forms})[\s,]*(?:and\s+)?$")


def _singular(word: str) -> str:
    if len(word) > 3 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("ses", "xes", "ches", "shes")):
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
