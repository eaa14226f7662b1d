"""`runs`, `compare RUN…`, `score RUN…` and `show RUN CASE`: what is read back from the folders of runs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.systems import environment, journal, manifest, run_folder, write_cases

CASE = "layer2_01_fee"


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run three systems over a suite, once for all tests."""
    import os
    import subprocess
    import sys

    folder = tmp_path_factory.mktemp("ready")
    write_cases(folder / "suite", 4, talks=2)
    done = subprocess.run(
        [
            sys.executable, "-m", "harness", "run", "--suite", "suite",
            "-s", "bm25", "-s", "no_memory", "-s", "echo", "-s", "bad=hostile:RaisesInRecall",
        ],
        cwd=folder, capture_output=True, encoding="utf-8", timeout=120, check=True,
        env={**os.environ, "PYTHONUTF8": "1", "COLUMNS": "100", **environment()},
    )  # fmt: skip
    (folder / "table.txt").write_text(done.stdout, encoding="utf-8")
    return folder


@pytest.fixture
def here(ready: Path, tmp_path: Path) -> Path:
    """Copy what was run, for a test that may spoil it."""
    shutil.copytree(ready, tmp_path, dirs_exist_ok=True)
    return tmp_path


# ---- runs -----------------------------------------------------------------------------


def test_runs_are_listed_with_what_they_came_to(here: Path, inside: Any) -> None:
    done = inside("runs")
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 100
    rows = {line.split()[0]: line.split() for line in done.stdout.splitlines()[1:]}
    for label, answered, failed in (("bm25", "4/4", "0"), ("bad", "0/4", "4"), ("echo", "4/4", "0")):
        row = rows[run_folder(here / "runs", label).name]
        assert row[-3:-1] == [answered, failed]
    assert inside("runs", "runs").stdout == done.stdout


def test_runs_as_json_lines(here: Path, inside: Any) -> None:
    told = [json.loads(line) for line in inside("runs", "--json").stdout.splitlines()]
    assert {one["system"]["label"]: (one["answered"], one["failed"]) for one in told} == {
        "bm25": (4, 0), "no_memory": (4, 0), "echo": (4, 0), "bad": (0, 4),
    }  # fmt: skip


# ---- compare --------------------------------------------------------------------------


def test_compare_shows_the_table_that_run_showed(here: Path, recallbench: Any) -> None:
    runs = [run_folder(here / "runs", label) for label in ("bm25", "no_memory", "echo", "bad")]
    done = recallbench("compare", *runs)
    assert done.returncode == 0, done.stderr
    assert done.stdout == (here / "table.txt").read_text(encoding="utf-8")
    # A folder of runs holds the same, in the order of the names.
    flags = ("--scorer", "evidence-recall", "--format", "json")
    named, folder = (json.loads(recallbench("compare", *given, *flags).stdout) for given in (runs, ["runs"]))
    assert [one["system"] for one in folder["systems"]] == ["bad", "bm25", "echo", "no_memory"]
    assert sorted(folder["systems"], key=str) == sorted(named["systems"], key=str)


@pytest.mark.parametrize("command", ["compare", "score"])
def test_runs_that_only_recalled_are_named_and_left_out_of_a_table_of_answers(
    here: Path, inside: Any, command: str
) -> None:
    recalled = run_folder(here / "runs", "bm25")
    before = {path.name: path.read_bytes() for path in recalled.iterdir()}
    done = inside(command, "runs", "--scorer", "keyword-recall", "--format", "json")
    assert done.returncode == 0, done.stderr
    assert [one["system"] for one in json.loads(done.stdout)["systems"]] == ["echo"]
    assert "left out, since they hold memories and no answers for keyword-recall: " in done.stderr
    assert recalled.name in done.stderr
    assert {path.name: path.read_bytes() for path in recalled.iterdir()} == before
    gate = inside(command, "runs", "--scorer", "keyword-recall", "--fail-under", "0")
    assert gate.returncode == 2
    assert "a gate must not be passed by not answering" in gate.stderr
    assert recalled.name in gate.stderr


def test_evidence_recall_of_runs_without_memories_is_refused(here: Path, inside: Any) -> None:
    echo, bm25 = (run_folder(here / "runs", label) for label in ("echo", "bm25"))
    done = inside("score", echo, "--scorer", "evidence-recall")
    assert done.returncode == 2
    assert "these runs hold answers and no memories. Use --scorer keyword-recall" in done.stderr
    assert not (echo / "scores.evidence-recall.jsonl").exists()
    assert inside("score", echo, bm25, "--scorer", "evidence-recall").returncode == 0
    ran = inside("run", "-s", "echo", "--suite", "suite", "--scorer", "evidence-recall", "--runs", "other")
    assert ran.returncode == 2
    assert "kept in other/" in ran.stderr


