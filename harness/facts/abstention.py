"""Abstention: the answer says that it does not know, and commits to no value.

An empty answer is no abstention. Each clause is read by itself: one that declines, one
that asks or advises, one that reports something else, one that commits (a guess, or a value
stated), or none of these. The answer abstains when some clause declines and none commits.

- `You told me about Brightwater ($214,380), never about Tidewell` reports and declines
- `There was a match of $1,200, but no balance was ever stated` too
- `It was about $52,900, but I'm not certain` commits: not being sure of a value is no refusal
"""

from __future__ import annotations

import itertools
from re import VERBOSE

from harness.facts.patterns import LazyPattern, lexicon

_NOT = r"(?:n't|\s+not|\s+never|not)"
_TOLD = (
    r"(?:mention(?:ed)?|sa(?:y|id)|told|tell|stat(?:e|ed)|giv(?:e|en)|gave|shar(?:e|ed)|provid(?:e|ed)|discuss(?:ed)?|"
    r"specif(?:y|ied)|disclos(?:e|ed)|includ(?:e|ed)|record(?:ed)?|cover(?:ed)?|indicat(?:e|ed)|bring|brought|came|come\s+up|"
    r"appear(?:s|ed)?|reveal(?:ed)?|list(?:ed)?|not(?:e|ed)|contain(?:ed)?|talk(?:ed)?|document(?:ed)?|quot(?:e|ed)|read\s+out|"
    r"confirm(?:ed)?|stor(?:e|ed)|captur(?:e|ed)|supplied|named?|answer(?:ed)?|found|seen|know(?!\s+why\b)|known|available|clear|on\s+record|on\s+file)"
)
_DECLINES = LazyPattern(
    rf"""
      \b(?:do|does|did|have|has|had|was|were|is|are|could|can|would){_NOT}\s+(?:\w+\s+){{0,3}}?{_TOLD}\b
    | \bcannot\s+(?:\w+\s+)?(?:answer|say|tell|determine|find|confirm|recall|provide|give|know|help\s+with)\b
    | \b(?:can|could|am|'m|is|was|are|were){_NOT}\s+(?:\w+\s+)?(?:answer|say|tell|determine|find|locate|confirm|recall|
        provide|give|able|sure|certain|aware|see|identify|retrieve)\b
    | \b(?:do|does|did){_NOT}\s+(?:\w+\s+)?(?:have|see|remember|recall|find|know(?!\s+why\b)|specify|say|appear|contain|include)\b
    | \b(?:have|has|had)(?:\s+no|{_NOT}\s+(?:any|got\s+any))\s+(?:\w+\s+){{0,2}}?(?:idea|clue|record|records|memory|information|
        info|data|mention|knowledge|details?|note|notes|trace|answer|entry|way)\b
    | \bno\s+(?:\w+\s+){{0,2}}?(?:information|info|record|records|mention|memory|memories|data|details?|idea|trace|evidence|
        reference|note|notes|answer|indication|entry|clue|figure|number|balance|value|amount|date)\b
    | \bnever\s+(?:\w+\s+){{0,2}}?{_TOLD}\b
    | \bnot\s+(?:\w+\s+){{0,2}}?{_TOLD}\b
    | \bnot\s+(?:sure|certain|aware|in\s+(?:my|our|the|your|any)|part\s+of|something\s+(?:you|we|i)|enough)\b
    | \b(?:unable|not\s+able)\s+to\s+(?:\w+\s+)?(?:answer|find|determine|say|tell|recall|locate|confirm|provide|identify)\b
    | \b(?:unknown|unspecified|undisclosed|unclear|unanswerable|unavailable|n/a)\b
    | \bnothing\s+(?:about|on|in|was|is|has)\b
    | \b(?:is|was|are|were|'s)\s+missing\b | \bmissing\s+from\b | \binsufficient\s+information\b
    | \bnone\s+of\s+(?:the|our|your)\b | \bno\s+one\s+(?:ever\s+)?{_TOLD}\b | \bneither\b.*\b{_TOLD}\b
    | \b(?:left|leaves?)\s+(?:it\s+)?(?:out|open|blank)\b | \bstill\s+(?:open|looking|to\s+be\s+found)\b
    | \bhas\s+yet\s+to\s+be\b | \bdidn't\s+come\s+up\b | \bhadn't\b.*\bfound\b
    """,
    VERBOSE,
)
# The same in other languages; matched anywhere in the clause.
_DECLINES_ELSEWHERE = LazyPattern(
    r"不知道|不清楚|不确定|不確定|没有提到|沒有提到|没提到|沒提到|未提及|没有提及|沒有提及|没有说|没有信息|無法回答|无法回答|不记得|不記得"
    r"|わかりません|分かりません|知りません|わからない|分からない|不明|覚えて(?:い)?ません|言及され(?:て)?(?:い)?ません|情報(?:が|は)(?:あり)?ません"
    r"|모르(?:겠|ㅂ)|모릅니다|몰라|알 수 없|언급(?:되지|하지) 않|정보가 없"
    r"|\bno (?:lo )?s[eé]\b|\bno (?:lo )?sabemos\b|\bno (?:se )?(?:ha )?mencion|\bno tengo (?:esa |ninguna )?informaci"
    r"|\bje ne (?:le )?sais pas\b|\bje ne me souviens\b|\bpas (?:été )?mentionn|\baucune (?:information|mention)"
    r"|\b(?:ich )?wei(?:ss|ß) (?:es |ich |das )?nicht\b|\bkeine (?:information|angabe|ahnung)|\bnicht (?:erwähnt|bekannt|genannt)"
    r"|\bnon (?:lo )?so\b|\bnon (?:è stato )?menzionat|\bnessuna informazione"
    r"|\bnão sei\b|\bnao sei\b|\bnão (?:foi )?mencion|\bnenhuma informação"
    r"|не знаю|неизвестно|не упомина|нет информации|لا أعرف|لا أعلم|पता नहीं|मुझे नहीं पता|bilmiyorum|nie wiem|ik weet het niet"
)
_GUESSES = LazyPattern(
    r"\b(?:probably|maybe|perhaps|likely|possibly|presumably|i think|i believe|i guess|i'd guess|my guess|guess(?:ing)?|i'd say|"
    r"i suspect|i assume|assuming|estimate|it might be|it may be|it could be|might be|could be|must be|should be|"
    r"as far as i remember|if i remember|if i had to)\b"
)
_ADVICE = LazyPattern(
    r"^\W*(?:(?:please|so|and|but|or|then|instead|however|for that|if you\b.*)\W+)*(?:"
    r"(?:you|we|i)\s*(?:could|can|may|might|should|would|will|'d|'ll|want|need|have to)\b|call|contact|ask|check|try|look|log|"
    r"reach|email|phone|ring|visit|let me know|tell me|give me|send me|share|provide|"
    r"(?:the|your)\s+(?:\w+\s+){0,3}(?:can|could|will|would|should|may|might)\s+(?:tell|give|confirm|know|have|help|be able)|"
    r"if\b|once\b|when\b|it(?:'s|\s+is|\s+would\s+be)\s+(?:worth|best|better|a good idea)|"
    r"(?:the\s+)?(?:best|quickest|surest|easiest)|"
    r"do|does|did|would|could|can|shall|should|want|have|has|is|are|what|which|who|when|where|how)\b"
)
_STATES = LazyPattern(
    r"(?:^|\b(?:and|but|so|that|because)\s+)(?:it|he|she|they|that|this|the answer|"
    r"(?:your|the|his|her|their|my)\s+(?:[\w'-]+\s+){1,4}?)\s*"
    r"(?:'s|'re|is|are|was|were)(?:\s+(?:called|named|about|around|exactly|roughly))?\s+(?!n't)(?P<value>[\w$€£¥#\"']+)"
)
# A clause that reports what was said of other things; one about `it` or `that` is no such clause.
_REPORTS = LazyPattern(
    r"^\W*(?:(?:so|and|but|though|although|while|whereas|because|also|then)\W+)*(?:"
    r"(?:you|we|they|he|she|i)(?:'d|'ve)?\s+(?:\w+\s+)?(?:told|tell|gave|give|given|mention(?:ed)?|said|talk(?:ed)?|discuss(?:ed)?|"
    r"read|know|knew|have|had|list(?:ed)?|spoke|quoted|stated|looked|thought|found|remember(?:ed)?|recall(?:ed)?|put|pay|paid|paying)\b"
    r"|there\s+(?:is|was|are|were)\b|only\b|apart\s+from\b|besides\b|other\s+than\b|the\s+other\b|all\s+(?:i|we|you)\b|"
    r"what\s+(?:you|we|i)\b)"
)
_OF_IT = LazyPattern(
    r"\b(?:it|that|this|the\s+(?:answer|balance|figure|number|amount|total|value|date))\s*(?:'s|is|was|were|has|had|at|as|of|=|:)"
    r"|\b(?:told|said|mentioned|stated|gave)\s+(?:me\s+|us\s+)?(?:it|that|about\s+it)\b"
)
_UNSURE = LazyPattern(
    r"\bnot\s+(?:\w+\s+)?(?:sure|certain)\b|\bunsure\b|n't\s+(?:\w+\s+)?(?:sure|certain|remember|recall|confirm)\b"
)
# `but you named your hamster Biscuit`: a report that answers all the same.
_NAMED = LazyPattern(r"\b(?:named|call(?:ed)?|told\s+me\s+(?:it|that))\b")
_CONTRAST = LazyPattern(r"\W*(?:but|though|although|while|whereas|however)\b")
_NO_VALUE = lexicon(
    "not never unknown unclear unspecified missing unavailable no none nothing n/a only just still also possible "
    "impossible in on at from of about for to under with by best worth better likely hard what why how because that "
    "something anything all left up safe clear where when there here simply unfortunately outside beyond absent blank "
    "undisclosed undefined outstanding pending open being going mentioned discussed stated given listed recorded your "
    "the a an"
)
_META = LazyPattern(
    r"\s*(?:past\s+|previous\s+|earlier\s+|our\s+)?(?:conversation|session|chat|message|call|record|memor|time|place|result|note|of\b)"
)
_CLAUSES = LazyPattern(
    r"(?<=[.!?;\n。！？])\s*|[;\n]|—|\s-\s|\s–\s|,?\s+\b(?=(?:but|however|although|though|while|whereas)\b)|"
    r",\s+(?=(?:so|and|it|you|i|we|he|she|they|your|the|there|probably|maybe|perhaps|possibly)\b)"
)
_BARE_VALUE = LazyPattern(r"^\W*(?:[$€£¥]?\d|yes\b)")


