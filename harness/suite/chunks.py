"""A case file cut into its documents, before any of them is parsed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.errors import Problem, SuiteError

BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class Chunk:
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
    """Read the first document; the file is read no further than the `---` line after it.

    Raises:
        SuiteError: when the file can't be read or the document isn't UTF-8.
    """
    try:
        with path.open("rb") as file:
            return next(_cut(path, file))
    except OSError as error:
        raise SuiteError([unreadable(path, error)]) from error


def read_chunks(path: Path) -> tuple[Chunk, ...]:
    """Read every document of a file; the first is the header.

    Raises:
        SuiteError: when the file can't be read or isn't UTF-8.
    """
    try:
        with path.open("rb") as file:
            return tuple(_cut(path, file))
    except OSError as error:
        raise SuiteError([unreadable(path, error)]) from error


def unreadable(path: Path, error: OSError) -> Problem:
    """Return the problem of a file that the system won't hand over."""
    reason = (error.strerror or str(error)).lower()
    mend = "Check the path and its permissions."
    return Problem(path, 0, "", f"can't be read: {reason}.", mend, "unreadable")


def _cut(path: Path, lines: Iterable[bytes]) -> Iterator[Chunk]:
    """Cut at every `---` line but a leading one, which belongs to the first document."""
    held: list[bytes] = []
    first_line = 1
    for number, line in enumerate(lines, start=1):
        if line.startswith(b"---") and line[3:4] in b" \t\r\n" and _has_content(held):
            yield _chunk(path, held, first_line, last=False)
            held, first_line = [], number
        held.append(line)
    yield _chunk(path, held, first_line, last=True)


def _has_content(lines: Iterable[bytes]) -> bool:
    """Tell whether the lines hold more than comments and directives."""
    return any(line.strip() and not line.startswith((b"#", b"%")) for line in lines)


def _chunk(path: Path, lines: list[bytes], first_line: int, *, last: bool) -> Chunk:
    data = b"".join(lines)
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
