"""What the conformance kit tries on an adapter, each trial through a real host."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from harness.adapters import isolation
from harness.adapters.hosts import Host, make_host
from harness.adapters.planted import SCRIPTS, says
from harness.adapters.protocol import AgentFailure
from harness.adapters.rig import Rig, Verdict, failed, fresh_name, not_applicable, ok, warned
from harness.errors import InputError

Trial = Callable[[Rig, Host], Awaitable[Verdict]]

_ODD_QUESTIONS: Mapping[str, str] = {
    "quotes": "What's the \"code\" of 'O''Brien'?",
    "search operators": 'locker AND (NOT code* OR "pool" NEAR/2 harbour) ^x : y - z + {w} col:val',
    "only punctuation": "?!*()[]{}^~\\/",
    "line breaks": "What is\nthe code\r\n\tof the locker?",
    "braces and percent signs": "{code} %s %(name)s {{ locker }} $code ${code}",
    "another script": "ロッカーの暗証番号は？ 🦉",
    "10,000 characters": "locker code " * 833,
}


async def unknown_option(rig: Rig, host: Host) -> Verdict:
    """Try an option that no adapter has."""
    wrong = rig.spec._replace(options={**rig.spec.options, "no_such_option": 1})
    other = make_host(rig.info, wrong, rig.models, rig.timeouts)
    try:
        await other.start()
    except InputError:
        return ok("an option that does not exist is refused")
    finally:
        await other.close()
    return failed(
        "the option no_such_option=1 was taken",
        'set extra="forbid" in Options, or name every keyword argument',
    )


async def scripts(rig: Rig, host: Host) -> Verdict:
    """Say something in many scripts and look whether it comes back."""
    talk, fact = rig.planter.scripts()
    async with host.session(fresh_name()) as session:
        await session.ingest(talk, rig.timeouts.ingest)
        await session.wait(rig.timeouts.wait)
        found = await rig.ask(session, fact.question)
    texts = [memory.text for memory in found if says(memory.text, fact.word)]
    if not texts:
        return ok("ingested; nothing of it was recalled, so its looks cannot be told")
    if all(any(part in text for text in texts) for part in SCRIPTS):
        return ok("comes back as it was said")
    if any("�" in text or "\\u" in text or "Ã" in text for text in texts):
        return failed(
            "characters outside ASCII are destroyed", "read and write UTF-8 everywhere; dump JSON as it is"
        )
    return warned(
        "does not come back character by character", "normalise or shorten for comparing, not for storing"
    )


async def long_message(rig: Rig, host: Host) -> Verdict:
    """Say 100,000 characters in one message."""
    talk, fact = rig.planter.long()
    async with host.session(fresh_name()) as session:
        await session.ingest(talk, rig.timeouts.ingest)
        await session.wait(rig.timeouts.wait)
        found = await rig.ask(session, fact.question)
    if fact.among(found) or not rig.recalls:
        return ok("100,000 characters in one message are taken")
    return warned("what stands at the end of a very long message is not recalled", "split long messages")


async def odd_questions(rig: Rig, host: Host) -> Verdict:
    """Ask questions that hold operators of query languages."""
    async with host.session(fresh_name()) as session:
        await rig.take(session, rig.haystack())
        for name, text in _ODD_QUESTIONS.items():
            try:
                await rig.ask(session, text)
            except AgentFailure as failure:
                return failed(
                    f"a question with {name} fails: {failure.kind}: {failure.message}",
                    "escape the question, or split it into words, before it goes into a query",
                )
    return ok(f"{len(_ODD_QUESTIONS)} kinds of them are taken")


async def store_operations(rig: Rig, host: Host) -> Verdict:
    """Add a memory, list it, delete it."""
    declared = rig.capabilities & {"add", "list", "delete"}
    if "add" not in declared:
        return not_applicable("it declares no add")
    within, text = rig.timeouts.recall, f"The ferry is called {rig.planter.word()}."
    async with host.session(fresh_name()) as session:
        identity = await session.add(text, None, within)
        kept = await session.add(f"The tram is called {rig.planter.word()}.", None, within)
        if identity == kept:
            return failed(f"two memories have the id {identity!r}", "return an id of its own for each memory")
        await session.wait(rig.timeouts.wait)
        if "list" not in declared:
            return ok("add returns an id for each memory; it declares no list")
        listed = {memory.id for memory in await session.list(within)}
        if not {identity, kept} <= listed:
            return failed("list lacks the id that add returned", "use the same ids in add, list and delete")
        if "delete" not in declared:
            return ok("what is added is listed")
        await session.delete(identity, within)
        listed = {memory.id for memory in await session.list(within)}
    if identity in listed:
        return failed("a deleted memory is still listed", "remove it before delete returns")
    if kept not in listed:
        return failed("delete removed another memory too", "delete the one id only")
    return ok("what is added is listed, and gone once deleted")


async def several_users(rig: Rig, host: Host) -> Verdict:
    """Add memories of two users."""
    if "user" not in rig.capabilities:
        return not_applicable("it declares no user")
    within = rig.timeouts.recall
    async with host.session(fresh_name()) as session:
        first = await session.add(f"My tram is called {rig.planter.word()}.", "ann", within)
        second = await session.add(f"My tram is called {rig.planter.word()}.", "ben", within)
    if first == second:
        return failed("two users' memories have one id", "return an id of its own for each memory")
    return ok("memories of two users are taken")


TRIALS: Mapping[str, Trial] = {
    "refuses unknown options": unknown_option,
    "a new agent knows nothing": isolation.fresh_after_close,
    "close leaves nothing": isolation.clean_after_close,
    "discard leaves nothing": isolation.clean_after_kill,
    "a new process knows nothing": isolation.later_process,
    "two processes at once": isolation.two_processes,
    "two agents in one process": isolation.two_agents,
    "many scripts": scripts,
    "a very long message": long_message,
    "odd questions": odd_questions,
    "add, list, delete": store_operations,
    "several users": several_users,
}
