from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import EndpointError, InputError
from harness.llm.cassette import Cassette
from harness.llm.client import ChatModel
from harness.llm.endpoint import Endpoint
from harness.llm.exchange import Answered, BudgetSpent, ChatRequest, Unanswered
from harness.llm.replies import ReplyError
from harness.llm.schema import Number, ReplySchema, Text
from harness.llm.usage import Budget, Price
from tests.model_server import Server

SCHEMA = ReplySchema("score01", (Number("score", 0, 1),))
GOOD = '{"score": 1}'


class Told(NamedTuple):
    """What came of some questions, in their order, and the model that was asked."""

    results: list[Any]
    model: ChatModel

    @property
    def kinds(self) -> list[str]:
        return [one.error.kind if isinstance(one, Unanswered) else type(one).__name__ for one in self.results]


def question(text: str = "How good is it?", **changes: Any) -> ChatRequest:
    messages = ({"role": "user", "content": f"{text} Reply with JSON."},)
    fields: dict[str, Any] = {"parameters": {"temperature": 0, "max_tokens": 64}, **changes}
    return ChatRequest(messages, SCHEMA, **fields)


def ask(
    base_url: str,
    cassette: Path | None = None,
    requests: Sequence[ChatRequest] = (question(),),
    read: Callable[[Mapping[str, Any]], Any] | None = None,
    *,
    mode: Any = "auto",
    model: str = "m",
    one_by_one: bool = False,
    **options: Any,
) -> Told:
    """Ask everything at once, or one after the other, with a model of its own."""

    async def run() -> Told:
        endpoint = Endpoint("custom", base_url, model, "THE_KEY", "sk-test-key", model)
        with Cassette(cassette, mode) as store:
            async with ChatModel(endpoint, store, **options) as asked:
                if one_by_one:
                    results: list[Any] = []
                    for request in requests:
                        results += await asyncio.gather(asked.ask(request, read), return_exceptions=True)
                else:
                    results = await asyncio.gather(
                        *(asked.ask(request, read) for request in requests), return_exceptions=True
                    )
                return Told(results, asked)

    return asyncio.run(run())


def stored(path: Path) -> list[dict[str, Any]]:
    with Cassette(path, "replay") as store:
        lines = [json.loads(line) for line in store.lines()]
    return sorted(lines, key=lambda line: int(line["request"]["attempt"]))


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    return tmp_path / "c.sqlite"


# A reply, and where it comes from


def test_a_reply_is_read_and_says_how_it_came(server: Server, tape: Path) -> None:
    [answer] = ask(server.base_url, tape).results
    assert answer.value == {"score": 0}
    assert answer.served.provider == "custom"
    assert answer.served.model == "m"
    assert answer.served.asked == 1
    assert json.loads(answer.served.sent) == {
        "max_tokens": 64,
        "response_format": "json_schema",
        "temperature": 0,
    }
    assert answer.served.spent.calls == answer.served.spent.counted == 1
    assert answer.served.spent.prompt_tokens > 0


def test_the_reader_makes_the_value(server: Server) -> None:
    [answer] = ask(server.base_url, read=lambda value: ["read", value["score"]]).results
    assert answer.value == ["read", 0]


def test_what_is_stored_is_not_asked_again(server: Server, tape: Path) -> None:
    [first] = ask(server.base_url, tape).results
    [again] = ask(server.base_url, tape).results
    assert again.value == first.value
    assert again.served == first.served._replace(asked=0)
    assert server.stats()["chat"] == 1


def test_off_asks_every_time(server: Server, tape: Path) -> None:
    for _ in range(2):
        ask(server.base_url, tape, mode="off")
    assert server.stats()["chat"] == 2
    assert not tape.exists()


def test_a_reply_is_found_whatever_the_address(server: Server, tape: Path) -> None:
    ask(server.base_url, tape)
    [answer] = ask("http://127.0.0.1:1/v1", tape).results
    assert answer.served.asked == 0
    text = b"".join(path.read_bytes() for path in tape.parent.iterdir())
    assert b"127.0.0.1" not in text
    assert str(server.port).encode() not in text


CHANGES = {
    "messages": (question("Another question."), {}),
    "a message more": (
        question()._replace(messages=(*question().messages, {"role": "user", "content": "JSON!"})),
        {},
    ),
    "schema": (question()._replace(schema=ReplySchema("score01", (Number("score", 0, 5),))), {}),
    "parameters": (question(parameters={"temperature": 0.5, "max_tokens": 64}), {}),
    "repeat": (question(repeat=1), {}),
    "model": (question(), {"model": "other"}),
}


