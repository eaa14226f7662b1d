"""`dataset generate`, `from-logs`, `export`, `split`, `sample`, `diff` on the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from harness.cli import dataset_tools
from harness.errors import HarnessError
from harness.suite import load_suite
from tests.authoring.author import Case, memories, rule
from tests.conftest import ROOT, case_header
from tests.model_server import Server

NAME = "layer1_01_fee"


@click.group()
def dataset() -> None:
    """Stand in for the group that these commands are wired into."""


for name in dataset_tools.__all__:
    dataset.add_command(getattr(dataset_tools, name))


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run a command in an empty folder; an error becomes its exit status and its words."""
    monkeypatch.chdir(tmp_path)

    def run(*args: str | Path) -> Result:
        result = CliRunner().invoke(dataset, list(map(str, args)))
        if isinstance(result.exception, HarnessError):
            result.exit_code = result.exception.exit_code
            result.stderr_bytes = f"{result.stderr}{result.exception}".encode()
        elif result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run


def generating(server: Server, *more: str) -> tuple[str, ...]:
    model = ("--base-url", server.base_url, "--model", "author", "--cassette", "tape.sqlite")
    return ("generate", "--into", "made", "--rounds", "8", *model, *more)


def test_generate_writes_what_validates_and_rejects_the_rest(call: Any, server: Server) -> None:
    bad = Case(2)
    server.set_faults([*Case(1).rules(), *bad.rules(part=bad.part(leave=["March"]))])
    done = call(*generating(server, "--count", "2", "--domain", "banking", "--repairs", "0"))
    assert done.exit_code == 0, done.stderr
    assert "2 cases by local/author: calls: 6; about " in done.stderr
    assert "the price is not known (--prices FILE)" in done.stderr
    assert "layer1_01_yearly_fee: written" in done.stderr
    assert "layer1_02_yearly_fee: rejected: " in done.stderr
    assert "'March 24, 2025' (due) is said nowhere in it." in done.stderr
    assert done.stdout == "made: 1 case written, 1 rejected\n"
    assert load_suite("made").ids == ("layer1_01_yearly_fee",)
    assert Path("made.rejects", "layer1_02_yearly_fee.reasons.txt").is_file()
    again = call(*generating(server, "--count", "2", "--domain", "banking", "--repairs", "0"))
    assert "0 cases by local/author (2 finished before): calls: 0" in again.stderr


def test_a_killed_run_goes_on_where_it_was(call: Any, server: Server, tmp_path: Path) -> None:
    rules = [rule for number in (1, 2, 3) for rule in Case(number).rules()]
    server.set_faults([{"do": {"delay": 30}}, *rules])
    command = generating(server, "--count", "3", "--concurrency", "1")
    program = (
        "import sys; from harness.cli.dataset_tools import generate_command; generate_command(sys.argv[1:])"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, *command[1:]],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as process:
        while server.stats()["by_status"].get("200", 0) < 5:
            assert process.poll() is None
            time.sleep(0.005)
        process.kill()
    assert load_suite("made").ids == ("layer1_01_yearly_fee",)
    assert call(*command).exit_code == 0
    assert server.stats()["chat"] <= 9 + 1  # what was on its way in the moment of the kill comes twice
    killed = {path.name: path.read_bytes() for path in Path("made", "layer1").iterdir()}
    assert (
        call(*(other.replace("made", "whole").replace("tape", "other") for other in command)).exit_code == 0
    )
    assert {path.name: path.read_bytes() for path in Path("whole", "layer1").iterdir()} == killed


def test_generate_a_recall_data_set(call: Any, server: Server) -> None:
    server.set_faults([rule("queries. Cluster 1, seed 0.", memories(1))])
    done = call(*generating(server, "--kind", "recall", "--memories", "3", "--queries", "1"))
    assert done.stdout == "made: 1 cluster written, 0 rejected\n"
    assert json.loads(Path("made", "recall.json").read_text())["test_cases"][0]["id"] == "c001-q1"


