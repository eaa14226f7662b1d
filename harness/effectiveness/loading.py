"""Reading effectiveness data sets: every problem of every file at once.

    {id?, name?, description?, types?, metadata?, test_cases: [{test_case_id, input_text | conversation, …}]}

or the list of test cases alone. A directory of such files loads in the order of the names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.effectiveness.dataset import EffectivenessSet, Entry, ExpectedFact
from harness.errors import FactError, InputError, Problem, SuiteError
from harness.facts import AnswerText, FactType, GoldFact
from harness.json_file import FieldPath, JsonFile
from harness.suite import Message, nearest

_TOP = ("id", "name", "description", "types", "metadata", "test_cases")
_ENTRY = (
    "test_case_id",
    "input_text",
    "conversation",
    "timestamp",
    "expected_facts",
    "expected_memory_type",
    "expected_importance_score",
    "duplicates_of",
    "supersedes",
    "user",
    "question",
    "deleted",
    "group",
    "tags",
    "source",
)
_FACT = ("fact", "type", "accept", "about", "text", "derived")
_ROLES = {"user": "user", "assistant": "assistant", "agent": "assistant", "representative": "assistant"}


def load_effectiveness(root: Path | str) -> tuple[EffectivenessSet, ...]:
    """Load one data set, or every one of a directory, sorted.

    Args:
        root: a JSON file, or a directory of those.

    Raises:
        SuiteError: with every problem of every file.
        InputError: when there is nothing to load.
    """
    sets: list[EffectivenessSet] = []
    problems: list[Problem] = []
    owner: dict[str, Path] = {}
    for place in _places(Path(root)):
        try:
            one = _read(place)
        except SuiteError as error:
            problems += error.problems
            continue
        sets.append(one)
        for entry in one.entries:
            if entry.id in owner:
                told = f"a test case {entry.id!r} is in {owner[entry.id]} too."
                mend = "Give each an id of its own."
                problems.append(Problem(place, 0, "test_cases", told, mend, "duplicate-id"))
            owner.setdefault(entry.id, place)
    if problems:
        raise SuiteError(problems, "the effectiveness data")
    return tuple(sets)


def _places(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise InputError(f"{path}: there is no such file or folder.")
    found = sorted(place for place in path.iterdir() if place.is_file() and place.suffix == ".json")
    if not found:
        raise InputError(f"{path}: holds no effectiveness data set (*.json).")
    return found


def _read(path: Path) -> EffectivenessSet:
    file = JsonFile(path)
    value = file.value
    at: FieldPath = ("test_cases",)
    if isinstance(value, list):
        value, at = {"test_cases": value}, ()
    if not isinstance(value, dict) or "test_cases" not in value:
        mend = "Write {test_cases: […]}; see docs/effectiveness.md."
        raise SuiteError([Problem(path, 1, "", "is no effectiveness data set.", mend, "bad-form")])
    file.unknown_keys(value, (), _TOP)
    types = tuple(file.strings(value, "types", ()) or ())
    metadata = value.get("metadata", {})
    if not isinstance(metadata, dict):
        file.wrong(("metadata",), "must be an object.", "Write it as {…}.")
        metadata = {}
    places: dict[str, FieldPath] = {}
    entries: list[Entry] = []
    for item, here in file.objects(value["test_cases"], at, _ENTRY):
        entry = _entry(file, item, here, types)
        if entry.id in places:
            told = f"the id {entry.id!r} stands twice."
            file.wrong((*here, "test_case_id"), told, "Give each an id of its own.", "duplicate-id")
        elif entry.id:
            places[entry.id] = here
        entries.append(entry)
    _check_links(file, entries, places)
    id, name, description = (file.string(value, key, ()) for key in ("id", "name", "description"))
    if file.problems:
        raise SuiteError(file.problems, "the effectiveness data")
    named = {entry.duplicates_of for entry in entries}
    return EffectivenessSet(
        id=id or path.stem,
        entries=tuple(_clustered(entry) if entry.id in named else entry for entry in entries),
        name=name,
        description=description,
        types=types,
        metadata=metadata,
    )


def _clustered(entry: Entry) -> Entry:
    return replace(entry, is_clustered=True)


def _entry(file: JsonFile, item: Mapping[str, Any], at: FieldPath, types: tuple[str, ...]) -> Entry:
    known = len(file.problems)
    messages = tuple(_messages(file, item, at))
    label = file.string(item, "expected_memory_type", at) or None
    if label and types and label not in types:
        told = f"{label!r} is none of the data set's types; {nearest(label, types)}."
        file.wrong((*at, "expected_memory_type"), told, "Correct it, or add it to `types`.", "unknown-type")
    entry = Entry(
        id=file.string(item, "test_case_id", at, needed=True),
        messages=messages,
        timestamp=file.moment(item, "timestamp", at),
        facts=_facts(file, item, at, messages),
        memory_type=label,
        importance=file.number(item, "expected_importance_score", at, 1, 10),
        is_clustered="duplicates_of" in item,
        duplicates_of=file.string(item, "duplicates_of", at) or None,
        supersedes=file.string(item, "supersedes", at) or None,
        user=file.string(item, "user", at) or None,
        question=file.string(item, "question", at),
        deleted=file.flag(item, "deleted", at),
        group=file.string(item, "group", at),
        tags=tuple(file.strings(item, "tags", at) or ()),
    )
    if entry.user or entry.supersedes or entry.deleted is not None:
        why = "user" if entry.user else "supersedes" if entry.supersedes else "deleted"
        if not entry.question:
            file.wrong((*at, "question"), f"is missing, and {why} needs one.", 'Write "question": "…".')
        if not entry.facts and not any("expected_facts" in one.field for one in file.problems[known:]):
            mend = 'Write "expected_facts": […].'
            file.wrong((*at, "expected_facts"), f"is empty, and {why} needs at least one.", mend)
    return entry


def _messages(file: JsonFile, item: Mapping[str, Any], at: FieldPath) -> Iterator[Message]:
    if ("input_text" in item) == ("conversation" in item):
        file.wrong(at, "needs input_text or conversation, one of the two.", 'Write "input_text": "…".')
        return
    if "input_text" in item:
        yield Message("user", file.string(item, "input_text", at, needed=True))
        return
    here = (*at, "conversation")
    for turn, place in file.objects(item["conversation"], here, ("role", "content", *_ROLES)):
        said = {**turn, turn["role"]: turn.get("content")} if isinstance(turn.get("role"), str) else turn
        roles = [role for role in _ROLES if role in said]
        if len(roles) == 1:
            role = "user" if _ROLES[roles[0]] == "user" else "assistant"
            yield Message(role, file.string(said, roles[0], place, needed=True))  # type: ignore[arg-type]
        else:
            file.wrong(place, "is no message.", 'Write {"user": "…"} or {"assistant": "…"}.')


def _facts(
    file: JsonFile, item: Mapping[str, Any], at: FieldPath, messages: tuple[Message, ...]
) -> tuple[ExpectedFact, ...] | None:
    listed = item.get("expected_facts")
    if listed is None:
        return None
    here = (*at, "expected_facts")
    if not isinstance(listed, list):
        file.wrong(here, "must be a list; an empty one where nothing is to be stored.", 'Write ["…"].')
        return None
    said = AnswerText("\n".join(message.text for message in messages))
    found = []
    for number, given in enumerate(listed):
        fact = _fact(file, given, (*here, number))
        if fact is None:
            continue
        found.append(fact)
        if isinstance(given, dict) and not fact.derived and not fact.stated_in(said):
            told = f"{fact.gold.fact!r} is not stated by the input as a {fact.gold.type}."
            mend = 'Correct the value or its type, accept the input\'s form, or write "derived": true.'
            file.wrong((*here, number), told, mend, "fact-not-in-input")
    return tuple(found)


def _fact(file: JsonFile, given: Any, at: FieldPath) -> ExpectedFact | None:
    if isinstance(given, str):
        given = {"fact": given}
    if not isinstance(given, dict):
        file.wrong(at, "is no fact.", 'Write {"fact": "…", "type": "…"}, or a text.')
        return None
    file.unknown_keys(given, at, _FACT)
    value = file.string(given, "fact", at, needed=True)
    about = file.strings(given, "about", at) or []
    if not value:
        return None
    kinds = [str(kind) for kind in FactType if kind is not FactType.ABSTAIN]
    if given.get("type", "text") not in kinds:
        told = f"is {given['type']!r}."
        file.wrong((*at, "type"), told, f"Write one of {', '.join(kinds)}.")
        return None
    try:
        return ExpectedFact(
            gold=GoldFact(
                value, FactType(given.get("type", "text")), tuple(file.strings(given, "accept", at) or ())
            ),
            about=tuple(GoldFact(form) for form in about),
            text=file.string(given, "text", at),
            derived=file.flag(given, "derived", at) or False,
        )
    except FactError as error:
        file.wrong(at, f"{error}.", "Write the value it stands for.", "empty-fact")
        return None


def _check_links(file: JsonFile, entries: list[Entry], places: Mapping[str, FieldPath]) -> None:
    """Look for links that lead nowhere, in circles, or from two entries to one."""
    by_id = {entry.id: entry for entry in entries}
    for key in ("duplicates_of", "supersedes"):
        for entry in entries:
            target = getattr(entry, key)
            if target is None or entry.id not in places:
                continue
            here = (*places[entry.id], key)
            if target not in by_id:
                told = f"there is no test case {target!r}; {nearest(target, tuple(by_id))}."
                file.wrong(here, told, "Correct the id.", "dangling-link")
            elif _circles(entry, key, by_id):
                told = f"leads back to {entry.id!r} itself."
                file.wrong(here, told, "Let it name an earlier test case.", "circular-link")
    for entry in entries:
        other = by_id.get(entry.duplicates_of or "")
        if other is not None and other.group != entry.group and entry.id in places:
            told = f"{other.id!r} is of the group {other.group!r}, this of {entry.group!r}: no memory can hold both."
            here = (*places[entry.id], "duplicates_of")
            file.wrong(
                here, told, "Put both into one group; each group has an agent of its own.", "other-group"
            )
    wanted = Counter(entry.supersedes for entry in entries if entry.supersedes)
    for entry in entries:
        if entry.supersedes and wanted[entry.supersedes] > 1 and entry.id in places:
            told = f"{entry.supersedes!r} is superseded by {wanted[entry.supersedes]} test cases."
            mend = "Let each supersede the one before it."
            file.wrong((*places[entry.id], "supersedes"), told, mend, "forked-link")
        if entry.supersedes in by_id and not by_id[entry.supersedes].facts and entry.id in places:
            told = f"{entry.supersedes!r} has no facts that could be superseded."
            here = (*places.get(entry.supersedes, ()), "expected_facts")
            file.wrong(here, told, 'Write "expected_facts": […].')
        elif entry.supersedes in by_id and entry.id in places:
            said = AnswerText(entry.text)
            for fact in by_id[entry.supersedes].facts or ():
                if fact.current_in(said):
                    told = f"states {fact.gold.fact!r} as true still, which it is to supersede."
                    mend = "Take it out, or give the older fact what it is about."
                    file.wrong((*places[entry.id], "supersedes"), told, mend, "not-superseded")


def _circles(entry: Entry, key: str, by_id: Mapping[str, Entry]) -> bool:
    seen: set[str] = set()
    at: Entry | None = entry
    while at is not None and at.id not in seen:
        seen.add(at.id)
        at = by_id.get(getattr(at, key) or "")
    return at is not None and at.id == entry.id
