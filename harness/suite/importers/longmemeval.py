"""LongMemEval (Wu et al., 2025): 500 questions, each over a chat history of its own.

A file is a list of `{question_id, question_type, question, answer, question_date, haystack_sessions,
haystack_dates, haystack_session_ids, answer_session_ids}`; a turn is `{role, content, has_answer?}`.
The `oracle` file has the evidence sessions alone, `S` and `M` bury them in others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import count
from typing import Any, NamedTuple

from harness.suite.importers.made import Imported, Question, Report
from harness.suite.importers.reading import plain, written_date
from harness.suite.models import Conversation, Message, Role

FORM = "longmemeval"
TITLE = "LongMemEval (Wu et al., ICLR 2025)"
SOURCE = "https://github.com/xiaowu0162/LongMemEval"
LICENCE = "MIT, as its repository states; the talks in it come from ShareGPT and UltraChat"
ABSTAINS = "_abs"
ABILITIES = {
    "knowledge-update": ("knowledge_update",),
    "temporal-reasoning": ("temporal",),
    "single-session-preference": ("preference",),
    "single-session-assistant": ("assistant_stated",),
}
LENIENCY = {
    "temporal-reasoning": "A count of days, weeks or months that is off by one is accepted.",
    "knowledge-update": "An answer that also tells an earlier value is right when it gives the updated one.",
}
RUBRIC = "single-session-preference"
_ACCEPTABLE = re.compile(r"(?P<first>[^.]+)\. (?P<other>[^.(]+?)(?: \([^)]*\))? is also acceptable\.?")
_NAME = re.compile(r"[^A-Za-z0-9._-]+")
_GROUP = re.compile(r"[^a-z0-9]+")
_KEYS = ("question_id", "question", "haystack_sessions")


class _Session(NamedTuple):
    name: str
    date: datetime | None
    turns: Sequence[Mapping[str, Any]]


def is_longmemeval(data: Any) -> bool:
    """Tell whether a file looks like LongMemEval."""
    first = data[0] if isinstance(data, list) and data else data
    return isinstance(first, dict) and all(key in first for key in _KEYS)


def read_longmemeval(items: Sequence[Any], report: Report) -> Imported:
    """Return conversations and questions of items of the right shape; the report tells what was repaired."""
    haystacks: dict[str, tuple[Conversation, ...]] = {}
    named: dict[tuple[Any, ...], str] = {}
    questions: dict[str, Question] = {}
    names = _file_names([str(item["question_id"]) for item in items])
    only_evidence = True
    for item in items:
        own = str(item["question_id"])
        id = names[own]
        if id in questions:
            report.add("duplicate-question", own, "the id stands twice", "excluded", "the first one counts")
            continue
        if id != own:
            report.add("renamed-question", own, "the id can't be a file's name", "repaired", f"called {id}")
        sessions = _sessions(id, item, report)
        answer = item.get("answer")
        if sessions is None or answer is None or not str(item["question"]).strip():
            if sessions is not None:
                report.add(
                    "no-answer", id, "no question or no answer", "excluded", "nothing to score against"
                )
            continue
        only_evidence &= {one.name for one in sessions} <= set(map(str, item.get("answer_session_ids") or ()))
        talks, evidence, renamed = _conversations(sessions)
        same = tuple((talk.id, talk.timestamp, talk.messages) for talk in talks)
        name = named.setdefault(same, id)
        haystacks.setdefault(name, talks)
        report.renamed.setdefault(name, renamed)
        questions[id] = _question(id, name, item, evidence, sessions, report)
    report.notes += [
        f"The {'oracle form: evidence sessions alone' if only_evidence else 'S or M form: evidence among others'}.",
        "Sessions stand in the order of their dates and are called session_001 and so on, since the data "
        "set's own names tell which ones hold the answer; `renamed_sessions` keeps them.",
        "Questions whose id ends in _abs ask for what was never said: an answer that declines is right. "
        "They have no evidence, as in the data set's own figures.",
        "The gold of single-session-preference is a rubric for a judge; the offline scorers of facts leave it out.",
    ]
    return Imported(haystacks, list(questions.values()), report)


def _file_names(ids: Sequence[str]) -> dict[str, str]:
    """Return what the file of each question is called: its id, where that can be a name, else one like it."""
    names = {id: id for id in ids if id == _folded(id)}
    for id in ids:
        if id in names:
            continue
        mark = ABSTAINS if id.endswith(ABSTAINS) else ""  # says what is asked, so it stays at the end
        stem = _folded(id.removesuffix(mark))
        free = (f"{stem}{'' if at == 1 else f'-{at}'}{mark}" for at in count(1))
        taken = {*names.values()}
        names[id] = next(name for name in free if name not in taken)
    return names


def _folded(id: str) -> str:
    return _NAME.sub("-", id).strip("-.") or "question"


def _sessions(id: str, item: Mapping[str, Any], report: Report) -> list[_Session] | None:
    """Return the sessions in the order of their dates, without the empty and the repeated ones."""
    turns, dates = item["haystack_sessions"], item.get("haystack_dates") or []
    names = item.get("haystack_session_ids") or [str(at) for at in range(len(turns))]
    if not len(turns) == len(dates) == len(names):
        told = f"{len(turns)} sessions, {len(dates)} dates and {len(names)} ids"
        report.add("uneven-history", id, told, "excluded", "left out")
        return None
    kept: list[_Session] = []
    seen: dict[str, int] = {}
    for name, date, said in zip(map(str, names), dates, turns, strict=True):
        when, fits = written_date(date)
        if when is None:
            report.add("bad-date", f"{id} {name}", f"no date in {date!r}", "kept", "it has no timestamp")
        elif not fits:
            report.add("wrong-weekday", f"{id} {name}", f"{date!r}", "kept", "the date counts")
        words = [turn for turn in said or () if str(turn.get("content") or "").strip()]
        if said and len(words) < len(said):
            told = f"{len(said) - len(words)} messages without text"
            report.add("empty-message", f"{id} {name}", told, "excluded", "left out")
        if not words:
            report.add("empty-session", f"{id} {name}", "no message", "excluded", "left out")
            continue
        told = json.dumps([[turn.get("role"), turn["content"]] for turn in words])  # the marks may differ
        if told in seen:
            first = kept[seen[told]]
            joined = [
                {**one, "has_answer": bool(one.get("has_answer") or other.get("has_answer"))}
                for one, other in zip(first.turns, words, strict=True)
            ]
            kept[seen[told]] = first._replace(turns=joined)
            what = f"says what {first.name} says"
            report.add("duplicate-session", f"{id} {name}", what, "excluded", "left out; its marks count")
            continue
        seen[told] = len(kept)
        kept.append(_Session(name, when, words))
    if not kept:
        report.add("empty-history", id, "no session with text", "excluded", "left out")
        return None
    ordered = sorted(kept, key=lambda one: one.date or datetime.min)
    if ordered != kept:
        report.add("unsorted-history", id, "sessions out of order", "repaired", "sorted by date")
    return ordered


def _conversations(
    sessions: Sequence[_Session],
) -> tuple[tuple[Conversation, ...], tuple[str, ...], dict[str, str]]:
    """Return the conversations under masked names, the messages with evidence, and the names by ours."""
    talks, evidence, renamed = [], [], {}
    for number, session in enumerate(sessions, start=1):
        id = f"session_{number:03}"
        renamed[id] = session.name
        messages = []
        for turn in session.turns:
            role: Role = "user" if turn.get("role") == "user" else "assistant"
            messages.append(Message(role, str(turn["content"]).strip()))
            if turn.get("has_answer"):
                evidence.append(f"{id}#{len(messages)}")
        talks.append(Conversation(id, session.date, {}, tuple(messages)))
    return tuple(talks), tuple(evidence), renamed


def _question(
    id: str,
    haystack: str,
    item: Mapping[str, Any],
    evidence: tuple[str, ...],
    sessions: Sequence[_Session],
    report: Report,
) -> Question:
    group = _GROUP.sub("-", str(item.get("question_type") or "").lower()).strip("-") or "unknown"
    asked, fits = written_date(item.get("question_date"))
    if asked is None or not fits:
        told = f"{item.get('question_date')!r}"
        report.add("bad-date", id, f"the question's date is {told}", "kept", "as far as it can be read")
    if asked and (later := [one.name for one in sessions if one.date and one.date > asked]):
        told = f"{len(later)} of {len(sessions)} sessions are dated after the question"
        report.add("session-after-question", id, told, "kept", "they are part of the published history")
    if isinstance(item["answer"], int | float):
        report.add("integer-answer", id, f"the answer is {item['answer']!r}", "repaired", "written as text")
    answer, accept = plain(item["answer"]), []
    if found := _ACCEPTABLE.fullmatch(answer):
        accept = [found["first"].strip(), found["other"].strip()]
        report.add("two-answers", id, f"{answer!r}", "repaired", "both are accepted forms of one fact")
    answerable = not id.endswith(ABSTAINS)
    if answerable and not evidence:
        report.add(
            "no-evidence", id, "no turn is marked", "kept", "it counts in no figure of evidence recall"
        )
    return Question(
        id, group, haystack, str(item["question"]).strip(),
        answer=answer,
        accept=tuple(accept),
        answerable=answerable,
        rubric=group == RUBRIC,
        evidence=evidence if answerable else (),
        asked_at=asked,
        abilities=("abstention",) if not answerable else ABILITIES.get(group, ()),
        leniency=LENIENCY.get(group, "") if answerable else "",
    )  # fmt: skip