@pytest.mark.parametrize("what", CHANGES)
def test_another_request_is_another_reply(server: Server, tape: Path, what: str) -> None:
    ask(server.base_url, tape)
    request, options = CHANGES[what]
    [answer] = ask(server.base_url, tape, [request], **options).results
    assert answer.served.asked == 1
    assert len(stored(tape)) == 2


def test_the_same_request_in_another_order_or_with_another_label_is_the_same(
    server: Server, tape: Path
) -> None:
    ask(server.base_url, tape)
    turned = question(parameters={"max_tokens": 64, "temperature": 0}, label="layer1_01")
    turned = turned._replace(messages=tuple(dict(reversed(m.items())) for m in turned.messages))
    [answer] = ask(server.base_url, tape, [turned]).results
    assert answer.served.asked == 0


# Replay


def test_replay_asks_nobody_and_changes_nothing(server: Server, tape: Path) -> None:
    [first] = ask(server.base_url, tape).results
    before = tape.read_bytes()
    [again] = ask("http://127.0.0.1:1/v1", tape, mode="replay").results
    assert again == first._replace(served=first.served._replace(asked=0))
    assert tape.read_bytes() == before
    assert [path.name for path in tape.parent.iterdir()] == [tape.name]


def test_replay_without_an_entry_names_the_case(server: Server, tape: Path) -> None:
    ask(server.base_url, tape)
    missing = question("Something else.", label="layer1_07_dentist", repeat=1)
    [error] = ask(server.base_url, tape, [missing], mode="replay").results
    assert isinstance(error, EndpointError)
    assert str(error).startswith(f"layer1_07_dentist: the cassette {tape} holds no reply of m for this")
    assert "attempt 1, repeat 2" in str(error)
    assert server.stats()["chat"] == 1


def test_an_exported_run_replays_alike(server: Server, tape: Path) -> None:
    server.set_faults([{"when": {"share": 0.5}, "do": "garbage"}])
    requests = [question(f"Question {number}.") for number in range(12)]
    first = ask(server.base_url, tape, requests)
    assert {"Answered", "no_json"} == set(first.kinds)
    export = tape.with_suffix(".jsonl")
    with Cassette(tape, "replay") as store:
        export.write_text("\n".join(store.lines()), encoding="utf-8")
    again = ask("http://127.0.0.1:1/v1", export, requests, mode="replay")
    assert again.kinds == first.kinds
    for one, other in zip(first.results, again.results, strict=True):
        assert str(one) == str(other) if isinstance(one, Unanswered) else one.value == other.value
        assert one.served._replace(asked=0) == other.served


# Replies that cannot be used


def test_a_malformed_reply_is_stored_and_the_next_attempt_says_what_was_wrong(
    server: Server, tape: Path
) -> None:
    server.set_faults([{"when": {"nth": 1}, "do": "garbage_json"}])
    [answer] = ask(server.base_url, tape).results
    assert isinstance(answer, Answered)
    first, second = server.requests()
    assert second["messages"][: len(first["messages"])] == first["messages"]
    said, correction = second["messages"][len(first["messages"]) :]
    assert said == {"role": "assistant", "content": '{"grade": "B", "note": "fine"}'}
    assert correction["role"] == "user"
    assert "score" in correction["content"]
    lines = stored(tape)
    assert [line["request"]["attempt"] for line in lines] == [0, 1]
    assert lines[0]["request"]["messages"] == lines[1]["request"]["messages"] == first["messages"]
    assert "grade" in lines[0]["body"]


def test_an_empty_reply_is_corrected_without_a_turn_of_nothing(server: Server) -> None:
    server.set_faults([{"when": {"nth": 1}, "do": "null_content"}])
    [answer] = ask(server.base_url).results
    assert isinstance(answer, Answered)
    roles = [message["role"] for message in server.requests()[1]["messages"]]
    assert roles == ["user", "user"]


