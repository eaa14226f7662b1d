"""LoCoMo (Maharana et al., 2024): ten long talks between two people, 1,986 questions about them.

A file is a list of samples `{sample_id, conversation, qa}`. Of a conversation, `session_N` is a
list of turns `{speaker, dia_id, text, blip_caption?}` and `session_N_date_time` says when it was.
Evidence cites turns by their `dia_id`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.errors import InputError
from harness.suite.importers.made import Imported, Question, Report
from harness.suite.importers.reading import plain, short, spoken_date
from harness.suite.importers.shapes import SESSION
from harness.suite.models import Conversation, Message

FORM = "locomo"
TITLE = "LoCoMo (Maharana et al., ACL 2024)"
SOURCE = "https://github.com/snap-research/locomo (data/locomo10.json)"
LICENCE = "CC BY-NC 4.0: not for commercial use; whoever passes the suite on has to name the authors"
GROUPS = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
WHOLE = {"multi-hop": 282, "temporal": 321, "open-domain": 96, "single-hop": 841, "adversarial": 446}
SAMPLES = frozenset(f"conv-{number}" for number in (26, 30, 41, 42, 43, 44, 47, 48, 49, 50))
NOTHING = "That was never mentioned, so I don't know."
ABILITIES = {"temporal": ("temporal",), "adversarial": ("abstention",)}
_DATE = re.compile(rf"{SESSION.pattern}_date_time")
_CITED = re.compile(r"D:?([0-9]{1,6}):([0-9]{1,6})(?![0-9])", re.IGNORECASE)
_NAME = re.compile(r"[^A-Za-z0-9._-]+")


def is_locomo(data: Any) -> bool:
    """Tell whether a file looks like LoCoMo."""
    first = data[0] if isinstance(data, list) and data else data
    return isinstance(first, dict) and "conversation" in first and "qa" in first


def read_locomo(samples: Sequence[Any], report: Report) -> Imported:
    """Return conversations and questions of samples of the right shape; the report tells what was repaired.

    Raises:
        InputError: when two samples have one name, or it holds all ten samples with other numbers of questions
            than the published file.
    """
    haystacks: dict[str, tuple[Conversation, ...]] = {}
    questions: list[Question] = []
    for at, sample in enumerate(samples):
        name = _NAME.sub("-", str(sample.get("sample_id") or "")).strip("-.") or f"sample-{at + 1}"
        if name in haystacks:
            raise InputError(f"{report.files[0].name}: two samples are called {name!r}.")
        talks, turns = _conversations(name, sample["conversation"], report)
        haystacks[name] = talks
        questions += _questions(name, sample["qa"], turns, report)
    _check_whole(haystacks, questions, report)
    report.notes += [
        "The first speaker is the user, the second the assistant; every message begins with its speaker's name.",
        "A shared image stands in the message as its caption. Questions have no time of their own.",
        "Category 5 asks for what was never said: an answer that declines is right, the annotated "
        "wrong answer is a forbidden fact, and the message that is cited counts as its evidence.",
    ]
    return Imported(haystacks, questions, report)


def _check_whole(names: Mapping[str, Any], questions: Sequence[Question], report: Report) -> None:
    """Hold the whole data set against the published numbers, before anything was left out."""
    excluded = Counter(one.where.rpartition(" ")[2] for one in report.findings if one.done == "excluded")
    counts = Counter(question.group for question in questions) + excluded
    if not names.keys() >= SAMPLES:
        report.notes.append(f"A part of LoCoMo: {len(names)} of its {len(SAMPLES)} conversations.")
    elif names.keys() == SAMPLES and any(counts[group] != count for group, count in WHOLE.items()):
        told = ", ".join(f"{group} {counts[group]} (not {count})" for group, count in WHOLE.items())
        raise InputError(
            f"{report.files[0].name}: all ten conversations, but not the published questions: {told}. "
            "Download the file anew, or import the conversations one by one."
        )


def _conversations(
    name: str, conversation: Mapping[str, Any], report: Report
) -> tuple[tuple[Conversation, ...], dict[str, str]]:
    """Return the sessions in order, and the message that each turn became."""
    first, second = (str(conversation.get(key, key)) for key in ("speaker_a", "speaker_b"))
    keys = {int(found[1]): key for key in conversation if (found := SESSION.fullmatch(key))}
    dated = {int(found[1]) for key in conversation if (found := _DATE.fullmatch(key))}
    if spare := sorted(dated - keys.keys()):
        told = f"dates without a session: {', '.join(map(str, spare))}"
        report.add("date-without-session", name, told, "excluded", "no conversation is made of them")
    talks: list[Conversation] = []
    turns: dict[str, str] = {}
    for number, key in sorted(keys.items()):
        where, id = f"{name} session_{number}", f"session_{number}"
        spoken = conversation.get(f"{key}_date_time")
        when = spoken_date(spoken)
        if when is None:
            told = f"no date in {short(repr(spoken))}"
            report.add("bad-date", where, told, "kept", "the conversation has no timestamp")
        messages: list[Message] = []
        for turn in conversation[key] or ():
            speaker, said = str(turn.get("speaker", "")), _said(turn)
            if not said:
                report.add(
                    "empty-message", f"{where} {turn.get('dia_id')}", "no text", "excluded", "left out"
                )
                continue
            if speaker not in (first, second):
                told = f"{speaker!r} is neither {first} nor {second}"
                report.add("third-speaker", where, told, "kept", "speaks as the assistant, under the name")
            messages.append(Message("user" if speaker == first else "assistant", f"{speaker}: {said}"))
            turns.setdefault(str(turn.get("dia_id")), f"{id}#{len(messages)}")
        if messages:
            talks.append(Conversation(id, when, {"user": first, "assistant": second}, tuple(messages)))
        else:
            report.add("empty-session", where, "no message", "excluded", "left out")
    return tuple(talks), turns


def _said(turn: Mapping[str, Any]) -> str:
    text, caption = str(turn.get("text") or "").strip(), str(turn.get("blip_caption") or "").strip()
    return f"{text} [shares an image: {caption}]".strip() if caption else text


def _questions(
    name: str, listed: Sequence[Mapping[str, Any]], turns: Mapping[str, str], report: Report
) -> Iterator[Question]:
    first: dict[str, Question] = {}
    for number, item in enumerate(listed, start=1):
        id = f"{name}_q{number:03}"
        group = GROUPS.get(item.get("category", 0))
        text = str(item.get("question") or "").strip()
        if group is None or not text:
            told = f"category {item.get('category')!r}" if text else "no question"
            report.add("no-question", id, told, "excluded", "left out")
            continue
        question = _question(id, name, group, text, item, turns, report)
        if question is None:
            continue
        if (earlier := first.setdefault(text, question)) is not question:
            same = (earlier.group, earlier.answer) == (group, question.answer)
            told = f"asks what {earlier.id} asks, " + (
                "with the same answer" if same else f"as {group} instead of {earlier.group}: they contradict"
            )
            report.add("duplicate-question", id, told, "kept", "it counts in the published figures, too")
        yield question


def _question(
    id: str,
    name: str,
    group: str,
    text: str,
    item: Mapping[str, Any],
    turns: Mapping[str, str],
    report: Report,
) -> Question | None:
    given, trap = item.get("answer"), plain(item.get("adversarial_answer") or "")
    if isinstance(given, int | float):
        report.add("integer-answer", id, f"the answer is {given!r}, no text", "repaired", "written as text")
    answer = "" if given is None else plain(given)
    if group == "adversarial" and not answer:
        report.add("no-answer", id, "no `answer`", "repaired", "the gold is to decline (answerable: false)")
    elif group == "adversarial":
        told = f"adversarial, and yet answered: {short(answer)!r}"
        report.add("adversarial-with-answer", id, told, "kept", "the gold is that answer")
    elif not answer:
        report.add("no-answer", f"{id} {group}", "no `answer`", "excluded", "nothing to score against")
        return None
    return Question(
        id, group, name, text,
        answer=answer or NOTHING,
        answerable=bool(answer),
        trap=trap,
        evidence=_evidence(id, item.get("evidence"), turns, report),
        abilities=ABILITIES.get(group, ()),
    )  # fmt: skip


def _evidence(id: str, cited: Any, turns: Mapping[str, str], report: Report) -> tuple[str, ...]:
    """Return the messages cited; ids in other spellings are read, those of no turn are left out."""
    listed = [cited] if isinstance(cited, str) else cited or []
    found: dict[str, None] = {}
    for text in map(str, listed):
        read = [f"D{int(session)}:{int(turn)}" for session, turn in _CITED.findall(text)]
        known = [turns[name] for name in read if name in turns]
        found.update(dict.fromkeys(known))
        lost = [name for name in read if name not in turns]
        if not read:
            report.add("bad-evidence", id, f"{text!r} is no id", "excluded", "not cited")
        elif lost:
            report.add("bad-evidence", id, f"there is no turn {', '.join(lost)}", "excluded", "not cited")
        elif read != [text]:
            report.add("bad-evidence", id, f"{text!r}", "repaired", f"read as {', '.join(read)}")
    if not found:
        report.add("no-evidence", id, "cites no turn", "kept", "it counts in no figure of evidence recall")
    return tuple(found)
