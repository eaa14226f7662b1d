"""Small invented conversations with words in them that exist nowhere else.

The words are new in every check, so that nothing can know them but from the conversations. The
conversations are called the same in every haystack, as they are in real suites.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from harness.adapters.protocol import Memory
from harness.suite import Conversation, Message

_ZONE = timezone(timedelta(hours=-5))
_DAYS = (
    datetime(2025, 3, 4, 10, 15, tzinfo=_ZONE),
    datetime(2025, 3, 18, 16, 40, tzinfo=_ZONE),
    datetime(2025, 4, 9, 9, 5, tzinfo=_ZONE),
)
ASKED_AT = datetime(2025, 4, 20, 9, 0, tzinfo=_ZONE)
SCRIPTS = ("東京の天気", "été", "Ångström", "שלום", "🦉👩🏽‍🚀", "naïve", "ไทย")
"""Written as they are said: composed, decomposed, right to left, joined by zero-width characters."""


@dataclass(frozen=True, slots=True)
class Planted:
    """A fact: the question for it, the word that tells it, and the conversation where it stands."""

    question: str
    word: str
    conversation: str

    def among(self, memories: tuple[Memory, ...]) -> bool:
        """Whether one of the memories tells it."""
        return any(says(memory.text, self.word) for memory in memories)


@dataclass(frozen=True, slots=True)
class Haystack:
    """Conversations and what was planted in them.

    Attributes:
        conversations: in order of time.
        facts: told once each, the last in the last conversation.
        corrected: what the last conversation says instead of the first.
        outdated: the word that the first conversation told for it.
        label: told in the metadata of the first conversation only.
    """

    conversations: tuple[Conversation, ...]
    facts: tuple[Planted, ...]
    corrected: Planted
    outdated: str
    label: Planted

    @property
    def words(self) -> tuple[str, ...]:
        """Every planted word."""
        told = [fact.word for fact in (*self.facts, self.corrected, self.label)]
        return (*told, self.outdated)

    @property
    def questions(self) -> tuple[str, ...]:
        """A question for every planted word."""
        return tuple(fact.question for fact in (*self.facts, self.corrected, self.label))


class Planter:
    """Invents haystacks, each with words of its own.

    Args:
        seed: makes the words the same in every check, as a cassette needs; None for new ones.
    """

    def __init__(self, seed: int | None = None) -> None:
        self._random = random.Random(seed)
        self._used: set[str] = set()

    def word(self) -> str:
        """Return a word that was not used before, five syllables long."""
        while True:
            pairs = (self._random.choice("bdfgklmnprstvz") + self._random.choice("aeiou") for _ in range(5))
            word = "".join(pairs).capitalize()
            if word not in self._used:
                self._used.add(word)
                return word

    def haystack(self) -> Haystack:
        """Return three conversations."""
        dentist, berth, gardener, old, new, company = (self.word() for _ in range(6))
        first = _conversation(
            0,
            {"business": f"{company} Leisure", "channel": "phone"},
            f"I have rented a locker at the swimming pool. The locker code is {old}.",
            f"Noted: the locker code at the swimming pool is {old}.",
            f"And my dentist is called Doctor {dentist}, in case I forget.",
            f"I will remember that your dentist is Doctor {dentist}.",
        )
        second = _conversation(
            1,
            {"channel": "chat"},
            f"The boat has a new place in the harbour: the berth is called {berth}.",
            f"The boat lies at the berth {berth} from now on.",
            "The ropes were wet, and it rained all afternoon.",
            "That sounds like a long day on the water.",
        )
        third = _conversation(
            2,
            {"channel": "phone"},
            f"They changed it at the swimming pool: from today the locker code is {new}.",
            f"I have noted that the locker code is {new} from today.",
            f"We found somebody for the hedge. The gardener is called {gardener}.",
            f"Good to know: {gardener} is the gardener.",
        )
        return Haystack(
            (first, second, third),
            (
                Planted("What is my dentist called?", dentist, first.id),
                Planted("What is the berth of the boat called?", berth, second.id),
                Planted("What is the gardener called?", gardener, third.id),
            ),
            Planted("What is the locker code at the swimming pool?", new, third.id),
            old,
            Planted("Which leisure business was I on the phone with?", company, first.id),
        )

    def scripts(self) -> tuple[Conversation, Planted]:
        """Return a conversation in many scripts, without metadata, and the word beside them."""
        word = self.word()
        talk = _conversation(
            0,
            {},
            f"The password of the lighthouse is {word}, and these belong to it: {' '.join(SCRIPTS)}",
            "Noted. 👍",
        )
        return talk, Planted("What is the password of the lighthouse?", word, talk.id)

    def long(self, characters: int = 100_000) -> tuple[Conversation, Planted]:
        """Return a conversation with one very long message, the word at its end."""
        word = self.word()
        filler = "The list goes on with nails, screws, hinges and a tin of paint. "
        said = f"{filler * (characters // len(filler))}The password of the shed is {word}."
        talk = _conversation(0, {}, said, "That is a long list.")
        return talk, Planted("What is the password of the shed?", word, talk.id)


def says(text: str, word: str) -> bool:
    """Whether a text holds a planted word."""
    return word.casefold() in text.casefold()


def _conversation(number: int, metadata: dict[str, str], *texts: str) -> Conversation:
    messages = tuple(
        Message("user" if turn % 2 == 0 else "assistant", text) for turn, text in enumerate(texts)
    )
    return Conversation(f"conv_{number + 1:03}", _DAYS[number], metadata, messages)
