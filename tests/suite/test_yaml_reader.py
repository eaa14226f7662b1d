"""Strict YAML, as a table of what comes in and what comes out."""

from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from harness.errors import SuiteError
from harness.suite import yaml_reader
from harness.suite.chunks import Chunk
from harness.suite.yaml_reader import parse

FIRST_LINE = 10


def chunk(text: str) -> Chunk:
    return Chunk(Path("case.yaml"), text, FIRST_LINE, last=True)


@pytest.fixture(params=["libyaml", "pure"])
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a test with both of PyYAML's parsers."""
    if request.param == "pure":
        monkeypatch.setattr(yaml_reader, "_loader_class", lambda: yaml.SafeLoader)


@pytest.mark.usefixtures("loader")
@pytest.mark.parametrize(
    ("written", "value"),
    [
        pytest.param("yes", "yes", id="yes"),
        pytest.param("off", "off", id="off"),
        pytest.param("true", "true", id="true"),
        pytest.param("12:30", "12:30", id="sexagesimal"),
        pytest.param("010", "010", id="octal"),
        pytest.param("0x1F", "0x1F", id="hexadecimal"),
        pytest.param("4429853327", "4429853327", id="id"),
        pytest.param("00123", "00123", id="leading-zeros"),
        pytest.param("1_000", "1_000", id="underscore"),
        pytest.param("1e3", "1e3", id="exponent"),
        pytest.param(".inf", ".inf", id="infinity"),
        pytest.param("2025-03-04", "2025-03-04", id="date"),
        pytest.param("2025-03-04T10:15:00-05:00", "2025-03-04T10:15:00-05:00", id="timestamp"),
        pytest.param("=", "=", id="default-value-sign"),
        pytest.param("Alder & Finch", "Alder & Finch", id="ampersand"),
        pytest.param("no! really", "no! really", id="exclamation-mark"),
        pytest.param("2 * 3", "2 * 3", id="asterisk"),
        pytest.param("'null'", "null", id="quoted-null"),
        pytest.param('""', "", id="quoted-nothing"),
        pytest.param("'~'", "~", id="quoted-tilde"),
        pytest.param("null", None, id="null"),
        pytest.param("Null", None, id="Null"),
        pytest.param("~", None, id="tilde"),
        pytest.param("", None, id="nothing"),
        pytest.param("nULL", "nULL", id="no-null"),
        pytest.param(">-\n  one\n  two", "one two", id="folded"),
        pytest.param("|-\n  null", "null", id="literal-null"),
        pytest.param("東京 – naïve 🦊", "東京 – naïve 🦊", id="unicode"),
        pytest.param("[yes, 010, ~]", ["yes", "010", None], id="list"),
        pytest.param("{a: 1, b: {c: no}}", {"a": "1", "b": {"c": "no"}}, id="mapping"),
        pytest.param("[]", [], id="empty-list"),
        pytest.param("{}", {}, id="empty-mapping"),
    ],
)
def test_scalars_stay_text(written: str, value: object) -> None:
    assert parse(chunk(f"key: {written}\n")).value == {"key": value}


