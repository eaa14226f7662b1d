"""What is stored and asked: texts like those of a personal memory, the same for the same seed everywhere."""

from __future__ import annotations

import hashlib
import random
from functools import cached_property
from typing import NamedTuple

_PEOPLE = (
    "Orla Wendell Ines Tomas Priya Desmond Yuki Amara Felix Noor Greta Mateo Sunniva Kofi Leila Bastian Mirela "
    "Anouk Ravi Sorcha Emeka Petra Jonas Halima Viggo Zuzana Idris Paloma Callum Thandi Oskar Marisol"
).split()
_PLACES = (
    "Fern Hill|Harbor Lane|the Pellam Street branch|Alder & Finch|the north car park|Quarry Road|the old mill|"
    "Tessaro|the clinic on Birch Street|platform four|the allotment|Saltmarsh Cottage|the second floor|"
    "the community hall|Kestrel Yard|the bakery by the canal"
).split("|")
_THINGS = (
    "boiler|beagle's vaccination|blue bicycle|tax return|violin lesson|passport renewal|garden fence|dental bridge|"
    "wedding cake|car insurance|night shift|moving van|swimming course|reading glasses|kitchen tiles|choir concert|"
    "physiotherapy|roof inspection|tenancy agreement|birthday parcel|solar panels|language exam|fishing permit|"
    "hearing test"
).split("|")
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_MONTHS = "January February March April May June July August September October November December".split()
_REASONS = (
    "because the first date clashed with work|since the invoice had the wrong name on it|"
    "after a long call with the front desk|as the spare part has not arrived|although the weather looks poor|"
    "so that the neighbors are not disturbed|once the deposit is paid|unless the doctor says otherwise"
).split("|")
_SHAPES = (
    (
        "{who} moved the {thing} to {day}, {month} {date}, at {place}, {reason}; the reference is {code}.",
        "When is the {thing} of {who} at {place}?",
    ),
    (
        "The {thing} costs {who} ${money}, to be paid at {place} before {month} {date}, {reason}. Booking {code}.",
        "How much does {who} pay for the {thing}?",
    ),
    (
        "{who} prefers {place} for the {thing} and asked never to be called on a {day}; file {code}.",
        "Where does {who} want the {thing} to be?",
    ),
    (
        "On {month} {date} {who} told {other} about the {thing} at {place}, {reason}. They agreed on ${money}; "
        "note {code}.",
        "What did {who} tell {other} about the {thing}?",
    ),
    (
        "{other} looks after the {thing} while {who} is away until {day}, {month} {date}; the key is at {place}, "
        "number {code}.",
        "Who looks after the {thing} while {who} is away?",
    ),
)
_LETTERS = "bcdfghjkmnpqrstvwxz"
_TAG_LETTERS = 4


class Marked(NamedTuple):
    """A text that can be told from every other, whole or torn.

    Attributes:
        text: all of it.
        head: what only its beginning holds.
        tail: what only its end holds.
    """

    text: str
    head: str
    tail: str


class Workload:
    """Memories, questions about them, and marked texts, all by number.

    Args:
        seed: another seed gives other texts.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed

    @cached_property
    def digest(self) -> str:
        """What tells whether two runs stored and asked the same: 12 hexadecimal digits."""
        texts = [self.memory(number) for number in range(50)] + [
            self.question(number) for number in range(50)
        ]
        return hashlib.sha256("\n".join([*texts, self.marked("x", 1, 300).text]).encode()).hexdigest()[:12]

    def memory(self, number: int) -> str:
        """Return a memory of 60 to 190 characters."""
        return self._shaped(number)[0]

    def question(self, number: int) -> str:
        """Return a question that memory `number` answers."""
        return self._shaped(number)[1]

    def asked(self, of: int, count: int, kind: str) -> list[str]:
        """Return questions about memories drawn from the first `of`.

        Args:
            of: number of memories that are stored.
            count: number of questions.
            kind: another word draws others.
        """
        draw = random.Random(f"{self.seed}/{kind}/{of}").random
        return [self.question(int(draw() * of)) for _ in range(count)]

    def text_of(self, length: int, number: int, kind: str) -> str:
        """Return a text of exactly `length` characters; none begins like another."""
        draw = random.Random(f"{self.seed}/{kind}/{length}/{number}").random
        parts = [f"Note {number + 1}:"]
        held = len(parts[0])
        while held < length:
            parts.append(self.memory(int(draw() * 1_000_000)))
            held += 1 + len(parts[-1])
        return " ".join(parts)[: length - 1] + "." if length > 1 else "."

    def marked(self, kind: str, number: int, length: int) -> Marked:
        """Return a text of about `length` characters with a mark at both ends that nothing else has."""
        draw = random.Random(f"{self.seed}/{kind}").random
        letters = "".join(_LETTERS[int(draw() * len(_LETTERS))] for _ in range(_TAG_LETTERS))
        head, tail = f"{letters}{number:06}a", f"{letters}{number:06}z"
        body = self.text_of(max(2, length - len(head) - len(tail) - 10), number, kind)
        return Marked(f"Entry {head}. {body} End {tail}.", head, tail)

    def _shaped(self, number: int) -> tuple[str, str]:
        draw = random.Random(f"{self.seed}/memory/{number}").random

        def one(of: tuple[str, ...] | list[str]) -> str:
            return of[int(draw() * len(of))]

        statement, question = _SHAPES[int(draw() * len(_SHAPES))]
        known = {
            "who": one(_PEOPLE),
            "other": one(_PEOPLE),
            "thing": one(_THINGS),
            "place": one(_PLACES),
            "day": one(_DAYS),
            "month": one(_MONTHS),
            "date": 1 + int(draw() * 28),
            "money": 20 + int(draw() * 980),
            "reason": one(_REASONS),
            "code": f"{one(list(_LETTERS)).upper()}{number:06}",
        }
        return statement.format(**known), question.format(**known)
