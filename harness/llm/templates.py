"""Prompts from the bundled templates, and text of others in them that can only be read as data.

A template is rendered in jinja2's sandbox; an undefined name is an error. Text of others is only
ever a value, so braces in it are never evaluated. It stands between two marker lines with a mark
that it cannot know (`fence`), and nothing in it can be taken for a marker (`neutralised`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from harness.resources import bundled

FENCE_DIGITS = 16
# Whatever could be taken for the brackets of a marker line: two or more in a row, also in look-alike
# characters and with invisible ones between them, or one character that looks like several.
_LEFT, _RIGHT = "<＜﹤‹«≪⟨〈《˂ᐸ❮❰⟪〈≺⋘⫷", ">＞﹥›»≫⟩〉》˃ᐳ❯❱⟫〉≻⋙⫸"
_MANY = "⋘⋙⫷⫸"
_UNSEEN = "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff"
_MARKER = re.compile(rf"(?:[{_LEFT}][{_UNSEEN}]*){{2,}}|(?:[{_RIGHT}][{_UNSEEN}]*){{2,}}|[{_MANY}]")
# What chat templates are made of: a local server reads it in a text as the end of a turn.
_CONTROL = re.compile(
    r"<[|｜][^<>\n]{0,60}>|<[^<>\n]{0,60}[|｜]>|</?s>|<(?:start|end)_of_turn>|<(?:bos|eos|pad|unk)>"
    r"|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_RESULTS|TOOL_CALLS)\]",
    re.IGNORECASE,
)
_SUSPECT = frozenset(f"{_LEFT}{_RIGHT}{_MANY}[")
_HARMLESS = str.maketrans("<>[]", "‹›‹›")


class Templates:
    """Some of the bundled templates.

    Args:
        names: files in `prompts/`; what one of them includes or extends has to be named too.
    """

    def __init__(self, *names: str) -> None:
        from jinja2 import DictLoader, StrictUndefined
        from jinja2.sandbox import ImmutableSandboxedEnvironment

        folder = bundled("prompts")
        texts = {name: (folder / name).read_text(encoding="utf-8") for name in names}
        self.hashes = {name: sha256(text.encode()).hexdigest() for name, text in texts.items()}
        self._environment = ImmutableSandboxedEnvironment(
            loader=DictLoader(texts),
            undefined=StrictUndefined,
            autoescape=False,
            trim_blocks=True,
            lstrip_blocks=True,
        )

    def render(self, name: str, values: Mapping[str, Any]) -> str:
        """Return the text of a template, without white space around it."""
        return self._environment.get_template(name).render(values).strip()

    def fence(self, *texts: str) -> str:
        """Return the mark for a fence around these texts, which they cannot know."""
        held = "\n".join([*self.hashes.values(), *texts]).encode("utf-8", "surrogatepass")
        return sha256(held).hexdigest()[:FENCE_DIGITS]


def neutralised(text: str) -> str:
    """Return text in which nothing can be taken for a marker of a fence, or of a chat's turns.

    One bracket stands for several.
    """
    if _SUSPECT.isdisjoint(text):
        return text
    text = _CONTROL.sub(lambda found: found[0].translate(_HARMLESS), text)
    return _MARKER.sub(lambda found: "‹" if found[0][0] in _LEFT else "›", text)
