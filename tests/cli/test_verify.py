"""`recallbench verify`: reports held against the journals of their runs, edited by hand or not."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.report import attribution, disclosure, json_report
from harness.suite import load_suite
from tests.conftest import case_header
from tests.model_server import Server
from tests.runs.made import FAILED, RIGHT, made_run, record

CASES = ("layer1_01_fee", "layer1_02_fee", "layer2_01_fee")


@pytest.fixture
def runs(write_suite: Any, tmp_path: Path) -> Path:
    """Write two runs with answers and one that only recalled, over three cases."""
    suite = load_suite(write_suite(*CASES))
    one, two, three = CASES
    good = [record(case, answer=f"{RIGHT} That is {case}.", memories=["$45"]) for case in CASES]
    bad = [record(one, answer="It is $45."), record(two, failure=FAILED), record(three, answer="No idea.")]
    made_run(tmp_path, suite, *good, label="good")
    made_run(tmp_path, suite, *bad, label="bad", reader="own")
    recalled = [record(case, memories=["the fee is $45", "talk"]) for case in CASES]
    made_run(tmp_path / "recalled", suite, *recalled, label="bm25", reader="extractive")
    return tmp_path / "runs"


@pytest.fixture
def report(runs: Path, inside: Any) -> Path:
    """Compare the runs, as JSON."""
    done = inside("compare", "runs", "-o", "report.json")
    assert done.returncode == 0, done.stderr
    return runs.parent / "report.json"


def journal_of(runs: Path, label: str) -> Path:
    return next(runs.glob(f"{label}-*")) / "answers.jsonl"


def edit_line(path: Path, case: str, edit: Callable[[dict[str, Any]], None]) -> None:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for one in lines:
        if one["case"] == case:
            edit(one)
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))


def claim(report: Path, edit: Callable[[dict[str, Any]], Any]) -> None:
    data = json.loads(report.read_text())
    edit(data)
    report.write_text(json.dumps(data))


def test_a_report_as_it_was_written_agrees(report: Path, recallbench: Any) -> None:
    done = recallbench("verify", "report.json", "runs")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.fullmatch(
        r"report\.json: \d+ numbers and \d+ other fields agree, nothing differs\.\n", done.stdout
    )


def test_one_answer_changed_by_hand_is_named(report: Path, runs: Path, recallbench: Any) -> None:
    edit_line(journal_of(runs, "good"), CASES[1], lambda one: one.update(answer="The fee is $54."))
    done = recallbench("verify", "report.json", "runs")
    assert done.returncode == 1
    assert f"differs: systems[good].cases[{CASES[1]}].reward: reported 1.0, recomputed 0.0\n" in done.stdout
    assert f"answer that differs: good {CASES[1]}\n" in done.stdout
    assert done.stdout.count("answer that differs") == 1
    assert CASES[0] not in done.stdout
    assert "differs: systems[good].summary.layer1.mean: reported 1.0, recomputed 0.5\n" in done.stdout


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(lambda one: one.update(memories=[{"id": "0", "text": "$45 and more"}]), id="what was recalled"),
        pytest.param(lambda one: one.update(tokens=9), id="tokens"),
        pytest.param(lambda one: one.update(timings={"recall": 9.5}), id="latency"),
        pytest.param(lambda one: one.update(failure={"kind": "timeout", "message": "m", "phase": "p"}), id="a failure"),
    ],
)  # fmt: skip
def test_so_is_whatever_else_of_it_a_report_shows(
    report: Path, runs: Path, inside: Any, edit: Callable[[dict[str, Any]], None]
) -> None:
    edit_line(journal_of(runs, "good"), CASES[2], edit)
    done = inside("verify", "report.json", "runs")
    assert done.returncode == 1
    assert f"answer that differs: good {CASES[2]}\n" in done.stdout


def test_an_answer_that_was_taken_out_is_named(report: Path, runs: Path, inside: Any) -> None:
    path = journal_of(runs, "bad")
    path.write_text(
        "".join(line for line in path.read_text().splitlines(keepends=True) if CASES[0] not in line)
    )
    done = inside("verify", "report.json", "runs", "--json")
    assert done.returncode == 1
    data = json.loads(done.stdout)
    assert {
        "path": f"systems[bad].cases[{CASES[0]}].outcome",
        "reported": "scored",
        "recomputed": "missing",
    } in (data["differences"])
    assert data["agrees"] is False


@pytest.mark.parametrize(
    ("edit", "path"),
    [
        (
            lambda d: d["systems"][0]["summary"]["overall"].update(mean=0.99),
            "systems[bad].summary.overall.mean",
        ),
        (
            lambda d: d["systems"][1]["cases"][0].update(mention=0.5),
            f"systems[good].cases[{CASES[0]}].mention",
        ),
        (lambda d: d["notes"].__setitem__(0, "Everything passed."), "notes"),
        (lambda d: d["systems"][0]["cases"].pop(), f"systems[bad].cases[{CASES[2]}]"),
        (lambda d: d["groups"][0].update(cases=20), "groups[layer1].cases"),
        (lambda d: d.update(pass_threshold=0.1), "notes"),  # it is recomputed with that threshold
    ],
)
def test_a_figure_changed_in_the_report_is_named(report: Path, inside: Any, edit: Any, path: str) -> None:
    claim(report, edit)
    done = inside("verify", "report.json", "runs")
    assert done.returncode == 1
    assert f"differs: {path}: reported" in done.stdout


def test_statistics_are_recomputed_too(report: Path, inside: Any) -> None:
    def edit(data: dict[str, Any]) -> None:
        numbers = [
            (holder, key)
            for holder in _objects(data["statistics"])
            for key, value in holder.items()
            if isinstance(value, float)
        ]
        holder, key = numbers[-1]
        holder[key] += 0.01

    claim(report, edit)
    done = inside("verify", "report.json", "runs")
    assert done.returncode == 1
    assert "differs: statistics" in done.stdout


def _objects(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, dict):
        return [value, *(one for part in value.values() for one in _objects(part))]
    return [one for part in value for one in _objects(part)] if isinstance(value, list) else []


def test_a_figure_that_nobody_computes_fails_unless_allowed(report: Path, inside: Any) -> None:
    claim(report, lambda data: data["systems"][0].update(stars=5))
    done = inside("verify", "report.json", "runs")
    assert done.returncode == 1
    assert "not verifiable: systems[].stars (1 field)" in done.stdout
    assert inside("verify", "report.json", "runs", "--allow-unverifiable").returncode == 0


@pytest.mark.parametrize(
    ("edit", "lacks"),
    [
        (lambda data: data.pop("disclosure"), "disclosure"),
        (lambda data: data.pop("attribution"), "attribution"),
        (lambda data: [one.pop("summary") for one in data["systems"]], "systems[].summary"),
        (lambda data: data["systems"][0]["cases"][0].pop("reward"), "systems[].cases[].reward"),
    ],
    ids=["card", "attribution", "summary", "reward"],
)
def test_what_was_cut_out_of_a_report_is_named_and_fails_unless_allowed(
    report: Path, inside: Any, edit: Callable[[dict[str, Any]], Any], lacks: str
) -> None:
    claim(report, edit)
    done = inside("verify", "report.json", "runs")
    assert done.returncode == 1
    assert f"not in the report, though this version writes it: {lacks}\n" in done.stdout
    assert ("an answer that changes no figure is not seen" in done.stdout) == (lacks == "disclosure")
    assert inside("verify", "report.json", "runs", "--allow-unverifiable").returncode == 0


@pytest.mark.parametrize("asked", [("layer3_99_made_up", 0), (CASES[0], 7)], ids=["case", "repeat"])
def test_an_answer_to_what_was_never_asked_is_named(
    report: Path, runs: Path, inside: Any, asked: tuple[str, int]
) -> None:
    path = journal_of(runs, "good")
    case, repeat = asked
    first = json.loads(path.read_text().splitlines()[0])
    with path.open("a") as file:
        file.write(json.dumps({**first, "case": case, "repeat": repeat}) + "\n")
    done = inside("verify", "report.json", "runs")
    assert done.returncode == 1
    assert f"differs: systems[good].cases[{case}]: reported not there, recomputed answered" in done.stdout
    assert f"answer that differs: good {case}\n" in done.stdout


def test_the_disclosure_card_is_held_too_and_names_an_answer_that_changes_no_score(
    runs: Path, report: Path, inside: Any
) -> None:
    from harness.cli import options, running
    from harness.runs.folder import find_runs

    folders = find_runs(runs)
    values = options.settings()
    (result,) = running.compared(folders, running.suite_of(folders, values), values, {})
    suite = running.suite_of(folders, values)
    data = {
        **json_report.as_data(result),
        "disclosure": disclosure.as_data(disclosure.card(result, folders)),
        "attribution": attribution.as_data(attribution.attribute(result, suite, folders)),
    }
    report.write_text(json.dumps(data))
    assert inside("verify", "report.json", "runs").returncode == 0
    edit_line(journal_of(runs, "good"), CASES[1], lambda one: one.update(answer=one["answer"] + " "))
    done = inside("verify", "report.json", "runs")
    assert done.returncode == 1
    assert f"answer that differs: good {CASES[1]}\n" in done.stdout


# ---- runs, suites and scorers that do not fit -------------------------------------------


def test_runs_are_found_among_others_wherever_they_lie(
    report: Path, runs: Path, inside: Any, tmp_path: Path
) -> None:
    suite = load_suite(tmp_path / "suite")
    made_run(tmp_path, suite, record(CASES[0], answer="later"), label="good", budget=7)
    made_run(tmp_path, suite, record(CASES[0], answer="other"), label="other")
    assert inside("verify", "report.json", "runs").returncode == 0
    runs.rename(tmp_path / "moved")
    assert inside("verify", "report.json", "moved").returncode == 0
    each = sorted((tmp_path / "moved").glob("[gb]*"), reverse=True)
    reported = [one for one in each if one.name in report.read_text()]
    assert inside("verify", "report.json", *reported).returncode == 0


def test_a_report_over_part_of_the_cases(runs: Path, inside: Any) -> None:
    for flags in (("--layer", "layer1"), ("--case", CASES[2])):
        assert inside("compare", "runs", *flags, "-o", "part.json").returncode == 0
        done = inside("verify", "part.json", "runs")
        assert done.returncode == 0, done.stdout


def test_runs_of_one_system_are_told_apart_by_their_folders(runs: Path, inside: Any, tmp_path: Path) -> None:
    again = [record(case, answer="No idea.") for case in CASES]
    made_run(tmp_path, load_suite(tmp_path / "suite"), *again, label="good", budget=7)
    assert inside("compare", *sorted(runs.iterdir()), "-o", "two.json").returncode == 0
    done = inside("verify", "two.json", *sorted(runs.iterdir()))
    assert done.returncode == 0, done.stdout


def test_repeats_average_as_they_did(write_suite: Any, tmp_path: Path, inside: Any) -> None:
    suite = load_suite(write_suite(*CASES))
    answers = [record(case, repeat, answer=RIGHT if repeat else "No.") for case in CASES for repeat in (0, 1)]
    made_run(tmp_path, suite, *answers, label="twice", repeats=2)
    assert inside("compare", "runs", "-o", "report.json").returncode == 0
    assert inside("verify", "report.json", "runs").returncode == 0
    edit_line(journal_of(tmp_path / "runs", "twice"), CASES[0], lambda one: one.update(answer="No."))
    assert f"answer that differs: twice {CASES[0]}\n" in inside("verify", "report.json", "runs").stdout


def test_recalled_memories_are_verified_by_evidence_recall(runs: Path, inside: Any, tmp_path: Path) -> None:
    assert inside("compare", "recalled/runs", "-o", "recalled.json").returncode == 0
    assert inside("verify", "recalled.json", "recalled/runs").returncode == 0
    path = journal_of(tmp_path / "recalled" / "runs", "bm25")
    edit_line(path, CASES[0], lambda one: one["memories"][0].update(text="the fee is $46"))
    assert (
        f"answer that differs: bm25 {CASES[0]}\n" in inside("verify", "recalled.json", "recalled/runs").stdout
    )


def _other_suite(here: Path) -> None:
    path = here / "suite" / "layer1" / "02_fee.yaml"
    path.write_text(path.read_text().replace("Harbor", "Harbour"))


def _case_gone(here: Path) -> None:
    (here / "suite" / "layer1" / "02_fee.yaml").unlink()


def _run_gone(here: Path) -> None:
    shutil.rmtree(next((here / "runs").glob("good-*")))


def _torn(here: Path) -> None:
    path = journal_of(here / "runs", "good")
    path.write_text("no json\n" + path.read_text())


@pytest.mark.parametrize(
    ("spoil", "args", "said"),
    [
        (_other_suite, ("report.json", "runs"), "is not the suite of the report"),
        (_case_gone, ("report.json", "runs"), f"does not hold {CASES[1]}"),
        (_run_gone, ("report.json", "runs"), "good: the report has this system"),
        (_torn, ("report.json", "runs"), "answers.jsonl:1: no JSON object"),
        (None, ("report.json", "none"), "none: no such folder"),
        (None, ("none.json", "runs"), "none.json: no such file"),
        (None, ("report.json", "runs", "--suite", "nowhere"), "nowhere"),
        (
            None,
            ("report.json", "runs", "--scorer", "token-f1"),
            "is token-f1; the report was scored by keyword-recall",
        ),
        (None, ("report.json", "runs", "--scorer", "nobody"), "--scorer nobody: no such scorer"),
        (None, ("report.json",), "Missing argument 'RUN…'"),
    ],
)
def test_what_does_not_fit_is_one_clear_line(
    report: Path, recallbench: Any, spoil: Callable[[Path], None] | None, args: tuple[str, ...], said: str
) -> None:
    if spoil is not None:
        spoil(report.parent)
    done = recallbench("verify", *args)
    assert done.returncode == 2, done.stdout
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    if "Missing" not in said:
        assert len(done.stderr.splitlines()) == 1


def test_a_run_that_was_asked_other_cases_does_not_fit(
    report: Path, write_suite: Any, inside: Any, tmp_path: Path
) -> None:
    other = load_suite(write_suite(*(case_header(case, title="Other") for case in CASES), folder="other"))
    made_run(tmp_path / "elsewhere", other, *(record(case, answer=RIGHT) for case in CASES), label="good")
    bad = next((tmp_path / "runs").glob("bad-*"))
    done = inside("verify", "report.json", bad, "elsewhere/runs", "--suite", "suite")
    assert done.returncode == 2
    assert f"was not asked {CASES[0]} as the report's suite has it" in done.stderr


def test_a_run_that_the_report_is_not_over_is_refused_when_it_is_named(
    report: Path, runs: Path, inside: Any, tmp_path: Path
) -> None:
    extra = made_run(tmp_path / "more", load_suite(tmp_path / "suite"), label="extra")
    done = inside("verify", "report.json", "runs", extra.path)
    assert done.returncode == 2
    assert "the report is not over this run, which is of extra" in done.stderr


def test_a_report_chooses_no_code_that_runs(report: Path, inside: Any, tmp_path: Path) -> None:
    proof = tmp_path / "proof"
    claim(report, lambda data: data.update(scorer=f"subprocess:call(args='touch {proof}', shell=True)"))
    done = inside("verify", "report.json", "runs")
    assert done.returncode == 2
    assert "is code to import" in done.stderr
    assert not proof.exists()


def test_a_scorer_needs_its_options(runs: Path, inside: Any) -> None:
    spec = "keyword-recall(dump_factor=0.001)"
    assert inside("compare", "runs", "--scorer", spec, "-o", "report.json").returncode == 0
    assert inside("verify", "report.json", "runs", "--scorer", spec).returncode == 0


# ---- judged -----------------------------------------------------------------------------


@pytest.fixture
def judged(server: Server, runs: Path, inside: Any) -> Path:
    server.set_faults([{"do": {"usage_cost": 0.001}}])
    at = ("--base-url", server.base_url, "--model", "rules")
    done = inside("compare", "runs", "--scorer", "llm-judge", *at, "-o", "judged.json")
    assert done.returncode == 0, done.stderr
    return runs.parent / "judged.json"


def test_judged_scores_are_replayed_and_no_model_is_called(judged: Path, server: Server, inside: Any) -> None:
    server.reset()
    done = inside("verify", "judged.json", "runs")
    assert done.returncode == 0, done.stdout + done.stderr
    assert server.stats()["requests"] == 0


def test_an_answer_that_was_not_judged_so_is_named(judged: Path, runs: Path, inside: Any) -> None:
    edit_line(journal_of(runs, "good"), CASES[2], lambda one: one.update(answer="It is free."))
    done = inside("verify", "judged.json", "runs")
    assert done.returncode == 1
    assert f"systems[good].cases[{CASES[2]}].outcome: reported scored, recomputed judge_error" in done.stdout
    assert f"answer that differs: good {CASES[2]}\n" in done.stdout


def test_a_verdict_changed_in_the_report_is_named(judged: Path, inside: Any) -> None:
    claim(
        judged,
        lambda data: data["systems"][0]["cases"][0]["judged"]["criteria"][0].update(verdict="met", quote="x"),
    )
    done = inside("verify", "judged.json", "runs")
    assert done.returncode == 1
    assert f"systems[bad].cases[{CASES[0]}].judged.criteria[fee].quote" in done.stdout


def test_without_the_cassette_judged_scores_are_listed_as_not_verifiable(
    judged: Path, runs: Path, inside: Any
) -> None:
    (judged.parent / ".recallbench" / "cassette.sqlite").unlink()
    done = inside("verify", "judged.json", "runs")
    assert done.returncode == 1
    assert "not verifiable: systems[].cases[].reward (5 fields): there is no cassette" in " ".join(
        done.stdout.split()
    )
    assert "differs" not in done.stdout.replace("nothing differs", "")
    assert inside("verify", "judged.json", "runs", "--allow-unverifiable").returncode == 0
    edit_line(journal_of(runs, "bad"), CASES[1], lambda one: (one.pop("failure"), one.update(answer="$45")))
    done = inside("verify", "judged.json", "runs", "--allow-unverifiable")
    assert done.returncode == 1
    assert f"answer that differs: bad {CASES[1]}\n" in done.stdout


def test_a_run_that_stopped_early_is_replayed_as_far_as_it_came(
    server: Server, runs: Path, inside: Any
) -> None:
    server.set_faults([{"do": {"usage_cost": 0.001}}])
    at = ("--base-url", server.base_url, "--model", "rules", "--concurrency", "1", "--max-cost", "0.002")
    inside("compare", "runs", "--scorer", "llm-judge", *at, "-o", "stopped.json")
    assert "not_asked" in (runs.parent / "stopped.json").read_text()
    done = inside("verify", "stopped.json", "runs")
    assert done.returncode == 0, done.stdout


def test_figures_from_a_price_file_need_it(server: Server, runs: Path, inside: Any) -> None:
    prices = runs.parent / "prices.json"
    prices.write_text('{"rules": {"prompt": 1, "completion": 2}}')
    at = ("--base-url", server.base_url, "--model", "rules", "--prices", prices)
    assert inside("compare", "runs", "--scorer", "llm-judge", *at, "-o", "priced.json").returncode == 0
    done = inside("verify", "priced.json", "runs", "--prices", prices)
    assert done.returncode == 0, done.stdout
    done = inside("verify", "priced.json", "runs")
    assert done.returncode == 1
    assert "differs:" not in done.stdout
    assert "no --prices file is given" in done.stdout


def test_a_panel_with_repeats_is_replayed_as_it_was_asked(server: Server, runs: Path, inside: Any) -> None:
    panel = [flag for name in ("a", "b") for flag in ("--judge", f"{name}@{server.base_url}")]
    flags = (
        "--scorer",
        "llm-judge",
        *panel,
        "--repeats",
        "2",
        "--per-criterion",
        "--cassette",
        "kept.sqlite",
    )
    assert inside("compare", "runs", *flags, "-o", "panel.json").returncode == 0
    done = inside("verify", "panel.json", "runs", "--cassette", "kept.sqlite")
    assert done.returncode == 0, done.stdout
    other = inside("verify", "panel.json", "runs", "--cassette", "none.sqlite")
    assert other.returncode == 1
    assert "there is no cassette at none.sqlite" in other.stdout
