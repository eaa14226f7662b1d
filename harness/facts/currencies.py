"""Currencies by their written forms, before and after an amount."""

from __future__ import annotations

from typing import NamedTuple

from harness.facts.patterns import LazyPattern

# code: (written before the amount, written after it); `$` is the dollar of the locale.
_CURRENCIES: dict[str, tuple[str, str]] = {
    "USD": ("us$ usd $us", "us$ usd us_dollar us_dollars"),
    "CAD": ("ca$ c$ cad can$", "cad canadian_dollar canadian_dollars"),
    "AUD": ("au$ a$ aud", "aud australian_dollar australian_dollars"),
    "NZD": ("nz$ nzd", "nzd"),
    "SGD": ("s$ sgd", "sgd singapore_dollar singapore_dollars"),
    "HKD": ("hk$ hkd", "hkd"),
    "$": ("$", "$ dollar dollars buck bucks"),
    "EUR": ("€ eur euro euros", "€ eur euro euros"),
    "GBP": ("£ gbp stg", "£ gbp quid pound pounds pound_sterling pounds_sterling sterling"),
    "JPY": ("¥ jpy yen", "¥ 円 jpy yen"),
    "CNY": ("cn¥ rmb cny", "元 rmb cny yuan renminbi"),
    "INR": ("₹ rs rs. inr", "₹ inr rupee rupees"),
    "KRW": ("₩ krw", "₩ 원 krw won"),
    "CHF": ("chf sfr sfr. fr.", "chf franc francs swiss_franc swiss_francs"),
    "SEK": ("sek", "sek kronor swedish_krona swedish_kronor"),
    "NOK": ("nok", "nok norwegian_krone norwegian_kroner"),
    "DKK": ("dkk", "dkk danish_krone danish_kroner"),
    "PLN": ("pln zł", "pln zł zloty zlotys"),
    "CZK": ("czk kč", "czk kč koruna korunas"),
    "BRL": ("r$ brl", "brl real reais"),
    "MXN": ("mx$ mxn", "mxn peso pesos"),
    "ZAR": ("zar r", "zar rand"),
    "TRY": ("₺", "₺ lira liras"),
    "RUB": ("₽ rub", "₽ rub rouble roubles ruble rubles"),
    "UAH": ("₴ uah", "₴ uah hryvnia hryvnias"),
    "ILS": ("₪ ils", "₪ ils shekel shekels"),
    "NGN": ("₦ ngn", "₦ ngn naira"),
    "VND": ("₫ vnd", "₫ vnd dong"),
    "AED": ("aed", "aed dirham dirhams"),
    "BTC": ("₿ btc", "btc bitcoin bitcoins"),
}
# Hundredths of a currency: `50p`, `25 cents`.
_HUNDREDTHS = {
    "cent": "$",
    "cents": "$",
    "¢": "$",
    "p": "GBP",
    "pence": "GBP",
    "penny": "GBP",
    "eurocents": "EUR",
}

SIGNS = "$€£¥₹₩₺₽₴₪₦₫₿"
_BEFORE = {form: code for code, (forms, _) in _CURRENCIES.items() for form in forms.split()}
_AFTER = {form.replace("_", " "): code for code, (_, forms) in _CURRENCIES.items() for form in forms.split()}
_SIGN_OF = {sign: _BEFORE[sign] for sign in SIGNS}
# The words that the name of a currency after an amount can begin with.
CURRENCY_WORDS = frozenset(form.split()[0] for form in (*_AFTER, *_HUNDREDTHS) if form[0].isalpha())
_ATTACHED_ONLY = frozenset({"r", "p"})
_LETTERS_BEFORE = LazyPattern(rf"(?<![\w])[a-złč]{{0,4}}[{SIGNS}.]?(?=\s?\Z)")
_LETTERS_AFTER = LazyPattern(
    rf"[\s-]?(?P<name>us\$|[{SIGNS}¢円元원]|[^\W\d_]{{1,24}}(?:\s(?:dollars?|sterling|francs?|kron[ae]r?|kronor)\b)?)"
)


class Currency(NamedTuple):
    """A currency found next to an amount: its code, and where its name begins or ends."""

    code: str
    edge: int
    is_hundredth: bool = False


def currency_before(text: str, start: int, dollar: str) -> Currency | None:
    """Return the currency written before the amount that begins at `start`; `edge` is its start."""
    near = text[start - 1 : start]
    if near in _SIGN_OF and not text[start - 2 : start - 1].isalnum():
        return Currency(dollar if near == "$" else _SIGN_OF[near], start - 1)
    spaced = near == " "
    last = text[start - 2 : start - 1] if spaced else near
    if not last or not (last in SIGNS or last.isalpha() or last == "."):
        return None
    found = _LETTERS_BEFORE.search(text, max(0, start - 6), start)
    if found is None:
        return None
    code = _BEFORE.get(found[0])
    if code is None or (spaced and found[0] in _ATTACHED_ONLY):
        return None
    return Currency(dollar if code == "$" else code, found.start())


def currency_after(text: str, end: int, dollar: str) -> Currency | None:
    """Return the currency written after the amount that ends at `end`; `edge` is its end."""
    found = _LETTERS_AFTER.match(text, end)
    if found is None:
        return None
    name, edge = " ".join(found["name"].split()), found.end()
    if name not in _AFTER and " " in name:
        name = name.partition(" ")[0]
        edge = found.start("name") + len(name)
    code = _AFTER.get(name)
    if code is None:
        code = _HUNDREDTHS.get(name)
        if code is None or (name in _ATTACHED_ONLY and found.start("name") != end):
            return None
        return Currency(dollar if code == "$" else code, edge, is_hundredth=True)
    return Currency(dollar if code == "$" else code, edge)
