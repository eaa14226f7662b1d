"""Case skeletons of chat logs: the conversations are there, question, criteria and gold are to be written.

A skeleton does not load. Whatever is to be written is empty, with a comment that says what belongs there,
so that the loader names each place by file and line until it is filled.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path

from harness.authoring.case_text import dump, spelled
from harness.authoring.chat_logs import Log
from harness.authoring.chat_messages import NO_LABEL, LogMessage, Unmapped
from harness.errors import InputError
from harness.suite import Layer

NOT_MAPPED = "NOT_MAPPED.md"
_NUMBER = re.compile(r"(\d+)_")


@dataclass(frozen=True, slots=True)
class Skeleton:
    """A case still to be written.

    Attributes:
        name: file name without its ending, such as `01_new_phone`.
        layer: the layer it is meant for.
        logs: its conversations, in the order of time where they have one.
        joined: messages that were joined with the one before, of the same speaker.
    """

    name: str
    layer: Layer
    logs: tuple[Log, ...]
    joined: int


def skeletons_of(logs: Sequence[Log], layer: Layer, per_case: int, taken: int = 0) -> list[Skeleton]:
    """Return skeletons, so many conversations each.

    Args:
        logs: the conversations.
        layer: the layer that the cases are meant for.
        per_case: conversations a case; the last case may have fewer.
        taken: the highest number that a file of the layer has already.
    """
    found = []
    for number, begin in enumerate(range(0, len(logs), per_case), start=taken + 1):
        group = logs[begin : begin + per_case]
        joined = [_joined(log) for log in _in_time(group)]
        joins = sum(len(log.messages) for log in group) - sum(len(log.messages) for log in joined)
        name = f"{number:02}_{slug(group[0].title or group[0].id) or 'chat'}"
        found.append(Skeleton(name, layer, tuple(joined), joins))
    return found


def write_skeletons(skeletons: Sequence[Skeleton], folder: Path, locale: str) -> list[Path]:
    """Write skeletons into a suite's folder, and return their paths; no file is overwritten.

    Raises:
        InputError: when one can't be written.
    """
    paths = []
    for skeleton in skeletons:
        path = folder / skeleton.layer / f"{skeleton.name}.yaml"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8", newline="\n") as file:
                file.write(skeleton_text(skeleton, locale))
        except FileExistsError:
            raise InputError(f"{path}: is there already. Name another folder with --into.") from None
        except OSError as error:
            raise InputError(f"{path}: cannot be written: {error.strerror}.") from None
        paths.append(path)
    return paths


def highest_number(folder: Path, layer: str) -> int:
    """Return the highest number that a case file of a layer begins with, 0 where there is none."""
    found = (_NUMBER.match(path.name) for path in (folder / layer).glob("*.y*ml"))
    return max((int(number[1]) for number in found if number), default=0)


def skeleton_text(skeleton: Skeleton, locale: str) -> str:
    """Return the file of a skeleton."""
    title = next((log.title for log in skeleton.logs if log.title), "")
    last = max((moment for log in skeleton.logs if (moment := _begun(log))), key=str, default=None)
    asked = None if last is None else spelled(_next_day(last).replace(minute=0, second=0))
    head = dump({"test_id": f"{skeleton.layer}_{skeleton.name}", "category": skeleton.layer})
    named = (
        dump({"title": " ".join(title.split())}).rstrip() if title.strip() else "title: # TODO a short title"
    )
    time = f"question_time: {asked} # TODO when is it asked? After the last conversation." if asked else (
        "question_time: # TODO when is it asked? After the last conversation."
    )  # fmt: skip
    return f"""\
# A skeleton: it does not load before every TODO is filled. docs/authoring.md has the brief.
{head}{named}
description: # TODO what happens, in a sentence or two (may stay empty)
domain: # TODO such as banking (may stay empty)
abilities: [] # TODO such as correction, temporal, preference
{dump({"locale": locale}).rstrip()}
entities: [] # TODO the people and organisations in it
{time}
user_question: # TODO what is asked, days or weeks later
evaluation_criteria:
  - id: first
    text: # TODO one statement that can be checked against the answer alone
