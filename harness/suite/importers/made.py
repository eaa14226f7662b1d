"""What an importer makes of a data set, before it is written: haystacks, questions, and a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple

from harness.suite.models import Conversation

SCHEMA = "recallbench.import/1"
Done = Literal["excluded", "repaired", "kept"]


class Finding(NamedTuple):
    """Something that is wrong with a data set, or that was changed on the way.

    Attributes:
        kind: short stable name, such as `integer-answer`.
        where: the question, session or message, by its name in the data set.
        what: what is wrong.
        done: excluded, repaired, or kept as it is.
        how: what became of it.
    """

    kind: str
    where: str
    what: str
    done: Done
    how: str


class SourceFile(NamedTuple):
    """A file that was read: its name, its size and the checksum of its bytes."""

    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Question:
    """One question of a data set.

    Attributes:
        id: its name in the data set; the case is called `group_id`.
        group: what tables count it under.
        haystack: name of the conversations that it is about.
        text: the question.
        answer: the gold answer as the data set has it; empty where there is none.
        accept: further answers that the data set accepts.
        answerable: False where it asks for what was never said.
        rubric: whether the gold answer says what a good answer is like, instead of being one.
        trap: the answer that a system gives which falls for a question about nothing.
        evidence: messages that the data set cites, as `conversation#number`.
        asked_at: when it is asked.
        abilities: what it tests besides.
        leniency: what a judge is told to accept, as the data set's own judge is.
    """

    id: str
    group: str
    haystack: str
    text: str
    answer: str
    accept: tuple[str, ...] = ()
    answerable: bool = True
    rubric: bool = False
    trap: str = ""
    evidence: tuple[str, ...] = ()
    asked_at: datetime | None = None
    abilities: tuple[str, ...] = ()
    leniency: str = ""

    @property
    def case_id(self) -> str:
        """The id of the case that it becomes."""
        return f"{self.group}_{self.id}"


@dataclass(slots=True)
class Report:
    """What was read, what was changed and why.

    Attributes:
        form: which data set it is, in a word.
        title: the same in words.
        source: where it comes from.
        licence: under which licence.
        files: what was read.
        findings: every exclusion, repair and oddity, in the order of the files.
        renamed: for each haystack the data set's own session names by ours, where they were masked.
        notes: what else a user has to know.
    """

    form: str
    title: str
    source: str
    licence: str
    files: tuple[SourceFile, ...]
    findings: list[Finding] = field(default_factory=list)
    renamed: dict[str, dict[str, str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add(self, kind: str, where: str, what: str, done: Done, how: str) -> None:
        """Note something."""
        self.findings.append(Finding(kind, where, what, done, how))

    def counts(self) -> dict[tuple[str, Done], int]:
        """Return how often each kind of finding was met with each result, exclusions first."""
        order = ("excluded", "repaired", "kept")
        found = Counter((one.kind, one.done) for one in self.findings)
        return dict(sorted(found.items(), key=lambda item: (order.index(item[0][1]), item[0][0])))


@dataclass(frozen=True, slots=True)
class Imported:
    """A data set as conversations and questions.

    Attributes:
        haystacks: conversations by the haystack's name.
        questions: in the order of the files.
        report: how they came about.
    """

    haystacks: Mapping[str, Sequence[Conversation]]
    questions: Sequence[Question]
    report: Report

    @property
    def groups(self) -> dict[str, int]:
        """How many questions each group has, in the order of their names."""
        return dict(sorted(Counter(question.group for question in self.questions).items()))

    def as_data(self) -> dict[str, Any]:
        """Return the report as plain data."""
        report = self.report
        talks = [talk for haystack in self.haystacks.values() for talk in haystack]
        return {
            "schema": SCHEMA,
            "form": report.form,
            "title": report.title,
            "source": report.source,
            "licence": report.licence,
            "files": [file._asdict() for file in report.files],
            "questions": len(self.questions),
            "groups": self.groups,
            "haystacks": len(self.haystacks),
            "conversations": len(talks),
            "messages": sum(len(talk.messages) for talk in talks),
            "notes": report.notes,
            "counts": [
                {"kind": kind, "done": done, "count": count}
                for (kind, done), count in report.counts().items()
            ],
            "findings": [finding._asdict() for finding in report.findings],
            "renamed_sessions": report.renamed,
        }
