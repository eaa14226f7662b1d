from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from harness.errors import EndpointError, ExitCode
from harness.llm import line
from harness.llm.cassette import Cassette
from harness.llm.client import ChatModel
from harness.llm.endpoint import Endpoint
from harness.llm.exchange import ChatRequest, Unanswered
from harness.llm.line import BUSY_TRIES, FIRST_TRIES, LONGEST_PAUSE_S, TRIES
from harness.llm.schema import Number, ReplySchema
from harness.llm.transport import Transport
from tests.model_server import Server

SCHEMA = ReplySchema("score01", (Number("score", 0, 1),))
KEY = "sk-test-0123456789abcdef"
NOBODY = "http://127.0.0.1:1/v1"


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    return tmp_path / "c.sqlite"


class Told(NamedTuple):
    results: list[Any]
    model: ChatModel

    @property
    def kinds(self) -> list[str]:
        return [one.error.kind if isinstance(one, Unanswered) else type(one).__name__ for one in self.results]


def question(text: str = "How good is it?", **changes: Any) -> ChatRequest:
    messages = ({"role": "user", "content": f"{text} Reply with JSON."},)
    fields: dict[str, Any] = {"parameters": {"temperature": 0, "max_tokens": 64, "seed": 7}, **changes}
    return ChatRequest(messages, SCHEMA, **fields)


def questions(count: int) -> list[ChatRequest]:
    return [question(f"Question {number}.") for number in range(count)]


async def asked(
    base_url: str,
    requests: Sequence[ChatRequest],
    cassette: Path | None,
    *,
    in_a_row: bool = False,
    key: str | None = KEY,
    **options: Any,
) -> Told:
    endpoint = Endpoint("custom", base_url, "m", "THE_KEY" if key else None, key, "m")
    with Cassette(cassette) as store:
        async with ChatModel(endpoint, store, **options) as model:
            if in_a_row:
                results: list[Any] = []
                for one in requests:
                    results += await asyncio.gather(model.ask(one), return_exceptions=True)
            else:
                results = await asyncio.gather(*map(model.ask, requests), return_exceptions=True)
            return Told(results, model)


def ask(
    base_url: str,
    requests: Sequence[ChatRequest] = (question(),),
    cassette: Path | None = None,
    **options: Any,
) -> Told:
    return asyncio.run(asked(base_url, requests, cassette, **options))


def kept(path: Path) -> int:
    with Cassette(path, "replay") as store:
        return len(store)


# How long it waits: on a clock of the test's own, so that a minute takes no time


class Clock(asyncio.SelectorEventLoop):
    """A loop whose time the test moves on."""

    ahead = 0.0

    def time(self) -> float:
        return super().time() + self.ahead


class Event(NamedTuple):
    what: str
    at: float


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> list[Event]:
    """Note when requests go out and replies come in; pauses pass at once."""
    noted: list[Event] = []
    post, really_sleep = Transport.post, asyncio.sleep

    async def noting(self: Transport, body: Any) -> Any:
        loop = asyncio.get_running_loop()
        noted.append(Event("sent", loop.time()))
        reply = await post(self, body)
        noted.append(Event(str(reply[0]), loop.time()))
        return reply

    async def sleep(seconds: float, result: Any = None) -> Any:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, Clock)
        until = loop.time() + seconds
        await really_sleep(0)
        loop.ahead += max(0.0, until - loop.time())
        return result

    monkeypatch.setattr(Transport, "post", noting)
    monkeypatch.setattr(asyncio, "sleep", sleep)
    return noted


def ask_on_clock(base_url: str, requests: Sequence[ChatRequest] = (question(),), **options: Any) -> Told:
    with asyncio.Runner(loop_factory=Clock) as runner:
        return runner.run(asked(base_url, requests, None, timeout_s=10_000, **options))


def pauses(events: Sequence[Event]) -> list[float]:
    """Return how long it took from each reply to the next request."""
    return [
        later.at - before.at
        for before, later in pairwise(events)
        if later.what == "sent" and before.what != "sent"
    ]


# The pause that is asked for, and the pause that is made.
ASKED_FOR = {
    "seconds": ({"retry_after": 20}, 20),
    "a fraction": ({"retry_after": 20.5}, 20.5),
    "a date": ({"retry_after": "date:20"}, 20),
    "milliseconds": ({"retry_after_ms": 20_500}, 20.5),
    "milliseconds win": ({"retry_after_ms": 20_500, "retry_after": 90}, 20.5),
}


