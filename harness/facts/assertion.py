"""Does the answer state a value as true, or deny it, ask it, leave it open, call it past?

Every rule looks at the sentence around the value. A cue only counts inside its scope:
the scope of a negation ends at a contrast (`but`), at a semicolon or dash, and at a
comma unless the comma belongs to a list with `or`.

What undoes an assertion:
    `negated`       not X · X is not the … · rather than X · no longer X
    `unsure`        I don't know whether X
    `question`      Is it X?
    `alternatives`  X or Y
    `enumeration`   possible values: W, X, Y, Z
    `replaced`      changed from X to Y · X, sorry, Y · used to be X
What is only noted: `past` (previously X, the old X) and `hedged` (probably X).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

UNDOING = frozenset({"negated", "unsure", "question", "alternatives", "enumeration", "replaced"})
# A wrong value that is called past, or that is undone, is not stated as true.
RESOLVING = UNDOING | {"past"}

_END = re.compile(r"[.!?]+[\"')\]]*(?=\s|$)|[。！？]+|\n+")
_ABBREVIATION = re.compile(
    r"(?:\b(?:dr|mr|mrs|ms|st|no|nos|vs|etc|e\.g|i\.e|jr|sr|inc|ltd|co|corp|approx|dept|prof|mt|ave|rd|blvd|ext|apt|acct|"
    r"ref|est|min|max|tel|fig|vol|pp|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|mon|tues?|wed|thurs?|fri|sat|sun)|"
    r"(?<![\w.])[a-z])$"
)
_MERIDIEM_DOT = re.compile(r"\b[ap]\.m$")


def sentence_ends(text: str, cased: str) -> list[int]:
    """Return where each sentence of folded `text` ends, in order, the last at its length."""
    ends = []
    for m in _END.finditer(text):
        if m[0][0] == ".":
            before = text[max(0, m.start() - 8) : m.start()]
            after = cased[m.end() : m.end() + 2].lstrip()[:1]
            if _MERIDIEM_DOT.search(before):
                if not after.isupper() and after:
                    continue
            elif _ABBREVIATION.search(before) and after and not _closes(before, after):
                continue
        ends.append(m.end())
    if not ends or ends[-1] < len(text):
        ends.append(len(text))
    return ends


def _closes(before: str, after: str) -> bool:
    """Say whether a short word before the full stop ends a sentence all the same (`… on Sat. The`)."""
    return before.endswith(("etc", "inc", "ltd", "co")) and after.isupper()


def sentence_at(ends: Sequence[int], start: int, end: int) -> tuple[int, int]:
    """Return the bounds of the sentence (or sentences) that `start:end` stands in."""
    first = bisect_right(ends, start)
    last = bisect_right(ends, max(start, end - 1))
    return (ends[first - 1] if first else 0), ends[min(last, len(ends) - 1)]


# ---- negation -------------------------------------------------------------------------

_CUE = re.compile(
    r"\b(?P<phrase>rather than|instead of|as opposed to|other than|except for|except|excluding|unlike|without|anything but)\b"
    r"|\b(?P<past>no longer|used to|formerly)\b"
    r"|\b(?P<no>no)\b"
    r"|\b(?P<doubt>doubt(?:s|ed)?|denied|denies|deny|ruled out|decided against|false that|incorrect that|untrue that)\b"
    r"|\b(?P<neg>not|never|cannot|neither|nor|nobody|none of|hardly|dont|doesnt|didnt|isnt|wasnt|arent|wont)\b|(?P<nt>n't)\b"
)
_NO_IS_ANSWER = re.compile(
    r"\s*[,.!:;—–-]|\s*(?:$|\d|#)|\s+(?:it|it's|you|you're|that|that's|this|i|we|they|he|she|your|the|there|there's|its)\b"
)
_NO_IS_IDIOM = re.compile(
    r"\s+(?:doubt|problem|worries|wonder|later than|earlier than|sooner than|more than|less than|fewer than|change|"
    r"changes|matter|idea|issue|need|further|other than)\b"
)
_NOT_IS_IDIOM = re.compile(
    r"\s+(?:only|just|merely|simply|to mention|to worry|until|till|before|later than|earlier than|more than|less than|"
    r"fewer than|unlike|worry|forget|hesitate|wait|matter|miss|be late|overlook)\b"
)
_IF_NOT = re.compile(r"\b(?:if|why|whether or|or|as often as)\s+$")
_NO_DOUBT = re.compile(r"\b(?:no|without(?: a)?|beyond(?: a)?|little)\s+$")
_BREAK = re.compile(
    r"[;:()\[\]—]|\s-\s|\s–\s|\.\.\."
    r"|\b(?:but|however|although|though|because|until|till|unless|except|besides|before|which|whereas|while|when|"
    r"where|since|so that|otherwise|instead(?! of))\b"
    r"|\b(?:and|so|then)\s+(?:you|it|i|we|they|he|she|your|it's|that|there|the)\b"
)
_IF = re.compile(r"\b(?:if|whether)\b")
_VERB = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|do|does|did|will|would|can|could|should|must|might|goes?|went|lives?|"
    r"lived|uses?|moved|chose|comes?|came|starts?|pays?|paid|takes?|said|it's|that's|there's|you're|i'm|we're|they're|"
    r"he's|she's)\b"
)
_SUBJECT = re.compile(r"\b(?:you|it|i|we|they|he|she)\b")

_AFTER_NEGATED = re.compile(
    r"\W{0,3}(?:\w+\s+){0,2}?(?:"
    r"(?:is|was|are|were|would be|'s)\s+no\s+longer\b"
    r"|(?:(?:is|was|are|were|'s)\s*(?:not|never)|(?:is|was|are|were)n't)\s+(?:the|your|my|his|her|their|our|a|an|it|correct|"
    r"right|valid|current|where|what|who|when|active|in use|used|any|that|true|accurate|one|possible|realistic|feasible|"
    r"available|achievable|going to|on)\b"
    r"|(?:won't|will not|can't|cannot|can not|couldn't|could not|doesn't|does not|wouldn't|would not)\s+(?:work|be|hold|"
    r"stand|happen|apply|fit|do)\b"
    r"|(?:(?:is|was|are|were|'s|looks?|seems?)\s+)?(?:\w+\s+)?(?:wrong|incorrect|false|invalid|a mistake|an error|mistaken|impossible|"
    r"too early|too soon|too late|out of the question)\b)"
)
_AFTER_LABEL = re.compile(r"\s*[(\[]\s*(?:not|wrong|incorrect|invalid|misread|void)\b|\s*\?\s*no\b")
_LABEL_WRONG = re.compile(r"\b(?:wrong|incorrect|false|invalid|misread(?: as)?|mistaken(?:ly)?|mistook)\b[^.;,\n]{0,25}$")


def _negated(left: str, right: str) -> str | None:
    """Return the flag that a negation before or after the value earns, if any."""
    for cue in reversed(list(_CUE.finditer(left))):
        flag = _cue_flag(cue, left, right)
        if flag:
            return flag
    if _AFTER_NEGATED.match(right) or _AFTER_LABEL.match(right) or _LABEL_WRONG.search(left):
        return "negated"
    return None


def _cue_flag(cue: re.Match[str], left: str, right: str) -> str | None:
    kind = cue.lastgroup
    before, between = left[: cue.start()], left[cue.end() :]
    if kind == "no":
        if _NO_IS_ANSWER.match(between) or _NO_IS_IDIOM.match(between) or len(between.split()) > 4 or "," in between:
            return None
    elif kind == "doubt":
        if cue[0].startswith("doubt") and _NO_DOUBT.search(before):
            return None
    elif kind in ("neg", "nt"):
        if _NOT_IS_IDIOM.match(between) or _IF_NOT.search(before):
            return None
    elif kind == "phrase" and (_SUBJECT.search(between) or _VERB.search(between) or "," in between):
        return None
    elif kind == "past" and cue[0] == "formerly" and "," in between:
        return None
    if _BREAK.search(between) or _comma_ends(between, right) or len(between.split()) > 14:
        return None
    if _IF.search(between):
        return "unsure"
    return "replaced" if kind == "past" else "negated"


def _comma_ends(between: str, right: str) -> bool:
    """Say whether a comma between cue and value ends the scope; in `not A, B or C` it does not."""
    if "," not in between:
        return False
    after_comma = between.partition(",")[2]
    if _VERB.search(after_comma) or _SUBJECT.search(after_comma):
        return True
    rest = after_comma + _BREAK.split(right, maxsplit=1)[0]
    listed = re.search(r"\b(?:or|nor)\b", rest)
    return listed is None or _VERB.search(rest[: listed.start()]) is not None


# ---- past and replaced values ---------------------------------------------------------

_PAST_BEFORE = re.compile(
    r"\b(?:previously|previous|formerly|former|originally|original|initially|initial|old|older|earlier|prior|at first|"
    r"before that|up from|down from|replac(?:es|ed|ing)|supersed(?:es|ed|ing)|instead of|no longer|once|outdated|"
    r"cancelled|canceled|withdrawn|discarded|rejected|first (?:quoted|offered|given|said|booked|told|planned|scheduled|set|"
    r"slot|date|quote|offer))\b[^,;()]{0,30}$"
)
_WAS = re.compile(r"(?:\(|\b)(?:was|were|had|lived|stood|began|started|said|quoted|planned|booked)\b[^.;()]{0,40}$")
_NOW_AFTER = re.compile(
    r"[^.!?\n]{0,70}?\b(?:now|currently|has since|have since|but (?:it )?(?:was |has been |is )?(?:later )?(?:changed|moved|"
    r"raised|updated|corrected|replaced)|(?:then|later) (?:was |it was )?(?:changed|moved|raised|corrected|updated|replaced))\b"
    r"|[.!?]?\s+(?:now|currently|it is now|it's now|that (?:has )?changed|that was (?:later )?(?:changed|corrected|moved))\b"
)
_WAS_IN_BRACKETS = re.compile(r"\((?:it )?(?:was|were)\s[^()]{0,30}$")
_PAST_AFTER = re.compile(
    r"\W{0,3}(?:(?:\(|,\s)?(?:before that|previously|originally|at first|formerly|initially)\b"
    r"|(?:was|were|is|are|being)\s+(?:\w+\s+)?(?:old|previous|original|first|former|initial|earlier|misread|superseded|"
    r"replaced|cancelled|canceled|moved|changed|withdrawn|corrected|dropped|pushed|rescheduled|out of date|outdated|"
    r"off the table|void|gone)\b"
    r"|(?:has|have|had)\s+(?:since\s+)?(?:been\s+)?(?:changed|replaced|moved|superseded|corrected|cancelled|updated|dropped|"
    r"withdrawn)\b"
    r"|(?:changed|moved|was changed|was moved|went|rose|dropped)\s+to\b|became\b|→|->|=>)"
)
_FROM = re.compile(r"\bfrom\s+(?:(?!to\b)[\w']+\s+){0,3}$")
_TO = re.compile(r"[^.;!?\n]{0,40}?\b(?:to|into)\b|\s*(?:→|->|=>)")
_CHANGE = re.compile(
    r"\b(?:chang|mov|switch|shift|reschedul|push|postpon|rais|increas|reduc|cut|lower|updat|revis|correct|upgrad|"
    r"downgrad|renegotiat|adjust|bump|swap|went|goes|rose|fell|drop|relocat|transferr)\w*\b[^.;!?]{0,60}$"
)
_CORRECTION = re.compile(
    r"[^.!?\n]{0,20}?[.!?,;—–-]*\s*(?:\(?sorry|actually|i mean|correction|scratch that|no,? wait|wait,? no|make that|or rather)\b"
    r"[\s,:—–-]*(?=[\w$€£])"
)


def _past(left: str, right: str, after: str) -> set[str]:
    flags: set[str] = set()
    if _FROM.search(left) and _TO.match(right):
        flags.add("past")
        if _CHANGE.search(left):
            flags.add("replaced")
    if _CORRECTION.match(after):
        flags.add("replaced")
    past = (
        _PAST_BEFORE.search(left)
        or _PAST_AFTER.match(right)
        or _WAS_IN_BRACKETS.search(left)
        or (_WAS.search(left) and _NOW_AFTER.match(after))
    )
    if past:
        flags.add("past")
    return flags


# ---- questions and hedges -------------------------------------------------------------

_ASKING = re.compile(
    r"(?:^|[,;:—–]\s+|\s-\s)(?:(?:but|and|or|so|then)\s+)?(?:do|does|did|would|shall|should|can|could|may|might|is|are|was|were|"
    r"have|has|will|which|what|who|whose|when|where|how|why|want|right|correct|need|anything|did)\b"
)
_HEDGE = re.compile(
    r"\b(?:probably|maybe|perhaps|possibly|i think|i believe|i guess|guess|might|may|could be|likely|seems?|appears?|"
    r"not sure|not certain|unsure|presumably|apparently)\b"
)
_LIST_CUE = re.compile(
    r"\b(?:possible|possibly|could be|might be|may be|one of|candidates?|options?|maybe|perhaps|among|guess(?:es)?)\b"
)


def _is_question(sentence: str, at: int) -> bool:
    if not sentence.rstrip(" \"')]\n").endswith(("?", "？")):
        return False
    asked_from = 0
    for m in _ASKING.finditer(sentence):
        asked_from = m.start()
        if m.start() == 0:
            break
    opens_asking = _ASKING.match(sentence.lstrip())
    return bool(opens_asking) or at >= asked_from


# ---- alternatives ---------------------------------------------------------------------

Span = tuple[int, int]
_OPEN = r"(?:maybe|perhaps|possibly|probably|even|else|either|it's|it is|it could be|it might be|on|at|in|by|for|around|about|the|a|an|your)"
_CHAIN = re.compile(rf"\s*(?:,|;|/|\||\n|\band\b|&|\bor\b|\s)*\s*(?:{_OPEN}\s+)*")
_OR = re.compile(r"\bor\b|/")
_TEXT_OR_AFTER = re.compile(rf"(?:\s*,)?\s+or\s+(?:{_OPEN}\s+)*(?P<word>[\w$€£#'-]+)|\s?/\s?(?P<slash>[^\W\d_][\w'-]*)")
_TEXT_OR_BEFORE = re.compile(rf"(?P<word>[\w'-]+),?\s+or\s+(?:{_OPEN}\s+)*$|(?P<slash>[\w'-]*[^\W\d_])\s?/\s?$")
_OR_IDIOM = frozenset(
    "so more less later earlier sooner better worse call contact ask check visit if when you i we they it else whether "
    "not just email phone online see let tell something anything another other otherwise any higher lower above below "
    "over under longer shorter greater fewer nearby similar equivalent all both neither none to use say try"
    .split()
)


def _alternatives(text: str, span: Span, sentence: Span, rivals: Sequence[Span]) -> set[str]:
    """Look at rival values of the same type that stand in a row with the value."""
    inside = sorted(
        {r for r in rivals if sentence[0] - 200 <= r[0] and r[1] <= sentence[1] + 200 and (r[1] <= span[0] or r[0] >= span[1])}
        | {span}
    )
    at = inside.index(span)
    chain, gaps = [span], []
    for left, step in ((at - 1, -1), (at + 1, 1)):
        i, edge = left, span
        while 0 <= i < len(inside):
            other = inside[i]
            gap = text[edge[1] : other[0]] if step > 0 else text[other[1] : edge[0]]
            if not _CHAIN.fullmatch(gap):
                break
            chain.append(other)
            gaps.append(gap)
            edge, i = other, i + step
    flags: set[str] = set()
    if any(_OR.search(gap) for gap in gaps):
        flags.add("alternatives")
    distinct = {text[a:b] for a, b in chain}
    if len(distinct) >= 4 or (len(distinct) >= 3 and _LIST_CUE.search(text, *sentence)):
        flags.add("enumeration")
    return flags


def _text_alternatives(left: str, right: str, cased_after: str, cased_before: str, value: str) -> bool:
    """Look for `X or Y` around a phrase: Y has to be another thing of the same look."""
    after = _TEXT_OR_AFTER.match(right)
    if after:
        word = after["word"] or after["slash"]
        at = after.start("word" if after["word"] else "slash")
        if word not in _OR_IDIOM and _alike(value, cased_after[at : at + 1]):
            return True
    before = _TEXT_OR_BEFORE.search(left)
    if before:
        word = before["word"] or before["slash"]
        at = before.start("word" if before["word"] else "slash")
        return word not in _OR_IDIOM and _alike(value, cased_before[at : at + 1])
    return False


def _alike(value: str, other_initial: str) -> bool:
    return not value[:1].isupper() or other_initial.isupper() or other_initial.isdigit()


def assess(
    text: str,
    cased: str,
    ends: Sequence[int],
    span: Span,
    *,
    rivals: Sequence[Span] | None,
) -> tuple[frozenset[str], Span]:
    """Return the flags of the value at `span` and the bounds of its sentence.

    Args:
        text: the folded answer.
        cased: the same with its case kept.
        ends: sentence ends, from `sentence_ends`.
        span: where the value stands in `text`.
        rivals: spans of other values of the same type; None for text facts, which have none.
    """
    sentence = sentence_at(ends, *span)
    start, end = span
    left, right = text[sentence[0] : start], text[end : sentence[1]]
    flags: set[str] = set()
    negation = _negated(left, right)
    if negation:
        flags.add(negation)
    flags |= _past(left, right, text[end : end + 110])
    if _is_question(text[sentence[0] : sentence[1]], start - sentence[0]):
        flags.add("question")
    if rivals is None:
        if (" or " in left or " or " in right or "/" in text) and _text_alternatives(
            left, right, cased[end : sentence[1]], cased[sentence[0] : start], cased[start:end]
        ):
            flags.add("alternatives")
    elif rivals:
        flags |= _alternatives(text, span, sentence, rivals)
    if _HEDGE.search(left) or _HEDGE.match(right.lstrip(" ,")):
        flags.add("hedged")
    return frozenset(flags), sentence
