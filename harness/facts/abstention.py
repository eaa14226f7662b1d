"""Abstention: the answer says that it does not know, and commits to no value.

An empty answer is no abstention. Each clause is read by itself:

- it declines: `you never gave a balance`, `I'm not sure`, `わかりません`
- it commits: a guess (`probably 42`), a value stated (`it was Biscuit`, `the code is 4821`)
- or neither: a question, advice (`call the benefits desk at 555-0163 and ask`), context on
  other things (`I only know that your cat is called Luna`), a report of what else was said
  (`you told me of Brightwater, $214,380`, `there was a match of $1,200, but …`)

The answer abstains when some clause declines and none commits.
"""

from __future__ import annotations

from harness.facts.answer import AnswerText
from harness.facts.declining import DECLINES, DECLINES_ELSEWHERE, GUESSES
from harness.facts.patterns import LazyPattern, lexicon
from harness.facts.sentences import Span

_CLAUSE_END = LazyPattern(
    r"[;:\n]\s*|—|\s[-–]\s|(?<!\s),?\s+\b(?=(?:but|however|although|though|while|whereas|pero|mais|aber)\b)"
    r"|,\s{1,9}(?=(?:so|and|it|it's|you|i|we|he|she|they|your|the|there|probably|maybe|perhaps|possibly)\b)"
)
_ADVICE = LazyPattern(
    r"^\W*(?:(?:please|so|and|but|or|then|instead|however|for that|in that case|maybe|perhaps|i think|i believe|i suggest|"
    r"i'd suggest|i would suggest|i recommend|i'd recommend|you|that|if you\b[^,]{0,60},)\W+)*(?:"
    r"(?:you|we|i)\s*(?:could|can|may|might|should|would|will|'d|'ll|want|need|have to)\b|call(?:ing)?|"
    r"contact(?:ing)?|ask(?:ing)?|"
    r"check(?:ing)?|try(?:ing)?|look(?:ing)?|log|search|reach|email|phone|ring|visit|let me know|tell me|give me|send me|share|"
    r"provide|(?:the|your)\s+(?:[\w-]+\s+){0,4}(?:can|could|will|would|should|may|might)\s+(?!be\s)\w+|"
    r"it\s+(?:may|might|could|should|would)\s+(?:well\s+)?be\s+(?:in|on|at|with|listed|printed|shown|found|stated)|"
    r"if\b|once\b|when\b|it(?:'s|\s+is|\s+would\s+be)\s+(?:worth|best|better|a good idea)|"
    r"(?:the\s+)?(?:best|quickest|surest|easiest)|the\s+(?:person|one|people|place|office|desk)\s+to\s+(?:ask|call|ring|contact|try)|do|does|did|would|could|can|shall|should|want|have you|has|is|are|"
    r"what|which|who|when|"
    r"where|how|next steps?|happy to|glad to)\b"
)
_ASIDE = LazyPattern(
    r"\b(?:for reference|that came up|at one point|neither of|none of|crossed|misread\w*|by mistake|careful with|(?:is|"
    r"was)\s+(?:the\s+)?\w+'s|only|what i do|i do (?:have|know|see|remember)|otherwise|instead|other than|apart from|besides|open from|"
    r"opening hours|"
    r"office hours)\b"
)
# A clause that reports what was said of other things; one about `it` or `that` is no such clause.
_REPORTS = LazyPattern(
    r"^\W*(?:(?:so|and|but|though|although|while|whereas|because|also|then)\W+)*(?:"
    r"(?:you|we|they|he|she|i)(?:'d|'ve)?\s+(?:\w+\s+)?(?:told|tell|gave|give|given|mention(?:ed)?|said|talk(?:ed)?|"
    r"discuss(?:ed)?|"
    r"read|know|knew|have|had|list(?:ed)?|spoke|quoted|stated|looked|thought|found|remember(?:ed)?|recall(?:ed)?|put|pay|paid|"
    r"paying)\b"
    r"|there\s+(?:is|was|are|were)\b|only\b|apart\s+from\b|besides\b|other\s+than\b|the\s+other\b|all\s+(?:i|we|you)\b|"
    r"what\s+(?:you|we|i)\b)"
)
_GOES_ON = LazyPattern(
    r"^\W*(?:and\s+)?that\s+(?!is\b|was\b|would\b|one\b|amount\b|figure\b|number\b|date\b)"
)
_COUNTED = LazyPattern(
    r"(?:two|three|four|five|six|seven|eight|nine|ten)\s+(?:tries|attempts|times|calls|boxes|places|people)\b"
)
_OF_IT = LazyPattern(
    r"\b(?:it|that|this|the\s+(?:answer|balance|figure|number|amount|total|value|date))\s*(?:'s|is|was|were|has|had|"
    r"at|as|of|=|:)"
    r"|\b(?:told|said|mentioned|stated|gave)\s+(?:me\s+|us\s+)?(?:it|that|about\s+it)\b"
)
_UNSURE = LazyPattern(
    r"\bnot\s+(?:\w+\s+)?(?:sure|certain)\b|\bunsure\b|n't\s+(?:\w+\s+)?(?:sure|certain|remember|recall|confirm)\b"
)
_CONTRAST = LazyPattern(r"\W*(?:but|though|although|while|whereas|however)\b")
_WAS_ANOTHERS = LazyPattern(
    r"\W*but\s+(?:that|it|this)\s+(?:(?:figure|number|amount|one)\s+)?(?:is|was)\s+(?:(?:the\s+)?[\w-]+'s\b|a\s+mis\w+|a\s+mistake|a\s+slip|crossed\s+out)"
)
_IT_IS = LazyPattern(r"\bit(?:'s|\s+is|\s+was)\s+[\w$€£\"']")
# A refusal to tell is no statement that nothing was told.
_REFUSES = LazyPattern(
    r"\b(?:can't|cannot|can not|unable to|not able to|won't)\s+(?:help|share|provide|disclose|give|discuss)\b[^.;]{0,40}?"
    r"\b(?:personal|private|confidential|sensitive|financial|medical)\b"
)
_STATES = LazyPattern(
    r"(?:^|\b(?:and|but|so|that|because|then|said|told me|mentioned)\s+)(?:(?P<named>it|he|she|they|that|this|the answer)|"
    r"(?P<own>(?:your|his|her|their|my)\s+(?:[\w'-]+\s+){1,5}?)|(?P<other>the\s+(?:[\w'-]+\s+){1,4}?))\s*"
    r"(?:'s|is|are|was|were)(?:\s+(?:called|named|about|around|exactly|roughly|actually))?\s+(?!n't)(?P<value>[\w$€£¥#\"']+)"
)
_NAMES = LazyPattern(
    r"\b(?:[Yy]ou|[Hh]e|[Ss]he|[Tt]hey)\s+(?:named|called|chose|picked|call)\s+(?:[\w'-]+\s+){0,4}?[A-Z]"
)
_NO_VALUE = lexicon(
    "not never unknown unclear unspecified missing unavailable no none nothing n/a only just still also possible "
    "impossible in on "
    "at from of about for to under with by best worth better likely hard what why how because that something "
    "anything all left up "
    "safe clear where when there here simply unfortunately outside beyond absent blank undisclosed undefined "
    "outstanding pending "
    "open your the a an empty down lost gone too so very one another"
)
_INFLECTED = ("ed", "ing", "en")
_CONVERSATION = LazyPattern(
    r"\b(?:past|previous|earlier|conversations?|sessions?|chats?|messages?|calls?|called|talk(?:ed)?|spoke|"
    r"discuss(?:ed|ion)?|records?|memor\w+|"
    r"looked|times?|places?|results?|notes?|meeting|transcript)\b"
)
_BARE_VALUE = LazyPattern(r"^\W*(?:[$€£¥]?\d|yes\b)")
_VALUE_LAST = LazyPattern(r",\s*(?:about|around|maybe|say|or)?\s*[$€£]?\d[\d,.]*\W*\Z")
_FEW_WORDS = 3