@pytest.mark.parametrize("fault", ["rate_limited", "overloaded", "html_503", "server_error"])
@pytest.mark.parametrize("form", ASKED_FOR)
def test_the_pause_that_a_server_asks_for_is_made(
    server: Server, events: list[Event], form: str, fault: str
) -> None:
    arguments, seconds = ASKED_FOR[form]
    server.set_faults([{"when": {"nth": 1}, "do": {fault: arguments}}])
    assert ask_on_clock(server.base_url).kinds == ["Answered"]
    [pause] = pauses(events)
    assert seconds - 0.01 <= pause < seconds + 5


@pytest.mark.parametrize("arguments", [{}, {"retry_after": "garbage"}, {"retry_after": -5}])
def test_without_a_clear_word_pauses_grow(
    server: Server, events: list[Event], monkeypatch: pytest.MonkeyPatch, arguments: dict[str, Any]
) -> None:
    monkeypatch.setattr(line, "_BACKOFF_S", (100.0, 700.0))
    server.set_faults([{"when": {"first": 5}, "do": {"rate_limited": arguments}}])
    assert ask_on_clock(server.base_url).kinds == ["Answered"]
    for pause, most in zip(pauses(events), [100, 200, 400, 700, 700], strict=True):
        assert most / 2 - 0.01 <= pause <= most + 5


def test_a_pause_of_nothing_is_no_clear_word_to_hurry(server: Server, events: list[Event]) -> None:
    server.set_faults([{"when": {"nth": 1}, "do": {"rate_limited": {"retry_after": 0}}}])
    assert ask_on_clock(server.base_url).kinds == ["Answered"]
    assert len(pauses(events)) == 1


def test_a_pause_holds_everybody_back(server: Server, events: list[Event]) -> None:
    server.set_faults([{"when": {"nth": 1}, "do": {"rate_limited": {"retry_after": 20}}}])
    assert ask_on_clock(server.base_url, questions(6), concurrency=1).kinds == ["Answered"] * 6
    refused = next(event.at for event in events if event.what == "429")
    later = [event.at for event in events if event.what == "sent" and event.at > refused]
    assert len(later) == 6
    assert min(later) >= refused + 19.99


@pytest.mark.parametrize("fault", ["rate_limited", "overloaded", "html_503", "server_error"])
def test_a_pause_that_is_too_long_stops_the_run(server: Server, events: list[Event], fault: str) -> None:
    server.set_faults([{"do": {fault: {"retry_after": 3600}}}])
    [error] = ask_on_clock(server.base_url).results
    assert isinstance(error, EndpointError)
    assert "asks to wait 3600 s" in str(error)
    assert str(error).endswith(" Run the same command again later.")
    assert server.stats()["chat"] == 1


def test_the_longest_pause_is_still_made(server: Server, events: list[Event]) -> None:
    server.set_faults([{"when": {"nth": 1}, "do": {"rate_limited": {"retry_after": LONGEST_PAUSE_S}}}])
    assert ask_on_clock(server.base_url).kinds == ["Answered"]


# Trouble on the way


TROUBLE: dict[str, Any] = {
    **{str(code): {"status": {"code": code}} for code in (408, 409, 429, 500, 502, 503, 504, 529)},
    "429 of openai": {"rate_limited": {"retry_after": 0.01}},
    "overloaded": "overloaded",
    "HTML": "bad_gateway",
    "dropped": "drop",
    "dropped in the middle": "drop_mid_body",
    "a body too short": "long_length",
    "a body too long": "short_length",
    "half a body": "bad_body",
    "an error with 200": "error_body",
    "a rate limit with 200": {"error_body": 429},
    "an error in the choice": "error_in_choice",
    "no choices": "no_choices",
}


@pytest.mark.parametrize("kind", TROUBLE)
def test_trouble_on_the_way_is_retried_and_never_stored(server: Server, tape: Path, kind: str) -> None:
    server.set_faults([{"when": {"first": 2}, "do": TROUBLE[kind]}])
    told = ask(server.base_url, cassette=tape)
    assert told.kinds == ["Answered"]
    assert told.results[0].served.asked == 1
    assert server.stats()["chat"] == 3
    assert kept(tape) == 1
    # The same words again: what went wrong was not the model's.
    bodies = server.requests()
    assert bodies[0] == bodies[1] == bodies[2]