def test_runs_over_different_cases_are_compared_over_those_both_were_asked(
    here: Path, recallbench: Any
) -> None:
    assert recallbench("run", "-s", "full_context", "--suite", "suite", "--limit", "2").returncode == 0
    done = recallbench(
        "compare", run_folder(here / "runs", "bm25"), run_folder(here / "runs", "full_context")
    )
    assert done.returncode == 0, done.stderr
    assert "2 of the 4 cases asked were asked of all" in done.stdout
    assert done.stdout.count("n=2") == 4

    assert recallbench("run", "-s", "oracle", "--suite", "suite", "--case", "layer2_04_fee").returncode == 0
    apart = recallbench(
        "compare", run_folder(here / "runs", "oracle"), run_folder(here / "runs", "full_context")
    )
    assert apart.returncode == 2
    assert "no case that oracle, full_context were all asked" in apart.stderr


def test_a_case_that_has_changed_since_is_left_out_and_named(here: Path, recallbench: Any) -> None:
    file = here / "suite/layer2/01_fee.yaml"
    file.write_text(file.read_text().replace("And I pay it on Monday", "And I have to pay it on Monday"))
    done = recallbench("compare", run_folder(here / "runs", "bm25"))
    assert done.returncode == 0, done.stderr
    assert f"Not comparable and left out, since the case has changed since a run: {CASE}." in done.stdout
    assert "n=3" in done.stdout


def test_different_budgets_are_not_comparable(here: Path, recallbench: Any) -> None:
    for budget in ("10", "20"):
        recallbench("run", "-s", f"at{budget}=bm25", "--suite", "suite", "--budget", budget)
    done = recallbench("compare", run_folder(here / "runs", "at10"), run_folder(here / "runs", "at20"))
    told = " ".join(done.stdout.split())
    assert "Not comparable, since the budget differs: at10 10 words, at20 20 words." in told