@pytest.mark.parametrize(
    ("text", "line", "rule", "said"),
    [
        pytest.param("a: b: c\n", 10, "yaml", "mapping values are not allowed", id="colon"),
        pytest.param("a: 1\n\tb: 2\n", 11, "yaml", "tab", id="tab"),
        pytest.param("a:\n\tb: 2\n", 11, "yaml", "tabs", id="tab-first"),
        pytest.param("a: 1\nb: [1, 2\n", 12, "yaml", "from line 11", id="open-bracket"),
        pytest.param('a: 1\nb: "x\n', 12, "yaml", "from line 11. Mend: Close the quote", id="open-quote"),
        pytest.param("a: 1\nb\nc: 2\n", 12, "yaml", "could not find expected ':'", id="no-colon"),
        pytest.param("a: 1\nb: \x07\n", 11, "yaml", "U+0007", id="control-character"),
        pytest.param("é: \x07\n", 10, "yaml", "U+0007", id="control-after-multibyte"),
        pytest.param("a: " + "[" * 5000, 10, "yaml", "nesting", id="too-deep-for-libyaml"),
        pytest.param(
            "a: " + "[" * 990 + "]" * 990, 10, "yaml", "nested too deeply", id="too-deep-for-python"
        ),
        pytest.param("a: 1\n...\nb: 2\n", 12, "yaml", "with a line `---`", id="second-document"),
        pytest.param("", 10, "empty", "empty", id="empty"),
        pytest.param("# nothing\n\n", 10, "empty", "empty", id="comment-only"),
        pytest.param("---\n", 10, "empty", "empty", id="marker-only"),
        pytest.param("null\n", 10, "empty", "empty", id="null-only"),
        pytest.param("a: 1\nb: 2\na: 3\n", 12, "duplicate-key", "the first is on line 10", id="duplicate"),
        pytest.param("a: [{x: 1,\n x: 2}]\n", 11, "duplicate-key", "'x' stands twice", id="duplicate-deep"),
        pytest.param("a: 1\n? [b]\n: 2\n", 11, "yaml", "a key is a list", id="list-as-key"),
        pytest.param("a: 1\nb: &x 2\n", 11, "yaml-shorthand", "anchors", id="anchor"),
        pytest.param("a: 1\nb: *x\n", 11, "yaml-shorthand", "anchors", id="alias"),
        pytest.param("a: &x 1\n<<: *x\n", 10, "yaml-shorthand", "anchors", id="merge-key"),
        pytest.param("a: 1\nb: !!int 3\n", 11, "yaml-shorthand", "tag", id="tag"),
        pytest.param("a: 1\nb: !new [3]\n", 11, "yaml-shorthand", "`!new`", id="own-tag"),
        pytest.param("a: 1\n!k b: 3\n", 11, "yaml-shorthand", "tag", id="tag-on-key"),
    ],
)
def test_what_is_refused(text: str, line: int, rule: str, said: str) -> None:
    with pytest.raises(SuiteError) as caught:
        parse(chunk(text))
    (problem,) = caught.value.problems
    assert (problem.path.name, problem.line, problem.rule) == ("case.yaml", line, rule)
    assert said in str(problem)
    assert problem.mend


def test_every_duplicate_is_named() -> None:
    with pytest.raises(SuiteError) as caught:
        parse(chunk("a: 1\na: 2\nb: [{c: 1, c: 2}]\na: 3\n"))
    found = [(problem.line, problem.field) for problem in caught.value.problems]
    assert found == [(11, "a"), (12, "b[0].c"), (13, "a")]


def test_an_alias_bomb_costs_nothing() -> None:
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    lines += [
        f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]" for old, new in pairwise("abcdefghijklmnopqrstuvwxyz")
    ]
    with pytest.raises(SuiteError) as caught:
        parse(chunk("\n".join(lines)))
    assert [problem.rule for problem in caught.value.problems] == ["yaml-shorthand"]


@pytest.mark.parametrize(
    ("at", "line"),
    [
        pytest.param((), 10, id="document"),
        pytest.param(("title",), 10, id="scalar"),
        pytest.param(("text",), 11, id="block-scalar"),
        pytest.param(("list", 0), 15, id="item"),
        pytest.param(("list", 1), 16, id="second-item"),
        pytest.param(("list", 1, "b"), 17, id="key-of-item"),
        pytest.param(("flow", "inner", 0), 18, id="flow"),
        pytest.param(("list", 1, "missing", "deeper"), 16, id="missing-key"),
        pytest.param(("list", 9), 14, id="missing-item"),
        pytest.param(("title", "deeper"), 10, id="below-a-scalar"),
        pytest.param(("nothing",), 10, id="missing-at-top"),
    ],
)
def test_lines(at: tuple[str | int, ...], line: int) -> None:
    text = "title: x\ntext: >-\n  one\n  two\nlist:\n  - a: 1\n  - a: 2\n    b: 3\nflow: {inner: [1]}\n"
    assert parse(chunk(text)).line(at) == line


def test_a_missing_libyaml_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(yaml, "CSafeLoader")
    yaml_reader._loader_class.cache_clear()
    try:
        with pytest.warns(RuntimeWarning, match="without libyaml"):
            assert parse(chunk("a: 010\n")).value == {"a": "010"}
        second = parse(chunk("a: [yes]\n"))  # a second warning would fail the test
        assert (second.value, second.line(("a", 0))) == ({"a": ["yes"]}, FIRST_LINE)
    finally:
        yaml_reader._loader_class.cache_clear()
