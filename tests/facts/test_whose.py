"""Whether a word further on in a sentence speaks of a wrong value, or of the right one that is named after it."""

from __future__ import annotations

import pytest

from harness.facts import AnswerText, GoldFact, match_wrong

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


@pytest.mark.parametrize(("fact", "answer", "asserted"), WRONG)
def test_a_rejection_belongs_to_the_value_that_it_is_said_of(fact: str, answer: str, asserted: bool) -> None:
    kind = {"M": "date", "T": "text", "1": "quantity"}[fact[0]]
    found = match_wrong(AnswerText(answer), GoldFact.from_mapping({"fact": fact, "type": kind}))
    assert found.mentioned
    assert found.asserted is asserted
