"""Whether a quote stands in an answer: the words count, how they are written does not."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from harness.scoring.judge.quotes import occurs, said

# Letters that stay themselves when their case is changed; a ligature or a sharp s does not.
LETTERS = st.characters(categories=["Lu", "Ll", "Lo"]).filter(
    lambda char: char.upper().casefold() == char.casefold() == char.lower().casefold() and len(char.upper()) == 1
)  # fmt: skip
WORDS = st.lists(st.text(LETTERS | st.sampled_from("0123456789"), min_size=1, max_size=8), min_size=1)
ASIDE = st.sampled_from([" ", "\n", ", ", " - ", "** ", " “", "? ", "\t", " \u00a0", " | ", "; ", " (", ". "])


@st.composite
def answers(draw: st.DrawFn) -> tuple[str, list[str]]:
    words = draw(WORDS)
    return "".join(word + draw(ASIDE) for word in words), words


@given(data=st.data(), answer=answers())
def test_words_in_a_row_stand_in_the_answer_however_they_are_written(
    data: st.DataObject, answer: tuple[str, list[str]]
) -> None:
    text, words = answer
    start = data.draw(st.integers(0, len(words) - 1))
    end = data.draw(st.integers(start + 1, len(words)))
    turned = [data.draw(st.sampled_from([str, str.upper, str.lower, str.swapcase]))(word) for word in words]
    quote = data.draw(ASIDE) + "".join(word + data.draw(ASIDE) for word in turned[start:end])
    assert occurs(quote, said(text))


@given(data=st.data(), digits=st.text("0123456789", min_size=1, max_size=12), words=WORDS)
def test_a_changed_digit_does_not_stand(data: st.DataObject, digits: str, words: list[str]) -> None:
    at = data.draw(st.integers(0, len(digits) - 1))
    changed = (
        digits[:at] + data.draw(st.sampled_from("0123456789".replace(digits[at], ""))) + digits[at + 1 :]
    )
    answer = said(f"It is {digits} now.")
    assert occurs(f"is {digits}", answer)
    assert not occurs(f"is {changed}", answer)


@given(data=st.data(), words=st.lists(st.text("abcdefgh", min_size=1, max_size=6), min_size=1, max_size=8))
def test_a_changed_letter_does_not_stand(data: st.DataObject, words: list[str]) -> None:
    text = " ".join(words)
    at = data.draw(st.integers(0, len(text) - 1))
    assume(text[at] != " ")
    assert not occurs(f"{text[:at]}z{text[at + 1 :]}", said(text))


@given(st.text(st.characters(categories=["P", "S", "Z", "Cf", "Cc"])), st.text())
def test_a_quote_of_nothing_never_stands(quote: str, answer: str) -> None:
    assume(not any(word.isalnum() for word in said(quote).stream))
    assert not occurs(quote, said(answer))
    assert not occurs(quote, said(quote))


@given(st.text())
def test_an_answer_stands_in_itself(text: str) -> None:
    answer = said(text)
    assert occurs(text, answer) == bool(answer.words)


@given(data=st.data(), answer=answers())
def test_an_ellipsis_leaves_words_out_but_keeps_the_order(
    data: st.DataObject, answer: tuple[str, list[str]]
) -> None:
    text, words = answer
    cuts = sorted(data.draw(st.lists(st.integers(0, len(words)), min_size=4, max_size=4)))
    parts = [" ".join(words[cuts[0] : cuts[1]]), " ".join(words[cuts[2] : cuts[3]])]
    assume(any(parts))
    dots = data.draw(st.sampled_from(["…", "...", " ... ", " […] ", "....."]))
    assert occurs(dots.join(parts), said(text))


SAID = said("The fee is **$1,299.50**, due on 24 March;\nit wasn't $30. Order 4429 853 327, Straße 5, 2 × 6.")


@pytest.mark.parametrize(
    ("quote", "stands"),
    [
        ("the FEE is $1,299.50", True),
        ("fee is 1299.50", True),
        ("due on 24 March… Order 4429853327", True),
        ("it wasn’t $30", True),
        ("STRASSE 5", True),
        ("２ x", False),
        ("２", True),
        ("Order 4429 853 327 ... fee", False),
        ("fee ... fee", False),
        ("12", False),
        ("$299", False),
        ("299.50", False),
        ("$1,299", False),
        ("853", True),
        ("53 327", False),
        ("24 March it", True),
        ("24 March 2025", False),
        ("was $30", False),
        ("ee is", False),
        ("", False),
        ("…", False),
        ("... ** ...", False),
    ],
)
def test_quotes(quote: str, stands: bool) -> None:
    assert occurs(quote, SAID) is stands


@given(st.integers(0, 9_999_999), st.integers(0, 9_999_999))
def test_an_amount_stands_only_as_a_whole(amount: int, other: int) -> None:
    assert occurs(f"${other:,}", said(f"It costs ${amount:,}.")) == (amount == other)


def test_words_are_counted() -> None:
    assert said("Not 1,299.50: **two** _words_ – and 3/24!").words == 7
    assert said(" – … ").words == 0


@pytest.mark.parametrize(
    ("quote", "answer"),
    [
        ("東京", "会議は東京で開催されます"),
        ("3月24日", "会議は3月24日です"),
        ("$1,299", "合計は$1,299です"),
        ("วันจันทร์", "นัดวันจันทร์"),
    ],
    ids=["place", "date", "amount", "Thai"],
)
def test_scripts_without_spaces_have_words_too(quote: str, answer: str) -> None:
    assert occurs(quote, said(answer))
    assert not occurs("24日", said("会議は324日です"))
