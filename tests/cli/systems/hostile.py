"""Memories that do what a benchmark must survive."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import threading
import time
from typing import Any

from quick import Quick

FOREVER = 3600


class HangsInSleep(Quick):
    def recall(self, question: Any, limit: int) -> Any:
        time.sleep(FOREVER)


class HangsInAwait(Quick):
    async def recall(self, question: Any, limit: int) -> Any:
        await asyncio.sleep(FOREVER)


class HangsInLoop(Quick):
    def ingest(self, conversation: Any) -> None:
        while True:
            pass


class HangsInOpen(Quick):
    def __init__(self, space: Any) -> None:
        time.sleep(FOREVER)


class HangsInWait(Quick):
    async def wait_until_ready(self) -> None:
        await asyncio.Event().wait()


class HangsInClose(Quick):
    def close(self) -> None:
        time.sleep(FOREVER)


class RaisesInInit(Quick):
    def __init__(self, space: Any) -> None:
        raise ValueError("no such table: memories")


class RaisesInIngest(Quick):
    def ingest(self, conversation: Any) -> None:
        raise ValueError("cannot embed")


class RaisesInWait(Quick):
    def wait_until_ready(self) -> None:
        raise ValueError("the index is corrupt")


class RaisesInRecall(Quick):
    async def recall(self, question: Any, limit: int) -> Any:
        raise KeyError("score")


class RaisesInClose(Quick):
    def close(self) -> None:
        raise OSError("cannot close")


class ReturnsNone(Quick):
    def recall(self, question: Any, limit: int) -> Any:
        return None


class ReturnsTenMegabytes(Quick):
    def recall(self, question: Any, limit: int) -> Any:
        return ["x" * 10_000_000]


class PrintsMegabytes(Quick):
    def ingest(self, conversation: Any) -> None:
        for _ in range(30):
            print("noise " * 20_000)
            print("noise " * 20_000, file=sys.stderr)
        super().ingest(conversation)


class LeaksThreads(Quick):
    def ingest(self, conversation: Any) -> None:
        threading.Thread(target=time.sleep, args=(FOREVER,)).start()
        super().ingest(conversation)


class DeletesItsStore(Quick):
    def __init__(self, space: Any) -> None:
        super().__init__(space)
        self.folder = space.folder

    def ingest(self, conversation: Any) -> None:
        super().ingest(conversation)
        (self.folder / "store").write_text("memories")

    def recall(self, question: Any, limit: int) -> Any:
        shutil.rmtree(self.folder)
        return []


class Exits(Quick):
    def recall(self, question: Any, limit: int) -> Any:
        print("going down", flush=True)
        os._exit(7)


class ExitsPolitely(Quick):
    def recall(self, question: Any, limit: int) -> Any:
        sys.exit(3)


class KillsItsGroup(Quick):
    """Kills every process of its group: that must not be the harness's."""

    def recall(self, question: Any, limit: int) -> Any:
        os.killpg(0, 9)


class WritesIntoTheLine(Quick):
    """Writes into every descriptor that it can find."""

    def recall(self, question: Any, limit: int) -> Any:
        for descriptor in range(3, 1024):
            try:
                os.write(descriptor, b"nonsense\n")
            except OSError:
                continue
        return super().recall(question, limit)


class ChangesFolder(Quick):
    def __init__(self, space: Any) -> None:
        super().__init__(space)
        os.chdir("/")
