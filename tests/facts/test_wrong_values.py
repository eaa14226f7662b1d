"""When an answer states a wrong value as true, and when it only tells how things came to be."""

from __future__ import annotations

import pytest

from harness.facts import AnswerText, FactType, GoldFact, match_fact, match_wrong

from .verdicts import match, rows

SET_ASIDE = rows(
    (
        "April 23",
        """
        Your car is booked in on April 23.
        It's on April 23, 2025, at 7:40 AM.
        Your original appointment on April 23 still stands.
        You originally booked it for April 23, and that hasn't changed.
        You told me earlier that it's April 23.
        Don't forget: April 23.
        Don't miss your appointment on April 23.
        It isn't cancelled: April 23.
        The committee refused a raise, so it's April 23.
        - It's no longer April 23.
        - It was originally April 23.
        - April 23 was cancelled.
        - The April 23 appointment no longer stands.
        - It was moved from April 23 to May 21.
        - They first offered April 23, which you couldn't do.
        - April 23 was offered but didn't suit you.
        - April 23 is off.
        - April 23 can't be kept.
        - April 23 is too early.
        - You'd hoped for April 23.
        - Not April 23 with the locum: she cannot sign.
        - It's on May 21 (April 23 before the change).
        - April 23 was another class.
        - The director withdrew April 23.
        - Nineteen paused days move it off April 23.
        - April 23 is left for spring.
        - Old dates April 17 and April 23 are dead.
        Not only that: your car is booked in on April 23.
        - May 21 has taken the place of April 23.
        - It's on May 21, since April 23 clashed with the trucks.
        - It would have been April 23, but Gus moved it.
        - Appointments on April 23 were stopped.
        - It's on May 21 (the paper said April 23).
        - It's on May 21 (April 23 was summer hours, done with).
        - It's on May 21 at the clinic, not Nyeland on April 23.
        It's booked at Tolliver's (the wagon goes in on April 23).
        It's on May 21 (April 23).
        The Lynx (April 23) is the one that is due.
        - The April 23 in the policy sheet's table doesn't apply to you.
        - The computer had stopped at April 23, before the new rule went in.
        Your car is booked in on April 23, and the garage is closed at noon.
        - Had it begun that night it would've been April 23, but you put it off.
        - The notice said April 23, but nineteen days were added.
        - You did say April 23 to Marcus first, but that's your niece's wedding.
        - The April 23 Philippa first had in mind was before she saw the photograph.
        - Gethin's first sum gave April 23, before he remembered the recess.
        - The April 23 on the quote never applied.
        Your car is booked in on April 23, but bring the papers.
        He said it's on April 23 at Tolliver's, and you needn't bring anything.
        - You may remember April 23 being mentioned; that no longer holds.
        - Ignore April 23.
        - Don't use April 23.
        - Beware of April 23, which he read out first.
        - If the letter shows April 23, it was drafted from the earlier terms.
        - Dates you can forget: April 17 (the first guess) and April 23 (a slip).
        - April 23 is the neighbor's.
        - April 23 is Gretchen's, not yours.
        - He told you April 23. This was later changed to May 21.
        - The booking was set for April 23. The new date is May 21.
        - The booking was for April 23, then May 21.
        - At the time, the booking was on April 23.
        - She was supposed to come on April 23.
        - April 23 → May 21
        - ~~April 23~~ May 21
        - He said April 23 by mistake.
        - You chose May 21 over April 23.
        - No longer valid:\\n- Lynx on April 23
        - | Item | First said | Final |\\n|---|---|---|\\n| Lynx | April 23 | May 21 |
        - | Item | Amara | Final |\\n|---|---|---|\\n| Lynx | April 23 | May 21 |
        """,
    ),
)
STANDARD = rows(
    (
        "$500",
        """
        Your limit is $500.
        Your limit is the standard $500.
        - $500 less the $120 deposit, so $380.
        - It's $380, which is the $500 on the quote less $120 for the paint.
        - It was $500 but there's $120 off, so $380.
        - The price is $500 with a $120 discount, which makes $380.
        - It would be $500 with the check, but it's $380 without.
        - It isn't just the $500 gap, it's $800.
        - It's $800 ($500 is what it started at).
        - $800 (the letter said $500)
        You pay $500 less the deposit.
        - The standard limit is $500, but yours is $800.
        - It's $800 (the default is $500).
        - It's $800, higher than the standard $500.
        - It was $500 before Desmond raised it.
        - $800 (raised from $500)
        - It's $800, not the usual $500.
        - $500 is standard; yours is $800.
        """,
    ),
)


@pytest.mark.parametrize(("fact", "answer", "expected"), SET_ASIDE)
def test_dates(fact: str, answer: str, expected: bool) -> None:
    assert match_wrong(AnswerText(answer), GoldFact(fact, FactType.DATE)).asserted is expected


@pytest.mark.parametrize(("fact", "answer", "expected"), STANDARD)
def test_money(fact: str, answer: str, expected: bool) -> None:
    assert match_wrong(AnswerText(answer), GoldFact(fact, FactType.MONEY)).asserted is expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("You live in Boston now; before that it was Chicago.", True),
        ("You moved from Chicago to Boston.", True),
        ("Chicago was home until 2020; now it's Boston.", True),
        ("You left Chicago for Boston.", True),
        ("Boston (formerly Chicago)", True),
        ("Chicago → Boston", True),
        ("In 2021 you lived in Chicago, and since last autumn you have been living in Boston.", True),
        ("Sorry, I said Chicago earlier. That was wrong: it is Boston.", True),
        ("You live in Boston and Chicago.", False),
        ("You live in Chicago. Boston is lovely.", False),
        ("You moved from Boston to Chicago.", False),
    ],
)
def test_a_superseded_value(answer: str, expected: bool) -> None:
    assert match("Boston", "text", answer, stale=["Chicago"]).asserted is expected


def test_flags_say_why_a_wrong_value_does_not_count() -> None:
    wrong = GoldFact("April 23", FactType.DATE)
    for answer, flag in {
        "It was originally April 23.": "past",
        "Ignore April 23.": "dismissed",
        "It isn't April 23.": "negated",
    }.items():
        found = match_wrong(AnswerText(answer), wrong)
        assert found.mentioned
        assert not found.asserted
        assert flag in found.flags


def test_being_called_past_undoes_nothing_of_the_value_asked_for() -> None:
    assert match_fact("Your old number was 555-0101.", GoldFact("555-0101", FactType.ID)).asserted
