"""Append-only files of JSON lines that survive being killed at any moment."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from harness.errors import InputError


class Journal:
    """Appends objects to a file, one a line, each handed to the operating system at once.

    A process that is killed loses no line that `append` returned for. `sync` puts lines on the
    disk itself, against the loss of power. A last line without its end, which only a kill in the
    middle of a write leaves, is cut off when the file is opened.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        _cut_torn_line(path)
        self._file: IO[bytes] = path.open("ab", buffering=0)

    def append(self, data: Mapping[str, Any]) -> None:
        """Append one object."""
        line = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False).encode() + b"\n"
        start = self._file.seek(0, os.SEEK_END)
        left = memoryview(line)
        try:
            while left:  # a disk that is nearly full takes a part of a line
                left = left[self._file.write(left) :]
        except OSError:
            self._file.truncate(start)  # what is appended next must not follow half a line
            raise

    def sync(self) -> None:
        """Put what was appended on the disk."""
        os.fdatasync(self._file.fileno()) if hasattr(os, "fdatasync") else os.fsync(self._file.fileno())

    def close(self) -> None:
        """Sync and close."""
        if not self._file.closed:
            self.sync()
            self._file.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a journal, one at a time; a torn last line is left out.

    Raises:
        InputError: for a line in the middle that is no object; the message names it.
    """
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                return
            try:
                data = json.loads(line)
            except (ValueError, RecursionError):
                data = None
            if not isinstance(data, dict):
                raise InputError(f"{path}:{number}: no JSON object. Restore the file, or remove the run.")
            yield data


def _cut_torn_line(path: Path) -> None:
    if not path.exists():
        return
    with path.open("rb+") as file:
        size = file.seek(0, os.SEEK_END)
        at = size
        while at > 0:  # a line may be long; the tail is read block by block
            start = max(0, at - (1 << 16))
            file.seek(start)
            found = file.read(at - start).rfind(b"\n")
            if found >= 0:
                at = start + found + 1
                break
            at = start
        if at < size:
            file.truncate(at)
