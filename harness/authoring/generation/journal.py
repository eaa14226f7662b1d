"""What a folder of generated data remembers: which items are finished, so that none is asked for again.

`.generation/journal.jsonl` in the output folder, a line a fact, flushed to disk. The loaders pass hidden
folders over.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from harness.errors import InputError

FOLDER = ".generation"


class Journal:
    """The journal of one wish; other wishes may have theirs in the same file.

    Args:
        folder: the output folder; nothing is made before the first note.
        fingerprint: of the wish.

    Attributes:
        begun: how the wish began, None where it did not.
        finished: its finished items by number.
        of_others: names of what other wishes have in the output.
    """

    def __init__(self, folder: Path, fingerprint: str) -> None:
        self.path = folder / FOLDER / "journal.jsonl"
        self.fingerprint = fingerprint
        self.begun: Mapping[str, Any] | None = None
        self.finished: dict[int, Mapping[str, Any]] = {}
        self.of_others: set[str] = set()
        for line in self._lines():
            if line.get("what") == "begun":
                self.begun = line if line.get("wish") == fingerprint else self.begun
            elif line.get("wish") == fingerprint:
                self.finished[line["item"]] = line
            elif not line["reasons"]:
                self.of_others.add(line["name"])

    def begin(self, told: Mapping[str, Any]) -> Mapping[str, Any]:
        """Note how the wish began, unless it is noted; return the note that stands."""
        if self.begun is None:
            self.begun = self._note({"what": "begun", **told})
        return self.begun

    def finish(self, item: int, outcome: Mapping[str, Any]) -> None:
        """Note that an item is finished, whatever became of it."""
        self.finished[item] = self._note({"what": "finished", "item": item, **outcome})

    def forget_unanswered(self) -> None:
        """Take the items for unfinished that got no usable reply."""
        self.finished = {item: line for item, line in self.finished.items() if not line.get("unanswered")}

    def _note(self, told: Mapping[str, Any]) -> Mapping[str, Any]:
        line = {"wish": self.fingerprint, **told}
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8", newline="\n") as file:
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise InputError(f"{self.path}: cannot be written: {error.strerror}.") from None
        return line

    def _lines(self) -> Iterator[Mapping[str, Any]]:
        try:
            text = self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{self.path}: cannot be read: {error}.") from None
        *lines, torn = text.split("\n")
        for number, line in enumerate(lines, start=1):
            try:
                told = json.loads(line)
            except (ValueError, RecursionError):
                told = None
            if _is_line(told):
                yield told
            else:
                raise InputError(f"{self.path}:{number}: no line of a journal. Delete the line.") from None
        if torn:  # a killed process left half a line: end it, so that the next one stands alone
            with self.path.open("r+b") as file:
                file.truncate(len("\n".join([*lines, ""]).encode()))


def _is_line(told: Any) -> bool:
    """Say whether a line has what is read of it; people edit journals."""
    if not isinstance(told, dict):
        return False
    if told.get("what") == "begun":
        return type(told.get("base")) is int
    reasons = told.get("reasons")
    return (
        type(told.get("item")) is int
        and type(told.get("repairs")) is int
        and isinstance(told.get("name"), str)
        and isinstance(reasons, list)
        and all(isinstance(reason, str) for reason in reasons)
    )


def write_whole(path: Path, text: str) -> None:
    """Write a file whole or not at all.

    Raises:
        InputError: when it can't be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.part")
        draft.write_text(text, encoding="utf-8", newline="\n")
        draft.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}.") from None
