"""`judge check` and `judge calibrate`: what works at an endpoint, and how often a scorer errs."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.model_server import Server, start

CASE = "layer1_01_bank_account"
NOWHERE = "http://127.0.0.1:9/v1"


def rows(text: str) -> dict[str, str]:
    return {line[:16].strip(): line[17:] for line in text.splitlines()}


# ---- judge check ------------------------------------------------------------------------


def test_check_says_what_is_called_and_what_works(server: Server, recallbench: Any, tmp_path: Path) -> None:
    env = {"OPENROUTER_API_KEY": "sk-loopback-5Kd", "OPENROUTER_BASE_URL": server.base_url}
    done = recallbench("judge", "check", "--model", "claude-x", env=env)
    assert done.returncode == 0, done.stderr
    shown = rows(done.stdout)
    latency = shown.pop("latency")
    assert 0 <= float(latency.removesuffix(" s")) < 60
    assert list(shown.items()) == [
        ("provider", "openrouter"),
        ("base URL", server.base_url),
        ("model", "anthropic/claude-x"),
        ("key", "OPENROUTER_API_KEY"),
        (
            "substitution",
            "ANTHROPIC_API_KEY is not set: using openrouter with anthropic/claude-x (OPENROUTER_API_KEY) "
            "for claude-x",
        ),
        ("response format", "json_schema"),
        ("parameters", "max_tokens 1024, temperature 0.0"),
        ("model echoed", "anthropic/claude-x"),
        ("reply", "verdict met (right is met)"),
    ]
    assert "sk-loopback-5Kd" not in done.stdout + done.stderr
    assert server.stats()["chat"] == 1
    # One tiny call is no recording.
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("persona", "format", "parameters", "calls"),
    [
        ("unsupported_json_schema", "json_object", "max_tokens 1024, temperature 0.0", 2),
        ("unsupported_json_schema+unsupported_json_object", "text", "max_tokens 1024, temperature 0.0", 3),
        ("unsupported_max_tokens", "json_schema", "max_completion_tokens 1024, temperature 0.0", 2),
        ("unsupported_temperature", "json_schema", "max_tokens 1024", 2),
        ("think", "json_schema", "max_tokens 1024, temperature 0.0", 1),
    ],
)
def test_check_finds_the_form_that_an_endpoint_takes(
    server: Server, inside: Any, persona: str, format: str, parameters: str, calls: int
) -> None:
    server.set_faults([{"do": {"text": '{"verdict": "met"}'}}])
    done = inside("judge", "check", "--base-url", server.url(persona))
    assert done.returncode == 0, done.stderr
    shown = rows(done.stdout)
    assert (shown["response format"], shown["parameters"]) == (format, parameters)
    assert shown["reply"].startswith("verdict met")
    assert shown["key"] == "none is sent"
    assert server.stats()["chat"] == calls


def test_check_shows_a_judge_that_rules_wrongly_and_rides_out_trouble(server: Server, inside: Any) -> None:
    server.set_faults(
        [
            {"when": {"first": 2}, "do": {"rate_limited": 0.01}},
            {"do": {"text": 'Sure:\n```json\n{"verdict": "not_met"}\n```'}},
        ]
    )
    done = inside("judge", "check", "--base-url", server.base_url)
    assert done.returncode == 0, done.stderr
    assert rows(done.stdout)["reply"].startswith("verdict not_met, read with ")
    assert rows(done.stdout)["reply"].endswith(" (right is met)")
    assert server.stats()["chat"] == 3


@pytest.mark.parametrize(
    ("faults", "said"),
    [
        ("unauthorized", "auth: Incorrect API key provided: sk-****. No key was sent: name the variable"),
        ("forbidden", "auth: Country, region, or territory not supported. No key was sent"),
        ("payment_required", "quota: Insufficient credits. Add more to your account and retry. Top up"),
        ("insufficient_quota", "quota: You exceeded your current quota"),
        (
            "model_not_found",
            "bad_request: The model `default` does not exist or you do not have access to it.",
        ),
        ("garbage", "no usable reply ("),
        ("refusal", "no usable reply (refusal)"),
        ({"bad_gateway": {"code": 200}}, "answers, but not as a chat endpoint, at"),
    ],
    ids=["401", "403", "402", "quota", "unknown model", "garbage", "refusal", "HTML with 200"],
)
def test_check_tells_the_trouble_and_the_mend_in_one_line(
    server: Server, inside: Any, monkeypatch: pytest.MonkeyPatch, faults: Any, said: str
) -> None:
    monkeypatch.setattr("harness.llm.line._BACKOFF_S", (0.01, 0.02))
    server.set_faults([{"do": faults}])
    done = inside("judge", "check", "--base-url", server.base_url)
    assert done.returncode == 3
    assert list(rows(done.stdout)) == ["provider", "base URL", "model", "key"]
    (line,) = done.stderr.splitlines()
    assert line.startswith("recallbench: local/default: ")
    assert said in line
    assert "Traceback" not in line


def test_check_of_an_endpoint_that_is_not_there(inside: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.llm.line._BACKOFF_S", (0.01, 0.02))
    done = inside("judge", "check", "--base-url", NOWHERE)
    assert done.returncode == 3
    assert rows(done.stdout)["base URL"] == NOWHERE
    assert f"cannot be reached at {NOWHERE}: " in done.stderr
    assert "that the server runs" in done.stderr


def test_check_of_a_model_that_the_server_lacks_and_of_a_panel(inside: Any) -> None:
    with start(models=["here", "there"]) as strict:
        url = strict.base_url
        done = inside("judge", "check", "--judge", f"here@{url}", "--judge", f"there@{url}")
        assert done.returncode == 0, done.stderr
        assert [line for line in done.stdout.splitlines() if line.startswith("model echoed")] == [
            "model echoed     here",
            "model echoed     there",
        ]
        gone = inside("judge", "check", "--judge", f"gone@{url}")
        assert gone.returncode == 3
        assert "The model `gone` does not exist" in gone.stderr


# ---- judge calibrate --------------------------------------------------------------------


def test_calibrate_measures_keyword_recall_without_a_key_or_a_server(
    recallbench: Any, tmp_path: Path
) -> None:
    outputs = ("-o", "cal.json", "-o", "cal.md", "-o", "cal.csv")
    done = recallbench("judge", "calibrate", "--case", CASE, "--mistakes", *outputs)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines() == ["wrote cal.json", "wrote cal.md", "wrote cal.csv"]
    (made,) = json.loads((tmp_path / "cal.json").read_text())["calibrations"]
    assert made["scorer"] == "keyword-recall"
    for words in ("False accepts", "False rejects", "Cohen's κ", "injection", "paraphrase", "empty"):
        assert words in done.stdout
    assert f"{made['n']} probes of 1 case" in done.stdout
    wrong = [line for line in done.stdout.splitlines() if CASE in line]
    assert all("false accept" in line or "false reject" in line for line in wrong)
    assert "\n| stale |" in (tmp_path / "cal.md").read_text()
    listed = list(csv.DictReader(io.StringIO((tmp_path / "cal.csv").read_text())))
    assert len(listed) == len(wrong) > 0
    assert {row["test_id"] for row in listed} == {CASE}
    # A mistake is a matter of rulings, so nothing of a run is left behind.
    assert not (tmp_path / ".recallbench").exists()


def test_calibrate_of_a_judge_is_kept_and_stands_beside_its_tables(
    server: Server, recallbench: Any, inside: Any, tmp_path: Path
) -> None:
    judge = (
        "--scorer",
        "llm-judge",
        "--base-url",
        server.base_url,
        "--model",
        "rules",
        "--cassette",
        "tape.sqlite",
    )
    before = inside("compare", "--layer", "layer1", *judge, env={"COLUMNS": "400"})
    assert "Calibration: none for this judge and prompt." in before.stdout

    done = recallbench("judge", "calibrate", "--case", CASE, *judge, "-o", "cal.json")
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("judged ")
    keyword, judged = json.loads((tmp_path / "cal.json").read_text())["calibrations"]
    assert (keyword["scorer"], judged["scorer"]) == ("keyword-recall", "llm-judge")
    assert keyword["probes_hash"] == judged["probes_hash"]
    assert judged["of"].startswith("local/rules, prompts ")
    assert "┃ All probes        ┃     keyword-recall ┃" in done.stdout
    assert f"llm-judge: {judged['of']}." in done.stdout

    asked = server.stats()["chat"]
    after = inside("compare", "--layer", "layer1", *judge, "-o", "out.json", env={"COLUMNS": "400"})
    assert f"Calibration of this judge: {judged['summary']}." in after.stdout
    assert "Calibration: none" not in after.stdout
    kept = json.loads((tmp_path / "out.json").read_text())["judge"]["calibration"]
    assert kept["probes_hash"] == judged["probes_hash"]
    assert server.stats()["chat"] == asked

    # It is the calibration of this judge as it was asked, and of no other.
    other = inside("compare", "--layer", "layer1", *judge, "--model", "another", env={"COLUMNS": "400"})
    assert "Calibration: none for this judge and prompt." in other.stdout
    replayed = inside(
        "judge", "calibrate", "--case", CASE, *judge, "--cassette-mode", "replay", "-o", "again.json"
    )
    assert replayed.returncode == 0, replayed.stderr
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "cal.json").read_bytes()


LABELS = {
    "csv": 'test_id,answer,label\nlayer1_01_fee,"The fee is $45, due March 24.",pass\n'
    "layer1_01_fee,The fee is $30.,fail\nlayer2_01_fee,It is $45.,1\n",
    "json": json.dumps(
        {
            "layer1_01_fee": [
                {"answer": "The fee is $45, due March 24.", "label": True},
                {"answer": "The fee is $30.", "label": "reject"},
            ],
            "layer2_01_fee": [{"answer": "It is $45.", "label": "accept"}],
        }
    ),
    "yaml": "- test_id: layer1_01_fee\n  probes:\n"
    "    - {answer: 'The fee is $45, due March 24.', label: accept}\n"
    "    - {answer: The fee is $30., label: reject}\n"
    "- test_id: layer2_01_fee\n  probes:\n    - {answer: It is $45., label: accept}\n",
}


@pytest.mark.parametrize("ending", LABELS)
def test_calibrate_takes_a_users_own_labels(fees: Path, inside: Any, tmp_path: Path, ending: str) -> None:
    (tmp_path / f"labels.{ending}").write_text(LABELS[ending])
    own = ("judge", "calibrate", "--suite", "suite", "--labels", f"labels.{ending}")
    done = inside(*own, "--format", "json")
    assert done.returncode == 0, done.stderr
    (made,) = json.loads(done.stdout)["calibrations"]
    assert (made["n"], made["cases"]) == (3, 2)
    # It states one fact of two, so that keyword recall does not pass what its owner accepts.
    assert made["false_rejects"]["k"] == 1
    assert made["false_accepts"] == {**made["false_accepts"], "k": 0, "n": 1}
    one = inside(*own, "--layer", "layer2", "--format", "json")
    assert json.loads(one.stdout)["calibrations"][0]["n"] == 1
    shown = inside(*own, "--format", "md")
    assert "| labelled" in shown.stdout


def test_calibrate_shows_flips_over_repeats_and_calls_that_failed(
    server: Server, fees: Path, inside: Any, tmp_path: Path
) -> None:
    (tmp_path / "labels.csv").write_text(LABELS["csv"])
    server.set_faults([{"when": {"contains": "The fee is $30."}, "do": "refusal"}])
    done = inside(
        "judge", "calibrate", "--suite", "suite", "--labels", "labels.csv", "--scorer", "llm-judge",
        "--base-url", server.base_url, "--model", "rules", "--repeats", "2", "-o", "cal.json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    judged = json.loads((tmp_path / "cal.json").read_text())["calibrations"][1]
    assert (judged["n"], judged["errors"]) == (3, 1)
    assert "1 of 3 probes without a ruling, in no rate; calls that failed: refusal 1." in " ".join(
        done.stdout.split()
    )
    assert "Flips between repeats" in done.stdout
    assert "each probe was scored 2 times" in done.stdout


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--suite", "suite"), "the bundled probes belong to the bundled suite. Give --labels FILE with"),
        (("--suite", "suite", "--labels", "gone.csv"), "gone.csv"),
        (("--suite", "suite", "--labels", "labels.csv", "--case", "layer9_09_x"), "layer9_09_x"),
        (
            ("--suite", "suite", "--labels", "labels.csv", "--case", "layer1_01_fee", "--layer", "layer2"),
            "no case in layer2",
        ),
        (("--suite", "suite", "--labels", "bad.csv"), "bad.csv:2"),
        (("--suite", "suite", "--labels", "labels.csv", "-o", "labels.csv"), "would overwrite what is read"),
        (("--case", CASE, "--repeats", "2"), "--repeats is for --scorer llm-judge"),
    ],
)
def test_calibrate_refuses_what_it_cannot_measure(
    fees: Path, inside: Any, tmp_path: Path, args: tuple[str, ...], said: str
) -> None:
    (tmp_path / "labels.csv").write_text(LABELS["csv"])
    (tmp_path / "bad.csv").write_text("test_id,answer,label\nlayer1_01_fee,It is $45.,perhaps\n")
    done = inside("judge", "calibrate", *args)
    assert done.returncode == 2
    assert done.stdout == ""
    assert said in done.stderr
    assert "internal error" not in done.stderr
