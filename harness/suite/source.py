"""A case file read whole: its conversations, and the line of everything in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

from harness.errors import Problem, SuiteError
from harness.suite import legacy
from harness.suite.checking import check
from harness.suite.chunks import Chunk, read_chunks, read_header, unreadable
from harness.suite.models import Case, Conversation, Message
from harness.suite.schema import CONVERSATION
from harness.suite.yaml_reader import Document, FieldPath, parse


@dataclass(frozen=True, slots=True)
class Transcript:
    """A conversation and where it stands in its file.

    Attributes:
        conversation: what was said.
        document: the document it was read from.
        at: the path of the conversation in the document.
        turns_at: the path of its messages.
    """

    conversation: Conversation
    document: Document
    at: FieldPath = ()
    turns_at: FieldPath = ("messages",)

    def line(self, key: str | None = None) -> int:
        """Return the line of the conversation, or of one of its keys."""
        return self.document.line(self.at if key is None else (*self.at, key))

    def message_line(self, index: int) -> int:
        """Return the line of a message, counted from 0."""
        return self.document.line((*self.turns_at, index))


@dataclass(frozen=True, slots=True)
class Source:
    """Everything in the file of a case.

    Attributes:
        case: the case.
        header: the first document, to ask for the lines of its fields.
        transcripts: the conversations that could be read.
        problems: why others could not.
    """

    case: Case
    header: Document
    transcripts: tuple[Transcript, ...]
    problems: tuple[Problem, ...]


def read_conversations(case: Case) -> tuple[Conversation, ...]:
    """Return the conversations of a case.

    Raises:
        SuiteError: with every problem of every conversation.
    """
    source = read_source(case)
    if source.problems:
        raise SuiteError(source.problems)
    return tuple(transcript.conversation for transcript in source.transcripts)


def read_source(case: Case) -> Source:
    """Read the whole file of a case, setting aside what is broken.

    Raises:
        SuiteError: when not even the header can be read any more.
    """
    problems: list[Problem] = []
    try:
        header_chunk, *chunks = read_chunks(case.path)
        if case.haystack is not None:
            return _of_haystack(case, parse(header_chunk))
    except SuiteError as error:
        problems += error.problems
        header_chunk, chunks = read_header(case.path), []
    header = parse(header_chunk)
    try:
        readers = _readers(header, chunks)
    except SuiteError as error:
        problems += error.problems
        readers = ()
    transcripts, more = _transcripts(readers)
    problems += more
    if not transcripts and not problems:
        mend = "Add each as a further document, after a line `---`."
        problems.append(header.problem((), "the case has no conversation.", mend, "no-conversation"))
    return Source(case, header, transcripts, tuple(problems))


def _of_haystack(case: Case, header: Document) -> Source:
    """Return a case with the conversations of the haystack that it shares with others."""
    assert case.haystack is not None
    try:
        state = case.haystack.stat()
        transcripts, problems = _haystack(case.haystack, state.st_mtime_ns, state.st_size)
    except OSError as error:
        return Source(case, header, (), (unreadable(case.haystack, error),))
    except SuiteError as error:
        return Source(case, header, (), error.problems)
    return Source(case, header, transcripts, problems)


@lru_cache(maxsize=2)  # hundreds of questions are asked of one haystack, and its cases stand together
def _haystack(path: Path, changed: int, size: int) -> tuple[tuple[Transcript, ...], tuple[Problem, ...]]:
    """Read the conversations of a haystack: every document is one."""
    return _transcripts([partial(_from_chunk, chunk) for chunk in read_chunks(path)])


def _transcripts(
    readers: Sequence[Callable[[], Transcript]],
) -> tuple[tuple[Transcript, ...], tuple[Problem, ...]]:
    """Return the conversations that can be read, and what is wrong with the others."""
    problems: list[Problem] = []
    transcripts: list[Transcript] = []
    first: dict[str, Transcript] = {}
    for read in readers:
        try:
            transcript = read()
        except SuiteError as error:
            problems += error.problems
            continue
        name = transcript.conversation.id
        if name in first:
            message = f"a second conversation is called {name!r}; the first is on line {first[name].line()}."
            mend = "Give each conversation of the case a name of its own."
            where = (*transcript.at, "conversation_id")
            problems.append(transcript.document.problem(where, message, mend, "duplicate-id"))
        first.setdefault(name, transcript)
        transcripts.append(transcript)
    return tuple(transcripts), tuple(problems)


def _readers(header: Document, chunks: Sequence[Chunk]) -> Sequence[Callable[[], Transcript]]:
    """Return a reader for each conversation of the file, so that each can fail alone."""
    if not legacy.is_legacy(header):
        return [partial(_from_chunk, chunk) for chunk in chunks]
    return [partial(_from_legacy, header, number) for number in range(legacy.count_conversations(header))]


def _from_chunk(chunk: Chunk) -> Transcript:
    document = parse(chunk)
    fields = check(CONVERSATION, document, document.value)
    messages = (Message(role, text) for turn in fields["messages"] for role, text in turn.items())
    return Transcript(legacy.conversation_of(fields, messages), document)


def _from_legacy(document: Document, number: int) -> Transcript:
    conversation, at, turns_at = legacy.read_conversation(document, number)
    return Transcript(conversation, document, at, turns_at)