def test_use_is_that_of_all_attempts(server: Server) -> None:
    server.set_faults([{"when": {"nth": 1}, "do": "garbage"}])
    told = ask(server.base_url)
    spent = told.results[0].served.spent
    assert spent.calls == 2
    assert spent == told.model.fresh


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("garbage", "no_json"),
        ("garbage_json", "missing_score"),
        ("null_content", "empty"),
        ("truncated", "truncated"),
        ("think_open", "empty"),
        ({"text": '{"score": 9}'}, "out_of_range"),
        ("json_validate_failed", "bad_json"),
    ],
)
def test_a_question_is_given_up_after_three_replies_and_replays_alike(
    server: Server, tape: Path, fault: Any, kind: str
) -> None:
    server.set_faults([{"do": fault}])
    first = ask(server.base_url, tape)
    assert server.stats()["chat"] == 3
    assert [line["request"]["attempt"] for line in stored(tape)] == [0, 1, 2]
    again = ask("http://127.0.0.1:1/v1", tape, mode="replay")
    assert str(again.results[0].error) == str(first.results[0].error)
    assert again.results[0].served == first.results[0].served._replace(asked=0)
    assert first.kinds == [kind]


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("refusal", "refusal"),
        ("content_filter", "content_filter"),
        ("azure_content_filter", "content_filter"),
        ("context_length", "context_length"),
    ],
)
def test_what_is_final_is_stored_and_asked_once(server: Server, tape: Path, fault: str, kind: str) -> None:
    server.set_faults([{"do": fault}])
    assert ask(server.base_url, tape).kinds == [kind]
    assert ask(server.base_url, tape).kinds == [kind]
    assert ask(server.base_url, tape, mode="replay").kinds == [kind]
    assert server.stats()["chat"] == 1
    assert len(stored(tape)) == 1


def test_a_reader_may_find_a_reply_wanting(server: Server, tape: Path) -> None:
    def read(value: Mapping[str, Any]) -> Any:
        raise ReplyError("bad_quote", "The quote is not in the answer.")

    assert ask(server.base_url, tape, read=read).kinds == ["bad_quote"]
    assert "The quote is not in the answer." in server.requests()[1]["messages"][-1]["content"]
    assert len(stored(tape)) == 3


def test_a_reply_that_the_limit_cut_gets_a_larger_limit(server: Server, tape: Path) -> None:
    server.set_faults([{"do": {"truncated": {"below": 200}}}])
    [answer] = ask(server.base_url, tape).results
    assert answer.value == {"score": 0}
    assert [body["max_tokens"] for body in server.requests()] == [64, 128, 256]
    lines = stored(tape)
    assert [line["request"]["attempt"] for line in lines] == [0, 1, 2]
    assert {line["request"]["parameters"]["max_tokens"] for line in lines} == {64}
    assert [json.loads(line["body"])["choices"][0]["finish_reason"] for line in lines[:2]] == ["length"] * 2


def test_a_cut_reply_never_scores_even_where_it_could_be_read(server: Server) -> None:
    schema = ReplySchema("one", (Number("score", 0, 1), Text("reason")))
    server.set_faults([{"do": [{"text": '{"score": 1, "reason": "' + "very " * 400 + '"}'}]}])
    request = question(parameters={"max_tokens": 8})._replace(schema=schema)
    assert ask(server.base_url, requests=[request]).kinds == ["truncated"]
    assert [body["max_tokens"] for body in server.requests()] == [8, 16, 32]


def test_a_limit_under_its_other_name_grows_too(server: Server) -> None:
    server.set_faults([{"do": ["unsupported_max_tokens", {"truncated": {"below": 200}}]}])
    [answer] = ask(server.base_url).results
    assert isinstance(answer, Answered)
    assert [b["max_completion_tokens"] for b in server.requests() if "max_completion_tokens" in b] == [
        64,
        128,
        256,
    ]


@pytest.mark.parametrize("text", ["half a pair \ud83d", "\udc00"])
def test_a_lone_surrogate_survives_question_reply_and_correction(
    server: Server, tape: Path, text: str
) -> None:
    server.set_faults([{"when": {"nth": 1}, "do": {"text": f"{text}, I would say."}}])
    request = question(text)
    first = ask(server.base_url, tape, [request])
    assert first.kinds == ["Answered"]
    assert server.stats()["chat"] == 2
    assert ask("http://127.0.0.1:1/v1", tape, [request], mode="replay").kinds == ["Answered"]
    assert stored(tape)[0]["request"]["messages"][0]["content"].startswith(text)


# --retry-errors


