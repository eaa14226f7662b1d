"""Memory systems that tell where they run, or stop a run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from good import Overlap

from harness.adapters import Adapter, Question, Space
from harness.errors import EndpointError
from harness.llm.exchange import BudgetSpent


class TellsItsProcess(Overlap):
    def recall(self, question: Question, limit: int) -> list[str]:
        return [str(os.getpid())]


class TellsItsEnvironment(Overlap):
    def recall(self, question: Question, limit: int) -> list[str]:
        return sorted(os.environ)


class Family(Overlap):
    """Starts a child, tells both process ids, and gets stuck in the way it is asked to."""

    def recall(self, question: Question, limit: int) -> Any:
        match question.text:
            case "child":
                self.child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
                return [str(os.getpid()), str(self.child.pid)]
            case _:
                Path(os.environ["BUSY_FILE"]).touch()
        match question.text:
            case "sleep":
                time.sleep(1000)
            case "spin":
                while True:
                    pass
            case "lock":
                re.match(r"(a+)+$", "a" * 60 + "b")
        return []


class Stops(Overlap):
    def recall(self, question: Question, limit: int) -> Any:
        raise BudgetSpent("enough") if question.text == "budget" else EndpointError("refused")


class FailsToLoad(Adapter):
    def __init__(self, options: Any) -> None:
        raise RuntimeError("no server")

    def open(self, space: Space) -> Any:
        return Overlap(space)


class Needs(Overlap):
    def __init__(self, space: Space, where: str, most: int = 3) -> None:
        super().__init__(space, most)
