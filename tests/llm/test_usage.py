from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InputError
from harness.llm.usage import Budget, Price, Spent, load_prices, spent

PRICES = {"m": Price(2.0, 8.0)}


def test_the_providers_cost_wins_over_a_price() -> None:
    assert spent(1000, 500, 0.25, "m", PRICES).cost == 0.25


def test_a_cost_of_nothing_is_known() -> None:
    used = spent(1000, 500, 0.0, "m", PRICES)
    assert (used.cost, used.priced) == (0.0, 1)


def test_a_price_is_for_a_million_tokens() -> None:
    assert spent(1000, 500, None, "m", PRICES).cost == pytest.approx(0.002 + 0.004)


@pytest.mark.parametrize(
    ("prompt", "completion", "model"),
    [(1000, 500, "other"), (None, 500, "m"), (1000, None, "m"), (None, None, "m")],
)
def test_an_unknown_cost_is_none_and_never_nothing(
    prompt: int | None, completion: int | None, model: str
) -> None:
    used = spent(prompt, completion, None, model, PRICES)
    assert used.cost is None
    assert used.priced == 0
    assert used.calls == 1


def test_a_sum_tells_how_many_calls_it_knows_the_cost_of() -> None:
    total = Spent().plus(spent(10, 5, 0.5, "m", {})).plus(spent(None, None, None, "m", {}))
    assert total == Spent(calls=2, prompt_tokens=10, completion_tokens=5, counted=1, cost=0.5, priced=1)


def test_nothing_spent_has_no_cost() -> None:
    assert Spent().plus(Spent()).cost is None


def test_a_budget_is_used_up_at_its_limit_and_none_has_none() -> None:
    budget, endless = Budget(1.0), Budget(None)
    for one in (budget, endless):
        one.spent += 0.75
        assert not one.used_up
        one.spent += 0.25
    assert budget.used_up
    assert not endless.used_up


CALL = st.builds(
    spent,
    st.none() | st.integers(0, 10**6),
    st.none() | st.integers(0, 10**6),
    st.none() | st.floats(0, 100),
    st.sampled_from(["m", "other"]),
    st.just(PRICES),
)


@given(st.lists(CALL, max_size=12), st.randoms())
def test_sums_do_not_depend_on_the_order(calls: list[Spent], random: Any) -> None:
    def total(some: list[Spent]) -> Spent:
        summed = Spent()
        for one in some:
            summed = summed.plus(one)
        return summed

    mixed = list(calls)
    random.shuffle(mixed)
    one, other = total(calls), total(mixed)
    assert one._replace(cost=None) == other._replace(cost=None)
    assert one.cost == (None if other.cost is None else pytest.approx(other.cost))
    assert (one.cost is None) == (one.priced == 0)


def test_a_price_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps({"m": {"prompt": 0.15, "completion": 1}}).encode())
    assert load_prices(path) == {"m": Price(0.15, 1.0)}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{\n"m": }', "prices.json:2: not JSON"),
        (b"\xff\xfe", "not UTF-8"),
        (b"{}", "holds no prices"),
        (b"[]", "holds no prices"),
        (b'{"m": 3}', "m: expected prompt and completion"),
        (b'{"m": {"prompt": 1}}', "m: expected prompt and completion"),
        (b'{"m": {"prompt": 1, "completion": 2, "cached": 3}}', "m: expected prompt and completion"),
        (b'{"m": {"prompt": -1, "completion": 2}}', "m: prompt is -1"),
        (b'{"m": {"prompt": 1, "completion": "2"}}', "m: completion is '2'"),
        (b'{"m": {"prompt": true, "completion": 2}}', "m: prompt is True"),
        (b'{"m": {"prompt": NaN, "completion": 2}}', "m: prompt is nan"),
        (b'{"m": {"prompt": 1e999, "completion": 2}}', "m: prompt is inf"),
        (b"[" * 100_000, "not JSON"),
        (b'{"m": {"prompt": 1' + b"0" * 400 + b', "completion": 2}}', "m: prompt is 1"),
    ],
    ids=lambda value: value[:40] if isinstance(value, bytes) else "",
)
def test_a_price_file_that_is_none_gives_one_line(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "prices.json"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        load_prices(path)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600


def test_a_price_file_that_is_missing_or_a_folder_gives_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such price file"):
        load_prices(tmp_path / "none.json")
    with pytest.raises(InputError, match="cannot be read"):
        load_prices(tmp_path)
