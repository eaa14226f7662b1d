"""The files that an adapter of one's own starts from: a working memory and its conformance test."""

from __future__ import annotations

import importlib.util
import keyword
import sys
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import Literal

from harness.errors import InputError

Variant = Literal["plain", "async", "full"]

_TAKEN = frozenset(
    {"Adapter", "BaseModel", "ConfigDict", "Conversation", "Field", "Memory", "Options", "Question", "Space"}
)

_HEAD = '''"""$name: a memory system for recallbench."""

from __future__ import annotations

import re

'''
_IMPORTS = """from harness.adapters import Memory, Question, Space
from harness.suite import Conversation


"""
_AGENT = '''class $cls:
    """Recalls the messages that share the most words with the question."""

    def __init__(self, space: Space, most: int = 10) -> None:  # options follow the space
        self.most = most
        self.stored: list[Memory] = []  # your system goes here; files into space.folder

    ${async_}def ingest(self, conversation: Conversation) -> None:
        labels = ", ".join(conversation.metadata.values())
        for number, message in enumerate(conversation.messages, start=1):
            place = f"{conversation.id}#{number}"
            text = f"{message.role} ({labels}): {message.text}"
            when = message.timestamp or conversation.timestamp
            self.stored.append(Memory(place, text, created_at=when, source_refs=(place,)))

    ${async_}def recall(self, question: Question, limit: int) -> list[Memory]:
        asked = words(question.text)
        ranked = sorted(self.stored, key=lambda memory: -len(asked & words(memory.text)))
        return ranked[: min(limit, self.most)]
'''
_WORDS = """

def words(text: str) -> set[str]:
    return set(re.findall(r"\\w+", text.lower()))
"""
_FULL_IMPORTS = """from pydantic import BaseModel, ConfigDict, Field

from harness.adapters import Adapter, Memory, Question, Space
from harness.suite import Conversation


"""
_ADAPTER = '''

class Options(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    most: int = Field(10, gt=0, description="memories recalled at most")


class $cls(Adapter):
    """Opens an agent for each haystack."""

    Options = Options
    capabilities = frozenset({"recall"})  # add "discard" when discard has something to do

    def open(self, space: Space) -> ${cls}Agent:
        """Return an agent for one haystack."""
        assert isinstance(self.options, Options)
        return ${cls}Agent(space, self.options.most)

    def version(self) -> str:
        """Return what is under test; it stands in the report."""
        return "$name 0.1"

    def discard(self, namespace: str) -> None:
        """Remove what a killed agent stored under the namespace outside space.folder."""
'''
_TEST = '''"""Whether $name does what recallbench relies on."""

from __future__ import annotations

from harness.adapters.conformance import assert_conforms


def test_${name}_conforms() -> None:
    assert_conforms("$name:$cls")
'''


def class_name(name: str) -> str:
    """Return the class for a module: `my_memory` gives `MyMemory`, `memory` gives `MemorySystem`."""
    joined = "".join(part[:1].upper() + part[1:] for part in name.split("_"))
    if not joined.isidentifier():
        joined = f"Memory{joined}"
    return f"{joined}System" if joined in _TAKEN else joined


def sources(name: str, variant: Variant = "plain") -> Mapping[str, str]:
    """Return the files by name.

    Args:
        name: the module.
        variant: `plain` is one class, `async` the same with async methods, `full` an `Adapter` with
            options, version and discard.
    """
    cls = class_name(name)
    agent = f"{cls}Agent" if variant == "full" else cls
    given = {"name": name, "async_": "async " if variant == "async" else ""}
    parts = (
        (_HEAD, cls),
        (_FULL_IMPORTS if variant == "full" else _IMPORTS, cls),
        (_AGENT, agent),
        (_ADAPTER if variant == "full" else "", cls),
        (_WORDS, cls),
    )
    module = "".join(Template(text).substitute(given, cls=one) for text, one in parts)
    return {f"{name}.py": module, f"test_{name}.py": Template(_TEST).substitute(given, cls=cls)}


def write(name: str, folder: Path, variant: Variant = "plain") -> list[Path]:
    """Write the files into a folder and return them.

    Raises:
        InputError: for a name that no module can have or that another module has, or when a file is there.
    """
    _check(name, folder)
    files = {folder / file: text for file, text in sources(name, variant).items()}
    there = [path.name for path in files if path.exists()]
    if there:
        exist = "exists" if len(there) == 1 else "exist"
        raise InputError(f"{' and '.join(there)} {exist} already; nothing was written. Choose another name.")
    for path, text in files.items():
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    return list(files)


def _check(name: str, folder: Path) -> None:
    if not name.isidentifier() or keyword.iskeyword(name) or not name.strip("_"):
        raise InputError(
            f"{name!r} cannot be the name of a module. Use letters, digits and _, as in my_memory."
        )
    if name in sys.stdlib_module_names:
        raise InputError(f"{name} is a module of Python's standard library. Choose another name.")
    found = importlib.util.find_spec(name)
    origin = Path(found.origin).parent if found is not None and found.origin else None
    if found is not None and origin != folder.resolve():
        raise InputError(
            f"{name} is a module that is installed, and would be found first. Choose another name."
        )
