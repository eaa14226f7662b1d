"""Memory systems that misbehave, each in one way; most of them when asked, some earlier or later.

The question `behave` is answered as it should be, so that a test can see the next case succeed.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from good import Overlap

from harness.adapters import AgentFailure, Memory, Question, Space
from harness.suite import Conversation
from harness.suite.answer import Answer


class _Hostile(Overlap):
    def recall(self, question: Question, limit: int) -> Any:
        if question.text == "behave":
            return self.well(question, limit)
        return self.misbehave(question, limit)

    def well(self, question: Question, limit: int) -> Any:
        return super().recall(question, limit)

    def misbehave(self, question: Question, limit: int) -> Any:
        raise NotImplementedError


class Sleeps(_Hostile):
    def misbehave(self, question: Question, limit: int) -> Any:
        time.sleep(1000)


class Awaits(_Hostile):
    async def misbehave(self, question: Question, limit: int) -> Any:
        await asyncio.sleep(1000)


class Spins(_Hostile):
    def misbehave(self, question: Question, limit: int) -> Any:
        while True:
            pass


class KeepsTheLock(_Hostile):
    """Runs in C for ages with the interpreter's lock held, so that no other thread runs."""

    def misbehave(self, question: Question, limit: int) -> Any:
        return re.match(r"(a+)+$", "a" * 60 + "b")


class IgnoresSignals(_Hostile):
    def misbehave(self, question: Question, limit: int) -> Any:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGALRM):
            signal.signal(number, signal.SIG_IGN)
        while True:
            time.sleep(1000)


class SlowToIngest(Overlap):
    def ingest(self, conversation: Conversation) -> None:
        time.sleep(1000)


class SlowToOpen(Overlap):
    def __init__(self, space: Space) -> None:
        time.sleep(1000)


class SlowToClose(Overlap):
    def close(self) -> None:
        time.sleep(1000)


class NeverReady(Overlap):
    async def wait_until_ready(self) -> None:
        await asyncio.Event().wait()


class _Unsayable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


ERRORS: dict[str, BaseException] = {
    "error": RuntimeError("boom\nbang \ud800 \x1b[31m"),
    "exit": SystemExit(7),
    "interrupt": KeyboardInterrupt(),
    "cancelled": asyncio.CancelledError(),
    "generator_exit": GeneratorExit(),
    "base": BaseException("base"),
    "group": BaseExceptionGroup("several", [KeyboardInterrupt()]),
    "timeout": TimeoutError("my own"),
    "stop_iteration": StopIteration(1),
    "memory": MemoryError(),
    "recursion": RecursionError("deep"),
    "unsayable": _Unsayable(),
    "long": ValueError("x" * 1_000_000),
    "os": OSError(5, "input/output"),
}


class Raises(_Hostile):
    """Raises what the question names."""

    def misbehave(self, question: Question, limit: int) -> Any:
        raise ERRORS[question.text]


class RaisesLater(_Hostile):
    """Raises in a coroutine what the question names."""

    async def misbehave(self, question: Question, limit: int) -> Any:
        await asyncio.sleep(0)
        raise ERRORS[question.text]


class SaysHow(_Hostile):
    def misbehave(self, question: Question, limit: int) -> Any:
        raise AgentFailure("unreachable", "nothing listens on port 6333")


class _Endless(Sequence[str]):
    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: Any) -> Any:
        return "again"


class _Broken(Sequence[str]):
    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: Any) -> Any:
        raise RuntimeError("no items")


class _Unnamed:
    def __str__(self) -> str:
        raise RuntimeError("no name")


class _Float(float):
    def __float__(self) -> float:
        raise ValueError("no float")


