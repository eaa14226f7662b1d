"""The parts of a judge prompt, cut out of the messages that a judge is sent."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

_FENCE = re.compile(r"^<<<ANSWER( [0-9a-f]+)>>>\n(.*?)\n?<<<END ANSWER\1>>>$", re.MULTILINE | re.DOTALL)
_SECTIONS = ("QUESTION", "REFERENCE ANSWER", "FACTS", "WRONG VALUES", "CRITERIA", "TRANSCRIPT")
_FACT = re.compile(r"- (\S+) \((\w+)\): (.*?)(?: \| also: (.*?))?(?: \| why: (.*))?")
_CRITERION = re.compile(r"- ([^\s:\[]+)(?: \[(.*?)\])?: (.*)")
_ONE = re.compile(r"^Criterion: (.*)", re.MULTILINE | re.DOTALL)
_WRONG_ONE = re.compile(r"Gives as right: (.*?)(?: \(.*\))?\.?$", re.DOTALL)


class Fact(NamedTuple):
    """A value that the prompt lists."""

    id: str
    type: str
    value: str
    also: tuple[str, ...] = ()


class Criterion(NamedTuple):
    """A criterion that the prompt lists."""

    id: str
    text: str
    facts: tuple[str, ...] = ()


class CaseText(NamedTuple):
    """What the prompt says of a case.

    Attributes:
        wrong: the wrong values; None where the prompt has no such section.
        with_transcript: whether claims are to be held against a transcript.
    """

    question: str
    reference: str
    facts: tuple[Fact, ...]
    wrong: tuple[Fact, ...] | None
    criteria: tuple[Criterion, ...]
    with_transcript: bool


class JudgePrompt(NamedTuple):
    """A whole case and an answer, or one criterion and an answer.

    Attributes:
        case: None where one criterion is asked about by itself.
        one: the text of that criterion.
        wrong_one: the value, where the criterion is that a wrong value is given as right.
        transcript: the conversations, if sent.
    """

    answer: str
    case: CaseText | None = None
    one: str = ""
    wrong_one: str = ""
    transcript: str = ""


def read_prompt(messages: Sequence[Mapping[str, Any]]) -> JudgePrompt | None:
    """Return the prompt that messages hold, or None if they ask for something else.

    The last user message with a fence counts: before it there may be examples, after it
    a complaint about an unusable reply.
    """
    for message in reversed(messages):
        said = text_of(message)
        if message.get("role") == "user" and "<<<ANSWER " in said and (fence := _FENCE.search(said)):
            before, after = said[: fence.start()], said[fence.end() :]
            if one := _ONE.search(after):
                wrong = _WRONG_ONE.match(one[1].strip())
                return JudgePrompt(fence[2], None, one[1].strip(), wrong[1] if wrong else "")
            before, _, transcript = before.partition("\nTRANSCRIPT\n")
            return JudgePrompt(fence[2], _case(before, bool(transcript)), transcript=transcript)
    return None


def text_of(message: Mapping[str, Any]) -> str:
    """Return a message's text, its text parts joined."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


@lru_cache(maxsize=512)
def _case(text: str, with_transcript: bool) -> CaseText:
    sections = _cut(text)
    wrong = sections.get("WRONG VALUES")
    return CaseText(
        sections.get("QUESTION", ""),
        sections.get("REFERENCE ANSWER", ""),
        tuple(_facts(sections.get("FACTS", ""))),
        None if wrong is None else tuple(_facts(wrong)),
        tuple(_criteria(sections.get("CRITERIA", ""))),
        with_transcript,
    )


def _cut(text: str) -> dict[str, str]:
    sections: dict[str, list[str]] = {}
    names = list(_SECTIONS)
    lines: list[str] = []
    for line in text.splitlines():
        if line in names:
            names = names[names.index(line) + 1 :]
            lines = sections.setdefault(line, [])
        elif line.startswith("ANSWER ("):
            break
        else:
            lines.append(line)
    return {name: "\n".join(held).strip() for name, held in sections.items()}


def _items(section: str) -> list[str]:
    """Return the entries of a list; a line that begins none belongs to the entry before it."""
    items: list[str] = []
    for line in section.splitlines():
        if line.startswith("- ") or not items:
            items.append(line)
        else:
            items[-1] += f" {line}"
    return items


def _facts(section: str) -> list[Fact]:
    found = (_FACT.fullmatch(item) for item in _items(section))
    return [Fact(f[1], f[2], f[3], tuple((f[4] or "").split("; ")) if f[4] else ()) for f in found if f]


def _criteria(section: str) -> list[Criterion]:
    found = (_CRITERION.fullmatch(item) for item in _items(section))
    return [Criterion(c[1], c[3], tuple(c[2].split(", ")) if c[2] else ()) for c in found if c]
