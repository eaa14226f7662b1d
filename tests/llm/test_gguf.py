"""The GGUF header parser, on files of a few hundred bytes made here after the specification."""

from __future__ import annotations

import io
import os
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InputError
from harness.llm.gguf import GgufHeader, read_gguf, read_header

STRING, ARRAY = 8, 9


def text(value: str | bytes) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(raw)) + raw


def pair(key: str, type_: int, value: bytes) -> bytes:
    return text(key) + struct.pack("<I", type_) + value


def u32(key: str, value: int) -> bytes:
    return pair(key, 4, struct.pack("<I", value))


def string(key: str, value: str | bytes) -> bytes:
    return pair(key, STRING, text(value))


def array(key: str, type_: int, count: int, body: bytes) -> bytes:
    return pair(key, ARRAY, struct.pack("<IQ", type_, count) + body)


def tensor(name: str, dimensions: tuple[int, ...], offset: int) -> bytes:
    return (
        text(name)
        + struct.pack(f"<I{len(dimensions)}Q", len(dimensions), *dimensions)
        + struct.pack("<IQ", 0, offset)
    )


USUAL = (
    string("general.architecture", "llama"),
    string("general.name", "Tiny Test Model"),
    u32("llama.context_length", 2048),
)
TENSORS = (tensor("a", (4, 3), 0), tensor("b", (5,), 64))


def gguf(
    *pairs: bytes,
    tensors: tuple[bytes, ...] = TENSORS,
    version: int = 3,
    magic: bytes = b"GGUF",
    weights: int = 128,
) -> bytes:
    header = magic + struct.pack("<IQQ", version, len(tensors), len(pairs)) + b"".join([*pairs, *tensors])
    return header + bytes(-len(header) % 32) + bytes(weights)


def read(raw: bytes) -> GgufHeader:
    return read_header(io.BytesIO(raw), len(raw), "m.gguf")


def test_name_architecture_context_and_parameters() -> None:
    assert read(gguf(*USUAL)) == GgufHeader("Tiny Test Model", "llama", 2048, 4 * 3 + 5)


def test_version_2_reads_the_same() -> None:
    assert read(gguf(*USUAL, version=2)) == read(gguf(*USUAL))


def test_what_is_not_needed_is_stepped_over_whatever_its_type() -> None:
    between = (
        *(pair(f"x.{type_}", type_, bytes(size)) for type_, size in
          ((0, 1), (1, 1), (2, 2), (3, 2), (4, 4), (5, 4), (6, 4), (7, 1), (10, 8), (11, 8), (12, 8))),
        string("tokenizer.chat_template", "{{ long }}" * 20_000),
        array("tokenizer.ggml.tokens", STRING, 3, text("a") + text("") + text("cc")),
        array("tokenizer.ggml.scores", 6, 3, bytes(12)),
    )  # fmt: skip
    assert read(gguf(USUAL[0], *between, *USUAL[1:])) == read(gguf(*USUAL))