def abstains(text: str, value_spans: list[tuple[int, int]]) -> tuple[int, int] | None:
    """Return the span in folded `text` of a clause that declines, unless another one commits.

    Args:
        text: the folded answer.
        value_spans: where typed values (amounts, dates, times) stand in it.
    """
    declined: tuple[int, int] | None = None
    clauses = [span for span in _clauses(text) if text[slice(*span)].strip()]
    for at, (start, end) in enumerate(clauses, start=1):
        after = clauses[at] if at < len(clauses) else None
        clause = text[start:end]
        if _declines(clause):
            if _guess_after(clause):
                return None
            declined = declined or (start, end)
        elif _commits(text, clause, start, end, value_spans) and not _yields(text, after):
            return None
    return declined


def _declines(clause: str) -> bool:
    return _DECLINES.search(clause) is not None or _DECLINES_ELSEWHERE.search(clause) is not None


def _yields(text: str, after: tuple[int, int] | None) -> bool:
    """Say whether the next clause sets the one before aside: `…, but no balance was ever stated`."""
    if after is None:
        return False
    clause = text[slice(*after)]
    return bool(_CONTRAST.match(clause)) and _declines(clause) and not _UNSURE.search(clause)


def _clauses(text: str) -> list[tuple[int, int]]:
    cuts = [0]
    for m in _CLAUSES.finditer(text):
        if m.end() > cuts[-1]:
            cuts.append(m.end())
    cuts.append(len(text))
    return [(a, b) for a, b in itertools.pairwise(cuts) if b > a]


def _guess_after(clause: str) -> bool:
    """Say whether one clause declines and guesses at once: `not sure, maybe 42`."""
    declines = _DECLINES.search(clause) or _DECLINES_ELSEWHERE.search(clause)
    guess = _GUESSES.search(clause, declines.end() if declines else 0)
    return guess is not None and any(char.isalnum() for char in clause[guess.end() :])


def _commits(text: str, clause: str, start: int, end: int, value_spans: list[tuple[int, int]]) -> bool:
    if clause.rstrip().endswith(("?", "？")) or _ADVICE.match(clause):
        return False
    if _GUESSES.search(clause):
        return True
    if _REPORTS.match(clause) and not _OF_IT.search(clause):
        return _NAMED.search(clause) is not None
    if any(start <= a and b <= end and not _META.match(text[b : b + 24]) for a, b in value_spans):
        return True
    stated = _STATES.search(clause)
    if stated and stated["value"].strip("\"'") not in _NO_VALUE:
        return True
    return _BARE_VALUE.match(clause) is not None
