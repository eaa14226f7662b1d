"""Does a negation deny the value, or something said about it?

Denies the value
    `not X` · `isn't X` · `is not the day: X` by way of the copula, whatever preposition stands between
    `rather than X` · `instead of X` · `anything but X` · `without X`
    `you don't live in X` · `nobody said X`: the object of a negated verb
    `X is not the number` · `X is wrong` · `X won't work`: a predicate that says X is not it
Says something about it, and lets it stand
    `X couldn't be moved` · `X doesn't include breakfast`: any other predicate after the value
    `the one that couldn't be moved is X`: the negated clause is over when a new verb comes
    `you haven't paid the $50 fee` · `the six-month rule isn't met`: a definite thing is named
    `they couldn't transfer Panthrel`: a name as the object of what can't be done
    `so that you don't pay X` · `not until X` · `can't be moved after X` · `no more than X`
    `hasn't changed from X` · `not only X` · `don't forget X` · `no doubt X`
    `must not be taken within X`, a span that is forbidden · `not the X that she requires`

The scope of a cue ends at a contrast (`but`), a subordinate clause, a semicolon, colon,
bracket or dash, and at a comma unless the comma belongs to a list with `or`.
"""

from __future__ import annotations

from harness.facts.patterns import Found, LazyPattern
from harness.facts.surroundings import DENYING, MISLABELLING, NEGATING, Surroundings
from harness.facts.whose import without_brackets

_CUE = LazyPattern(
    r"(?P<phrase>rather than|instead of|(?<=\bas\s)opposed to|other than|except for|except|excluding|unlike|without|"
    r"any(?:thing|where|one|body|time|day) but)\b"
    r"|(?P<past>no longer|used to|formerly|stopped \w+ing|ceased|gave up)\b"
    r"|(?P<doubt>doubt(?:s|ed)?|denied|denies|deny|rul(?:ed|es) out|decided against|false that|incorrect that|untrue that)\b"
    r"|(?P<neg>not|never|cannot|neither|nor|nobody|no one|none of|nowhere|hardly|unable|dont|doesnt|didnt|isnt|wasnt|"
    r"arent|wont|cant|couldnt)\b|(?P<nt>n't)\b"
    r"|(?P<no>no)\b"
)
# What ends the scope of a negation.
_BREAK = LazyPattern(
    r"[;:()\[\]—|]|\s[-–]\s|\.\.\."
    r"|\b(?:but|however|although|though|because|until|till|unless|except|besides|before|after|past|beyond|which|whereas|while|"
    r"when|whenever|where|since|so that|otherwise|instead(?! of)|once|as long as|provided|more than|less than|fewer than|"
    r"later than|earlier than|sooner than|better than|at least|at most|up to|a (?:minimum|maximum) of|exceed\w*|as of)\b"
    r"|\b(?:over|above|under|below)\s+\Z"
    r"|\b(?:and|so|then)\s+(?:you|it|i|we|they|he|she|your|it's|you're|that|there|the|therefore|then)\b"
    r"|\band\s+(?:is|are|was|were|has|have|had|will|would|can|could|should|must|costs?|starts?|begins?|ends?|opens?|closes?|"
    r"leaves?|arrives?|takes?|needs?|goes|comes|runs|lasts|expires?|pays|lives|works|stays|falls|lands|\w{2,}ed)\b"
)
_WHETHER = LazyPattern(r"(?P<if>\b(?:if|whether)\b)")
_EPISTEMIC = LazyPattern(
    r"\b(?:know|known|knows|sure|certain|clear|recall|remember|say|said|tell|told|confirm|confirmed|determine|think|see|"
    r"check|checked|decide|decided|find out|verify|verified)\s+\Z"
)
_VERB = LazyPattern(
    r"\b(?:is|are|was|were|be|been|has|have|had|do|does|did|will|would|can|could|should|must|might|goes?|went|lives?|"
    r"lived|uses?|moved|chose|comes?|came|starts?|pays?|paid|takes?|said|it's|that's|there's|you're|i'm|we're|they're|"
    r"he's|she's)\b"
)
_SUBJECT = LazyPattern(r"\b(?:you|it|i|we|they|he|she)\b")
_OR_NOR = LazyPattern(r"\b(?:or|nor)\b")
_MANY_WORDS = 14

