"""How a file is cut into documents."""

from pathlib import Path

import pytest

from harness.errors import SuiteError
from harness.suite.chunks import read_chunks, read_header


@pytest.mark.parametrize(
    ("data", "chunks"),
    [
        pytest.param(b"a: 1\n", [(1, "a: 1\n")], id="one"),
        pytest.param(b"a: 1\n---\nb: 2\n", [(1, "a: 1\n"), (2, "---\nb: 2\n")], id="two"),
        pytest.param(b"---\na: 1\n---\nb: 2", [(1, "---\na: 1\n"), (3, "---\nb: 2")], id="leading-marker"),
        pytest.param(
            b"# c\n\n%YAML 1.1\n--- # x\na: 1\n---\n",
            [(1, "# c\n\n%YAML 1.1\n--- # x\na: 1\n"), (6, "---\n")],
            id="comment-and-directive",
        ),
        pytest.param(b"a: 1\r\n---\r\nb: 2\r\n", [(1, "a: 1\r\n"), (2, "---\r\nb: 2\r\n")], id="crlf"),
        pytest.param(b"a: |\n  ---\nb: ---x\n----\n", [(1, "a: |\n  ---\nb: ---x\n----\n")], id="no-marker"),
        pytest.param(b"\xef\xbb\xbfa: 1\n---\nb: 2\n", [(1, "a: 1\n"), (2, "---\nb: 2\n")], id="bom"),
        pytest.param(b"", [(1, "")], id="empty"),
        pytest.param(b"a: 1\n---", [(1, "a: 1\n"), (2, "---")], id="marker-at-the-end"),
    ],
)
def test_cut(tmp_path: Path, data: bytes, chunks: list[tuple[int, str]]) -> None:
    path = tmp_path / "case.yaml"
    path.write_bytes(data)
    read = read_chunks(path)
    assert [(chunk.first_line, chunk.text) for chunk in read] == chunks
    assert [chunk.last for chunk in read] == [False] * (len(chunks) - 1) + [True]
    assert read_header(path) == read[0]


@pytest.mark.parametrize(
    ("data", "line", "rule", "said"),
    [
        pytest.param(b"a: 1\nb: \xe9t\xe9\n", 2, "not-utf8", "0xe9", id="latin-1"),
        pytest.param("a: 1\n".encode("utf-16"), 1, "not-utf8", "UTF-16", id="utf-16"),
        pytest.param(b"a: 1\rb: 2\r", 1, "line-ends", "carriage return", id="cr-only"),
    ],
)
def test_bytes_that_are_refused(tmp_path: Path, data: bytes, line: int, rule: str, said: str) -> None:
    path = tmp_path / "case.yaml"
    path.write_bytes(data)
    with pytest.raises(SuiteError) as caught:
        read_header(path)
    (problem,) = caught.value.problems
    assert (problem.path, problem.line, problem.rule) == (path, line, rule)
    assert said in problem.message


@pytest.mark.parametrize("length", range(8180, 8200))
@pytest.mark.parametrize("after", ["---\nb: 2\n", "--- # x\n", "---", "----\nb: 2\n", "--", "---x: 1\n"])
def test_a_header_as_long_as_a_block_of_reading(tmp_path: Path, length: int, after: str) -> None:
    path = tmp_path / "case.yaml"
    path.write_text("a: ".ljust(length - 1, "x") + "\n" + after)
    assert read_header(path) == read_chunks(path)[0]
    assert len(read_chunks(path)) == (2 if after[:4] in ("---\n", "--- ", "---") else 1)


def test_a_broken_byte_after_the_header_is_met_later(tmp_path: Path) -> None:
    path = tmp_path / "case.yaml"
    path.write_bytes(b"a: 1\n---\nb: 2\n---\nc: \xff\n")
    assert read_header(path).text == "a: 1\n"
    with pytest.raises(SuiteError) as caught:
        read_chunks(path)
    assert [(problem.line, problem.rule) for problem in caught.value.problems] == [(5, "not-utf8")]


def test_an_unreadable_file_is_a_problem(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="no such file") as caught:
        read_header(tmp_path / "gone.yaml")
    assert [problem.rule for problem in caught.value.problems] == ["unreadable"]
