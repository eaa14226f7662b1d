"""Matching as a ratio to plain casefolded `in` on the same data; growth with length; memory."""

from __future__ import annotations

import itertools
import random
import tracemalloc
from collections.abc import Callable

import pytest

from harness.facts import AnswerText, FactType, GoldFact, match_fact

pytestmark = pytest.mark.benchmark

WORDS = (
    "the card will be at the branch you can collect it in the morning after nine and bring your license they moved the "
    "appointment because the part was late so please call the office before the weekend thank you very much for asking "
    "about the account we discussed earlier this spring with the manager of the garage near the old harbor"
).split()


def made(count: int, words: int = 120) -> tuple[list[str], list[list[GoldFact]]]:
    """Return answers of so many words with values in them, and six facts for each, half of them stated."""
    rng = random.Random(7)
    answers, facts = [], []
    for _ in range(count):
        number = f"{rng.randrange(10**9, 10**10)}"
        day, amount, share = rng.randrange(1, 29), rng.randrange(100, 9999), rng.randrange(1, 99)
        month = rng.choice(["March", "April", "June", "October"])
        stated = [
            number,
            f"{month} {day}, 2025",
            f"${amount:,}",
            f"{share}%",
            "Harbor Lane Bank",
            f"{share % 12 + 1}:30 PM",
        ]
        wanted = [
            GoldFact(number, FactType.ID),
            GoldFact(f"{month} {day}, 2025", FactType.DATE),
            GoldFact(f"${amount}", FactType.MONEY),
            GoldFact(f"{share + 1}%", FactType.PERCENT),
            GoldFact("Northgate Auto Clinic", FactType.TEXT),
            GoldFact("4:45 PM", FactType.TIME),
        ]
        text = [rng.choice(WORDS) for _ in range(words - 2 * len(stated))]
        for value in stated:
            text.insert(rng.randrange(len(text)), value)
        answers.append(" ".join(text) + ".")
        facts.append(wanted)
    return answers, facts


def test_a_thousand_answers_of_six_facts(fastest: Callable[..., float]) -> None:
    answers, facts = made(1000)

    def plain() -> None:
        for answer, wanted in zip(answers, facts, strict=True):
            for each in wanted:
                _ = each.fact.casefold() in answer.casefold()

    def ours() -> None:
        for answer, wanted in zip(answers, facts, strict=True):
            text = AnswerText(answer)
            for each in wanted:
                match_fact(text, each)

    ours()
    ratio = fastest(ours) / fastest(plain)
    print(f"\n1,000 answers of 120 words x 6 facts: {ratio:.0f}x of casefolded `in`")
    assert ratio <= 40


def test_time_grows_with_length(fastest: Callable[..., float]) -> None:
    fact = GoldFact("$1,250", FactType.MONEY)
    taken = {}
    for length in (1_000, 100_000):
        answers, _ = made(1, words=length // 6)
        taken[length] = fastest(lambda text=answers[0]: match_fact(AnswerText(text), fact))  # type: ignore[misc]
    ratio = taken[100_000] / taken[1_000]
    print(f"\n100 times the length takes {ratio:.0f} times as long")
    assert ratio <= 250


HOSTILE = {
    "digits": "1" * 50_000,
    "commas": "1," * 25_000,
    "spaces": "a" + " " * 50_000 + "b",
    "stars": "*" * 50_000,
    "brackets": "[" * 50_000,
    "links": "[a](" * 12_000,
    "hyphens": "a-" * 25_000,
    "strikes": "~~a " * 12_000,
    "words": "twenty " * 8_000,
    "months": "may " * 12_000,
    "nots": "not " * 12_000,
    "ors": "5 or " * 10_000,
    "lines": "\n" * 50_000,
    "pipes": "| 1 " * 12_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_costs_no_more_than_its_length(text: str, fastest: Callable[..., float]) -> None:
    facts = [GoldFact("5", kind) for kind in FactType if kind is not FactType.ABSTAIN]
    facts.append(GoldFact("__ABSTAIN__", FactType.ABSTAIN))

    def ours(part: str) -> None:
        read = AnswerText(part)
        for fact in facts:
            match_fact(read, fact)

    short, whole = fastest(lambda: ours(text[:5_000]), 2), fastest(lambda: ours(text), 1)
    print(f"\nten times the length takes {whole / short:.0f} times as long")
    assert whole / short <= 40


def test_memory_stays_flat_over_a_hundred_thousand_answers() -> None:
    answers, facts = made(200, words=40)
    peaks = []
    tracemalloc.start()
    for rounds in (50, 450):
        tracemalloc.reset_peak()
        for at, (answer, wanted) in enumerate(
            itertools.islice(itertools.cycle(zip(answers, facts, strict=True)), 200 * rounds)
        ):
            text = AnswerText(f"{answer} {at}")
            for fact in wanted[:5]:
                match_fact(text, fact)
        peaks.append(tracemalloc.get_traced_memory()[1])
    tracemalloc.stop()
    print(f"\npeaks after 10,000 and 100,000 answers: {peaks[0] / 1e6:.1f} and {peaks[1] / 1e6:.1f} MB")
    assert peaks[1] <= peaks[0] * 1.2