@pytest.mark.parametrize("fault", ["garbage", "refusal", "content_filter"])
def test_retry_errors_asks_again_and_keeps_the_new_reply(server: Server, tape: Path, fault: str) -> None:
    server.set_faults([{"do": fault}])
    ask(server.base_url, tape)
    server.set_faults([])
    asked = server.stats()["chat"]
    assert ask(server.base_url, tape).kinds != ["Answered"]
    assert server.stats()["chat"] == asked
    told = ask(server.base_url, tape, retry_errors=True)
    assert told.kinds == ["Answered"]
    assert told.results[0].served.asked == 1
    assert ask(server.base_url, tape, mode="replay").kinds == ["Answered"]
    assert server.stats()["chat"] == asked + 1


def test_retry_errors_leaves_good_replies_alone(server: Server, tape: Path) -> None:
    ask(server.base_url, tape)
    assert ask(server.base_url, tape, retry_errors=True).results[0].served.asked == 0
    assert server.stats()["chat"] == 1


def test_retry_errors_asks_each_question_once_more_and_not_for_ever(server: Server, tape: Path) -> None:
    server.set_faults([{"do": "refusal"}])
    # Nothing is stored yet: what comes now is not asked twice.
    assert ask(server.base_url, tape, retry_errors=True).kinds == ["refusal"]
    assert server.stats()["chat"] == 1
    assert ask(server.base_url, tape, retry_errors=True).kinds == ["refusal"]
    assert server.stats()["chat"] == 2


def test_retry_errors_cannot_ask_in_replay(server: Server, tape: Path) -> None:
    server.set_faults([{"do": "refusal"}])
    ask(server.base_url, tape)
    assert ask(server.base_url, tape, mode="replay", retry_errors=True).kinds == ["refusal"]
    assert server.stats()["chat"] == 1


# What it costs


def test_a_providers_cost_is_summed_up(server: Server, tape: Path) -> None:
    server.set_faults([{"do": {"usage_cost": 0.25}}])
    told = ask(server.base_url, tape, [question(f"Question {n}.") for n in range(3)])
    assert told.model.fresh.cost == pytest.approx(0.75)
    again = ask(server.base_url, tape, [question("Question 0.")])
    assert again.model.fresh.cost is None  # nothing was asked now
    assert again.results[0].served.spent.cost == 0.25


def test_without_a_price_the_cost_is_unknown(server: Server) -> None:
    told = ask(server.base_url)
    assert told.model.fresh.cost is None
    assert told.results[0].served.spent.cost is None


def test_a_price_file_prices_the_tokens(server: Server) -> None:
    told = ask(server.base_url, prices={"m": Price(1_000_000, 0)})
    assert told.model.fresh.cost == told.model.fresh.prompt_tokens > 0


@pytest.mark.parametrize("concurrency", [1, 4])
def test_max_cost_stops_with_no_more_than_what_is_in_flight_beyond(server: Server, concurrency: int) -> None:
    server.set_faults([{"do": [{"usage_cost": 0.25}, {"delay": 5}]}])
    requests = [question(f"Question {n}.") for n in range(40)]
    told = ask(server.base_url, requests=requests, max_cost=1.0, concurrency=concurrency)
    assert set(told.kinds) == {"Answered", "BudgetSpent"}
    asked = server.stats()["chat"]
    assert 4 <= asked <= 4 + concurrency - 1
    assert told.kinds.count("Answered") == asked
    assert told.model.fresh.cost == pytest.approx(asked * 0.25)
    said = str(next(one for one in told.results if isinstance(one, BudgetSpent)))
    assert "of --max-cost 1" in said


def test_two_models_may_share_a_budget(server: Server) -> None:
    server.set_faults([{"do": {"usage_cost": 0.25}}])
    budget = Budget(0.75)
    requests = [question(f"Question {n}.") for n in range(2)]
    told = [
        ask(server.base_url, requests=requests, model=model, max_cost=budget, concurrency=1)
        for model in ("one", "other")
    ]
    assert [one.kinds for one in told] == [["Answered", "Answered"], ["Answered", "BudgetSpent"]]
    assert [one.model.fresh.cost for one in told] == [0.5, 0.25]


def test_max_cost_counts_what_the_price_file_says(server: Server) -> None:
    requests = [question(f"Question {n}.") for n in range(10)]
    told = ask(
        server.base_url,
        requests=requests,
        prices={"m": Price(0.0, 1_000_000.0)},
        max_cost=0.5,
        concurrency=1,
    )
    assert told.kinds == ["Answered"] + ["BudgetSpent"] * 9


def test_stored_replies_cost_nothing_now(server: Server, tape: Path) -> None:
    server.set_faults([{"do": {"usage_cost": 0.25}}])
    requests = [question(f"Question {n}.") for n in range(4)]
    ask(server.base_url, tape, requests)
    told = ask(server.base_url, tape, requests, max_cost=0.1)
    assert told.kinds == ["Answered"] * 4


