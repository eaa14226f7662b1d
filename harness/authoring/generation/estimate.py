"""What a run will ask for, told before it starts: calls, words, and money where the model's price is known.

Words are counted over the templates as they are filled for this wish; what earlier stages will have written
is taken at the length asked for. A token is taken for three quarters of a word.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.authoring.generation.recall import recall_values
from harness.authoring.generation.wish import ROUNDS_A_CALL, Wish, spice
from harness.authoring.generation.writing import (
    BASE,
    FILES,
    PLAN,
    RECALL,
    WORDS_A_ROUND,
    plan_values,
)
from harness.llm.templates import Templates
from harness.llm.usage import Price
from harness.suite.wording import count_words

TOKENS_A_WORD = 4 / 3
_PLAN_WORDS = 500
_QUESTION_WORDS = 450
_EDIT_WORDS = 400
_MEMORY_WORDS, _QUERY_WORDS = 35, 25
_TASK_WORDS = 250


@dataclass(frozen=True, slots=True)
class Estimate:
    """Calls and words, from the least to the most that repairs can make of them.

    Attributes:
        items: cases or clusters still to be written.
        calls, read, written: least and most; words that the model reads and writes.
        cost: US dollars, least and most; None where no price is known.
    """

    items: int
    calls: tuple[int, int]
    read: tuple[int, int]
    written: tuple[int, int]
    cost: tuple[float, float] | None

    @property
    def sentence(self) -> str:
        """The estimate in words."""
        calls, read, written = (_span(pair) for pair in (self.calls, self.read, self.written))
        told = f"calls: {calls}; about {read} words read and {written} written"
        if self.cost is None:
            return f"{told}; the price is not known (--prices FILE)"
        low, high = self.cost
        return f"{told}; about ${low:.2f} to ${high:.2f}"


def estimate(wish: Wish, items: int, repairs: int, price: Price | None = None) -> Estimate:
    """Return what so many items will take, each mended so often at most."""
    templates = Templates(*FILES)
    base = count_words(templates.render(BASE, {}))
    of_item = spice(wish, 1)
    if wish.kind == "recall":
        task = templates.render(RECALL, {**recall_values(wish, of_item), "fence": "", "form": ""})
        written = wish.memories * _MEMORY_WORDS + wish.queries * _QUERY_WORDS
        once = (1, base + count_words(task), written)
        again = (1, once[1] + written, written)
    else:
        plan = base + count_words(
            templates.render(PLAN, {**plan_values(wish, of_item), "fence": "", "form": ""})
        )
        parts = len(wish.parts) * wish.conversations
        a_part = base + _TASK_WORDS + _PLAN_WORDS
        talk = wish.rounds * WORDS_A_ROUND * wish.conversations
        once = (
            2 + parts,
            plan + parts * a_part + base + _TASK_WORDS + _PLAN_WORDS,
            _PLAN_WORDS + talk + _QUESTION_WORDS,
        )
        shown = base + _TASK_WORDS + _PLAN_WORDS + ROUNDS_A_CALL * WORDS_A_ROUND
        again = (2, 2 * shown, _EDIT_WORDS + _QUESTION_WORDS)
    least = tuple(items * one for one in once)
    most = tuple(items * (one + repairs * more) for one, more in zip(once, again, strict=True))
    calls, read, written_words = zip(least, most, strict=True)
    cost = None
    if price is not None:
        low, high = (
            (words_in * price.prompt + words_out * price.completion) * TOKENS_A_WORD / 1_000_000
            for words_in, words_out in zip(read, written_words, strict=True)
        )
        cost = (low, high)
    return Estimate(items, calls, read, written_words, cost)


def _span(pair: tuple[int, int]) -> str:
    low, high = (value if value < 1000 else round(value, -2) for value in pair)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
