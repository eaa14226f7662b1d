"""What a reader sees of an answer, and where each character of it came from."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.facts import AnswerText
from harness.facts.blocks import heading_of
from harness.facts.markdown import BREAK, ITEM
from harness.facts.normalise import normalise

SHOWN = [
    ("plain", "Plain text.", "plain text."),
    ("emphasis", "**a** *b* __c__ _d_ `e`", "a b c d e"),
    ("intraword", "emma_smith 5*3 a_b_c", "emma_smith 5*3 a_b_c"),
    ("struck", "~~Chicago~~ Boston", "  boston"),
    ("struck html", "<del>Chicago</del> Boston", "  boston"),
    ("link", "[Paris](https://example.com/x_(y))", "paris"),
    ("link with marks", "[**Paris**][1]", "paris"),
    ("image", "![a map](x.png)", "a map"),
    ("autolink", "<ann@example.com>", "ann@example.com"),
    ("footnote", "Paris[1] and Rome[^a]", "paris and rome"),
    ("entity", "AT&amp;T&nbsp;x", "at&t x"),
    ("escape", "C\\+\\+", "c++"),
    ("heading", "## Now\nBoston", f"now:{BREAK}boston"),
    ("bullets", "Yours:\n- a\n* b", f"yours:{ITEM}a{ITEM}b"),
    ("numbers of a list", "1. a\n2. b", f"a{ITEM}b"),
    ("no list", "1. Paris", "1. paris"),
    ("quote", "> a\n> b", "a\nb"),
    ("soft break", "a\nb", "a\nb"),
    ("paragraphs", "a\n\nb", f"a{BREAK}{BREAK}b"),
    ("html break", "a<br>b", "a\nb"),
    ("table", "| a | b |\n|---|---|\n| c | d |", f"| a | b |{BREAK}{ITEM}| c | d |"),
    ("code", "```\na_b *c*\n```", f"{BREAK}a_b *c*{BREAK}"),
    ("quotes and dashes", "“a” ‑ – —", '"a" - – —'),
    ("full width", "１２：３０", "12:30"),
    ("zero width", "pass\u200bword", "password"),
    ("superscript stays", "10²", "10²"),
    ("subscript of a name", "H₂O", "h2o"),
    ("sharp s", "Straße", "strasse"),
    ("dotted I", "İstanbul", "istanbul"),
    ("composed", "cafe\u0301", "café"),
    ("digits of other scripts", "१२३४", "1234"),
]


@pytest.mark.parametrize(("raw", "shown"), [row[1:] for row in SHOWN], ids=[row[0] for row in SHOWN])
def test_what_is_shown(raw: str, shown: str) -> None:
    assert normalise(raw).text == shown


@given(st.text("ab5*_~`[]()<>|#>-\n é\u0301½ß…’１", max_size=60))
def test_every_character_comes_from_somewhere(raw: str) -> None:
    read = normalise(raw)
    assert len(read.text) == len(read.cased)
    before = 0
    for at in range(len(read.text)):
        start, end = read.source_span(at, at + 1)
        assert 0 <= start < end <= len(raw)
        assert start >= before
        before = start
    whole = read.source_span(0, len(read.text)) if read.text else (0, 0)
    assert 0 <= whole[0] <= whole[1] <= len(raw)


@given(st.text("abcXYZ éàñ", min_size=1, max_size=20))
def test_normal_forms_read_alike(raw: str) -> None:
    forms = {normalise(unicodedata.normalize(form, raw)).text for form in ("NFC", "NFD")}
    assert len(forms) == 1


@pytest.mark.parametrize(
    ("answer", "sentences"),
    [
        ("One. Two! Three? Four", 4),
        ("See Dr. Chen. She knows.", 2),
        ("It is at 3 p.m. on Monday.", 1),
        ("It is at 3 p.m. Please come.", 2),
        ("No. 12 is yours, e.g. on Mar. 5.", 1),
        ("It costs $3.50. Fine.", 2),
        ("Is it no. Paris is.", 2),
        ("東京です。京都です。", 2),
        ("a\n\nb", 3),
    ],
)
def test_sentences(answer: str, sentences: int) -> None:
    assert len(AnswerText(answer).ends) == sentences


def test_what_stands_over_a_value() -> None:
    text = AnswerText("Gone:\n\n- a\n- b\n\nNow: c\n\n| x | old | new |\n|--|--|--|\n| y | d | e |").text
    assert heading_of(text, text.index("b")) == ("gone:", "")
    assert heading_of(text, text.index("c")) == ("", "")
    own, others = heading_of(text, text.rindex("d |"))
    assert own == "old"
    assert "new" in others
