from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.llm.slots import Slots


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Slots(0)


def test_a_cut_halves_and_never_goes_below_one() -> None:
    slots = Slots(10)
    seen = []
    for _ in range(5):
        slots.slow_down(slots.cuts)
        seen.append(slots.limit)
    assert seen == [5, 2, 1, 1, 1]


def test_requests_sent_before_a_cut_do_not_cut_again() -> None:
    slots = Slots(16)
    sent = slots.cuts
    for _ in range(16):
        slots.slow_down(sent)
    assert slots.limit == 8


def test_the_limit_comes_back_one_by_one_and_not_beyond_the_ceiling() -> None:
    slots = Slots(4)
    slots.slow_down(slots.cuts)
    seen = []
    for _ in range(12):
        slots.went_well()
        seen.append(slots.limit)
    assert seen == [2, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4]


def test_a_cut_forgets_what_went_well_before_it() -> None:
    slots = Slots(8)
    slots.slow_down(slots.cuts)  # 4
    for _ in range(3):
        slots.went_well()
    slots.slow_down(slots.cuts)  # 2
    slots.went_well()
    assert slots.limit == 2


def test_places_are_given_in_the_order_of_asking() -> None:
    async def run() -> list[int]:
        slots = Slots(1)
        order: list[int] = []

        async def one(number: int) -> None:
            async with slots:
                order.append(number)
                await asyncio.sleep(0)

        await asyncio.gather(*map(one, range(6)))
        return order

    assert asyncio.run(run()) == list(range(6))


def test_a_raised_limit_lets_somebody_who_waits_in() -> None:
    async def run() -> int:
        slots = Slots(2)
        slots.slow_down(slots.cuts)
        inside = 0
        go = asyncio.Event()

        async def one() -> None:
            nonlocal inside
            async with slots:
                inside += 1
                await go.wait()

        async with asyncio.TaskGroup() as group:
            for _ in range(2):
                group.create_task(one())
            for _ in range(5):
                await asyncio.sleep(0)
            assert inside == 1
            slots.went_well()
            for _ in range(5):
                await asyncio.sleep(0)
            now = inside
            go.set()
        return now

    assert asyncio.run(run()) == 2


@settings(max_examples=150, deadline=None)
@given(
    ceiling=st.integers(1, 6),
    plans=st.lists(
        st.tuples(
            st.integers(0, 4),  # turns before it asks
            st.integers(0, 4),  # turns it holds its place
            st.sampled_from(["well", "cut", "fails"]),
            st.none() | st.integers(0, 8),  # turns before it is cancelled
        ),
        max_size=25,
    ),
)
def test_never_more_inside_than_the_ceiling_and_no_place_is_lost(
    ceiling: int, plans: list[tuple[int, int, str, int | None]]
) -> None:
    async def run() -> None:
        slots = Slots(ceiling)
        inside = 0

        async def turns(count: int) -> None:
            for _ in range(count):
                await asyncio.sleep(0)

        async def one(before: int, held: int, end: str) -> None:
            nonlocal inside
            await turns(before)
            async with slots:
                # Whoever is let in finds a place within the limit of this moment.
                inside += 1
                assert inside <= slots.ceiling
                seen = slots.cuts
                try:
                    await turns(held)
                    if end == "fails":
                        raise OSError
                finally:
                    inside -= 1
                if end == "cut":
                    slots.slow_down(seen)
                else:
                    slots.went_well()

        async def cancel(task: asyncio.Task[None], after: int) -> None:
            await turns(after)
            task.cancel()

        tasks = [asyncio.create_task(one(*plan[:3])) for plan in plans]
        await asyncio.gather(
            *(cancel(task, plan[3]) for task, plan in zip(tasks, plans, strict=True) if plan[3] is not None)
        )
        await turns(1000)
        assert all([task.done() for task in tasks])
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert not [e for e in ended if isinstance(e, Exception) and not isinstance(e, OSError)]
        assert slots.in_use == 0
        assert 1 <= slots.limit <= ceiling
        # Every place can be taken again, at once.
        for _ in range(slots.limit):
            await asyncio.wait_for(slots.__aenter__(), 1)
        assert slots.in_use == slots.limit

    asyncio.run(run())
