"""Is a value called past, or replaced by another?

`replaced`  changed from X to Y · X, sorry, Y: the answer itself takes X back
`past`      previously X · the old X · X was cancelled: true once
`bounded`   it was before X · it costs more than X: the value itself is not X
"""

from __future__ import annotations

from harness.facts.currencies import SIGNS
from harness.facts.patterns import MONTHS, LazyPattern, lexicon
from harness.facts.sentences import CONTRACTED
from harness.facts.surroundings import (
    CHANGING,
    CORRECTING,
    GIVING_WAY,
    PASSED,
    PAST,
    RENEWING,
    Surroundings,
)
from harness.facts.whose import belongs_to_another, has_another

_WAS_WORDS = lexicon("was were had lived stood began started said quoted planned booked")
_REACH = 100  # characters before a value in which a word can call it past
# The same at the start of the next sentence.
_RENEWALS = (
    " now",
    " currently",
    " it is now",
    " it's now",
    " that changed",
    " that has changed",
    " that was",
)
_CORRECTIONS = (
    " sorry",
    " apologies",
    " this was later",
    " that was later",
    " it was later",
    " actually",
    " that's wrong",
    " that is wrong",
    " that was wrong",
    " i mean",
    " correction",
    " scratch",
    " wait",
    " no, wait",
    " no wait",
    " make that",
)


