"""Systems that know nothing and try to score all the same; a sound benchmark fails every one of them."""

from __future__ import annotations

from harness.adapters.protocol import Adapter, Question, Space
from harness.suite import Conversation


class _Cheat:
    """Takes the conversations in and looks at none of them."""

    def ingest(self, conversation: Conversation) -> None:
        pass


class _Echo(_Cheat):
    def answer(self, question: Question) -> str:
        return question.text


class _Abstain(_Cheat):
    def answer(self, question: Question) -> str:
        return "I don't know. That was not mentioned in our conversations."


class _Bluff(_Cheat):
    def answer(self, question: Question) -> str:
        return (
            f"You asked: {question.text} Yes, we did talk about that, and it was all arranged as you wanted. "
            "The details, dates and amounts are the ones that you agreed on at the time, with the changes you "
            "made afterwards taken into account. Let me know if you would like to change anything about it."
        )


class _Dump(_Cheat):
    def __init__(self) -> None:
        self.said: list[str] = []

    def ingest(self, conversation: Conversation) -> None:
        self.said += [f"{message.role}: {message.text}" for message in conversation.messages]

    def answer(self, question: Question) -> str:
        return "\n".join(self.said)


class _Cheater(Adapter):
    isolation = "inline"
    uses_folder = False
    capabilities = frozenset({"answer"})


class Echo(_Cheater):
    """Answers with the question."""

    def open(self, space: Space) -> _Echo:
        """Return an agent that repeats the question."""
        return _Echo()


class Abstain(_Cheater):
    """Always says that it does not know."""

    def open(self, space: Space) -> _Abstain:
        """Return an agent that declines."""
        return _Abstain()


class Bluffer(_Cheater):
    """Stays on the topic and commits to nothing."""

    def open(self, space: Space) -> _Bluff:
        """Return an agent that is topical and vague."""
        return _Bluff()


class Dump(_Cheater):
    """Answers with the whole transcript."""

    def open(self, space: Space) -> _Dump:
        """Return an agent that pastes everything."""
        return _Dump()