def test_a_dry_run_asks_nothing(call: Any, server: Server) -> None:
    Path("prices.json").write_text('{"author": {"prompt": 1000, "completion": 1000}}')
    done = call(
        *generating(server, "--dry-run", "--prices", "prices.json", "--layer", "layer3", "--rounds", "50")
    )
    assert done.exit_code == 0
    assert "1 case by local/author: calls: 14 to 18; about" in done.stderr
    assert "about $" in done.stderr
    assert server.stats()["chat"] == 0
    assert not Path("made").exists()


def test_what_costs_money_is_not_started_without_a_word(call: Any, server: Server) -> None:
    server.set_faults(Case(1).rules())
    Path("prices.json").write_text('{"author": {"prompt": 1, "completion": 1}}')
    asked = call(*generating(server, "--prices", "prices.json"))
    assert asked.exit_code == 2
    assert "this may cost money. Add --yes to start it" in asked.stderr
    assert server.stats()["chat"] == 0
    assert call(*generating(server, "--prices", "prices.json", "--yes")).exit_code == 0


def test_a_cost_limit_is_a_gate(call: Any, server: Server) -> None:
    server.set_faults([{"do": {"usage_cost": 0.01}}, *Case(1).rules()])
    done = call(*generating(server, "--max-cost", "0.015"))
    assert done.exit_code == 1
    assert "stopped early: 0.0200 US dollars spent of --max-cost 0.015" in done.stderr
    assert call(*generating(server)).exit_code == 0


def test_nothing_written_is_no_success(call: Any, server: Server) -> None:
    server.set_faults([{"do": "garbage"}])
    done = call(*generating(server))
    assert done.exit_code == 1
    assert "nothing could be written: 1 case rejected, see made.rejects" in done.stderr


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("--conversations", "2"), "a case of layer1 has one"),
        (("--layer", "layer2", "--conversations", "1"), "a case of layer1 has one"),
        (("--locale", "english"), "is no locale"),
        (("--max-cost", "nan"), "--max-cost nan: expected a finite number"),
        (("--timeout", "inf"), "--timeout inf: expected a finite number"),
    ],
)
def test_a_wish_that_cannot_be_met(call: Any, server: Server, more: tuple[str, ...], told: str) -> None:
    done = call(*generating(server, *more))
    assert done.exit_code == 2
    assert told in done.stderr


def test_from_logs(call: Any) -> None:
    said = [
        {"role": "system", "content": "x"},
        {"role": "Orla", "content": "When?"},
        {"role": "bot", "content": "Soon."},
    ]
    Path("log.json").write_text(json.dumps(said))
    done = call("from-logs", "log.json", "--into", "made", "--role", "Orla=user")
    assert done.stdout == "made: 1 skeleton, 1 conversation, 2 messages\n"
    assert "without a place in a case: 1, listed in made/NOT_MAPPED.md" in done.stderr
    assert "$[0]" in Path("made", "NOT_MAPPED.md").read_text()
    assert Path("made", "layer1", "01_chat.yaml").is_file()
    assert call("from-logs", "log.json", "--into", "made", "--role", "Orla").exit_code == 2
    for gap in ("nan", "inf", "1e300"):
        refused = call("from-logs", "log.json", "--into", "cut", "--role", "Orla=user", "--gap", gap)
        assert refused.exit_code == 2
        assert f"--gap {float(gap):g}: expected hours" in refused.stderr


def test_export_by_ending_and_to_the_screen(call: Any, write_suite: Any) -> None:
    suite = write_suite(NAME)
    assert call("export", "--suite", suite, "-o", "all.jsonl").exit_code == 0
    assert json.loads(Path("all.jsonl").read_text())["test_id"] == NAME
    assert call("export", "--suite", suite, "--format", "md").stdout.startswith("# suite")
    assert call("export", "--suite", suite, "--format", "legacy", "-o", "old").exit_code == 0
    assert load_suite("old").ids == (NAME,)
    for wrong in (("-o", "all.txt"), (), ("--format", "legacy")):
        assert call("export", "--suite", suite, *wrong).exit_code == 2