_BEFORE = LazyPattern(
    r"(?:previously|formerly|originally|original|initially|initial|earlier(?!\s+(?:that|you(?!\s+were\s+(?:quoted|told|given|offered))|i|today)\b)|"
    r"before that|(?:old|older|prior|former|previous)(?=[^,;()]{0,20}\Z|\s+\w+s\s[^,;()]{0,30}\sand\s\Z)|"
    r"(?<=\bat\s)first|(?<=\bup\s)from|(?<=\bdown\s)from|(?:replac|supersed)(?:es|ed(?!\s+(?:with|by)\b)|ing)|"
    r"instead of|"
    r"(?<=\bno\s)longer|(?<=\bhad\s)been|left(?=\s+\Z)|once|outdated|cancelled|canceled|withdrawn|discarded|rejected|"
    r"first (?:gave|called|took|quoted|offered|given|said|booked|told|planned|scheduled|set|slot|date|quote|offer|wrote|read|sum|figure|guess|"
    r"count|total|try|attempt|estimate|version)|"
    r"first\s+[\w-]+(?=,\s+\Z)|"
    r"(?:earlier|older|old|former|previous|initial|original)\s+(?:\w+\s+)?\w+s(?=(?:,\s+|\s*\(\s*)\Z)|last (?:year|month|week|time))\b(?:[^,;()]{0,30}|,\s+|\s*\(\s*)\Z"
)
_WAS = LazyPattern(
    r"\b(?:was|were|had|lived|stood|began|started|said|quoted|planned|booked)\b[^.;()]{0,40}\Z"
)
_NOW_AFTER = LazyPattern(
    r"[^.!?\n]{0,70}?\b(?:now|currently|as of|today|these days|nowadays|has since|have since|"
    r"but (?:it )?(?:was |has been |is )?(?:later )?(?:changed|moved|"
    r"raised|updated|corrected|replaced)|(?:then|later) (?:was |it was )?(?:changed|moved|raised|corrected|updated|replaced))\b"
    r"|[.!?]?\s+(?:now|currently|it is now|it's now|that (?:has )?changed|that was (?:later )?(?:changed|corrected|moved))\b"
)
_TILL = LazyPattern(r"\s+(?:a\s+\w+\s+|each\s+)?(?:until|till)\b")
_STOOD = LazyPattern(r"\b(?:was|were|said|stood|cost)\s+(?:(?:on|at|for|the|still)\s+)*\Z")
# `it was X, it's Y since the change`
_IS_NOW = LazyPattern(
    r"\s*[,;–—-]\s*(?:but\s+|and\s+)?(?:now\s+|today\s+)?(?:it's|it is|that's)\s+(?:(?:now|on|at|for|the)\s+)*(?P<other>\S+(?:\s+[\dap]\S*)?)"
)
_ITSELF_NOW = LazyPattern(r"\s*,?\s*(?:[a-z]{1,12}\s+)?(?:now|currently|today|these days|nowadays|as of)\b")
_PRESENT = LazyPattern(r"(?:\b(?:is|are)|'s|'re)\s+(?:(?:on|at|for|the)\s+)*\Z")
_WAS_IN_BRACKETS = LazyPattern(r"\((?:it )?(?:was|were|had|used to be|not)\s[^()]{0,30}\Z")
_AFTER = LazyPattern(
    r"\W{0,3}(?P<other>(?:and|or)\s+(?:[\w'-]+\s+){1,4}?)?(?:(?:hold|slot|date|day|booking|appointment|offer|quote|price|"
    r"inspection|figure|title|one)s?\s+)?"
    r"(?:(?:\(|,\s)?(?:before that|previously|originally|at first|formerly|initially|earlier)\b"
    rf"(?!\s+(?:(?:[a-z]{{1,4}}\s)?\S*\d|(?:{MONTHS})))"
    r"|before\b(?=\s*[.,;:!)]|\s*\Z|\s+(?:[\w']+\s+){1,3}(?:raised|changed|moved|lowered|corrected|updated)\b)"
    r"|(?:was|were|is|are|being)\s+(?:\w+\s+)?(?:old|previous|original|first|former|initial|earlier|misread|superseded|"
    r"replaced|cancelled|canceled|moved|changed|withdrawn|corrected|dropped|pushed|rescheduled|postponed|released|refused|"
    r"declined|rejected|turned down|given up|out of date|outdated|on the table|"
    r"off the table|void|gone|stopped|discontinued|ended)\b"
    r"|(?:was|were)\s+(?:(?:only|just|merely|once)\s+)?(?:your|the|my|his|her|their|a|an)\s+(?:\w+\s+)?(?:old|"
    r"previous|original|"
    r"first|former|initial|earlier|rough|guess|estimate|mistake|typo|slip)\b"
    r"|(?:was|were)\s+(?:\w+\s+){0,4}until\b"
    r"|used\s+to\s+(?:be|apply|cost|hold)\b|(?:has|have|had)\s+(?:since\s+|already\s+)?(?:been\s+)?(?:changed|replaced|moved|superseded|corrected|cancelled|updated|dropped|"
    r"withdrawn|slipped|shifted|pushed|postponed|rescheduled|released)\b"
    r"|(?:changed|moved|was changed|was moved|went|rose|dropped)\s+to\b|became\b)"
)
# `X, and he raised it` · `X until Gus moved it` · `X, but that was the old one`
_SINCE_CHANGED = LazyPattern(
    r"[^.;!?\n]{0,60}?(?:\b(?:and|but|until|then|before)|,(?!\s+which\s+replaced))\s+(?:[\w']+\s+){0,3}?(?:raised|lifted|lowered|moved|changed|updated|corrected|"
    r"increased|reduced|cut|dropped|bumped|pushed|replaced|rescheduled|switched|upgraded|doubled|extended|postponed)\s+"
    r"(?:it|that|this|them|yours|his|hers|the|your)\b"
    r"|(?:\s+[a-z]{1,12})?,?\s+(?:and|but)\s+(?:[^.;:,0-9]|(?<=\b[dm]r)\.){1,40}?\b(?:(?:brought|put|took)\s+(?:it|that)\s+(?:down|up|off|back)|(?:that|it|this)\s+was\s+"
    r"(?:stopped|dropped|cancelled|canceled|withdrawn))\b"
    r"|,?\s+(?:but|though)\s+(?:that|it|this)\s+(?:was|is)\s+(?:(?:the|an?|your|my)\s+)?(?:old|wrong|previous|former|outdated|"
    r"incorrect|earlier|first|original)\b"
)
_WAS_TO_BE = LazyPattern(
    r"\b(?:was|were)\s+(?:first\s+|originally\s+)?(?:going|due|supposed|meant|set|scheduled|booked|planned|to have been)\b"
    r"[^.;!?\n]{0,25}\Z"
)
_SUPPOSED = LazyPattern(
    r"\b(?:was|were)\s+(?:\w+\s+)?(?:going|supposed|meant|to have been)\b[^.;!?\n]{0,25}\Z"
)
_BUT = LazyPattern(r"[^.;!?\n]{0,40}?\b(?:but|until|then)\b")
_MOVING = LazyPattern(
    r"\b(?:postponed|moved|pushed|rescheduled|shifted|delayed|changed|switched|bumped|raised|cut|lowered|increased|reduced|"
    r"updated|corrected)\s+(?:back\s+)?(?:(?!(?:to|for|on|by|until|from|at|in)\b)[\w'-]+\s+){0,2}\Z"
)
_TO_ANOTHER = LazyPattern(r"(?:'s)?(?:\s+(?!and\b|but\b|or\b)[\w'-]+){0,2}\s+(?:to|until|into)\s")
_CHANGED_FROM = LazyPattern(
    r"\b(?:changed|moved|raised|lowered|increased|reduced|cut|pushed|rescheduled|postponed|switched|bumped|shifted|extended|"
    r"updated|corrected|up|down)\s+(?:\w+\s+)?from\s+(?:[\w']+\s+){0,2}\Z"
)
_ONE = LazyPattern(r"\b(?:was|is|has)\b")
_SHIFTED = (
    "moved",
    "changed",
    "corrected",
    "dropped",
    "pushed",
    "rescheduled",
    "postponed",
    "released",
    "updated",
    "shifted",
)
_ARROW = LazyPattern(r"\s?(?:→|->|=>)")
_FROM = LazyPattern(r"\bfrom\s+(?:(?!to\b)[\w']+\.?\s+){0,3}\Z")
_TO = LazyPattern(r"[^.;!?\n]{0,40}?\b(?:to|into)\b|\s*(?:→|->|=>)")
_TO_BEFORE = LazyPattern(r"\b(?:to|is|now)\s[^.;!?\n]{1,40}\bfrom\s+(?:[\w']+\s+){0,2}\Z")
# `moved from X to Y to Z`: what stands in the middle was left, too.
_FROM_TO = LazyPattern(r"\bfrom\b[^.;!?]{1,40}\b(?:to|then)\s+(?:the\s+)?\Z")
_TO_NEXT = LazyPattern(r",?\s+(?:and\s+)?(?:then\s+|finally\s+|at last\s+)?to\b")
_UNCHANGED = LazyPattern(r"(?:n't|\bnot|\bnever)\s+(?:\w+\s+)?(?:chang|mov)\w*\s+from\s+(?:[\w']+\s+){0,2}\Z")
_CHANGE = LazyPattern(
    r"(?<!to\s)(?<!to\sbe\s)(?<!\bmust\sbe\s)(?<!should\sbe\s)(?<!could\sbe\s)(?<!can\sbe\s)\b(?:changed|moved|switched|shifted|"
    r"rescheduled|pushed|postponed|raised|increased|reduced|cut|lowered|updated|revised|corrected|upgraded|downgraded|renegotiated|"
    r"adjusted|bumped|swapped|went|goes|rose|fell|dropped|drops|relocated|transferred|slipped|change|rise|increase|raise|drop|up|down)\b"
    r"[^.;!?]{0,60}\Z"
)
_URGED = LazyPattern(
    r"(?:^|[.;:!?,]\s+|\b(?:to|must|should|could|can|please|and)\s+)(?:move|change|reschedule|shift|push|switch|raise|drop|increase|"
    r"postpone)\b[^.;!?]{0,60}\Z"
    r"|\b(?:needs?|has|have|ought)\s+to\s+be\s+\w+(?:ed|t)\b[^.;!?]{0,40}\Z"
)
# `X, sorry, Y`: something of the same kind has to follow, not `sorry for the wait`.
_LEAD = (
    r"[^.!?\n]{0,20}?[.!?,;(—–-]*\s*(?:sorry|apologies|my apologies|actually|i mean|correction|scratch that|no,? wait|wait,? no|"
    r"make that|or rather)\b[\s,:—–-]*(?:(?:it|it's|that|that's|this|is|was|the|correct|right|real|proper|number|date|day|time|price|"
    r"one|should|be|i|meant|mean|on|at|for|make|no|in)\b[\s,:]*){0,8}"
)
_CORRECTION = LazyPattern(
    _LEAD + rf"(?:[$€£#(]?\d|(?:{MONTHS}|mon|tue|wed|thu|fri|sat|sun)[a-z]*\b|noon|midnight|"
    r"(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|half|quarter)\b)"
)
_CORRECTED_NAME = LazyPattern(_LEAD + r"(?P<name>(?!i\b)\w[\w'-]*(?:\s[\w'-]+){0,3}?)\s*(?:[.!,;)]|\Z)")
# `It's X. This was later changed to Y.`
_LATER_CHANGED = LazyPattern(
    r"[^.;!?\n]{0,40}[.;]\s+(?:this|that|it)\s+(?:was|has been|is)\s+(?:later|then|since|subsequently|now)\s+(?:changed|moved|updated|"
    r"corrected|raised|cut|lowered|pushed|rescheduled)\b"
)
_BOUNDED_DATE = LazyPattern(
    r"(?:(?<!\d\s)(?<!\d(?:st|nd|rd|th)\s)\b(?:is|was|were|happened|occurred|took place|(?<!to\s)sometime|"
    r"(?<!to\s)some time|shortly|soon|just|long|well|the (?:day|"
    r"week|month|year|"
    r"night|morning|evening))|'s|\b(?:is|was|were|happened|occurred|took place)\s+(?:[\w-]+\s+){1,3}(?:days?|weeks?|"
    r"months?|years?|"
    r"hours?|minutes?))\s+(?:before|after|prior to)\s+(?:the\s+)?\Z"
)
_BOUNDED_AMOUNT = LazyPattern(
    r"\b(?:is|was|were|'s|costs?|paid|pays?|weighs?|ran|drove|lasts?|lasted|takes?|took|earns?|got|comes? to|came to|"
    r"totals?|have|has|had)\s+(?:(?:a little|a bit|slightly|just|well|somewhat|far|much)\s+)?(?:more than|over|less than|under|"
    r"above|below|fewer than)\s+\Z"
)


