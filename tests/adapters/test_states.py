"""A run is another one when the code under test is: whichever of a user's own files was edited."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.adapters.states import files_state
from harness.errors import InputError

MEMORY = """
{imports}

class Mine:
    def __init__(self, space):
        self.said = []

    def ingest(self, conversation):
        self.said += [message.text for message in conversation.messages]

    def recall(self, question, limit):
        return helper.pick(self.said)
"""


@pytest.fixture
def here(tmp_path: Path, write_suite: Any) -> Path:
    write_suite("layer1_01_fee")
    return tmp_path


def version(here: Path, recallbench: Any, system: str) -> str:
    done = recallbench("run", "--system", f"mine={system}", "--suite", "suite")
    assert done.returncode == 0, done.stderr
    latest = max((here / "runs").iterdir(), key=lambda run: (run / ".lock").stat().st_mtime_ns)
    said: str = json.loads((latest / "manifest.json").read_text(encoding="utf-8"))["system"]["version"]
    return said


@pytest.mark.parametrize(
    ("module", "helper", "imports"),
    [
        ("mine.py", "helper.py", "import helper"),
        ("pack/mine.py", "pack/helper.py", "from pack import helper"),
        ("pack/mine.py", "pack/deep/helper.py", "from pack.deep import helper"),
    ],
)
def test_a_file_that_the_adapter_imports_is_part_of_it(
    here: Path, recallbench: Any, module: str, helper: str, imports: str
) -> None:
    for name in (module, helper):
        (here / name).parent.mkdir(parents=True, exist_ok=True)
    for folder in ("pack", "pack/deep"):
        if (here / folder).is_dir():
            (here / folder / "__init__.py").touch()
    (here / module).write_text(MEMORY.replace("{imports}", imports), encoding="utf-8")
    (here / helper).write_text("def pick(said):\n    return []\n", encoding="utf-8")
    system = module.removesuffix(".py").replace("/", ".") + ":Mine"
    first = version(here, recallbench, system)
    assert version(here, recallbench, system) == first
    (here / helper).write_text("def pick(said):\n    return said\n", encoding="utf-8")
    assert version(here, recallbench, system) != first
    table = recallbench("compare", "runs", "--suite", "suite")
    assert "1.00 n=1" in table.stdout
    assert (
        "left out, since a later run of the same system over as many cases or more is there: mine-"
        in table.stderr
    )


def test_the_files_in_a_command_are_part_of_it(tmp_path: Path) -> None:
    (tmp_path / "notes.js").write_text("1", encoding="utf-8")
    first = files_state(["node", "notes.js", "--fast"], tmp_path)
    assert len(first) == 12
    (tmp_path / "notes.js").write_text("2", encoding="utf-8")
    assert files_state(["node", "notes.js", "--fast"], tmp_path) not in (first, "")
    assert files_state(["node", "--version"], tmp_path) == ""


def test_a_module_without_a_class_is_told_apart(here: Path, recallbench: Any) -> None:
    (here / "mymod.py").write_text("class Mine: ...\n", encoding="utf-8")
    done = recallbench("run", "--system", "json", "--suite", "suite")
    assert done.returncode == InputError.exit_code
    assert "json is a module. Name its class too: json:ClassName." in done.stderr
