"""What holds for every value of a kind, and not for one example of it."""

from __future__ import annotations

import datetime
import unicodedata

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from harness.errors import FactError
from harness.facts import AnswerText, FactType, GoldFact, match_fact, match_wrong, typed_values

DIGITS = st.text("0123456789", min_size=10, max_size=10)
DAYS = st.dates(datetime.date(1990, 1, 1), datetime.date(2090, 12, 31))
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
NAMES = st.sampled_from(
    ["Emma", "Zoë", "Priya Ramanathan", "Harbor Lane Bank", "Corvane 300", "C++", "O'Brien"]
)
TYPES = st.sampled_from([kind for kind in FactType if kind is not FactType.ABSTAIN])
FILLERS = (
    "Let me know if there is anything else.",
    "You don't need to do anything further.",
    "I don't have anything else on file.",
    "No further changes are needed.",
    "Is there anything else you would like to know?",
)


def fact(value: str, kind: FactType, **more: object) -> GoldFact:
    return GoldFact(value, kind, **more)  # type: ignore[arg-type]


def long_date(day: datetime.date) -> str:
    return f"{MONTHS[day.month - 1]} {day.day}, {day.year}"


def writings(day: datetime.date) -> list[str]:
    month = MONTHS[day.month - 1]
    return [
        long_date(day),
        day.isoformat(),
        f"{day.day} {month} {day.year}",
        f"{month[:3]}{'' if month == 'May' else '.'} {day.day}, {day.year}",
        f"{day:%m/%d/%Y}",
        f"the {day.day}{suffix(day.day)} of {month} {day.year}",
        f"{day:%A}, {long_date(day)}",
        f"{day.year}年{day.month}月{day.day}日",
    ]


def suffix(day: int) -> str:
    return "th" if 11 <= day <= 13 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


# ---- ids ------------------------------------------------------------------------------


@given(DIGITS, st.text("0123456789", min_size=1, max_size=6), st.booleans())
def test_no_id_is_found_inside_a_longer_run_of_digits(digits: str, more: str, before: bool) -> None:
    run = more + digits if before else digits + more
    assume(digits not in (run[i : i + 10] for i in range(len(run) - 9) if run[i : i + 10] != digits))
    assert not match_fact(f"Your number is {run}.", fact(digits, FactType.ID)).mentioned


@given(DIGITS, st.lists(st.integers(1, 9), min_size=1, max_size=3, unique=True), st.sampled_from("- ."))
def test_an_id_may_be_parted_by_one_mark(digits: str, cuts: list[int], mark: str) -> None:
    parted = "".join(mark + char if at in cuts else char for at, char in enumerate(digits))
    match = match_fact(f"Your number is {parted}, all right?\nYes: {parted}.", fact(digits, FactType.ID))
    assert match.mentioned
    assert match.asserted


@given(st.text("0123456789", min_size=3, max_size=8))
def test_leading_zeros_count(digits: str) -> None:
    assume(digits.strip("0"))
    assert not match_fact(f"It is 0{digits}.", fact(digits, FactType.ID)).mentioned
    assert not match_fact(f"It is {digits}.", fact(f"0{digits}", FactType.ID)).mentioned


# ---- dates and times ------------------------------------------------------------------


@given(DAYS, st.data())
def test_every_writing_of_a_day_is_that_day(day: datetime.date, data: st.DataObject) -> None:
    written = data.draw(st.sampled_from(writings(day)))
    assert match_fact(f"It was on {written}.", fact(long_date(day), FactType.DATE)).asserted, written


@given(DAYS, DAYS, st.data())
def test_no_writing_of_another_day_is(day: datetime.date, other: datetime.date, data: st.DataObject) -> None:
    assume(day != other)
    written = data.draw(st.sampled_from(writings(other)))
    assert not match_fact(f"It was on {written}.", fact(long_date(day), FactType.DATE)).mentioned, written


@given(st.dates(datetime.date(2000, 1, 1), datetime.date(2080, 12, 1)), st.integers(1, 20))
def test_a_range_of_days_is_none_of_them(day: datetime.date, length: int) -> None:
    last = day + datetime.timedelta(days=length)
    assume(last.month == day.month)
    month = MONTHS[day.month - 1]
    for written in (f"{month} {day.day}–{last.day}, {day.year}", f"{day.day}-{last.day} {month} {day.year}"):
        for end in (day, last):
            assert not match_fact(f"You are away {written}.", fact(long_date(end), FactType.DATE)).asserted


@given(st.times())
def test_both_clocks_show_the_same_time(time: datetime.time) -> None:
    twelve = f"{time.hour % 12 or 12}:{time.minute:02} {'AM' if time.hour < 12 else 'PM'}"
    wanted = fact(twelve, FactType.TIME)
    assert match_fact(f"It is at {twelve.lower().replace(' ', '')}.", wanted).asserted
    if not 10 <= time.hour <= 12:  # 10:30 by itself may be either half of the day
        assert match_fact(f"It is at {time:%H:%M}.", wanted).asserted