@pytest.mark.parametrize("fault", ["slow_headers", "slow_body"])
def test_a_reply_that_comes_too_late_is_retried(server: Server, tape: Path, fault: str) -> None:
    server.set_faults([{"when": {"nth": 1}, "do": {fault: 30}}])
    assert ask(server.base_url, cassette=tape, timeout_s=0.15).kinds == ["Answered"]
    assert kept(tape) == 1


@pytest.mark.parametrize(
    ("fault", "kind", "tries"),
    [
        ("rate_limited", "rate_limited", BUSY_TRIES),
        ("overloaded", "overloaded", BUSY_TRIES),
        ("server_error", "server_error", TRIES),
    ],
)
def test_trouble_that_stays_gives_up_one_question_and_stores_nothing(
    server: Server, tape: Path, fault: str, kind: str, tries: int
) -> None:
    server.set_faults([{"when": {"contains": "Question 1"}, "do": fault}])
    told = ask(server.base_url, questions(3), tape)
    assert told.kinds == ["Answered", kind, "Answered"]
    assert server.stats()["faults"] == {fault: tries}
    assert kept(tape) == 2
    server.set_faults([])
    assert ask(server.base_url, questions(3), tape).kinds == ["Answered"] * 3
    assert kept(tape) == 3


def test_trouble_after_a_reply_forgets_neither_the_reply_nor_its_use(server: Server, tape: Path) -> None:
    server.set_faults([{"when": {"nth": 1}, "do": "garbage"}, {"when": {"after": 1}, "do": "server_error"}])
    told = ask(server.base_url, cassette=tape)
    assert told.kinds == ["server_error"]
    assert told.results[0].served.spent == told.model.fresh
    assert told.model.fresh.calls == 1
    assert kept(tape) == 1
    server.set_faults([])
    server.reset()
    [answer] = ask(server.base_url, cassette=tape).results
    assert (answer.served.asked, answer.served.spent.calls) == (1, 2)
    assert server.stats()["chat"] == 1


def test_the_first_requests_have_as_many_tries_against_a_server_that_answers(server: Server) -> None:
    server.set_faults([{"when": {"first": TRIES - 1}, "do": "rate_limited"}])
    assert ask(server.base_url).kinds == ["Answered"]


def test_a_bad_request_is_given_up_at_once(server: Server, tape: Path) -> None:
    server.set_faults([{"do": {"bad_request": "The messages are not to my liking."}}])
    told = ask(server.base_url, questions(2), tape)
    assert told.kinds == ["bad_request"] * 2
    assert server.stats()["chat"] == 2
    assert kept(tape) == 2


def test_a_tenth_of_replies_refused_is_no_reason_not_to_finish(server: Server, tape: Path) -> None:
    server.set_faults(
        [{"when": {"every": 10}, "do": {"rate_limited": {"retry_after": 0.01}}}, {"do": {"delay": 1}}]
    )
    told = ask(server.base_url, questions(150), tape)
    assert told.kinds == ["Answered"] * 150
    assert server.stats()["by_status"]["429"] >= 15
    assert kept(tape) == 150
    assert server.stats()["max_in_flight"] <= 16


def test_the_limit_gives_way_and_comes_back(server: Server) -> None:
    server.set_faults([{"when": {"nth": 1}, "do": "rate_limited"}])
    told = ask(server.base_url, questions(1), concurrency=8)
    assert told.model.slots.limit == 4
    server.set_faults([{"when": {"first": 1}, "do": "rate_limited"}, {"do": {"delay": 1}}])
    told = ask(server.base_url, questions(60), concurrency=8)
    assert told.model.slots.limit == 8
    assert told.model.slots.cuts == 1


def test_a_server_that_is_broken_does_not_lower_the_limit(server: Server) -> None:
    server.set_faults([{"when": {"first": 3}, "do": "server_error"}])
    assert ask(server.base_url, questions(3), concurrency=8).model.slots.limit == 8


# What stops a run


