"""Trials of the conformance kit that look for memories that get from one agent into another.

A shared store hides in different places: in the class or module of one process, in a file or
server that all processes use, or in what `close` forgets.
"""

from __future__ import annotations

from harness.adapters.hosts import Host, Session, make_host
from harness.adapters.planted import Haystack, says
from harness.adapters.protocol import Memory
from harness.adapters.rig import Rig, Verdict, failed, fresh_name, not_applicable, ok
from harness.adapters.twins import twins_of


async def fresh_after_close(rig: Rig, host: Host) -> Verdict:
    """Open an agent in the same process after another was closed."""
    before = rig.haystack()
    async with host.session(fresh_name()) as session:
        await rig.take(session, before)
    async with host.session(fresh_name()) as session:
        leaked = await rig.leaks(session, tuple(rig.told), before.questions)
        found = await rig.ask(session, "What do you remember?")
        if not leaked:
            earlier, own = tuple(rig.told), rig.haystack()
            await rig.take(session, own)
            leaked = await rig.leaks(session, earlier, (*before.questions, *own.questions))
    if leaked:
        return failed(
            f"a new agent knows {leaked!r}, which only an earlier one was told",
            "keep what is stored in the agent (self), in space.folder, or under space.namespace; "
            "not in the class or the module",
        )
    if "recall" in rig.capabilities and found:
        return failed(
            f"{len(found)} memories recalled when nothing was ingested, the first: {found[0].text[:80]!r}",
            "return an empty list when nothing is stored",
        )
    return _clean(rig, "it recalls nothing that earlier ones were told")


async def clean_after_close(rig: Rig, host: Host) -> Verdict:
    """Open an agent in the namespace of a closed one."""
    before, namespace = rig.haystack(), fresh_name()
    async with host.session(namespace) as session:
        await rig.take(session, before)
    async with host.session(namespace) as session:
        leaked = await rig.leaks(session, before.words, before.questions)
    if leaked:
        return failed(
            f"{leaked!r} is still stored under the namespace after close",
            "remove in close() what the agent stored under space.namespace",
        )
    return _clean(rig, "nothing of it is left under its namespace")


async def clean_after_kill(rig: Rig, host: Host) -> Verdict:
    """Discard what an agent left that was killed before close."""
    if rig.info.isolation == "inline":
        return not_applicable("it runs in the harness's own process and is never killed")
    if "discard" not in rig.capabilities:
        return not_applicable("it declares no discard")
    before, namespace = rig.haystack(), fresh_name()
    try:
        async with host.session(namespace) as session:
            await rig.take(session, before)
            raise _Killed
    except _Killed:
        await host.discard(namespace)
    async with host.session(namespace) as session:
        leaked = await rig.leaks(session, before.words, before.questions)
    if leaked:
        return failed(
            f"{leaked!r} is still stored after discard",
            "remove in discard(namespace) what was stored under it, from another process too",
        )
    return _clean(rig, "what a killed agent left is removed")


class _Killed(Exception):
    """Leaves a session so that its worker is killed."""


async def later_process(rig: Rig, host: Host) -> Verdict:
    """Open an agent in a process that started after others stored and closed."""
    before = rig.haystack()
    async with host.session(fresh_name()) as session:
        await rig.take(session, before)
    other = rig.host()
    await other.start()
    try:
        async with other.session(fresh_name()) as session:
            leaked = await rig.leaks(session, tuple(rig.told), before.questions)
    finally:
        await other.close()
    if leaked:
        return failed(
            f"a new process knows {leaked!r}, which only an earlier one was told",
            "store under space.folder or space.namespace, not in a file or server that all share",
        )
    return _clean(rig, "what others stored is not found")


async def two_processes(rig: Rig, host: Host) -> Verdict:
    """Fill two agents in turn, each in a process of its own."""
    one, two = rig.haystack(), rig.haystack()
    async with host.session(fresh_name()) as first:
        await first.ingest(one.conversations[0], rig.timeouts.ingest)
        async with host.session(fresh_name()) as second:
            for number in range(len(two.conversations)):
                await second.ingest(two.conversations[number], rig.timeouts.ingest)
                if number + 1 < len(one.conversations):
                    await first.ingest(one.conversations[number + 1], rig.timeouts.ingest)
            await first.wait(rig.timeouts.wait)
            await second.wait(rig.timeouts.wait)
            return await _apart(
                rig,
                (one, first),
                (two, second),
                "use space.folder or space.namespace for every file, table, collection or user that is stored in",
            )


async def two_agents(rig: Rig, host: Host) -> Verdict:
    """Fill two agents in turn that are open in one process."""
    one, two = rig.haystack(), rig.haystack()
    pair = make_host(*twins_of(rig.info, rig.spec), rig.models, rig.timeouts)
    await pair.start()
    try:
        async with pair.session(fresh_name()) as session:
            for left, right in zip(one.conversations, two.conversations, strict=True):
                await session.ingest(left, rig.timeouts.ingest)
                await session.ingest(right, rig.timeouts.ingest)
            await session.wait(rig.timeouts.wait)
            # The calls go to the two agents in turn, and every question is asked of both.
            answers: tuple[list[Memory], list[Memory]] = ([], [])
            for question in (*one.questions, *two.questions):
                for found in answers:
                    found += await rig.ask(session, question)
    finally:
        await pair.close()
    return _told_apart(
        rig,
        (one, answers[0]),
        (two, answers[1]),
        "keep the store in the agent (self); a class attribute, a module's global or a cache is shared by all",
    )


async def _apart(
    rig: Rig, left: tuple[Haystack, Session], right: tuple[Haystack, Session], mend: str
) -> Verdict:
    seen: list[tuple[Haystack, list[Memory]]] = []
    for haystack, session in (left, right):
        found = [
            memory
            for question in (*left[0].questions, *right[0].questions)
            for memory in await rig.ask(session, question)
        ]
        if "list" in rig.capabilities:
            found += await session.list(rig.timeouts.recall)
        seen.append((haystack, found))
    return _told_apart(rig, seen[0], seen[1], mend)


def _told_apart(
    rig: Rig, one: tuple[Haystack, list[Memory]], two: tuple[Haystack, list[Memory]], mend: str
) -> Verdict:
    for (own, found), (foreign, _) in ((one, two), (two, one)):
        texts = [memory.text for memory in found]
        leaked = next((word for word in foreign.words if any(says(text, word) for text in texts)), "")
        if leaked:
            return failed(f"an agent knows {leaked!r}, which only the other was told", mend)
        if rig.recalls and not any(says(text, word) for word in own.words for text in texts):
            return failed("an agent lost what it was told while another was open", mend)
    return _clean(rig, "each knows its own and nothing of the other's")


def _clean(rig: Rig, said: str) -> Verdict:
    return ok(said) if rig.recalls else not_applicable("it recalls nothing that could get across")
