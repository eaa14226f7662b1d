"""How one judge is asked about one answer: everything at once, or one criterion a call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from harness.llm.client import ChatModel
from harness.llm.exchange import Answered, ChatRequest, Unanswered, settled
from harness.llm.schema import ReplySchema
from harness.llm.usage import Spent
from harness.scoring.judge import verdicts
from harness.scoring.judge.prompts import JudgePrompts, Message
from harness.scoring.judge.quotes import Said
from harness.scoring.judge.verdicts import Judgement
from harness.suite import Case
from harness.suite.models import Criterion


@dataclass(frozen=True, slots=True)
class Asking:
    """One answer put to one judge."""

    model: ChatModel
    templates: JudgePrompts
    parameters: Mapping[str, Any]
    case: Case
    text: str
    said: Said
    schema: ReplySchema
    transcript: str | None

    async def at_once(self, repeat: int) -> Answered:
        """Ask about every criterion in one call; the value is a `Judgement`.

        Raises:
            Unanswered: when no usable reply came.
        """
        messages = self.templates.messages(self.case, self.text, self.transcript)
        return await self._ask(
            messages, self.schema, repeat, lambda value: verdicts.read_judgement(value, self.case, self.said)
        )

    async def one_by_one(self, repeat: int) -> Answered:
        """Ask about each criterion and each forbidden value in a call of its own.

        Raises:
            Unanswered: when one of them got no usable reply; its use covers all of them.
        """
        criteria, wrong = self.case.criteria, self.case.gold.forbidden
        replies: list[Answered | Unanswered] = await settled(
            [
                *(partial(self._criterion, criterion, repeat) for criterion in criteria),
                *(partial(self._wrong_value, at, repeat) for at in range(len(wrong))),
            ]
        )
        served = replies[0].served
        spent = Spent()
        for reply in replies:
            spent = spent.plus(reply.served.spent)
        served = served._replace(spent=spent, asked=sum(reply.served.asked for reply in replies))
        failed = next((reply for reply in replies if isinstance(reply, Unanswered)), None)
        if failed is not None:
            raise Unanswered(failed.error, served)
        values = [reply.value for reply in replies if isinstance(reply, Answered)]
        judgement = verdicts.read_judgement(
            {
                "criteria": {item.id: value for item, value in zip(criteria, values, strict=False)},
                "wrong_values": {
                    fact.id: value for fact, value in zip(wrong, values[len(criteria) :], strict=True)
                },
            },
            self.case,
            self.said,
        )
        flags = tuple(dict.fromkeys(flag for r in replies if isinstance(r, Answered) for flag in r.flags))
        return Answered(judgement, flags, served)

    async def _criterion(self, criterion: Criterion, repeat: int) -> Answered | Unanswered:
        messages = self.templates.messages_for_one(self.case, self.text, criterion=criterion)
        return await self._either(
            messages,
            verdicts.RULING,
            repeat,
            lambda value: verdicts.check_ruling(value, criterion, self.said),
        )

    async def _wrong_value(self, at: int, repeat: int) -> Answered | Unanswered:
        fact = self.case.gold.forbidden[at]
        messages = self.templates.messages_for_one(self.case, self.text, wrong=fact)
        return await self._either(
            messages, verdicts.RULING, repeat, lambda value: verdicts.check_stated(value, fact, self.said)
        )

    async def _either(
        self,
        messages: tuple[Message, ...],
        schema: ReplySchema,
        repeat: int,
        read: Callable[[Mapping[str, Any]], Any],
    ) -> Answered | Unanswered:
        try:
            return await self._ask(messages, schema, repeat, read)
        except Unanswered as failed:
            return failed

    async def _ask(
        self,
        messages: tuple[Message, ...],
        schema: ReplySchema,
        repeat: int,
        read: Callable[[Mapping[str, Any]], Judgement | Mapping[str, Any]],
    ) -> Answered:
        return await self.model.ask(
            ChatRequest(messages, schema, self.parameters, repeat, self.case.id), read
        )
