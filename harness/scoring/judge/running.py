"""One pass of a judge over many answers, side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from harness.errors import EndpointError
from harness.llm.client import ChatModel
from harness.llm.exchange import BudgetSpent, Unanswered, Unrecorded, settled
from harness.llm.replies import ReplyError
from harness.llm.schema import ReplySchema
from harness.llm.usage import Spent
from harness.scoring.judge import quotes, verdicts
from harness.scoring.judge.asking import Asking
from harness.scoring.judge.prompts import JudgePrompts, transcript_of
from harness.scoring.judge.quotes import Said
from harness.scoring.judge.record import Count, Judged, Met, Repeat, Trace
from harness.scoring.judge.verdicts import Judgement
from harness.scoring.outcome import JudgeFailed, NotAnnotated, Scored
from harness.scoring.score import CaseScore, without_text
from harness.suite import Case
from harness.suite.answer import Answer

if TYPE_CHECKING:
    from harness.scoring.judge.judge import LLMJudge

Pair = tuple[Case, Answer]
NOT_ASKED = "not_asked"


class Tally(NamedTuple):
    """How far a judged run is: answers done, of how many, errors, and what was spent just now."""

    done: int
    of: int
    errors: int
    fresh: Spent


class Run:
    """One pass over answers: workers that take the next answer until none is left or a limit is met.

    Attributes:
        stopped: why it ended before every answer was judged, or None.
    """

    def __init__(
        self, judge: LLMJudge, models: Sequence[ChatModel], templates: JudgePrompts, pairs: Sequence[Pair]
    ) -> None:
        self._judge = judge
        self._models = models
        self._templates = templates
        self._pairs = pairs
        self._scores: list[CaseScore | None] = [None] * len(pairs)
        self._cases: dict[str, tuple[ReplySchema, str | None]] = {}
        self._done = self._errors = 0
        # What a stopped run left out is not in its cassette; replayed, all that is there is scored.
        self._replays = judge.cassette_mode == "replay"
        self._missing: dict[int, Unrecorded] = {}
        self.stopped: str | None = None

    async def result(self) -> list[CaseScore]:
        """Return a score for every answer; those that were not asked say so.

        Raises:
            EndpointError: when the run had to stop.
        """
        waiting = iter(enumerate(self._pairs))
        count = min(self._judge.concurrency, len(self._pairs))
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(count):
                    group.create_task(self._work(waiting))
        except* Exception as errors:
            raise _first(errors) from None
        if self._missing and not self.stopped:
            raise self._missing[min(self._missing)]
        if None not in self._scores:
            self.stopped = None  # the limit was crossed by the last answers
        return [
            self._not_asked(case) if score is None else score
            for (case, _), score in zip(self._pairs, self._scores, strict=True)
        ]

    async def _work(self, waiting: Iterator[tuple[int, Pair]]) -> None:
        for at, (case, answer) in waiting:
            if self.stopped and not self._replays:
                return
            try:
                score = await self._one(case, answer)
            except BudgetSpent as spent:
                self.stopped = str(spent)
                return
            except Unrecorded as missing:
                self._missing[at] = missing
                continue
            self._scores[at] = score
            self._count(score)

    def _count(self, score: CaseScore) -> None:
        self._done += 1
        self._errors += isinstance(score.outcome, JudgeFailed)
        limit = self._judge.max_errors
        if self.stopped is None and too_many(self._errors, len(self._pairs), limit):
            self.stopped = f"judge errors are more than --max-errors {limit:g} of {len(self._pairs)} answers"
        if self._judge.progress is not None:
            fresh = Spent()
            for model in self._models:
                fresh = fresh.plus(model.fresh)
            self._judge.progress(Tally(self._done, len(self._pairs), self._errors, fresh))

    async def _one(self, case: Case, answer: Answer) -> CaseScore:
        name = self._judge.name
        outcome = without_text(answer) if case.criteria else NotAnnotated("criteria")
        if outcome is not None:
            return CaseScore(case.id, case.category, name, outcome)
        text = answer.text or ""
        said = quotes.said(text)
        if not said.words:
            # Nothing was said, so no criterion is met; there is nothing to rule on.
            judged = Judged(None, (), _dimensions(None, case))
            return CaseScore(
                case.id, case.category, name, Scored(0.0), flags=("empty",), words=0, judged=judged
            )
        ruled = await settled(partial(self._ask, model, case, text, said) for model in self._models)
        traces = tuple(trace for _, trace in ruled)
        given = [judgement for judgement, _ in ruled if isinstance(judgement, Judgement)]
        # A panel that some judge did not rule with can neither agree nor disagree.
        agreed = Count(*verdicts.unanimous(given)) if len(given) == len(self._models) else Count(0, 0)
        judgement, failed = self._together(given, [one for one, _ in ruled if not isinstance(one, Judgement)])
        if judgement is None:
            return CaseScore(
                case.id,
                case.category,
                name,
                failed,
                words=said.words,
                judged=Judged(None, traces, agreement=agreed),
            )
        reward, vetoes = verdicts.reward_of(judgement, case)
        return CaseScore(
            case.id,
            case.category,
            name,
            Scored(reward),
            flags=vetoes,
            words=said.words,
            judged=Judged(judgement, traces, _dimensions(judgement, case), agreed),
        )

    def _together(
        self, given: Sequence[Judgement], errors: Sequence[ReplyError]
    ) -> tuple[Judgement | None, JudgeFailed]:
        """Return the panel's judgement, or why there is none."""
        if 2 * len(given) <= len(self._models):
            return None, JudgeFailed(errors[0].kind, errors[0].message)
        try:
            return verdicts.majority(given, len(self._models)), JudgeFailed("")
        except ReplyError as error:
            return None, JudgeFailed(error.kind, error.message)

    async def _ask(
        self, model: ChatModel, case: Case, text: str, said: Said
    ) -> tuple[Judgement | ReplyError, Trace]:
        """Ask one judge as often as it is to be asked; its median, or the error that stands for it."""
        judge = self._judge
        asking = Asking(model, self._templates, judge.parameters, case, text, said, *self._of_case(case))

        async def once(repeat: int) -> Any:
            try:
                if judge.per_criterion:
                    return await asking.one_by_one(repeat)
                return await asking.at_once(repeat)
            except Unanswered as failed:
                return failed

        replies = await settled(partial(once, repeat) for repeat in range(judge.repeats))
        good = [reply for reply in replies if not isinstance(reply, Unanswered)]
        spent = Spent()
        for reply in replies:
            spent = spent.plus(reply.served.spent)
        served = (good or replies)[0].served
        bad = [reply.error for reply in replies if isinstance(reply, Unanswered)]
        judgements = [reply.value._replace(flags=reply.flags) for reply in good]
        same, compared = verdicts.unanimous(judgements)
        enough = 2 * len(good) > judge.repeats
        trace = Trace(
            model.endpoint.label,
            served.model,
            served.sent,
            spent,
            sum(reply.served.asked for reply in replies),
            Count(compared - same, compared),
            None if enough else bad[0].kind,
            tuple(_repeat(judgement, case) for judgement in judgements) if judge.repeats > 1 else (),
        )
        return (verdicts.median(judgements) if enough else bad[0]), trace

    def _of_case(self, case: Case) -> tuple[ReplySchema, str | None]:
        """Return the form of a verdict and the transcript to show, made once a case."""
        if case.id not in self._cases:
            whole = self._judge.with_transcript
            schema = verdicts.schema_of(case, with_transcript=whole)
            self._cases[case.id] = schema, transcript_of(case) if whole else None
        return self._cases[case.id]

    def _not_asked(self, case: Case) -> CaseScore:
        failed = JudgeFailed(NOT_ASKED, f"the run stopped: {self.stopped}")
        return CaseScore(case.id, case.category, self._judge.name, failed)


