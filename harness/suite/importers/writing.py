"""An imported data set written as a suite: haystacks once, and a header for every question."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from harness.errors import InputError
from harness.suite.discovery import HAYSTACKS
from harness.suite.importers.gold import criterion_of, gold_of
from harness.suite.importers.made import Imported, Question, Report
from harness.suite.importers.reading import short
from harness.suite.models import Conversation
from harness.suite.placing import named, settle

_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def report_path(root: Path) -> Path:
    """Return where the import report of a suite stands: beside it."""
    place = named(root)
    return place.with_name(f"{place.name}.import.json")


def write_suite(imported: Imported, root: Path) -> Path:
    """Write a suite, whole or not at all, and the report beside it.

    Returns:
        the path of the report.

    Raises:
        InputError: when there is something at the place but an empty folder, or nothing to write.
    """
    if not imported.questions:
        raise InputError("the data set has no question that could be asked; the report says why.")
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise InputError(f"{root}: is there already. Name another --out, or remove it.")
    place = named(root)
    draft = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        _write(imported, draft)
        settle(draft, place)
        told = json.dumps(imported.as_data(), ensure_ascii=False, indent=2) + "\n"
        report_path(root).write_text(told, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{root}: cannot be written: {error.strerror or error}.") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return report_path(root)


def _write(imported: Imported, root: Path) -> None:
    (root / HAYSTACKS).mkdir(parents=True)
    for group in imported.groups:
        (root / group).mkdir()
    messages: dict[str, dict[str, str]] = {}
    for name, talks in imported.haystacks.items():
        _dump(root / HAYSTACKS / f"{name}.yaml", map(_conversation, talks))
        messages[name] = {
            f"{talk.id}#{number}": message.text
            for talk in talks
            for number, message in enumerate(talk.messages, start=1)
        }
    domain = imported.report.form
    for question in imported.questions:
        header = _header(question, messages[question.haystack], domain)
        _dump(root / question.group / f"{question.id}.yaml", [header])
    (root / "README.md").write_text(_readme(imported.report), encoding="utf-8")


def _dump(path: Path, documents: Iterable[Any]) -> None:
    text = yaml.dump_all(
        documents, Dumper=_DUMPER, sort_keys=False, allow_unicode=True, width=1 << 20, explicit_start=True
    )
    path.write_text(text, encoding="utf-8", newline="\n")


def _conversation(talk: Conversation) -> dict[str, Any]:
    told: dict[str, Any] = {"conversation_id": talk.id}
    if talk.timestamp is not None:
        told["timestamp"] = talk.timestamp.isoformat()
    if talk.metadata:
        told["metadata"] = dict(talk.metadata)
    return {**told, "messages": [{message.role: message.text} for message in talk.messages]}


def _header(question: Question, messages: dict[str, str], domain: str) -> dict[str, Any]:
    header: dict[str, Any] = {
        "test_id": question.case_id,
        "category": question.group,
        "haystack": question.haystack,
        "title": short(question.text),
        "domain": domain,
        "cluster": question.haystack,
    }
    if question.abilities:
        header["abilities"] = list(question.abilities)
    if question.asked_at is not None:
        header["question_time"] = question.asked_at.isoformat()
    header["user_question"] = question.text
    header["evaluation_criteria"] = [criterion_of(question)]
    header["expected_behavior"] = question.answer
    if not question.answerable:
        header["answerable"] = False
    return {**header, **gold_of(question, messages)}


def _readme(report: Report) -> str:
    files = "\n".join(f"- `{file.name}`, {file.bytes} bytes, sha256 {file.sha256}" for file in report.files)
    notes = "\n".join(f"- {note}" for note in report.notes)
    return (
        f"# {report.title}\n\nImported by recallbench from {report.source}.\n"
        f"Licence: {report.licence}.\n\n{files}\n\n{notes}\n"
    )
