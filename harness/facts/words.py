"""Numbers and ordinals written as words: whole compounds only (20 is not in twenty-five)."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache

_UNITS_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_SCALES = ("hundred", "thousand", "million", "billion", "trillion")
_ORDINAL_UNITS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth"
).split()
_ORDINAL_TENS = "twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth".split()

NUMBER_WORDS = frozenset([*_UNITS_WORDS, *_TENS, *_SCALES, "dozen", "half", "fourty"])
DIGIT_WORDS = {**{word: str(value) for value, word in enumerate(_UNITS_WORDS[:10])}, "oh": "0", "nought": "0"}

_WORD = "|".join(sorted([*_UNITS_WORDS, *_TENS, *_SCALES], key=len, reverse=True))
_BIG = "|".join(_SCALES)
_RUN = re.compile(
    rf"(?<![\w-])(?:half\s+a\s+dozen|half\s+an?(?=\s)|"
    rf"(?:an?\s+(?=(?:{_BIG}|dozen)\b))?(?:(?:{_WORD})|dozen)"
    rf"(?:(?:(?<=hundred)|(?<=thousand)|(?<=million))\s+and\s+(?:{_WORD})|[\s-]+(?:{_WORD}|dozen)(?!\w))*"
    rf"(?:\s+point(?:\s+(?:{_WORD}))+)?)(?![\w])(?P<half>\s+and\s+a\s+half\b)?"
)
_AFTER_RUN = re.compile(
    rf"[\s-](?:{'|'.join(_ORDINAL_UNITS[:9])}|{_BIG}th)s?(?!\w)"
)
_PARTS = re.compile(r"-?(?:half|halves|thirds?|quarters?|fifths?|tenths?)(?!\w)")

ORDINAL_WORDS = frozenset([*_ORDINAL_UNITS, *_ORDINAL_TENS, "hundredth", "thousandth"])
_ORDINAL_RUN = re.compile(
    rf"(?<![\w-])(?:(?P<tens>{'|'.join(_TENS)})[\s-])?(?P<last>{'|'.join([*_ORDINAL_UNITS, *_ORDINAL_TENS])})(?![\w])"
)
_ORDINAL_DIGITS = re.compile(r"(?<![\w.,])(\d{1,4})\s?(?:st|nd|rd|th)(?![\w])")


def number_runs(text: str) -> list[tuple[int, int, Decimal]]:
    """Return `(start, end, value)` of every number written as words in folded `text`."""
    runs = []
    for found in _RUN.finditer(text):
        start, end = found.start(), found.end()
        words = found[0]
        if found["half"]:
            words = words[: -len(found["half"])]
        after = _AFTER_RUN.match(text, end)
        if after and words.rsplit(None, 1)[-1].rsplit("-", 1)[-1] in _TENS:
            continue  # twenty-second
        if _PARTS.match(text, end) and text[end : end + 1] == "-":
            continue  # one-third
        for begin, stop, value in _values(words, start):
            last = stop == start + len(words)
            runs.append((begin, end if last else stop, value + Decimal("0.5") if last and found["half"] else value))
    return runs


def _values(words: str, start: int) -> list[tuple[int, int, Decimal]]:
    """Read a run as one number, or as the longest numbers that it is made of."""
    value = parse_number_words(words)
    if value is not None:
        return [(start, start + len(words), value)]
    tokens = list(re.finditer(r"[^\s-]+", words))
    at, values = 0, []
    while at < len(tokens):
        for end in range(len(tokens), at, -1):
            begin, stop = tokens[at].start(), tokens[end - 1].end()
            value = parse_number_words(words[begin:stop])
            if value is not None:
                values.append((start + begin, start + stop, value))
                at = end
                break
        else:
            at += 1
    return values


@lru_cache(maxsize=4096)
def parse_number_words(words: str) -> Decimal | None:
    """Return the value of a whole number phrase (`one thousand five hundred`), else None."""
    folded = " ".join(words.replace("-", " ").split())
    if folded in ("half a", "half an", "half"):
        return Decimal("0.5")
    if folded == "half a dozen":
        return Decimal(6)
    whole, point, decimals = folded.partition(" point ")
    if point:
        value = parse_number_words(whole)
        digits = [DIGIT_WORDS.get(word) for word in decimals.split()]
        if value is None or not digits or None in digits:
            return None
        return Decimal(f"{value}.{''.join(digit for digit in digits if digit)}")
    if folded.endswith("dozen"):
        count = folded[: -len("dozen")].strip()
        value = Decimal(1) if count in ("", "a") else parse_number_words(count)
        return None if value is None else value * 12
    if folded.startswith(("a ", "an ")):
        folded = "one " + folded.partition(" ")[2]
    return _cardinal(folded)


def _cardinal(folded: str) -> Decimal | None:
    from text_to_num import text2num

    try:
        return Decimal(text2num(folded, "en"))
    except ValueError:
        return _year_pair(folded)


def _year_pair(folded: str) -> Decimal | None:
    """Read `nineteen eighty-four` and `twenty twenty-five`, the way years are said."""
    from text_to_num import text2num

    head, _, tail = folded.partition(" ")
    if head not in (*_UNITS_WORDS[10:], "twenty") or not tail or head == "ten":
        return None
    try:
        low = text2num(tail.replace("oh ", ""), "en")
    except ValueError:
        return None
    if not (10 <= low <= 99 or (tail.startswith("oh ") and low < 10)):
        return None
    return Decimal(text2num(head, "en") * 100 + low)


def ordinals(text: str) -> list[tuple[int, int, int]]:
    """Return `(start, end, rank)` of every ordinal in folded `text`, in digits or words."""
    found = [(m.start(), m.end(), int(m[1])) for m in _ORDINAL_DIGITS.finditer(text)]
    for m in _ORDINAL_RUN.finditer(text):
        rank = ordinal_word(m["last"], m["tens"])
        if rank is not None and not _is_time_or_part(text, m):
            found.append((m.start(), m.end(), rank))
    return found


def ordinal_word(last: str, tens: str | None = None) -> int | None:
    """Return the rank of an ordinal word, `second` or `twenty` + `second`."""
    if last in _ORDINAL_TENS:
        return None if tens else 20 + 10 * _ORDINAL_TENS.index(last)
    rank = 1 + _ORDINAL_UNITS.index(last)
    if tens is None:
        return rank
    return rank + 20 + 10 * _TENS.index(tens) if rank < 10 else None


def _is_time_or_part(text: str, found: re.Match[str]) -> bool:
    """Tell `wait a second` and `one third` from ranks."""
    before = text[: found.start()]
    if found["last"] == "second" and not found["tens"]:
        after = text[found.end() : found.end() + 6].lstrip()
        if re.search(r"(?:\b(?:one|per|every|each|half a|split)|\d)[\s-]$", before):
            return True
        return bool(re.search(r"\b(?:a|this|just a|any)\s$", before)) and not after[:1].isalpha()
    return bool(re.search(r"\b(?:one|two|three|four)[\s-]$", before)) and not found["tens"]


_DIGIT_RUN = re.compile(
    rf"(?<![\w-])(?:{'|'.join(DIGIT_WORDS)})(?:(?:,?\s+|-)(?:{'|'.join(DIGIT_WORDS)}))+(?![\w-])"
)


def digit_runs(text: str) -> list[tuple[int, int, str]]:
    """Return `(start, end, digits)` of digits spelled one by one: `four eight two one`."""
    return [
        (m.start(), m.end(), "".join(DIGIT_WORDS[word] for word in re.findall(r"[a-z]+", m[0])))
        for m in _DIGIT_RUN.finditer(text)
    ]