@pytest.mark.parametrize(
    ("pairs", "field", "value"),
    [
        pytest.param([], "name", "", id="no name"),
        pytest.param([], "context", None, id="no context"),
        pytest.param([], "architecture", "", id="no architecture"),
        pytest.param([USUAL[0], u32("qwen2.context_length", 9)], "context", None, id="another's context"),
        pytest.param([USUAL[0], u32("llama.context_length", 0)], "context", None, id="a context of 0"),
        pytest.param([string("general.name", "a\x1b[31m\n b\t")], "name", "a [31m b", id="terminal codes"),
        pytest.param([string("general.name", b"caf\xe9")], "name", "caf\ufffd", id="not UTF-8"),
        pytest.param([string("general.name", "n" * 500)], "name", "n" * 100, id="a long name"),
    ],
)
def test_odd_metadata(pairs: list[bytes], field: str, value: Any) -> None:
    assert getattr(read(gguf(*pairs)), field) == value


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "does not begin with the letters GGUF"),
        (b"GG", "does not begin with the letters GGUF"),
        (b"PK\x03\x04 a zip file", "does not begin with the letters GGUF"),
        (b"GGUF", "cut short at 4 bytes"),
        (gguf(*USUAL, version=1), "GGUF version 1, which is not supported"),
        (gguf(*USUAL, version=3 << 24), "big-endian, which is not supported"),
        (gguf(*USUAL)[:60], "cut short at 60 bytes. Fetch the file anew."),
        (gguf(*USUAL, weights=64), "cut short"),
        (gguf(u32("general.alignment", 512), *USUAL, weights=100), "cut short"),
        (gguf(*USUAL, USUAL[1]), "general.name stands there twice"),
        (gguf(*USUAL, u32("general.alignment", 0)), "impossible alignment"),
        (gguf(*USUAL, pair("x", 13, bytes(8))), "unknown type 13"),
        (gguf(*USUAL, array("x", ARRAY, 1, bytes(12))), "a list of type 9"),
        (gguf(array("general.name", 4, 1, bytes(4))), "a list or an unknown type where one value belongs"),
        (gguf(pair("general.name", 99, bytes(4))), "a list or an unknown type where one value belongs"),
        (gguf(*USUAL, pair("x", STRING, struct.pack("<Q", 1 << 63))), "cut short"),
        (gguf(*USUAL, array("x", STRING, 1 << 62, b"")), "cut short"),
        (gguf(*USUAL, array("x", 12, 1 << 62, b"")), "cut short"),
        (gguf(string("general.name", "n" * 70_000)), "a name of 70,000 bytes"),
        (gguf(*USUAL, tensors=(tensor("a", (1,) * 5, 0),)), "a tensor of 5 dimensions"),
        (gguf(*USUAL, tensors=()), "holds no weights, not a whole model"),
        (gguf(*USUAL, string("general.type", "adapter")), "holds weights of type adapter, not a whole model"),
        (b"GGUF" + struct.pack("<IQQ", 3, 1 << 60, 0) + bytes(64), "cut short"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_line(raw: bytes, said: str) -> None:
    with pytest.raises(InputError) as caught:
        read(raw)
    assert str(caught.value).startswith("m.gguf: ")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_every_truncation_of_a_header_is_noticed() -> None:
    whole = gguf(*USUAL)
    last_tensor = len(whole) - 128 + 64
    for length in range(4, last_tensor + 1):
        with pytest.raises(InputError, match="cut short"):
            read(whole[:length])
    assert read(whole[: last_tensor + 1]).parameters == 17


def read_or_refuse(raw: bytes) -> None:
    try:
        header = read(raw)
    except InputError:
        return
    assert header.name.isprintable()
    assert header.parameters >= 0


@given(st.binary(max_size=400))
def test_random_bytes_are_read_or_refused(raw: bytes) -> None:
    read_or_refuse(raw)
    read_or_refuse(b"GGUF" + raw)
    read_or_refuse(b"GGUF" + struct.pack("<IQQ", 3, 1, 2) + raw)


@given(st.data())
def test_a_spoilt_file_is_read_or_refused(data: st.DataObject) -> None:
    raw = bytearray(gguf(*USUAL, array("t", STRING, 2, text("a") + text("b"))))
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    read_or_refuse(bytes(raw))


@given(st.text(st.characters(codec="utf-8"), max_size=40), st.integers(1, 2**32 - 1))
def test_what_was_written_is_read(name: str, context: int) -> None:
    header = read(gguf(USUAL[0], string("general.name", name), u32("llama.context_length", context)))
    assert header.context == context
    assert header.name.split() == "".join(char if char.isprintable() else " " for char in name).split()


def test_a_file_on_disk(tmp_path: Path) -> None:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(gguf(*USUAL))
    assert read_gguf(path).name == "Tiny Test Model"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: None, "no such file"),
        (Path.mkdir, "is a directory. Name the .gguf file in it."),
        (os.mkfifo, "is no file"),
        (Path.touch, "does not begin with the letters GGUF"),
    ],
    ids=["missing", "directory", "pipe", "empty"],
)
def test_a_path_that_is_no_model(tmp_path: Path, make: Any, said: str) -> None:
    path = tmp_path / "tiny.gguf"
    make(path)
    with pytest.raises(InputError, match=said):
        read_gguf(path)