# ---- cues that deny nothing -----------------------------------------------------------

_NO_IS_ANSWER = LazyPattern(
    r"\s*[,.!:;—–-]|\s+(?:it|it's|you|you're|that|that's|this|i|we|they|he|she|your|the|there|there's|its)\b"
)
_NO_IS_LABEL = LazyPattern(r"\.?\s*(?:[:=#→]|=>|->|is|was)?\s*")
_NO_IS_NOUN = LazyPattern(r"\b(?:the|a|an|one|only|that|single)\s+\Z")
_NO_IS_IDIOM = LazyPattern(
    r"\s+(?:doubt|problem|worries|wonder|later|earlier|sooner|more than|less than|fewer than|changes?|matter|idea|issues?|"
    r"need|further|other\s+(?:\w+\s+){0,3}?(?:than|but)|extra|additional|charge|cost|fees?|penalty|conflict|rush|hurry|surprise|trouble|reason)\b"
)
_NOT_IS_IDIOM = LazyPattern(
    r"\s+(?:only|just|merely|simply|to mention|to worry|(?:have|need)\s+to\s+worry|until|till|before|later|earlier|sooner|"
    r"more than|less than|fewer than|go\s+wrong|worry|forget|ignore|disregard|hesitate|wait|matter|miss|be\s+late|be\s+surprised|overlook|exceed|panic|"
    r"(?:been\s+)?(?:chang|affect|alter|touch|impact|budge|influenc)\w*|let|allow|delay|put\s+off|leave|"
    r"confuse|mix|lose|(?:been\s+)?mov\w+\s+(?:away\s+)?from|wrong|incorrect)\b"
)
_BEFORE_IDIOM = LazyPattern(r"\b(?:if|why|whether or|or|as often as)\s+\Z")
_PURPOSE = LazyPattern(
    r"\b(?:so(?:\s+that)?|in order that)\s+(?:you|we|they|it|he|she|i|that|nobody|nothing)(?:'ll|'d)?\s*"
    r"(?:do|does|did|wo|would|ca|can|could|need|are|is|will|have)?\s*\Z"
)
_CONDITION = LazyPattern(
    r"\b(?:if|unless|in case|even if|when)\s+(?:[\w'-]+\s+){0,3}?(?:do|does|did|have|has|is|are|was|were)?\s*\Z"
)
# What is excepted from everything is singled out.
_EVERYTHING = LazyPattern(
    r"\b(?:all|everything|everyone|every|each|any|anything|nothing|none|no|nobody|the rest|the others?)\b"
)
_EXCEPTED = LazyPattern(
    r"\b(?:all|everything|everyone|every|each|the rest|the others?)\b[^.;:]{0,60}\b(?:just|only|but)\s+\Z"
)
_NO_DOUBT = LazyPattern(r"\b(?:no|without(?: a)?|beyond(?: a)?|little)\s+\Z")
_NEGATIVE = LazyPattern(r"\b(?:not|never|no|none|nobody|nothing|cannot|nor|neither)\b|n't\b")
_CLAUSE_CUT = LazyPattern(r"[;:,()]")
_CLAUSE_START = " \n\x00\x01\"'(*-"
_BY = LazyPattern(r"\w\s+(?:by|before|until|on|for|at)\s")
_GERUND = LazyPattern(r"\s+\w+ing\b")

# ---- what a negated clause says of the value ------------------------------------------