def test_a_budget_of_nothing_asks_nobody(server: Server) -> None:
    assert ask(server.base_url, max_cost=0.0).kinds == ["BudgetSpent"]
    assert server.stats()["chat"] == 0


def test_a_budget_without_any_price_is_a_clear_error(server: Server) -> None:
    requests = [question(f"Question {n}.") for n in range(5)]
    told = ask(server.base_url, requests=requests, max_cost=1.0, concurrency=1)
    assert told.kinds == ["Answered"] + ["InputError"] * 4
    said = str(told.results[1])
    assert "custom/m names no cost" in said
    assert "--prices" in said
    assert server.stats()["chat"] == 1


# How many at once


@pytest.mark.parametrize("concurrency", [1, 7])
def test_never_more_in_flight_than_allowed_and_one_pool(server: Server, concurrency: int) -> None:
    server.set_faults([{"do": {"delay": 10}}])
    requests = [question(f"Question {n}.") for n in range(40)]
    before = server.stats()["connections"]
    told = ask(server.base_url, requests=requests, concurrency=concurrency)
    assert told.kinds == ["Answered"] * 40
    stats = server.stats()
    assert stats["max_in_flight"] == concurrency
    assert stats["connections"] - 1 - before <= concurrency  # one is the test's own, for the counts


def test_attempts_and_forms_stay_within_the_limit_too(server: Server) -> None:
    server.set_faults(
        [
            {"when": {"share": 0.3}, "do": "garbage", "once": True},
            {"when": {"share": 0.3, "seed": 1}, "do": {"rate_limited": 0.01}, "once": True},
            {"when": {"share": 0.2, "seed": 2}, "do": "server_error", "once": True},
            {"do": ["unsupported_temperature", {"delay": 2}]},
        ]
    )
    requests = [question(f"Question {n}.") for n in range(60)]
    told = ask(server.base_url, requests=requests, concurrency=5)
    assert told.kinds.count("Answered") >= 55
    assert server.stats()["max_in_flight"] <= 5


def test_nothing_is_loaded_or_connected_before_it_is_needed(server: Server, tape: Path) -> None:
    ask(server.base_url, tape)
    before = server.stats()["connections"]
    ask(server.base_url, tape)
    assert server.stats()["connections"] == before + 1  # that of the counts


def test_two_runs_at_once_go_on_with_the_same_reply(server: Server, tape: Path) -> None:
    async def run() -> list[Answered]:
        endpoint = Endpoint("custom", server.url("delay=30"), "m", None, None, "m")
        with Cassette(tape) as one, Cassette(tape) as other:
            async with ChatModel(endpoint, one) as first, ChatModel(endpoint, other) as second:
                return list(await asyncio.gather(first.ask(question()), second.ask(question())))

    one, other = asyncio.run(run())
    assert server.stats()["chat"] == 2
    assert one.value == other.value
    assert len(stored(tape)) == 1


def test_a_store_that_fails_is_an_error_of_one_line(server: Server, tape: Path) -> None:
    async def run() -> Any:
        endpoint = Endpoint("custom", server.base_url, "m", None, None, "m")
        with Cassette(tape) as store:
            async with ChatModel(endpoint, store) as asked:
                await asked.ask(question())
                import sqlite3

                base = sqlite3.connect(tape)
                base.execute("DROP TABLE replies")
                base.close()
                with pytest.raises(InputError) as caught:
                    await asked.ask(question("Something else."))
                return caught.value

    said = str(asyncio.run(run()))
    assert said.startswith(f"{tape}: the cassette cannot be read: ")
    assert "\n" not in said


@settings(max_examples=15, deadline=None)
@given(st.lists(st.sampled_from([GOOD, "no JSON", '{"score": 7}', '{"grade": "B"}']), min_size=1, max_size=3))
def test_a_replay_takes_the_way_of_the_run(
    running: Server, tmp_path_factory: Any, replies: list[str]
) -> None:
    tape = tmp_path_factory.mktemp("tape") / "c.sqlite"
    running.set_faults([{"when": {"nth": n + 1}, "do": {"text": text}} for n, text in enumerate(replies)])
    first = ask(running.base_url, tape)
    again = ask("http://127.0.0.1:1/v1", tape, mode="replay")
    assert again.kinds == first.kinds
    assert again.results[0].served == first.results[0].served._replace(asked=0)
