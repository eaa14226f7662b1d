from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.llm.dialect import Dialect, described
from harness.llm.replies import ReplyError
from harness.llm.schema import Number, ReplySchema

SCHEMA = ReplySchema("score01", (Number("score", 0, 1),))
MESSAGES = [{"role": "user", "content": "How good is it? Reply with JSON."}]


def sent(dialect: Dialect, **wanted: Any) -> dict[str, Any]:
    return dialect.body("m", MESSAGES, wanted, SCHEMA)


def no_param(name: str) -> ReplyError:
    return ReplyError("unsupported_param", "no", param=name)


NO_FORMAT = ReplyError("unsupported_format", "no", param="response_format")


def test_at_first_everything_goes_out_as_wanted() -> None:
    body = sent(Dialect(), temperature=0, max_tokens=100)
    assert body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "score01", "strict": True, "schema": SCHEMA.json_schema()},
    }
    del body["response_format"]
    assert body == {"model": "m", "messages": MESSAGES, "temperature": 0, "max_tokens": 100}


def test_without_a_schema_no_format_is_asked_for() -> None:
    assert "response_format" not in Dialect().body("m", MESSAGES, {}, None)


def test_formats_step_down_and_end_with_text() -> None:
    dialect = Dialect()
    steps = [described(sent(dialect))["response_format"]]
    while dialect.adapt(NO_FORMAT, sent(dialect)):
        steps.append(described(sent(dialect))["response_format"])
    assert steps == ["json_schema", "json_object", "text"]
    assert "response_format" not in sent(dialect)


def test_a_format_refused_as_a_parameter_steps_down_too() -> None:
    dialect = Dialect()
    assert dialect.adapt(no_param("response_format"), sent(dialect))
    assert sent(dialect)["response_format"] == {"type": "json_object"}


@pytest.mark.parametrize(
    ("first", "second"), [("max_tokens", "max_completion_tokens"), ("max_completion_tokens", "max_tokens")]
)
def test_a_refused_limit_is_renamed_and_then_left_out(first: str, second: str) -> None:
    dialect = Dialect()
    assert dialect.adapt(no_param(first), sent(dialect, **{first: 7}))
    body = sent(dialect, **{first: 7})
    assert body[second] == 7
    assert first not in body
    assert dialect.adapt(no_param(second), body)
    body = sent(dialect, **{first: 7})
    assert first not in body
    assert second not in body


def test_another_parameter_is_left_out_and_stays_out() -> None:
    dialect = Dialect()
    assert dialect.adapt(no_param("temperature"), sent(dialect, temperature=0, seed=1))
    assert "temperature" not in sent(dialect, temperature=0, seed=1)
    assert sent(dialect, temperature=1, seed=1)["seed"] == 1


def test_requests_refused_together_take_one_step() -> None:
    dialect = Dialect()
    body = sent(dialect, max_tokens=7, temperature=0)
    for _ in range(5):
        assert dialect.adapt(no_param("max_tokens"), body)
        assert dialect.adapt(no_param("temperature"), body)
        assert dialect.adapt(NO_FORMAT, body)
    later = sent(dialect, max_tokens=7, temperature=0)
    assert later["max_completion_tokens"] == 7
    assert later["response_format"] == {"type": "json_object"}


def test_a_refusal_that_comes_late_takes_no_step_back() -> None:
    dialect = Dialect()
    first = sent(dialect, max_tokens=7)
    assert dialect.adapt(no_param("max_tokens"), first)
    assert dialect.adapt(no_param("max_completion_tokens"), sent(dialect, max_tokens=7))
    assert dialect.adapt(no_param("max_tokens"), first)
    assert set(sent(dialect, max_tokens=7)) == {"model", "messages", "response_format"}


@pytest.mark.parametrize("name", ["model", "messages", "seed", None])
def test_what_was_not_sent_or_cannot_be_left_out_is_no_help(name: str | None) -> None:
    dialect = Dialect()
    error = ReplyError("unsupported_param", "no", param=name)
    assert not dialect.adapt(error, sent(dialect, temperature=0))
    assert sent(dialect, temperature=0) == sent(Dialect(), temperature=0)


def test_another_kind_of_trouble_changes_nothing() -> None:
    dialect = Dialect()
    assert not dialect.adapt(
        ReplyError("server_error", "no", param="temperature"), sent(dialect, temperature=0)
    )
    assert "temperature" in sent(dialect, temperature=0)


@given(
    st.lists(
        st.sampled_from(["response_format", "temperature", "max_tokens", "max_completion_tokens", "seed"])
    )
)
def test_refusals_end_after_few_steps_whatever_their_order(refusals: list[str]) -> None:
    wanted = {"temperature": 0, "max_tokens": 7, "seed": 1}
    dialect = Dialect()
    steps = 0
    for name in refusals:
        body = sent(dialect, **wanted)
        if name in body and dialect.adapt(no_param(name), body):
            steps += sent(dialect, **wanted) != body
    assert steps <= 6
    assert sent(dialect, **wanted)["messages"] == MESSAGES


def test_a_report_names_the_format_by_its_type() -> None:
    assert described(sent(Dialect(), temperature=0)) == {"temperature": 0, "response_format": "json_schema"}
