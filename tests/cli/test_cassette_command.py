"""Recording and replaying: the same bytes with no server, no key and another address."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.model_server import Server

JUDGED = ("compare", "answers.json", "--suite", "suite", "--scorer", "llm-judge")
OUTPUTS = ("out.json", "out.md", "out.csv", "out.txt")
WRITTEN = tuple(part for name in OUTPUTS for part in ("-o", name))
NOWHERE = "http://127.0.0.1:9/v1"
# The judge rules on one answer with garbage, and goes on so when it is told.
ONE_HOPELESS = [
    {"when": {"contains": text}, "do": "garbage"} for text in ("The fee is $30.", "could not be used")
]
KEY = "sk-loopback-7Q2w9"


def produced(folder: Path) -> dict[str, bytes]:
    found = {name: (folder / name).read_bytes() for name in OUTPUTS}
    for name in OUTPUTS:
        (folder / name).unlink()
    return found


def test_replay_gives_the_same_bytes_without_server_and_key(
    server: Server, fees: Path, recallbench: Any, inside: Any, tmp_path: Path
) -> None:
    server.set_faults(ONE_HOPELESS)  # a replay repeats a run's errors too
    env = {"KIMI_API_KEY": KEY, "KIMI_BASE_URL": server.base_url}
    recorded = recallbench(*JUDGED, *WRITTEN, "--cassette", "kept.sqlite", env=env)
    assert recorded.returncode == 0, recorded.stderr
    assert "Judge errors (never a score)" in recorded.stdout
    files = produced(tmp_path)
    asked = server.stats()["chat"]
    assert asked > 4

    replay = (*JUDGED, *WRITTEN, "--cassette-mode", "replay", "--cassette")
    for env, name in (({"KIMI_BASE_URL": NOWHERE}, "kept.sqlite"), ({}, "kept.jsonl")):
        if name == "kept.jsonl":
            exported = inside("cassette", "export", "kept.sqlite", "kept.jsonl")
            assert exported.returncode == 0, exported.stderr
        replayed = recallbench(*replay, name, env=env)
        assert replayed.returncode == 0, replayed.stderr
        assert replayed.stdout == recorded.stdout
        assert produced(tmp_path) == files
        assert "judged" not in replayed.stderr
    assert server.stats()["chat"] == asked


def test_a_base_url_at_another_port_finds_the_same_replies(server: Server, fees: Path, inside: Any) -> None:
    recorded = inside(*JUDGED, "--base-url", server.base_url, "--model", "rules")
    for mode in ("auto", "replay"):
        again = inside(*JUDGED, "--base-url", NOWHERE, "--model", "rules", "--cassette-mode", mode)
        assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr
    assert server.stats()["chat"] == 4


def test_what_a_replay_lacks_names_the_case_and_exits_with_3(
    server: Server, fees: Path, recallbench: Any, tmp_path: Path
) -> None:
    recorded = recallbench(*JUDGED, "--base-url", server.base_url, "--model", "rules", "--layer", "layer1")
    assert recorded.returncode == 0, recorded.stderr
    before = (tmp_path / ".recallbench/cassette.sqlite").read_bytes()
    lacking = recallbench(
        *JUDGED,
        "--base-url",
        server.base_url,
        "--model",
        "rules",
        "--cassette-mode",
        "replay",
        "-o",
        "x.json",
    )
    assert lacking.returncode == 3
    assert lacking.stdout == ""
    assert lacking.stderr.startswith("recallbench: layer2_01_fee: the cassette .recallbench/cassette.sqlite ")
    assert len(lacking.stderr.splitlines()) == 1
    assert not (tmp_path / "x.json").exists()
    assert (tmp_path / ".recallbench/cassette.sqlite").read_bytes() == before
    assert server.stats()["chat"] == 2


@pytest.mark.parametrize("name", ["gone.sqlite", "gone.jsonl"])
def test_a_missing_cassette_is_bad_input(fees: Path, inside: Any, tmp_path: Path, name: str) -> None:
    gone = inside(
        *JUDGED, "--base-url", NOWHERE, "--model", "rules", "--cassette-mode", "replay", "--cassette", name
    )
    assert gone.returncode == 2
    assert gone.stderr == (
        f"recallbench: {name}: no such cassette. Record one first: leave out --cassette-mode replay.\n"
    )
    assert not (tmp_path / name).exists()


def test_a_cassette_is_shown_and_exported(server: Server, fees: Path, inside: Any, tmp_path: Path) -> None:
    folder = tmp_path / "tapes"
    folder.mkdir()
    panel = ("--judge", f"a@{server.base_url}", "--judge", f"b@{server.base_url}", "--repeats", "2")
    recorded = inside(*JUDGED, *panel, "--cassette", folder)
    assert recorded.returncode == 0, recorded.stderr
    assert "Flip rate: 0/" in recorded.stdout
    assert "Panel agreement: 8/8 (100%)" in recorded.stdout

    assert recorded.stderr.endswith(f"replies kept in {folder / 'cassette.sqlite'}\n")

    shown = inside("cassette", "show", folder)
    assert shown.stdout.splitlines()[:3] == [f"{folder}: 16 replies", "  local/a: 8", "  local/b: 8"]
    assert shown.stdout.count("  note: judge ") == 2

    exported = inside("cassette", "export", folder, "out.jsonl")
    assert exported.stderr == "wrote out.jsonl: 18 lines\n"
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [set(line) for line in lines[:2]] == [{"note", "name", "value"}] * 2
    assert all(
        line["status"] == 200 and line["request"]["model"] in "ab" and line["provider"] == "local"
        for line in lines[2:]
    )
    # What was asked is the key; where it was asked must not be in it.
    assert str(server.port) not in (tmp_path / "out.jsonl").read_text()


def test_wrong_uses_of_a_cassette_are_told(server: Server, fees: Path, inside: Any, tmp_path: Path) -> None:
    (tmp_path / "no.sqlite").write_text("this is a text, and a rather long one at that" * 30)
    (tmp_path / "no.jsonl").write_text('{"note":"judge","name":"x","value":1}\n{"half": \n')
    for args, said in [
        (("cassette", "show", "gone.sqlite"), "gone.sqlite: no such cassette."),
        (("cassette", "export", "no.jsonl", "out.json"), "out.json: an export ends in .jsonl"),
        (("cassette", "show", "no.jsonl"), "no.jsonl:2: no line of an exported cassette"),
        (("cassette", "show", "no.sqlite"), "no.sqlite: cannot be used as a cassette"),
        (
            (*JUDGED, "--base-url", server.base_url, "--model", "rules", "--cassette", "no.jsonl"),
            "can only be replayed",
        ),
    ]:
        done = inside(*args)
        assert done.returncode == 2, args
        assert said in done.stderr
        assert "Traceback" not in done.stderr
    assert server.stats()["chat"] == 0


def test_retry_errors_asks_again_only_where_an_error_is_kept(server: Server, fees: Path, inside: Any) -> None:
    server.set_faults(ONE_HOPELESS)
    judged = (*JUDGED, "--base-url", server.base_url, "--model", "rules")
    assert "Judge errors" in inside(*judged).stdout
    server.set_faults([])
    server.reset()
    assert "Judge errors" in inside(*judged).stdout
    assert server.stats()["chat"] == 0
    mended = inside(*judged, "--retry-errors")
    assert "Judge errors" not in mended.stdout
    assert server.stats()["chat"] == 1
    assert inside(*judged).stdout == mended.stdout
    assert server.stats()["chat"] == 1
