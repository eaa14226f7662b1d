"""Cases that fulfil every rule, to be broken in one place at a time."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

Header = dict[str, Any]
WriteCase = Callable[..., Path]

NUMBER = "4429853327"
CODE = "QX-5518"


def conversation(
    name: str = "conv_001",
    when: str | None = "2025-03-04T10:15:00-05:00",
    said: Mapping[int, str] | None = None,
    *,
    rounds: int = 50,
    words: int = 15,
    salt: str = "",
) -> str:
    """Return a conversation of words that nothing else says, but for the messages given.

    Message n, counted from 1, is the user's where n is odd.
    """
    lines = [f"conversation_id: {name}"]
    lines += [f"timestamp: {when}"] if when else []
    lines += ["messages:"]
    for number in range(1, 2 * rounds + 1):
        filler = " ".join(f"{name}{salt}w{number}x{word}" for word in range(words))
        text = (said or {}).get(number, filler)
        role = "user" if number % 2 else "assistant"
        lines.append(f"  - {role}: {json.dumps(text)}")
    return "\n".join(lines) + "\n"


def sound_conversations(layer: str, stem: str) -> tuple[str, ...]:
    """Return conversations that say what `sound_header` asks for: the number first, then the code."""
    if layer == "layer1":
        said = {38: f"The number is {NUMBER}.", 40: f"And the code is {CODE}."}
        return (conversation(said=said, salt=stem),)
    return (
        conversation(said={38: f"The number is {NUMBER}."}, salt=layer + stem),
        conversation(
            "conv_002",
            "2025-03-11T10:15:00-05:00",
            {40: f"And the code is {CODE}."},
            salt=layer + stem,
        ),
    )


def sound_header(layer: str, stem: str, **changes: Any) -> Header:
    """Return a header that fulfils every rule; a change of None takes the key out."""
    fields: Header = {
        "test_id": f"{layer}_{stem}",
        "category": layer,
        "title": "A number and a code",
        "domain": "banking",
        "entities": [f"Person {layer} {stem}"],
        "question_time": "2025-03-20T09:00:00-05:00",
        "user_question": "What number was I given, and which code?",
        "evaluation_criteria": [{"id": "number", "text": "States the number.", "facts": ["number"]}],
        "expected_behavior": f"The number is {NUMBER}, and the code is {CODE}.",
        "gold_facts": {
            "required": [
                {"id": "number", "fact": NUMBER, "type": "id", "evidence": ["conv_001#38"]},
                {
                    "id": "code",
                    "fact": CODE,
                    "type": "id",
                    "evidence": ["conv_001#40" if layer == "layer1" else "conv_002#40"],
                },
            ]
        },
    }
    fields |= changes
    return {key: value for key, value in fields.items() if value is not None}


@pytest.fixture
def write_case(tmp_path: Path) -> WriteCase:
    """Write a case file that is sound but for what is given, and return its path."""

    def write(
        layer: str = "layer1",
        stem: str = "01_account",
        *,
        conversations: tuple[str, ...] | None = None,
        folder: str | None = None,
        **changes: Any,
    ) -> Path:
        path = tmp_path / (folder or layer) / f"{stem}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        first = yaml.safe_dump(sound_header(layer, stem, **changes), sort_keys=False, width=10_000)
        rest = sound_conversations(layer, stem) if conversations is None else conversations
        path.write_text("---\n".join([first, *rest]), encoding="utf-8")
        return path

    return write


def line_of(path: Path, text: str, occurrence: int = 1) -> int:
    """Return the number of the line of a file that holds a text."""
    lines = path.read_text(encoding="utf-8").splitlines()
    found = [number for number, line in enumerate(lines, 1) if text in line]
    return found[occurrence - 1]
