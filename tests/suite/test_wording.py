from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.suite.wording import count_words, first_words

TEXT = st.text(st.sampled_from("ab \n\t\u00a0\u2003\u200bé記録한あ/"), max_size=80) | st.text(max_size=60)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        (" \n", 0),
        ("It is $1,186 with tax.", 5),
        ("one\ntwo\u00a0three", 3),
        ("料金は四十五ドルです", 10),
        ("the 記録 of it", 5),
        ("a" * 20, 1),
        ("a" * 21, 2),
        ("/".join(["word"] * 40), 10),
        ("é" * 60, 3),
    ],
)
def test_words_are_counted(text: str, count: int) -> None:
    assert count_words(text) == count


@given(TEXT, st.integers(0, 40))
def test_the_first_words_are_a_beginning_with_so_many_words(text: str, count: int) -> None:
    first = first_words(text, count)
    assert text.startswith(first)
    assert count_words(first) == min(count, count_words(text))
    if count >= count_words(text):
        assert first == text


@given(st.text(st.sampled_from("ab \n\x1c\t$,."), max_size=80))
def test_both_ways_of_counting_agree(text: str) -> None:
    assert count_words(text) == count_words(text + " \u00e9") - 1
