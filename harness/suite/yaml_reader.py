"""Strict YAML: text stays text, a key stands once, and every value knows its line in the file.

PyYAML's loaders guess types (`yes`, `12:30`, `010`), let a later key overwrite an earlier
one and forget where a value stood. Here the events of libyaml become dicts, lists and
strings directly, which is also twice as fast:

- Every scalar is text, quoted or not; a plain `null`, `~` or nothing is None.
- A repeated key is a problem, and so is a key that is not plain text.
- Anchors, aliases and tags are refused as they come, so that no alias can grow into a bomb.
  A merge key (`<<`) is then a key like any other, and no schema knows it.

Lines cost time, so the node tree that holds them is composed only when somebody asks.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

import yaml
from yaml.events import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from harness.errors import Problem, SuiteError
from harness.suite.chunks import Chunk

Plain: TypeAlias = "str | list[Plain] | dict[str, Plain] | None"
FieldPath: TypeAlias = tuple[str | int, ...]

_NULLS = frozenset(("", "~", "null", "Null", "NULL"))

_MENDS = (
    ("mapping values are not allowed", "Put the text in quotes: a colon and a space start a new key."),
    ("tab character", "Indent with spaces, not with tabs."),
    ("cannot start any token", "Put the text in quotes, and indent with spaces, not with tabs."),
    ("could not find expected ':'", "Write `key: value`, or indent the line as part of the text above it."),
    ("unexpected end of stream", "Close the quote or bracket."),
    ("<document start>", "Start every further document with a line `---`."),
    ("did not find expected", "Check the indentation, quotes and brackets of this line and those above it."),
    ("control characters", "Delete the character."),
    ("nesting", "Write the value flat."),
)


@dataclass(frozen=True)
class Document:
    """One parsed document of a file.

    Attributes:
        chunk: the text it was parsed from.
        value: the content as dicts, lists, strings and None.
    """

    chunk: Chunk
    value: Plain

    @property
    def path(self) -> Path:
        """The file."""
        return self.chunk.path

    @cached_property
    def _root(self) -> Node:
        root = _loader(self.chunk).get_single_node()
        assert isinstance(root, Node)
        return root

    def line(self, at: FieldPath = ()) -> int:
        """Return the line in the file on which a field begins, its key where it has one.

        Where the path leads nowhere, it is the line of the last step that exists.
        """
        node, mark = self._root, self._root.start_mark
        for step in at:
            if isinstance(node, MappingNode):
                found = next(((key, value) for key, value in node.value if key.value == step), None)
                if found is None:
                    break
                mark, node = found[0].start_mark, found[1]
            elif isinstance(node, SequenceNode) and isinstance(step, int) and step < len(node.value):
                node = node.value[step]
                mark = node.start_mark
            else:
                break
        return self.chunk.first_line + int(mark.line)

    def problem(self, at: FieldPath, message: str, mend: str, rule: str) -> Problem:
        """Return a problem of one field of the document."""
        return Problem(self.path, self.line(at), dotted(at), message, mend, rule)


def dotted(at: FieldPath) -> str:
    """Write a path as people do: `gold_facts.required[0].fact`."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in at)
    return "".join(steps).removeprefix(".")


def parse(chunk: Chunk) -> Document:
    """Parse one document.

    Raises:
        SuiteError: when it is empty, isn't YAML, or uses what the strict reader refuses.
    """
    try:
        value = _read(_loader(chunk).get_event)
    except yaml.YAMLError as error:
        raise SuiteError([_broken(chunk, error)]) from error
    except RecursionError:
        _fail(chunk, 0, "broken YAML: it is nested too deeply.", "Write the value flat.", "yaml")
    except _IrregularError:
        _refuse_shorthand(chunk)
        root = _loader(chunk).get_single_node()
        raise SuiteError(list(_irregular_keys(chunk, root, ()))) from None
    if value is None:
        mend = "Write what belongs there, or delete the file or the `---` line."
        _fail(chunk, 0, "the document is empty.", mend, "empty")
    return Document(chunk, value)


class _IrregularError(Exception):
    """The document has an anchor, an alias, a tag, or a key that stands twice or isn't text."""


