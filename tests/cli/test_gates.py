"""Gates as a user meets them: what is refused before any work, what breaks, the exit status, GitHub."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.cli.systems import environment, run_folder, write_cases
from tests.model_server import Server

RIGHT = "The fee is $45, due March 24."
STALE = "The fee is $30, due March 24."
IDS = [f"layer{1 + at % 3}_{at:02}_fee" for at in range(9)]


@pytest.fixture
def suite(write_suite: Any) -> Path:
    return write_suite(*IDS)


def answers(folder: Path, name: str = "answers.json", **systems: Sequence[str | None]) -> Path:
    path = folder / name
    data = {system: dict(zip(IDS, texts, strict=True)) for system, texts in systems.items()}
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


@pytest.fixture
def old(suite: Path, tmp_path: Path, inside: Any) -> Path:
    """Write the report of an earlier result, in which two systems were right throughout."""
    answers(tmp_path, "before.json", mem=[RIGHT] * 9, other=[RIGHT] * 9)
    done = inside("compare", "before.json", "--suite", "suite", "-o", "old.json")
    assert done.returncode == 0, done.stderr
    return tmp_path / "old.json"


def gated(inside: Any, *flags: str) -> Any:
    return inside("compare", "answers.json", "--suite", "suite", *flags)


def test_a_baseline_named_twice_is_held_once(old: Path, tmp_path: Path, inside: Any) -> None:
    answers(tmp_path, mem=[STALE] * 6 + [RIGHT] * 3)
    once = gated(inside, "--not-below", "mem=old.json")
    twice = gated(inside, *["--not-below", "mem=old.json"] * 2)
    assert "(p 0.031)" in once.stderr
    assert (once.returncode, twice.returncode) == (1, 1)
    assert once.stderr == twice.stderr


# ---- floors ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("floors", "named"),
    [
        (["0.5"], []),
        (["mem=1", "stale:layer1=0.5"], []),
        (["layer2=0.6"], ["layer2=0.6 not met", "stale:layer2 0.5 (3/3 scored)"]),
        (["stale=0.51", "0.2", "stale:layer3=0.9"], ["stale=0.51 not met", "stale:layer3=0.9 not met"]),
    ],
    ids=lambda value: " ".join(value),
)
def test_floors(suite: Path, tmp_path: Path, inside: Any, floors: list[str], named: list[str]) -> None:
    answers(tmp_path, mem=[RIGHT] * 9, stale=[STALE] * 9)
    done = gated(inside, *(part for floor in floors for part in ("--fail-under", floor)))
    assert done.returncode == bool(named)
    assert "Overall" in done.stdout, "the table stands whether or not the gate is met"
    assert all(part in done.stderr for part in named), done.stderr
    assert done.stderr.count("not met") == sum("not met" in part for part in named)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--fail-under", "layer2"], "write X, LAYER=X, SYSTEM=X or SYSTEM:LAYER=X"),
        (["--fail-under", "mem=2"], "not in the range"),
        (["--fail-under", "men=0.5"], "men is no system, no layer and no SYSTEM:LAYER here. Systems: mem."),
        (["--fail-under", "layer3=0.5", "--layer", "layer1"], "layer3 is no system"),
        (
            ["--not-below", "gone.json"],
            "gone.json: is no JSON report, no run and no other system of the table (mem)",
        ),
        (["--not-below", "mem=mem"], "is no JSON report, no run and no other system"),
        (["--not-below", "mem"], "there is no other system"),
        (["--not-below", "suite"], "holds no run"),
        (["--not-below", "answers.json"], "no report of a comparison"),
        (["--margin", "0.1"], "--margin is for --not-below"),
        (["--not-below", "old.json", "--margin", "nan"], "not in the range"),
        (["--not-below", "old.json", "--partial"], "--not-below does not go with --partial"),
        (["--fail-under", "0.5", "--partial"], "--fail-under does not go with --partial"),
        (["--not-below", "old.json", "-o", "old.json"], "would overwrite what is read"),
        (
            ["--not-below", "old.json", "--scorer", "token-f1"],
            "was scored by keyword-recall, this by token-f1",
        ),
        (
            ["--not-below", "old.json", "--scorer", "keyword-recall(dump_factor=8)"],
            "was scored by keyword-recall(dump_factor=5.0), this by keyword-recall(dump_factor=8.0)",
        ),
        (["--max-errors", "2"], "not in the range"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_gated_is_one_clear_line(
    old: Path, tmp_path: Path, inside: Any, flags: list[str], said: str
) -> None:
    answers(tmp_path, mem=[RIGHT] * 9)
    done = gated(inside, *flags)
    assert done.returncode == 2, done.stdout
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_names_are_looked_at_before_a_run_begins(tmp_path: Path, inside: Any) -> None:
    write_cases(tmp_path / "suite", 2)
    for flags in (("--fail-under", "bm=0.5"), ("--not-below", "bm")):
        done = inside("run", "-s", "bm25", "--suite", "suite", *flags)
        assert done.returncode == 2
        assert "bm25" in done.stderr
        assert not (tmp_path / "runs").exists()


# ---- never below ----------------------------------------------------------------------


def test_a_fall_beyond_chance_is_a_breach_and_names_the_cases(old: Path, tmp_path: Path, inside: Any) -> None:
    answers(tmp_path, mem=[STALE] * 8 + [None], other=[RIGHT] * 8 + [STALE])
    done = gated(inside, "--not-below", "old.json")
    assert done.returncode == 1
    assert (
        "--not-below old.json not met: mem 0.4444, below 1 of old.json over 9 cases (p 0.008); 9 fell"
        in done.stderr
    )
    assert f"{IDS[8]}: 1 → 0 (missing, counts as 0)" in done.stderr
    assert f"{IDS[0]}: 1 → 0.5 (missing: fee; stated wrongly: old_fee)" in done.stderr
    assert "--not-below old.json met: other 0.9444, below 1" in done.stderr
    within = gated(inside, "--not-below", "old.json", "--margin", "0.6")
    assert within.returncode == 0
    assert "met: mem 0.4444, below 1 of old.json over 9 cases (p 0.008), within the margin 0.6; 9 fell" in (
        within.stderr
    )
    beyond = gated(inside, "--not-below", "old.json", "--margin", "0.5")
    assert beyond.returncode == 1
    assert "within the margin" not in beyond.stderr.partition("met: mem")[2].partition("\n")[0]


def test_a_fall_that_may_be_chance_is_told_and_is_no_breach(old: Path, tmp_path: Path, inside: Any) -> None:
    answers(tmp_path, mem=[STALE] * 5 + [RIGHT] * 4)
    done = gated(inside, "--not-below", "old.json")
    assert done.returncode == 0
    assert "met: mem 0.7222, below 1 of old.json over 9 cases (p 0.062); 5 fell" in done.stderr


def test_another_system_of_the_table(suite: Path, tmp_path: Path, inside: Any) -> None:
    answers(tmp_path, best=[RIGHT] * 9, stale=[STALE] * 9, fine=[RIGHT] * 9)
    done = gated(inside, "--not-below", "best")
    assert done.returncode == 1
    assert "stale 0.5, below 1 of best over 9 cases" in done.stderr
    assert "met: fine 1, against 1 of best" in done.stderr
    assert gated(inside, "--not-below", "fine=best").returncode == 0
    assert gated(inside, "--not-below", "stale=best").returncode == 1
    assert gated(inside, "--not-below", "fine=best", "--not-below", "best=fine").returncode == 0


def test_a_baseline_of_one_is_for_every_system_and_of_others_for_none(
    old: Path, tmp_path: Path, inside: Any
) -> None:
    answers(tmp_path, new=[RIGHT] * 9)
    done = gated(inside, "--not-below", "old.json")
    assert done.returncode == 2
    assert "holds mem, other, and nothing of new" in done.stderr
    answers(tmp_path, new=[RIGHT] * 9, mem=[RIGHT] * 9)
    done = gated(inside, "--not-below", "old.json")
    assert "holds nothing of, and does not gate: new" in done.stderr
    data = json.loads(old.read_text())
    data["systems"] = data["systems"][:1]
    old.write_text(json.dumps(data))
    answers(tmp_path, new=[STALE] * 9)
    done = gated(inside, "--not-below", "old.json")
    assert done.returncode == 1
    assert "new 0.5, below 1 of mem in old.json" in done.stderr


def test_a_layer_is_held_against_the_same_cases_of_the_baseline(
    old: Path, tmp_path: Path, inside: Any
) -> None:
    answers(tmp_path, mem=[RIGHT] * 9)
    done = gated(inside, "--not-below", "old.json", "--layer", "layer1")
    assert done.returncode == 0
    assert "over 3 cases" in done.stderr


def test_other_cases_are_refused(old: Path, write_suite: Any, tmp_path: Path, inside: Any) -> None:
    answers(tmp_path, mem=[RIGHT] * 9)
    file = tmp_path / "suite" / "layer1" / "00_fee.yaml"
    before = file.read_text()
    file.write_text(before.replace("A small case.", "Another case."))
    done = gated(inside, "--not-below", "old.json")
    assert done.returncode == 2
    assert "was measured on other cases: their wording in suite is another" in done.stderr
    file.write_text(before)
    data = json.loads(old.read_text())
    data["systems"][0]["cases"][0]["test_id"] = "layer1_77_gone"
    old.write_text(json.dumps(data))
    assert "layer1_77_gone not in suite" in gated(inside, "--not-below", "old.json").stderr


def test_a_run_is_a_baseline_scored_as_the_table_is(tmp_path: Path, inside: Any, recallbench: Any) -> None:
    write_cases(tmp_path / "suite", 8)
    assert inside("run", "-s", "bm25", "--suite", "suite", "--runs", "old").returncode == 0
    done = recallbench("run", "-s", "no_memory", "-s", "bm25", "--suite", "suite", "--not-below", "old")
    assert done.returncode == 0, done.stderr
    assert "bm25 1, against 1 of old over 8 cases" in done.stderr
    assert "does not gate: no_memory" in done.stderr
    done = recallbench("compare", "runs", "--not-below", f"no_memory={run_folder(tmp_path / 'old', 'bm25')}")
    assert done.returncode == 1
    assert "no_memory 0, below 1 of bm25 in " in done.stderr
    file = next((tmp_path / "suite").rglob("*.yaml"))
    file.write_text(file.read_text() + "\n")
    done = recallbench("compare", "runs", "--not-below", "old")
    assert done.returncode == 2
    assert "was asked other cases than suite has" in done.stderr or "were all asked" in done.stderr


@pytest.mark.parametrize("kind", ["run", "report", "system"])
@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        (("--budget", "300"), ("--budget", "5000"), "its budget was 300 words, here it is 5,000 (--budget)"),
        (("--recall-limit", "3"), (), "it was asked for 3 memories, here for 100 (--recall-limit)"),
    ],
    ids=["budget", "limit"],
)
def test_a_baseline_of_another_budget_is_not_comparable(
    tmp_path: Path, inside: Any, kind: str, before: tuple[str, ...], now: tuple[str, ...], said: str
) -> None:
    write_cases(tmp_path / "suite", 2)
    systems = ("-s", "bm25", "-s", "oracle", "--suite", "suite")
    assert inside("run", *systems, *before, "--runs", "old", "-o", "old.json").returncode == 0
    assert inside("run", *systems, *now, "--runs", "new").returncode == 0
    old, new = (run_folder(tmp_path / root, "bm25") for root in ("old", "new"))
    if kind == "system":
        named, held = new.name, (str(old), str(new), "--not-below", f"{new.name}={old.name}")
    else:
        named, held = "bm25", ("new", "--not-below", "old" if kind == "run" else "old.json")
    done = inside("compare", *held)
    assert done.returncode == 2, done.stderr
    assert f"is not comparable with {named}: {said}" in done.stderr
    if kind != "system":
        control = inside("compare", "new", "--not-below", f"oracle={'old' if kind == 'run' else 'old.json'}")
        assert control.returncode == 0, "a control is not cut to any budget"
        again = inside("compare", "old", "--not-below", "old" if kind == "run" else "old.json")
        assert again.returncode == 0, again.stderr
        assert "not known" not in again.stderr


def test_a_baseline_that_says_nothing_of_its_budget_is_told(tmp_path: Path, inside: Any) -> None:
    write_cases(tmp_path / "suite", 2)
    assert inside("run", "-s", "bm25", "--suite", "suite", "-o", "old.json").returncode == 0
    report = json.loads((tmp_path / "old.json").read_text())
    del report["disclosure"]
    (tmp_path / "old.json").write_text(json.dumps(report))
    done = inside("compare", "runs", "--not-below", "old.json")
    assert done.returncode == 0
    assert "--not-below old.json: is not known to have the same reader and budget: bm25" in done.stderr


def test_a_baseline_that_holds_something_twice_is_refused(old: Path, tmp_path: Path, inside: Any) -> None:
    answers(tmp_path, mem=[STALE] * 9)
    report = json.loads(old.read_text())
    mem = report["systems"][0]
    old.write_text(json.dumps({**report, "systems": [*report["systems"], mem]}))
    done = gated(inside, "--not-below", "old.json")
    assert done.returncode == 2
    assert "--not-below old.json: holds the system mem twice" in done.stderr
    mem["cases"].append({**mem["cases"][0], "reward": 0.0})
    old.write_text(json.dumps(report))
    done = gated(inside, "--not-below", "old.json")
    assert done.returncode == 2
    assert f"--not-below old.json: holds {IDS[0]} of mem twice" in done.stderr


def test_a_baseline_of_another_judge_is_refused(server: Server, fees: Path, inside: Any) -> None:
    judged = ("compare", "answers.json", "--suite", "suite", "--scorer", "llm-judge")
    judge = ("--base-url", server.base_url, "--model", "rules")
    assert inside(*judged, *judge, "-o", "old.json").returncode == 0
    same = inside(*judged, *judge, "--not-below", "old.json", "--format", "github")
    assert same.returncode == 0, same.stderr
    assert "met: good 1, against 1 of old.json over 2 cases" in same.stderr
    other = inside(*judged, *judge, "--not-below", "old.json", "--per-criterion")
    assert other.returncode == 2
    assert "was judged by another judge, or with other prompts" in other.stderr
    assert "Overall" in other.stdout, "what was judged is shown all the same"


# ---- two tables -----------------------------------------------------------------------


@pytest.fixture
def mixed(server: Server, tmp_path: Path, inside: Any) -> Path:
    """Write `base.json` of three systems that only recall, and `runs`, in which a model now reads for one of them."""
    write_cases(tmp_path / "suite", 6)
    recalling = ("run", "-s", "bm25", "-s", "no_memory", "-s", "oracle", "--suite", "suite")
    assert inside(*recalling, "--runs", "old", "-o", "base.json").returncode == 0
    assert inside(*recalling[:1], *recalling[3:], "--runs", "runs").returncode == 0
    read = inside(
        "run", "-s", "bm25", "--reader", "llm", "--base-url", server.base_url, "--model", "rules",
        "--suite", "suite", "--runs", "runs",
    )  # fmt: skip
    assert read.returncode == 0, read.stderr
    return tmp_path / "runs"


@pytest.mark.parametrize("baseline", ["base.json", "bm25=base.json"])
def test_a_system_that_stands_in_another_table_than_its_baseline_is_refused(
    mixed: Path, inside: Any, baseline: str
) -> None:
    done = inside("compare", "runs", "--not-below", baseline)
    assert done.returncode == 2
    assert (
        f"--not-below {baseline}: bm25 stands in the keyword-recall table, the baseline was scored by "
        "evidence-recall. Run it as the baseline was run" in done.stderr
    )
    assert inside("compare", "runs", "--not-below", "no_memory=base.json").returncode == 0


def test_a_folder_of_runs_says_which_systems_of_every_table_it_leaves_out(
    mixed: Path, tmp_path: Path, inside: Any
) -> None:
    done = inside("compare", "runs", "--not-below", "old")
    assert done.returncode == 2
    assert "--not-below old: bm25 is not comparable with bm25: its reader was extractive" in done.stderr
    done = inside("compare", "runs", "--not-below", str(run_folder(tmp_path / "old", "oracle")))
    assert done.returncode == 0, done.stderr
    assert "holds nothing of, and does not gate: no_memory, bm25" in done.stderr


def test_a_system_of_one_table_says_which_of_another_it_does_not_gate(
    mixed: Path, tmp_path: Path, inside: Any
) -> None:
    done = inside("compare", "runs", "--not-below", "no_memory")
    assert done.returncode == 0, done.stderr
    assert (
        "--not-below no_memory: stands in the evidence-recall table, and does not gate what stands in another: "
        "bm25 (keyword-recall)" in done.stderr
    )
    assert "met: oracle 1, against 0 of no_memory" in done.stderr
    for baseline in ("bm25", "oracle=bm25"):
        done = inside("compare", "runs", "--not-below", baseline)
        assert done.returncode == 2
        assert f"--not-below {baseline}: bm25 stands in the keyword-recall table" in done.stderr
        assert "oracle (evidence-recall)" in done.stderr


# ---- before a run ---------------------------------------------------------------------


@pytest.mark.parametrize("more", [(), ("--dry-run",)], ids=["run", "dry"])
@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--budget", "300", "--not-below", "old.json"), "its budget was 1,000 words, here it is 300"),
        (("--budget", "300", "--not-below", "old"), "its budget was 1,000 words, here it is 300"),
        (("--recall-limit", "3", "--not-below", "bm25=old"), "it was asked for 100 memories, here for 3"),
        (("-s", "echo", "--not-below", "other.json"), "was scored by token-f1, this by evidence-recall"),
        (("--not-below", "bm25"), "there is no other system"),
        (("--not-below", "old.json", "--case", "layer2_03*"), "have no scored case in common"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_baseline_that_will_not_fit_is_refused_before_a_run_begins(
    tmp_path: Path, inside: Any, flags: tuple[str, ...], said: str, more: tuple[str, ...]
) -> None:
    write_cases(tmp_path / "suite", 3)
    first = ("--case", "layer2_01*", "--case", "layer2_02*")
    old = inside("run", "-s", "bm25", "--suite", "suite", *first, "--runs", "old", "-o", "old.json")
    assert old.returncode == 0, old.stderr
    report = json.loads((tmp_path / "old.json").read_text())
    del report["disclosure"]
    (tmp_path / "other.json").write_text(json.dumps({**report, "scorer": "token-f1"}))
    done = inside("run", "-s", "bm25", "--suite", "suite", *flags, *more)
    assert done.returncode == 2, done.stdout
    assert said in done.stderr
    assert not (tmp_path / "runs").exists()
    assert "Questions" not in done.stdout


# ---- errors ---------------------------------------------------------------------------


@pytest.mark.parametrize(("limit", "status"), [("0", 1), ("0.2", 1), ("0.3", 0), ("1", 0)])
def test_errors_over_answers(suite: Path, tmp_path: Path, inside: Any, limit: str, status: int) -> None:
    data: dict[str, Any] = dict.fromkeys(IDS, RIGHT)
    data |= {name: {"error": "timed out"} for name in IDS[:2]}
    (tmp_path / "answers.json").write_text(json.dumps({"mem": data}))
    done = gated(inside, "--max-errors", limit)
    assert done.returncode == status
    assert ("2 errors in 9 answers: mem 2 reported (system error)" in done.stderr) == bool(status)


@pytest.mark.parametrize("command", ["compare", "score", "report"])
def test_errors_over_runs(tmp_path: Path, recallbench: Any, inside: Any, command: str) -> None:
    write_cases(tmp_path / "suite", 2)
    ran = recallbench(
        "run", "-s", "bm25", "-s", "bad=hostile:RaisesInRecall", "--suite", "suite", env=environment()
    )
    assert ran.returncode == 0, ran.stderr
    done = inside(command, "runs", "--max-errors", "0.4")
    assert done.returncode == 1, done.stderr
    assert "2 errors in 4 answers: bad 2 raised (system error)" in done.stderr
    assert inside(command, "runs", "--max-errors", "0.5").returncode == 0


def test_errors_are_counted_over_every_repeat_as_the_run_counted_them(
    tmp_path: Path, recallbench: Any, inside: Any
) -> None:
    write_cases(tmp_path / "suite", 3)
    asked = ("run", "-s", "mem=quick:Quick", "--suite", "suite", "--repeats", "3")
    assert recallbench(*asked, env=environment()).returncode == 0
    path = run_folder(tmp_path / "runs", "mem") / "answers.jsonl"
    lines = path.read_text().splitlines()
    first = next(at for at, line in enumerate(lines) if json.loads(line)["repeat"] == 1)
    failed = {**json.loads(lines[first]), "failure": {"kind": "raised", "message": "no", "phase": "recall"}}
    failed = {name: value for name, value in failed.items() if name not in ("answer", "memories", "kept")}
    path.write_text("\n".join([*lines[:first], json.dumps(failed), *lines[first + 1 :]]) + "\n")
    for limit, status in (("0.1", 1), ("0.12", 0)):  # 1 of 9 is 0.11, 1 of 3 cases would be 0.33
        ran = recallbench(*asked, "--max-errors", limit, env=environment())
        compared = inside("compare", "runs", "--max-errors", limit)
        assert (ran.returncode, compared.returncode) == (status, status), ran.stderr + compared.stderr
        if status:
            assert "1 system errors in 9 answers" in ran.stderr
            assert "1 error in 9 answers: mem 1 raised (system error)" in compared.stderr
    written = inside("compare", "runs", "--format", "json")
    (case,) = (one for one in json.loads(written.stdout)["systems"][0]["cases"] if one["outcome"] != "scored")
    assert case["reason"] == "system error (raised): in recall: no"


# ---- GitHub ---------------------------------------------------------------------------


def test_annotations_and_the_step_summary(suite: Path, tmp_path: Path, recallbench: Any) -> None:
    answers(tmp_path, mem=[RIGHT] * 8 + [STALE])
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    done = recallbench(
        "compare", "answers.json", "--suite", "suite", "--format", "github", "--fail-under", "0.99",
        env={"GITHUB_STEP_SUMMARY": str(summary)},
    )  # fmt: skip
    assert done.returncode == 1
    error, warning = done.stdout.splitlines()
    assert error.startswith("::error title=--fail-under 0.99 not met::--fail-under 0.99 not met (missing")
    assert warning == (
        f"::warning title=mem%3A {IDS[8]}::reward 0.5, passes from 0.6; missing: fee; stated wrongly: old_fee"
    )
    text = summary.read_text()
    assert text.startswith("before\n## recallbench\n")
    assert "--fail-under 0.99 not met" in text
    assert "| Overall (mean over cases) |" in text


def test_a_gate_that_could_not_be_held_is_annotated_summed_up_and_an_error_in_junit(
    old: Path, tmp_path: Path, recallbench: Any
) -> None:
    answers(tmp_path, new=[RIGHT] * 9)
    summary = tmp_path / "summary.md"
    done = recallbench(
        "compare", "answers.json", "--suite", "suite", "--format", "github", "-o", "junit.xml",
        "--not-below", "old.json", "--fail-under", "1",
        env={"GITHUB_STEP_SUMMARY": str(summary)},
    )  # fmt: skip
    assert done.returncode == 2
    why = "--not-below old.json: holds mem, other, and nothing of new"
    assert why in done.stderr
    (line,) = done.stdout.splitlines()
    assert line.startswith(f"::error title=--not-below old.json could not be held::{why}")
    assert f"could not be held: {why}" in summary.read_text()
    gates = ElementTree.parse(tmp_path / "junit.xml").getroot()[-1]
    assert (gates.get("name"), gates.get("failures"), gates.get("errors")) == ("gates", "0", "1")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("run", "-s", "no_memory", "--not-below", "nobody"), "nobody: is no JSON report"),
        (("run", "-s", "no_memory", "--not-below", "old.json"), "was scored by keyword-recall"),
        (("compare", "answers.json", "--fail-under", "men=1"), "men is no system"),
    ],
    ids=["name", "scorer", "floor"],
)
def test_what_is_refused_before_the_work_is_annotated_too(
    old: Path, tmp_path: Path, inside: Any, command: tuple[str, ...], said: str
) -> None:
    answers(tmp_path, new=[RIGHT] * 9)
    done = inside(*command, "--suite", "suite", "--format", "github")
    assert done.returncode == 2
    (line,) = done.stdout.splitlines()
    assert line.startswith("::error title=gates could not be held::")
    assert said in line
    assert said in done.stderr


def test_a_summary_that_cannot_be_written_closes_no_gate(
    suite: Path, tmp_path: Path, recallbench: Any
) -> None:
    answers(tmp_path, mem=[RIGHT] * 9)
    done = recallbench(
        "compare", "answers.json", "--suite", "suite", "--format", "github",
        env={"GITHUB_STEP_SUMMARY": str(tmp_path / "no" / "where")},
    )  # fmt: skip
    assert done.returncode == 0
    assert "cannot be written" in done.stderr


def test_a_summary_that_is_full_is_not_made_longer_than_github_takes(
    suite: Path, tmp_path: Path, recallbench: Any
) -> None:
    answers(tmp_path, mem=[STALE] * 9)
    summary = tmp_path / "summary.md"
    summary.write_bytes(b"x" * (1024 * 1024 - 200))
    recallbench(
        "compare", "answers.json", "--suite", "suite", "--format", "github",
        env={"GITHUB_STEP_SUMMARY": str(summary)},
    )  # fmt: skip
    assert 1024 * 1024 - 200 < summary.stat().st_size < 1024 * 1024