def abstains(answer: AnswerText) -> Span | None:
    """Return the span in the folded answer of the clause that declines, unless another one commits."""
    text, cased = answer.text, answer.cased
    values = _values(answer)
    declined: Span | None = None
    aside_until = 0
    reporting = False  # "You told me that X, that Y and that Z" is one report
    clauses = _clauses(answer)
    for at, (start, end) in enumerate(clauses, start=1):
        clause = text[start:end]
        if _ASIDE.search(clause) and clause.rstrip().endswith(":"):  # "What I do have: …"
            aside_until = answer.sentence_at(start).end
        decline = DECLINES.search(clause) or DECLINES_ELSEWHERE.search(clause)
        if decline and not _REFUSES.search(clause):
            if _guesses(clause, decline.end()) or _VALUE_LAST.search(clause):
                return None
            declined = declined or (start, end)
        elif start >= aside_until:
            reporting = bool(_REPORTS.match(clause)) or (reporting and bool(_GOES_ON.match(clause)))
            if reporting and _GOES_ON.match(clause) and not _OF_IT.search(clause):
                continue
            inside = [v for v in values if start <= v[0] and v[1] <= end]
            following = text[slice(*clauses[at])] if at < len(clauses) else ""
            if _commits(clause, cased[start:end], inside) and not _is_set_aside(following):
                return None
    return declined