def test_an_endpoint_that_nobody_ever_reached_stops_after_few_tries(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = 0
    post = Transport.post

    async def counting(self: Transport, body: Any) -> Any:
        nonlocal tries
        tries += 1
        return await post(self, body)

    monkeypatch.setattr(Transport, "post", counting)
    [error] = ask(NOBODY).results
    assert isinstance(error, EndpointError)
    assert error.exit_code == ExitCode.ENDPOINT
    said = str(error)
    assert said.startswith(f"custom/m: cannot be reached at {NOBODY}: ")
    assert "Check --base-url" in said
    assert "\n" not in said
    assert tries == FIRST_TRIES < TRIES


def test_an_endpoint_that_never_replies_in_time_stops_too(server: Server) -> None:
    [error] = ask(server.url("slow_headers=30"), timeout_s=0.05).results
    assert isinstance(error, EndpointError)
    assert "no reply within 0.05 s" in str(error)
    assert server.stats()["chat"] == FIRST_TRIES


def test_an_endpoint_that_dies_stops_the_run_at_the_third_question(server: Server) -> None:
    server.set_faults([{"when": {"after": 2}, "do": "drop"}])
    told = ask(server.base_url, questions(6), in_a_row=True)
    assert told.kinds[:5] == ["Answered", "Answered", "connection", "connection", "EndpointError"]
    assert server.stats()["faults"]["drop"] == 4 * TRIES


def test_questions_given_up_with_an_answer_between_do_not_stop_the_run(server: Server) -> None:
    rules = [{"when": {"contains": f"Question {n}."}, "do": "drop"} for n in (1, 2, 4, 5, 7)]
    server.set_faults(rules)
    told = ask(server.base_url, questions(9), in_a_row=True)
    assert [n for n, kind in enumerate(told.kinds) if kind == "connection"] == [1, 2, 4, 5, 7]
    assert told.kinds.count("Answered") == 4


STOPPING: dict[str, Any] = {
    "401": "unauthorized",
    "402": "payment_required",
    "403": "forbidden",
    "quota": "insufficient_quota",
    "quota with 200": {"error_body": 402},
    "no key with 200": {"error_body": 401},
    "no such model": "model_not_found",
    "no such address": "bad_route",
}


@pytest.mark.parametrize("kind", STOPPING)
def test_what_no_retry_can_mend_stops_the_run_at_once(server: Server, tape: Path, kind: str) -> None:
    server.set_faults([{"do": STOPPING[kind]}])
    [error] = ask(server.base_url, cassette=tape).results
    assert isinstance(error, EndpointError)
    assert error.exit_code == ExitCode.ENDPOINT
    assert str(error).startswith("custom/m: ")
    assert "\n" not in str(error)
    assert server.stats()["chat"] == 1
    assert kept(tape) == 0


def test_replies_that_came_before_are_kept(server: Server, tape: Path) -> None:
    server.set_faults([{"when": {"after": 2}, "do": "insufficient_quota"}])
    told = ask(server.base_url, questions(4), tape, in_a_row=True)
    assert told.kinds == ["Answered", "Answered", "EndpointError", "EndpointError"]
    assert kept(tape) == 2


@pytest.mark.parametrize("code", [401, 403])
def test_a_refused_key_is_named_by_its_variable(server: Server, code: int) -> None:
    server.set_faults([{"do": {"status": {"code": code}}}])
    assert "the key in THE_KEY" in str(ask(server.base_url).results[0])
    assert "No key was sent" in str(ask(server.base_url, key=None).results[0])


LEAKS: dict[str, Any] = {
    **{
        str(code): {"status": {"code": code, "message": f"Wrong: Bearer {KEY}"}}
        for code in (400, 401, 403, 500)
    },
    "a reply": {"text": f"The key is {KEY}."},
    "a good reply": {"text": json.dumps({"score": 1, "note": KEY})},
    "a body cut": [{"text": f"{KEY} " * 9}, "short_length"],
    "an unknown parameter": {"unsupported_param": {"param": "seed", "x": KEY}},
    "dropped": "drop",
}


@pytest.mark.parametrize("kind", LEAKS)
def test_no_error_log_or_cassette_holds_the_key(
    server: Server, tape: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str], kind: str
) -> None:
    caplog.set_level(logging.DEBUG)
    server.set_faults([{"do": LEAKS[kind]}])

    async def run() -> tuple[Any, bytes]:
        endpoint = Endpoint("custom", server.base_url, "m", "THE_KEY", KEY, "m")
        with Cassette(tape) as store:
            async with ChatModel(endpoint, store) as model:
                [result] = await asyncio.gather(model.ask(question()), return_exceptions=True)
            # The log beside the file is there only while it is open.
            return result, b"".join(path.read_bytes() for path in tape.parent.iterdir())

    result, disk = asyncio.run(run())
    chain, said = result, [repr(result), str(result), str(getattr(result, "served", ""))]
    while isinstance(chain, BaseException):
        said += [repr(chain), str(chain), repr(chain.args)]
        chain = chain.__cause__ or (None if chain.__suppress_context__ else chain.__context__)
    assert KEY not in "\n".join(said)
    assert KEY.encode() not in disk
    assert KEY not in caplog.text
    out, err = capfd.readouterr()
    assert KEY not in out + err
    assert server.calls()[0]["headers"]["authorization"] == f"Bearer {KEY}"  # it was there to be leaked


