"""One system's answer to one case as its page shows it: marked text, verdicts, what was recalled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from harness.comparison import Comparison
from harness.facts import AnswerText, FactType, match_fact, match_wrong
from harness.report import evidence, numbers
from harness.report.html.marks import Kind, Pieces, Span, cut, quotes, shorten, visible
from harness.report.html.overview import EVIDENCE_RECALL, OUTCOMES, Outcome, outcome_of
from harness.scoring import CaseScore
from harness.suite import Case
from harness.suite.answer import Answer
from harness.suite.wording import count_words

if TYPE_CHECKING:
    from harness.runs.record import Record

_LONGEST_ANSWER = 20_000
_LONGEST_MEMORY = 4_000


class MemoryView(NamedTuple):
    """A memory that was handed back; `read` where the reader was given it."""

    text: Pieces
    cut: int
    score: str
    when: str
    refs: str
    read: bool


class LineView(NamedTuple):
    """One fact or criterion of one answer; `lost` says where a missed fact was, as far as that is seen."""

    mark: evidence.Mark
    name: str
    value: str
    remark: str
    lost: str = ""


class RulingView(NamedTuple):
    """What a judge wrote, and who did."""

    reasoning: str
    judges: str


@dataclass(frozen=True, slots=True)
class AnswerView:
    """One answer.

    Attributes:
        outcome: its key, for filters.
        label: the same in words.
        reason: why there is no reward, empty where there is one.
        reward: as written.
        value: the reward, None where there is none.
        flags: what is odd about it.
        text: the answer with its spans marked; None where none is known.
        cut: characters of it that are left out.
        lines: a line a fact or criterion.
        ruling: what a judge wrote.
        memories: what was recalled; None where that is not known.
        memories_left_out: how many of them are not shown.
        facts: small figures: words, seconds, tokens, timings by phase.
    """

    outcome: Outcome
    label: str
    reason: str
    reward: str
    value: float | None
    flags: tuple[str, ...]
    text: Pieces | None
    cut: int
    lines: tuple[LineView, ...]
    ruling: RulingView | None
    memories: tuple[MemoryView, ...] | None
    memories_left_out: int
    facts: tuple[str, ...]


class Recalled:
    """Marks what of a case's gold stands in a memory; the same memory is read once for all systems."""

    def __init__(self, case: Case | None) -> None:
        self._case = case
        self._seen: dict[str, Pieces] = {}

    def pieces(self, text: str) -> Pieces:
        """Return a memory in pieces."""
        found = self._seen.get(text)
        if found is None:
            found = self._seen[text] = cut(text, self._spans(text))
        return found

    def _spans(self, text: str) -> list[Span]:
        if self._case is None:
            return []
        read = AnswerText(text, self._case.locale)
        spans = []
        for fact in self._case.gold.required:
            if fact.type is not FactType.ABSTAIN and (span := match_fact(read, fact).span):
                spans.append(Span(*span, "found", f"required: {fact.id or fact.fact}"))
        for fact in self._case.gold.forbidden:
            if span := match_wrong(read, fact).span:
                spans.append(Span(*span, "wrong", f"wrong value: {fact.id or fact.fact}"))
        return spans


def answer_view(
    score: CaseScore,
    comparison: Comparison,
    recalled: Recalled,
    *,
    answer: Answer | None = None,
    record: Record | None = None,
    budget: int = 10_000,
    lost: Mapping[str, str] | None = None,
) -> AnswerView:
    """Return one answer as it is shown.

    Args:
        score: what became of it.
        comparison: which it is part of.
        recalled: marks memories.
        answer: as it was given, where it is known.
        record: the journal's record of it, where there is one; it knows more.
        budget: characters of recalled memory that are shown.
        lost: where missed facts were lost, by their names.
    """
    given = record.as_answer() if record is not None else answer
    outcome = outcome_of(score, comparison)
    text = given.text if given is not None else None
    head, left = shorten(text or "", _LONGEST_ANSWER)
    memories, left_out = _memories(given, record, recalled, budget)
    return AnswerView(
        outcome=outcome,
        label=OUTCOMES[outcome],
        reason=visible(evidence.outcome_words(score)),
        reward=numbers.reward(score.reward) if score.reward is not None else "",
        value=score.reward,
        flags=tuple(map(visible, score.flags)),
        text=None if text is None else cut(head, _spans(score, head)),
        cut=left,
        lines=tuple(
            LineView(
                line.mark,
                visible(line.name),
                visible(line.value),
                visible(line.remark),
                (lost or {}).get(line.name, "") if line.mark == "missing" else "",
            )
            for line in evidence.fact_lines(score)
        ),
        ruling=_ruling(score),
        memories=memories,
        memories_left_out=left_out,
        facts=tuple(map(visible, _figures(score, given, record))),
    )