def is_replaced(value: Surroundings) -> bool:
    """Say whether the answer itself puts another value in the place of this one."""
    if "from" in value.cues and "replaced" in _changed(value):
        return True
    return _is_corrected(value)


# What the answer itself puts in the place of the value: `X was rescheduled to Y`, `X (now Y)`, `ignore X`.
_GIVES_WAY = LazyPattern(
    r"\W{0,3}(?:(?:slot|date|day|appointment|booking|time|price|quote|offer|one|figure)\s+)?(?:(?:(?:was|is|has been|being|then|"
    r"later|since|now)\s+)*(?:superseded by|replaced (?:by|with)|(?:rescheduled|moved|changed|pushed|raised|lowered|cut|reduced|"
    r"increased|updated|corrected)\s+(?:back\s+|up\s+|down\s+)?(?:to|for))|(?<=[,;(—–]\s|.[,;(—–])(?:but\s+)?(?:it's\s+|it is\s+|is\s+)?now|"
    r"but\s+(?:it's\s+|it is\s+|is\s+)?now)\s+(?:(?:on|at|for|the)\s+)*(?P<other>\S+(?:\s+\d+)?)"
)
_IGNORE = LazyPattern(
    r"(?:^|[.;:!?,—–]\s*|\bplease\s+|\band\s+|\bcan\s+)(?:ignore|disregard)\s+(?:the\s+|any\s+)?\Z"
)
_KINDS = (
    LazyPattern(rf"[{SIGNS}]"),
    LazyPattern(r"%|percent"),
    LazyPattern(r"\d:\d\d|\d\s?[ap]\.?m\b|o'clock|noon|midnight"),
    LazyPattern(rf"\b(?:{MONTHS}|mon|tue|wed|thu|fri|sat|sun)[a-z]*\b|\d(?:st|nd|rd|th)\b"),
)
_DIGIT = LazyPattern(r"\d")


