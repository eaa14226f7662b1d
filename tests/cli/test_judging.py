"""`--scorer llm-judge`: tables, gates, settings, progress, the menu and the demo, with a judge on loopback."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pexpect
import pyte
import pytest

from tests.model_server import Server

SUITE = ("--suite", "suite")
JUDGED = ("compare", "answers.json", *SUITE, "--scorer", "llm-judge")
# Replies to three in ten first questions are garbage, and those to every second one.
GARBAGE = [
    {"when": {"share": 0.3, "seed": 1}, "do": "garbage"},
    {"when": {"contains": "could not be used"}, "do": "garbage"},
]


def at(server: Server) -> tuple[str, ...]:
    return ("--base-url", server.base_url, "--model", "rules")


def report(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def outcomes(data: Any) -> list[str]:
    return [case["outcome"] for system in data["systems"] for case in system["cases"]]


# ---- tables -----------------------------------------------------------------------------


def test_a_judged_table_says_who_ruled_how_and_at_what_cost(
    server: Server, fees: Path, recallbench: Any, tmp_path: Path
) -> None:
    server.set_faults([{"do": {"usage_cost": 0.001}}])
    done = recallbench(*JUDGED, *at(server), "-o", "out.json", columns=400)
    assert done.returncode == 0, done.stderr
    data = report(tmp_path / "out.json")
    (overall,) = [line for line in done.stdout.splitlines() if line.startswith("│ Overall (mean over cases)")]
    assert [cell.strip() for cell in overall.split("│")[2:4]] == ["1.00 n=2", "0.00 n=2"]
    assert "│ Accuracy (2)         │ 1.00 │ 0.00 │" in done.stdout
    assert f"Judge: local/rules, prompts {data['judge']['prompt_hash'][:12]}, accepted " in done.stdout
    assert "max_tokens 1024, response_format json_schema, temperature 0.0, 4 replies" in done.stdout
    assert ", $0.0040." in done.stdout
    assert "Calibration: none for this judge and prompt." in done.stdout
    assert "Vetoed, reward at most 0.5 and never passed: bad (" in done.stdout
    assert done.stderr.splitlines() == [
        "judged 4 answers: 4 replies, $0.0040, asked for now; replies kept in .recallbench/cassette.sqlite",
        "wrote out.json",
    ]
    (judge,) = data["judge"]["judges"]
    assert judge["usage"]["cost_usd"] == pytest.approx(0.004)
    ruled = data["systems"][0]["cases"][0]["judged"]
    assert [(one["id"], one["verdict"]) for one in ruled["criteria"]] == [("fee", "met"), ("asks", "met")]


def test_batch_lists_where_judge_and_keyword_recall_differ(
    server: Server, fees: Path, inside: Any, tmp_path: Path
) -> None:
    args = ("answers.json", *SUITE, "--scorer", "llm-judge", "-o", "out.json", "-o", "out.md")
    done = inside("batch", *args, "--system", "bad", "--base-url", server.url("yes_man"), "--model", "rules")
    assert done.returncode == 0, done.stderr
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in done.stdout.splitlines()]
    assert ["layer2_01_fee", "fee", "met", "fee not stated"] in rows
    assert ["layer1_01_fee", "old_fee", "wrong value not stated", "stated"] in rows
    assert "listed above: read those answers first." in done.stdout
    found = report(tmp_path / "out.json")["judge"]["disagreements"]
    assert ("layer2_01_fee", "fee", "met") in {(one["case_id"], one["id"], one["judge"]) for one in found}
    assert ("layer1_01_fee", "old_fee", "stated") in {
        (one["case_id"], one["id"], one["keyword"]) for one in found
    }
    assert "fee not stated" in (tmp_path / "out.md").read_text(encoding="utf-8")

    agreed = inside("batch", *args, "--system", "good", *at(server))
    assert "Judge and keyword recall agree on every linked criterion and forbidden value." in agreed.stdout
    assert "Judge and keyword recall differ" not in agreed.stdout


# ---- gates ------------------------------------------------------------------------------


def test_judge_errors_are_counted_and_never_scores(
    server: Server, many: Callable[[int], Path], recallbench: Any, inside: Any, tmp_path: Path
) -> None:
    many(40)
    server.set_faults(GARBAGE)
    judged = (*JUDGED, *at(server), "-o", "out.json")
    done = recallbench(*judged)
    assert done.returncode == 0, done.stderr
    data = report(tmp_path / "out.json")
    failed = outcomes(data).count("judge_error")
    assert 6 <= failed <= 20
    assert outcomes(data).count("scored") == 40 - failed
    assert sum(data["judge"]["errors"].values()) == failed
    assert all(
        case["reward"] is None for case in data["systems"][0]["cases"] if case["outcome"] == "judge_error"
    )
    overall = data["systems"][0]["summary"]["overall"]
    assert overall["mean"] == 1.0
    assert (overall["scored"], overall["errors"]) == (40 - failed, failed)
    assert (overall["low"], overall["high"]) == (pytest.approx(1 - failed / 40), 1.0)
    assert f"one: {40 - failed} of 40 scored ({failed} errors); not to be ranked." in done.stdout
    assert f" {failed}.\n" in done.stdout.partition("Judge errors (never a score): ")[2]

    # The same replies under a limit close the gate, with nothing asked again.
    asked = server.stats()["chat"]
    limited = inside(*judged, "--max-errors", "0.1")
    assert limited.returncode == 1
    told = re.search(r"stopped early: judge errors are more than --max-errors 0.1 of 40", limited.stderr)
    assert told, limited.stderr
    assert server.stats()["chat"] == asked


def test_max_errors_stops_new_work_and_keeps_what_is_finished(
    server: Server, many: Callable[[int], Path], recallbench: Any, inside: Any, tmp_path: Path
) -> None:
    many(60)
    server.set_faults(GARBAGE)
    judged = (
        *JUDGED,
        *at(server),
        "--concurrency",
        "4",
        "-o",
        "out.json",
    )
    stopped = recallbench(*judged, "--max-errors", "0.1")
    assert stopped.returncode == 1
    data = report(tmp_path / "out.json")
    kinds = data["judge"]["errors"]
    # The seventh error is more than a tenth of 60; three more answers may have been under way.
    assert 7 <= sum(kinds.values()) - kinds["not_asked"] <= 10
    assert kinds["not_asked"] > 10
    assert outcomes(data).count("scored") > 5
    assert data["judge"]["stopped"].endswith("judge errors are more than --max-errors 0.1 of 60 answers")
    assert "Overall (mean over cases)" in stopped.stdout
    assert "Stopped early: " in stopped.stdout
    last = stopped.stderr.splitlines()[-1]
    assert last.startswith("recallbench: stopped early: ")
    assert last.endswith("What is finished is kept.")

    server.reset()
    finished = 60 - kinds["not_asked"]
    whole = inside(*judged)
    assert whole.returncode == 0, whole.stderr
    first_questions = [body for body in server.requests() if len(body["messages"]) == 2]
    assert len(first_questions) == 60 - finished


def test_max_cost_stops_the_run_and_shows_the_table(
    server: Server, many: Callable[[int], Path], inside: Any, tmp_path: Path
) -> None:
    many(30)
    server.set_faults([{"do": {"usage_cost": 0.01}}])
    judged = (
        *JUDGED,
        *at(server),
        "--concurrency",
        "2",
        "--max-cost",
        "0.1",
    )
    done = inside(*judged, "-o", "out.json")
    assert done.returncode == 1
    assert "Overall (mean over cases)" in done.stdout
    assert "US dollars spent of --max-cost 0.1" in done.stderr.splitlines()[-1]
    assert 10 <= server.stats()["chat"] <= 12
    assert outcomes(report(tmp_path / "out.json")).count("scored") == server.stats()["chat"]
    # The next run may spend as much again, on what is left.
    again = inside(*judged, "-o", "out.json")
    assert again.returncode == 1
    assert outcomes(report(tmp_path / "out.json")).count("scored") == server.stats()["chat"] >= 20


def test_max_cost_is_one_for_all_judges_of_a_panel(
    server: Server, many: Callable[[int], Path], inside: Any, tmp_path: Path
) -> None:
    many(20)
    server.set_faults([{"do": {"usage_cost": 0.01}}])
    panel = ("--judge", f"a@{server.base_url}", "--judge", f"b@{server.base_url}")
    done = inside(*JUDGED, *panel, "--concurrency", "2", "--max-cost", "0.1", "-o", "out.json")
    assert done.returncode == 1
    assert 10 <= server.stats()["chat"] <= 14
    costs = [judge["usage"]["cost_usd"] for judge in report(tmp_path / "out.json")["judge"]["judges"]]
    assert 0.08 < sum(costs) < 0.15
    nothing = inside(*JUDGED, *panel, "--max-cost", "0", "--cassette-mode", "off")
    assert nothing.returncode == 1
    assert nothing.stderr.splitlines()[-1].startswith("recallbench: stopped early: 0.0000 US dollars spent")


def test_max_cost_without_a_known_cost_is_refused_in_one_line(
    server: Server, fees: Path, inside: Any, tmp_path: Path
) -> None:
    judged = (
        *JUDGED,
        *at(server),
        "--max-cost",
        "1",
        "--concurrency",
        "1",
    )
    done = inside(*judged)
    assert done.returncode == 2
    assert done.stdout == ""
    (said,) = [line for line in done.stderr.splitlines() if line.startswith("recallbench:")]
    assert "--max-cost: local/rules names no cost and --prices has no price for rules." in said
    assert "Give --prices FILE, or leave out --max-cost." in said
    assert server.stats()["chat"] == 1

    (tmp_path / "prices.json").write_text('{"rules": {"prompt": 1, "completion": 2}}')
    priced = inside(*judged, "--prices", "prices.json", "-o", "out.json")
    assert priced.returncode == 0, priced.stderr
    (judge,) = report(tmp_path / "out.json")["judge"]["judges"]
    tokens = judge["usage"]["prompt_tokens"] + 2 * judge["usage"]["completion_tokens"]
    assert judge["usage"]["cost_usd"] == pytest.approx(tokens / 1e6)


# ---- flags and settings -----------------------------------------------------------------


@pytest.mark.parametrize(
    "flag",
    [
        ("--max-cost", "0"), ("--repeats", "2"),
        ("--judge", "kimi"), ("--model", "m"), ("--concurrency", "2"), ("--cassette", "c"),
        ("--cassette-mode", "off"), ("--retry-errors",), ("--with-transcript",), ("--timeout", "5"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_judges_flag_beside_another_scorer_is_refused(
    fees: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any, flag: tuple[str, ...]
) -> None:
    from harness.cli.main import run

    monkeypatch.chdir(tmp_path)
    assert run(["compare", "answers.json", *SUITE, *flag]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == (
        f"recallbench: {flag[0]} is for --scorer llm-judge; the scorer is keyword-recall. "
        "Add --scorer llm-judge, or leave it out.\n"
    )


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--judge", "kimi", "--model", "m"), "model (flag --model) does not go with it. Write --judge"),
        (("--judge", "m@http://127.0.0.1:9/v1", "--judge", "m@http://127.0.0.1:9/v1"), "stands twice"),
        (("--judge", "m@127.0.0.1:9"), "has no scheme"),
        (("--per-criterion", "--with-transcript"), "with_transcript does not go with per_criterion"),
        (("--prompts", "gone", "--base-url", "http://127.0.0.1:9/v1", "--model", "rules"), "gone"),
        (("--provider", "nobody"), "unknown provider 'nobody'"),
        (("--max-errors", "1.5"), "1.5 is not in the range from 0 to 1"),
        (
            ("--prices", "gone.json", "--base-url", "http://127.0.0.1:9/v1", "--model", "rules"),
            "gone.json: no such price file",
        ),
    ],
)
def test_what_a_judge_cannot_be_is_told_in_one_line(
    fees: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any, args: tuple[str, ...], said: str
) -> None:
    from harness.cli.main import run

    monkeypatch.chdir(tmp_path)
    assert run([*JUDGED, *args]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert "internal error" not in err
    assert "Traceback" not in err


def test_variables_and_the_configuration_file_set_the_judge(
    server: Server, fees: Path, recallbench: Any, tmp_path: Path
) -> None:
    (tmp_path / "recallbench.yaml").write_text(
        f"scorer: llm-judge\nbase_url: {server.base_url}\nmodel: from-the-file\ncassette: tape.sqlite\n"
    )
    env = {"RECALLBENCH_MODEL": "from-the-variable", "RECALLBENCH_CONCURRENCY": "1"}
    done = recallbench("compare", "answers.json", *SUITE, env=env)
    assert done.returncode == 0, done.stderr
    assert "Judge: local/from-the-variable, " in done.stdout
    assert (tmp_path / "tape.sqlite").is_file()
    assert server.stats()["max_in_flight"] == 1
    assert {body["model"] for body in server.requests()} == {"from-the-variable"}

    # What is set as a habit does not stand in the way of another scorer.
    other = recallbench("compare", "answers.json", *SUITE, "--scorer", "keyword-recall", env=env)
    assert other.returncode == 0, other.stderr
    shown = recallbench("config", env=env).stdout
    rows = {line.split()[0]: " ".join(line.split()[1:]) for line in shown.splitlines()}
    assert rows["model"].startswith("from-the-variable variable RECALLBENCH_MODEL")
    assert rows["base_url"].startswith(f"{server.base_url} recallbench.yaml:2")
    assert rows["cassette"].startswith("tape.sqlite recallbench.yaml:4")
    assert rows["concurrency"].startswith("1 variable RECALLBENCH_CONCURRENCY")
    assert {"provider", "api_key_env", "prompts", "cassette_mode"} <= set(rows)


# ---- progress ---------------------------------------------------------------------------


def test_on_a_terminal_a_bar_shows_done_errors_and_cost(
    server: Server, many: Callable[[int], Path], tmp_path: Path
) -> None:
    many(24)
    server.set_faults([*GARBAGE, {"do": [{"delay": 60}, {"usage_cost": 0.001}]}])
    screen = pyte.Screen(120, 50)
    stream = pyte.Stream(screen)
    args = [
        "-m",
        "harness",
        *JUDGED,
        *at(server),
        "--concurrency",
        "2",
        "--format",
        "csv",
    ]
    child = pexpect.spawn(
        sys.executable, args, env={**os.environ, "TERM": "xterm-256color"}, dimensions=(50, 120),
        encoding="utf-8", timeout=30, cwd=str(tmp_path),
    )  # fmt: skip
    seen: list[str] = []
    while True:
        try:
            stream.feed(child.read_nonblocking(65536, timeout=10))
        except pexpect.EOF:
            break
        seen.extend(line for line in screen.display if "judging" in line)
    child.close()
    shown = "\n".join(line.rstrip() for line in screen.display)
    assert child.exitstatus == 0, shown
    whole = [line for line in seen if "/24" in line]
    assert any(re.search(r" [1-9]\d* errors?\b", line) for line in whole), seen[-3:]
    assert any("$0.0" in line for line in whole), seen[-3:]
    assert any("/s" in line for line in whole), seen[-3:]
    assert len({line.partition("/24")[0].split()[-1] for line in whole}) > 2
    # Afterwards the bar is gone and one line says what it came to.
    assert "judging" not in shown
    assert "judged 24 answers: " in shown


def test_without_a_terminal_only_the_closing_line_goes_to_stderr(
    server: Server, fees: Path, recallbench: Any
) -> None:
    done = recallbench(
        *JUDGED,
        *at(server),
        "--format",
        "json",
        "--cassette-mode",
        "off",
    )
    assert json.loads(done.stdout)["scorer"] == "llm-judge"
    assert done.stderr == "judged 4 answers: 4 replies, cost unknown, asked for now\n"


# ---- menu and demo ----------------------------------------------------------------------


def test_the_menu_shows_how_each_criterion_was_ruled(server: Server, fees: Path, recallbench: Any) -> None:
    lines = ("2", "1", "1", "The fee is $30.", "6")
    done = recallbench(
        "interactive", *SUITE, "--scorer", "llm-judge", *at(server),
        stdin="".join(f"{line}\n" for line in lines),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    after = done.stdout.partition("Your answer")[2]
    assert "reward 0.00  not passed" in after
    assert "! fee     contradicted               “The fee is $30.”" in after
    assert "✗ asks    not met" in after
    assert "! old_fee wrong value stated as true “The fee is $30.”" in after
    assert done.stderr.startswith("judged 1 answer: 1 reply, ")
    assert done.stdout.endswith("Goodbye.\n")


def test_a_judge_out_of_reach_leaves_the_menu_open(fees: Path, recallbench: Any) -> None:
    done = recallbench("interactive", *SUITE, "--scorer", "llm-judge", stdin="2\n1\n1\nThe fee is $30.\n6\n")
    assert done.returncode == 0, done.stderr
    assert "no model endpoint: no key is set." in done.stdout
    assert done.stdout.endswith("Goodbye.\n")


def test_the_demo_replays_a_recorded_judge_without_key_and_network(recallbench: Any, root: Path) -> None:
    proxy = "http://127.0.0.1:9"
    done = recallbench(
        "demo", "--scorer", "llm-judge", env={"HTTP_PROXY": proxy, "HTTPS_PROXY": proxy, "ALL_PROXY": proxy}
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    text = " ".join(done.stdout.split())
    assert "Overall (mean over cases)" in text
    assert "Calibration of this judge: false accepts " in text
    lines = (root / "fixtures/judge/demo.jsonl").read_text(encoding="utf-8").splitlines()
    notes = [json.loads(line) for line in lines if line.startswith('{"name"')]
    (about,) = [note["value"] for note in notes if note["note"] == "about"]
    assert " ".join(about["note"].split()) in text
    # The model is named with the hash of its file, by which anyone can tell whether theirs is the same.
    named = re.search(r"Judge: (\S+@[0-9a-f]{12}), ", text)
    assert named, text
    assert about["judge"]["model"] == named[1].partition("/")[2]
    assert about["model"]["sha256"].startswith(named[1].rpartition("@")[2])