@given(st.times(), st.times())
def test_another_time_is_another_time(time: datetime.time, other: datetime.time) -> None:
    assume((time.hour, time.minute) != (other.hour, other.minute))
    one, two = (f"{t.hour % 12 or 12}:{t.minute:02} {'AM' if t.hour < 12 else 'PM'}" for t in (time, other))
    assert not match_fact(f"It is at {two}.", fact(one, FactType.TIME)).mentioned


# ---- numbers, money, quantities -------------------------------------------------------


@given(st.integers(0, 9_999_999))
def test_every_grouping_of_a_number_is_that_number(number: int) -> None:
    wanted = fact(str(number), FactType.NUMBER)
    for written in (str(number), f"{number:,}", f"{number:,}".replace(",", " "), f"{number}.00"):
        assert match_fact(f"You counted {written} in all.", wanted).asserted, written


@given(st.integers(0, 99_999), st.integers(0, 99_999))
def test_another_number_is_another_number(number: int, other: int) -> None:
    assume(number != other)
    assert not match_fact(f"You counted {other:,} in all.", fact(str(number), FactType.NUMBER)).mentioned


@given(st.integers(1, 999_999), st.sampled_from([("$", "€"), ("€", "£"), ("£", "$")]))
def test_money_wants_its_currency(amount: int, signs: tuple[str, str]) -> None:
    own, other = signs
    wanted = fact(f"{own}{amount:,}", FactType.MONEY)
    assert match_fact(f"It costs {own}{amount}.", wanted).asserted
    assert match_fact(f"It costs {own}{amount:,}.00.", wanted).asserted
    assert not match_fact(f"It costs {other}{amount}.", wanted).mentioned
    assert not match_fact(f"It costs {amount}.", wanted).mentioned
    assert not match_fact(f"It costs {own}{amount} million.", wanted).mentioned


@given(st.integers(1, 500), st.integers(1, 400))
def test_a_range_of_amounts_is_neither_end(low: int, more: int) -> None:
    high = low + more
    for written in (f"${low}–${high}", f"${low}-{high}", f"${low} to ${high}"):
        for end in (low, high):
            assert not match_fact(f"It costs {written}.", fact(f"${end}", FactType.MONEY)).asserted, written


@given(st.integers(0, 100))
def test_a_percentage_is_no_plain_number(number: int) -> None:
    wanted = fact(f"{number}%", FactType.PERCENT)
    assert match_fact(f"It rose by {number} percent.", wanted).asserted
    assert not match_fact(f"It rose by {number}.", wanted).mentioned
    assert not match_fact(f"It rose by {number / 100}.", wanted).mentioned


@given(
    st.integers(1, 999),
    st.sampled_from([("km", "mi"), ("GB", "MB"), ("hours", "minutes"), ("kg", "lb"), ("days", "weeks")]),
)
def test_a_quantity_wants_its_unit(number: int, units: tuple[str, str]) -> None:
    own, other = units
    wanted = fact(f"{number} {own}", FactType.QUANTITY)
    assert match_fact(f"That makes {number} {own}.", wanted).asserted
    assert not match_fact(f"That makes {number} {other}.", wanted).mentioned
    assert not match_fact(f"That makes 1{number} {own}.", wanted).mentioned


# ---- what must not change a verdict ---------------------------------------------------


@given(NAMES, st.sampled_from(["NFC", "NFD", "NFKC"]), st.booleans())
def test_normal_forms_and_case_do_not_matter(name: str, form: str, upper: bool) -> None:
    written = unicodedata.normalize(form, name.upper() if upper else name)  # type: ignore[arg-type]
    assert match_fact(f"It is {written}.", fact(name, FactType.TEXT)).asserted


@given(NAMES, st.integers(1, 3))
def test_invisible_characters_do_not_matter(name: str, at: int) -> None:
    hidden = f"{name[:at]}\u200b{name[at:]}"
    assert match_fact(f"It is \u200f{hidden}\u200e.", fact(name, FactType.TEXT)).asserted


KINDS = (
    DAYS.map(lambda day: fact(long_date(day), FactType.DATE)),
    st.integers(1, 99_999).map(lambda amount: fact(f"${amount:,}", FactType.MONEY)),
    DIGITS.map(lambda digits: fact(digits, FactType.ID)),
    st.sampled_from(["Emma", "Harbor Lane Bank", "Boston"]).map(lambda name: fact(name, FactType.TEXT)),
)
VALUES = st.one_of(KINDS)
PAIRS = st.one_of([st.tuples(kind, kind) for kind in KINDS])


@given(
    VALUES,
    st.sampled_from(
        ["**{}**", "*{}*", "`{}`", "__{}__", "[{}](https://example.com/a_b)", "> {}", "- {}", '"{}"']
    ),
)
def test_markdown_around_a_value_does_not_matter(wanted: GoldFact, around: str) -> None:
    answer = f"Here it is:\n\n{around.format(wanted.fact)}\n"
    match = match_fact(answer, wanted)
    assert match.asserted
    assert match.span is not None
    assert answer[slice(*match.span)].strip("*`_") == wanted.fact


