"""A judge by rules: it rules on each criterion from the prompt's own facts and the answer's own words.

- A criterion linked to facts is met when each of them is found in the answer, not denied and not offered as one
  of several; contradicted when one is missing and a wrong value of its type is given as right; else not met.
- An abstention fact is found when the answer declines and commits to no value.
- A behaviour criterion needs an answer of substance. One that forbids something is met when no wrong value is given
  as right; any other when the answer shares enough words with it and with the reference's sentences about it, or asks
  where asking is what it wants.
- What an answer says about judging, verdicts or its own end is dropped before anything is looked for, and a pasted
  transcript meets nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from .judge_prompt import CaseText, Criterion, Fact, JudgePrompt, read_prompt
from .values import Scan, Span, find

# Cheap to look for first: hardly an answer speaks of judging.
_JUDGING = tuple(
    "criteri verdict rubric grade grading judge mark gold reference evaluation override met instruction [".split()
)
_INSTRUCTS = re.compile(
    r"criteri(?:a|on)|verdict|rubric|\bgrad(?:er|ing)\b|\bjudge\b|(?:full|top) marks?\b|gold facts?|"
    r"reference answer|evaluation|\boverride\b|\bas met\b|=\s?met\b|your reasoning|previous instructions|\[/?(?:system|inst)",
    re.IGNORECASE,
)
_FAKE_END = re.compile(r"(?:‹‹‹|‹\s*(?:END|BEGIN|ANSWER|REFERENCE)\b|<<<).*", re.DOTALL)
_SENTENCE = re.compile(r"[^.!?\n]*(?:[.!?]+(?!\s)[^.!?\n]*)*(?:[.!?]+|\n|$)")
_TURN = re.compile(r"^\W*(?:user|assistant|agent|customer|human|ai)\s*:", re.IGNORECASE | re.MULTILINE)
_CLAUSE_END = re.compile(r"[;!?\n]|\.(?=\s)|, (?:but|so|and|which|not)\b|\bbut\b")
_DENIED_BEFORE = re.compile(
    r"\b(?:not|never|nor|no longer|rather than|instead of|(?:is|was|are|were|do|does|did)n't)\b(?:\W+\w+){0,4}\W*$"
)
_DENIED_AFTER = re.compile(
    r"\W*(?:(?:is|was|are|were|has been)\s+)?(?:now\s+)?"
    r"(?:not\b|n't|wrong|cancell?ed|no longer|withdrawn|out ?dated|superseded|off\b)"
)
_PASSED = re.compile(
    r"\b(?:first|original\w*|initial\w*|old|earlier|previous\w*|former\w*|was|were|had been|used to|moved|changed|"
    r"replac\w+|from|instead|rather|mis\w+|swapped|typo|mistake|wrong|cancel\w*|crossed|correct\w+|ignore|disregard|"
    r"standard|guess\w*|supersed\w+|given up|another|up from|down from|refused|withdrawn|slip|too low|too high)\b"
)
_UNDECIDED = re.compile(
    r"\b(?:either|or|maybe|perhaps|(?:not|n't) (?:sure|certain|know|tell)|which of|depending)\b"
)
_DECLINES = re.compile(
    r"\bnever\b.{0,40}\b(?:gave|give|given|said|say|state[ds]?|told|tell|mention(?:ed)?|named|came up|settled|got)\b|"
    r"(?:\bnot?\b|n't|\bnever\b|\bnothing\b|\bunable\b).{0,30}\b(?:record|find|found|have|know|say|said|state|stated|"
    r"mention(?:ed)?|given?|gave|tell|told|balance|figure|number|come up|amount)\b|"
    r"\b(?:unknown|left open|left blank|missing)\b"
)
_WANTS_QUESTION = re.compile(r"\basks?\b(?! for)")
_WANTS_DECLINING = re.compile(
    r"\bnever (?:stated|given|said|came)\b|\bopen, with no\b|^Keeps other amounts apart"
)
_ASKS = re.compile(r"\?|\b(?:tell|let) me (?:know )?which\b")
_FORBIDS = re.compile(
    r"\b(?:does not|doesn't|no|not|isn't|neither|without|open|apart|left out|single|one settled|rather than)\b"
)
_NAME = re.compile(r"(?<=[\w,;:(&'’] )[A-ZÀ-Þ][\w'’]+|\([A-ZÀ-Þ]\w+")
_WORD = re.compile(r"\S+")
_NEAR = 60
_STEM = 5
_ENOUGH = 0.55
_QUOTED_WORDS = 10
_META = frozenset(
    "about after also answer because clear clearl conversation gives giving makes names offer offers other plain "
    "plainl present presen raise raises says should state states such tells that their there these this those "
    "warns which whose with would explai recomm recom unasked asked being from have into than them then they were "
    "what when where without will your".split()
)


def judged(messages: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Any], str] | None:
    """Return the judgement that a judge prompt asks for and the answer it is about, None for other messages."""
    prompt = read_prompt(messages)
    return None if prompt is None else (rule(prompt), prompt.answer)


def rule(prompt: JudgePrompt) -> dict[str, Any]:
    """Return the judgement, in the form that the prompt asks for."""
    view = _Answer(prompt.answer)
    if prompt.case is None:
        return _rule_on_one(prompt, view)
    case = prompt.case
    sure = _Facts(case, view)
    criteria = [_ruling(criterion, case, view, sure) for criterion in case.criteria]
    met = sum(ruling["verdict"] == "met" for ruling in criteria)
    judgement: dict[str, Any] = {"reasoning": f"{met} of {len(criteria)} are met by the words of the answer."}
    judgement["criteria"] = criteria
    if case.wrong is not None:
        judgement["wrong_values"] = [
            {"id": fact.id, "quote": view.quote(sure.wrong.get(fact.id)), "stated": fact.id in sure.wrong}
            for fact in case.wrong
        ]
    if case.with_transcript:
        judgement["unsupported"] = _unsupported(prompt, view)
    return judgement


class _Answer:
    """An answer, without what it says to its judge."""

    def __init__(self, text: str) -> None:
        self.text = text
        kept = text
        if "‹" in text or "<<<" in text:
            kept = _FAKE_END.sub(lambda match: " " * len(match[0]), text)
        low = text.lower()
        if any([word in low for word in _JUDGING]) and _INSTRUCTS.search(kept):
            kept = _SENTENCE.sub(lambda m: " " * len(m[0]) if _INSTRUCTS.search(m[0]) else m[0], kept)
        if len(_TURN.findall(kept)) >= 3:
            kept = ""
        self.scan = Scan(kept)
        self.low = self.scan.low
        self.stems = _stems(self.low)
        self.breaks = [match.span() for match in _CLAUSE_END.finditer(self.low)]

    def clause(self, span: Span) -> tuple[str, str]:
        """Return what stands before and after a span in its clause."""
        start = max([end for _, end in self.breaks if end <= span[0]], default=0)
        stop = next((begin for begin, _ in self.breaks if begin >= span[1]), None)
        return self.low[start : span[0]], self.low[span[1] : stop]

    def sentence(self, span: Span) -> str:
        """Return the sentence around a span."""
        start = max(self.low.rfind(". ", 0, span[0]), self.low.rfind("\n", 0, span[0])) + 1
        ends = [end for mark in (". ", "\n") if (end := self.low.find(mark, span[1])) >= 0]
        return self.low[start : min(ends, default=len(self.low))]

    def denies(self, span: Span) -> bool:
        before, after = self.clause(span)
        return bool(_DENIED_BEFORE.search(before[-_NEAR:]) or _DENIED_AFTER.match(after))

    def calls_past(self, span: Span) -> bool:
        before, after = self.clause(span)
        return bool(_PASSED.search(before) or _PASSED.search(after[:40]))

    def quote(self, span: Span | None) -> str:
        """Return the words around a span, copied from the answer; they stay on one line where they can."""
        if span is None:
            return ""
        first = self.text.rfind("\n", 0, span[0]) + 1
        before = self.text[first : span[0]].rsplit(maxsplit=3)
        kept = before[0] if len(before) > 3 else ""
        start = first + len(kept)
        end = start
        for word in islice(_WORD.finditer(self.text, start), _QUOTED_WORDS):
            if "\n" in self.text[end : word.start()] and end >= span[1]:
                break
            end = word.end()
        return self.text[start : max(end, span[1])].strip()


class _Facts:
    """Which facts and wrong values of a case an answer gives as right, and where."""

    def __init__(self, case: CaseText, view: _Answer) -> None:
        self.found: dict[str, Span] = {}
        self.wrong: dict[str, Span] = {}
        self.types = {fact.id: fact.type for fact in case.facts}
        self.abstains = "abstain" in self.types.values()
        said = {fact.id: _sure(fact, view) for fact in case.facts if fact.type != "abstain"}
        right = {self.types[name] for name, spans in said.items() if spans}
        taken = {span for spans in said.values() for span in spans}
        for fact in case.wrong or ():
            for span in _sure(fact, view):
                if span not in taken and not (fact.type in right and view.calls_past(span)):
                    self.wrong[fact.id] = span
                    break
        wrong = {(fact.type, self.wrong[fact.id]) for fact in case.wrong or () if fact.id in self.wrong}
        for name, spans in said.items():
            rivals = [span for kind, span in wrong if kind == self.types[name]]
            decided = [span for span in spans if not _one_of_several(view, span, rivals)]
            if decided:
                self.found[name] = decided[0]
        declining = _declining(case, view) if self.abstains and not self.wrong else None
        if declining is not None:
            self.found |= {name: declining for name, kind in self.types.items() if kind == "abstain"}

    @property
    def substance(self) -> Span | None:
        """Where the answer first says something that counts, None for one that does not."""
        if self.abstains:
            return next(
                (self.found[n] for n, kind in self.types.items() if kind == "abstain" and n in self.found),
                None,
            )
        return min(self.found.values(), default=None)


def _sure(fact: Fact, view: _Answer) -> list[Span]:
    return [span for span in find(view.scan, fact.type, fact.value, fact.also) if not view.denies(span)]


def _one_of_several(view: _Answer, span: Span, rivals: Iterable[Span]) -> bool:
    sentence = view.sentence(span)
    return any([view.sentence(rival) == sentence for rival in rivals]) and bool(_UNDECIDED.search(sentence))


def _declining(case: CaseText, view: _Answer) -> Span | None:
    """Return where an answer says that it was never told, None if it does not or gives a value after all."""
    declines = _DECLINES.search(view.low)
    if declines is None:
        return None
    names = [name.lower() for name in _names(case.question)]
    for amount in view.scan.amounts:
        sentence = view.sentence(amount.span)
        about = any(name in sentence for name in names) or sentence.lstrip().startswith(("it", "the balance"))
        if amount.kind and about and not _DECLINES.search(sentence):
            return None
    return declines.span()


def _ruling(criterion: Criterion, case: CaseText, view: _Answer, sure: _Facts) -> dict[str, Any]:
    if criterion.facts:
        verdict, span = _on_facts(criterion, case, sure)
    else:
        verdict, span = _on_behaviour(criterion, case, view, sure)
    quote = view.quote(span) if verdict != "not_met" else ""
    return {"id": criterion.id, "quote": quote, "verdict": verdict}


def _on_facts(criterion: Criterion, case: CaseText, sure: _Facts) -> tuple[str, Span | None]:
    missing = [name for name in criterion.facts if name not in sure.found]
    if not missing:
        return "met", sure.found[criterion.facts[0]]
    types = {sure.types.get(name) for name in missing}
    for fact in case.wrong or ():
        if fact.id in sure.wrong and (fact.type in types or "abstain" in types):
            return "contradicted", sure.wrong[fact.id]
    return "not_met", None


class _Kind(NamedTuple):
    """What a behaviour criterion is about: asking back, forbidding something, or nothing but that."""

    asks: bool
    forbids: bool
    only_forbids: bool


@lru_cache(maxsize=1024)
def _kind(text: str) -> _Kind:
    forbids = _FORBIDS.search(text.lower()) is not None
    only = forbids and text.startswith(("Does not", "Leaves", "Keeps", "Commits", "Presents", "Gives"))
    return _Kind(_WANTS_QUESTION.search(text) is not None, forbids, only)


def _on_behaviour(
    criterion: Criterion, case: CaseText, view: _Answer, sure: _Facts
) -> tuple[str, Span | None]:
    kind = _kind(criterion.text)
    asks = _ASKS.search(view.low)
    if kind.asks and asks and view.stems & _stems(case.question):
        return "met", asks.span()
    at = sure.substance
    if at is None:
        return "not_met", None
    if kind.forbids:
        for fact in case.wrong or ():
            if fact.id in sure.wrong:
                named = find(Scan(criterion.text), fact.type, fact.value)
                return ("contradicted", sure.wrong[fact.id]) if named else ("not_met", None)
        if kind.only_forbids:
            return "met", at
    return ("met", at) if _supports(criterion.text, case.reference, view) else ("not_met", None)


def _supports(text: str, reference: str, view: _Answer) -> bool:
    """Say whether an answer shares enough words with a criterion and what the reference says of it."""
    wanted, known = _wanted_words(text, reference)
    if re.search(r"\bboth\b|\beach\b", text) and (sides := _sides(text)):
        return all(any(name.lower() in view.low for name in side) for side in sides)
    return len(wanted & view.stems) >= _ENOUGH * max(len(wanted & known), 1)


@lru_cache(maxsize=1024)
def _wanted_words(text: str, reference: str) -> tuple[frozenset[str], frozenset[str]]:
    wanted = _stems(text.lower())
    sentences = [_stems(part.lower()) for part in re.split(r"(?<=[.!?;:])\s+", reference)]
    near = sorted(sentences, key=lambda stems: len(stems & wanted), reverse=True)[:1]
    return wanted.union(*near), _stems(reference.lower())


def _sides(text: str) -> list[list[str]]:
    inner = re.search(r"\(([^)]*)\)", text)
    sides = [_names(f"- {side}") for side in inner[1].split(" and ")] if inner else []
    return sides if len(sides) > 1 and all(sides) else []


def _stems(text: str) -> frozenset[str]:
    words = re.findall(r"[^\W\d_]{4,}|\d+", text)
    return frozenset(word[:_STEM] for word in words if word not in _META and word[:6] not in _META)


def _names(text: str) -> list[str]:
    return [name.lstrip("(") for name in _NAME.findall(text)]


def _rule_on_one(prompt: JudgePrompt, view: _Answer) -> dict[str, Any]:
    """Rule on one criterion, whose values have to be read off its own text."""
    if prompt.wrong_one:
        facts = _read_off(prompt.wrong_one) or (Fact("", "text", prompt.wrong_one),)
        span = next((s for fact in facts for s in _sure(fact, view) if not view.calls_past(s)), None)
        return {"quote": view.quote(span), "verdict": "met" if span else "not_met"}
    asked, unwanted = _halves(prompt.one)
    for fact in unwanted:
        if span := next((s for s in _sure(fact, view) if not view.calls_past(s)), None):
            return {"quote": view.quote(span), "verdict": "contradicted"}
    spans = [_sure(fact, view) for fact in asked]
    # A small bare number may be one of a list or a rule, and says nothing of substance.
    amounts = [amount for amount in view.scan.amounts if amount.kind or amount.value >= 100]
    values = [found.span for kind in (view.scan.dates, amounts, view.scan.times) for found in kind]
    declines = _DECLINES.search(view.low)
    span = values[0] if values else declines.span() if declines else None
    if _WANTS_DECLINING.search(prompt.one):
        met, span = declines is not None, declines.span() if declines else None
    elif spans:
        met, span = all(spans), next((s[0] for s in spans if s), None)
    elif _kind(prompt.one).only_forbids:
        met = span is not None
    else:
        names = [view.low.find(name.lower()) for name in _names(prompt.one)]
        if names and min(names) >= 0:
            met, span = True, (names[0], names[0] + 1)
        else:
            met = span is not None and _supports(prompt.one, prompt.one, view)
    return {"quote": view.quote(span) if met else "", "verdict": "met" if met else "not_met"}


def _halves(text: str) -> tuple[tuple[Fact, ...], tuple[Fact, ...]]:
    """Return the values that a criterion asks for, and those that it does not want."""
    forbids = _FORBIDS.search(text.lower()) if _kind(text).only_forbids else None
    split = forbids.start() if forbids else len(text)
    return _read_off(text[:split]), _read_off(text[split:])


@lru_cache(maxsize=1024)
def _read_off(text: str) -> tuple[Fact, ...]:
    scan = Scan(text)
    facts = [Fact("", "date", text[d.span[0] : d.span[1]]) for d in scan.dates if d.month]
    facts += [
        Fact("", "money", text[a.span[0] : a.span[1]]) for a in scan.amounts if a.kind in ("$", "£", "€")
    ]
    facts += [Fact("", "time", text[t.span[0] : t.span[1]]) for t in scan.times]
    facts += [Fact("", "id", word) for word in re.findall(r"\b[A-Z]{2,}-[\w-]*\d+\b|\b\d{5,}\b", text)]
    return tuple(facts)


def _unsupported(prompt: JudgePrompt, view: _Answer) -> list[dict[str, str]]:
    """List the sums of money and ids that the answer names and nothing in the prompt does."""
    case = prompt.case
    listed = (
        [] if case is None else [case.reference, *(fact.value for fact in (*case.facts, *(case.wrong or ())))]
    )
    told = {amount.value for text in (prompt.transcript, *listed) for amount in Scan(text).amounts}
    new = [a for a in view.scan.amounts if (a.kind or a.value >= 10_000) and a.value not in told]
    return [{"claim": f"states {prompt.answer[slice(*a.span)]}", "quote": view.quote(a.span)} for a in new]