def test_runs_of_one_label_are_told_apart_by_their_folders(here: Path, recallbench: Any) -> None:
    recallbench("run", "-s", "bm25", "--suite", "suite", "--budget", "10")
    names = [path.name for path in (here / "runs").glob("bm25-*")]
    done = recallbench("compare", *(here / "runs" / name for name in names), "--format", "json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert [one["system"] for one in report["systems"]] == names
    budgets = {name: manifest(here / "runs" / name)["reader"]["budget"] for name in names}
    each = ", ".join(f"{name} {budgets[name]} words" for name in names)
    assert f"Not comparable, since the budget differs: {each}." in report["notes"]


def test_one_run_named_twice(here: Path, inside: Any) -> None:
    done = inside("compare", run_folder(here / "runs", "bm25"), "runs")
    assert done.returncode == 2
    assert "this run is named twice" in done.stderr


def test_layer_and_case_narrow_a_comparison(here: Path, inside: Any) -> None:
    run = run_folder(here / "runs", "bm25")
    assert "n=1" in inside("compare", run, "--case", CASE).stdout
    assert "no case in layer3" in inside("compare", run, "--layer", "layer3").stderr


def test_gates_hold_over_runs_too(here: Path, inside: Any) -> None:
    done = inside("compare", "runs", "--fail-under", "0.5")
    assert done.returncode == 1
    assert "bad 0 (0/4 scored)" in done.stderr
    assert inside("compare", run_folder(here / "runs", "bm25"), "--fail-under", "0.5").returncode == 0


def _torn(run: Path) -> None:
    lines = (run / "answers.jsonl").read_text().splitlines(keepends=True)
    (run / "answers.jsonl").write_text("".join([lines[0], lines[1][:30] + "\n", *lines[2:]]))


def _record(run: Path) -> None:
    lines = (run / "answers.jsonl").read_text().splitlines(keepends=True)
    (run / "answers.jsonl").write_text("".join([*lines[:2], '{"case": "layer2_03_fee"}\n', *lines[3:]]))


def _binary(run: Path) -> None:
    (run / "answers.jsonl").write_bytes(b"\xff\xfe\x00\n" * 3)


def _manifest(text: str) -> Callable[[Path], None]:
    def spoil(run: Path) -> None:
        (run / "manifest.json").write_text(text)

    return spoil


DAMAGED: dict[str, tuple[Callable[[Path], None], str]] = {
    "a torn line in the middle": (
        _torn,
        "answers.jsonl:2: no JSON object. Restore the file, or remove the run.",
    ),
    "an object that is no record": (
        _record,
        "answers.jsonl:3: names no case and repeat. Restore the file, or remove the run.",
    ),
    "bytes": (_binary, "answers.jsonl:1: no JSON object"),
    "an empty manifest": (_manifest(""), "manifest.json: no manifest of a run"),
    "another manifest": (_manifest("{}"), "manifest.json: no manifest of a run"),
    "a list": (_manifest("[]"), "manifest.json: no manifest of a run"),
    "a later schema": (_manifest('{"schema": "recallbench.run/9"}'), "this version reads recallbench.run/1"),
}


@pytest.mark.parametrize("args", [("compare",), ("score",), ("show",), ("runs",)], ids=lambda args: args[0])
@pytest.mark.parametrize(("spoil", "said"), DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_run_is_named_with_file_and_line(
    here: Path, inside: Any, spoil: Callable[[Path], None], said: str, args: tuple[str, ...]
) -> None:
    run = run_folder(here / "runs", "bm25")
    spoil(run)
    done = inside(*args, run, *((CASE,) if args == ("show",) else ()))
    assert done.returncode == 2, done.stdout
    assert said in done.stderr
    assert str(run) in done.stderr
    assert "internal error" not in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("spoil", [_torn, _manifest("{}")], ids=["journal", "manifest"])
def test_a_damaged_run_is_not_gone_on_with(here: Path, inside: Any, spoil: Callable[[Path], None]) -> None:
    run = run_folder(here / "runs", "bm25")
    spoil(run)
    before = {path.name: path.read_bytes() for path in run.iterdir()}
    done = inside("run", "-s", "bm25", "--suite", "suite")
    assert done.returncode == 2
    assert str(run.name) in done.stderr
    assert {path.name: path.read_bytes() for path in run.iterdir()} == before


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("compare", "suite"), "suite: holds no run. `recallbench run --system NAME` makes one."),
        (("compare", "gone", "runs"), "gone: no such file or folder."),
        (("compare", "runs", "table.txt"), "Name one responses file, or runs."),
        (("compare", "runs", "--partial"), "--partial is for responses files"),
        (("compare", "runs", "--format", "json"), "Name one with --scorer"),
        (("compare", "runs", "--judge", "x"), "--judge is for --scorer llm-judge"),
        (("score", "gone"), "gone: no such folder"),
        (("score",), "Missing argument 'RUN…'"),
        (("runs", "gone"), "gone: no such folder. Name a run, or a folder of runs."),
        (("show", "gone", CASE), "gone: no such folder"),
        (("show", "runs", CASE, "--brief"), "--conversation and --brief are for a case by itself"),
        (("show", "runs", "layer2_99_fee"), "there is no case 'layer2_99_fee'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_cannot_be_read(here: Path, inside: Any, args: tuple[str, ...], said: str) -> None:
    done = inside(*args)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_manifest_is_never_overwritten_by_an_output(here: Path, inside: Any) -> None:
    run = run_folder(here / "runs", "bm25")
    done = inside("compare", run, "-o", run / "manifest.json")
    assert done.returncode == 2
    assert "would overwrite what is read" in done.stderr
    assert manifest(run)["system"]["label"] == "bm25"


def test_a_suite_that_has_moved_is_asked_for(here: Path, inside: Any) -> None:
    (here / "suite").rename(here / "elsewhere")
    run = run_folder(here / "runs", "bm25")
    lost = inside("compare", run)
    assert lost.returncode == 2
    assert "Name the suite of the runs with --suite, and the gold file" in lost.stderr
    assert inside("compare", run, "--suite", "elsewhere").returncode == 0


# ---- score ----------------------------------------------------------------------------


@pytest.mark.parametrize("scorer", ["exact-match", "token-f1", "keyword-recall", "evidence-recall"])
def test_score_writes_the_scores_of_one_scorer(here: Path, inside: Any, scorer: str) -> None:
    run = run_folder(here / "runs", "bm25" if scorer == "evidence-recall" else "echo")
    before = (run / "answers.jsonl").read_bytes()
    done = inside("score", run, "--scorer", scorer)
    assert done.returncode == 0, done.stderr
    rows = journal(run / f"scores.{scorer}.jsonl")
    assert [row["case"] for row in rows] == [f"layer2_0{at}_fee" for at in range(1, 5)]
    assert {row["scorer"] for row in rows} == {scorer}
    assert (run / "answers.jsonl").read_bytes() == before
    assert inside("compare", run, "--scorer", scorer).stdout == done.stdout


@pytest.mark.parametrize("command", ["score", "compare"])
@pytest.mark.parametrize("scorer", ["keyword-recall", "exact-match"])
def test_answers_are_not_looked_for_in_runs_that_only_recalled(
    here: Path, inside: Any, command: str, scorer: str
) -> None:
    recalled = [run_folder(here / "runs", label) for label in ("bm25", "no_memory")]
    done = inside(command, *recalled, "--scorer", scorer)
    assert done.returncode == 2
    assert f"--scorer {scorer}: these runs hold memories and no answers." in done.stderr
    assert not (recalled[0] / f"scores.{scorer}.jsonl").exists()
    assert inside(command, *recalled, run_folder(here / "runs", "echo"), "--scorer", scorer).returncode == 0


def test_scoring_a_part_of_a_run_again_keeps_the_other_scores(here: Path, inside: Any) -> None:
    run = run_folder(here / "runs", "bm25")
    path = run / "scores.evidence-recall.jsonl"
    whole = path.read_bytes()
    assert len(journal(path)) == 4
    for flags in (
        ("--case", CASE),
        ("--layer", "layer2"),
        ("--case", "layer2_03*", "--pass-threshold", "0.7"),
    ):
        assert inside("score", run, *flags).returncode == 0
        assert path.read_bytes() == whole
    (here / "gold.json").write_text(json.dumps({CASE: {"required_facts": ["no such thing"]}}))
    done = inside("score", run, "--gold", "gold.json")
    assert done.returncode == 0
    assert f"the case has changed since a run: {CASE}." in " ".join(done.stdout.split())
    assert path.read_bytes() == whole, "scores by gold that is not the run's own are not written"


def test_a_case_scored_again_takes_the_place_of_its_score(here: Path, inside: Any) -> None:
    run = run_folder(here / "runs", "bm25")
    path = run / "scores.evidence-recall.jsonl"
    rows = journal(path)
    path.write_text("".join(json.dumps({**row, "reward": 0.25}) + "\n" for row in rows))
    assert inside("score", run, "--case", CASE).returncode == 0
    assert [row["reward"] for row in journal(path)] == [1.0, 0.25, 0.25, 0.25]
    path.write_text('{"case": 3}\n')
    done = inside("score", run, "--case", CASE)
    assert done.returncode == 2
    assert f"{path.name}:1: names no case. Remove the file and score the run again." in done.stderr
    assert inside("score", run).returncode == 0, "scoring the whole run mends it"
    assert journal(path) == rows


def test_compare_writes_nothing(here: Path, inside: Any) -> None:
    before = sorted(path for path in (here / "runs").rglob("*"))
    inside("compare", "runs", "--scorer", "token-f1")
    assert sorted(path for path in (here / "runs").rglob("*")) == before


# ---- show -----------------------------------------------------------------------------


def test_show_tells_what_went_in_and_what_came_back(here: Path, inside: Any) -> None:
    done = inside("show", run_folder(here / "runs", "bm25"), CASE)
    assert done.returncode == 0, done.stderr
    for part in (
        "Delivered",
        "conv_001",
        "conv_002",
        "business",
        "Recalled: ",
        "So the fee is $45 now?",
        "reward 1.00",
    ):
        assert part in done.stdout
    failed = inside("show", run_folder(here / "runs", "bad"), CASE)
    assert "system error: raised in recall: KeyError: 'score'" in failed.stdout
    answered = inside("show", run_folder(here / "runs", "echo"), CASE)
    assert "What is the fee, and when is it due?" in answered.stdout
    everything = inside("show", "runs", CASE)
    assert everything.stdout.count("Delivered") == 4


def test_show_of_many_runs_leaves_out_those_that_do_not_have_the_case(here: Path, inside: Any) -> None:
    inside("run", "-s", "oracle", "--suite", "suite", "--case", "layer2_04_fee")
    oracle = run_folder(here / "runs", "oracle")
    done = inside("show", "runs", CASE)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Delivered") == 4
    assert f"{oracle.relative_to(here)}: {CASE} was not asked in this run." in done.stdout
    alone = inside("show", oracle, CASE)
    assert alone.returncode == 2
    assert f"{CASE} was not asked in this run." in alone.stderr


@pytest.mark.parametrize("command", ["compare", "score"])
def test_arguments_are_no_options_in_the_help(inside: Any, command: str) -> None:
    usage, _, listed = inside(command, "--help").stdout.partition("Options:")
    assert "RUN…" in usage
    assert "RUN…" not in listed