VALUES: dict[str, Any] = {
    "none": lambda: None,
    "number": lambda: 42,
    "text": lambda: "a text",
    "bytes": lambda: b"bytes",
    "mapping": lambda: {"text": "x"},
    "set": lambda: {"x"},
    "generator": lambda: (text for text in ("x",)),
    "list_of_none": lambda: [None],
    "list_of_numbers": lambda: [1, 2],
    "list_of_lists": lambda: [["x"]],
    "strange_field": lambda: [{"text": "x", "reward": 1.0}],
    "no_text": lambda: [{"id": "1"}],
    "number_as_text": lambda: [{"text": 5}],
    "number_as_id": lambda: [Memory(5, "x")],  # type: ignore[arg-type]
    "bytes_as_text": lambda: [Memory("1", b"x")],  # type: ignore[arg-type]
    "nan": lambda: [Memory("1", "x", score=float("nan"))],
    "infinite": lambda: [Memory("1", "x", score=float("-inf"))],
    "text_as_score": lambda: [Memory("1", "x", score="high")],  # type: ignore[arg-type]
    "huge_score": lambda: [Memory("1", "x", score=10**400)],
    "sly_score": lambda: [Memory("1", "x", score=_Float(1))],
    "nan_importance": lambda: [Memory("1", "x", importance=float("nan"))],
    "huge_importance": lambda: [{"text": "x", "importance": 99_999}],
    "no_importance": lambda: [Memory("1", "x", importance=0.7)],
    "long_field": lambda: [{"text": "x", "y" * 80_000_000: 1}],
    "text_as_refs": lambda: [Memory("1", "x", source_refs="conv_001#1")],  # type: ignore[arg-type]
    "numbers_as_refs": lambda: [Memory("1", "x", source_refs=(1, 2))],  # type: ignore[arg-type]
    "no_time": lambda: [{"text": "x", "created_at": "yesterday"}],
    "number_as_time": lambda: [Memory("1", "x", created_at=17)],  # type: ignore[arg-type]
    "unnamed_type": lambda: [Memory("1", "x", type=_Unnamed())],  # type: ignore[arg-type]
    "broken": _Broken,
    "itself": lambda: Overlap,
}
OVERSIZED: dict[str, Any] = {
    "one_text": lambda: ["x" * 10_000_000],
    "many_texts": lambda: ["x" * 100_000] * 100,
    "endless": _Endless,
    "an_id": lambda: [Memory("x" * 10_000_000, "")],
    "refs": lambda: [Memory("1", "", source_refs=("x" * 10_000_000,))],
    "a_type": lambda: [Memory("1", "", type="x" * 30_000_000)],
    "a_longer_type": lambda: [{"text": "", "type": "x" * 80_000_000}],
    "many_refs": lambda: [Memory("1", "", source_refs=("",) * 17_500_000)],
}


class Returns(_Hostile):
    """Returns what the question names."""

    def misbehave(self, question: Question, limit: int) -> Any:
        return {**VALUES, **OVERSIZED}[question.text]()


ANSWERS: dict[str, Any] = {
    "none": None,
    "list": ["x"],
    "bytes": b"x",
    "no_answer": {"memory": []},
    "strange": {"answer": "x", "reward": 1},
    "number": {"answer": 5},
    "float_tokens": {"answer": "x", "tokens": 1.5},
    "text_memory": {"answer": "x", "memory": "y"},
    "number_memory": Answer("x", memory=(1,)),  # type: ignore[arg-type]
    "no_text": Answer(None),
}


class Answers(Overlap):
    """Answers what the question names."""

    recall = None  # type: ignore[assignment]

    def answer(self, question: Question) -> Any:
        return "fine" if question.text == "behave" else ANSWERS[question.text]


class Surrogates(_Hostile):
    def misbehave(self, question: Question, limit: int) -> Any:
        return ["half of a pair: \ud83d", "null: \x00", "separators: \u2028 \x85 \r\n"]


class Prints(_Hostile):
    """Writes megabytes to its standard streams, by Python and beneath it."""

    def misbehave(self, question: Question, limit: int) -> Any:
        print('{"value": "forged"}')
        print("x" * 3_000_000)
        sys.stderr.write("to standard error\n")
        os.write(1, b'{"value": ["forged"]}\n' * 1000)
        os.write(2, b"\xff\xfe\x00" * 1000)
        subprocess.run([sys.executable, "-c", "print('from a child')"], check=True)
        return self.well(question, limit)


class ReadsInput(_Hostile):
    def misbehave(self, question: Question, limit: int) -> Any:
        return [sys.stdin.read() or "nothing to read"]


class Threads(_Hostile):
    def misbehave(self, question: Question, limit: int) -> Any:
        for _ in range(3):
            threading.Thread(target=time.sleep, args=(1000,)).start()
        return self.well(question, limit)


class ManyDaemons(_Hostile):
    def misbehave(self, question: Question, limit: int) -> Any:
        for _ in range(100):
            threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
        return self.well(question, limit)


class Tasks(_Hostile):
    """Leaves a task running that swallows being cancelled once."""

    async def misbehave(self, question: Question, limit: int) -> Any:
        self.task = asyncio.create_task(self.spin())
        await asyncio.sleep(0)
        return self.well(question, limit)

    async def spin(self) -> None:
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            await asyncio.sleep(0)


class CancelsEverything(_Hostile):
    async def misbehave(self, question: Question, limit: int) -> Any:
        for task in asyncio.all_tasks():
            task.cancel()
        await asyncio.sleep(0)


class StopsTheLoop(_Hostile):
    async def misbehave(self, question: Question, limit: int) -> Any:
        asyncio.get_running_loop().stop()
        await asyncio.sleep(1000)


class ExitsInATask(_Hostile):
    async def misbehave(self, question: Question, limit: int) -> Any:
        async def leave() -> None:
            sys.exit(3)

        self.task = asyncio.create_task(leave())
        await asyncio.sleep(1000)


class Children(_Hostile):
    """Starts a child that outlives everything, and tells its process id."""

    def misbehave(self, question: Question, limit: int) -> Any:
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
        child.returncode = 0  # nobody is going to wait for it, and that is the point
        return [str(child.pid)]


