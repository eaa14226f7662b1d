"""Parts and samples keep the shares of the layers, keep clusters together, and come again for a seed."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.authoring import sample_suite, split_suite
from harness.authoring.folders import copy_cases
from harness.authoring.splitting import parse_parts
from harness.errors import InputError
from harness.suite import Case, GoldFacts, Suite, load_suite

SHARES = parse_parts("train=60,dev=20,test=20")


def case(id: str, cluster: str | None = None, domain: str = "") -> Case:
    layer = id.partition("_")[0]
    return Case(id, layer, "t", "", domain, (), "en-US", cluster, (), None, "q", (), "", GoldFacts(), True, Path())  # type: ignore[arg-type]  # fmt: skip


def suite(*cases: Case) -> Suite:
    return Suite(Path("made"), tuple(sorted(cases, key=lambda case: case.id)))


def of_layers(*counts: int) -> Suite:
    return suite(*(case(f"layer{at}_{n:03}") for at, count in enumerate(counts, 1) for n in range(count)))


def layers(cases: Any) -> dict[str, int]:
    return dict(sorted(Counter(case.category for case in cases).items()))


def test_every_part_has_its_share_of_every_layer() -> None:
    parts = split_suite(of_layers(20, 10, 5), SHARES)
    assert {name: layers(cases) for name, cases in parts.items()} == {
        "train": {"layer1": 12, "layer2": 6, "layer3": 3},
        "dev": {"layer1": 4, "layer2": 2, "layer3": 1},
        "test": {"layer1": 4, "layer2": 2, "layer3": 1},
    }


def test_equal_parts_differ_by_one_at_most() -> None:
    parts = split_suite(of_layers(20, 20, 20), parse_parts("7"))
    assert {len(cases) for cases in parts.values()} == {8, 9}
    assert list(parts) == [f"part{number}" for number in range(1, 8)]


def test_a_cluster_stays_together() -> None:
    cases = [case(f"layer1_{n:02}", cluster=f"haystack {n // 5}") for n in range(50)]
    parts = split_suite(suite(*cases), SHARES)
    homes = [
        {name for name, held in parts.items() if any(one.cluster == f"haystack {n}" for one in held)}
        for n in range(10)
    ]
    assert all(len(home) == 1 for home in homes)
    assert [len(held) for held in parts.values()] == [30, 10, 10]


def test_fewer_units_than_parts_is_an_error() -> None:
    with pytest.raises(InputError, match="1 clusters and single cases can't fill 3 parts"):
        split_suite(suite(case("layer1_1", "x"), case("layer1_2", "x")), SHARES)


def test_a_seed_decides_and_the_order_of_files_does_not() -> None:
    whole = of_layers(20, 20)
    assert split_suite(whole, SHARES, 1) == split_suite(whole, SHARES, 1)
    assert split_suite(whole, SHARES, 1) != split_suite(whole, SHARES, 2)
    assert sample_suite(whole, 10, 1) == sample_suite(whole, 10, 1) != sample_suite(whole, 10, 2)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from([1, 2, 3]), st.sampled_from([None, "a", "b", "c"])), min_size=6, max_size=40
    ),
    st.integers(0, 3),
)
def test_parts_are_a_partition_without_an_empty_part(made: list[tuple[int, str | None]], seed: int) -> None:
    whole = suite(*(case(f"layer{layer}_{n}", cluster) for n, (layer, cluster) in enumerate(made)))
    units = {one.cluster or one.id for one in whole}
    if len(units) < 3:
        return
    parts = split_suite(whole, SHARES, seed)
    assert sorted(one.id for one in chain(*parts.values())) == sorted(whole.ids)
    assert all(parts.values())
    for one in units:
        assert sum(any((held.cluster or held.id) == one for held in cases) for cases in parts.values()) == 1


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 30), min_size=3, max_size=3).filter(any), st.data())
def test_a_sample_has_its_size_and_keeps_shares_within_one(counts: list[int], data: st.DataObject) -> None:
    whole = of_layers(*counts)
    size = data.draw(st.integers(1, len(whole)))
    drawn = sample_suite(whole, size)
    assert len(drawn) == len({one.id for one in drawn}) == size
    for layer, count in layers(whole).items():
        assert abs(layers(drawn).get(layer, 0) - count * size / len(whole)) < 1


def test_a_sample_by_cluster_takes_of_each() -> None:
    cases = [case(f"layer1_{n:02}", cluster=f"{n % 10}") for n in range(50)]
    assert {one.cluster for one in sample_suite(suite(*cases), 10, by="cluster")} == {
        str(n) for n in range(10)
    }


def test_a_sample_larger_than_the_suite_is_an_error() -> None:
    with pytest.raises(InputError, match="--size 3: made has 2 cases"):
        sample_suite(of_layers(2), 3)


@pytest.mark.parametrize("text", ["1", "train", "train=", "a=1,a=1", "a=1,b=-1", "a=1,b=x", "a/b=1,c=1", "=1,b=1", "", "0", "a=1", "a=1,b=1/0", "²", "9" * 5000, "a=1e99999999,b=1"])  # fmt: skip
def test_what_is_no_list_of_parts(text: str) -> None:
    with pytest.raises(InputError, match="--parts"):
        parse_parts(text)


def test_many_parts_take_no_longer_than_they_have_to() -> None:
    begun = time.process_time()
    assert len(split_suite(of_layers(2_000), parse_parts("500"))) == 500
    assert time.process_time() - begun < 20


def test_shares_may_be_fractions() -> None:
    assert parse_parts("a=0.5, b=1/2") == {"a": Fraction(1, 2), "b": Fraction(1, 2)}


def test_cases_are_copied_byte_for_byte(write_suite: Any, tmp_path: Path) -> None:
    whole = load_suite(write_suite("layer1_01_fee", "layer2_01_fee"))
    path = whole.cases[0].path
    path.write_bytes(b"# mine\r\n" + path.read_bytes())
    copy_cases(whole, whole.cases[:1], tmp_path / "copy")
    assert (tmp_path / "copy" / "layer1" / "01_fee.yaml").read_bytes() == path.read_bytes()
    assert load_suite(tmp_path / "copy").ids == ("layer1_01_fee",)


def test_shared_conversations_come_along(write_suite: Any, tmp_path: Path) -> None:
    whole = load_suite(write_suite("layer1_01_fee", "layer1_02_fee"))
    (whole.root / "haystacks").mkdir()
    (whole.root / "haystacks" / "h1.yaml").write_text("mine")
    cases = [replace(case, haystack=whole.root / "haystacks" / "h1.yaml") for case in whole]
    replaced = replace(cases[1], gold_path=Path("gold.json"))
    copy_cases(whole, [cases[0], replaced], tmp_path / "copy")
    assert (tmp_path / "copy" / "haystacks" / "h1.yaml").read_text() == "mine"
    written = (tmp_path / "copy" / "layer1" / "02_fee.yaml").read_text()
    assert written.endswith("haystack: h1\n")
    assert "conversation_id" not in written
