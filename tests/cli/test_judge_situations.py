"""Each documented provider situation: what is resolved, printed and recorded, and that no key is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.model_server import Server, start

JUDGED = ("compare", "answers.json", "--suite", "suite", "--layer", "layer1", "--scorer", "llm-judge")
KEY = "sk-loopback-4dR8vQ"
OTHER_KEY = "sk-loopback-other-9TzW1"
NOWHERE = "http://127.0.0.1:9/v1"
HERE = "HERE"
"""Stands for the server's base URL in the tables below."""
KIMI = {"KIMI_BASE_URL": HERE}
OPENROUTER = {"OPENROUTER_API_KEY": KEY, "OPENROUTER_BASE_URL": HERE}


class Situation(NamedTuple):
    """What is set and asked for, and what has to come of it; `key` None where none may be sent."""

    env: Mapping[str, str]
    args: tuple[str, ...]
    label: str
    key_name: str | None
    key: str | None
    substitution: str | None = None
    dotenv: str = ""


UNSET = "KIMI_API_KEY and MOONSHOT_API_KEY are not set"
SITUATIONS = {
    "own key": Situation({**KIMI, "KIMI_API_KEY": KEY}, (), "kimi/kimi-k2.6", "KIMI_API_KEY", KEY),
    "own key before OpenRouter's": Situation(
        {**KIMI, **OPENROUTER, "KIMI_API_KEY": KEY, "OPENROUTER_API_KEY": OTHER_KEY},
        ("--model", "kimi-k2"), "kimi/kimi-k2", "KIMI_API_KEY", KEY,
    ),
    "second name of the key": Situation(
        {**KIMI, "MOONSHOT_API_KEY": KEY}, ("--judge", "kimi"), "kimi/kimi-k2.6", "MOONSHOT_API_KEY", KEY
    ),
    "OpenRouter stands in, model mapped": Situation(
        OPENROUTER, ("--model", "kimi-k2"), "openrouter/moonshotai/kimi-k2", "OPENROUTER_API_KEY", KEY,
        f"{UNSET}: using openrouter with moonshotai/kimi-k2 (OPENROUTER_API_KEY) for kimi-k2",
    ),
    "OpenRouter stands in for a placeholder": Situation(
        {**OPENROUTER, "KIMI_API_KEY": "your_key_here"},
        ("--provider", "kimi"), "openrouter/moonshotai/kimi-k2.6", "OPENROUTER_API_KEY", KEY,
        "KIMI_API_KEY holds a placeholder, MOONSHOT_API_KEY is not set: using openrouter with "
        "moonshotai/kimi-k2.6 (OPENROUTER_API_KEY) for kimi-k2.6",
    ),
    "OpenRouter's default for a model it has no name for": Situation(
        OPENROUTER, ("--judge", "mistral:some-model"), "openrouter/moonshotai/kimi-k2.6", "OPENROUTER_API_KEY",
        KEY,
        "MISTRAL_API_KEY is not set: using openrouter with moonshotai/kimi-k2.6 "
        "(OPENROUTER_API_KEY; another model, its default) for some-model",
    ),
    "forced model": Situation(
        {**OPENROUTER, "OPENROUTER_MODEL": "maker/forced"},
        ("--model", "gpt-5"), "openrouter/maker/forced", "OPENROUTER_API_KEY", KEY,
        "OPENAI_API_KEY is not set: using openrouter with maker/forced "
        "(OPENROUTER_API_KEY; OPENROUTER_MODEL forces the model) for gpt-5",
    ),
    "key in .env": Situation(
        KIMI, (), "kimi/kimi-k2.6", "KIMI_API_KEY", KEY, None, f'KIMI_API_KEY="{KEY}"\n'
    ),
    ".env does not override the environment": Situation(
        {**KIMI, "KIMI_API_KEY": KEY}, (), "kimi/kimi-k2.6", "KIMI_API_KEY", KEY, None,
        f"KIMI_API_KEY={OTHER_KEY}\nKIMI_BASE_URL={NOWHERE}\n",
    ),
    "local URL without a key": Situation(
        {"OPENAI_API_KEY": OTHER_KEY}, ("--base-url", HERE, "--model", "m"), "local/m", None, None
    ),
    "local provider without a key": Situation(
        {"OLLAMA_BASE_URL": HERE}, ("--judge", "ollama:qwen2.5:3b"), "ollama/qwen2.5:3b", None, None
    ),
    "own URL with a named key": Situation(
        {"MY_KEY": KEY}, ("--base-url", HERE, "--model", "m", "--api-key-env", "MY_KEY"), "local/m", "MY_KEY",
        KEY,
    ),
}  # fmt: skip


