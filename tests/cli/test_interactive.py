"""The menu, over a plain pipe and in a real pseudo-terminal."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pexpect
import pyte
import pytest

from harness.suite import load_suite

RIGHT = "The fee is $45, due March 24."


@pytest.fixture
def suite(write_suite: Any) -> Path:
    return write_suite("layer1_01_fee", "layer2_01_fee")


# ---- over a pipe ----------------------------------------------------------------------


def piped(recallbench: Any, suite: Path, *lines: str) -> Any:
    return recallbench("interactive", "--suite", suite, stdin="".join(f"{line}\n" for line in lines))


def test_a_pipe_can_browse_read_and_quit(recallbench: Any, suite: Path) -> None:
    done = piped(
        recallbench, suite, "Browse", "Layer 1", "layer1_01", "Read conv_001", "Show", "Back", "Back", "Quit"
    )
    assert done.returncode == 0, done.stderr
    assert "So the fee is $45 now?" in done.stdout
    assert "Gold facts" in done.stdout
    assert done.stdout.endswith("Goodbye.\n")


def test_gold_is_not_shown_before_the_question_is_answered(recallbench: Any, suite: Path) -> None:
    done = piped(recallbench, suite, "2", "1", "1", RIGHT, "6")
    before, _, after = done.stdout.partition("Your answer")
    assert "$45" not in before
    assert "reward 1.00  passed" in after
    assert "“The fee is $45, due March 24.”" in after


def test_files_are_scored_and_compared_and_the_session_exported(
    recallbench: Any, suite: Path, tmp_path: Path
) -> None:
    answers = tmp_path / "answers.json"
    answers.write_text(json.dumps({"a": {"layer1_01_fee": RIGHT}, "b": {"layer1_01_fee": "no"}}))
    done = piped(
        recallbench, suite,
        "Score", str(answers), "b",
        "Compare", str(answers),
        "Results", "View Comparison", "Export as JSON", "", "Export as Markdown", "out.md", "Back",
        "Results", "Export as JSON", "", "Keep it", "Back",
        "Quit",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    session = json.loads((tmp_path / "recallbench-session.json").read_text())
    assert session["schema"] == "recallbench.session/1"
    assert [result["label"] for result in session["results"]] == [
        "b of answers.json",
        "Comparison of answers.json",
    ]
    assert session["results"][1]["systems"][0]["summary"]["layer1"]["mean"] == 1.0
    assert "## Comparison of answers.json" in (tmp_path / "out.md").read_text()
    assert "recallbench-session.json exists." in done.stdout


def test_a_mistake_is_told_and_the_menu_goes_on(recallbench: Any, suite: Path) -> None:
    done = piped(recallbench, suite, "77", "nonsense", "Compare", "gone.json", "Results", "Quit")
    assert done.returncode == 0
    assert "'77' is none of these; type a number from 1 to 6." in done.stdout
    assert "gone.json: no such file" in done.stdout
    assert "Nothing has been scored" in done.stdout
    assert "Traceback" not in done.stderr


def test_the_end_of_a_pipe_leaves_cleanly(recallbench: Any, suite: Path) -> None:
    for lines in ((), ("1",), ("2", "1", "1")):
        done = piped(recallbench, suite, *lines)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.endswith("Goodbye.\n")


# ---- in a terminal --------------------------------------------------------------------

DOWN, ENTER, CTRL_C, CTRL_D = "\x1b[B", "\r", "\x03", "\x04"


class Terminal:
    """The program in a pseudo-terminal, with a screen that shows what a person sees."""

    def __init__(self, *args: str, cwd: Path, columns: int = 100) -> None:
        self.screen = pyte.Screen(columns, 40)
        self._stream = pyte.Stream(self.screen)
        env = {**os.environ, "TERM": "xterm-256color", "PAGER": "cat", "PYTHONUTF8": "1"}
        env.pop("COLUMNS", None)
        self.child = pexpect.spawn(
            sys.executable, ["-m", "harness", *args], env=env, dimensions=(40, columns), encoding="utf-8",
            timeout=30, cwd=str(cwd),
        )  # fmt: skip

    def wait_for(self, text: str) -> str:
        """Feed the screen until `text` shows; the program's questions to the terminal are answered."""
        for _ in range(300):
            shown = "\n".join(self.screen.display)
            if text in shown:
                return shown
            try:
                chunk = self.child.read_nonblocking(65536, timeout=0.1)
            except pexpect.TIMEOUT:
                continue
            except pexpect.EOF:
                break
            if "\x1b[6n" in chunk:  # where is the cursor?
                self.child.send(f"\x1b[{self.screen.cursor.y + 1};{self.screen.cursor.x + 1}R")
            self._stream.feed(chunk)
        shown = "\n".join(self.screen.display)
        assert text in shown, f"{text!r} never showed on:\n{shown}"
        return shown

    def press(self, *keys: str) -> None:
        for key in keys:
            self.child.send(key)

    def status(self) -> int | None:
        self.child.expect(pexpect.EOF)
        self.child.close()
        return self.child.exitstatus


@pytest.fixture
def terminal(suite: Path, tmp_path: Path) -> Iterator[Terminal]:
    opened = Terminal("interactive", "--suite", str(suite), cwd=tmp_path)
    yield opened
    opened.child.close(force=True)


def selected(shown: str) -> list[str]:
    return [match[1].strip() for match in re.finditer(r"^\s*»(.*)$", shown, re.MULTILINE)]


def test_arrow_keys_drive_the_menu(terminal: Terminal) -> None:
    assert selected(terminal.wait_for("Quit")) == ["Browse cases"]
    terminal.press(DOWN, ENTER)
    terminal.wait_for("Which layer?")
    terminal.press(ENTER)
    terminal.wait_for("layer1_01_fee")
    terminal.press(ENTER)
    terminal.wait_for("Your answer")
    terminal.press(RIGHT, ENTER)
    terminal.wait_for("reward 1.00")
    terminal.wait_for("Results of this session (1)")
    terminal.press(*[DOWN] * 5, ENTER)
    assert terminal.status() == 0


@pytest.mark.parametrize(("key", "status"), [(CTRL_D, 0), (CTRL_C, 130)], ids=["ctrl-d", "ctrl-c"])
@pytest.mark.parametrize("deep", [False, True], ids=["main menu", "typing an answer"])
def test_leaving_with_a_key_is_clean(terminal: Terminal, key: str, status: int, deep: bool) -> None:
    terminal.wait_for("Quit")
    if deep:
        terminal.press(DOWN, ENTER)
        terminal.wait_for("Which layer?")
        terminal.press(ENTER)
        terminal.wait_for("layer1_01_fee")
        terminal.press(ENTER)
        terminal.wait_for("Your answer")
    terminal.press(key)
    assert terminal.status() == status
    assert "Traceback" not in "\n".join(terminal.screen.display)


def test_no_argument_on_a_terminal_opens_the_menu(tmp_path: Path) -> None:
    opened = Terminal(cwd=tmp_path)
    opened.wait_for(f"recallbench: {len(load_suite())} cases")
    opened.press(CTRL_D)
    assert opened.status() == 0