# The complement of a negated verb of saying or thinking is negated with it.
_SAYING = LazyPattern(
    r"\b(?:think|believe|say|said|mean|meant|suggest|know|see|recall|find|claim|state|mention|true|case|clear|imply|"
    r"agree|confirm|expect|certain|sure|tell|told|accurate|right|correct)\b"
)
_NEW_VERB = LazyPattern(
    r"\b(?:is|are|was|were|has|had|will|would|costs|starts|begins|ends|opens|closes|leaves|arrives|takes|needs|goes|comes|"
    r"runs|lasts|expires)\b|\w's\s+(?!\Z)"
)
_SUBJECT_CUES = frozenset({"nobody", "no one", "neither", "none of", "never", "nowhere", "hardly", "nor"})
_DIRECT = LazyPattern(
    r"\s*(?:(?:be|been|being|have\s+been|really|actually|in\s+fact|yet|even|necessarily|exactly|called|named)\s+)*"
    r"(?:(?:on|at|in|by|for|from|to|of|with|due|as)\s+)?"
    r"(?:(?:the|a|an|your|my|his|her|their|our|this|that)\s+(?:[\w-]+\s+)?)?\s*"
)
_DEFINITE = LazyPattern(
    r"(?<!\bon\s)\b(?:the|your|my|his|her|their|our|its|that|this|those|these)\s+(?:[\w-]+\s+)?\Z"
)
_HEAD_NOUN = LazyPattern(
    r"(?:'s)?[\s-]+(?!(?:on|at|in|by|for|from|to|of|with|and|or|but|as|is|are|was|were|has|had|will|would|can|could|if|when|"
    r"that|which|who|until|before|after|because|so|either|anymore|any|yet|though|today|now|then|you|it|we|they|i)\b)[a-z]"
)
_CHOICE = LazyPattern(
    r"\b(?:choose|chose|chosen|pick|picked|select|selected|want|wanted|take|took|use|used|accept|accepted|agree|agreed|"
    r"order|ordered|like|mean|meant|say|said|think|believe|have|has|had|live|lived|be|been|copy|quote|trust|rely)\b"
)
_CANNOT = LazyPattern(r"\b(?:ca|could|wo|would)\Z|\b(?:can|could|will|would)\s+\Z")
_ABLE = LazyPattern(r"\s*(?:been\s+)?(?:able|allowed|permitted)\s+to\s+(?!be\b|use\b)")
_BEING = LazyPattern(r"\s*(?:be|have|has|had|live|use|rely|trust|quote|go)\b")

_MODAL = LazyPattern(r"\b(?:ca|could|must|may|should|shall)\Z|\b(?:can|could|must|may|should|shall)\s+\Z")
_ALLOWED = LazyPattern(r"\s*(?:be\s+|to\s+be\s+)?(?:allowed|permitted|safe|advised|supposed|meant)\b")
_SPAN_OF = LazyPattern(
    r"\b(?:within|inside(?: of)?|for|in the first|during the(?: first)?|sooner than)\s+(?:the\s+|at least\s+|a full\s+|those\s+)?\Z"
)
_A_SPAN = LazyPattern(
    r"[\w-]+[\s-]+(?:business\s+|working\s+|full\s+)?(?:minute|hour|day|night|week|month|year|met(?:er|re)|kilomet(?:er|re)|km|mile|"
    r"yard|foot|feet|inch)(?:e?s)?\b"
)
_REQUIRED = LazyPattern(
    r"\s+(?:that\s+|which\s+)?(?:[\w'-]+\s+){1,3}(?:requires?|required|asks? for|asked for|needs?|needed|wants?|wanted|calls? for|"
    r"called for|insists? on)\b"
)

# ---- a predicate after the value ------------------------------------------------------

