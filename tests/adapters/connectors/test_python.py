from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from harness.adapters.connectors.python import PythonObject, PythonOptions
from harness.adapters.protocol import AgentFailure, Question, Space
from harness.errors import InputError
from harness.llm.models import Models, ModelSettings
from harness.suite import Conversation, Message

NIGHT = datetime(2025, 3, 4, 10, 15, tzinfo=UTC)
TALK = Conversation("conv_001", NIGHT, {}, (Message("user", "tea is {oolong}"), Message("assistant", "ok")))
ASKED = Question("which tea", NIGHT)
MODULE = """
class Hit:
    def __init__(self, text, score):
        self.text, self.score = text, score

class Store:
    closed = []
    def __init__(self, name="none"):
        self.name, self.kept = name, []
    def add(self, text, **more):
        self.kept.append((text, more))
    def search(self, query):
        return [text for text, _ in self.kept]
    async def find(self, query, k):
        return {"hits": [Hit(f"{self.name}: {text} {more}", 0.5) for text, more in self.kept][:k]}
    def reply(self, question):
        return {"said": question.upper()}
    def end(self):
        self.closed.append(self.name)

def make(name):
    return Store(name)

def answer(question, messages):
    return f"{question}: {messages}"

async def later(question, messages):
    return str(len(messages))

class Nothing:
    pass

shared = Store("shared")
"""


@pytest.fixture(autouse=True)
def _module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_own_store.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))


def system(target: str, **options: Any) -> PythonObject:
    return PythonObject(PythonOptions(target=f"my_own_store:{target}", **options))


def asked(made: PythonObject, what: str = "recall") -> Any:
    async def run() -> Any:
        agent: Any = await made.open(Space("0" * 32, Path("/nowhere"), Models(ModelSettings(), {})))
        taken = agent.ingest(TALK)
        if taken is not None:
            await taken
        result = await (agent.recall(ASKED, 1) if what == "recall" else agent.answer(ASKED))
        if hasattr(agent, "close"):
            await agent.close()
        return result

    return asyncio.run(run())


def test_a_class_with_add_and_search_needs_nothing_more() -> None:
    made = system("Store")
    assert made.capabilities == {"recall"}
    assert [(one.id, one.text) for one in asked(made)] == [("1", "tea is {oolong}")]


@pytest.mark.parametrize("target", ["Store", "make"])
def test_names_arguments_and_paths_are_options(target: str) -> None:
    made = system(
        target,
        arguments=["{namespace}"],
        add_arguments={"text": "{text}", "who": "{role}", "when": "{timestamp}"},
        search="find",
        search_arguments={"query": "{question}", "k": "{limit}"},
        items="$.hits",
        text="$.text",
        score="$.score",
        close="end",
    )
    [found] = asked(made)
    assert found.text == f"{'0' * 32}: tea is {{oolong}} {{'who': 'user', 'when': '{NIGHT.isoformat()}'}}"
    assert found.score == 0.5


def test_a_conversation_may_be_handed_over_whole() -> None:
    made = system("Store", per="conversation", add_arguments=["{messages}"], text="$[1].content")
    assert asked(made)[0].text == "ok"
    assert asked(system("Store", per="round"))[0].text == "user: tea is {oolong}\nassistant: ok"


def test_a_function_answers_from_the_messages() -> None:
    made = system("answer")
    assert made.capabilities == {"answer"}
    assert asked(made, "answer") == (
        "which tea: [{'role': 'user', 'content': 'tea is {oolong}'}, {'role': 'assistant', 'content': 'ok'}]"
    )
    assert asked(system("later"), "answer") == "2"


def test_a_method_answers() -> None:
    made = system("Store", answer="reply", answer_text="$.said")
    assert made.capabilities == {"answer"}
    assert asked(made, "answer") == "WHICH TEA"


def test_what_does_not_fit_is_told() -> None:
    with pytest.raises(InputError, match="has neither search nor recall"):
        system("Nothing")
    with pytest.raises(InputError, match="is one object, which all cases would share"):
        system("shared")
    with pytest.raises(InputError, match="cannot load"):
        system("Missing")
    with pytest.raises(InputError, match="Write 'module:attribute'"):
        PythonObject(PythonOptions(target="my_own_store"))
    with pytest.raises(ValidationError, match="stands for nothing here"):
        system("Store", add_arguments=["{question}"])
    with pytest.raises(ValidationError, match="is no path"):
        system("Store", text="text")
    with pytest.raises(AgentFailure, match="has no method 'save'"):
        asked(system("Store", add="save"))
    with pytest.raises(AgentFailure, match="set text to where the text of each lies"):
        asked(system("Store", search="find", search_arguments=["{question}", "{limit}"], items="$.hits"))
