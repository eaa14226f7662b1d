"""Responses files: answers that were collected elsewhere.

    compare   {system: {test_id: answer}}
    batch     {test_id: answer}

An answer is a string or `{answer, memory, latency_s, tokens, error}`; null is no answer.
Keys that start with `_` are comments. Which form a file has is told by its ids.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from harness.errors import ResponsesError
from harness.suite.answer import Answer

_SHOWN = 20
# A high half that no low one follows, or a low one that no high one goes before.
_LONE_SURROGATE = re.compile(
    r"(?<!\\)\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})(?<!\\)\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)
_ANSWER_KEYS = ("answer", "memory", "latency_s", "tokens", "error")
BATCH_SYSTEM = "responses"
"""The name of the one system of a batch file, which has no name of its own."""


class Responses(NamedTuple):
    """Answers by system and test id, in the file's order.

    Attributes:
        systems: `{system: {test_id: answer}}`.
        source: the file, or where the answers came from.
        note: the file's own `_note`, such as that its answers are made up.
        models: the file's own `_models`, the model behind each system, so that a judge of the
            same family can be named.
    """

    systems: Mapping[str, Mapping[str, Answer]]
    source: str
    note: str = ""
    models: Mapping[str, str] = MappingProxyType({})


def load_responses(path: Path | str, known_ids: Iterable[str]) -> Responses:
    """Read a responses file against the ids of a suite.

    Raises:
        ResponsesError: when the file cannot be read, has another shape, or names a test id
            that the suite does not have (the nearest ids are listed).
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ResponsesError(f"{path}: no such file. Give the path of a responses JSON.") from None
    except IsADirectoryError:
        raise ResponsesError(f"{path}: a directory, not a responses JSON. Name a file in it.") from None
    except UnicodeDecodeError as error:
        raise ResponsesError(f"{path}: not UTF-8 (byte {error.start}). Save the file as UTF-8.") from None
    except OSError as error:
        raise ResponsesError(f"{path}: cannot be read: {error.strerror}.") from None
    return parse_responses(_decode(text, path), known_ids, source=str(path))


def parse_responses(data: Any, known_ids: Iterable[str], *, source: str = "responses") -> Responses:
    """Read responses from parsed JSON; see `load_responses`."""
    ids = frozenset(known_ids)
    if not isinstance(data, dict):
        raise ResponsesError(
            f"{source}: holds a {_kind(data)}; expected an object, "
            "{system: {test_id: answer}} or {test_id: answer}."
        )
    note = str(data.get("_note", ""))
    content = {key: value for key, value in data.items() if not key.startswith("_")}
    if not content:
        raise ResponsesError(f"{source}: holds no answers. Add {{test_id: answer}} for at least one case.")
    by_system = content if _is_compare(content, ids) else {BATCH_SYSTEM: content}
    problems: list[str] = []
    systems = {
        system: _answers(system if by_system is content else "", answers, ids, problems)
        for system, answers in by_system.items()
    }
    if any(not system.strip() for system in systems):
        problems.append("a system has an empty name. Give it one.")
    if problems:
        more = [f"and {len(problems) - _SHOWN} more of the kind."] if len(problems) > _SHOWN else []
        raise ResponsesError("\n".join(f"{source}: {problem}" for problem in (*problems[:_SHOWN], *more)))
    return Responses(systems, source, note, _models(data.get("_models", {}), source))


def _models(value: Any, source: str) -> Mapping[str, str]:
    if not isinstance(value, dict) or not all(isinstance(model, str) for model in value.values()):
        raise ResponsesError(f"{source}: _models is an object of systems and model names.")
    return value


def _is_compare(content: Mapping[str, Any], ids: frozenset[str]) -> bool:
    """Tell `{system: {test_id: …}}` from `{test_id: {answer: …}}`."""
    if any(key in ids for key in content):
        return False
    return all(
        isinstance(value, dict) and not ("answer" in value and not any(key in ids for key in value))
        for value in content.values()
    )