def here(server: Server, values: Mapping[str, str]) -> dict[str, str]:
    return {name: value.replace(HERE, server.base_url) for name, value in values.items()}


def hold_no_key(folder: Path, *printed: str, recorded: bool = True) -> None:
    """Look for the keys in everything that was printed and in every byte of every file but `.env`."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != ".env"]
    assert any(path.name.startswith("tape.sqlite") for path in files) is recorded
    for what in (*(text.encode() for text in printed), *(path.read_bytes() for path in files)):
        assert KEY.encode() not in what
        assert OTHER_KEY.encode() not in what


@pytest.mark.parametrize("situation", SITUATIONS.values(), ids=SITUATIONS)
def test_what_is_resolved_printed_and_recorded(
    server: Server, fees: Path, inside: Any, tmp_path: Path, situation: Situation
) -> None:
    (tmp_path / ".env").write_text(situation.dotenv)
    args = tuple(part.replace(HERE, server.base_url) for part in situation.args)
    env = {**here(server, situation.env), "COLUMNS": "400"}
    outputs = ("-o", "out.json", "-o", "out.md")
    done = inside(*JUDGED, *args, "--cassette", "tape.sqlite", *outputs, env=env)
    assert done.returncode == 0, done.stderr

    # resolved: the model that is asked for, and the key that is sent
    model = situation.label.partition("/")[2]
    calls = server.calls()
    sent = {call["headers"].get("authorization") for call in calls}
    assert {call["body"]["model"] for call in calls} == {model}
    if situation.key is None:
        assert not any(word in str(sent) for word in (KEY, OTHER_KEY))
    else:
        assert sent == {f"Bearer {situation.key}"}

    # printed
    assert f"\nJudge: {situation.label}, " in done.stdout
    assert (situation.substitution or "") in done.stdout
    assert ("using openrouter" in done.stdout) is (situation.substitution is not None)

    # recorded: in the report, and beside the replies
    (judge,) = json.loads((tmp_path / "out.json").read_text())["judge"]["judges"]
    assert (judge["judge"], judge["substitution"]) == (situation.label, situation.substitution)
    assert inside("cassette", "export", "tape.sqlite", "tape.jsonl").returncode == 0
    lines = [json.loads(line) for line in (tmp_path / "tape.jsonl").read_text().splitlines()]
    (note,) = [line["value"] for line in lines if line.get("note") == "judge"]
    assert (note["provider"], note["model"]) == (situation.label.partition("/")[0], model)
    assert (note["key_name"], note["substitution"]) == (situation.key_name, situation.substitution)
    assert "base_url" not in note
    hold_no_key(tmp_path, done.stdout, done.stderr)


ALL_KEYS = "KIMI_API_KEY, MOONSHOT_API_KEY, OPENAI_API_KEY, "


@pytest.mark.parametrize(
    ("env", "args", "said"),
    [
        ({}, (), f"no model endpoint: no key is set. Set one of {ALL_KEYS}"),
        ({"KIMI_API_KEY": "your_key_here"}, (), "no model endpoint: KIMI_API_KEY holds a placeholder. Set one of"),
        ({"KIMI_API_KEY": ""}, (), "no model endpoint: no key is set."),
        (
            {},
            ("--judge", "openai:gpt-5"),
            "no key for openai: OPENAI_API_KEY and OPENROUTER_API_KEY are not set. "
            "Set OPENAI_API_KEY or OPENROUTER_API_KEY in the environment or in .env",
        ),
        (
            {"OPENROUTER_API_KEY": KEY},
            ("--base-url", "https://api.openai.com/v1"),
            "no key for openai: OPENAI_API_KEY is not set.",
        ),
        ({"OPENAI_API_KEY": KEY}, ("--provider", "openai", "--base-url", NOWHERE), "is not openai's host"),
        ({"KIMI_API_KEY": f"{KEY} {KEY}"}, (), "KIMI_API_KEY: the key holds a space"),
        ({"KIMI_API_KEY": KEY, "KIMI_BASE_URL": "127.0.0.1:9"}, (), "KIMI_BASE_URL: has no scheme."),
        ({}, ("--base-url", f"http://me:{KEY}@127.0.0.1:9/v1"), "holds a user name or password"),
        ({}, ("--base-url", f"{NOWHERE}/chat/completions"), "Cut that off"),
        ({}, ("--base-url", NOWHERE), "--base-url without --model: name the model"),
        ({}, ("--api-key-env", KEY, "--base-url", NOWHERE), "api_key_env holds no variable's name"),
    ],
    ids=[
        "no key", "placeholder", "blank", "named provider without a key", "no stand-in at a URL of the user's",
        "key not sent elsewhere", "broken key", "URL without scheme", "password in the URL", "whole route", "local model without a name",
        "key in place of its name",
    ],
)  # fmt: skip
def test_no_endpoint_is_one_line_and_exit_2(
    fees: Path, inside: Any, tmp_path: Path, env: Mapping[str, str], args: tuple[str, ...], said: str
) -> None:
    done = inside(*JUDGED, *args, "--cassette", "tape.sqlite", "-o", "out.json", env=env)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert said in done.stderr
    assert done.stderr.startswith("recallbench: ")
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "out.json").exists()
    hold_no_key(tmp_path, done.stderr, recorded=False)


def test_a_wrong_url_is_one_line_with_the_url_and_exit_3(
    fees: Path, inside: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.llm.line._BACKOFF_S", (0.01, 0.02))
    done = inside(
        *JUDGED, "--base-url", NOWHERE, "--model", "rules", "--cassette", "tape.sqlite", "-o", "out.json"
    )
    assert done.returncode == 3
    assert done.stdout == ""
    assert done.stderr.startswith(f"recallbench: local/rules: cannot be reached at {NOWHERE}: ")
    assert "Check --base-url, and that the server runs." in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "out.json").exists()


def test_a_wrong_route_is_told_at_the_first_call(
    server: Server, fees: Path, inside: Any, tmp_path: Path
) -> None:
    wrong = server.base_url.removesuffix("/v1")
    done = inside(
        *JUDGED, "--base-url", wrong, "--model", "rules", "--concurrency", "1", "--cassette", "tape.sqlite"
    )
    assert done.returncode == 3
    assert "Check --model and --base-url with `recallbench judge check`." in done.stderr
    assert server.stats()["requests"] == 1


def test_a_refused_key_stops_the_run_and_names_the_variable(
    fees: Path, recallbench: Any, inside: Any, tmp_path: Path
) -> None:
    with start(api_key="sk-the-right-one") as strict:
        env = {"KIMI_API_KEY": KEY, "KIMI_BASE_URL": strict.base_url}
        judged = (*JUDGED, "--concurrency", "1", "--cassette", "tape.sqlite", "-o", "out.json")
        done = recallbench(*judged, env=env)
        assert done.returncode == 3
        assert done.stdout == ""
        (said,) = done.stderr.splitlines()
        assert said.startswith("recallbench: kimi/kimi-k2.6: auth: Incorrect API key provided: sk-****.")
        assert "Check the key in KIMI_API_KEY, or name another variable with --api-key-env." in said
        assert strict.stats()["by_status"] == {"401": 1}
        assert not (tmp_path / "out.json").exists()

        checked = inside("judge", "check", env=env)
        assert checked.returncode == 3
        assert "key              KIMI_API_KEY\n" in checked.stdout
        assert "Check the key in KIMI_API_KEY" in checked.stderr

        keyless = inside(*judged, "--base-url", strict.base_url, "--model", "rules")
        assert keyless.returncode == 3
        assert "No key was sent: name the variable that holds one with --api-key-env." in keyless.stderr
        # Only where something can be kept is it said to be.
        assert said.endswith(" What is finished is kept.")
        assert "kept" not in checked.stderr
        assert "kept" not in inside(*judged, "--cassette-mode", "off", env=env).stderr
        hold_no_key(tmp_path, done.stderr, checked.stdout, checked.stderr, keyless.stderr)

        # A refusal is never kept: with the right key the same command goes on.
        mended = inside(*judged, env={**env, "KIMI_API_KEY": "sk-the-right-one"})
        assert mended.returncode == 0, mended.stderr
