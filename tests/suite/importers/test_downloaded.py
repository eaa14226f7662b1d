"""The data sets themselves, where they have been downloaded beside the checkout."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.suite import Suite, load_suite
from harness.suite.importers import Imported, import_files, write_suite
from tests.conftest import SHARED

DATA = SHARED / "data"


def made(name: str, root: Path) -> tuple[Imported, Suite]:
    path = DATA / name
    if not path.is_file():
        pytest.skip(f"{path} is not there; the data sets are not part of the project")
    imported = import_files([path])
    write_suite(imported, root)
    return imported, load_suite(root)


def test_the_whole_of_locomo(tmp_path: Path) -> None:
    imported, suite = made("locomo10.json", tmp_path / "suite")
    assert imported.groups == {
        "adversarial": 446, "multi-hop": 282, "open-domain": 96, "single-hop": 841, "temporal": 321,
    }  # fmt: skip
    assert len(suite) == 1986
    assert len({case.haystack for case in suite}) == 10
    assert imported.report.counts() == {
        ("bad-evidence", "excluded"): 3,
        ("date-without-session", "excluded"): 1,
        ("bad-evidence", "repaired"): 6,
        ("integer-answer", "repaired"): 6,
        ("no-answer", "repaired"): 444,
        ("adversarial-with-answer", "kept"): 2,
        ("duplicate-question", "kept"): 12,
        ("no-evidence", "kept"): 4,
    }
    assert sum(not case.answerable for case in suite) == 444
    talks = {talk.id: talk for talk in suite.get("temporal_conv-26_q001").conversations()}
    assert len(talks) == 19


def test_the_samples_of_longmemeval(tmp_path: Path) -> None:
    imported, suite = made("longmemeval_oracle_sample.json", tmp_path / "oracle")
    assert len(suite) == 44
    assert sum(not case.answerable for case in suite) == 12
    assert "oracle" in imported.report.notes[0]
    one, whole = made("longmemeval_s_one.json", tmp_path / "s")
    (case,) = whole
    assert len(case.conversations()) == 53
    assert [fact.evidence != () for fact in case.gold.required] == [True]
    assert "S or M" in one.report.notes[0]
