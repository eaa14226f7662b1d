"""Strict YAML: text stays text, a key stands once, and every value knows its line in the file.

PyYAML's loaders guess types (`yes`, `12:30`, `010`), let a later key overwrite an earlier
one and forget where a value stood. Here libyaml composes the node tree, and a few lines turn
it into dicts, lists and strings.

- Every scalar is text, quoted or not; a plain `null`, `~` or nothing is None.
- A repeated key is a problem, and so is a key that is not plain text.
- Anchors, aliases and tags are refused before anything is composed, so that no alias can
  grow into a bomb. A merge key (`<<`) is then a key like any other, and nobody knows it.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from harness.errors import Problem, SuiteError
from harness.suite.chunks import Chunk

Plain: TypeAlias = "str | list[Plain] | dict[str, Plain] | None"
FieldPath: TypeAlias = tuple[str | int, ...]

_NULLS = frozenset(("", "~", "null", "Null", "NULL"))

# Anchors, aliases and tags begin with one of these; prose seldom has one before a letter.
_MAYBE_SHORTHAND = re.compile(r"[&*!]\S")

_MENDS = (
    ("mapping values are not allowed", "Put the text in quotes: a colon and a space start a new key."),
    ("tab character", "Indent with spaces, not with tabs."),
    ("cannot start any token", "Put the text in quotes, and indent with spaces, not with tabs."),
    ("could not find expected ':'", "Write `key: value`, or indent the line as part of the text above it."),
    ("unexpected end of stream", "Close the quote or bracket."),
    ("did not find expected", "Check the indentation, quotes and brackets of this line and those above it."),
    ("another document", "Start every further document with a line `---`."),
    ("control characters", "Delete the character."),
    ("nesting", "Write the value flat."),
)


@dataclass(frozen=True, slots=True)
class Document:
    """One parsed document of a file.

    Attributes:
        path: the file.
        value: the content as dicts, lists, strings and None.
    """

    path: Path
    value: Plain
    _root: Node
    _first_line: int

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
        return self._first_line + int(mark.line)

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
    if _MAYBE_SHORTHAND.search(chunk.text):
        _refuse_shorthand(chunk)
    root = _compose(chunk)
    if root is None:
        _fail(chunk, 0, "the document is empty.", "Write the case, or delete the file or the `---` line.", "empty")
    try:
        value = _plain(root)
    except _IrregularKeyError:
        raise SuiteError(list(_irregular_keys(chunk, root, ()))) from None
    except RecursionError:
        _fail(chunk, 0, "broken YAML: it is nested too deeply.", "Write the value flat.", "yaml")
    return Document(chunk.path, value, root, chunk.first_line)


class _IrregularKeyError(Exception):
    """A mapping has a key that stands twice or isn't text."""


def _plain(node: Node) -> Plain:
    """Turn a node into its plain value. This is the hot path of loading a suite."""
    kind = node.__class__
    if kind is ScalarNode:
        text: str = node.value
        return None if text in _NULLS and not node.style else text
    if kind is SequenceNode:
        return [_plain(item) for item in node.value]
    mapping: dict[str, Plain] = {}
    for key, value in node.value:
        name = key.value
        if key.__class__ is not ScalarNode or name in mapping:
            raise _IrregularKeyError
        mapping[name] = _plain(value)
    return mapping


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
    loader = _loader_class()(chunk.text)
    try:
        while loader.check_event():
            event = loader.get_event()
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                what, mend = "anchors and aliases (`&`, `*`) are not read.", "Write the value out."
            elif getattr(event, "tag", None):
                what, mend = f"the tag `{event.tag}` is not read.", "Delete it; text that begins with ! needs quotes."
            else:
                continue
            _fail(chunk, event.start_mark.line, what, mend, "yaml-shorthand")
    except yaml.YAMLError:
        return  # composing meets the same error and says it better
    finally:
        loader.dispose()


def _compose(chunk: Chunk) -> Node | None:
    loader = _loader_class()(chunk.text)
    try:
        root: Node | None = loader.get_single_node()
    except yaml.YAMLError as error:
        line, reason = _explained(chunk, error)
        mend = next((mend for sign, mend in _MENDS if sign in reason), "Correct the YAML.")
        _fail(chunk, line, f"broken YAML: {reason}.", mend, "yaml")
    finally:
        loader.dispose()
    return root


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


class _TextOnly:
    """Resolver that guesses no type: an untagged node has the tag "", which is false."""

    def resolve(self, kind: type[Node], value: str, implicit: tuple[bool, bool]) -> str:
        return ""

    def descend_resolver(self, current_node: Node | None, current_index: Any) -> None:
        pass

    def ascend_resolver(self) -> None:
        pass


@cache
def _loader_class() -> Any:
    """Return the class that composes nodes, on libyaml where PyYAML was built with it."""
    base = getattr(yaml, "CSafeLoader", None)
    if base is None:
        warnings.warn(
            "PyYAML was built without libyaml; suites load about ten times slower",
            RuntimeWarning,
            stacklevel=2,
        )
        base = yaml.SafeLoader
    return type("StrictLoader", (_TextOnly, base), {})