@given(VALUES, st.lists(st.sampled_from(FILLERS), max_size=3), st.lists(st.sampled_from(FILLERS), max_size=3))
def test_courtesies_before_and_after_do_not_matter(
    wanted: GoldFact, before: list[str], after: list[str]
) -> None:
    assert match_fact(" ".join([*before, f"It is {wanted.fact}.", *after]), wanted).asserted


@given(VALUES)
def test_struck_text_is_not_there(wanted: GoldFact) -> None:
    assert not match_fact(f"It is ~~{wanted.fact}~~ unknown.", wanted).mentioned


@given(
    VALUES,
    st.sampled_from(["It is not {}.", "It isn't {}.", "It was never {}.", "Anything but {}.", "Is it {}?"]),
)
def test_a_denial_is_a_mention_and_no_assertion(wanted: GoldFact, denial: str) -> None:
    match = match_fact(denial.format(wanted.fact), wanted)
    assert match.mentioned
    assert not match.asserted


@given(PAIRS)
def test_two_alternatives_assert_neither(pair: tuple[GoldFact, GoldFact]) -> None:
    one, other = pair
    assume(one.fact != other.fact)
    answer = f"It is {one.fact} or {other.fact}."
    assert not match_fact(answer, one).asserted
    assert not match_fact(answer, other).asserted


@given(PAIRS)
def test_a_superseded_value_stated_as_true_undoes_the_match(pair: tuple[GoldFact, GoldFact]) -> None:
    wanted, old = pair
    assume(wanted.fact != old.fact)
    both = GoldFact(wanted.fact, wanted.type, stale=(old.fact,))
    assert match_fact(f"It is {wanted.fact}.", both).asserted
    assert match_fact(f"It is {wanted.fact} (previously {old.fact}).", both).asserted
    assert not match_fact(f"It is {wanted.fact}. It is {old.fact}.", both).asserted
    assert not match_fact(f"It is {old.fact}.", both).asserted


# ---- any text at all ------------------------------------------------------------------

TEXTS = st.one_of(
    st.text(max_size=200),
    st.text("0123456789.,:-/ $€%*_~`[]()|\n#<>&'\"abMayé½²年月日١२", max_size=200),
    st.lists(
        st.sampled_from(
            [
                "$5",
                "May",
                "5",
                "or",
                "not",
                "**",
                "~~",
                "[",
                "](",
                "1.",
                "|",
                "\n",
                "half",
                "past",
                "to",
                ",",
                "–",
            ]
        ),
        max_size=40,
    ).map(" ".join),
)


@settings(max_examples=400)
@given(TEXTS, st.text(max_size=30), TYPES)
@example("x" * 200, "ß", FactType.TEXT)
@example("1" * 199 + ".", "1", FactType.NUMBER)
def test_no_text_breaks_the_matcher(answer: str, value: str, kind: FactType) -> None:
    try:
        wanted = GoldFact(value, kind, stale=("7",))
    except FactError:
        assert not any(char.isalnum() for char in value)
        return
    text = AnswerText(answer)
    match = match_fact(text, wanted)
    assert match.mentioned or not match.asserted
    assert (match.span is None) == (not match.mentioned)
    if match.span is not None:
        assert 0 <= match.span[0] < match.span[1] <= len(answer)
    assert match == match_fact(answer, wanted)
    match_wrong(text, wanted)
    typed_values(text, kind)
    match_fact(text, {"fact": "__ABSTAIN__", "type": "abstain"})


@given(st.text("!?.,;: \n\t-_*()[]", max_size=10), TYPES)
def test_a_fact_without_letter_or_digit_is_refused(value: str, kind: FactType) -> None:
    with pytest.raises(FactError):
        GoldFact(value, kind)
    with pytest.raises(FactError):
        GoldFact("5", kind, accept=(value,))


def test_an_unknown_type_names_the_known_ones() -> None:
    with pytest.raises(FactError, match="money"):
        match_fact("x", {"fact": "x", "type": "colour"})


@pytest.mark.parametrize(
    "joined", ["2:30 PM-3:00 PM", "2:30pm-3pm", "2:30 p.m.–3:00 p.m.", "14:30-15:00", "from 2:30 to 3 PM"]
)
@pytest.mark.parametrize("end", ["2:30 PM", "3:00 PM"])
def test_a_range_of_times_is_neither_end(joined: str, end: str) -> None:
    assert not match_fact(f"You are in {joined}.", fact(end, FactType.TIME)).asserted


@given(st.dates(datetime.date(2000, 1, 1), datetime.date(2080, 12, 28)), st.integers(1, 6))
def test_a_short_form_takes_no_other_weekday(day: datetime.date, off: int) -> None:
    wanted = GoldFact(long_date(day), FactType.DATE, accept=(f"the {day.day}{suffix(day.day)}",))
    wrong = day + datetime.timedelta(days=off)
    assert match_fact(f"It is {day:%A} the {day.day}{suffix(day.day)}.", wanted).asserted
    assert not match_fact(f"It is {wrong:%A} the {day.day}{suffix(day.day)}.", wanted).mentioned
