"""Kept patterns: the same patterns, and never a reason to fail."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from harness.facts import kept

SOURCES = {
    "groups": (r"(?P<year>\d{4})-(?P<month>\d\d)|(x)(?=y)", 0),
    "verbose": (r"a  # comment\n | b{2,3}?", re.VERBOSE),
    "lookbehind": (r"(?<!\w)caf[eé]s?(?!\w)", re.IGNORECASE),
    "conditional": (r"(<)?a(?(1)>)", 0),
}
TEXTS = ("2024-05", "xy", "a", "abbb", "CAFÉS", "<a>", "café1", "")


@pytest.fixture(autouse=True)
def _own_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "path", lambda: tmp_path / "made" / "kept.patterns")
    monkeypatch.setattr(kept, "_store", None)
    monkeypatch.setattr(kept, "_added", set())
    monkeypatch.setattr(sys, "dont_write_bytecode", False)


@pytest.mark.parametrize(("source", "flags"), SOURCES.values(), ids=SOURCES)
def test_a_restored_pattern_is_the_compiled_one(
    source: str, flags: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept.compiled(source, flags)
    kept.save()
    assert kept.path().exists()
    monkeypatch.setattr(kept, "_store", None)
    monkeypatch.setattr(re, "compile", lambda *_: pytest.fail("it was compiled again"))
    restored = kept.compiled(source, flags)
    monkeypatch.undo()
    fresh = re.compile(source, flags)
    assert (restored.pattern, restored.flags, restored.groups) == (fresh.pattern, fresh.flags, fresh.groups)
    assert dict(restored.groupindex) == dict(fresh.groupindex)
    for text in TEXTS:
        one, other = restored.search(text), fresh.search(text)
        assert (one and (one.span(), one.groups(), one.lastgroup)) == (
            other and (other.span(), other.groups(), other.lastgroup)
        )


@pytest.mark.parametrize(
    "content",
    [b"", b"junk", b"\xe3\x00\x00", b"N", b"[\x02\x00\x00\x00NN"],
    ids=["empty", "junk", "cut", "none", "list"],
)
def test_a_broken_file_is_no_matter(content: bytes) -> None:
    kept.path().parent.mkdir()
    kept.path().write_bytes(content)
    assert kept.compiled("a+", 0).match("aa") is not None
    kept.save()
    assert kept._load()


def test_another_interpreter_s_patterns_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    kept.compiled("a+", 0)
    kept.save()
    monkeypatch.setattr(kept, "_STAMP", ("another", "python"))
    assert kept._load() == {}


def test_a_folder_that_cannot_be_written_to_is_no_matter(tmp_path: Path) -> None:
    (tmp_path / "made").write_text("a file where the folder should be")
    kept.compiled("a+", 0)
    kept.save()


def test_nothing_is_written_where_bytecode_is_not(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path\n"
        "from harness.facts import kept, match_fact\n"
        f"kept.path = lambda: Path({str(tmp_path / 'kept')!r})\n"
        "assert match_fact('It is $5.', {'fact': '$5', 'type': 'money'}).asserted\n"
    )
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([sys.executable, "-c", code], env=env, check=True)
    assert not (tmp_path / "kept").exists()
    env.pop("PYTHONDONTWRITEBYTECODE")
    subprocess.run([sys.executable, "-c", code], env=env, check=True)
    assert (tmp_path / "kept").exists()


def test_a_full_file_is_begun_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "_MOST", 3)
    for source in ("a+", "b+", "c+"):
        kept.compiled(source, 0)
    kept.save()
    assert len(kept._load()) == 3
    kept.compiled("d+", 0)
    kept.save()
    assert list(kept._load()) == [("d+", 0)]


def test_warming_drops_what_an_earlier_version_left() -> None:
    kept.compiled("of an earlier version", 0)
    kept.save()
    count = kept.warm()
    assert count > 0
    assert ("of an earlier version", 0) not in kept._load()
