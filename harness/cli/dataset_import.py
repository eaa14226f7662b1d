"""`recallbench dataset import`, `import-answers` and `rescore`: what others published, in our form."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.errors import InputError

if TYPE_CHECKING:
    from harness.runs.folder import RunFolder
    from harness.suite import Suite
    from harness.suite.importers import Imported, Overlay, Supplied

FORM_NAMES = ("locomo", "longmemeval")
DEFAULT_SCORER = "token-f1"
_overlay_option = click.option(
    "--overlay",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Corrections of the gold, by question id; the published gold stays and is told beside them.",
)
_runs_option = click.option(
    "--runs",
    "root",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("runs"),
    show_default=True,
    metavar="DIR",
    help="Folder of runs.",
)
_scorer_option = click.option(
    "--scorer", metavar="NAME", default=DEFAULT_SCORER, show_default=True, help="Scorer of --overlay."
)
_suite_option = click.option(
    "--suite", type=click.Path(path_type=Path), required=True, metavar="DIR", help="The imported suite."
)


@click.command("import")
@click.argument("what", nargs=-1, required=True, metavar="[locomo|longmemeval] FILE…")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Where the suite is written (suites/NAME).",
)
@_overlay_option
@click.option("--verbose", is_flag=True, help="List every exclusion and repair, not only their counts.")
def import_command(what: tuple[str, ...], out: Path | None, overlay: Path | None, verbose: bool) -> None:
    """Make a suite of a public data set that you have downloaded.

    LoCoMo (locomo10.json) and LongMemEval (S, M or oracle) are told apart by looking. What was left
    out or repaired is listed with its reason, here and in DIR.import.json beside the suite.
    """
    from harness.suite.importers import import_files, read_overlay, write_suite

    named, files = (what[0], what[1:]) if what[0] in FORM_NAMES else (None, what)
    imported = import_files(list(map(Path, files)), named)
    root = out or Path("suites") / imported.report.form
    corrections = None if overlay is None else read_overlay(overlay, imported)
    report = write_suite(imported, root)
    click.echo(_told(imported, root, report, verbose=verbose))
    if corrections is not None:
        click.echo(f"{overlay}: {corrections.told()}. `dataset rescore --overlay` scores runs with them.")


def _told(imported: Imported, root: Path, report: Path, *, verbose: bool) -> str:
    data = imported.as_data()
    groups = ", ".join(f"{name} {count}" for name, count in imported.groups.items())
    files = "\n".join(f"  {file['name']}  sha256 {file['sha256']}" for file in data["files"])
    lines = [
        f"{data['title']}\n{files}",
        f"Licence: {data['licence']}.",
        f"{root}: {data['questions']} questions ({groups}) over {data['haystacks']} haystacks, "
        f"{data['conversations']} conversations, {data['messages']} messages.",
    ]
    findings = imported.report.findings
    for (kind, done), count in imported.report.counts().items():
        first = next(one for one in findings if (one.kind, one.done) == (kind, done))
        if not verbose:
            lines.append(f"  {done} {count} × {kind}, such as {first.where}: {first.what}; {first.how}.")
            continue
        lines += [
            f"  {one.done} {one.kind} {one.where}: {one.what}; {one.how}."
            for one in findings
            if (one.kind, one.done) == (kind, done)
        ]
    if not findings:
        lines.append("  nothing excluded, nothing repaired.")
    lines.append(f"All of it: {report}")
    return "\n".join(lines)


@click.command("import-answers")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@_suite_option
@click.option("--label", metavar="NAME", help="What tables call the system (the file's name).")
@click.option("--id", "id_field", metavar="FIELD", help="Field of the question's id (question_id, id, …).")
@click.option(
    "--question", default="question", show_default=True, metavar="FIELD", help="Field of the question's text."
)
@click.option("--answer", metavar="FIELD", help="Field of the answer (hypothesis, response, prediction, …).")
@click.option("--memory", metavar="FIELD", help="Field of what the memory handed back.")
@click.option("--latency", metavar="FIELD", help="Field of the seconds that it took.")
@click.option("--tokens", metavar="FIELD", help="Field of the tokens used.")
@click.option("--error", metavar="FIELD", help="Field that says why there is no answer.")
@click.option("--rows", metavar="FIELD", help="Where the rows stand in the file; a dot goes into a mapping.")
@click.option("--skip-unknown", is_flag=True, help="Leave out rows that fit no case, and say how many.")
@_overlay_option
@_scorer_option
@_runs_option
def import_answers_command(
    file: Path,
    suite: Path,
    label: str | None,
    id_field: str | None,
    skip_unknown: bool,
    overlay: Path | None,
    scorer: str,
    root: Path,
    **fields: Any,
) -> None:
    """Make a run of answers that others published, so that they can be scored and compared.

    FILE is JSON or JSON lines with one answer a question; rows are matched by id, else by question.
    """
    from harness.suite import load_suite
    from harness.suite.importers import Fields, read_answers, read_overlay

    loaded = load_suite(suite)
    supplied = read_answers(file, loaded, Fields(id=id_field, **fields), skip_unknown=skip_unknown)
    corrections = None if overlay is None else read_overlay(overlay, loaded)
    folder = _as_run(loaded, supplied, label or file.stem, root)
    lacking = len(loaded) - len(supplied.answers)
    told = f"{folder.path}: {len(supplied.answers)} answers"
    told += f", {lacking} of {len(loaded)} cases without one" if lacking else ""
    told += f", {len(supplied.unknown)} rows that fit no case left out" if supplied.unknown else ""
    click.echo(f"{told}.\nrecallbench compare {folder.path} --suite {suite} --scorer {DEFAULT_SCORER}")
    if corrections is not None:
        _show_corrected([folder], loaded, corrections, scorer)


def _as_run(suite: Suite, supplied: Supplied, label: str, root: Path) -> RunFolder:
    """Write the run; the same answers of the same file make the same run again, others another one."""
    from importlib.metadata import version

    from harness.runs.folder import RunFolder
    from harness.runs.manifest import Manifest, ReaderPart, SystemPart
    from harness.runs.record import Failure, Record
    from harness.suite.hashing import case_hashes

    manifest = Manifest(
        SystemPart(label, f"imported from {supplied.file.name}", "imported", "imported", {}),
        ReaderPart("own", None, 0),
        str(suite.root),
        case_hashes(suite),
        suite.hash,
        versions={
            "recallbench": version("recallbench"),
            "file": supplied.file.sha256,
            "answers": supplied.digest,
        },
    )
    folder = RunFolder.begin(root, manifest)
    with folder.locked():
        finished = folder.finished()
        begun, answers = folder.journals()
        with begun, answers:
            for case, answer in supplied.answers.items():
                if (case, 0) in finished:
                    continue
                record = Record(
                    case,
                    0,
                    1,
                    "",
                    answer.text,
                    kept=answer.memory,
                    tokens=answer.tokens,
                    timings={} if answer.latency_s is None else {"answer": answer.latency_s},
                    failure=None if answer.error is None else Failure("reported", answer.error, ""),
                )
                answers.append(record.as_data())
    return folder


@click.command("rescore")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN|DIR…")
@_suite_option
@click.option(
    "--overlay",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    metavar="FILE",
    help="Corrections of the gold, by question id.",
)
@_scorer_option
def rescore_command(paths: tuple[Path, ...], suite: Path, overlay: Path, scorer: str) -> None:
    """Score runs with the published gold and with corrections of it, and show the ceiling.

    The ceiling is what a system that makes no mistake gets against the published gold.
    """
    from harness.runs.folder import find_runs
    from harness.suite import load_suite
    from harness.suite.importers import read_overlay

    loaded = load_suite(suite)
    corrections = read_overlay(overlay, loaded)
    _show_corrected([run for path in paths for run in find_runs(path)], loaded, corrections, scorer)


def _show_corrected(runs: Sequence[RunFolder], suite: Suite, overlay: Overlay, scorer: str) -> None:
    from harness.report import boxes
    from harness.report.layout import Grid
    from harness.runs.comparing import common_cases
    from harness.runs.correcting import corrected_rows
    from harness.scoring.scorer import JUDGE, find_scorer, scorer_name

    if scorer_name(scorer) == JUDGE:
        raise InputError("--scorer llm-judge: corrections are scored offline; name token-f1 or another.")
    made = find_scorer(scorer)
    shown: list[tuple[str, ...]] = []
    for run in runs:
        cases = common_cases(suite, [run]).suite.cases
        for row in corrected_rows(run, cases, overlay, made):
            figures = (row.raw, row.corrected, row.ceiling)
            cells = ("–" if value is None else f"{value:.3f}" for value in figures)
            shown.append((run.manifest.system.label, row.group, f"{row.counted}/{row.asked}", *cells))
    header = ("System", "Group", "Left", "Raw", "Corrected", "Ceiling")
    click.echo(boxes.draw(Grid(header, tuple(shown))))
    click.echo(
        f"{made.name}, means over what is scored. {overlay.told()} (sha256 {overlay.file.sha256[:12]}). "
        "Ceiling: what a system that makes no mistake gets against the published gold."
    )
