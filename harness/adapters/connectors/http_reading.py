"""Reads the steps of a description, and gathers what is wrong with them."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import yaml
from yaml.nodes import MappingNode, SequenceNode

from harness.adapters.connectors.http_paths import JsonPath, PathError, parse_path
from harness.adapters.connectors.http_values import OF_MESSAGE
from harness.adapters.connectors.value_templates import placeholders
from harness.errors import InputError, Problem
from harness.suite.yaml_reader import Document, FieldPath

_REQUEST = re.compile(r"(GET|POST|PUT|PATCH|DELETE) (/\S*)")
_JSON_WORDS = {"true": True, "false": False, "null": None, "": None, "~": None}
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_PATHS = frozenset({"id", "text", "score", "created_at", "type", "importance", "items", "tokens", "path"})
_COMMON = frozenset({"request", "query", "body", "expect"})
PERS = ("message", "round", "conversation")


@dataclass(frozen=True, slots=True)
class Step:
    """One request, and what is taken from its reply.

    Attributes:
        name: of the step.
        method: GET, POST, …
        path: template of the path, with a query where it has one.
        query: templates of query parameters.
        body: template of the JSON body, None for none.
        expect: the statuses that are right; none for any from 200 to 299.
        names: every placeholder in it.
        paths: what is taken from the reply.
        save: what is kept for later steps.
        per: for `ingest`, what is handed over at once.
        message: for `ingest`, the template of an entry of `{messages}`.
        value, failed: for `ready`, what has to be at its path, and what says that it failed.
        interval_s, longest_s: for `ready`, seconds between polls and in all.
    """

    name: str
    method: str
    path: str
    query: Mapping[str, str]
    body: Any
    expect: frozenset[int]
    names: frozenset[str]
    paths: Mapping[str, JsonPath]
    save: Mapping[str, JsonPath]
    per: Any = "message"
    message: Any = None
    value: Any = None
    failed: Any = None
    interval_s: float = 0.5
    longest_s: float = 120.0

    @property
    def reads(self) -> bool:
        """Whether anything is taken from the reply."""
        return bool(self.paths or self.save)


class Reader:
    """Reads values of a document; what is wrong is gathered and raised by `finish`."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._problems: list[Problem] = []
        self._loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        self._root = yaml.compose(document.chunk.text, Loader=self._loader)

    def wrong(self, at: FieldPath, message: str, mend: str) -> None:
        """Note a mistake."""
        self._problems.append(self._document.problem(at, message, mend, "http-description"))

    def finish(self) -> None:
        """Raise what was noted.

        Raises:
            InputError: when anything was.
        """
        if self._problems:
            raise InputError("\n".join(str(one) for one in sorted(set(self._problems))))

    def only(self, at: FieldPath, known: Iterable[str]) -> None:
        """Note the keys that nothing is known of."""
        names = sorted(known)
        for key in self.mapping(at):
            if key not in names:
                near = difflib.get_close_matches(key, names, n=1)
                hint = f"Did you mean {near[0]}? " if near else ""
                self.wrong((*at, key), f"{key!r} means nothing here.", f"{hint}Known: {', '.join(names)}.")

    def mapping(self, at: FieldPath) -> dict[str, Any]:
        """Return the object at a path, an empty one where there is none."""
        found = self._at(at)
        if found is None:
            return {}
        if not isinstance(found, dict):
            self.wrong(at, "is no object.", "Write `name: value` lines under it.")
            return {}
        return found

    def text(self, at: FieldPath, *, needed: bool = False) -> str | None:
        """Return the text at a path."""
        found = self._at(at)
        if found is None:
            if needed:
                self.wrong(at[:-1], f"lacks {at[-1]!r}.", f"Write `{at[-1]}: …`.")
            return None
        if not isinstance(found, str):
            self.wrong(at, "is no plain text.", "Write it in quotes; so are {placeholders} written.")
            return None
        return found

    def number(self, at: FieldPath, default: float, most: float) -> float:
        """Return the number above 0 at a path."""
        text = self.text(at)
        if text is None:
            return default
        if not _NUMBER.fullmatch(text) or not 0 < float(text) <= most:
            self.wrong(at, f"is {text!r}.", f"Write a number of seconds above 0, at most {most:g}.")
            return default
        return float(text)

    def step(
        self, name: str, known: frozenset[str], fields: frozenset[str], needed: tuple[str, ...]
    ) -> Step | None:
        """Read a step.

        Args:
            name: of the step.
            known: the placeholders that it may hold.
            fields: what it may say beside its request.
            needed: what it has to say of these.
        """
        held = self.mapping((name,))
        self.only((name,), _COMMON | fields)
        for field in needed:
            if held.get(field) is None:
                self.wrong((name,), f"lacks {field!r}.", f"Write `{field}: …` under {name}.")
        request = self.text((name, "request"), needed=True) or "GET /"
        found = _REQUEST.fullmatch(request)
        if found is None:
            self.wrong(
                (name, "request"), f"is {request[:60]!r}.", "Write a method and a path: `POST /memories`."
            )
        method, path = found.groups() if found else ("GET", "/")
        self.check_names(path, (name, "request"), known)
        query = {key: self.text((name, "query", key)) or "" for key in self.mapping((name, "query"))}
        for key, text in query.items():
            self.check_names(text, (name, "query", key), known)
        body = self._json((name, "body"), known)
        if body is not None and method == "GET":
            self.wrong((name, "body"), "goes with no GET.", "Put it under `query`.")
        message = self._json((name, "message"), OF_MESSAGE) if "message" in fields else None
        per = held.get("per", "message")
        if name == "ingest" and per not in PERS:
            self.wrong((name, "per"), f"is {per!r}.", f"Write {', '.join(PERS)}.")
        names = placeholders([path, query, body])
        seconds = {
            field: self.number((name, field), default, 3600.0)
            for field, default in (("interval_s", 0.5), ("longest_s", 120.0))
        }
        return Step(
            name,
            method,
            path,
            query,
            body,
            self._expected(name),
            frozenset(names),
            {field: path for field in sorted(fields & _PATHS) if (path := self._path((name, field)))},
            {key: path for key in self.mapping((name, "save")) if (path := self._path((name, "save", key)))}
            if "save" in fields
            else {},
            per,
            message,
            self._json((name, "value"), frozenset()) if "value" in fields else None,
            self._json((name, "failed"), frozenset()) if "failed" in fields else None,
            seconds["interval_s"],
            seconds["longest_s"],
        )

    def check_names(self, text: str, at: FieldPath, known: frozenset[str]) -> None:
        """Note placeholders that stand for nothing here."""
        for name in placeholders(text):
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1)
                hint = f"Did you mean {{{near[0]}}}? " if near else ""
                listed = ", ".join(f"{{{one}}}" for one in sorted(known)) or "none"
                self.wrong(at, f"{{{name}}} stands for nothing here.", f"{hint}Known here: {listed}.")

    def _expected(self, name: str) -> frozenset[int]:
        found = self._at((name, "expect"))
        given = found if isinstance(found, list) else [] if found is None else [found]
        if not all(isinstance(one, str) and re.fullmatch("[2-5][0-9][0-9]", one) for one in given):
            self.wrong((name, "expect"), "is no HTTP status.", "Write 201, or [200, 404].")
            return frozenset()
        return frozenset(int(str(one)) for one in given)

    def _path(self, at: FieldPath) -> JsonPath | None:
        text = self.text(at)
        try:
            return None if text is None else parse_path(text)
        except PathError as error:
            self.wrong(at, f"{error}.", "See the paths in docs/connect-http.md.")
            return None

    def _json(self, at: FieldPath, known: frozenset[str]) -> Any:
        """Return what is at a path as JSON has it: a plain number, true, false or null is one."""
        node: Any = self._root
        for step in at:
            if not isinstance(node, MappingNode):
                return None
            node = next((value for key, value in node.value if key.value == step), None)
        return None if node is None else self._value(node, at, known)

    def _value(self, node: Any, at: FieldPath, known: frozenset[str]) -> Any:
        if isinstance(node, MappingNode):
            if node.flow_style and len(node.value) == 1 and not node.value[0][1].value:
                name = node.value[0][0].value
                self.wrong(at, f"{{{name}}} is an object in YAML.", f'Put it in quotes: "{{{name}}}".')
            return {key.value: self._value(value, (*at, key.value), known) for key, value in node.value}
        if isinstance(node, SequenceNode):
            return [self._value(value, (*at, number), known) for number, value in enumerate(node.value)]
        text = str(node.value)
        if not node.style and text in _JSON_WORDS:
            return _JSON_WORDS[text]
        if not node.style and _NUMBER.fullmatch(text):
            return json.loads(text)
        self.check_names(text, at, known)
        return text

    def _at(self, at: FieldPath) -> Any:
        found: Any = self._document.value
        for step in at:
            if not isinstance(found, dict):
                return None
            found = found.get(str(step))
        return found
