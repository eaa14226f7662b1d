"""Probes: answers with a known label, by which the scorers themselves are measured.

The project's own are one YAML file a case:

    test_id: layer1_01_bank_account
    probes:
      - {id: paraphrase_1, kind: paraphrase, label: accept, answer: …, note: …}

A user's own labels come in JSON or YAML, in that form (one case or a list of them) or as
`{test_id: [{answer, label}]}`; or in CSV with the columns test_id, answer and label. There a
label may also be written true or false, pass or fail, 1 or 0; id, kind and note may be left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from harness.errors import InputError, Problem, SuiteError
from harness.resources import bundled
from harness.scoring.probe_forms import Entry, Read, read_csv_file, read_labels_file, read_probe_file
from harness.suite import LAYERS, Suite

Label = Literal["accept", "reject"]
UNNAMED_KIND = "labelled"
"""The kind of a user's answer that names none."""

_STRICT: Mapping[str, Label] = {"accept": "accept", "reject": "reject"}
_SPELLINGS: Mapping[str, Label] = {
    **_STRICT,
    **dict.fromkeys(("true", "pass", "1"), "accept"),
    **dict.fromkeys(("false", "fail", "0"), "reject"),
}
_YAML_ENDINGS = frozenset((".yaml", ".yml"))
_LABEL_ENDINGS = (".json", ".yaml", ".yml", ".csv")


@dataclass(frozen=True, slots=True)
class Probe:
    """An answer whose right verdict is known.

    Attributes:
        case_id: the case it answers.
        id: name inside its case.
        kind: what the answer is like, such as `paraphrase` or `stale`.
        label: what a scorer that is right does with it.
        answer: the text; it may be empty.
        note: why the label is what it is.
    """

    case_id: str
    id: str
    kind: str
    label: Label
    answer: str
    note: str = ""


def load_probes(root: Path | None, known: Suite) -> tuple[Probe, ...]:
    """Load the probe files of a directory (or one file), in the order of their names.

    Args:
        root: the bundled probes when None.
        known: the suite that the probes' cases are in, whole: a case outside is a problem.

    Raises:
        SuiteError: when anything is wrong with any file; it lists every problem of all of them.
        InputError: when there is nothing to load.
    """
    root = bundled("fixtures") / "probes" if root is None else Path(root)
    paths, problems = _find(root)
    entries: list[Entry] = []
    for path in paths:
        found, more = _guarded(_probe_file, path, known.ids)
        entries += found
        problems += more
    return _settled(entries, problems, _STRICT)


def load_labels(path: Path, known: Suite) -> tuple[Probe, ...]:
    """Load answers that a user labelled, in the file's order.

    Raises:
        SuiteError: when anything is wrong with the file; it lists every problem.
        InputError: for a file whose ending says nothing about its form.
    """
    if path.suffix.lower() not in _LABEL_ENDINGS:
        raise InputError(f"{path}: labels are read from {', '.join(_LABEL_ENDINGS)} files.")
    read = read_csv_file if path.suffix.lower() == ".csv" else read_labels_file
    entries, problems = _guarded(read, path, known.ids)
    return _settled(entries, problems, _SPELLINGS)


def _guarded(read: Callable[[Path, tuple[str, ...]], Read], path: Path, ids: tuple[str, ...]) -> Read:
    try:
        return read(path, ids)
    except SuiteError as error:
        return [], list(error.problems)


def _find(root: Path) -> tuple[list[Path], list[Problem]]:
    if root.is_file():
        return [root], []
    if not root.is_dir():
        raise InputError(f"there are no probes at {root}; name a directory of probe files, or one of them.")
    paths: list[Path] = []
    problems: list[Problem] = []
    for path in sorted(root.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(root).parts)
        if hidden or not path.is_file() or path.name.startswith("README") or path.suffix.lower() == ".md":
            continue
        if path.suffix.lower() in _YAML_ENDINGS:
            paths.append(path)
        else:
            mend = "Give it the ending .yaml, or take it out."
            problems.append(Problem(path, 0, "", "is no probe file.", mend, "stray-file"))
    if not paths and not problems:
        raise InputError(f"there is no probe file in {root}; probes are .yaml files, one a case.")
    return paths, problems


def _probe_file(path: Path, ids: tuple[str, ...]) -> Read:
    """Read a probe file, and hold it against the case that its place and name promise."""
    document, entries, problems = read_probe_file(path, ids)
    folder = path.parent.name
    if entries and folder in LAYERS and entries[0].case_id != (expected := f"{folder}_{path.stem}"):
        message = f"the probes are of {entries[0].case_id!r} and the file is {folder}/{path.name}."
        mend = f"Write {expected}, or rename the file."
        problems.append(document.problem(("test_id",), message, mend, "wrong-name"))
    return entries, problems


def _settled(
    entries: Iterable[Entry], problems: list[Problem], spellings: Mapping[str, Label]
) -> tuple[Probe, ...]:
    """Make probes of entries, with the checks that look at more than one of them.

    Raises:
        SuiteError: when there is any problem, here or before.
    """
    probes: list[Probe] = []
    problems = list(problems)
    named: dict[tuple[str, str], Entry] = {}
    labelled: dict[tuple[str, str], Probe] = {}
    counts: Counter[str] = Counter()
    for entry in entries:
        case_id, fields, _ = entry
        counts[case_id] += 1
        name = fields.get("id") or f"label_{counts[case_id]}"
        if (first := named.setdefault((case_id, name), entry)) is not entry:
            before = first.problem("id", "", "", "")
            message = (
                f"a second probe of {case_id} is called {name!r}; the first: {before.path}:{before.line}."
            )
            problems.append(entry.problem("id", message, "Give each a name of its own.", "duplicate-id"))
        label = spellings.get(fields["label"].strip().casefold())
        if label is None:
            message, mend = f"is {fields['label']!r}.", f"Write one of {', '.join(spellings)}."
            problems.append(entry.problem("label", message, mend, "bad-value"))
            continue
        kind, note = fields.get("kind") or UNNAMED_KIND, fields.get("note", "")
        probe = Probe(case_id, name, kind, label, fields["answer"], note)
        same = labelled.setdefault((case_id, probe.answer.strip()), probe)
        if same.label != label:
            message = f"is {label}, and the same answer has {same.label} as {same.id!r}."
            problems.append(entry.problem("label", message, "Keep one of them.", "two-labels"))
        probes.append(probe)
    if problems:
        raise SuiteError(problems, "the labelled answers")
    return tuple(probes)
