from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from harness.adapters.connectors import command
from harness.adapters.connectors.command import CommandOptions, CommandSystem
from harness.adapters.protocol import AgentFailure, Question, Space
from harness.errors import InputError
from harness.llm.models import Models, ModelSettings
from harness.suite import Conversation, Message

DOC = Path(__file__).parents[3] / "docs" / "connect-command.md"
NIGHT = datetime(2025, 3, 4, 10, 15, tzinfo=UTC)
TALK = Conversation(
    "conv_001",
    NIGHT,
    {"business": "Harbor"},
    (Message("user", 'my tea is "oolong" 東京'), Message("assistant", "noted")),
)
ASKED = Question("what is my tea", NIGHT)
READY = 'print(\'{"ready": true, "capabilities": ["recall", "answer"]}\', flush=True)\n'
HEAD = "import json, sys, time, os, subprocess\n"
LOOP = HEAD + READY + "for line in sys.stdin:\n    r = json.loads(line)\n    i = r['id']\n    op = r['op']\n"
OK = "    print(json.dumps({'id': i}), flush=True)\n"


def example(language: str) -> str:
    blocks: list[str] = re.findall(rf"```{language}\n(.*?)```", DOC.read_text(encoding="utf-8"), re.DOTALL)
    [block] = blocks
    return block


