"""A system under test may do what it likes: the case it was on fails with its cause, the next one goes on."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import harness
from harness.adapters import AgentFailure, Memory, Question, find_adapter
from harness.adapters.hosts import Host, InlineHost, Session, Timeouts, make_host
from harness.adapters.registry import AdapterInfo
from harness.errors import InputError
from harness.llm.exchange import BudgetSpent
from harness.llm.models import Models, ModelSettings
from harness.naming import parse_spec
from harness.settings import PREFIX
from harness.suite import Conversation, Message
from harness.suite.answer import Answer

pytestmark = pytest.mark.usefixtures("systems")

AMPLE = Timeouts(load=60, open=60, ingest=60, wait=60, recall=60, close=60)
TALK = Conversation(
    "conv_001",
    datetime(2025, 3, 4, 10, 15),
    {"business": "Harbor"},
    (Message("user", "So the fee is $45 now?"), Message("assistant", "Yes, it was $30 last year.")),
)
WORST_S = 60


def host_of(spec: str, timeouts: Timeouts = AMPLE) -> Host:
    parsed = parse_spec(spec, "--system")
    models = Models(ModelSettings(), os.environ)
    return make_host(find_adapter(parsed), parsed, models, timeouts)


@contextlib.asynccontextmanager
async def started(host: Host) -> Any:
    await host.start()
    try:
        yield host
    finally:
        await host.close()


async def ask(session: Session, question: str, within: float = WORST_S) -> tuple[Memory, ...]:
    return await session.recall(Question(question), 10, within)


@dataclass
class Outcome:
    """What came of a case that misbehaved, and of the next one."""

    failure: AgentFailure | None
    memories: tuple[Memory, ...]
    next: tuple[Memory, ...]


def misbehaving(
    spec: str, within: float = WORST_S, timeouts: Timeouts = AMPLE, log: Path | None = None
) -> Outcome:
    async def both() -> Outcome:
        outcome = Outcome(None, (), ())
        async with started(host_of(spec, timeouts)) as host:
            if log is not None:
                host.log_to(log)
            try:
                async with host.session(uuid.uuid4().hex) as session:
                    await session.ingest(TALK, WORST_S)
                    await session.wait(WORST_S)
                    outcome.memories = await ask(session, "misbehave", within)
            except AgentFailure as failure:
                outcome.failure = failure
            async with host.session(uuid.uuid4().hex) as session:
                await session.ingest(TALK, WORST_S)
                outcome.next = await ask(session, "behave")
        return outcome

    return asyncio.run(both())


def went_on(outcome: Outcome) -> bool:
    return [memory.text for memory in outcome.next] == [f"(Harbor) {one.text}" for one in TALK.messages]


def until(true: Callable[[], bool]) -> bool:
    end = time.monotonic() + 10
    while not true() and time.monotonic() < end:
        time.sleep(0.01)
    return true()


def gone(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
        threads = len(list(Path(f"/proc/{pid}/task").iterdir()))
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state == "Z" and threads <= 1  # the first thread may be done before the others are


@pytest.mark.parametrize("name", ["Sleeps", "Awaits", "Spins", "KeepsTheLock", "IgnoresSignals"])
def test_what_hangs_when_asked_is_a_timeout(name: str) -> None:
    outcome = misbehaving(f"hostile:{name}", within=0.5)
    assert outcome.failure is not None
    assert (outcome.failure.kind, outcome.failure.phase) == ("timeout", "recall")
    assert "0.5 s" in outcome.failure.message
    assert went_on(outcome)


@pytest.mark.parametrize(
    ("name", "phase", "timeouts"),
    [
        ("SlowToOpen", "open", Timeouts(open=0.3)),
        ("SlowToClose", "close", Timeouts(close=0.3)),
    ],
)
def test_what_hangs_when_opened_or_closed_is_a_timeout(name: str, phase: str, timeouts: Timeouts) -> None:
    async def one() -> None:
        async with started(host_of(f"hostile:{name}", timeouts)) as host, host.session(uuid.uuid4().hex):
            pass

    with pytest.raises(AgentFailure) as caught:
        asyncio.run(one())
    assert (caught.value.kind, caught.value.phase) == ("timeout", phase)


@pytest.mark.parametrize(("name", "phase"), [("SlowToIngest", "ingest"), ("NeverReady", "wait")])
def test_what_hangs_on_the_way_is_a_timeout(name: str, phase: str) -> None:
    async def one() -> None:
        async with started(host_of(f"hostile:{name}")) as host, host.session(uuid.uuid4().hex) as session:
            await session.ingest(TALK, 0.3)
            await session.wait(0.3)

    with pytest.raises(AgentFailure) as caught:
        asyncio.run(one())
    assert (caught.value.kind, caught.value.phase) == ("timeout", phase)


def test_a_late_reply_is_never_taken_for_the_next_one() -> None:
    async def one() -> list[AgentFailure]:
        failures = []
        async with started(host_of("hostile:Sleeps")) as host:
            with contextlib.suppress(AgentFailure):
                async with host.session(uuid.uuid4().hex) as session:
                    for within in (0.3, WORST_S):
                        try:
                            await ask(session, "misbehave" if within < 1 else "behave", within)
                        except AgentFailure as failure:
                            failures.append(failure)
        return failures

    assert [failure.kind for failure in asyncio.run(one())] == ["timeout", "crashed"]


SAID = {
    "error": "RuntimeError: boom bang",
    "exit": "SystemExit: 7",
    "interrupt": "KeyboardInterrupt",
    "cancelled": "CancelledError",
    "generator_exit": "GeneratorExit",
    "base": "BaseException: base",
    "group": "BaseExceptionGroup: several (1 sub-exception)",
    "timeout": "TimeoutError: my own",
    "memory": "MemoryError",
    "recursion": "RecursionError: deep",
    "unsayable": "_Unsayable: (it cannot say what)",
    "long": "ValueError: xxxx",
    "os": "OSError: [Errno 5] input/output",
}


def failures(spec: str, questions: Iterable[str], within: float = WORST_S) -> dict[str, AgentFailure]:
    """Ask each question of an agent of its own, all through one host, and see that it can go on."""

    async def one(host: Host, question: str) -> AgentFailure:
        with pytest.raises(AgentFailure) as caught:
            await failing(host, question)
        return caught.value

    async def failing(host: Host, question: str) -> None:
        async with host.session(uuid.uuid4().hex) as session:
            await session.ingest(TALK, WORST_S)
            await ask(session, question, within)

    async def every() -> dict[str, AgentFailure]:
        async with started(host_of(spec)) as host:
            found = {question: await one(host, question) for question in questions}
            async with host.session(uuid.uuid4().hex) as session:
                await session.ingest(TALK, WORST_S)
                assert len(await ask(session, "behave")) == len(TALK.messages)
        return found

    return asyncio.run(every())


def kinds_of(found: Mapping[str, AgentFailure]) -> dict[str, tuple[str, str]]:
    return {what: (failure.kind, failure.phase) for what, failure in found.items()}


def test_whatever_is_raised_is_recorded_with_its_words() -> None:
    found = failures("hostile:Raises", SAID)
    assert kinds_of(found) == dict.fromkeys(SAID, ("raised", "recall"))
    assert [what for what in SAID if not found[what].message.startswith(SAID[what])] == []
    assert all(failure.message.isprintable() for failure in found.values())
    assert max(len(failure.message) for failure in found.values()) == 600


def test_whatever_a_coroutine_raises_is_recorded() -> None:
    found = failures("hostile:RaisesLater", SAID)
    assert kinds_of(found) == dict.fromkeys(SAID, ("raised", "recall"))


def test_an_adapter_may_name_the_kind_of_its_failure() -> None:
    outcome = misbehaving("hostile:SaysHow")
    assert outcome.failure is not None
    assert (outcome.failure.kind, outcome.failure.phase) == ("unreachable", "recall")
    assert outcome.failure.message == "nothing listens on port 6333"


def kinds(table: str) -> list[str]:
    source = (Path(__file__).parent / "systems" / "hostile.py").read_text(encoding="utf-8")
    body = source.partition(f"\n{table}: dict[str, Any] = {{\n")[2].partition("\n}\n")[0]
    return [line.split('"')[1] for line in body.splitlines()]


def test_what_is_no_list_of_memories_is_a_bad_value() -> None:
    found = failures("hostile:Returns", kinds("VALUES"))
    assert kinds_of(found) == dict.fromkeys(kinds("VALUES"), ("bad_value", "recall"))


def test_megabytes_are_oversized() -> None:
    large = [kind for kind in kinds("OVERSIZED") if kind != "endless"]
    found = failures("hostile:Returns", large)
    assert kinds_of(found) == dict.fromkeys(large, ("oversized", "recall"))
    assert found["many_refs"].message == "its reply is longer than 64 MB"


def test_a_sequence_without_end_is_a_timeout() -> None:
    found = failures("hostile:Returns", ["endless"], within=0.5)
    assert kinds_of(found) == {"endless": ("timeout", "recall")}


def test_what_is_no_answer_is_a_bad_value() -> None:
    async def answer(host: Host, question: str) -> Answer:
        async with host.session(uuid.uuid4().hex) as session:
            return await session.answer(Question(question), WORST_S)

    async def every() -> dict[str, tuple[str, str]]:
        found = {}
        async with started(host_of("hostile:Answers")) as host:
            for what in kinds("ANSWERS"):
                with pytest.raises(AgentFailure) as caught:
                    await answer(host, what)
                found[what] = (caught.value.kind, caught.value.phase)
            assert await answer(host, "behave") == Answer("fine")
        return found

    assert asyncio.run(every()) == dict.fromkeys(kinds("ANSWERS"), ("bad_value", "answer"))


def test_odd_characters_come_through_as_they_are() -> None:
    outcome = misbehaving("hostile:Surrogates")
    assert [memory.text for memory in outcome.memories] == [
        "half of a pair: \ud83d",
        "null: \x00",
        "separators: \u2028 \x85 \r\n",
    ]


def test_what_is_printed_goes_to_the_log_and_nowhere_else(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log.txt"
    outcome = misbehaving("hostile:Prints", log=log)
    assert outcome.failure is None
    assert [memory.text for memory in outcome.memories] == [memory.text for memory in outcome.next]
    assert log.read_bytes().startswith(b'{"value": "forged"}\nxxx')
    assert log.stat().st_size == 1 << 20
    assert capfd.readouterr() == ("", "")


@pytest.fixture
def _typed() -> Iterator[None]:
    """Have something wait on standard input."""
    read_end, write_end = os.pipe()
    before = os.dup(0)
    os.write(write_end, b"typed by the user\n")
    os.dup2(read_end, 0)
    yield
    os.dup2(before, 0)
    for descriptor in (before, read_end, write_end):
        os.close(descriptor)


@pytest.mark.usefixtures("_typed")
def test_an_adapter_reads_nothing_from_the_terminal() -> None:
    assert [memory.text for memory in misbehaving("hostile:ReadsInput", within=20).memories] == [
        "nothing to read"
    ]


@pytest.mark.parametrize(("name", "count"), [("Threads", 3), ("ManyDaemons", 100)])
def test_threads_that_outlive_their_agent_fail_it(name: str, count: int) -> None:
    outcome = misbehaving(f"hostile:{name}")
    assert outcome.failure is not None
    assert (outcome.failure.kind, outcome.failure.phase) == ("leaked_threads", "close")
    assert outcome.failure.message.startswith(f"{count} threads run on after close")
    assert went_on(outcome)


def test_tasks_that_never_end_are_cancelled() -> None:
    outcome = misbehaving("hostile:Tasks")
    assert outcome.failure is None
    assert went_on(outcome)


@pytest.mark.parametrize("name", ["StopsTheLoop", "ExitsInATask", "CancelsEverything"])
def test_meddling_with_the_worker_fails_its_case_only(name: str) -> None:
    outcome = misbehaving(f"hostile:{name}", within=10)
    assert outcome.failure is not None
    assert outcome.failure.phase == "recall"
    assert went_on(outcome)


def test_a_worker_is_told_neither_suite_nor_gold(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RECALLBENCH_GOLD", "RECALLBENCH_SUITE", "MY_OWN_KEY"):
        monkeypatch.setenv(name, "x")
    names = [memory.text for memory in misbehaving("workers:TellsItsEnvironment").memories]
    assert "MY_OWN_KEY" in names
    assert not [name for name in names if name.startswith(PREFIX)]


def test_a_store_that_changes_its_files_is_not_lost() -> None:
    assert misbehaving("hostile:Compacts").failure is None


@pytest.mark.parametrize("name", ["LosesItsStore", "LosesASubfolder", "LosesItsFolder"])
def test_an_empty_recall_from_a_lost_store_is_no_forgetting(name: str) -> None:
    outcome = misbehaving(f"hostile:{name}")
    assert outcome.failure is not None
    assert (outcome.failure.kind, outcome.failure.phase) == ("store_lost", "recall")
    assert went_on(outcome)


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("Dies", "exit status 7): last words"),
        ("Segfaults", "signal SIGSEGV"),
        ("KillsItself", "signal SIGKILL"),
        ("Alarms", "signal SIGALRM"),
    ],
)
def test_a_process_that_ends_is_a_crash_with_its_status(name: str, how: str) -> None:
    outcome = misbehaving(f"hostile:{name}")
    assert outcome.failure is not None
    assert (outcome.failure.kind, outcome.failure.phase) == ("crashed", "recall")
    assert how in outcome.failure.message
    assert went_on(outcome)


@pytest.mark.parametrize("name", ["ClosesDescriptors", "WritesIntoTheLine", "Forks"])
def test_breaking_the_line_to_the_harness_is_a_failure(name: str) -> None:
    outcome = misbehaving(f"hostile:{name}", within=2)
    assert outcome.failure is not None
    assert outcome.failure.kind in ("crashed", "timeout")
    assert went_on(outcome)


def test_closing_the_standard_streams_harms_nobody() -> None:
    outcome = misbehaving("hostile:ClosesStreams")
    assert outcome.failure is not None
    assert outcome.failure.message == "RuntimeError: after closing"
    assert went_on(outcome)


def test_the_next_agent_starts_in_the_folder_where_the_harness_works(systems: Path) -> None:
    async def wander() -> list[str]:
        found = []
        async with started(host_of("hostile:Wanders")) as host:
            for _ in range(2):
                async with host.session(uuid.uuid4().hex) as session:
                    found += [memory.text for memory in await ask(session, "misbehave")]
        return found

    assert asyncio.run(wander()) == [str(systems), str(systems)]


def test_changing_a_conversation_changes_it_for_nobody_else() -> None:
    outcome = misbehaving("hostile:Mutates")
    assert [memory.text for memory in outcome.memories] == ["0"]
    assert len(TALK.messages) == 2
    assert TALK.metadata == {"business": "Harbor"}


@pytest.mark.parametrize("name", ["Sleeps", "Dies", "SaysHow"])
def test_nothing_is_left_of_its_folder(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert misbehaving(f"hostile:{name}", within=0.5).failure is not None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_children_are_gone_once_the_host_is_closed() -> None:
    pid = int(misbehaving("hostile:Children").memories[0].text)
    assert until(lambda: gone(pid))


def test_a_worker_that_cannot_open_an_agent_is_replaced() -> None:
    async def one() -> list[str]:
        found = []
        async with started(host_of("hostile:DiesAtOpen")) as host:
            for _ in range(2):
                with pytest.raises(AgentFailure) as caught:
                    async with host.session(uuid.uuid4().hex):
                        pass
                found.append(f"{caught.value.kind} {caught.value.phase}")
        return found

    assert asyncio.run(one()) == ["crashed open", "crashed open"]


def test_a_case_failing_leaves_the_other_open_ones_alone() -> None:
    async def one() -> tuple[Memory, ...]:
        async with started(host_of("hostile:Dies")) as host, host.session(uuid.uuid4().hex) as session:
            await session.ingest(TALK, WORST_S)
            with pytest.raises(AgentFailure):
                async with host.session(uuid.uuid4().hex) as other:
                    await ask(other, "misbehave")
            return await ask(session, "behave")

    assert len(asyncio.run(one())) == 2


def test_a_worker_is_used_again_after_a_sound_agent() -> None:
    async def one() -> set[str]:
        found = set()
        async with started(host_of("workers:TellsItsProcess")) as host:
            for _ in range(3):
                async with host.session(uuid.uuid4().hex) as session:
                    found |= {memory.text for memory in await ask(session, "pid")}
        return found

    assert len(asyncio.run(one())) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_worker_that_dies_between_two_cases_fails_neither() -> None:
    async def one() -> set[str]:
        found = set()
        async with started(host_of("workers:TellsItsProcess")) as host:
            for _ in range(2):
                async with host.session(uuid.uuid4().hex) as session:
                    (pid,) = await ask(session, "pid")
                os.kill(int(pid.text), signal.SIGKILL)
                assert until(lambda pid=pid: gone(int(pid.text)))
                found.add(pid.text)
        return found

    assert len(asyncio.run(one())) == 2


def test_the_run_stops_at_what_has_to_stop_it() -> None:
    async def one(what: str) -> None:
        async with started(host_of("workers:Stops")) as host, host.session(uuid.uuid4().hex) as session:
            await ask(session, what)

    with pytest.raises(BudgetSpent, match="enough"):
        asyncio.run(one("budget"))
    with pytest.raises(harness.HarnessError, match="refused"):
        asyncio.run(one("endpoint"))


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("workers:DiesWhenImported.X", "cannot load"),
        ("nowhere:X", "No module named 'nowhere'"),
        ("hostile:Nobody", "has no attribute 'Nobody'"),
        ("hostile:VALUES", "is no adapter"),
        ("workers:Needs", "where: Field required. Its options: where, most"),
        ("hostile:Sleeps(wrong=1)", "wrong: Extra inputs are not permitted"),
        ("workers:FailsToLoad", "cannot be loaded: RuntimeError: no server"),
        ("dies_at_import:X", "cannot be loaded: its process ended (exit status 9)"),
        ("exits_at_import:X", "cannot load exits_at_import:X: SystemExit: no display"),
    ],
)
def test_what_cannot_be_loaded_is_the_users_to_mend(spec: str, said: str) -> None:
    async def one() -> None:
        async with started(host_of(spec)):
            pass

    with pytest.raises(InputError) as caught:
        asyncio.run(one())
    assert said in str(caught.value)


def test_inline_what_cannot_be_loaded_is_the_users_to_mend() -> None:
    host = inline("workers:FailsToLoad")
    with pytest.raises(InputError, match="cannot be loaded: RuntimeError: no server"):
        asyncio.run(host.start())


def inline(spec: str, timeouts: Timeouts = AMPLE) -> Host:
    """Run an adapter in this process, as the harness does with its own."""
    parsed = parse_spec(spec, "--system")
    info = AdapterInfo(spec, parsed.name, "own", "", isolation="inline")
    return InlineHost(info, parsed, Models(ModelSettings(), os.environ), timeouts)


@pytest.fixture
def _systems_importable(systems: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(systems)
    yield
    for name in ("hostile", "good", "workers"):
        sys.modules.pop(name, None)


@pytest.mark.usefixtures("_systems_importable")
class TestInline:
    def one(self, spec: str, question: str = "misbehave", within: float = WORST_S) -> AgentFailure:
        async def both() -> AgentFailure:
            async with started(inline(spec)) as host:
                with pytest.raises(AgentFailure) as caught:
                    await self.misbehaving(host, question, within)
                async with host.session(uuid.uuid4().hex) as session:
                    await session.ingest(TALK, WORST_S)
                    assert len(await ask(session, "behave")) == 2
            return caught.value

        return asyncio.run(both())

    async def misbehaving(self, host: Host, question: str, within: float) -> None:
        async with host.session(uuid.uuid4().hex) as session:
            await session.ingest(TALK, WORST_S)
            await ask(session, question, within)

    def test_what_hangs_is_cancelled(self) -> None:
        failure = self.one("hostile:Awaits", within=0.1)
        assert (failure.kind, failure.phase) == ("timeout", "recall")

    def test_what_raises_is_recorded(self) -> None:
        failure = self.one("hostile:Raises", "error")
        assert (failure.kind, failure.phase) == ("raised", "recall")

    def test_its_own_timeout_is_not_ours(self) -> None:
        assert self.one("hostile:Raises", "timeout").kind == "raised"

    @pytest.mark.parametrize("what", ["none", "nan", "broken", "unnamed_type"])
    def test_what_is_no_list_of_memories_is_a_bad_value(self, what: str) -> None:
        failure = self.one("hostile:Returns", what)
        assert (failure.kind, failure.phase) == ("bad_value", "recall")

    def test_a_lost_store_is_noticed(self) -> None:
        assert self.one("hostile:LosesItsStore").kind == "store_lost"


PARENT = """
import asyncio, os, sys, uuid
from pathlib import Path
from harness.adapters import Question, find_adapter
from harness.adapters.hosts import Timeouts, make_host
from harness.llm.models import Models, ModelSettings
from harness.naming import parse_spec

