"""The program around its commands: help, version, completion, settings, errors, start-up."""

from __future__ import annotations

import importlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from harness.cli import main as program
from harness.suite import load_suite


@pytest.mark.parametrize("name", program.COMMANDS)
def test_every_command_answers_help_and_the_table_tells_the_truth(recallbench: Any, name: str) -> None:
    module, short_help = program.COMMANDS[name]
    command = importlib.import_module(f"harness.cli.{module}").command
    assert command.name == name
    assert command.help.splitlines()[0] == short_help
    done = recallbench(name, "--help")
    assert done.returncode == 0
    assert short_help in " ".join(done.stdout.split())


def test_without_a_command_and_a_terminal_it_shows_the_help(recallbench: Any) -> None:
    done = recallbench()
    assert done.returncode == 0
    assert "Usage: recallbench" in done.stdout
    assert all(name in done.stdout for name in program.COMMANDS)


def test_version(recallbench: Any) -> None:
    from importlib.metadata import version

    assert recallbench("--version").stdout == f"recallbench {version('recallbench')}\n"


def test_the_installed_command_is_the_same_program(recallbench: Any) -> None:
    script = Path(sys.executable).with_name("recallbench")
    if not script.exists():
        pytest.skip("the console script is not installed beside this Python")
    shown = subprocess.run([script, "--help"], capture_output=True, text=True, check=True).stdout
    assert shown == recallbench("--help").stdout


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["compar"], "Did you mean compare?"),
        (["compare", "--layr", "x"], "--layer"),
        (["compare", "--layer", "layer9"], "'layer9' is not one of"),
        (["compare", "--fail-under", "2"], "not in the range"),
        (["compare", "--pass-threshold", "nan"], "pass_threshold is 'nan'"),
        (["compare", "--suite", "nowhere"], "nowhere"),
        (["show", "layer1_01_bank_acount"], "layer1_01_bank_account"),
        (["show", "layer1_01_bank_account", "--conversation", "conv_9"], "it has conv_001"),
        (["batch"], "Missing argument"),
        (["completion", "tcsh"], "tcsh"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_usage_is_one_clear_message(recallbench: Any, args: list[str], said: str) -> None:
    done = recallbench(*args)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_closed_pipe_is_no_error(tmp_path: Path) -> None:
    reader = subprocess.Popen(["true"], stdin=subprocess.PIPE)
    reader.wait()
    done = subprocess.run(
        [sys.executable, "-m", "harness", "show", "layer1_01_bank_account"],
        stdout=reader.stdin, stderr=subprocess.PIPE, text=True, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert reader.stdin is not None
    reader.stdin.close()
    assert (done.returncode, done.stderr) == (0, "")


def test_an_interrupt_leaves_with_130(tmp_path: Path) -> None:
    fifo = tmp_path / "answers.json"
    os.mkfifo(fifo)  # the program waits for it to be written
    running = subprocess.Popen(
        [sys.executable, "-m", "harness", "compare", str(fifo)],
        stderr=subprocess.PIPE, text=True, cwd=tmp_path,
    )  # fmt: skip
    time.sleep(1.5)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=30)
    assert running.returncode == 130
    assert said.strip() == "interrupted"


def test_an_internal_error_shows_no_traceback_unless_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr(program.cli, "main", broken)
    assert program.run(["demo"]) == 2
    assert "internal error" in capsys.readouterr().err
    monkeypatch.setenv(program.DEBUG_VARIABLE, "1")
    with pytest.raises(RuntimeError, match="boom"):
        program.run(["demo"])


HEAVY = (
    "openai",
    "numpy",
    "scipy",
    "jinja2",
    "babel",
    "dateparser",
    "questionary",
    "prompt_toolkit",
    "hypothesis",
)


@pytest.mark.parametrize(
    ("args", "forbidden"),
    [
        (["--help"], (*HEAVY, "yaml", "pydantic", "rich", "harness.suite", "harness.facts")),
        (["list"], HEAVY),
        (["compare"], HEAVY),
        (["compare", "--format", "json"], (*HEAVY, "rich")),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_a_command_loads(args: list[str], forbidden: tuple[str, ...]) -> None:
    code = (
        "import sys, json\n"
        "from harness.cli.main import run\n"
        f"status = run({args!r})\n"
        "print('\\n' + json.dumps([status, sorted(sys.modules)]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    status, modules = json.loads(done.stdout.splitlines()[-1])
    assert status == 0
    assert sorted(set(forbidden) & set(modules)) == []


def test_completion_completes_commands_options_and_case_ids(recallbench: Any) -> None:
    def complete(words: str, at: int) -> list[str]:
        done = recallbench(
            env={"_RECALLBENCH_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(at)}
        )
        return [line.partition(",")[2] for line in done.stdout.splitlines()]

    assert complete("recallbench co", 1) == ["compare", "config", "completion"]
    assert "--per-case" in complete("recallbench compare --p", 2)
    assert complete("recallbench show layer1_01", 2) == ["layer1_01_bank_account"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_that_the_shell_accepts(recallbench: Any, shell: str) -> None:
    script = recallbench("completion", shell)
    assert script.returncode == 0
    assert "_RECALLBENCH_COMPLETE" in script.stdout
    if shell == "bash":
        subprocess.run(["bash", "-n"], input=script.stdout, text=True, check=True)


def test_settings_in_their_order_of_precedence(recallbench: Any, write_suite: Any, tmp_path: Path) -> None:
    suite = write_suite("layer1_01_fee")
    answers = tmp_path / "a.json"
    answers.write_text('{"layer1_01_fee": "The fee is $45."}')
    where = tmp_path / "work"
    where.mkdir()

    def threshold(*flags: str, env: dict[str, str] | None = None) -> float:
        done = recallbench("batch", answers, "--suite", suite, "--format", "json", *flags, env=env, cwd=where)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["pass_threshold"]

    assert threshold() == 0.6
    (where / "recallbench.yaml").write_text("# ours\npass_threshold: 0.1\n")
    assert threshold() == 0.1
    (where / ".env").write_text("RECALLBENCH_PASS_THRESHOLD=0.2\n")
    assert threshold() == 0.2
    assert threshold(env={"RECALLBENCH_PASS_THRESHOLD": "0.3"}) == 0.3
    assert threshold("--pass-threshold", "0.4", env={"RECALLBENCH_PASS_THRESHOLD": "0.3"}) == 0.4

    shown = recallbench("config", cwd=where, env={"RECALLBENCH_SCORER": "token-f1"}).stdout
    assert re.search(r"pass_threshold +0\.2 +\.env \(RECALLBENCH_PASS_THRESHOLD\)", shown)
    assert re.search(r"scorer +token-f1 +variable RECALLBENCH_SCORER", shown)
    assert re.search(r"format +table +default", shown)


@pytest.mark.parametrize("columns", [60, 80, 100, 200])
def test_config_keeps_to_the_terminal(recallbench: Any, columns: int) -> None:
    lines = recallbench("config", columns=columns).stdout.splitlines()
    assert max(map(len, lines)) <= columns
    told = " ".join(" ".join(lines).split())
    whole = "folder of judge prompts that replace the bundled ones"
    assert whole in told
    rows = [line for line in lines if line.startswith("prompts ")]
    assert [row.split()[:3] for row in rows] == [["prompts", "–", "default"]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("suit: x\n", "recallbench.yaml:1: unknown setting 'suit'"),
        ("scorer: x\npass_threshold: high\n", "recallbench.yaml:2: pass_threshold is 'high'"),
        ("format: [a]\n", "recallbench.yaml:1: format holds no plain value"),
        ("- a\n", "holds no settings"),
        ("a: b: c\n", "recallbench.yaml:1"),
    ],
)
def test_a_broken_configuration_file_is_named_with_its_line(
    recallbench: Any, tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / "recallbench.yaml").write_text(text)
    done = recallbench("config")
    assert done.returncode == 2
    assert said in done.stderr


def test_list_filters_and_counts(recallbench: Any) -> None:
    done = recallbench("list", "--layer", "layer1", "--format", "json")
    assert {case["category"] for case in json.loads(done.stdout)} == {"layer1"}
    assert "Abilities: " in recallbench("list").stdout
    abstaining = json.loads(recallbench("list", "--ability", "abstention", "--format", "json").stdout)
    assert [case["test_id"] for case in abstaining] == [
        case.id for case in load_suite() if "abstention" in case.abilities
    ]
    assert recallbench("list", "--format", "csv").stdout.startswith("test_id,category,title")
    assert recallbench("list", "--format", "md").stdout.startswith("| test\\_id |")


def test_show_numbers_messages_as_evidence_cites_them(recallbench: Any, write_suite: Any) -> None:
    suite = write_suite("layer1_01_fee")
    done = recallbench("show", "layer1_01_fee", "--suite", suite)
    assert "1 user      So the fee is $45 now?  ← fee" in done.stdout
    assert "forbidden old_fee $30 (money)" in done.stdout
    brief = recallbench("show", "layer1_01_fee", "--suite", suite, "--brief").stdout
    assert "So the fee" not in brief
    only = recallbench("show", "layer1_01_fee", "--suite", suite, "--conversation", "conv_001").stdout
    assert "Gold facts" not in only


def test_scorers_lists_what_can_be_named(recallbench: Any) -> None:
    shown = recallbench("scorers").stdout
    assert [line.split()[0] for line in shown.splitlines()[:5]] == [
        "keyword-recall", "llm-judge", "evidence-recall", "exact-match", "token-f1",
    ]  # fmt: skip


def test_demo_runs_the_main_job(recallbench: Any) -> None:
    done = recallbench("demo")
    assert done.returncode == 0, done.stderr
    rows = {line.split("│")[1].strip(): line for line in done.stdout.splitlines() if line.startswith("│")}
    assert len(rows) >= 4
    assert "1.00 n=8" in rows["oracle"]
    assert "1.00 n=8" in rows["full_context"]
    assert "0.00 n=8" in rows["no_memory"]
    assert "Run just now in" in done.stdout
    assert "One case explained" in done.stdout


@pytest.mark.parametrize("scorer", ["keyword-recall", "llm-judge"])
def test_demo_scores_the_recorded_answers(recallbench: Any, scorer: str) -> None:
    done = recallbench("demo", "--scorer", scorer)
    assert done.returncode == 0, done.stderr
    assert "Overall (mean over cases)" in done.stdout
    assert "answered:" in done.stdout


def test_dataset_validate(recallbench: Any, write_suite: Any) -> None:
    good = recallbench("dataset", "validate", "--profile", "bundled")
    assert good.returncode == 0, good.stderr
    assert f"{len(load_suite())} cases" in good.stdout
    suite = write_suite("layer1_01_fee", folder="thin")
    bad = recallbench("dataset", "validate", "--profile", "bundled", "--suite", suite)
    assert bad.returncode == 2
    assert "rounds" in bad.stderr
    assert "Traceback" not in bad.stderr