@pytest.mark.parametrize("place", ["parts", "layer1/parts", ".", "../suite/parts", "new/deep/parts"])
def test_nothing_is_written_into_the_suite_that_is_read(call: Any, write_suite: Any, place: str) -> None:
    suite = write_suite(*(f"layer1_{n:02}_fee" for n in range(4)))
    before = sorted(suite.rglob("*"))
    for command in (
        ("split", "--parts", "2", "--into", suite / place),
        ("sample", "--size", "2", "--into", suite / place),
        ("export", "--format", "legacy", "-o", suite / place),
        ("export", "--format", "json", "-o", suite / place / "all.json"),
    ):
        done = call(*command, "--suite", suite)
        assert done.exit_code == 2
        assert "is inside the suite" in done.stderr
    assert sorted(suite.rglob("*")) == before


def test_the_folder_one_stands_in_is_filled(
    call: Any, write_suite: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = write_suite(*(f"layer1_{n:02}_fee" for n in range(4)))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert call("split", "--suite", suite, "--into", ".", "--parts", "2").exit_code == 0
    assert sorted(path.name for path in Path().iterdir()) == ["part1", "part2", "split.json"]
    assert call("sample", "--suite", suite, "--into", ".", "--size", "2").exit_code == 2


def test_split_and_sample(call: Any, write_suite: Any) -> None:
    suite = write_suite(*(f"layer1_{n:02}_fee" for n in range(10)), "layer2_01_fee")
    done = call("split", "--suite", suite, "--into", "parts", "--parts", "train=8,test=2", "--seed", "3")
    assert done.stdout.splitlines()[1] == "parts/test: 2 cases (layer1 2)"
    told = json.loads(Path("parts", "split.json").read_text())
    assert told["parts"]["test"] == list(load_suite("parts/test").ids)
    assert (told["seed"], told["suite"]) == (3, load_suite(suite).hash)
    assert call("split", "--suite", suite, "--into", "parts").exit_code == 2  # there is something already
    drawn = call("sample", "--suite", suite, "--into", "few", "--size", "3")
    assert drawn.stdout == "few: 3 cases (layer1 3)\n"
    assert len(load_suite("few")) == 3


def test_a_part_has_the_facts_of_a_gold_file(call: Any, write_suite: Any) -> None:
    suite = write_suite(NAME, "layer1_02_fee")
    Path("gold.json").write_text(json.dumps({NAME: ["forty-five"], "layer1_02_fee": ["forty-five"]}))
    assert (
        call("sample", "--suite", suite, "--gold", "gold.json", "--into", "few", "--size", "1").exit_code == 0
    )
    (case,) = load_suite("few")
    assert [fact.fact for fact in case.gold] == ["forty-five"]


def test_diff_exits_like_diff(call: Any, write_suite: Any) -> None:
    older = write_suite(NAME)
    newer = write_suite(case_header(NAME, title="Fees"), folder="newer")
    same = call("diff", older, older)
    assert (same.exit_code, same.stdout) == (0, "1 the same\n")
    told = call("diff", older, newer)
    assert told.exit_code == 1
    assert told.stdout.splitlines() == [
        f"~ {NAME}",
        "    title",
        f"      - Title of {NAME}",
        "      + Fees",
        "1 changed, 0 the same",
    ]
    brief = call("diff", older, newer, "--brief")
    assert brief.stdout.splitlines() == [f"~ {NAME}", "1 changed, 0 the same"]
    data = json.loads(call("diff", older, newer, "--format", "json").stdout)
    assert data["changed"][0]["changes"] == [
        {"place": "title", "before": f"Title of {NAME}", "after": "Fees"}
    ]
    assert call("diff", older, "nowhere").exit_code == 2