def using(options: CommandOptions, work: Callable[[Any], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        agent: Any = await CommandSystem(options).open(
            Space("0" * 32, Path("/nowhere"), Models(ModelSettings(), {}))
        )
        try:
            return await work(agent)
        finally:
            await agent.close()

    return asyncio.run(run())


async def remembered(agent: Any) -> Any:
    await agent.ingest(TALK)
    return await agent.recall(ASKED, 1)


async def remembered_all(agent: Any) -> Any:
    return await agent.recall(ASKED, 1000)


def program(tmp_path: Path, code: str, **options: Any) -> CommandOptions:
    path = tmp_path / "memory.py"
    path.write_text(code, encoding="utf-8")
    return CommandOptions(run=(sys.executable, str(path)), **options)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(path: Path) -> bool:
    """Whether the processes whose ids a program left in a file are gone; a killed one takes a moment."""
    ids = [int(word) for word in path.read_text().split()]
    assert len(ids) == 2
    end = time.monotonic() + 5
    while any(map(alive, ids)) and time.monotonic() < end:
        time.sleep(0.01)
    return not any(map(alive, ids))


def test_the_python_example_works(tmp_path: Path) -> None:
    found = using(program(tmp_path, example("python")), remembered)
    assert found == [
        {"text": TALK.messages[0].text, "created_at": NIGHT.isoformat(), "source_refs": ["conv_001#1"]}
    ]


def test_the_node_example_works(tmp_path: Path) -> None:
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    (tmp_path / "notes.js").write_text(example("js"), encoding="utf-8")
    found = using(CommandOptions(run="node notes.js", folder=str(tmp_path)), remembered)  # type: ignore[arg-type]
    assert found == [TALK.messages[0].text]


def test_an_answer_and_the_whole_request(tmp_path: Path) -> None:
    code = (
        LOOP
        + "    seen = dict(r, env=os.environ['FOO'])\n"
        + ("    print(json.dumps({'id': i, 'answer': json.dumps(seen), 'tokens': 3}), flush=True)\n")
    )
    options = program(tmp_path, code, offers=("answer",), env={"FOO": "bar"})
    found = using(options, lambda agent: agent.answer(ASKED))
    assert found["tokens"] == 3
    assert '"env": "bar"' in found["answer"]
    assert '"question": "what is my tea"' in found["answer"]
    assert CommandSystem(options).capabilities == {"answer"}


def test_an_error_that_is_reported_leaves_the_program_running(tmp_path: Path) -> None:
    code = (
        LOOP
        + "    print(json.dumps({'id': i, 'error': 'no\\nroom'} if op == 'ingest' else {'id': i, 'memories': ['x']}), flush=True)\n"
    )

    async def work(agent: Any) -> Any:
        with pytest.raises(AgentFailure, match="raised: no room"):
            await agent.ingest(TALK)
        return await agent.recall(ASKED, 5)

    assert using(program(tmp_path, code), work) == ["x"]


FAULTS = {
    "says nothing": (HEAD, "crashed", "ended with status 0 before it replied"),
    "raises": ("raise SystemExit('out of ' + 'cheese')", "crashed", "ended with status 1 before it replied; it said: out of cheese"),
    "dies in ingest": (LOOP + "    if op == 'ingest': sys.stderr.write('a\\nlast words\\n'); sys.exit(7)\n" + OK, "crashed", "ended with status 7 before it replied; it said: a | last words"),
    "killed": (LOOP + "    if op == 'ingest': os.kill(os.getpid(), 9)\n" + OK, "crashed", "killed by signal 9"),
    "stray line": (LOOP + "    print('hello there', flush=True)\n", "bad_value", "no JSON object: 'hello there'"),
    "list": (LOOP + "    print('[1]', flush=True)\n", "bad_value", "no JSON object: '[1]'"),
    "wrong id": (LOOP + "    print(json.dumps({'id': 99}), flush=True)\n", "bad_value", "has the id 99; expected 1"),
    "no memories": (LOOP + OK, "bad_value", "the reply to recall lacks 'memories'; it has id"),
    "no hello": ("print('{\"hi\": 1}')", "bad_value", 'began with {"hi": 1}; expected'),
    "offers other": ("print('{\"ready\": true, \"capabilities\": [\"answer\"]}')", "bad_value", "offers answer, and not recall"),
    "long line": (LOOP + "    print('x' * (17 << 20), flush=True)\n", "oversized", "longer than 16 MB"),
}  # fmt: skip


@pytest.mark.parametrize(("code", "kind", "said"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_told_with_the_last_words(tmp_path: Path, code: str, kind: str, said: str) -> None:
    with pytest.raises(AgentFailure) as caught:
        using(program(tmp_path, code), remembered)
    assert caught.value.kind == kind
    assert said in caught.value.message


def test_much_on_stderr_blocks_nothing(tmp_path: Path) -> None:
    code = (
        LOOP
        + "    sys.stderr.write('noise ' * 200000)\n    print(json.dumps({'id': i, 'memories': []}), flush=True)\n"
    )
    assert using(program(tmp_path, code), remembered) == []


def test_a_program_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(AgentFailure, match="not_installed: no-such-program-here: no such program"):
        using(CommandOptions(run="no-such-program-here x"), remembered)  # type: ignore[arg-type]
    with pytest.raises(AgentFailure, match="no such folder"):
        using(CommandOptions(run="true", folder=str(tmp_path / "none")), remembered)  # type: ignore[arg-type]


CHILD = (
    "    if op == 'open':\n"
    "        child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
    "        open('pids', 'w').write(f'{os.getpid()} {child.pid}')\n"
)


def test_closing_ends_the_program_and_its_children(tmp_path: Path) -> None:
    code = LOOP + CHILD + "    print(json.dumps({'id': i, 'memories': []}), flush=True)\n"
    assert using(program(tmp_path, code, folder=str(tmp_path)), remembered) == []
    assert gone(tmp_path / "pids")


@pytest.mark.parametrize("own_session", [False, True])
def test_a_child_that_is_left_behind_keeps_nobody_waiting(tmp_path: Path, own_session: bool) -> None:
    child = CHILD.replace("time.sleep(60)'])", f"time.sleep(60)'], start_new_session={own_session})")
    code = LOOP + child + "    print(json.dumps({'id': i, 'memories': []}), flush=True)\n"
    began = time.monotonic()
    try:
        assert using(program(tmp_path, code, folder=str(tmp_path)), remembered) == []
        assert time.monotonic() - began < command._GOODBYE_S - 1
    finally:
        left = int((tmp_path / "pids").read_text().split()[1])
        with contextlib.suppress(ProcessLookupError):
            os.kill(left, signal.SIGKILL)
    assert gone(tmp_path / "pids")


def test_a_program_that_ends_and_leaves_a_child_has_crashed(tmp_path: Path) -> None:
    code = LOOP + CHILD + "    if op == 'recall': os._exit(3)\n" + OK
    with pytest.raises(AgentFailure, match="ended with status 3 before it replied") as caught:
        using(program(tmp_path, code, folder=str(tmp_path)), remembered)
    assert caught.value.kind == "crashed"
    assert gone(tmp_path / "pids")


def test_a_program_is_told_neither_suite_nor_gold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECALLBENCH_GOLD", "gold.json")
    monkeypatch.setenv("MY_KEY", "mine")
    code = LOOP + "    print(json.dumps({'id': i, 'memories': sorted(os.environ)}), flush=True)\n"
    told = using(program(tmp_path, code, env={"RECALLBENCH_OF_MINE": "x"}), remembered_all)
    assert [name for name in told if name.startswith("RECALLBENCH_")] == ["RECALLBENCH_OF_MINE"]
    assert "MY_KEY" in told


def test_cancelling_ends_the_program_and_its_children(tmp_path: Path) -> None:
    code = LOOP + CHILD + "    if op == 'ingest': time.sleep(60)\n" + OK

    async def work(agent: Any) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await agent.ingest(TALK)
        assert gone(tmp_path / "pids")
        with pytest.raises(AgentFailure, match="was ended after an earlier failure"):
            await agent.recall(ASKED, 1)

    using(program(tmp_path, code, folder=str(tmp_path)), work)


def test_cancelling_while_it_opens_ends_it(tmp_path: Path) -> None:
    code = LOOP + CHILD + "    time.sleep(60)\n"

    async def run() -> None:
        system = CommandSystem(program(tmp_path, code, folder=str(tmp_path)))
        opening = asyncio.create_task(system.open(Space("0" * 32, tmp_path, Models(ModelSettings(), {}))))
        while not (tmp_path / "pids").exists() or len((tmp_path / "pids").read_text().split()) < 2:
            await asyncio.sleep(0.01)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(run())
    assert gone(tmp_path / "pids")


def test_a_program_that_will_not_end_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "_GOODBYE_S", 0.1)
    code = (
        LOOP
        + CHILD
        + "    if op == 'close': time.sleep(60)\n    print(json.dumps({'id': i, 'memories': []}), flush=True)\n"
    )
    using(program(tmp_path, code, folder=str(tmp_path)), remembered)
    assert gone(tmp_path / "pids")


def test_a_program_that_is_edited_during_a_run_stops_it(tmp_path: Path) -> None:
    file = tmp_path / "notes.py"
    file.write_text(example("python"), encoding="utf-8")
    system = CommandSystem(CommandOptions(run=(sys.executable, "notes.py"), folder=str(tmp_path)))
    version = system.version()

    async def opened() -> None:
        agent = await system.open(Space("0" * 32, Path("/nowhere"), Models(ModelSettings(), {})))
        await agent.close()

    asyncio.run(opened())
    file.touch()
    asyncio.run(opened())
    with file.open("a") as more:
        more.write("# edited\n")
    with pytest.raises(InputError, match=r"notes\.py has changed since the run began"):
        asyncio.run(opened())
    assert system.version() == version, "the manifest names what the run began with"