def gives_way(value: Surroundings) -> bool:
    """Say whether a typed value is one that another of its kind has taken the place of, or that is to be ignored."""
    if value.is_text or value.cues.isdisjoint(GIVING_WAY):
        return False
    if ("ignore" in value.words or "disregard" in value.words) and _IGNORE.search(value.left):
        return True
    found = _GIVES_WAY.match(value.right)
    if found is None:
        return False
    return _is_alike(value.text[value.start : value.end], found["other"])


def _stands_beside_what_is(value: Surroundings) -> bool:
    """Say whether another value of the kind follows as what is so now: `it was X, it's Y`."""
    found = _IS_NOW.match(value.right)
    return found is not None and _is_alike(value.text[value.start : value.end], found["other"])


def _is_alike(own: str, other: str) -> bool:
    """Say whether two strings are values of one kind."""
    for kind in _KINDS:
        if kind.search(own):
            return kind.search(other) is not None
    return len(_DIGIT.findall(own)) == len(_DIGIT.findall(other)) and not other.isalpha()


_STILL = LazyPattern(
    r"[^.;!?]{0,60}?\b(?:still\s+(?:stands|holds|applies|valid|on)|(?:hasn't|has not)\s+(?:been\s+)?(?:changed|moved)|remains|unchanged)\b"
)
_NOT_BEFORE = LazyPattern(r"(?:n't|\bnot|\bnever)\s+(?:been\s+)?\Z")


