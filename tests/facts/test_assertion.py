"""When a value that stands in the answer is stated as true, and when it is not."""

from __future__ import annotations

import pytest

from harness.facts import AnswerText, FactType, GoldFact, match_fact

from .verdicts import match, rows

SPANS = rows(
    (
        "10 metres",
        """
        No petrol motor running within 10 metres of the gas.
        It can't be within 10 metres of the cage.
        - It isn't 10 metres away.
        """,
    ),
    (
        "14 days",
        """
        It can't be taken within 14 days of the last capsule.
        It must not be taken within 14 days.
        It isn't allowed within 14 days.
        You shouldn't drive for 14 days.
        That is only eight days, not the 14 days the pharmacist requires.
        - It won't take 14 days.
        - You don't have to wait 14 days.
        - The wait is not 14 days.
        - It wasn't ready within 14 days.
        """,
    ),
)
DATES = rows(
    (
        "April 25",
        """
        You can move it for free until April 25.
        You can't move it for free after April 25.
        It isn't free after April 25.
        There's no charge if you move it by April 25.
        You won't pay anything as long as you call before April 25.
        Don't forget: April 25 is the deadline.
        Don't miss the April 25 deadline.
        You shouldn't wait until after April 25.
        The deadline hasn't changed: it's still April 25.
        The deadline hasn't moved from April 25.
        No later than April 25.
        Not a day later than April 25!
        If you don't call by April 25, you'll pay the fee.
        Not calling by April 25 costs $450.
        The meeting isn't until April 25.
        The deadline, April 25, isn't far away.
        I'm not sure, but I believe it's April 25.
        Your deadline is April 25. Is there anything else?
        Your deadline is April 25. You don't need to do anything else.
        Your deadline is April 25. Sorry for the wait!
        Your deadline is April 25. Actually, that's everything.
        It was moved from April 20 to April 25.
        It was moved to April 25 from April 20.
        Move it from April 25 to a later day.
        Do you mean the roof (April 25) or the boiler (May 3)?
        - It's not April 25 but April 26.
        - The last free day isn't April 25.
        - April 25 isn't the deadline.
        - April 25 won't work.
        - I don't think it's April 25.
        - Nobody said April 25.
        - It used to be April 25.
        - It is no longer April 25.
        - It never was April 25.
        - There is no deadline on April 25.
        - Was it April 25?
        - Is April 25 okay for you?
        - Do you mean April 25 or May 3?
        - April 25 or April 26, I'm not certain.
        - It was moved from April 25 to April 30.
        - It's April 25, sorry, April 26.
        - It's April 25. Sorry, that's wrong.
        - It's April 25. This was later changed to April 26.
        - I don't know whether it's April 25.
        - It depends on whether it is on April 25.
        - It was two weeks before April 25.
        - I see two dates, April 25 and May 3, and can't tell which is current.
        """,
    ),
)
MONEY = rows(
    (
        "$50",
        """
        You haven't paid the $50 fee.
        $50 doesn't include breakfast.
        There's a $50 fee, so don't be late.
        Call now so that you don't pay $50.
        You can cancel without paying the $50 fee.
        $50 (not $60)
        $50, not $60
        The fee was $60, sorry, $50.
        It went up from $40 to $50.
        The fee? $50.
        Probably $50.
        - It isn't $50.
        - It doesn't cost $50.
        - You don't pay $50 but $60.
        - There is no $50 fee.
        - It's $60, not the usual $50.
        - $60 (not $50)
        - It's $60 rather than $50.
        - $50 or $60
        - $50, maybe $60
        - either $40 or $50
        - $40, $50, $60 or $70
        - The fee was $50, sorry, $60.
        """,
    ),
)
NAMES = rows(
    (
        "Panthrel",
        """
        The Panthrel prescription couldn't be moved.
        They couldn't transfer Panthrel.
        They weren't able to transfer Panthrel.
        The one that couldn't be moved is Panthrel.
        Only Panthrel wasn't moved.
        Couldn't be moved: Panthrel
        Everything except Panthrel was moved.
        All were moved, just not Panthrel.
        Panthrel, not Sorbinal
        Which one? Panthrel.
        It wasn't moved because Panthrel had expired.
        - It wasn't Panthrel.
        - It isn't Panthrel but Sorbinal.
        - Panthrel isn't the one.
        - Panthrel? No.
        - Not Panthrel.
        - Sorbinal, not Panthrel
        - Neither Panthrel nor Sorbinal.
        - Unlike Panthrel, Sorbinal was moved.
        - Panthrel or Sorbinal
        - Maybe Panthrel, maybe Sorbinal.
        - Either it's Panthrel or it's Sorbinal.
        - I don't know if it's Panthrel.
        """,
    ),
    (
        "Paris",
        """
        You live in Paris, don't you?
        You never liked Rome, so you moved to Paris.
        You don't live in Rome any more but in Paris.
        You live in Paris, not far from the river.
        There's nothing wrong with Paris.
        It can't be anything but Paris.
        You can't go wrong with Paris.
        It's Paris, no question.
        No other city than Paris.
        No, it was Paris.
        If I'm not mistaken, Paris.
        - You don't live in Paris.
        - You haven't lived in Paris since 2020.
        - You stopped living in Paris.
        - You said you weren't born in Paris.
        - It was anywhere but Paris.
        - It can't be Paris.
        - Paris is wrong.
        - Why not Paris?
        """,
    ),
    ("does not eat meat", "You do not eat meat, so it fits: she does not eat meat.\n- You eat meat."),
)


