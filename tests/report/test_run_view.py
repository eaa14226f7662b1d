"""One case of a run, as a person reads it."""

from __future__ import annotations

import io
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from rich.console import Console

from harness.adapters.protocol import Memory
from harness.report.run_view import record_view
from harness.runs.manifest import Manifest, ReaderPart, SystemPart
from harness.runs.record import Delivered, Failure, Record

SYSTEM = SystemPart("notes", "bm25", "bm25", "retrieval", {}, "SQLite 3.45")
MANIFEST = Manifest(SYSTEM, ReaderPart("llm", 3, 50), "cases", {"layer1_01_fee": "1"}, "2")
WHEN = datetime(2025, 3, 4, 10, 15, tzinfo=UTC)
RECORD = Record(
    "layer1_01_fee",
    0,
    1,
    "feed" * 8,
    "The fee is $45.",
    (Memory("m1", "fee is $45", 0.12345, WHEN), Memory("m2", "due on March 24")),
    ("fee is $45",),
    12,
    (
        Delivered("conv_001", 4, 2, 28, "2025-03-04T10:15:00+00:00", ("business", "channel"), "0123456789ab"),
        Delivered("conv_002", 6, 3, 31, None, (), "ba9876543210"),
    ),
    {"open": 0.001, "recall": 0.25},
)


def shown(
    record: Record = RECORD, manifest: Manifest = MANIFEST, width: int = 110, *, full: bool = False
) -> str:
    out = io.StringIO()
    Console(file=out, width=width, color_system=None).print(record_view(manifest, record, full=full))
    return out.getvalue()


def test_it_says_what_went_in_what_came_back_and_how_long_it_took() -> None:
    lines = [" ".join(line.split()) for line in shown().splitlines()]
    assert lines[0] == "layer1_01_fee notes SQLite 3.45"
    for line in (
        "conversation messages user words timestamp metadata digest",
        "conv_001 4 2 28 2025-03-04T10:15:00+00:00 business, channel 0123456789ab",
        "conv_002 6 3 31 none none ba9876543210",
        "Recalled: 2 memories, 7 words; 1 of them read, 3 words",
        "1 0.123 2025-03-04 fee is $45",
        "2 – – due on March 24",
        "The fee is $45.",
        f"open 1.0 ms, recall 250.0 ms; namespace {'feed' * 8}",
    ):
        assert line in lines


def test_repeats_and_further_attempts_are_told() -> None:
    head = shown(replace(RECORD, repeat=1, attempt=3), replace(MANIFEST, repeats=2)).splitlines()[0]
    assert "repeat 2" in head
    assert "attempt 3" in head
    assert "repeat" not in shown()
    assert "attempt" not in shown()


def test_a_failure_is_shown_with_its_cause() -> None:
    failed = replace(
        RECORD,
        answer=None,
        memories=None,
        kept=None,
        failure=Failure("timeout", "wait took longer than 2 s", "wait"),
    )
    text = shown(failed)
    assert "system error: timeout in wait: wait took longer than 2 s" in text
    assert "Recalled" not in text
    assert "Answer" not in text


def test_nothing_delivered_and_nothing_recalled_can_be_seen() -> None:
    text = shown(replace(RECORD, delivered=(), memories=(), kept=(), answer=None, timings={}))
    assert "Recalled: 0 memories, 0 words; 0 of them read, 0 words" in text


def test_long_memories_are_shown_whole_on_demand() -> None:
    long = replace(RECORD, memories=(Memory("m", f"{'word ' * 200}END"),), kept=())
    assert "END" not in shown(long)
    assert "…" in shown(long)
    assert "END" in shown(long, full=True)


@pytest.mark.parametrize("width", [60, 80, 200])
@pytest.mark.parametrize("text", ["[bold]$45[/bold]", "\x1b[2J\x1b[31mred", "[/]", "\u202eevil", "记忆 $45"])
def test_what_a_system_said_is_shown_and_not_obeyed(text: str, width: int) -> None:
    evil = replace(
        RECORD,
        answer=text,
        memories=(Memory("m", text),),
        delivered=(Delivered(text, 1, 1, 1, None, (text,), "0" * 12),),
        failure=Failure("raised", text, "recall"),
    )
    system = replace(SYSTEM, label=text, version=text)
    found = shown(evil, replace(MANIFEST, system=system), width)
    assert "\x1b" not in found
    assert "\u202e" not in found
    plain = text.replace("\x1b", "\ufffd").replace("\u202e", "\ufffd")
    assert found.count(plain) >= 3