def is_past(value: Surroundings) -> bool:
    """Say whether the value is called one that held before."""
    if _STILL.match(value.right):
        return False
    text, cues = value.text, value.cues
    if cues:
        if "from" in cues and _changed(value):
            return True
        for at in value.places_before(cues & PAST, _REACH):
            if (
                _BEFORE.match(text, at, value.beginning)
                and not _NOT_BEFORE.search(text, max(0, at - 12), at)
                and not belongs_to_another(value, at)
            ):
                return True
        if not cues.isdisjoint(PASSED) and (after := _AFTER.match(value.right)):
            if after["other"] and _ONE.search(after[0]):
                return False  # `X, and the other was withdrawn`
            # A person or a thing that was moved is no less itself.
            return not (value.is_text and after[0].endswith(_SHIFTED))
        if not cues.isdisjoint(CHANGING) and _is_left_behind(value):
            return True
    if ("supposed" in value.words or "meant" in value.words or "going" in value.words) and _SUPPOSED.search(
        value.left
    ):
        return True
    if _STOOD.search(value.left) and (_TILL.match(value.right) or _stands_beside_what_is(value)):
        return True
    if "(" in value.left and _WAS_IN_BRACKETS.search(value.left[-_REACH:]):
        return True
    return _ARROW.match(value.right) is not None or _is_renewed(value)


