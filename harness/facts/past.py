"""Is a value called past, replaced by another, or set aside?

`replaced`  changed from X to Y · X, sorry, Y: the answer itself takes X back
`past`      previously X · the old X · X was cancelled: true once
`dismissed` ignore X · you'd hoped for X · X is off: named only to be put aside
`bounded`   it was before X · it costs more than X: the value itself is not X
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from harness.facts.patterns import LazyPattern

# A sentence with none of these words calls nothing past and sets nothing aside.
CUES = frozenset(
    "previously previous formerly former originally original initially initial old older earlier prior first before from "
    "replaces replaced replacing supersedes superseded superseding instead longer once outdated cancelled canceled withdrawn "
    "discarded rejected misread void gone moved changed dropped corrected pushed rescheduled updated became off went rose "
    "ignore disregard forget scrap drop avoid miss missed misses ruled rules rule mistaken hoped hoping planned planning "
    "aiming counting telling told thinking wanted booked thought assumed assuming promised advertising advertised out over "
    "lost dead soon late early impossible unrealistic can't cannot won't couldn't can fell falls don't table date used".split()
)
_REACH = 100  # characters before a value in which a word can call it past
_CORRECTING = ("sorry", "actually", "mean", "correction", "scratch", "wait", "make that", "rather")


_BEFORE = LazyPattern(
    r"\b(?:previously|previous|formerly|former|originally|original|initially|initial|old|older|earlier|prior|at first|"
    r"before that|up from|down from|replac(?:es|ed|ing)|supersed(?:es|ed|ing)|instead of|no longer|once|outdated|"
    r"cancelled|canceled|withdrawn|discarded|rejected|first (?:quoted|offered|given|said|booked|told|planned|scheduled|set|"
    r"slot|date|quote|offer|wrote|read|price|number|day|time|appointment))\b[^,;()]{0,30}$"
)
_WAS_WORDS = frozenset("was were had lived stood began started said quoted planned booked".split())
_WAS = LazyPattern(r"(?:\(|\b)(?:was|were|had|lived|stood|began|started|said|quoted|planned|booked)\b[^.;()]{0,40}$")
_NOW_AFTER = LazyPattern(
    r"[^.!?\n]{0,70}?\b(?:now|currently|has since|have since|but (?:it )?(?:was |has been |is )?(?:later )?(?:changed|moved|"
    r"raised|updated|corrected|replaced)|(?:then|later) (?:was |it was )?(?:changed|moved|raised|corrected|updated|replaced))\b"
    r"|[.!?]?\s+(?:now|currently|it is now|it's now|that (?:has )?changed|that was (?:later )?(?:changed|corrected|moved))\b"
)
_WAS_IN_BRACKETS = LazyPattern(r"\((?:it )?(?:was|were|used to be|not)\s[^()]{0,30}$")
_AFTER = LazyPattern(
    r"\W{0,3}(?:(?:\(|,\s)?(?:before that|previously|originally|at first|formerly|initially|earlier|before)\b(?!\s+[$€£\d])"
    r"|(?:was|were|is|are|being)\s+(?:\w+\s+)?(?:old|previous|original|first|former|initial|earlier|misread|superseded|"
    r"replaced|cancelled|canceled|moved|changed|withdrawn|corrected|dropped|pushed|rescheduled|out of date|outdated|"
    r"off the table|void|gone)\b"
    r"|was\s+(?:your|the|my|his|her|their)\s+(?:old|previous|original|first|former|initial|earlier)\b"
    r"|(?:has|have|had)\s+(?:since\s+)?(?:been\s+)?(?:changed|replaced|moved|superseded|corrected|cancelled|updated|dropped|"
    r"withdrawn)\b"
    r"|(?:changed|moved|was changed|was moved|went|rose|dropped)\s+to\b|became\b|→|->|=>)"
)
_FROM = LazyPattern(r"\bfrom\s+(?:(?!to\b)[\w']+\s+){0,3}$")
_TO = LazyPattern(r"[^.;!?\n]{0,40}?\b(?:to|into)\b|\s*(?:→|->|=>)")
_TO_BEFORE = LazyPattern(r"\b(?:to|is|now)\s[^.;!?\n]{1,40}\bfrom\s+(?:[\w']+\s+){0,2}$")
_CHANGE = LazyPattern(
    r"\b(?:chang|mov|switch|shift|reschedul|push|postpon|rais|increas|reduc|cut|lower|updat|revis|correct|upgrad|"
    r"downgrad|renegotiat|adjust|bump|swap|went|goes|rose|fell|drop|relocat|transferr|up|down)\w*\b[^.;!?]{0,60}$"
)
_CORRECTION = LazyPattern(
    r"[^.!?\n]{0,20}?[.!?,;—–-]*\s*(?:\(?sorry|actually|i mean|correction|scratch that|no,? wait|wait,? no|make that|or rather)\b"
    r"[\s,:—–-]*(?=[\w$€£])"
)
_DISMISSED_BEFORE = LazyPattern(
    r"\b(?:ignore|disregard|forget|scrap|drop|avoid|miss(?:ed|es)?|rul(?:e|es|ed|ing) out|misread as|mistaken for|"
    r"(?:had|were|was|been|was originally)\s+(?:hoped|hoping|planned|planning|aiming|counting|telling|told|thinking|advertis\w+|"
    r"promis\w+|assum\w+)|'d\s+(?:hoped|planned|wanted|told|booked|thought|assumed)|have been telling|(?:you|she|he|they)\s+"
    r"(?:hoped|wanted|planned|booked|told|thought|assumed)|don't (?:use|copy|go by|rely on|quote))\b[^.;:()]{0,45}$"
)
_DISMISSED_AFTER = LazyPattern(
    r"[^.;:()]{0,40}?\b(?:is|was|are|'s)\s+(?:now\s+)?(?:off|out|gone|over|lost|dead|void|too (?:early|soon|late)|impossible|"
    r"no good|unrealistic|not going to happen)\b"
    r"|[^.;:()]{0,40}?\b(?:can't|cannot|won't|can no longer|couldn't)\s+(?:be\s+(?:kept|met|made|held|used|done)|work|hold|"
    r"stand|happen|stay)\b|[^.;:()]{0,30}?\bno longer\b|[^.;:()]{0,30}?\b(?:fell|falls) through\b"
)
_BOUNDED_DATE = LazyPattern(
    r"\b(?:is|was|were|'s|happened|occurred|took place|sometime|some time|shortly|soon|just|long|well|the (?:day|week|month|"
    r"year|night|morning|evening)|days?|weeks?|months?|years?|hours?|minutes?)\s+(?:before|after|prior to)\s+(?:the\s+)?$"
)
_BOUNDED_AMOUNT = LazyPattern(
    r"\b(?:is|was|were|'s|costs?|paid|pays?|weighs?|ran|drove|lasts?|lasted|takes?|took|earns?|got|comes? to|came to|"
    r"totals?|have|has|had)\s+(?:(?:a little|a bit|slightly|just|well|somewhat|far|much)\s+)?(?:more than|over|less than|under|"
    r"above|below|fewer than)\s+$"
)


def past(left: str, right: str, after: str, words: AbstractSet[str]) -> set[str]:
    """Return which of `past`, `replaced` and `dismissed` the words around a value earn it.

    Args:
        left: the sentence up to the value, folded.
        right: the sentence after it.
        after: what follows the value, beyond the sentence too.
        words: the words of the sentence.
    """
    flags: set[str] = set()
    near = left[-_REACH:]
    if not words.isdisjoint(CUES):
        if "from" in words and _FROM.search(near):
            if _TO.match(right):
                flags.add("past")
                if _CHANGE.search(left):
                    flags.add("replaced")
            elif _TO_BEFORE.search(left) and _CHANGE.search(left):
                flags |= {"past", "replaced"}
        if _BEFORE.search(near) or _WAS_IN_BRACKETS.search(near):
            flags.add("past")
        if _DISMISSED_BEFORE.search(near) or _DISMISSED_AFTER.match(right):
            flags.add("dismissed")
    if not words.isdisjoint(_WAS_WORDS) and _NOW_AFTER.match(after) and _WAS.search(near):
        flags.add("past")
    close = after[:48]
    if any([cue in close for cue in _CORRECTING]) and _CORRECTION.match(after):
        flags.add("replaced")
    if _AFTER.match(right):
        flags.add("past")
    return flags


def is_bounded(left: str) -> bool:
    """Say whether the value only bounds what is stated: `it was before X`, `it costs over X`."""
    near = left[-_REACH:]
    return _BOUNDED_DATE.search(near) is not None or _BOUNDED_AMOUNT.search(near) is not None
