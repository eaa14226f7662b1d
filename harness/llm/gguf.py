"""The header of a GGUF file: which model it is, how much context it has, whether it is whole.

The layout is that of the GGUF specification, versions 2 and 3: magic, version, two counts,
the metadata, one record a tensor, padding, the tensors. Weights are never read, and of the
metadata only what `GgufHeader` shows; the rest is stepped over.
"""

from __future__ import annotations

import math
import struct
from pathlib import Path
from typing import BinaryIO, NamedTuple

from harness.errors import InputError

MAGIC = b"GGUF"
VERSIONS = (2, 3)

# The ids of the metadata's types; scalars by their struct code.
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING = 8
_ARRAY = 9

_LONGEST_TEXT = 1 << 16  # of a text that is kept; chat templates and word lists are stepped over
_LONGEST_NAME = 100
_MOST_DIMENSIONS = 4
_DEFAULT_ALIGNMENT = 32
_KEPT = frozenset({"general.architecture", "general.name", "general.type", "general.alignment"})
_CONTEXT = ".context_length"


class GgufHeader(NamedTuple):
    """What the header says about the model.

    Attributes:
        name: `general.name`, made printable and cut to 100 characters; empty where the file has none.
        architecture: such as `llama` or `qwen2`.
        context: tokens of context that the model was made for; None where the file does not say.
        parameters: number of weights.
    """

    name: str
    architecture: str
    context: int | None
    parameters: int


def read_gguf(path: Path) -> GgufHeader:
    """Read the header of a file.

    Raises:
        InputError: when the file cannot be read, is no GGUF, is cut short, or holds no chat model.
    """
    try:
        if path.is_dir():
            raise InputError(f"{path}: is a directory. Name the .gguf file in it.")
        if path.exists() and not path.is_file():  # opening a pipe would wait for its writer
            raise InputError(f"{path}: is no file. Name a .gguf file.")
        with path.open("rb") as file:
            return read_header(file, path.stat().st_size, str(path))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file.") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.") from None


def read_header(stream: BinaryIO, size: int, place: str) -> GgufHeader:
    """Read a header from a stream of `size` bytes; `place` names it in messages.

    Raises:
        InputError: for anything that is not a whole GGUF with a model in it.
    """
    reader = _Reader(stream, size, place)
    magic = reader.take(4) if size >= 4 else b""
    if magic != MAGIC:
        raise InputError(f"{place}: no GGUF model file (it does not begin with the letters GGUF).")
    version = reader.number("I")
    if version not in VERSIONS:
        # The version of a big-endian file reads as 3 << 24.
        what = "big-endian" if version % (1 << 16) == 0 else f"GGUF version {version}"
        raise InputError(f"{place}: {what}, which is not supported. Convert the model to GGUF 3 anew.")
    tensors, entries = reader.count(24), reader.count(13)
    found = _metadata(reader, entries)
    parameters, last = _tensors(reader, tensors)
    kind = found.get("general.type", "model")
    if not tensors or kind != "model":
        what = "no weights" if not tensors else f"weights of type {_printable(str(kind))}"
        raise InputError(f"{place}: holds {what}, not a whole model. Name the model's own .gguf file.")
    alignment = found.get("general.alignment", _DEFAULT_ALIGNMENT)
    if not isinstance(alignment, int) or alignment < 1:
        raise reader.broken("impossible alignment")
    if math.ceil(reader.at / alignment) * alignment + last >= size:
        raise reader.short()
    architecture = str(found.get("general.architecture", ""))
    context = found.get(architecture + _CONTEXT)
    return GgufHeader(
        name=_printable(str(found.get("general.name", ""))),
        architecture=_printable(architecture),
        context=context if isinstance(context, int) and context > 0 else None,
        parameters=parameters,
    )


def _metadata(reader: _Reader, entries: int) -> dict[str, int | float | str]:
    """Read the key-value pairs and return the ones of use."""
    found: dict[str, int | float | str] = {}
    for _ in range(entries):
        key = reader.text()
        type_ = reader.number("I")
        if key in found:
            raise reader.broken(f"{_printable(key)} stands there twice")
        if key in _KEPT or key.endswith(_CONTEXT):
            found[key] = reader.value(type_)
        else:
            reader.skip_value(type_)
    return found


def _tensors(reader: _Reader, tensors: int) -> tuple[int, int]:
    """Return the number of weights, and the offset at which the last tensor begins."""
    parameters = last = 0
    for _ in range(tensors):
        reader.text()
        dimensions = reader.number("I")
        if dimensions > _MOST_DIMENSIONS:
            raise reader.broken(f"a tensor of {dimensions} dimensions")
        parameters += math.prod(reader.number("Q") for _ in range(dimensions))
        reader.number("I")
        last = max(last, reader.number("Q"))
    return parameters, last


def _printable(text: str) -> str:
    """Return text from the file fit for a terminal and one line of it."""
    shown = "".join(char if char.isprintable() else " " for char in text)
    return " ".join(shown.split())[:_LONGEST_NAME]


class _Reader:
    """Little-endian values from a stream, none of them beyond its end."""

    def __init__(self, stream: BinaryIO, size: int, place: str) -> None:
        self.stream, self.size, self.place = stream, size, place
        self.at = 0

    def broken(self, why: str) -> InputError:
        return InputError(f"{self.place}: broken GGUF header at byte {self.at}: {why}. Fetch the file anew.")

    def short(self) -> InputError:
        return InputError(f"{self.place}: cut short at {self.size:,} bytes. Fetch the file anew.")

    def take(self, length: int) -> bytes:
        taken = self.stream.read(length) if length <= self.size - self.at else b""
        if len(taken) != length:
            raise self.short()
        self.at += length
        return taken

    def skip(self, length: int) -> None:
        if length > self.size - self.at:
            raise self.short()
        self.stream.seek(length, 1)
        self.at += length

    def number(self, code: str) -> int:
        size = struct.calcsize("<" + code)
        value: int = struct.unpack("<" + code, self.take(size))[0]
        return value

    def count(self, least: int) -> int:
        """Read how many things follow, each of `least` bytes or more."""
        number = self.number("Q")
        if number * least > self.size - self.at:
            raise self.short()
        return number

    def text(self) -> str:
        length = self.number("Q")
        if _LONGEST_TEXT < length <= self.size - self.at:
            raise self.broken(f"a name of {length:,} bytes")
        return self.take(length).decode("utf-8", errors="replace")

    def value(self, type_: int) -> int | float | str:
        if type_ == _STRING:
            return self.text()
        if type_ not in _SCALARS:
            raise self.broken("a list or an unknown type where one value belongs")
        return self.number(_SCALARS[type_])

    def skip_value(self, type_: int) -> None:
        if type_ == _STRING:
            self.skip(self.number("Q"))
        elif type_ == _ARRAY:
            self._skip_array()
        elif type_ in _SCALARS:
            self.skip(struct.calcsize("<" + _SCALARS[type_]))
        else:
            raise self.broken(f"unknown type {type_}")

    def _skip_array(self) -> None:
        type_ = self.number("I")
        if type_ == _STRING:
            for _ in range(self.count(8)):
                self.skip(self.number("Q"))
        elif type_ in _SCALARS:
            size = struct.calcsize("<" + _SCALARS[type_])
            self.skip(self.count(size) * size)
        else:
            raise self.broken(f"a list of type {type_}")
