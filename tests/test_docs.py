"""What README and docs show was really run: every console block and every Python session.

A ```console block holds `$ command` lines (`> ` goes on with the line above), each with
the output that follows it; `...` on a line of its own stands for lines left out. The blocks
of one file share an empty folder. A ```pycon block is a doctest.
`UPDATE_DOCS=1 pytest tests/test_docs.py` writes the outputs anew; look at the diff.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.adapters.registry import BUILT_IN

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
_BLOCK = re.compile(r"^```(?P<kind>console|pycon)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
# Commands that make a virtual environment or install: `.ci/run` runs the first two itself.
_NOT_RUN = re.compile(r"make |git clone|pip install|python3 -m venv|\. \.venv|eval ")
# How a system is installed is printed only where it is not; the pages show it as after `make demo`.
_EXTRA = re.compile(r"(  \[pip install '[^'\n]*'\])$", re.MULTILINE)


@dataclass(frozen=True)
class Step:
    """One command of a console block and the output shown under it."""

    command: str
    shown: str


def steps(body: str) -> Iterator[Step]:
    parts = re.split(r"^\$ ", body, flags=re.MULTILINE)
    assert not parts[0].strip(), "a console block begins with a command"
    for part in parts[1:]:
        lines = part.splitlines(keepends=True)
        command = [lines[0]]
        while len(lines) > len(command) and lines[len(command)].startswith(("> ", ">\n")):
            command.append(lines[len(command)])
        written = "".join([command[0], *(line[2:] or "\n" for line in command[1:])]).rstrip("\n")
        yield Step(written, "".join(lines[len(command) :]))


def run(command: str, folder: Path) -> str:
    binaries = str(Path(sys.executable).parent)
    env = {
        **os.environ,
        "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "100",
        "PYTHONUTF8": "1",
        "NO_COLOR": "1",
    }
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=env, text=True, encoding="utf-8", timeout=120, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return done.stdout


def matches(shown: str, printed: str) -> bool:
    parts = re.split(r"^\.\.\.\n", shown, flags=re.MULTILINE)
    pattern = r"(?:.*\n)*?".join(map(_pattern, parts))
    return re.fullmatch(pattern, printed) is not None


def _pattern(part: str) -> str:
    pieces = map(re.escape, _EXTRA.split(part))
    return "".join(f"(?:{piece})?" if at % 2 else piece for at, piece in enumerate(pieces))


def pages(kind: str) -> list[Path]:
    return [
        page
        for page in PAGES
        if page.exists()
        and any(block["kind"] == kind for block in _BLOCK.finditer(page.read_text(encoding="utf-8")))
    ]


@pytest.mark.parametrize("page", pages("console"), ids=lambda page: page.name)
def test_console_blocks_show_what_is_printed(page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    wrong = []
    rewritten = text
    for block in _BLOCK.finditer(text):
        if block["kind"] != "console":
            continue
        body = []
        for step in steps(block["body"]):
            printed = step.shown if _NOT_RUN.match(step.command) else run(step.command, tmp_path)
            ok = matches(step.shown, printed)
            if not ok:
                wrong.append(f"$ {step.command}\n--- shown\n{step.shown}--- printed\n{printed}")
            first, *rest = step.command.split("\n")
            body += [
                f"$ {first}\n",
                *(f"> {line}".rstrip() + "\n" for line in rest),
                step.shown if ok else printed,
            ]
        rewritten = rewritten.replace(block[0], f"```console\n{''.join(body)}```")
    if wrong and os.environ.get("UPDATE_DOCS"):
        page.write_text(rewritten, encoding="utf-8")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("page", pages("pycon"), ids=lambda page: page.name)
def test_python_sessions_give_what_is_shown(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    session = "\n".join(block["body"] for block in _BLOCK.finditer(text) if block["kind"] == "pycon")
    test = doctest.DocTestParser().get_doctest(session, {}, page.name, str(page), 0)
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    result = runner.run(test, out=said.append)
    assert result.attempted > 0
    assert result.failed == 0, "".join(said)


def test_the_readme_begins_with_the_two_commands() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    first = _BLOCK.search(text)
    assert first is not None
    commands = [step.command for step in steps(first["body"])]
    assert commands == ["make demo", "make test"]


def test_the_readme_shows_the_extra_of_every_system_that_needs_one() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = dict(re.findall(r"^  (\w+) .*  \[pip install 'recallbench\[(.+)\]'\]$", text, re.MULTILINE))
    assert shown == {info.name: info.extra for info in BUILT_IN if info.extra and info.modules}


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a  [pip install 'x[y]']\nb\n", "a\nb\n", True),
        ("a  [pip install 'x[y]']\nb\n", "a  [pip install 'x[y]']\nb\n", True),
        ("a  [pip install 'x[y]']\nb\n", "a  [pip install 'x[z]']\nb\n", False),
        ("a\nb\n", "a  [pip install 'x[y]']\nb\n", False),
        ("a  [pip install 'x[y]']\n...\nc\n", "a\nb\nc\n", True),
    ],
)
def test_how_to_install_may_be_left_out_where_it_is_installed(shown: str, printed: str, same: bool) -> None:
    assert matches(shown, printed) is same


def test_links_between_pages_lead_somewhere() -> None:
    broken = []
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", page.read_text(encoding="utf-8")):
            if not (page.parent / target).exists():
                broken.append(f"{page.name}: {target}")
    assert not broken
