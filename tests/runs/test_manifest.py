"""Manifests: a run's identity follows from what it is, and nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InputError
from harness.runs.folder import RunFolder
from harness.runs.manifest import Manifest, ReaderPart, SystemPart, dated, manifest_from

SYSTEM = SystemPart(
    "bm25", "bm25(k=8)", "bm25", "retrieval", {"k": 8, "rounds": 1}, "SQLite 3", ("recall",), {"notes": "ab"}
)
READER = ReaderPart("llm", 500, 50, "openai/reader", "cd" * 32)
MANIFEST = Manifest(
    SYSTEM, READER, "cases", {"a": "11", "b": "22"}, "33", 1, {"recallbench": "0.1.0", "python": "3.12.1"}
)


@pytest.mark.parametrize(
    "other",
    [
        replace(MANIFEST, system=replace(SYSTEM, label="mine")),
        replace(MANIFEST, system=replace(SYSTEM, options={"k": 9, "rounds": 1})),
        replace(MANIFEST, system=replace(SYSTEM, version="SQLite 4")),
        replace(MANIFEST, system=replace(SYSTEM, name="vector")),
        replace(MANIFEST, system=replace(SYSTEM, prompts={"notes": "ac"})),
        replace(MANIFEST, system=replace(SYSTEM, model="openai/other")),
        replace(MANIFEST, reader=replace(READER, kind="extractive")),
        replace(MANIFEST, reader=replace(READER, budget=400)),
        replace(MANIFEST, reader=replace(READER, budget=None)),
        replace(MANIFEST, reader=replace(READER, limit=10)),
        replace(MANIFEST, reader=replace(READER, model="openai/other")),
        replace(MANIFEST, reader=replace(READER, prompt="ce" * 32)),
        replace(MANIFEST, suite_hash="34"),
        replace(MANIFEST, cases={"a": "11"}),
        replace(MANIFEST, cases={"a": "11", "b": "23"}),
        replace(MANIFEST, repeats=2),
        replace(MANIFEST, versions={"recallbench": "0.2.0", "python": "3.12.1"}),
    ],
    ids=lambda other: "",
)
def test_another_run_has_another_id(other: Manifest) -> None:
    assert other.id != MANIFEST.id


@pytest.mark.parametrize(
    "same",
    [
        replace(MANIFEST, suite="elsewhere/cases"),
        dated(MANIFEST, "2025-03-04T10:15:00+00:00"),
        replace(MANIFEST, system=replace(SYSTEM, options={"rounds": 1, "k": 8})),
        replace(MANIFEST, cases={"b": "22", "a": "11"}),
        replace(MANIFEST, versions={"python": "3.12.1", "recallbench": "0.1.0"}),
    ],
    ids=["moved", "dated", "options", "cases", "versions"],
)
def test_where_when_and_in_which_order_make_no_other_run(same: Manifest) -> None:
    assert same.id == MANIFEST.id


def test_the_id_is_the_same_in_every_process(root: Path) -> None:
    code = "import json, sys; from harness.runs.manifest import manifest_from; print(manifest_from(json.load(sys.stdin)).id)"
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            input=json.dumps(MANIFEST.as_data()),
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=root, capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
        assert done.stdout.strip() == MANIFEST.id


LABELS = ["bm25(k=8)", "记忆", "a/b", "..", ".", "../../etc", "-rf", "a\\b", "ü", "x" * 300, "a b\nc", "\ud800", "CON:", "~", ""]  # fmt: skip


@pytest.mark.parametrize("label", LABELS, ids=range(len(LABELS)))
def test_odd_labels_stay_in_the_folder_of_runs(tmp_path: Path, label: str) -> None:
    made = replace(MANIFEST, system=replace(SYSTEM, label=label))
    folder = RunFolder.begin(tmp_path, made)
    assert folder.path.parent == tmp_path
    assert folder.path.resolve().parent == tmp_path.resolve()
    assert folder.path.name[0] not in "-."
    assert RunFolder.load(folder.path).manifest.system.label == label


@given(st.text(st.characters(exclude_categories=())))
def test_an_id_is_a_plain_name(label: str) -> None:
    made = replace(MANIFEST, system=replace(SYSTEM, label=label)).id
    assert set(made) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
    assert made[0] not in "-."
    assert len(made) <= 51


def test_ids_tell_apart_labels_that_look_alike_in_a_name() -> None:
    ids = {replace(MANIFEST, system=replace(SYSTEM, label=label)).id for label in ("记", "忆", "?", "*")}
    assert len(ids) == 4
    assert {name.rpartition("-")[0] for name in ids} == {"system"}


def test_a_manifest_is_read_back() -> None:
    made = dated(MANIFEST, "2025-03-04T10:15:00+00:00")
    assert manifest_from(json.loads(json.dumps(made.as_data()))) == made
    assert made.asked == 2


def edited(**changes: Any) -> dict[str, Any]:
    return {**json.loads(json.dumps(MANIFEST.as_data())), **changes}


@pytest.mark.parametrize(
    "data",
    [
        "",
        "{",
        "[]",
        "null",
        '{"schema": "recallbench.run/1"}',
        json.dumps(edited(schema="recallbench.run/9")),
        json.dumps(edited(repeats=5)),
        json.dumps(edited(cases={"a": "11"})),
        json.dumps(edited(extra=1)),
        json.dumps(edited(system="bm25")),
        json.dumps(edited(system={**edited()["system"], "options": {"k": 9, "rounds": 1}})),
        json.dumps(edited(reader={**edited()["reader"], "budget": 5000})),
        json.dumps(edited(reader=None)),
        "\ufeff{}",
        "\x00",
    ],
    ids=range(15),
)
def test_an_edited_or_foreign_manifest_is_refused(tmp_path: Path, data: str) -> None:
    (tmp_path / "manifest.json").write_text(data, encoding="utf-8")
    with pytest.raises(InputError, match=r"no manifest of a run: .*Restore the file, or remove the run"):
        RunFolder.load(tmp_path)


def test_another_runs_manifest_in_the_folder_of_this_one_is_refused(tmp_path: Path) -> None:
    ours = RunFolder.begin(tmp_path, MANIFEST)
    other = RunFolder.begin(tmp_path, replace(MANIFEST, repeats=2))
    (ours.path / "manifest.json").write_bytes((other.path / "manifest.json").read_bytes())
    with pytest.raises(InputError, match=f"{ours.path}: holds another run, {other.path.name}"):
        RunFolder.begin(tmp_path, MANIFEST)
