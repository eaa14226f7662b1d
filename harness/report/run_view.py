"""What a run made of one case, as a person reads it: what went in, what came back, how long it took."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from harness.report.boxes import visible
from harness.runs.folder import LOG
from harness.runs.manifest import Manifest
from harness.runs.record import Record
from harness.suite.wording import count_words

_SHOWN = 400


def record_view(
    manifest: Manifest, record: Record, *, full: bool = False, folder: Path | None = None
) -> RenderableType:
    """Return one record.

    Args:
        manifest: the run that it is of.
        record: what became of the question.
        full: show memories whole, not only their beginnings.
        folder: where the run is; it and the adapter's log are named then.
    """
    parts: list[RenderableType] = [_head(manifest, record)]
    if folder is not None:
        parts.append(Text(str(folder), style="dim"))
    parts.append(Text(""))
    parts += [Text("Delivered", style="bold"), Padding(_delivered(record), (0, 0, 1, 2))]
    if record.failure is not None:
        parts += [Text(f"system error: {visible(str(record.failure))}", style="bold red")]
        if folder is not None and (folder / LOG).exists():
            parts += [Text(f"What it printed, tracebacks too: {folder / LOG}", style="dim")]
        parts += [Text("")]
    if record.memories is not None:
        kept = len(record.kept or ())
        title = (
            f"Recalled: {_counted(len(record.memories), 'memory', 'memories')}, {record.words_out} words; "
            f"{kept} of them read, {sum(map(count_words, record.kept or ()))} words"
        )
        parts += [Text(title, style="bold"), Padding(_memories(record, full), (0, 0, 1, 2))]
    if record.answer is not None:
        parts += [Text("Answer", style="bold"), Padding(Text(visible(record.answer)), (0, 2, 1, 2))]
    if record.report:
        said = json.dumps(record.report, ensure_ascii=False)
        parts += [Text("Its own report", style="bold"), Padding(Text(visible(said)), (0, 2, 1, 2))]
    return Group(*parts, Text(_timings(record), style="dim"), Text(""))


def _counted(count: int, one: str, more: str) -> str:
    return f"{count} {one if count == 1 else more}"


def _head(manifest: Manifest, record: Record) -> Text:
    system = manifest.system
    head = Text(record.case, style="bold")
    repeat = f", repeat {record.repeat + 1}" if manifest.repeats > 1 else ""
    tries = f", attempt {record.attempt}" if record.attempt > 1 else ""
    head.append(f"  {visible(system.label)} {visible(system.version)}{repeat}{tries}", style="dim")
    return head


def _delivered(record: Record) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    for name in ("conversation", "messages", "user", "words", "timestamp", "metadata", "digest"):
        table.add_column(
            name, overflow="fold", justify="right" if name in ("messages", "user", "words") else "left"
        )
    for one in record.delivered:
        table.add_row(
            Text(visible(one.id)),
            str(one.messages),
            str(one.user),
            str(one.words),
            one.timestamp or "none",
            Text(visible(", ".join(one.metadata) or "none")),
            one.digest,
        )
    return table


def _memories(record: Record, full: bool) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("", justify="right")
    table.add_column("score", justify="right")
    table.add_column("date")
    table.add_column("memory", overflow="fold")
    kept = len(record.kept or ())
    for number, memory in enumerate(record.memories or (), start=1):
        text = visible(memory.text)
        text = text if full or len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
        table.add_row(
            str(number),
            "–" if memory.score is None else f"{memory.score:.3g}",
            memory.created_at.date().isoformat() if memory.created_at else "–",
            Text(text, style="" if number <= kept else "dim"),
        )
    return table


def _timings(record: Record) -> str:
    each = ", ".join(f"{phase} {1000 * seconds:.1f} ms" for phase, seconds in record.timings.items())
    return f"{each}; namespace {record.namespace}"
