"""`recallbench systems`: what there is, the options of one, and systems that packages offer."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from harness.adapters.registry import BUILT_IN
from tests.cli.systems import environment, manifest, run_folder, write_cases

MODULE = (
    "from harness.adapters.protocol import Adapter\n"
    "from pydantic import BaseModel, Field\n"
    "class Options(BaseModel):\n"
    "    depth: int = Field(3, ge=1, description='how far it looks')\n"
    "class Attic(Adapter):\n"
    "    Options = Options\n"
    "    def open(self, space): return Agent()\n"
    "    def version(self): return 'attic 0.3'\n"
    "class Agent:\n"
    "    def __init__(self): self.texts = []\n"
    "    def ingest(self, conversation): self.texts += [one.text for one in conversation.messages]\n"
    "    def recall(self, question, limit): return self.texts[:limit]\n"
)


@pytest.fixture
def plugin(tmp_path: Path) -> dict[str, str]:
    """Install a package that offers a system, as far as Python can tell."""
    site = tmp_path / "site"
    about = site / "attic_memory-0.3.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: attic-memory\nVersion: 0.3\n")
    (about / "entry_points.txt").write_text("[recallbench.adapters]\nattic = attic_memory:Attic\n")
    (site / "attic_memory.py").write_text(MODULE)
    return {"PYTHONPATH": os.pathsep.join(filter(None, (str(site), os.environ.get("PYTHONPATH"))))}


def test_every_built_in_is_listed_with_a_summary(recallbench: Any) -> None:
    done = recallbench("systems")
    assert (done.returncode, done.stderr) == (0, "")
    for info in BUILT_IN:
        assert info.summary
        line = next(line for line in done.stdout.splitlines() if line.startswith(f"  {info.name} "))
        assert info.summary in line
        assert info.installed or f"pip install 'recallbench[{info.extra}]'" in line


def test_json_lines(recallbench: Any) -> None:
    done = recallbench("systems", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["name"] for one in told] == [info.name for info in BUILT_IN]
    for one in told:
        assert one["summary"]
        for option in one["options"].values():
            assert set(option) == {"type", "required", "default", "description"}
    rounds = next(one for one in told if one["name"] == "bm25")["options"]["rounds"]
    assert (rounds["type"], rounds["required"]) == ("int", False)


@pytest.mark.parametrize("name", [info.name for info in BUILT_IN])
def test_the_options_of_each_are_told_installed_or_not(inside: Any, name: str) -> None:
    info = next(info for info in BUILT_IN if info.name == name)
    done = inside("systems", name)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{name}: {info.summary}  [{info.kind}, built-in]\n")
    assert info.installed or f"pip install 'recallbench[{info.extra}]'" in done.stdout
    line = inside("systems", name, "--json")
    assert json.loads(line.stdout)["name"] == name


def test_ones_own_class_is_described(recallbench: Any) -> None:
    done = recallbench("systems", "quick:Logged", env=environment())
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "quick:Logged: from quick  [your own]",
        "",
        'Options, as in --system "quick:Logged(ms=…)":',
        "  ms  int, default 4",
    ]
    assert "It has no options." in recallbench("systems", "quick:Quick", env=environment()).stdout


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("bm52", "--system bm52: no such system. Did you mean bm25?"),
        ("json:loads", "json:loads is no adapter. Name a class with ingest(conversation)"),
        ("nowhere:X", "No module named 'nowhere'"),
        ("", "names nothing"),
    ],
)
def test_what_is_no_system(inside: Any, name: str, said: str) -> None:
    for flags in ((), ("--json",)):
        done = inside("systems", name, *flags)
        assert done.returncode == 2
        assert said in done.stderr
        assert "internal error" not in done.stderr


@pytest.mark.parametrize(
    "args", [("systems", "leaving:X"), ("run", "-s", "bm25", "--scorer", "leaving:X"), ("systems", "--check", "leaving:X")]
)  # fmt: skip
def test_a_module_that_exits_when_it_is_imported_cannot_be_loaded(
    recallbench: Any, tmp_path: Path, args: tuple[str, ...]
) -> None:
    (tmp_path / "leaving.py").write_text("import sys\nsys.exit(0)\n")
    write_cases(tmp_path / "suite", 1, talks=1)
    done = recallbench(*args, *(("--suite", "suite") if args[0] == "run" else ()))
    said = done.stdout if "--check" in args else done.stderr
    assert done.returncode == (1 if "--check" in args else 2)
    assert "cannot load leaving:X: SystemExit: 0" in " ".join(said.split())
    assert not (tmp_path / "runs").exists()


def test_a_system_of_an_installed_package_is_listed_and_runs(
    recallbench: Any, plugin: dict[str, str], tmp_path: Path
) -> None:
    listed = recallbench("systems", env=plugin)
    assert "From installed packages\n  attic " in listed.stdout
    told = [json.loads(line) for line in recallbench("systems", "--json", env=plugin).stdout.splitlines()]
    assert (told[-1]["name"], told[-1]["source"]) == ("attic", "attic-memory")

    one = recallbench("systems", "attic", env=plugin)
    assert one.returncode == 0, one.stderr
    assert "[own, attic-memory]" in one.stdout
    assert "depth  int, default 3  how far it looks" in one.stdout

    write_cases(tmp_path / "suite", 2, talks=1)
    done = recallbench("run", "-s", "attic(depth=5)", "--suite", "suite", env=plugin)
    assert done.returncode == 0, done.stderr
    assert "1.00 n=2" in done.stdout
    system = manifest(run_folder(tmp_path / "runs", "attic(depth=5)"))["system"]
    assert system["options"] == {"depth": 5}
    assert system["version"].startswith("attic 0.3")
    refused = recallbench("run", "-s", "attic(depth=0)", "--suite", "suite", env=plugin)
    assert refused.returncode == 2
    assert "depth: Input should be greater than or equal to 1. Its options: depth." in refused.stderr


def test_a_name_that_is_taken_is_marked_with_the_way_to_what_bears_it(
    recallbench: Any, plugin: dict[str, str], tmp_path: Path
) -> None:
    names = tmp_path / "site" / "attic_memory-0.3.dist-info" / "entry_points.txt"
    names.write_text("[recallbench.adapters]\nbm25 = attic_memory:Attic\n")
    listed = recallbench("systems", env=plugin).stdout
    assert "shadowed, since built-in has the name: use attic_memory:Attic" in listed
    assert "[retrieval, built-in]" in recallbench("systems", "bm25", env=plugin).stdout
    assert "depth  int" in recallbench("systems", "attic_memory:Attic", env=plugin).stdout


def test_a_package_whose_module_is_broken_spoils_no_list(
    recallbench: Any, plugin: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "site" / "attic_memory.py").write_text("raise RuntimeError('half installed')\n")
    for args in (("systems",), ("systems", "--json"), ("run", "--help")):
        assert recallbench(*args, env=plugin).returncode == 0
    done = recallbench("systems", "attic", env=plugin)
    assert done.returncode == 2
    assert "cannot load attic_memory:Attic: RuntimeError: half installed" in done.stderr
