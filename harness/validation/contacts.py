"""The rule that nobody real can be reached: telephone numbers, addresses and cards are fictional."""

from __future__ import annotations

import re
from collections.abc import Iterator

from harness.errors import Problem
from harness.validation.subject import Subject

_PHONE = re.compile(
    r"""(?x)(?<![\w-])
    (?:(?:\+?1[-. ])?\(?\d{3}\)?[-. ](?P<local>\d{3}[-. ]\d{4}) | (?P<alone>\d{3}[-.]\d{4}))
    (?![\w-])"""
)
_FICTIONAL_PHONE = re.compile(r"555[-. ]01\d\d")
_EMAIL = re.compile(r"[\w.+-]+@(?P<domain>[\w-]+(?:\.[\w-]+)+)")
_FICTIONAL_DOMAIN = re.compile(r"(?:.+\.)?example\.(?:com|org|net)", re.IGNORECASE)
_CARD = re.compile(r"(?<![\w-])\d(?:[ -]?\d){12,18}(?![\w-])")


def contacts(subject: Subject) -> Iterator[Problem]:
    """Numbers are 555-01xx, addresses at example.com, .org or .net, and no card number is valid."""
    for transcript in subject.transcripts:
        for index, message in enumerate(transcript.conversation.messages):
            for told, mend in _real_ones(message.text):
                yield subject.message_problem(transcript, index, told, mend, "real-contact")


def _real_ones(text: str) -> Iterator[tuple[str, str]]:
    for phone in _PHONE.finditer(text):
        if not _FICTIONAL_PHONE.fullmatch(phone["local"] or phone["alone"]):
            yield f"{phone[0]!r} may be somebody's number.", "Use one of 555-0100 to 555-0199."
    for address in _EMAIL.finditer(text):
        if not _FICTIONAL_DOMAIN.fullmatch(address["domain"]):
            yield f"{address[0]!r} may be somebody's address.", "Use one at example.com, .org or .net."
    for card in _CARD.finditer(text):
        if passes_luhn(card[0]):
            yield f"{card[0]!r} may be somebody's card: its check digit is right.", "Change a digit."


def passes_luhn(number: str) -> bool:
    """Tell whether the last digit of a number is the check digit that Luhn's formula gives (ISO/IEC 7812-1)."""
    digits = [int(char) for char in number if char.isdigit()]
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[-2::-2])
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0