_ROLE = (
    r"(?:number|no|date|day|time|one|amount|price|fee|figure|total|limit|cost|salary|code|id|reference|account|name|"
    r"answer|case|appointment|deadline|address|option|plan|city|home|value|rate|slot|balance|pin|password|version)"
)
_AFTER_ANY = LazyPattern(
    r"\s*(?:(?:,\s*)?(?:which|that)\s+)?(?:"
    r"(?:(?:is|was|are|were|'s)\s*(?:not|never)|(?:is|was|are|were)n't)\s+(?:"
    rf"(?:the|your|my|his|her|their|our|a|an)\s+(?:\w+\s+){{0,2}}?{_ROLE}\b"
    r"|it\b|correct|right|valid|current|where|what|who|when|active|in use|used|true|accurate|going to)"
    r"|(?:is|was|are|were|'s)\s+(?:wrong|incorrect|false|invalid|a mistake|an error|mistaken|a typo|not it)\b"
    r"|no\s+longer\s+(?:applies|stands|counts|holds)\b|(?:is|was|are|were|'s)\s+no\s+longer\s+(?:valid|current|correct|right|"
    r"accurate|in use|used|active|true|your|my|his|her|their|our|the|where|what|it)\b)"
)
_AFTER_TYPED = LazyPattern(
    r"(?![^.;]{0,60}\b(?:because|since|as)\b)\s*(?:(?:slot|date|day|time|appointment|option|opening)\s+)?(?:"
    r"(?:won't|will not|can't|cannot|can not|couldn't|could not|doesn't|does not|wouldn't|would not|isn't|is not)\s+(?:"
    r"work|hold|stand|happen|apply|do|be\s+(?:kept|met|made|done|right|possible|it|realistic|feasible)|"
    r"possible|realistic|feasible|available|achievable|doable|on\b|going\s+to\s+(?:work|happen))\b"
    r"|(?:(?:is|was|are|were|'s|looks?|seems?)\s+)(?:\w+\s+)?(?:impossible|too early|too soon|too late|out of the question|"
    r"wrong|incorrect)\b)"
)
_AFTER_LABEL = LazyPattern(
    r"\s*[(\[]\s*(?:not\s+(?:right|correct|valid|current|true|used|in use|any\s?more)|(?:was |the )?wrong|incorrect|invalid|"
    r"misread(?![^()]{0,30}\b(?:as|for)\b)|void)\b|\s*\?\s*no\b"
)
_BEFORE_LABEL = LazyPattern(
    r"(?:wrong|incorrect|false|invalid|misread(?: as)?|mistaken(?:ly)?|mistook)\b(?!\s+(?:with|"
    r"about)\b)(?![^.]*\b(?:it is|it's|that is|they are)\b)"
    r"[^.;,\n]{0,25}\Z"
)


def negation(value: Surroundings) -> str | None:
    """Return the flag that a negation before or after a value earns it, if any."""
    start = value.start
    for at in value.places_before(value.cues & NEGATING):
        cue = _CUE.match(value.text, at, start)
        flag = _flag_of(cue, value) if cue else None
        if flag:
            return flag or None
        if flag == "":
            return None
    if value.cues.isdisjoint(DENYING):
        return None
    right = value.right
    if _AFTER_ANY.match(right) or _AFTER_LABEL.match(right):
        return "negated"
    if any(
        _BEFORE_LABEL.match(value.text, at, start) and not _BREAK.search(value.text, at, start)
        for at in value.places_before(value.cues & MISLABELLING, 60)
    ):
        return "negated"
    return "negated" if not value.is_text and _AFTER_TYPED.match(right) else None


def _flag_of(cue: Found, value: Surroundings) -> str | None:
    """Return the flag that a cue before the value earns it: none, or an empty one when it asserts it."""
    kind = cue.lastgroup
    before, between = value.left[: cue.start() - value.start], value.text[cue.end() : value.start]
    if kind == "neg" and _EXCEPTED.search(before) and _DIRECT.fullmatch(between):
        return ""  # all moved, just not X
    if kind == "phrase" and (
        _NEGATIVE.search(_CLAUSE_CUT.split(before[-40:])[-1]) or _singles_out(cue, before)
    ):
        return ""  # nothing other than X, can't be anything but X, all except X
    if _is_idiom(kind, cue, before, between, value) or _is_over(cue, between, value):
        return None
    if whether := _WHETHER.search(between):
        return "unsure" if _EPISTEMIC.search(between, 0, whether.start()) else None
    if kind in ("neg", "nt") and _is_about(cue, before, between, value):
        return None
    return "replaced" if kind == "past" else "negated"