def _read(get_event: Callable[[], Any]) -> Plain:
    """Turn the events of one document into its value. This is the hot path of loading a suite."""

    def value(event: Any) -> Plain:
        kind = event.__class__
        if kind is AliasEvent or event.anchor or event.tag:
            raise _IrregularError
        if kind is ScalarEvent:
            text: str = event.value
            return None if text in _NULLS and not event.style else text
        if kind is SequenceStartEvent:
            sequence = []
            while (event := get_event()).__class__ is not SequenceEndEvent:
                sequence.append(value(event))
            return sequence
        mapping: dict[str, Plain] = {}
        while (event := get_event()).__class__ is not MappingEndEvent:
            if event.__class__ is not ScalarEvent or event.anchor or event.tag or event.value in mapping:
                raise _IrregularError
            key = event.value
            mapping[key] = value(get_event())
        return mapping

    get_event()  # the stream starts
    if isinstance(get_event(), StreamEndEvent):
        return None
    content = value(get_event())
    get_event()  # the document ends
    get_event()  # the stream ends, or what follows without a line `---` is an error
    return content


def _irregular_keys(chunk: Chunk, node: Node, at: FieldPath) -> Iterator[Problem]:
    """Yield a problem for every key that made `_plain` give up."""
    if isinstance(node, SequenceNode):
        for number, item in enumerate(node.value):
            yield from _irregular_keys(chunk, item, (*at, number))
    elif isinstance(node, MappingNode):
        seen: dict[str, int] = {}
        for key, value in node.value:
            line = chunk.first_line + key.start_mark.line
            if not isinstance(key, ScalarNode):
                message, mend = "a key is a list or a mapping.", "Put the text in quotes."
                yield Problem(chunk.path, line, dotted(at), message, mend, "yaml")
                continue
            here = (*at, key.value)
            if key.value in seen:
                message = f"the key {key.value!r} stands twice; the first is on line {seen[key.value]}."
                yield Problem(chunk.path, line, dotted(here), message, "Delete one of them.", "duplicate-key")
            seen.setdefault(key.value, line)
            yield from _irregular_keys(chunk, value, here)


def _refuse_shorthand(chunk: Chunk) -> None:
    """Raise at the first anchor, alias or tag; reading events expands none of them."""
    loader = _loader(chunk)
    while loader.check_event():
        event = loader.get_event()
        line = event.start_mark.line
        if isinstance(event, AliasEvent) or getattr(event, "anchor", None):
            what = "anchors and aliases (`&name`, `*name`) are not read."
            _fail(chunk, line, what, "Write the value out, or quote it if it is text.", "yaml-shorthand")
        if isinstance(event, ScalarEvent | SequenceStartEvent | MappingStartEvent) and event.tag:
            what = f"the tag `{event.tag}` is not read."
            _fail(chunk, line, what, "Delete it, or quote the text it begins.", "yaml-shorthand")


def _broken(chunk: Chunk, error: yaml.YAMLError) -> Problem:
    line, reason = _explained(chunk, error)
    mend = next((mend for sign, mend in _MENDS if sign in reason), "Correct the YAML.")
    return Problem(chunk.path, chunk.first_line + line, "", f"broken YAML: {reason}.", mend, "yaml")


def _explained(chunk: Chunk, error: yaml.YAMLError) -> tuple[int, str]:
    """Return the line inside the chunk, from 0, and the reason of libyaml's error."""
    if isinstance(error, yaml.MarkedYAMLError):
        mark, context = error.problem_mark, error.context_mark
        line = mark.line if mark else 0
        reason = error.problem or "it can't be parsed"
        if error.context and context and context.line != line:
            reason += f", {error.context} from line {chunk.first_line + context.line}"
        return line, reason
    if isinstance(error, yaml.reader.ReaderError):
        before = chunk.text.encode()[: error.position]
        return before.count(b"\n"), f"{error.reason} (U+{_code_point(error.character):04X})"
    return 0, str(error)


def _code_point(character: Any) -> int:
    """Return the code point of what a ReaderError calls its character: libyaml gives an int."""
    return character if isinstance(character, int) else ord(character)


def _fail(chunk: Chunk, line: int, message: str, mend: str, rule: str) -> NoReturn:
    raise SuiteError([Problem(chunk.path, chunk.first_line + line, "", message, mend, rule)])


def _loader(chunk: Chunk) -> Any:
    return _loader_class()(chunk.text)


@cache
def _loader_class() -> Any:
    """Return libyaml's loader, or PyYAML's own where it was built without libyaml."""
    if hasattr(yaml, "CSafeLoader"):
        return yaml.CSafeLoader
    message = "PyYAML was built without libyaml; suites load about ten times slower"
    warnings.warn(message, RuntimeWarning, stacklevel=3)
    return yaml.SafeLoader
