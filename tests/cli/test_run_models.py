"""Runs in which a model reads, writes or answers: what is sent, recorded, replayed, and what stops a run."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.cli.systems import answers, environment, journal, manifest, run_folder, write_cases
from tests.model_server import Server

CASES, TALKS = 4, 2
RIGHT = "The fee is $45, due March 24."
NOWHERE = "http://127.0.0.1:9/v1"
DONE = json.dumps({"operations": [], "done": True})


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return write_cases(tmp_path / "suite", CASES, TALKS)


def command(base_url: str, *more: str | Path) -> tuple[str | Path, ...]:
    return ("run", "--suite", "suite", "--base-url", base_url, "--model", "rules", *more)


def overall(text: str, system: str) -> dict[str, Any]:
    found: dict[str, Any] = next(
        one["summary"]["overall"] for one in json.loads(text)["systems"] if one["system"] == system
    )
    return found


def test_a_reader_answers_for_every_system_with_one_prompt(
    server: Server, suite: Path, recallbench: Any, tmp_path: Path
) -> None:
    server.set_faults([{"do": {"text": RIGHT}}])
    flags = ("-s", "bm25", "-s", "full_context", "--reader", "llm")
    plan = recallbench(*command(server.base_url, *flags, "--dry-run"))
    assert [path.name for path in tmp_path.iterdir()] == ["suite"], "nothing was done"
    assert [row.rstrip("│ ").split()[-1] for row in plan.stdout.splitlines() if row.startswith("│ ")] == [
        "4",
        "4",
    ]
    assert server.stats()["requests"] == 0

    done = recallbench(*command(server.base_url, *flags))
    assert done.returncode == 0, done.stderr
    assert server.stats()["chat"] == CASES * 2
    assert len({body["messages"][0]["content"] for body in server.requests()}) == 1
    assert "1.00 n=4" in done.stdout
    run = manifest(run_folder(tmp_path / "runs", "bm25"))
    reader = run["reader"]
    assert (reader["kind"], reader["model"], reader["budget"]) == ("llm", "local/rules", 1000)
    assert len(reader["prompt"]) == 64
    told = f"Reader: local/rules (prompt {reader['prompt'][:8]}), the same prompt for every system that it reads for."
    assert told in " ".join(done.stdout.split())
    found = answers(run_folder(tmp_path / "runs", "bm25"))
    assert {one["answer"] for one in found.values()} == {RIGHT}
    assert all(one["tokens"] > 0 for one in found.values())
    assert {one["report"]["read_by"]["model"] for one in found.values()} == {"rules"}


def test_with_the_server_down_a_replay_gives_the_same_table(
    server: Server, suite: Path, recallbench: Any, tmp_path: Path
) -> None:
    server.set_faults([{"do": {"text": RIGHT}}])
    flags = ("-s", "bm25", "-s", "full_context", "--reader", "llm", "--cassette", "kept.sqlite")
    first = recallbench(*command(server.base_url, *flags))
    assert first.returncode == 0, first.stderr
    calls = server.stats()["chat"]
    again = recallbench(*command(NOWHERE, *flags, "--cassette-mode", "replay", "--runs", "other"))
    assert again.returncode == 0, again.stderr
    assert again.stdout == first.stdout
    for label in ("bm25", "full_context"):
        assert answers(run_folder(tmp_path / "runs", label)) == answers(run_folder(tmp_path / "other", label))
    assert server.stats()["chat"] == calls

    unheard = recallbench(
        *command(NOWHERE, *flags, "--cassette-mode", "replay", "--runs", "third", "--budget", "3")
    )
    assert unheard.returncode != 0
    assert "replay" in unheard.stderr
    assert unheard.stderr.count("\n") == 1
    assert unheard.stdout == ""


def test_a_chat_endpoint_answers_by_itself(
    server: Server, suite: Path, recallbench: Any, tmp_path: Path
) -> None:
    server.set_faults([{"do": {"text": RIGHT}}])
    done = recallbench(*command(server.base_url, "-s", "openai_chat", "-s", "no_memory"))
    assert done.returncode == 0, done.stderr
    assert server.stats()["chat"] == CASES
    recalled, answered = done.stdout.split("\n\n")
    assert "no_memory" in recalled
    assert "openai_chat" in answered
    assert "1.00 n=4" in answered
    system = manifest(run_folder(tmp_path / "runs", "openai_chat"))["system"]
    assert system["model"] == "local/rules"
    assert [len(value) for value in system["prompts"].values()] == [64]


def test_a_strategy_writes_with_the_runs_model(
    server: Server, suite: Path, recallbench: Any, tmp_path: Path
) -> None:
    server.set_faults([{"do": {"text": DONE}}])
    flags = ("-s", "simple_notes", "-s", "no_memory")
    plan = recallbench(*command(server.base_url, *flags, "--dry-run"))
    assert f"{CASES * TALKS} to {CASES * TALKS * 15}" in plan.stdout
    assert server.stats()["requests"] == 0
    done = recallbench(*command(server.base_url, *flags))
    assert done.returncode == 0, done.stderr
    assert server.stats()["chat"] == CASES * TALKS
    system = manifest(run_folder(tmp_path / "runs", "simple_notes"))["system"]
    assert system["model"] == "local/rules"
    assert all(len(value) == 64 for value in system["prompts"].values())


@pytest.mark.parametrize(
    ("persona", "status", "said"),
    [
        ("unauthorized", 3, "local/rules: auth: Incorrect API key"),
        ("payment_required", 3, "local/rules: quota: Insufficient credits"),
        ("forbidden", 3, "local/rules: auth: Country, region"),
        ("model_not_found", 3, "local/rules: "),
    ],
)
def test_an_endpoint_that_refuses_stops_the_run(
    server: Server, suite: Path, recallbench: Any, persona: str, status: int, said: str
) -> None:
    done = recallbench(*command(server.url(persona), "-s", "bm25", "--reader", "llm"))
    assert done.returncode == status, done.stderr
    assert said in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert len([line for line in done.stderr.splitlines() if line]) == 1


def test_an_endpoint_that_is_not_there_stops_the_run_and_the_rest_is_done_later(
    server: Server, suite: Path, recallbench: Any, tmp_path: Path
) -> None:
    flags = ("-s", "bm25", "--reader", "llm", "--concurrency", "1")
    done = recallbench(*command(NOWHERE, *flags))
    assert done.returncode == 3
    assert "cannot be reached at http://127.0.0.1:9/v1" in done.stderr
    assert journal(run_folder(tmp_path / "runs", "bm25") / "answers.jsonl") == []

    server.set_faults([{"when": {"after": 2}, "do": "unauthorized"}, {"do": {"text": RIGHT}}])
    half = recallbench(*command(server.base_url, *flags))
    assert half.returncode == 3
    assert "What is finished is kept." in half.stderr
    assert len(journal(run_folder(tmp_path / "runs", "bm25") / "answers.jsonl")) == 2
    shown = recallbench("compare", "runs", "--suite", "suite")
    assert "bm25: 2 of 4 scored (2 missing); not to be ranked." in shown.stdout

    server.set_faults([{"do": {"text": RIGHT}}])
    whole = recallbench(*command(server.base_url, *flags))
    assert whole.returncode == 0, whole.stderr
    assert "questions asked: 2 now, 2 before; kept" in whole.stderr
    assert server.stats()["chat"] == 3 + 2, "the two that were answered are not asked again"


def test_a_reply_that_is_none_is_an_error_of_the_reader_and_no_score(
    server: Server, suite: Path, recallbench: Any, tmp_path: Path
) -> None:
    server.set_faults(
        [{"when": {"contains": "talk 1 of case 2"}, "do": "content_filter"}, {"do": {"text": RIGHT}}]
    )
    done = recallbench(*command(server.base_url, "-s", "bm25", "--reader", "llm", "--format", "json"))
    assert done.returncode == 0, done.stderr
    cell = overall(done.stdout, "bm25")
    assert (cell["scored"], cell["asked"], cell["low"], cell["high"]) == (3, 4, 0.75, 1.0)
    failures = [
        one["failure"] for one in answers(run_folder(tmp_path / "runs", "bm25")).values() if "failure" in one
    ]
    assert [(one["kind"], one["phase"]) for one in failures] == [("reader", "read")]
    assert "content_filter" in failures[0]["message"]
    assert "bm25 1 reader" in done.stdout


def test_ctrl_c_while_a_model_reads_repeats_no_call(
    server: Server, suite: Path, recallbench: Any, running: Any, tmp_path: Path
) -> None:
    flags = ("-s", "bm25", "-s", "full_context", "--reader", "llm", "--concurrency", "1")
    server.set_faults([{"do": [{"text": RIGHT}, {"delay": 100}]}])
    run = running(tmp_path, *command(server.base_url, *flags))
    assert run.send_when(server, 4, signal.SIGINT) == 130
    assert [line for line in run.stderr.splitlines() if line] == [
        "Finished answers are kept; the same command goes on from there.",
        "interrupted",
    ]
    server.set_faults([{"do": {"text": RIGHT}}])
    done = recallbench(*command(server.base_url, *flags))
    assert done.returncode == 0, done.stderr
    assert server.stats()["chat"] <= CASES * 2 + 1, "only what was on its way is asked again"


def test_two_readers_are_not_comparable(
    server: Server, suite: Path, recallbench: Any, tmp_path: Path
) -> None:
    server.set_faults([{"do": {"text": RIGHT}}])
    for model, system in (("one", "bm25"), ("two", "full_context")):
        done = recallbench(
            "run",
            "--suite",
            suite,
            "-s",
            system,
            "--reader",
            "llm",
            "--base-url",
            server.base_url,
            "--model",
            model,
        )
        assert done.returncode == 0, done.stderr
    shown = " ".join(recallbench("compare", "runs").stdout.split())
    assert "Not comparable, since the reader differs: bm25 local/one" in shown
    assert "full_context local/two" in shown


def test_runs_are_judged_afterwards_without_running_anything(
    server: Server, suite: Path, recallbench: Any, tmp_path: Path
) -> None:
    ran = recallbench("run", "--suite", suite, "-s", "quick:Writes", "--reader", "own", env=environment())
    assert ran.returncode == 0, ran.stderr
    server.reset()
    done = recallbench(
        "score", "runs", "--scorer", "llm-judge", "--base-url", server.base_url, "--model", "rules",
        "--cassette", "kept.sqlite",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    run = run_folder(tmp_path / "runs", "quick:Writes")
    rows = journal(run / "scores.llm-judge.jsonl")
    assert [row["case"] for row in rows] == list(manifest(run)["cases"])
    assert {row["outcome"] for row in rows} == {"scored"}
    assert all(0 <= row["reward"] <= 1 for row in rows)
    assert {row["judge"].partition(",")[0] for row in rows} == {"local/rules"}
    assert server.stats()["chat"] > 0
    assert len(journal(run / "attempts.jsonl")) == CASES

    again = recallbench(
        "score", run, "--scorer", "llm-judge", "--base-url", NOWHERE, "--model", "rules",
        "--cassette", "kept.sqlite", "--cassette-mode", "replay",
    )  # fmt: skip
    assert again.returncode == 0, again.stderr
    assert again.stdout == done.stdout
    assert journal(run / "scores.llm-judge.jsonl") == rows


@pytest.mark.parametrize("more", [(), ("--dry-run",)], ids=["run", "dry"])
@pytest.mark.parametrize(
    ("judge", "said"),
    [
        ((), "no model endpoint"),
        (("--model", "x", "--base-url", NOWHERE, "--cassette-mode", "replay"), "cassette"),
        (("--base-url", NOWHERE), "--base-url without --model: name the model"),
    ],
    ids=["key", "cassette", "name"],
)
def test_a_judge_that_cannot_be_had_is_refused_before_a_run_begins(
    suite: Path, recallbench: Any, tmp_path: Path, judge: tuple[str, ...], said: str, more: tuple[str, ...]
) -> None:
    done = recallbench(
        "run", "--suite", suite, "-s", "quick:Writes", "--reader", "own", "--scorer", "llm-judge", *judge, *more,
        env=environment(),
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert said in done.stderr
    assert not (tmp_path / "runs").exists()
    assert not (tmp_path / ".recallbench").exists()
    assert "Questions" not in done.stdout


def test_what_was_run_is_told_to_be_kept_when_the_judge_does_not_answer(
    suite: Path, recallbench: Any, tmp_path: Path
) -> None:
    done = recallbench(
        "run", "--suite", suite, "-s", "quick:Writes", "--reader", "own", "--scorer", "llm-judge",
        "--model", "x", "--base-url", NOWHERE, env=environment(),
    )  # fmt: skip
    assert done.returncode == 3, done.stderr
    assert f"questions asked: {CASES} now; kept in runs/ (recallbench compare runs/)" in done.stderr
    assert len(answers(run_folder(tmp_path / "runs", "quick:Writes"))) == CASES


def test_a_key_is_in_no_file_of_a_run(server: Server, suite: Path, recallbench: Any, tmp_path: Path) -> None:
    key = "sk-loopback-9Qz"
    server.set_faults([{"do": {"text": RIGHT}}])
    done = recallbench(
        *command(
            server.base_url, "-s", "bm25", "-s", "quick:Quick", "--reader", "llm", "--api-key-env", "MY_KEY"
        ),
        env=environment(MY_KEY=key),
    )
    assert done.returncode == 0, done.stderr
    assert server.calls()[0]["headers"]["authorization"] == f"Bearer {key}"
    held = [path for path in tmp_path.rglob("*") if path.is_file() and key.encode() in path.read_bytes()]
    assert held == []
    assert key not in done.stdout + done.stderr
