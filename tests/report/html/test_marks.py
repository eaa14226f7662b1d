"""Texts of others: nothing hidden in them, and marks that leave them as they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.report.html.marks import Piece, Span, cut, quotes, visible


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain text\nof two lines\t", "plain text\nof two lines\t"),
        ("a\u202eb", "a[U+202E]b"),
        ("a\x00b\x1b[0m", "a[U+0000]b[U+001B][0m"),
        ("half \ud800", "half [U+D800]"),
        ("tag \U000e0041", "tag [U+E0041]"),
        ("emoji 👩‍👧 and مرحبا", "emoji 👩‍👧 and مرحبا"),
        ("one\r\ntwo", "one\ntwo"),
    ],
)
def test_visible(text: str, expected: str) -> None:
    assert visible(text) == expected


def test_the_strongest_of_overlapping_spans_shows() -> None:
    spans = [Span(0, 6, "found", "a"), Span(4, 8, "wrong", "b"), Span(20, 30, "found", "outside")]
    assert cut("abcdefghij", spans) == (
        Piece("abcd", "found", "a"),
        Piece("ef", "wrong", "a; b"),
        Piece("gh", "wrong", "b"),
        Piece("ij"),
    )


@given(st.text(), st.lists(st.tuples(st.integers(-3, 40), st.integers(-3, 40))))
def test_pieces_make_up_the_text(text: str, places: list[tuple[int, int]]) -> None:
    pieces = cut(text, [Span(start, end, "found", "") for start, end in places])
    joined = "".join(piece.text for piece in pieces)
    assert joined.replace("\n", "") == visible(text).replace("\n", "")


def test_quotes_are_found_where_they_stand() -> None:
    assert quotes("the fee is 45", [("fee", "quote", "n"), ("gone", "quote", ""), ("", "quote", "")]) == [
        Span(4, 7, "quote", "n")
    ]