# Forms that an endpoint does not take


def said_by(sent: str) -> dict[str, Any]:
    shown: dict[str, Any] = json.loads(sent)
    return shown


GOOD = {"text": '{"score": 1}'}
FORMS: dict[str, tuple[Any, int, dict[str, Any]]] = {
    "no schema": (["unsupported_json_schema", GOOD], 1, {"response_format": "json_object"}),
    "no format": (
        ["unsupported_json_schema", "unsupported_json_object", GOOD],
        2,
        {"response_format": "text"},
    ),
    "no temperature": ("unsupported_temperature", 1, {"max_tokens": 64, "seed": 7}),
    "no max_tokens": ("unsupported_max_tokens", 1, {"max_completion_tokens": 64, "temperature": 0}),
    "no limit": (
        ["unsupported_max_tokens", {"unsupported_param": "max_completion_tokens"}],
        2,
        {"temperature": 0, "seed": 7},
    ),
    "no seed": ("unsupported_seed", 1, {"temperature": 0}),
    "nothing at all": (
        [
            "unsupported_json_schema",
            "unsupported_json_object",
            "unsupported_temperature",
            "unsupported_max_tokens",
            "unsupported_seed",
            GOOD,
        ],
        5,
        {"response_format": "text", "max_completion_tokens": 64},
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_what_an_endpoint_refuses_is_learned_once(server: Server, tape: Path, form: str) -> None:
    faults, refusals, accepted = FORMS[form]
    server.set_faults([{"do": faults}])
    told = ask(server.base_url, questions(12), tape, in_a_row=True)
    assert told.kinds == ["Answered"] * 12
    stats = server.stats()
    assert stats["by_status"] == {"200": 12, "400": refusals}
    for answer in told.results:
        assert said_by(answer.served.sent).items() >= accepted.items()
        assert answer.served.asked == 1
    assert kept(tape) == 12


def test_requests_sent_together_learn_together(server: Server) -> None:
    server.set_faults([{"do": ["unsupported_json_schema", "unsupported_max_tokens", GOOD, {"delay": 5}]}])
    told = ask(server.base_url, questions(80), concurrency=8)
    assert told.kinds == ["Answered"] * 80
    # What was in flight when a form was refused is refused with it, and nothing later.
    assert server.stats()["by_status"]["400"] <= 2 * 8


def test_a_cassette_keeps_what_was_meant_and_what_was_accepted(server: Server, tape: Path) -> None:
    ask(server.base_url, cassette=tape)
    server.set_faults([{"do": ["unsupported_json_schema", "unsupported_temperature", GOOD]}])
    told = ask(server.base_url, cassette=tape)
    assert told.results[0].served.asked == 0  # the same request, whatever the endpoint takes by now
    [other] = ask(server.base_url, [question("Another.")], tape).results
    assert said_by(other.served.sent) == {"max_tokens": 64, "seed": 7, "response_format": "json_object"}
    with Cassette(tape, "replay") as store:
        lines = [json.loads(line) for line in store.lines()]
    assert all([line["request"]["parameters"]["temperature"] == 0 for line in lines])


def test_an_endpoint_that_takes_no_form_gives_a_question_up(server: Server, tape: Path) -> None:
    server.set_faults([{"do": {"unsupported_param": "messages"}}])
    told = ask(server.base_url, cassette=tape)
    assert told.kinds == ["bad_request"]
    assert server.stats()["chat"] == 1
    assert kept(tape) == 1
