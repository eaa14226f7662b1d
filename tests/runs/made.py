"""Runs made of records, without a system."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.adapters.protocol import Memory
from harness.runs.folder import RunFolder
from harness.runs.manifest import Manifest, ReaderPart, SystemPart
from harness.runs.record import Delivered, Failure, Record
from harness.suite import Suite

GIVEN = (Delivered("conv_001", 4, 2, 28, "2025-03-04T10:15:00-05:00", ("business",), "0" * 12),)
RIGHT = "The fee is $45, and it is due on March 24, 2025."
FAILED = Failure("raised", "RuntimeError: no", "recall")
TIMED_OUT = Failure("timeout", "wait took longer than 2 s", "wait")


def record(case: str, repeat: int = 0, answer: str | None = None, **fields: Any) -> Record:
    """Return a record of an answer, or of `memories` given as texts."""
    texts = fields.pop("memories", None)
    when = fields.pop("when", None)
    if texts is not None:
        fields["memories"] = tuple(Memory(str(at), text, None, when) for at, text in enumerate(texts))
        fields["kept"] = tuple(texts)
    return Record(case, repeat, 1, "n" * 32, answer, delivered=GIVEN, **fields)


def made_run(
    root: Path,
    suite: Suite,
    *records: Record,
    label: str = "probe",
    kind: str = "connector",
    reader: str = "llm",
    cases: Mapping[str, str] | None = None,
    **parts: Any,
) -> RunFolder:
    """Write a run with these records."""
    hashes = {case.id: Suite(suite.root, (case,)).hash for case in suite} if cases is None else cases
    manifest = Manifest(
        SystemPart(label, label, parts.pop("name", label), kind, {}),
        ReaderPart(
            reader, parts.pop("budget", 500), parts.pop("limit", 50), parts.pop("model", None), parts.pop("prompt", None)
        ),
        str(suite.root),
        hashes,
        "0",
        parts.pop("repeats", 1),
    )  # fmt: skip
    assert not parts
    folder = RunFolder.begin(root / "runs", manifest)
    begun, answers = folder.journals()
    with begun, answers:
        for one in records:
            answers.append(one.as_data())
    return folder
