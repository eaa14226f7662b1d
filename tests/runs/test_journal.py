"""Journals: what was appended is there, however and whenever the writer was stopped."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.errors import InputError
from harness.runs.journal import Journal, lines

TEXT = st.text(st.characters(exclude_categories=()), max_size=8)  # lone surrogates and line ends included
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
OBJECTS = st.lists(st.dictionaries(TEXT, VALUE, max_size=4), max_size=6)


def written(path: Path, objects: list[dict[str, Any]]) -> bytes:
    path.unlink(missing_ok=True)
    with Journal(path) as journal:
        for item in objects:
            journal.append(item)
    return path.read_bytes()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(OBJECTS)
def test_what_was_appended_is_read_back(tmp_path: Path, objects: list[dict[str, Any]]) -> None:
    data = written(tmp_path / "a.jsonl", objects)
    assert list(lines(tmp_path / "a.jsonl")) == objects
    assert data.count(b"\n") == len(objects)


def test_every_line_is_in_the_file_when_append_returns(tmp_path: Path) -> None:
    with Journal(tmp_path / "a.jsonl") as journal:
        for number in range(3):
            journal.append({"n": number})
            assert [item["n"] for item in lines(tmp_path / "a.jsonl")] == list(range(number + 1))


def test_a_file_cut_anywhere_loses_the_torn_line_only(tmp_path: Path) -> None:
    objects = [{"case": "a", "said": "$45"}, {"case": "ü\n", "said": None}, {"case": "c"}]
    path = tmp_path / "a.jsonl"
    whole = written(path, objects)
    ends = [at + 1 for at, byte in enumerate(whole) if byte == ord("\n")]
    for cut in range(len(whole) + 1):
        path.write_bytes(whole[:cut])
        kept = sum(end <= cut for end in ends)
        assert list(lines(path)) == objects[:kept], cut
        with Journal(path) as journal:
            assert path.read_bytes() == whole[: ends[kept - 1] if kept else 0], cut
            journal.append({"case": "new"})
        assert list(lines(path)) == [*objects[:kept], {"case": "new"}], cut


@pytest.mark.parametrize("tail", [65_535, 65_536, 65_537, 200_000])
def test_a_long_torn_line_is_cut_off(tmp_path: Path, tail: int) -> None:
    path = tmp_path / "a.jsonl"
    whole = written(path, [{"said": "x" * 70_000}])
    path.write_bytes(whole + b"y" * tail)
    Journal(path).close()
    assert path.read_bytes() == whole


def test_a_torn_line_alone_leaves_an_empty_journal(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"case": ' + b"x" * 100_000)
    Journal(path).close()
    assert path.read_bytes() == b""


@pytest.mark.parametrize(
    "line",
    [b"", b"{", b"[1]", b"7", b"\xff\xfe", b"\x00\x00", b"<<<<<<< ours", b"[" * 100_000],
    ids=["empty", "torn", "list", "number", "bytes", "zeros", "merge", "deep"],
)
def test_a_broken_line_in_the_middle_is_named(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"n": 1}\n' + line + b'\n{"n": 3}\n')
    read = lines(path)
    assert next(read) == {"n": 1}
    with pytest.raises(InputError, match=rf"{path}:2: no JSON object\. Restore"):
        next(read)


def test_no_file_is_an_empty_journal(tmp_path: Path) -> None:
    assert list(lines(tmp_path / "none.jsonl")) == []


def test_no_number_that_json_lacks_gets_in(tmp_path: Path) -> None:
    with Journal(tmp_path / "a.jsonl") as journal:
        with pytest.raises(ValueError, match="JSON"):
            journal.append({"score": float("nan")})
        journal.append({"score": 1})
    assert list(lines(tmp_path / "a.jsonl")) == [{"score": 1}]


def test_reading_holds_one_line_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with Journal(path) as journal:
        for number in range(300):
            journal.append({"n": number, "said": "x" * 20_000})
    tracemalloc.start()
    try:
        assert sum(1 for _ in lines(path)) == 300
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < path.stat().st_size / 10


# A process of its own, whose files may not grow beyond a bound: as a disk that is full.
FULL_DISK = """
import resource, sys
from pathlib import Path
from harness.runs.journal import Journal
with Journal(Path(sys.argv[1])) as journal:
    journal.append({"n": 1})
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
    try:
        journal.append({"n": "x" * 1000})
    except OSError as error:
        print(error.strerror)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    journal.append({"n": 2})
"""


def test_a_full_disk_is_an_error_and_leaves_no_half_line(tmp_path: Path, root: Path) -> None:
    path = tmp_path / "a.jsonl"
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(path)],
        cwd=root, env={**os.environ}, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "File too large"
    assert [json.loads(line) for line in path.read_text().splitlines()] == [{"n": 1}, {"n": 2}]