def _dimensions(judgement: Judgement | None, case: Case) -> tuple[Met, ...]:
    """Return what was met of each dimension; of an answer that says nothing, nothing."""
    met = {ruling.id for ruling in judgement.rulings if ruling.verdict == "met"} if judgement else ()
    totals: dict[str, list[float]] = {}
    for criterion in case.criteria:
        if criterion.dimension is None:
            continue
        held = totals.setdefault(criterion.dimension, [0.0, 0.0, 0])
        held[0] += criterion.weight if criterion.id in met else 0.0
        held[1] += criterion.weight
        held[2] += 1
    return tuple(Met(name, held, weight, int(count)) for name, (held, weight, count) in totals.items())


def too_many(errors: int, asked: int, limit: float | None) -> bool:
    """Say whether the share of errors exceeds a limit, whatever a float makes of 0.29 × 100."""
    return limit is not None and errors > limit * asked + 1e-9


def _repeat(judgement: Judgement, case: Case) -> Repeat:
    reward, vetoes = verdicts.reward_of(judgement, case)
    return Repeat(reward, bool(vetoes))


def _first(errors: BaseExceptionGroup[Any]) -> BaseException:
    """Return the error that stopped a run: an endpoint's before any other."""
    flat: list[BaseException] = []
    open_groups: list[BaseException] = [errors]
    while open_groups:
        error = open_groups.pop(0)
        if isinstance(error, BaseExceptionGroup):
            open_groups.extend(error.exceptions)
        else:
            flat.append(error)
    return next((error for error in flat if isinstance(error, EndpointError)), flat[0])
