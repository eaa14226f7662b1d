"""Whether a word further on in a sentence speaks of a wrong value, or of the right one that is named after it."""

from __future__ import annotations

import pytest

from harness.facts import AnswerText, GoldFact, match_fact, match_wrong

from .verdicts import rows

# A line that begins with `- ` sets the wrong value aside.
WRONG = rows(
    (
        "May 14",
        """
        You leave on May 14, because you declined May 21.
        You leave on May 14, as the May 21 trip was withdrawn.
        You leave on May 14, since Dr. Hallam's slot on the 21st fell through.
        You leave on May 14; the May 21 flight was turned down.
        You leave on May 14 (May 21 was released).
        You leave on May 14 — the May 21 trip was called off.
        You leave on May 14, and the May 21 trip was withdrawn.
        You leave on May 14, and you declined May 21.
        Since you turned down May 21, you leave on May 14.
        It's May 14 as the May 21 trip is off.
        You leave on May 14 — you'd had the May 21 one, but you gave it up.
        You leave on May 14 (it was May 21 before you changed it).
        You leave on May 14 (she'd said May 21 at first but brought it forward).
        You leave on May 14 (you swapped out of May 21).
        You leave on May 14 (May 21 was for another truck).
        You leave on May 14, which replaced the May 21 trip.
        You leave on May 14; May 21 was offered but you declined it.
        - You couldn't make May 14.
        - May 14 was in the wrong column, so disregard it.
        - May 14 was counted from the signature, which isn't how they do it.
        - The earlier dates, May 7 and May 14, are out of date.
        - May 14 has no weight.
        - May 14 used to be the date.
        - May 14 was offered, and you declined it.
        - They first offered May 14, which you declined on April 3.
        - May 14 was declined on April 3.
        - May 14 and May 21 were both withdrawn.
        - May 14 was offered, but Dr. Hallam withdrew it.
        - May 14 (Dr. Hallam's first offer) was withdrawn.
        - It was promised for May 14; Dr. Hallam took that back.
        - May 14 was offered but, as it clashed with swimming, declined.
        - You leave on May 21, since May 14 fell through.
        - The old date, May 14, no longer applies.
        - The old date (May 14 at the clinic) no longer applies.
        - The May 7 and May 14 dates were also dropped.
        - May 14 fell away.
        - It moved from May 7 to May 14 to May 21.
        - It's on May 21, which she'd first put down as May 14.
        - May 14 would have been for the hall.
        """,
    ),
    (
        "Tonny Lees",
        """
        Tonny Lees covers for you, because Ekbal Rahim couldn't do it.
        - Ekbal Rahim covers for you, because Tonny Lees couldn't do it.
        - Ekbal Rahim signs for it in place of Tonny Lees.
        - You looked at Tonny Lees but chose Ekbal Rahim.
        """,
    ),
    (
        "128 GB",
        """
        It comes with 128 GB, since the 256 GB was sold out.
        - You started at 128 GB but took the 256 GB.
        - It comes with 256 GB, since the 128 GB was sold out.
        """,
    ),
)


HEADS = (
    "Not this",
    "Set aside",
    "Don't use",
    "Out of date",
    "Stale",
    "Overruled",
    "Ruled out",
    "Instead of",
    "Older value",
)


@pytest.mark.parametrize("head", HEADS)
def test_a_column_of_what_is_set_aside_states_nothing(head: str) -> None:
    answer = AnswerText(f"| Item | Use this | {head} |\n|---|---|---|\n| Day | May 21 | May 14 |")
    aside = GoldFact.from_mapping({"fact": "May 14", "type": "date"})
    stated = GoldFact.from_mapping({"fact": "May 21", "type": "date"})
    assert not match_wrong(answer, aside).asserted
    assert match_fact(answer, stated).asserted


def test_a_right_value_beside_what_it_was_misread_as_is_stated() -> None:
    answer = AnswerText("It's $8,264.90 (misread to you once as $8,246.90).")
    right, wrong = (
        GoldFact.from_mapping({"fact": fact, "type": "money"}) for fact in ("$8,264.90", "$8,246.90")
    )
    assert match_fact(answer, right).asserted
    assert not match_wrong(answer, wrong).asserted


@pytest.mark.parametrize(
    "answer", ["either Rs 1,165 or Rs 1,240", "Rs 1,165 or Rs 1,240", "INR 1,165 / INR 1,240"]
)
def test_sums_in_rupees_are_alternatives_too(answer: str) -> None:
    fact = GoldFact.from_mapping({"fact": "Rs 1,165", "type": "money"})
    assert not match_fact(AnswerText(f"It's {answer}.", "en-IN"), fact).asserted


@pytest.mark.parametrize(("fact", "answer", "asserted"), WRONG)
def test_a_rejection_belongs_to_the_value_that_it_is_said_of(fact: str, answer: str, asserted: bool) -> None:
    kind = {"M": "date", "T": "text", "1": "quantity"}[fact[0]]
    found = match_wrong(AnswerText(answer), GoldFact.from_mapping({"fact": fact, "type": kind}))
    assert found.mentioned
    assert found.asserted is asserted
