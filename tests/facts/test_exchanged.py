"""Answers over every pair of a right value and the wrong one that replaces it, told both ways round.

`inverted`: the right value is set aside and the wrong one stated; that must never pass. `told`: the right value is
stated and the history of the wrong one told; that should not be held against the answer.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.facts import AnswerText, FactType, GoldFact, match_fact, match_wrong
from harness.suite import load_suite


def pairs() -> Iterator[tuple[str, GoldFact, GoldFact]]:
    """Yield the locale, the right fact and the wrong one of every pair of typed values in the suite."""
    for case in load_suite():
        required = {fact.id: fact for fact in case.gold.required}
        for wrong in case.gold.forbidden:
            if wrong.replaces in required and wrong.type is not FactType.TEXT:
                yield case.locale, required[wrong.replaces], wrong


PAIRS = tuple(pairs())

INVERTED = """
{right} was ruled out and it's {wrong} now.
{right} was withdrawn and {wrong} is yours.
{right} was given up, and you land on {wrong}.
{right} was turned down, then {wrong} was booked.
Forget {right}: it's {wrong}.
Forget {right}. It's {wrong}.
The {right} one no longer applies: it's {wrong}.
{right} is outdated: go by {wrong}.
{right} was a typo, use {wrong}.
{right} was read from the wrong row and corrected to {wrong}.
{right} fell through, so it's {wrong}.
It was {right}, now it's {wrong}.
It was {right}, but it's {wrong} now.
{right} was declined and {wrong} accepted.
You declined {right} and took {wrong}.
You gave back {right} for {wrong}.
{right} was cancelled, so you're back to {wrong}.
Don't use {right}, use {wrong}.
{right} has been moved back to {wrong}.
Originally {right}; since changed to {wrong}.
{right} was only a first guess, {wrong} is right.
{wrong}, because you declined {right}.
{wrong}, since {right} fell through.
{wrong}, previously {right}
{wrong} ({right} was released).
The list price is {right}, but you pay {wrong}.
""".strip().splitlines()

TOLD = """
{right}, not {wrong}.
{right}. It's no longer {wrong}.
{right}; {wrong} was declined.
{right}. You gave back {wrong}.
{right}. You gave up the first one ({wrong}).
{right}. They suggested {wrong}, but you ended up with {right}.
{right}. The {wrong} was on the old sheet.
{right}. The sheet still says {wrong}.
{right}; {wrong} came from the wrong row.
{right}. You were first quoted {wrong}.
{right}; {wrong} has been closed.
{right}; {wrong} had to be taken back.
{right}; he first read it as {wrong}.
{right}, which he first gave as {wrong}.
{right}. Throw out the note with {wrong} on it.
{right}, and {wrong} has nothing to do with it.
{right}; {wrong} got pushed back.
{right}; the old date ({wrong}) no longer applies.
It was {wrong}, changed to {right}.
{right}; {wrong} is another customer's.
""".strip().splitlines()


def told(frame: str) -> Iterator[tuple[bool, bool, str]]:
    """Yield, for each pair, whether the right and the wrong value are stated in an answer, and the answer."""
    for locale, right, wrong in PAIRS:
        answer = AnswerText(frame.format(right=right.fact, wrong=wrong.fact), locale)
        yield match_fact(answer, right).asserted, match_wrong(answer, wrong).asserted, answer.raw


@pytest.mark.parametrize("frame", INVERTED)
def test_an_answer_that_sets_the_right_value_aside_does_not_pass(frame: str) -> None:
    passed = [answer for right, wrong, answer in told(frame) if right and not wrong]
    assert len(PAIRS) > 250
    assert len(passed) <= 0.01 * len(PAIRS), passed[:5]


@pytest.mark.parametrize("frame", TOLD)
def test_a_right_answer_may_tell_what_was(frame: str) -> None:
    failed = [answer for right, wrong, answer in told(frame) if not right or wrong]
    assert len(failed) <= 0.06 * len(PAIRS), failed[:5]
