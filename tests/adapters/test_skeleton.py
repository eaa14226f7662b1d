from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.adapters import skeleton
from harness.adapters.skeleton import Variant
from harness.cli.init import command
from harness.errors import InputError

VARIANTS: tuple[Variant, ...] = ("plain", "async", "full")


def python(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *args], cwd=folder, capture_output=True, text=True, check=False, timeout=300,
        env={**os.environ, "PYTHONUTF8": "1"},
    )  # fmt: skip


@pytest.mark.parametrize("variant", VARIANTS)
def test_its_own_test_passes_and_nothing_is_warned_about(variant: Variant, tmp_path: Path) -> None:
    skeleton.write("my_memory", tmp_path, variant)
    tested = python(tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_my_memory.py")
    assert "1 passed" in tested.stdout, tested.stdout + tested.stderr
    checked = python(tmp_path, "-m", "harness.adapters.conformance", "my_memory:MyMemory")
    assert checked.stdout.startswith("my_memory:MyMemory conforms\n"), checked.stdout + checked.stderr


def test_what_is_written_is_typed_and_tidy(tmp_path: Path) -> None:
    for variant in VARIANTS:
        skeleton.write(f"my_{variant}", tmp_path, variant)
    files = sorted(path.name for path in tmp_path.glob("*.py"))
    assert len(files) == 6
    typed = python(tmp_path, "-m", "mypy", "--strict", "--no-incremental", *files)
    assert typed.returncode == 0, typed.stdout
    for tidy in (["check", "--select=E,F,W,B,UP,RUF"], ["format", "--check"]):
        done = python(tmp_path, "-m", "ruff", *tidy, "--isolated", "--line-length=110", "--no-cache", ".")
        assert done.returncode == 0, done.stdout


def test_the_plain_one_is_a_page() -> None:
    code = [line for line in skeleton.sources("x", "plain")["x.py"].splitlines() if line.strip()]
    assert len(code) <= 25


def test_a_broken_one_fails_its_test(tmp_path: Path) -> None:
    module, _ = skeleton.write("my_memory", tmp_path)
    text = module.read_text(encoding="utf-8")
    module.write_text(text.replace("[: min(limit, self.most)]", ""), encoding="utf-8")
    tested = python(tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_my_memory.py")
    assert tested.returncode == 1
    assert "return at most limit memories" in tested.stdout


@pytest.mark.parametrize(
    ("name", "cls"),
    [
        ("my_memory", "MyMemory"),
        ("notes", "Notes"),
        ("RAG", "RAG"),
        ("myRag_2", "MyRag2"),
        ("memory", "MemorySystem"),
        ("options", "OptionsSystem"),
        ("_1", "Memory1"),
    ],
)
def test_the_class_is_named_after_the_module(name: str, cls: str, tmp_path: Path) -> None:
    assert skeleton.class_name(name) == cls
    for variant in VARIANTS:
        compile(skeleton.sources(name, variant)[f"{name}.py"], name, "exec")
        assert f"class {cls}" in skeleton.sources(name, variant)[f"{name}.py"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("my-memory", "cannot be the name of a module"),
        ("1st", "cannot be the name of a module"),
        ("", "cannot be the name of a module"),
        ("class", "cannot be the name of a module"),
        ("../escape", "cannot be the name of a module"),
        ("json", "is a module of Python's standard library"),
        ("harness", "is a module that is installed"),
        ("click", "is a module that is installed"),
    ],
)
def test_a_name_that_will_not_do_is_refused(name: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        skeleton.write(name, tmp_path)
    assert said in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("there", ["my_memory.py", "test_my_memory.py"])
def test_nothing_is_overwritten(there: str, tmp_path: Path) -> None:
    (tmp_path / there).write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match=f"{there} exists already"):
        skeleton.write("my_memory", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [there]
    assert (tmp_path / there).read_text(encoding="utf-8") == "mine"


def test_the_command_says_what_to_do_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(command, ["adapter", "my_memory"])
    assert done.exit_code == 0
    assert done.output.splitlines() == [
        "wrote my_memory.py",
        "wrote test_my_memory.py",
        "",
        "Next:",
        "  recallbench systems --check my_memory:MyMemory",
        "  recallbench run --system my_memory:MyMemory",
        "  python -m pytest test_my_memory.py     (where pytest is installed)",
    ]


@pytest.mark.parametrize(("flag", "holds"), [("--async", "async def recall"), ("--full", "(Adapter):")])
def test_the_command_writes_the_variants(
    flag: str, holds: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(command, ["adapter", "mine", flag]).exit_code == 0
    assert holds in Path("mine.py").read_text(encoding="utf-8")


def test_the_command_refuses_two_variants(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(command, ["adapter", "mine", "--async", "--full"])
    assert done.exit_code == 2
    assert list(tmp_path.iterdir()) == []
