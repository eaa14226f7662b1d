"""A judge at the loopback server, and cases in memory, for the tests of judging."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.facts.model import FactType, GoldFact
from harness.scoring.judge import LLMJudge
from harness.suite import Case
from harness.suite.models import Criterion, GoldFacts
from tests.model_server import Server, start

FEE = GoldFact("$45", FactType.MONEY, id="fee")
DUE = GoldFact("March 24, 2025", FactType.DATE, accept=("March 24",), id="due")
OLD = GoldFact("$30", FactType.MONEY, id="old_fee", why="last year's", replaces="fee")
RIGHT = "The fee is $45 and it is due on March 24, 2025."
CRITERIA = (
    Criterion("fee", "States the fee of $45.", ("fee",), "accuracy", 2.0),
    Criterion("due", "States that it is due on March 24, 2025.", ("due",), "completeness", 3.0),
)
MakeCase = Callable[..., Case]
MakeJudge = Callable[..., LLMJudge]
Rules = Callable[[list[dict[str, Any]]], None]


def build(**changes: Any) -> Case:
    """Return a case that asks for a fee of $45 and the day it is due."""
    fields: dict[str, Any] = {
        "id": "layer1_01_fee",
        "category": "layer1",
        "title": "Fee",
        "description": "A small case.",
        "domain": "banking",
        "abilities": (),
        "locale": "en-US",
        "cluster": None,
        "entities": (),
        "question_time": None,
        "question": "What is the fee, and when is it due?",
        "criteria": CRITERIA,
        "expected_behavior": RIGHT,
        "gold": GoldFacts((FEE, DUE), (), (OLD,)),
        "answerable": True,
        "path": Path("layer1/01_fee.yaml"),
    }
    return Case(**{**fields, **changes})


@pytest.fixture(scope="session")
def make_case() -> MakeCase:
    """Build a case, fields changed as given."""
    return build


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """Return a server without rules; its personas have the faults."""
    with start() as running:
        yield running


@pytest.fixture
def make_judge(server: Server, monkeypatch: pytest.MonkeyPatch) -> MakeJudge:
    """Make a judge of the loopback server, its faults named by a persona."""
    monkeypatch.setattr("harness.llm.line._BACKOFF_S", (0.01, 0.05))

    def make(persona: str = "", **options: Any) -> LLMJudge:
        options = {"model": "judge-1", "cassette": None, "variables": {}, **options}
        if "judges" not in options:
            options["base_url"] = server.url(persona)
        else:
            del options["model"]
        return LLMJudge(**options)

    return make


@pytest.fixture
def judge_at(server: Server) -> Callable[[str, str], str]:
    """Return how `judges` names a model of the loopback server with a persona's faults."""
    return lambda model, persona="": f"{model}@{server.url(persona)}"


@pytest.fixture
def rules(server: Server) -> Iterator[Rules]:
    """Put fault rules in place for one test, everything counted anew."""

    def put(given: list[dict[str, Any]]) -> None:
        server.set_faults(given)
        server.reset()

    yield put
    server.set_faults([])
    server.reset()


@pytest.fixture
def asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every question up after one unusable reply."""
    monkeypatch.setattr("harness.llm.client.ATTEMPTS", 1)
