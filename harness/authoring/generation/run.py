"""A run of generation: items side by side, checked, mended, admitted in their order, or rejected.

- Items are written in parallel and admitted one after the other, so that which of two that share a name is
  the later one does not depend on timing.
- Only what passed every check is written to the output folder. A rejected item goes to another, with its
  reasons.
- The journal says what is finished; with the cassette, a run that was killed goes on where it was.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from harness.authoring.generation.journal import Journal, write_whole
from harness.authoring.generation.makers import Maker, maker_for
from harness.authoring.generation.wish import Wish, spice
from harness.authoring.generation.writing import FILES, Author
from harness.errors import InputError, Problem
from harness.llm.client import ChatModel
from harness.llm.exchange import BudgetSpent, Unanswered
from harness.llm.templates import Templates

DEFAULT_REPAIRS = 2


@dataclass(frozen=True, slots=True)
class Finished:
    """What became of one item.

    Attributes:
        number: which one, from 1.
        name: what it is called; "" where it never got a name.
        reasons: why it was rejected; none where it was accepted.
        repairs: how often it was mended.
        earlier: whether an earlier run finished it.
    """

    number: int
    name: str
    reasons: tuple[str, ...]
    repairs: int
    earlier: bool = False

    @property
    def accepted(self) -> bool:
        """Whether it is in the output."""
        return not self.reasons


@dataclass(frozen=True, slots=True)
class Result:
    """What a run did.

    Attributes:
        finished: every finished item, earlier ones included, in order.
        stopped: why it ended before all were finished, or None.
    """

    finished: tuple[Finished, ...]
    stopped: str | None

    @property
    def accepted(self) -> int:
        """Items in the output."""
        return sum(one.accepted for one in self.finished)

    @property
    def rejected(self) -> int:
        """Items that were given up."""
        return len(self.finished) - self.accepted


def unfinished(
    wish: Wish, count: int, model: str, folder: Path, *, retry_unanswered: bool = False
) -> list[int]:
    """Return the numbers of the items that no earlier run has finished; see `generate`."""
    journal = Journal(folder, wish.fingerprint(model, Templates(*FILES).hashes))
    if retry_unanswered:
        journal.forget_unanswered()
    return [number for number in range(1, count + 1) if number not in journal.finished]


async def generate(
    wish: Wish,
    count: int,
    chat: ChatModel,
    folder: Path,
    rejects: Path,
    *,
    repairs: int = DEFAULT_REPAIRS,
    retry_unanswered: bool = False,
    note: Callable[[Finished], None] | None = None,
) -> Result:
    """Write items until there are so many, finished ones of earlier runs included.

    Args:
        wish: what they are to be like.
        count: how many are tried; some of them may be rejected.
        chat: the model.
        folder: the output: a suite for cases, a recall data set for clusters.
        rejects: where rejected items go.
        repairs: how often an item is sent back before it is rejected.
        retry_unanswered: try those again that were rejected because no usable reply came; the model has to
            be one that asks again where the cassette holds an error.
        note: called when an item is finished.

    Raises:
        EndpointError: when the run has to stop.
        SuiteError: when the output folder holds a broken case.
        InputError: when something can't be written, or the output folder holds the other kind.
    """
    if rejects.resolve().is_relative_to(folder.resolve()):
        raise InputError(f"--rejects {rejects}: lies in the output folder, which holds sound items only.")
    author = Author(chat)
    maker = maker_for(wish, author, folder)
    hashes = author.templates.hashes
    journal = Journal(folder, wish.fingerprint(chat.endpoint.model, hashes))
    if retry_unanswered:
        journal.forget_unanswered()
    if journal.begun is None:
        told = {"base": maker.taken(), "model": chat.endpoint.label, "asked": asdict(wish), "prompts": hashes}
        journal.begin(told)
    assert journal.begun is not None
    maker.begin(int(journal.begun["base"]))
    waiting = [number for number in range(1, count + 1) if number not in journal.finished]
    if taken := next((name for name in map(maker.place, waiting) if name in journal.of_others), ""):
        raise InputError(
            f"{folder}: {taken} was written to another wish since. Go on in a folder of its own with --into."
        )
    run = _Run(wish, maker, journal, rejects, repairs, note or (lambda finished: None))
    earlier = [
        Finished(number, line["name"], tuple(line["reasons"]), line["repairs"], earlier=True)
        for number, line in journal.finished.items()
        if number <= count
    ]
    fresh = await run.all(waiting, chat.slots.ceiling)
    done = sorted([*earlier, *fresh], key=lambda one: one.number)
    return Result(tuple(done), run.stopped if len(done) < count else None)


class _Run:
    def __init__(
        self,
        wish: Wish,
        maker: Maker[Any],
        journal: Journal,
        rejects: Path,
        repairs: int,
        note: Callable[[Finished], None],
    ) -> None:
        self._wish = wish
        self._maker = maker
        self._journal = journal
        self._rejects = rejects
        self._repairs = repairs
        self._note = note
        self._before: dict[int, asyncio.Event] = {}
        self._done: list[Finished] = []
        self.stopped: str | None = None

    async def all(self, numbers: Sequence[int], at_once: int) -> list[Finished]:
        over = {number: asyncio.Event() for number in numbers}
        first = asyncio.Event()
        first.set()
        self._before = dict(zip(numbers, [first, *over.values()], strict=False))
        waiting = iter(numbers)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(at_once, len(numbers))):
                    group.create_task(self._work(waiting, over))
        except* Exception as errors:
            raise _first(errors) from None
        return self._done

    async def _work(self, waiting: Iterator[int], over: dict[int, asyncio.Event]) -> None:
        for number in waiting:
            if self.stopped:
                return
            try:
                await self._item(number)
            except BudgetSpent as spent:
                self.stopped = str(spent)
            finally:
                over[number].set()

    async def _item(self, number: int) -> None:
        state = _State(number)
        try:
            of_item = spice(self._wish, number)
            state.item = await self._maker.write(number, of_item)
            await self._mend(state, self._maker.alone)
            await self._before[number].wait()
            if self.stopped:
                return  # one before it is unfinished, and might share a name with it
            if not state.problems:
                await self._mend(state, self._all_of)
        except Unanswered as failed:
            if not failed.error.arrived:  # the line is in trouble, and the item has done nothing wrong
                told = f"{failed.error.kind}: {failed.error.message.rstrip('.')}"
                self.stopped = self.stopped or f"no reply came ({told})"
                return
            await self._before[number].wait()
            if self.stopped:
                return
            what = f"repair {state.repairs}" if state.item is not None else "writing it"
            state.failures.append(f"{what}: no usable reply: {failed.error.kind}: {failed.error.message}")
        self._finish(state)

    def _all_of(self, item: Any, number: int) -> list[Problem]:
        return self._maker.alone(item, number) or self._maker.among(item, number)

    async def _mend(self, state: _State, check: Callable[[Any, int], list[Problem]]) -> None:
        """Mend an item until a check finds nothing, or it was mended often enough."""
        of_item = spice(self._wish, state.number)
        while True:
            state.problems = await asyncio.to_thread(check, state.item, state.number)
            if not state.problems or state.repairs >= self._repairs:
                return
            state.repairs += 1
            turn = f"Repair {state.repairs}."
            state.item = await self._maker.mend(state.item, state.number, of_item, state.problems, turn)

    def _finish(self, state: _State) -> None:
        number, item = state.number, state.item
        name = f"item_{number:03}" if item is None else self._maker.name(item, number)
        reasons = (*state.failures, *map(str, state.problems))
        if reasons:
            write_whole(self._rejects / f"{name}.reasons.txt", "\n".join(reasons) + "\n")
            if item is not None:
                write_whole(self._rejects / f"{name}{self._maker.ending}", self._maker.text(item, number))
        else:
            self._maker.accept(item, number)
        outcome = {"name": name, "repairs": state.repairs, "reasons": list(reasons)}
        self._journal.finish(number, {**outcome, "unanswered": bool(state.failures)})
        finished = Finished(number, name, reasons, state.repairs)
        self._done.append(finished)
        self._note(finished)


class _State:
    """An item under way: what it is by now, and what is wrong with it."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.item: Any = None
        self.repairs = 0
        self.problems: list[Problem] = []
        self.failures: list[str] = []


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    first = errors.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first