class Forks(_Hostile):
    """Forks, and the child goes on in place of the worker."""

    def misbehave(self, question: Question, limit: int) -> Any:
        if os.fork() == 0:
            time.sleep(1000)
        os._exit(4)


class LosesItsStore(_Hostile):
    def ingest(self, conversation: Conversation) -> None:
        super().ingest(conversation)
        (self.space.folder / "store.db").write_text("everything", encoding="utf-8")

    def misbehave(self, question: Question, limit: int) -> Any:
        (self.space.folder / "store.db").unlink()
        return []


class LosesASubfolder(_Hostile):
    def ingest(self, conversation: Conversation) -> None:
        super().ingest(conversation)
        (self.space.folder / "db" / "segments").mkdir(parents=True, exist_ok=True)
        (self.space.folder / "db" / "segments" / "1").write_text("everything", encoding="utf-8")

    def misbehave(self, question: Question, limit: int) -> Any:
        (self.space.folder / "db" / "segments" / "1").unlink()
        return []


class Compacts(LosesASubfolder):
    """Does what a database does: one file takes the place of another."""

    def misbehave(self, question: Question, limit: int) -> Any:
        (self.space.folder / "db" / "segments" / "2").write_text("everything", encoding="utf-8")
        (self.space.folder / "db" / "segments" / "1").unlink()
        return []


class LosesItsFolder(_Hostile):
    def misbehave(self, question: Question, limit: int) -> Any:
        self.space.folder.rmdir()
        return []


class Dies(_Hostile):
    def misbehave(self, question: Question, limit: int) -> Any:
        print("last words", flush=True)
        os._exit(7)


class DiesAtOpen(Overlap):
    def __init__(self, space: Space) -> None:
        os._exit(8)


class Segfaults(_Hostile):
    def misbehave(self, question: Question, limit: int) -> Any:
        ctypes.string_at(0)


class KillsItself(_Hostile):
    def misbehave(self, question: Question, limit: int) -> Any:
        os.kill(os.getpid(), signal.SIGKILL)


class Alarms(_Hostile):
    def misbehave(self, question: Question, limit: int) -> Any:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        time.sleep(1000)


class ClosesDescriptors(_Hostile):
    def misbehave(self, question: Question, limit: int) -> Any:
        os.closerange(0, 100)
        return self.well(question, limit)


class ClosesStreams(_Hostile):
    def misbehave(self, question: Question, limit: int) -> Any:
        sys.stdout.close()
        sys.stderr.close()
        raise RuntimeError("after closing")


class WritesIntoTheLine(_Hostile):
    """Writes a reply of its own into every socket that it finds."""

    def misbehave(self, question: Question, limit: int) -> Any:
        for number in range(3, 50):
            try:
                if Path(f"/proc/self/fd/{number}").readlink().name.startswith("socket:"):
                    os.write(number, b"[1, 2, 3]\n{nonsense\n")
            except OSError:
                continue
        return self.well(question, limit)


class Wanders(_Hostile):
    """Changes the working directory to its own folder, which goes with it."""

    def __init__(self, space: Space) -> None:
        super().__init__(space)
        self.found = str(Path.cwd())

    def misbehave(self, question: Question, limit: int) -> Any:
        os.chdir(self.space.folder)
        return [self.found]


class Mutates(_Hostile):
    """Changes the conversation that it is given, frozen or not."""

    def ingest(self, conversation: Conversation) -> None:
        object.__setattr__(conversation, "messages", ())
        dict.update(conversation.metadata, {"business": "mine"})  # type: ignore[arg-type]
        super().ingest(conversation)

    def misbehave(self, question: Question, limit: int) -> Any:
        return [str(len(self.stored))]


class Spies(Overlap):
    """Writes every text that it can reach in its process to a file."""

    def recall(self, question: Question, limit: int) -> Any:
        texts: list[str] = [*sys.argv, *sys.orig_argv, *os.environ, *os.environ.values(), str(Path.cwd())]
        seen: set[int] = set()
        left: list[Any] = [*gc.get_objects()]
        left += [value for frame in sys._current_frames().values() for value in _locals(frame)]
        while left:
            one = left.pop()
            if id(one) in seen:
                continue
            seen.add(id(one))
            if isinstance(one, str):
                texts.append(one)
            elif isinstance(one, (bytes, bytearray)):
                texts.append(bytes(one).decode("utf-8", "replace"))
            elif isinstance(one, (dict, list, tuple, set, frozenset)):
                left += gc.get_referents(one)
            elif not isinstance(one, (type, int, float)):
                left += [each for each in gc.get_referents(one) if isinstance(each, (str, bytes))]
        Path(os.environ["SPY_FILE"]).write_text("\n".join(texts), encoding="utf-8", errors="replace")
        return super().recall(question, limit)


def _locals(frame: Any) -> list[Any]:
    found = []
    while frame is not None:
        found += list(frame.f_locals.values())
        frame = frame.f_back
    return found
