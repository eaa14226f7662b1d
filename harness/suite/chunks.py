"""A case file cut into its documents, before any of them is parsed."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from harness.errors import Problem, SuiteError

BOM = b"\xef\xbb\xbf"
_MARKER = b"\n---"
_PREAMBLE = re.compile(rb"(?:" + BOM + rb")?(?:[ \t\r]*\n|[#%][^\n]*\n)*")  # comments and directives
_BLOCK = 1 << 13
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


class Chunk(NamedTuple):
    """The text of one document of a file.

    Attributes:
        path: the file.
        text: the document, its `---` line included where it has one.
        first_line: line of the file on which the text begins, counted from 1.
        last: whether the file ends here, with no further document.
    """

    path: Path
    text: str
    first_line: int
    last: bool


def read_header(path: Path) -> Chunk:
    """Read the first document; the file is read little further than to the `---` line after it.

    Raises:
        SuiteError: when the file can't be read or the document isn't UTF-8.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_BLOCK)
            cuts = _cuts(data)
            if not cuts or cuts[0] + len(_MARKER) > len(data):
                data += file.read()
                cuts = _cuts(data)
    except OSError as error:
        raise SuiteError([unreadable(path, error)]) from error
    return _chunk(path, data[: cuts[0]] if cuts else data, 1, last=not cuts)


def read_chunks(path: Path) -> tuple[Chunk, ...]:
    """Read every document of a file; the first is the header.

    Raises:
        SuiteError: when the file can't be read or isn't UTF-8.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SuiteError([unreadable(path, error)]) from error
    chunks: list[Chunk] = []
    first_line = 1
    for begin, end in pairwise([0, *_cuts(data), len(data)]):
        chunks.append(_chunk(path, data[begin:end], first_line, last=end == len(data)))
        first_line += data.count(b"\n", begin, end)
    return tuple(chunks)


def unreadable(path: Path, error: OSError) -> Problem:
    """Return the problem of a file that the system won't hand over."""
    reason = (error.strerror or str(error)).lower()
    mend = "Check the path and its permissions."
    return Problem(path, 0, "", f"can't be read: {reason}.", mend, "unreadable")


def _cuts(data: bytes) -> list[int]:
    """Return where further documents begin: at each `---` line but one that opens the first."""
    opening = _PREAMBLE.match(data)
    first_content = opening.end() if opening else 0
    cuts = []
    at = data.find(_MARKER)
    while at >= 0:
        if at >= first_content and data[at + len(_MARKER) : at + len(_MARKER) + 1] in b" \t\r\n":
            cuts.append(at + 1)  # behind the line end
        at = data.find(_MARKER, at + 1)
    return cuts


def _chunk(path: Path, data: bytes, first_line: int, *, last: bool) -> Chunk:
    if first_line == 1:
        data = data.removeprefix(BOM)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = first_line + data.count(b"\n", 0, error.start)
        seen = "UTF-16" if data.startswith(_UTF16) else f"the byte 0x{data[error.start]:02x}"
        problem = Problem(path, line, "", f"isn't UTF-8: it holds {seen}.", "Save it as UTF-8.", "not-utf8")
        raise SuiteError([problem]) from error
    if "\r" in text and "\n" not in text:
        message, mend = "its lines end in a carriage return alone.", "Save it with LF line ends."
        raise SuiteError([Problem(path, first_line, "", message, mend, "line-ends")])
    return Chunk(path, text, first_line, last)