def _spans(score: CaseScore, text: str) -> list[Span]:
    """Return what is marked in an answer; verdicts of evidence recall are about the memory instead."""
    spans = []
    for verdict in score.verdicts if score.scorer != EVIDENCE_RECALL else ():
        match, name = verdict.match, verdict.fact.id or verdict.fact.fact
        if match.span is None:
            continue
        kind: Kind = "found" if verdict.counts else "unsure"
        note = f"{verdict.role}: {name}"
        if verdict.role == "forbidden":
            kind, note = (
                ("wrong", f"wrong value: {name}") if verdict.counts else ("quote", f"not stated: {name}")
            )
        elif verdict.role == "optional" and verdict.counts:
            kind = "optional"
        elif verdict.voided_by:
            kind, note = "unsure", f"{name}: voided by {verdict.voided_by}"
        elif kind == "unsure":
            note = f"mentioned, not stated as true: {name}"
        spans.append(Span(*match.span, kind, note))
    judgement = score.judged.judgement if score.judged else None
    if judgement is not None:
        said: list[tuple[str, Kind, str]] = [
            (ruling.quote, "wrong" if ruling.verdict == "contradicted" else "quote", f"judge: {ruling.id}")
            for ruling in judgement.rulings
        ]
        said += [(one.quote, "wrong", f"judge: {one.id}") for one in judgement.wrong_values if one.stated]
        said += [(one.quote, "wrong", "judge: unsupported claim") for one in judgement.unsupported]
        spans += quotes(text, said)
    return spans


def _ruling(score: CaseScore) -> RulingView | None:
    if score.judged is None:
        return None
    judges = [
        trace.judge
        + (f" (served as {trace.model})" if trace.model else "")
        + (f": {trace.error}" if trace.error else "")
        for trace in score.judged.traces
    ]
    reasoning = score.judged.judgement.reasoning if score.judged.judgement else ""
    return RulingView(visible(reasoning), visible(", ".join(judges)))


def _memories(
    given: Answer | None, record: Record | None, recalled: Recalled, budget: int
) -> tuple[tuple[MemoryView, ...] | None, int]:
    """Return the memories that fit the budget, the most relevant first, and how many do not."""
    if record is not None and record.memories is not None:
        kept = len(record.kept or ())
        every = [
            (
                memory.text,
                "" if memory.score is None else f"{memory.score:.3g}",
                memory.created_at.date().isoformat() if memory.created_at else "",
                ", ".join(memory.source_refs),
                at < kept,
            )
            for at, memory in enumerate(record.memories)
        ]
    elif given is not None and given.memory is not None:
        every = [(text, "", "", "", True) for text in given.memory]
    else:
        return None, 0
    shown: list[MemoryView] = []
    for text, score, when, refs, read in every:
        if budget <= 0:
            break
        head, left = shorten(text, min(_LONGEST_MEMORY, max(budget, 200)))
        budget -= len(head)
        shown.append(MemoryView(recalled.pieces(head), left, score, when, visible(refs), read))
    return tuple(shown), len(every) - len(shown)


def _figures(score: CaseScore, given: Answer | None, record: Record | None) -> Sequence[str]:
    made = []
    if given is not None and given.text is not None:
        made.append(f"{count_words(given.text)} words")
    if score.memory_words is not None:
        made.append(f"{score.memory_words:,} words handed over")
    if score.latency_s is not None:
        made.append(f"{score.latency_s:.3g} s")
    if score.tokens is not None:
        made.append(f"{score.tokens:,} tokens")
    if record is not None:
        made.append(f"{record.words_in:,} words ingested in {len(record.delivered)} conversations")
        if record.attempt > 1:
            made.append(f"attempt {record.attempt}")
        phases = ", ".join(f"{phase} {1000 * seconds:,.1f} ms" for phase, seconds in record.timings.items())
        made.append(phases)
    return [part for part in made if part]