def _singles_out(cue: Found, before: str) -> bool:
    if cue[0] not in ("other than", "except for", "except", "excluding"):
        return False
    return _EVERYTHING.search(before[-60:]) is not None


def _is_idiom(kind: str | None, cue: Found, before: str, between: str, value: Surroundings) -> bool:
    if kind == "no":
        if not between.strip():  # a label: No. 12
            return value.text[value.start].isdigit() and value.text[value.end - 1].isdigit()
        if _NO_IS_LABEL.fullmatch(between) and any(c.isdigit() for c in value.text[value.start : value.end]):
            return True  # Quote no. = HC-2039
        if _SPAN_OF.search(between) and _A_SPAN.match(value.text, value.start):
            return True  # no motor within X
        if _NO_IS_ANSWER.match(between) or _NO_IS_IDIOM.match(between) or _NO_IS_NOUN.search(before):
            return True
        return len(between.split()) > 4 or "," in between
    if kind == "doubt":
        return cue[0].startswith("doubt") and _NO_DOUBT.search(before) is not None
    if kind in ("neg", "nt"):
        if _NOT_IS_IDIOM.match(between) or _BEFORE_IDIOM.search(before):
            return True
        if cue[0] == "not" and not before.rstrip(_CLAUSE_START).strip() and _GERUND.match(between):
            return True  # Not calling by X costs more
        return _PURPOSE.search(before) is not None or _CONDITION.search(before) is not None
    if kind == "past":
        return cue[0] == "formerly" and "," in between
    return bool(
        _SUBJECT.search(between)
        or _VERB.search(between)
        or "," in between
        or (cue[0] == "without" and (_GERUND.match(between) or _BY.search(between)))
    )


def _is_over(cue: Found, between: str, value: Surroundings) -> bool:
    """Say whether the clause of the cue ends before the value."""
    between = without_brackets(between)
    if _BREAK.search(between) or len(between.split()) > _MANY_WORDS:
        return True
    if "," in between and _comma_ends(between, value.right):
        return True
    if cue[0] in _SUBJECT_CUES or cue.lastgroup not in ("neg", "nt"):
        return False
    return _NEW_VERB.search(between) is not None and not _SAYING.search(between)


def _comma_ends(between: str, right: str) -> bool:
    """Say whether a comma between cue and value ends the scope; in `not A, B or C` it does not."""
    after_comma = between.partition(",")[2]
    if _VERB.search(after_comma) or _SUBJECT.search(after_comma):
        return True
    rest = after_comma + _BREAK.split(right, maxsplit=1)[0]
    listed = _OR_NOR.search(rest)
    return listed is None or _VERB.search(rest, 0, listed.start()) is not None


def _is_about(cue: Found, before: str, between: str, value: Surroundings) -> bool:
    """Say whether the negated clause only says something about a value that stands."""
    if not value.is_text and _REQUIRED.match(value.right) and _DEFINITE.search(between):
        return True
    if _DIRECT.fullmatch(between):
        return False
    if _forbids_a_span(cue, before, between, value):
        return True
    if (
        _DEFINITE.search(between)
        and not _CHOICE.search(between)
        and (not value.is_text or _HEAD_NOUN.match(value.right))
    ):
        return True
    if not value.is_text or _BEING.match(between):
        return False
    if cue[0] in ("cannot", "unable", "cant", "couldnt") or _CANNOT.search(before):
        return True
    return _ABLE.match(between) is not None


def _forbids_a_span(cue: Found, before: str, between: str, value: Surroundings) -> bool:
    """Say whether what is forbidden is forbidden for the time or the distance that the value says."""
    if not _SPAN_OF.search(between) or not _A_SPAN.match(value.text, value.start):
        return False
    forbidden = cue[0] in ("cannot", "cant") or _MODAL.search(before) or _ALLOWED.match(between)
    return bool(forbidden)
