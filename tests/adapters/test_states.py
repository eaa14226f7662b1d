"""A run is another one when the code under test is: whichever of a user's own files was edited."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.adapters.states import files_state, same_code
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
    # As the installed program is started: the working directory is not among Python's own places.
    for name in ("mymod", "mymodule"):
        done = recallbench("run", "--system", name, "--suite", "suite", env={"PYTHONSAFEPATH": "1"})
        assert done.returncode == InputError.exit_code
        told = "mymod is a module. Name its class too: mymod:ClassName."
        assert (told in done.stderr) is (name == "mymod"), done.stderr


@pytest.mark.parametrize(
    ("version", "later", "same"),
    [
        ("mem0ai 2.2.1", "mem0ai 2.2.1", True),
        ("mem0ai 2.2.1", "mem0ai 2.3.0", False),
        ("1 (source 0123456789ab)", "1 (source 0123456789ab)", True),
        ("1 (source 0123456789ab)", "1 (source ba9876543210)", False),
        ("begun 10:15 (source 0123456789ab)", "begun 10:16 (source 0123456789ab)", True),
        ("1 (source 0123456789ab)", "1", False),
        ("node a.js (files 0123456789ab)", "node a.js (files ba9876543210)", False),
    ],
)
def test_versions_told_by_two_processes_of_one_run(version: str, later: str, same: bool) -> None:
    assert same_code(version, later) is same


EDITS_ITSELF = """
import os
from pathlib import Path

from harness.adapters import Adapter


class Mine(Adapter):
    def open(self, space):
        return Agent()

    def version(self):
        return f"process {{os.getpid()}}"


class Agent:
    def ingest(self, conversation):
        pass

    def recall(self, question, limit):
        if {edit}:
            with Path(__file__).open("a") as file:
                file.write("# edited by somebody")
        os._exit(1)
"""


@pytest.mark.parametrize(("edit", "status"), [(True, 2), (False, 0)])
def test_code_that_is_edited_during_a_run_stops_it(
    recallbench: Any, tmp_path: Path, write_suite: Any, edit: bool, status: int
) -> None:
    write_suite("layer1_01_fee", "layer1_02_fee", "layer1_03_fee")
    (tmp_path / "mine.py").write_text(EDITS_ITSELF.format(edit=edit), encoding="utf-8")
    done = recallbench("run", "-s", "mine:Mine", "-s", "bm25", "--suite", "suite", "--concurrency", "1")
    assert done.returncode == status, done.stderr
    told = "--system mine:Mine has changed since the run began; what was answered before is kept."
    assert (told in done.stderr) is edit
    (run,) = [path for path in (tmp_path / "runs").iterdir() if path.name.startswith("mine")]
    assert len((run / "answers.jsonl").read_text().splitlines()) == (1 if edit else 3)