expected_behavior: # TODO a reference answer
gold_facts:
  required:
    - id: first
      fact: # TODO the value that an answer must state
      type: text # id, number, money, percent, quantity, date, time or text
      evidence: [] # TODO the messages that say it, such as [conv_001#12]
  forbidden: [] # TODO wrong values that a bad memory would give
""" + "".join(f"---\n{''.join(_talk(log, number))}" for number, log in enumerate(skeleton.logs, start=1))


def _talk(log: Log, number: int) -> Iterator[str]:
    """Yield a conversation; a comment numbers each message, as evidence cites it, and has its time."""
    name = f"conv_{number:03}"
    head: dict[str, object] = {"conversation_id": name}
    if begun := _begun(log):
        head["timestamp"] = spelled(begun)
    labels = {"source_id": log.id, "title": " ".join(log.title.split()), **log.labels}
    labels = {key: value for key, value in labels.items() if value}
    if labels:
        head["metadata"] = labels
    yield dump(head)
    yield "messages:\n"
    for place, message in enumerate(log.messages, start=1):
        at = f", {spelled(message.at)}" if message.at else ""
        yield f"  # {name}#{place}{at}\n"
        yield "".join(f"  {line}\n" for line in dump([{message.role: message.text}]).rstrip("\n").split("\n"))


def _next_day(moment: datetime) -> datetime:
    """Return the time a day later; the last day of the calendar has none after it."""
    try:
        return moment + timedelta(days=1)
    except OverflowError:
        return moment


def _begun(log: Log) -> datetime | None:
    return next((message.at for message in log.messages if message.at), None)


def _in_time(logs: Sequence[Log]) -> list[Log]:
    """Sort conversations by when they began, where that is known of all of them and can be compared."""
    dated = [(begun, log) for log in logs if (begun := _begun(log))]
    if len(dated) < len(logs) or len({begun.tzinfo is None for begun, _ in dated}) != 1:
        return list(logs)
    return [log for _, log in sorted(dated, key=lambda pair: pair[0])]


def _joined(log: Log) -> Log:
    """Join each message with the one before where both are of the same speaker: a case takes turns."""
    messages: list[LogMessage] = []
    for message in log.messages:
        if messages and messages[-1].role == message.role:
            before = messages[-1]
            text = f"{before.text}\n{message.text}"
            messages[-1] = LogMessage(before.role, text, before.at or message.at, before.where)
        else:
            messages.append(message)
    return Log(log.id, log.title, tuple(messages), log.labels, log.where)


def slug(text: str) -> str:
    """Return a few words of a text as a file name has them."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().casefold()
    words = re.findall(r"[a-z0-9]+", plain)
    kept = ""
    for word in words:
        if kept and len(kept) + len(word) >= 40:
            break
        kept = f"{kept}_{word}" if kept else word[:40]
    return kept


def free_place(folder: Path) -> Path:
    """Return where the list of what found no place goes: never over that of another export."""
    for number in count(1):
        path = folder / (NOT_MAPPED if number == 1 else f"NOT_MAPPED_{number}.md")
        if not path.exists():
            return path
    raise AssertionError("numbers do not end")


def unmapped_text(source: Path, unmapped: Sequence[Unmapped]) -> str:
    """Return the list of everything that found no place, as Markdown, which the loader passes over."""
    lines = [f"# What of {source.name} has no place in the cases"]
    groups: dict[str, list[Unmapped]] = {}
    for left in unmapped:
        label = f"`{left.where.rpartition('.')[2]}`: " if left.why == NO_LABEL else ""
        groups.setdefault(f"{label}{left.why}", []).append(left)
    for head, group in groups.items():
        lines.append(f"\n## {head}\n")
        for left in group:
            held = json.dumps(left.content, default=str)
            mark = "``" if "`" in held else "`"
            lines.append(f"- {left.where}: {mark}{held}{mark}")
    return "\n".join(lines) + "\n"