@pytest.mark.parametrize(("fact", "answer", "expected"), DATES)
def test_dates(fact: str, answer: str, expected: bool) -> None:
    found = match(fact, "date", answer)
    assert found.mentioned
    assert found.asserted is expected, found


@pytest.mark.parametrize(("fact", "answer", "expected"), SPANS)
def test_spans_of_time(fact: str, answer: str, expected: bool) -> None:
    assert match(fact, "quantity", answer).asserted is expected


@pytest.mark.parametrize(("fact", "answer", "expected"), MONEY)
def test_money(fact: str, answer: str, expected: bool) -> None:
    found = match(fact, "money", answer)
    assert found.mentioned
    assert found.asserted is expected, found


@pytest.mark.parametrize(("fact", "answer", "expected"), NAMES)
def test_names(fact: str, answer: str, expected: bool) -> None:
    assert match(fact, "text", answer).asserted is expected


@pytest.mark.parametrize(
    ("answer", "flag"),
    [
        ("It is not blue.", "negated"),
        ("You no longer like blue.", "replaced"),
        ("I'm not sure if it is blue.", "unsure"),
        ("Is it blue?", "question"),
        ("Blue or green.", "alternatives"),
        ("It is probably blue.", "hedged"),
    ],
)
def test_flags_say_why(answer: str, flag: str) -> None:
    assert flag in match("blue", "text", answer).flags


def test_the_clause_is_the_sentence_that_decided() -> None:
    answer = "Hello! Your *limit* is **$800** a day. Anything else?"
    found = match("$800", "money", answer)
    assert found.clause == "Your *limit* is **$800** a day."
    assert found.span is not None
    assert answer[slice(*found.span)] == "$800"
    stale = match("$800", "money", "It's $800. It's $500 on Sundays.", stale=["$500"])
    assert (stale.asserted, stale.clause) == (False, "It's $500 on Sundays.")


def test_siblings_do_not_rival_each_other() -> None:
    lynx, corvane = (GoldFact(day, FactType.DATE) for day in ("May 21", "May 8"))
    answer = "It is on May 21 or May 8, for the Lynx and the Corvane."
    assert not match_fact(answer, lynx).asserted
    assert match_fact(answer, lynx, siblings=[corvane]).asserted


def test_an_accepted_form_is_no_alternative() -> None:
    assert match("expired", "text", "It had expired or lapsed.", accept=["lapsed"]).asserted
    assert not match("expired", "text", "It had expired or vanished.", accept=["lapsed"]).asserted


def test_a_fact_in_a_void_list_or_column_is_not_stated() -> None:
    table = "| | Old | New |\n|---|---|---|\n| Fee | $60 | $80 |"
    assert match("$80", "money", table).asserted
    assert not match("$60", "money", table).asserted
    listed = "**No longer valid**\n- May 21\n\n**Current**\n- May 28"
    assert match("May 28", "date", listed).asserted
    assert not match("May 21", "date", listed).asserted


def test_an_answer_read_once_gives_the_same_verdicts() -> None:
    answer = "Your number is 4429853327 and the card is ready on March 24, not on March 21."
    facts = [
        GoldFact("4429853327", FactType.ID),
        GoldFact("March 24", FactType.DATE),
        GoldFact("March 21", FactType.DATE),
    ]
    text = AnswerText(answer)
    assert [match_fact(text, fact) for fact in facts] == [match_fact(answer, fact) for fact in facts]


GIVING_WAY = rows(
    (
        "October 24",
        """
        It was rescheduled to October 24.
        October 26 was rescheduled to October 24.
        Your original date, October 24, still holds.
        Don't ignore October 24.
        You can ignore the reminder for October 23; it's October 24.
        It's October 24, now at 3:40 PM.
        - It was October 24, superseded by October 26.
        - October 24 — superseded by October 26
        - October 24 was rescheduled to October 26.
        - October 24, then moved to October 26.
        - October 24 (now October 26)
        - Originally October 24, now October 26.
        - Originally October 24 but now October 26.
        - Ignore October 24; it's October 26.
        - Please disregard the October 24 date.
        """,
    ),
    (
        "$1,250",
        """
        It was quoted higher; now it's $1,250.
        - Originally $1,250, now $1,400.
        - $1,250 was replaced by $1,400.
        - The price of $1,250 was raised to $1,400.
        """,
    ),
    ("3:40 PM", "It was moved to 3:40 PM.\n- The 3:40 PM slot was rescheduled to 4:20 PM."),
    (
        "4429853327",
        "Account 4429853327 was moved to the Elm Street branch.\nOrder 4429853327 was moved to March 5.",
    ),
)


@pytest.mark.parametrize(("fact", "answer", "expected"), GIVING_WAY)
def test_a_value_that_gives_way_to_another_is_not_stated(fact: str, answer: str, expected: bool) -> None:
    kind = {"O": "date", "$": "money", "3": "time", "4": "id"}[fact[0]]
    assert match(fact, kind, answer).asserted is expected