def _answers(system: str, answers: Any, ids: frozenset[str], problems: list[str]) -> dict[str, Answer]:
    where = f"{system}: " if system else ""
    if not isinstance(answers, dict):
        problems.append(f"{where}holds a {_kind(answers)}; expected an object of test ids and answers.")
        return {}
    read: dict[str, Answer] = {}
    for test_id, value in answers.items():
        if test_id.startswith("_"):
            continue
        if test_id not in ids:
            near = difflib.get_close_matches(test_id, ids, n=3, cutoff=0.4)
            hint = f" Nearest: {', '.join(near)}." if near else ""
            if not near and not isinstance(value, str):
                hint = f" If it is a system: it holds a {_kind(value)} instead of {{test_id: answer}}."
            problems.append(f"{where}{test_id!r} is no case of this suite.{hint}")
            continue
        try:
            read[test_id] = _answer(value)
        except ValueError as error:
            problems.append(f"{where}{test_id}: {error}")
    return read


def _answer(value: Any) -> Answer:
    if value is None or isinstance(value, str):
        return Answer(value)
    if not isinstance(value, dict):
        raise ValueError(f"an answer is a string, null or an object, not a {_kind(value)}.")
    unknown = [key for key in value if key not in _ANSWER_KEYS and not key.startswith("_")]
    if unknown:
        near = difflib.get_close_matches(unknown[0], _ANSWER_KEYS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"the keys are {', '.join(_ANSWER_KEYS)}."
        raise ValueError(f"unknown key {unknown[0]!r} in the answer; {hint}")
    text, error = value.get("answer"), value.get("error")
    if text is not None and not isinstance(text, str):
        raise ValueError(f"'answer' is a {_kind(text)}; expected a string.")
    if error is not None and not isinstance(error, str):
        raise ValueError(f"'error' is a {_kind(error)}; expected a string.")
    return Answer(
        text,
        memory=_memory(value.get("memory")),
        latency_s=_number(value, "latency_s"),
        tokens=None if (tokens := _number(value, "tokens")) is None else int(tokens),
        error=error,
    )


def _memory(value: Any) -> tuple[str, ...] | None:
    """Accept one text, a list of texts, or a list of `{text: …}` as a memory hands them out."""
    if value is None:
        return None
    items = value if isinstance(value, list) else [value]
    texts = [item.get("text") if isinstance(item, dict) else item for item in items]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("'memory' is a string, a list of strings, or a list of objects with 'text'.")
    return tuple(str(text) for text in texts)


def _number(value: Mapping[str, Any], key: str) -> float | None:
    number = value.get(key)
    if number is None:
        return None
    if (
        isinstance(number, bool)
        or not isinstance(number, int | float)
        or not number >= 0
        or number == float("inf")
    ):
        raise ValueError(f"{key!r} is {number!r}; expected a number of 0 or more.")
    return float(number)


def _decode(text: str, path: Path) -> Any:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            seen: set[str] = set()
            twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
            line = _line_of_second(text, twice)
            raise ResponsesError(f"{path}:{line}: the key {twice!r} stands twice. Keep one of them.")
        return made

    def no_constant(name: str) -> Any:
        raise ResponsesError(f"{path}: {name} is no JSON number. Write null where a value is unknown.")

    if not text.strip():
        raise ResponsesError(f"{path}: the file is empty. Expected JSON such as {{test_id: answer}}.")
    try:
        return json.loads(
            _whole(text), object_pairs_hook=unique, parse_constant=no_constant, parse_int=_whole_number
        )
    except json.JSONDecodeError as error:
        raise ResponsesError(
            f"{path}:{error.lineno}: not JSON: {error.msg} (column {error.colno})."
        ) from None
    except RecursionError:
        raise ResponsesError(f"{path}: nested too deeply to be a responses file.") from None
    except ValueError as error:
        raise ResponsesError(f"{path}: not JSON: {error}.") from None


def _whole(text: str) -> str:
    r"""Replace the half of a surrogate pair that a cut-off `\ud83d` leaves; no output could write it."""
    return _LONE_SURROGATE.sub(r"\\ufffd", text)


def _whole_number(digits: str) -> float:
    """Read a number as far as floats go; Python refuses to read one of thousands of digits."""
    return int(digits) if len(digits) < 300 else float(digits)


def _line_of_second(text: str, key: str) -> int:
    written = json.dumps(key, ensure_ascii=False)
    first = text.find(written)
    second = text.find(written, first + 1)
    return text.count("\n", 0, max(first, second, 0)) + 1


def _kind(value: Any) -> str:
    names = {
        dict: "object",
        list: "list",
        str: "string",
        bool: "truth value",
        int: "number",
        float: "number",
        type(None): "null",
    }
    return names.get(type(value), type(value).__name__)
