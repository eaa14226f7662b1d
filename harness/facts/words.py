"""Numbers and ordinals written as words: whole compounds only (20 is not in twenty-five)."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache

from harness.facts.patterns import Found, LazyPattern, listing
from harness.facts.sentences import Sentence

UNITS = listing(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
TENS = listing("twenty thirty forty fifty sixty seventy eighty ninety")
_SCALES = listing("hundred thousand million billion trillion")
ORDINAL_UNITS = listing(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth"
)
ORDINAL_TENS = listing("twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth")

NUMBER_WORDS = frozenset([*UNITS, *TENS, *_SCALES, "dozen", "half"])
_WITH_ARTICLE = frozenset([*_SCALES, "dozen"])
DIGIT_WORDS = {**{word: str(value) for value, word in enumerate(UNITS[:10])}, "oh": "0", "nought": "0"}
ORDINAL_WORDS = frozenset([*ORDINAL_UNITS, *ORDINAL_TENS])
_ORDINAL_STARTS = ORDINAL_WORDS | set(TENS)

_SINGLE = {word: Decimal(value) for value, word in enumerate(UNITS)} | {
    word: Decimal(10 * value) for value, word in enumerate(TENS, start=2)
}
_WORD = "|".join(sorted([*UNITS, *TENS, *_SCALES], key=len, reverse=True))
_BIG = "|".join(_SCALES)
_RUN = LazyPattern(
    rf"(?<![\w-])(?:half\s+a\s+dozen|half\s+an?(?=\s)|"
    rf"(?:an?\s+(?=(?:{_BIG}|dozen)\b))?(?:(?:{_WORD})|dozen)(?![^\W\d_])"
    rf"(?:(?:(?<=hundred)|(?<=thousand)|(?<=million))\s+and\s+(?:{_WORD})(?!\w)|[\s-]+(?:{_WORD}|dozen)(?!\w))*"
    rf"(?:\s+point(?:\s+(?:{_WORD}))+)?)(?![\w])(?P<half>\s+and\s+a\s+half\b)?"
)
_AFTER_TENS = LazyPattern(rf"[\s-](?:{'|'.join(ORDINAL_UNITS[:9])}|{_BIG}th)s?(?!\w)")
_PARTS = LazyPattern(r"-(?:half|halves|thirds?|quarters?|fifths?|tenths?)(?!\w)")
_PIECE = LazyPattern(r"[^\s-]+")


def number_runs(text: str, sentence: Sentence) -> list[tuple[int, int, Decimal]]:
    """Return `(start, end, value)` of every number of a sentence that is written as words, in order."""
    words = sentence.words(NUMBER_WORDS)
    if not words:
        return []
    if not _WITH_ARTICLE.isdisjoint(sentence.vocabulary):
        words = sentence.words(NUMBER_WORDS | {"a", "an"})
    runs: list[tuple[int, int, Decimal]] = []
    done = 0
    for word in words:
        if word.start < done:
            continue
        found = _RUN.match(text, word.start)
        if found is not None:
            runs.extend(_read_run(text, found))
            done = found.end()
    return runs


def _read_run(text: str, found: Found) -> Iterable[tuple[int, int, Decimal]]:
    start, end = found.span()
    words = found[0].removesuffix(found["half"] or "")
    if words.replace("-", " ").split()[-1] in TENS and _AFTER_TENS.match(text, end):
        return  # twenty-second
    if _PARTS.match(text, end):
        return  # one-third
    for begin, stop, value in _values(words, start):
        if stop == start + len(words):
            yield begin, end, value + Decimal("0.5") if found["half"] else value
        else:
            yield begin, stop, value


def _values(words: str, start: int) -> list[tuple[int, int, Decimal]]:
    """Read a run as one number, or as the longest numbers that it is made of."""
    value = parse_number_words(words)
    if value is not None:
        return [(start, start + len(words), value)]
    pieces = list(_PIECE.finditer(words))
    at, values = 0, []
    while at < len(pieces):
        # No number has more than 16 words; the bound keeps a long row of them linear.
        for end in range(min(len(pieces), at + 16), at, -1):
            begin, stop = pieces[at].start(), pieces[end - 1].end()
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
    single = _SINGLE.get(folded)
    if single is not None:
        return single
    if folded in ("half a", "half an", "half"):
        return Decimal("0.5")
    if folded == "half a dozen":
        return Decimal(6)
    if len(folded) > 160:
        return None
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
    if head not in (*UNITS[11:], "twenty") or not tail:
        return None
    try:
        low = text2num(tail.replace("oh ", ""), "en")
    except ValueError:
        return None
    if not (10 <= low <= 99 or (tail.startswith("oh ") and low < 10)):
        return None
    return Decimal(text2num(head, "en") * 100 + low)


# ---- ordinals -------------------------------------------------------------------------

_ORDINAL_RUN = LazyPattern(
    rf"(?<![\w-])(?:(?P<tens>{'|'.join(TENS)})[\s-])?"
    rf"(?P<last>{'|'.join([*ORDINAL_UNITS, *ORDINAL_TENS])})(?![\w])"
)
_ORDINAL_DIGITS = LazyPattern(r"(?<![\w.,])(\d{1,4})\s?(?:st|nd|rd|th)(?![\w])")
_COUNTED_SECOND = LazyPattern(r"(?:\b(?:one|per|every|each|half a|split)|\d)[\s-]\Z")
_A_SECOND = LazyPattern(r"\b(?:a|this|just a|any)\s\Z")
_PART = LazyPattern(r"\b(?:one|two|three|four)[\s-]\Z")


def ordinals(text: str, sentence: Sentence) -> list[tuple[int, int, int]]:
    """Return `(start, end, rank)` of every ordinal of a sentence, in digits or words."""
    found: list[tuple[int, int, int]] = []
    done = 0
    for word in sentence.digits_and_words(_ORDINAL_STARTS):
        if word.start < done:
            continue
        if word.text[0].isdigit():
            if digits := _ORDINAL_DIGITS.match(text, word.start):
                found.append((digits.start(), digits.end(), int(digits[1])))
        else:
            written = _ORDINAL_RUN.match(text, word.start)
            rank = ordinal_word(written["last"], written["tens"]) if written else None
            if written and rank is not None and not _is_time_or_part(text, written):
                found.append((written.start(), written.end(), rank))
                done = written.end()
    return found


def ordinal_word(last: str, tens: str | None = None) -> int | None:
    """Return the rank of an ordinal word, `second` or `twenty` + `second`."""
    if last in ORDINAL_TENS:
        return None if tens else 20 + 10 * ORDINAL_TENS.index(last)
    rank = 1 + ORDINAL_UNITS.index(last)
    if tens is None:
        return rank
    return rank + 20 + 10 * TENS.index(tens) if rank < 10 else None


def _is_time_or_part(text: str, found: Found) -> bool:
    """Tell `wait a second` and `one third` from ranks."""
    start = found.start()
    window = max(0, start - 12)
    if found["tens"]:
        return False
    if found["last"] == "second":
        after = text[found.end() : found.end() + 6].lstrip()
        if _COUNTED_SECOND.search(text, window, start):
            return True
        return _A_SECOND.search(text, window, start) is not None and not after[:1].isalpha()
    return _PART.search(text, window, start) is not None


# ---- digits spelled one by one --------------------------------------------------------

_DIGIT_WORD = "|".join(DIGIT_WORDS)
_REPEATS = {"double": 2, "triple": 3}
_DIGIT_RUN = LazyPattern(
    rf"(?<![\w-])(?:(?:double|triple)\s+)?(?:{_DIGIT_WORD})(?:(?:,?\s+|-)(?:(?:double|triple)\s+)?(?:{_DIGIT_WORD}))+(?![\w-])"
)
_LETTERS = LazyPattern(r"[a-z]+")


def digit_runs(text: str) -> list[tuple[int, int, str]]:
    """Return `(start, end, digits)` of digits spelled one by one: `four eight double two`."""
    return [(found.start(), found.end(), _spelled(found[0])) for found in _DIGIT_RUN.finditer(text)]


def _spelled(words: str) -> str:
    digits, times = [], 1
    for word in _LETTERS.findall(words):
        if word in _REPEATS:
            times = _REPEATS[word]
        else:
            digits.append(DIGIT_WORDS[word] * times)
            times = 1
    return "".join(digits)
