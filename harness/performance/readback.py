"""Marked texts looked up again: whole, torn or lost."""

from __future__ import annotations

import asyncio
import re
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence

from harness.adapters.protocol import AgentFailure
from harness.performance.found import ReadBack
from harness.performance.plan import Deadline
from harness.performance.subject import Store
from harness.performance.workload import Marked

_MARK = re.compile(r"\b[bcdfghjkmnpqrstvwxz]{4}\d{6,}[az]\b")
_PAUSE_S = 0.1
_LIMIT = 10


async def read_back(
    store: Store, written: Sequence[Marked], settle_s: float, deadline: Deadline
) -> ReadBack | None:
    """Look marked texts up, again and again until all are there or `settle_s` is over.

    A system that can list is asked for its list; of another each text is recalled by its own words.

    Returns:
        None where it can neither list nor recall, or fails at it.
    """
    end = time.monotonic() + settle_s
    found: ReadBack | None = None
    while True:
        try:
            now = await _looked_up(store, written, deadline)
        except AgentFailure:
            return found
        if now is None or now.whole == now.written:
            return now
        found = now
        if time.monotonic() >= end or deadline.passed or store.ended:
            return found
        await asyncio.sleep(_PAUSE_S)


def judged(how: str, written: Iterable[Marked], texts: Iterable[str]) -> ReadBack:
    """Tell which of the texts written are among others, whole or in part.

    White space is not compared, and what a system puts around a text does not matter.
    """
    by_mark: dict[str, list[str]] = defaultdict(list)
    for text in texts:
        plain = " ".join(text.split())
        for mark in set(_MARK.findall(plain)):
            by_mark[mark].append(plain)
    found = ReadBack(how)
    torn: list[str] = []
    lost: list[str] = []
    for one in written:
        sought = " ".join(one.text.split())
        whole = sum(sought in text for text in by_mark.get(one.head, ()))
        found.whole += bool(whole)
        found.doubled += whole > 1
        if not whole:
            (torn if one.head in by_mark or one.tail in by_mark else lost).append(one.head)
    found.torn, found.lost = tuple(torn), tuple(lost)
    return found


async def _looked_up(store: Store, written: Sequence[Marked], deadline: Deadline) -> ReadBack | None:
    subject = store.subject
    if subject.can("list"):
        listed = await store.everything(deadline.within(subject.timeout))
        return judged("list", written, (memory.text for memory in listed))
    if not subject.can("recall"):
        return None
    texts: dict[str, None] = {}
    for one in written:
        await asyncio.sleep(0)
        recalled = await store.search(one.text, _LIMIT, deadline.within(subject.timeout))
        texts.update(dict.fromkeys(memory.text for memory in recalled))
    # What is recalled for one text may be recalled for the next; the same text twice is no double here.
    return judged("recall", written, texts)