def _is_renewed(value: Surroundings) -> bool:
    """Say whether the value was so, and something else is so now."""
    if value.cues.isdisjoint(RENEWING) and not value.text.startswith(_RENEWALS, value.closing):
        return False
    if value.words.isdisjoint(_WAS_WORDS) or not _NOW_AFTER.match(value.text, value.end, value.end + 110):
        return False
    if _ITSELF_NOW.match(value.right) and _PRESENT.search(value.left):
        return False
    return _WAS.search(value.left[-_REACH:]) is not None


def is_corrected_next(text: str, at: int) -> bool:
    """Say whether the sentence that begins at `at` may take back the one before it."""
    return text.startswith(_CORRECTIONS, at)


# `It's X. Sorry, that's wrong.`
_TAKEN_BACK = LazyPattern(
    r"[^.!?\n]{0,20}?[.!?;,—–-]+\s*(?:(?:sorry|actually|wait|oops|apologies),?\s+)*(?:(?:that|this|it)(?:'s|\s+is|\s+was)\s+(?:wrong|"
    r"incorrect|not right|a mistake|an error)\b|no\s*[.!]\s*\Z)"
)


def _is_corrected(value: Surroundings) -> bool:
    """Say whether the answer goes on with another value: `X, sorry, Y`."""
    text, end = value.text, value.end
    if " later " in text[end : end + 80] and _LATER_CHANGED.match(text, end, end + 110):
        return True
    if value.cues.isdisjoint(CORRECTING) and not text.startswith(_CORRECTIONS, value.closing):
        return False
    if _TAKEN_BACK.match(text, end, end + 60):
        return True
    if not value.is_text:
        return _CORRECTION.match(text, end, end + 110) is not None
    found = _CORRECTED_NAME.match(text, end, end + 110)
    return found is not None and value.cased[found.start("name")].isupper()


def _is_left_behind(value: Surroundings) -> bool:
    """Say whether the value was so until somebody changed it."""
    left, right = value.left[-_REACH:], value.right
    since = _SINCE_CHANGED.match(value.text, value.end, value.closing)
    if since is not None and not has_another(value, value.end, since.end()):
        return True
    if _WAS_TO_BE.search(left) and _BUT.match(right):
        return True
    return _MOVING.search(left) is not None and _TO_ANOTHER.match(right) is not None


def _changed(value: Surroundings) -> set[str]:
    """Read `changed from X to Y` and `went up to Y from X`."""
    left = value.left
    if _FROM_TO.search(left[-_REACH:]) and _TO_NEXT.match(value.right) and _CHANGE.search(left):
        return {"past", "replaced"}
    if not _FROM.search(left[-_REACH:]) or _UNCHANGED.search(left) or _URGED.search(left):
        return set()
    changed = _CHANGE.search(left) is not None
    if _TO.match(value.right) or (changed and _TO_BEFORE.search(left)):
        return {"past", "replaced"} if changed else {"past"}
    if _CHANGED_FROM.search(left):
        return {"past", "replaced"}
    return {"past"} if changed else set()


def is_bounded(value: Surroundings) -> bool:
    """Say whether the value only bounds what is stated: `it was before X`, `it costs over X`."""
    if not value.left[-16:].rstrip().removesuffix(" the").endswith(_BOUNDS):
        return False
    if not value.cues.isdisjoint(_NEGATIVE) and _NEGATED.search(value.left[-40:]):
        return False  # it won't cost more than X
    near = value.left[-_REACH:]
    if _BOUNDED_DATE.search(near) is not None:
        return True
    if _BOUNDED_AMOUNT.search(near) is None:
        return False
    return _NUMBER_OF_A_THING.fullmatch(value.text, value.start, value.end) is None  # it is filed under X


_NUMBER_OF_A_THING = LazyPattern(r"(?=.*\d)[\w-]{5,}")
_NEGATIVE = frozenset(("not", "never", "cannot", CONTRACTED))
_NEGATED = LazyPattern(r"\b(?:not|never|cannot)\b|n't\b")
_BOUNDS = ("before", "after", " to", "than", "over", "under", "above", "below")