async def main():
    spec = parse_spec(sys.argv[1], "--system")
    host = make_host(find_adapter(spec), spec, Models(ModelSettings(), os.environ), Timeouts())
    await host.start()
    async with host.session(uuid.uuid4().hex) as session:
        child = await session.recall(Question("child"), 1, 60)
        print(*(memory.text for memory in child), flush=True)
        await session.recall(Question(sys.argv[2]), 1, 600)

asyncio.run(main())
"""


@pytest.fixture
def busy(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """A harness in a process of its own whose worker, with a child, is stuck; and their process ids."""
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, "workers:Family", request.param],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "BUSY_FILE": str(tmp_path / "busy")},
    )
    try:
        assert parent.stdout is not None
        pids = [int(text) for text in parent.stdout.readline().split()]
        assert len(pids) == 2
        assert until((tmp_path / "busy").exists)
        assert not any(gone(pid) for pid in pids)
        yield parent, pids
    finally:
        parent.kill()
        parent.wait()
        parent.stdout.close()
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("busy", ["sleep", "spin", "lock"], indirect=True)
def test_workers_end_when_the_harness_is_killed(busy: tuple[subprocess.Popen[str], list[int]]) -> None:
    parent, pids = busy
    parent.kill()
    parent.wait()
    assert until(lambda: all(gone(pid) for pid in pids))


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("busy", ["sleep"], indirect=True)
def test_ctrl_c_reaches_the_harness_and_not_the_worker(busy: tuple[subprocess.Popen[str], list[int]]) -> None:
    parent, pids = busy
    assert all(os.getsid(pid) == pids[0] for pid in pids)
    assert os.getsid(parent.pid) != pids[0]
    parent.send_signal(signal.SIGINT)
    parent.wait(timeout=30)
    assert until(lambda: all(gone(pid) for pid in pids))


def test_an_adapter_finds_nothing_of_the_case_in_its_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPY_FILE", str(tmp_path / "seen.txt"))
    case = next(case for case in harness.load_suite() if case.category == "layer2")

    async def one() -> None:
        async with started(host_of("hostile:Spies")) as host, host.session(uuid.uuid4().hex) as session:
            for conversation in case.conversations():
                await session.ingest(conversation, WORST_S)
            await ask(session, case.question)

    asyncio.run(one())
    seen = (tmp_path / "seen.txt").read_text(encoding="utf-8")
    assert case.question in seen
    assert case.conversations()[0].messages[0].text in seen
    secrets = [
        case.id,
        case.title,
        case.description,
        case.expected_behavior,
        str(case.path),
        *(criterion.text for criterion in case.criteria),
        *(reason for fact in case.gold.forbidden if (reason := fact.why)),
    ]
    assert [secret for secret in secrets if secret in seen] == []
