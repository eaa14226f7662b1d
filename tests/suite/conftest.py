"""Small case files, written the way people write them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

Header = dict[str, Any]
WriteCase = Callable[..., Path]

CONVERSATION = """\
conversation_id: conv_001
timestamp: 2025-03-04T10:15:00-05:00
metadata: {business: Larch Bank, department: Accounts}
messages:
  - user: Hello, I'd like to open an account.
  - assistant: It's open; the number is 4429853327.
"""


def header(layer: str = "layer1", stem: str = "01_account", **changes: Any) -> Header:
    """Return a sound header; a change of None takes the key out."""
    fields: Header = {
        "test_id": f"{layer}_{stem}",
        "category": layer,
        "title": "A new account",
        "domain": "banking",
        "abilities": ["correction"],
        "question_time": "2025-03-20T09:00:00-05:00",
        "user_question": "What's my account number?",
        "evaluation_criteria": [{"id": "number", "text": "States the number.", "facts": ["number"]}],
        "expected_behavior": "Your account number is 4429853327.",
        "gold_facts": {
            "required": [{"id": "number", "fact": "4429853327", "type": "id", "evidence": ["conv_001#2"]}]
        },
    }
    fields |= changes
    return {key: value for key, value in fields.items() if value is not None}


@pytest.fixture
def write_case(tmp_path: Path) -> WriteCase:
    """Write a case file of our form and return its path.

    The header is `header(layer, stem, **changes)`, or a text of one's own.
    """

    def write(
        layer: str = "layer1",
        stem: str = "01_account",
        *,
        text: str | None = None,
        conversations: tuple[str, ...] = (CONVERSATION,),
        folder: str | None = None,
        **changes: Any,
    ) -> Path:
        path = tmp_path / (layer if folder is None else folder) / f"{stem}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        first = yaml.safe_dump(header(layer, stem, **changes), sort_keys=False) if text is None else text
        path.write_text("---\n".join([first, *conversations]), encoding="utf-8")
        return path

    return write