def _is_set_aside(following: str) -> bool:
    """Say whether the next clause sets the one before it aside: `…, but no balance was ever stated`."""
    if not _CONTRAST.match(following) or _UNSURE.search(following):
        return False
    return DECLINES.search(following) is not None or _WAS_ANOTHERS.match(following) is not None


def _values(answer: AnswerText) -> list[Span]:
    """Return where values stand that an answer could commit to."""
    values = [
        (n.start, n.end)
        for n in answer.numbers
        if (n.amount.number != 1 or n.amount.currency) and not _COUNTED.match(answer.text, n.start)
    ]
    values += [(d.start, d.end) for d in answer.dates if d.value.day is not None or d.value.year is not None]
    values += [(t.start, t.end) for t in answer.times]
    return values + answer.id_like


def _clauses(answer: AnswerText) -> list[Span]:
    clauses: list[Span] = []
    start = 0
    for end in answer.ends:
        for cut in _CLAUSE_END.finditer(answer.text, start, end):
            if cut.end() > start:
                clauses.append((start, cut.end()))
                start = cut.end()
        if end > start:
            clauses.append((start, end))
        start = end
    text = answer.text
    stripped = [(end - len(text[start:end].lstrip()), end) for start, end in clauses]
    return [(start, end) for start, end in stripped if any(char.isalnum() for char in text[start:end])]


def _guesses(clause: str, declined_at: int) -> bool:
    """Say whether one clause declines and guesses at once: `not sure, maybe 42`."""
    guess = GUESSES.search(clause, declined_at)
    return guess is not None and any(char.isalnum() for char in clause[guess.end() :])


def _commits(clause: str, cased: str, values: list[Span]) -> bool:
    """Say whether a clause that does not decline states a value, or guesses one."""
    if _ASIDE.search(clause) and not _IT_IS.search(clause):
        return False
    if _BARE_VALUE.match(clause):
        return True
    if _REPORTS.match(clause) and not _OF_IT.search(clause) and not GUESSES.search(clause):
        return _NAMES.search(cased) is not None
    if guess := GUESSES.search(clause):
        rest = clause[guess.end() :]
        if _ADVICE.match(rest):
            return False
        if (
            values
            or _states(clause, cased)
            or len(rest.split()) <= _FEW_WORDS
            or _named(cased[guess.end() :])
        ):
            return True
    if _ADVICE.match(clause) or clause.rstrip(" \"')\x00\x01").endswith(("?", "？")):
        return False
    return (bool(values) and not _CONVERSATION.search(clause)) or _states(clause, cased)


def _states(clause: str, cased: str) -> bool:
    """Say whether the clause says what something is or is called."""
    for found in _STATES.finditer(clause):
        value = found["value"].strip("\"'")
        if value in _NO_VALUE or value.endswith((*_INFLECTED, "'s")):
            continue
        if found["named"] or found["own"] or _named(cased[found.start("value") :]):
            return True
    return _NAMES.search(cased) is not None


def _named(cased: str) -> bool:
    """Say whether the words begin with a name, a number or a quotation."""
    first = cased.lstrip()[:1]
    return first.isupper() or first.isdigit() or first in ("$", "€", "£", '"')
