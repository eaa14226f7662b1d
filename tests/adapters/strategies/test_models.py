from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from harness.adapters import AgentFailure
from harness.errors import EndpointError
from harness.llm import line
from harness.llm.exchange import BudgetSpent, Unrecorded
from harness.llm.usage import Budget
from tests.adapters.strategies.agents import DONE, FIRST, SECOND, remember, texts, with_agents
from tests.adapters.strategies.scripted import serving

ONE = {"operations": [{"op": "add", "text": "The account is open.", "messages": "2"}]}
NOBODY = "http://127.0.0.1:9/v1"


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line, "_BACKOFF_S", (0.001, 0.002))


def test_two_agents_side_by_side_share_nothing() -> None:
    async def work(one, other):  # type: ignore[no-untyped-def]
        await one.ingest(FIRST)
        await other.ingest(SECOND)
        return one, other

    with serving(ONE, DONE, DONE) as model:
        one, other = with_agents("simple_notes", model.base_url, work, agents=2)
    assert texts(one) == {"n1": "The account is open."}
    assert texts(other) == {}
    assert "The account is open." not in model.text(2)
    assert (one.spent.calls, other.spent.calls) == (2, 1)


def test_tokens_are_summed_up() -> None:
    with serving(ONE, "garbage", DONE) as model:
        agent = remember("simple_notes", model.base_url)
    assert (agent.spent.calls, agent.spent.prompt_tokens, agent.spent.completion_tokens) == (3, 300, 30)


def test_a_recorded_run_is_replayed_without_a_server(tmp_path: Path) -> None:
    tape = tmp_path / "tape.sqlite"
    with serving(ONE, DONE, DONE) as model:
        asked = remember("simple_notes", model.base_url, [FIRST, SECOND], cassette=tape)
    again = remember("simple_notes", NOBODY, [FIRST, SECOND], cassette=tape, mode="replay")
    assert again.list() == asked.list() != []
    assert again.log == asked.log
    assert again.spent == asked.spent


def test_each_repeat_is_asked_anew(tmp_path: Path) -> None:
    tape = tmp_path / "tape.sqlite"
    with serving(DONE, ONE, DONE) as model:
        assert remember("simple_notes", model.base_url, cassette=tape).list() == []
        assert len(remember("simple_notes", model.base_url, cassette=tape, repeat=1).list()) == 1


def test_what_is_not_recorded_stops_the_run(tmp_path: Path) -> None:
    tape = tmp_path / "tape.sqlite"
    with serving(DONE) as model:
        remember("simple_notes", model.base_url, cassette=tape)
    with pytest.raises(Unrecorded, match="simple_notes: conv_002, step 1"):
        remember("simple_notes", NOBODY, [SECOND], cassette=tape, mode="replay")


def test_a_model_that_gives_no_usable_reply_is_a_failure_of_the_system() -> None:
    with serving("no", "no", "no") as model, pytest.raises(AgentFailure) as failed:
        remember("simple_notes", model.base_url)
    assert failed.value.kind == "raised"
    assert "simple_notes: conv_001, step 1: no usable reply: no_json" in failed.value.message


def test_a_failure_later_on_is_one_too_and_names_its_step() -> None:
    with serving(ONE, 400) as model, pytest.raises(AgentFailure, match=r"step 2: .*bad_request"):
        remember("simple_notes", model.base_url)


@pytest.mark.parametrize("status", [401, 402])
def test_a_refused_key_or_a_spent_quota_stops_the_run(status: int) -> None:
    with serving(status) as model, pytest.raises(EndpointError):
        remember("simple_notes", model.base_url)


def test_nobody_there_stops_the_run() -> None:
    with pytest.raises(EndpointError, match="cannot be reached"):
        remember("simple_notes", NOBODY)


def test_a_spent_budget_stops_the_run() -> None:
    async def work(agent):  # type: ignore[no-untyped-def]
        agent._chat._budget = Budget(0.0)
        await agent.ingest(FIRST)

    with serving() as model, pytest.raises(BudgetSpent):
        with_agents("simple_notes", model.base_url, work)
    assert model.requests == []


def test_a_writer_of_its_own_may_be_named() -> None:
    with serving(DONE) as model:
        remember(f"simple_notes(model='writer-7@{model.base_url}')", NOBODY)
    assert model.requests[0]["model"] == "writer-7"
    assert model.requests[0]["temperature"] == 0.0


def test_agents_may_work_at_the_same_time() -> None:
    async def work(*agents):  # type: ignore[no-untyped-def]
        await asyncio.gather(*(agent.ingest(FIRST) for agent in agents))
        return agents

    with serving(*[{**ONE, "done": True}] * 4) as model:
        agents = with_agents("simple_notes", model.base_url, work, agents=4)
    assert [texts(agent) for agent in agents] == [{"n1": "The account is open."}] * 4
