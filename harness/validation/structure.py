"""Rules about the shape of conversations: how many, how long, who speaks when."""

from __future__ import annotations

from collections.abc import Iterator

from harness.errors import Problem
from harness.validation.subject import Subject

MIN_ROUNDS = 50
MIN_WORDS, MAX_WORDS = 1_300, 3_000
TERSE_WORDS = 4
MAX_TERSE_SHARE = 0.05


def layer_conversations(subject: Subject) -> Iterator[Problem]:
    """Layer 1 has one conversation, the layers above have two or more."""
    if subject.source.problems:
        return  # some could not be read, so there is nothing to count
    count, layer = len(subject.transcripts), subject.case.category
    if layer == "layer1" and count != 1:
        mend = "Keep the one that the question is about, or move the case to another layer."
        message = f"a case of layer1 has one conversation, and this one has {count}."
    elif layer in ("layer2", "layer3") and count < 2:
        mend = "Add the other conversations, or move the case to layer1."
        message = f"a case of {layer} has two or more conversations, and this one has {count}."
    else:
        return
    yield subject.header_problem(("category",), message, mend, "layer-conversations")


def alternation(subject: Subject) -> Iterator[Problem]:
    """User and assistant take turns, and the user begins; what others recorded is as it is."""
    if subject.case.haystack is not None:
        return
    for transcript in subject.transcripts:
        expected = "user"
        for index, message in enumerate(transcript.conversation.messages):
            if message.role != expected:
                said = f"the {message.role} speaks where it is the {expected}'s turn."
                mend = "Join it with the turn before, or write the turn that is missing."
                yield subject.message_problem(transcript, index, said, mend, "alternation")
            expected = "assistant" if message.role == "user" else "user"


def rounds(subject: Subject) -> Iterator[Problem]:
    """Every conversation is long enough that a value can be buried in it."""
    for transcript in subject.transcripts:
        count = transcript.conversation.rounds
        if count < MIN_ROUNDS:
            message = f"the conversation has {count} rounds, and {MIN_ROUNDS} are needed."
            mend = "Write what else is talked about."
            yield subject.conversation_problem(transcript, message, mend, "too-few-rounds")


def length(subject: Subject) -> Iterator[Problem]:
    """Every conversation has as many words as such a talk has."""
    for transcript in subject.transcripts:
        count = transcript.conversation.words
        if not MIN_WORDS <= count <= MAX_WORDS:
            message = f"the conversation has {count} words; {MIN_WORDS} to {MAX_WORDS} are asked for."
            mend = "Let people say more." if count < MIN_WORDS else "Cut what serves nothing."
            yield subject.conversation_problem(transcript, message, mend, "conversation-length")


def terse_messages(subject: Subject) -> Iterator[Problem]:
    """Few messages of a conversation are of one, two or three words."""
    for transcript in subject.transcripts:
        messages = transcript.conversation.messages
        terse = [index for index, message in enumerate(messages) if message.words < TERSE_WORDS]
        if len(terse) > MAX_TERSE_SHARE * len(messages):
            numbers = ", ".join(f"#{index + 1}" for index in terse)
            message = (
                f"{len(terse)} of {len(messages)} messages have fewer than {TERSE_WORDS} words ({numbers}); "
                f"{MAX_TERSE_SHARE:.0%} may."
            )
            yield subject.conversation_problem(transcript, message, "Let people say more.", "terse-messages")
