"""`recallbench dataset generate, from-logs, export, split, sample, diff`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli import console, dataset_options, options
from harness.cli.dataset_generate import generate_command
from harness.cli.dataset_options import counted
from harness.errors import ExitCode, InputError

if TYPE_CHECKING:
    from harness.suite import Case, Suite

__all__ = [
    "diff_command",
    "export_command",
    "from_logs_command",
    "generate_command",
    "sample_command",
    "split_command",
]
EXPORTS = ("json", "jsonl", "md", "legacy")
STRATA = ("layer", "domain", "cluster")
_LONGEST_GAP = 10_000_000


@click.command("from-logs")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@dataset_options.into
@click.option(
    "--layer",
    type=click.Choice(options.LAYER_NAMES),
    default="layer1",
    show_default=True,
    help="What the cases are to be.",
)
@click.option(
    "--per-case", type=click.IntRange(1), metavar="N", help="Conversations a case (1; above layer1 all)."
)
@click.option(
    "--gap",
    type=click.FloatRange(0, min_open=True),
    metavar="HOURS",
    help="Cut a conversation where nothing was said for so long.",
)
@click.option(
    "--role",
    "roles",
    multiple=True,
    metavar="NAME=user|assistant",
    help="Who speaks as whom, for names that are not known; repeatable.",
)
@dataset_options.locale
def from_logs_command(
    file: Path,
    into: Path,
    layer: Any,
    per_case: int | None,
    gap: float | None,
    roles: tuple[str, ...],
    locale: str,
) -> None:
    """Make case skeletons of a chat export (JSON or JSON lines).

    The conversations are there; question, criteria and gold facts are marked TODO, and the skeletons do not
    load before they are written. What of the export has no place in a case is listed in a file beside them.
    """
    from datetime import timedelta

    from harness.authoring import skeletons
    from harness.authoring.chat_logs import at_gaps, read_logs

    logs, unmapped = read_logs(file, _roles(roles))
    if gap is not None:
        if not gap <= _LONGEST_GAP:
            raise InputError(f"--gap {gap:g}: expected hours, at most {_LONGEST_GAP:,}.")
        logs = [part for log in logs for part in at_gaps(log, timedelta(hours=gap))]
    each = per_case or (1 if layer == "layer1" else len(logs))
    made = skeletons.skeletons_of(logs, layer, each, skeletons.highest_number(into, layer))
    paths = skeletons.write_skeletons(made, into, locale)
    messages = sum(len(log.messages) for log in logs)
    sizes = ((len(paths), "skeleton"), (len(logs), "conversation"), (messages, "message"))
    click.echo(f"{into}: {', '.join(counted(count, noun) for count, noun in sizes)}")
    if joined := sum(one.joined for one in made):
        click.echo(f"joined with the message before, of the same speaker: {joined}", err=True)
    if unmapped:
        place = skeletons.free_place(into)
        console.write_file(place, skeletons.unmapped_text(file, unmapped))
        click.echo(f"without a place in a case: {len(unmapped)}, listed in {place}", err=True)
    click.echo("Write what is marked TODO; `recallbench dataset validate` names each place.", err=True)


def _roles(given: tuple[str, ...]) -> dict[str, Any]:
    found = {}
    for text in given:
        name, sign, role = text.rpartition("=")
        if not sign or not name.strip() or role.strip() not in ("user", "assistant"):
            raise InputError(f"--role {text}: expected NAME=user or NAME=assistant.")
        found[name.strip()] = role.strip()
    return found


@click.command("export")
@options.suite_option
@options.gold_option
@options.layer_option
@options.case_option
@click.option(
    "--format", "form", type=click.Choice(EXPORTS), help="By the ending of --output where not given."
)
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="A file (printed when left out), or the folder of a legacy suite.",
)
def export_command(
    suite: Path | None,
    gold: Path | None,
    layer: tuple[str, ...],
    cases: tuple[str, ...],
    form: str | None,
    output: Path | None,
) -> None:
    """Write a suite as JSON, JSON lines, Markdown, or one-document YAML files (legacy).

    Dialogues, criteria and gold facts are in all of them; facts of --gold stand in the cases.
    """
    from harness.authoring import export_suite
    from harness.authoring.folders import refuse_inside, write_pieces

    if form is None:
        ending = "" if output is None else output.suffix.lower().removeprefix(".")
        if ending not in EXPORTS[:-1]:
            raise InputError(
                f"--format: say which, {', '.join(EXPORTS)}; or end --output in .json, .jsonl, .md."
            )
        form = ending
    if form == EXPORTS[-1] and output is None:
        raise InputError("--format legacy writes a folder. Name it with --output.")
    values = options.settings(suite=suite, gold=gold)
    _, part = options.chosen_suite(values, layer, cases)
    pieces = export_suite(part, form, output)
    if output is None:
        for piece in pieces:
            click.echo(piece, nl=False)
        return
    if form == EXPORTS[-1]:
        list(pieces)  # it writes the folder itself
    else:
        if form != "md":  # which a suite may hold
            refuse_inside(output, part)
        write_pieces(output, pieces)
    click.echo(f"wrote {output}: {counted(len(part), 'case')}", err=True)


@click.command("split")
@options.suite_option
@options.gold_option
@dataset_options.into
@click.option(
    "--parts",
    default="train=60,dev=20,test=20",
    show_default=True,
    metavar="SHARES",
    help="Names with their shares, or a number of equal parts.",
)
@dataset_options.seed
def split_command(suite: Path | None, gold: Path | None, into: Path, parts: str, seed: int) -> None:
    """Cut a suite into parts, each a suite of its own below --into.

    Every part has its share of each layer; cases of a cluster stay together.
    """
    import json

    from harness.authoring.folders import copy_cases, new_folder
    from harness.authoring.splitting import parse_parts, split_suite

    shares = parse_parts(parts)
    whole = _whole(suite, gold)
    cut = split_suite(whole, shares, seed)
    with new_folder(into, whole) as made:
        for name, cases in cut.items():
            copy_cases(whole, cases, made / name)
        told = {
            "suite": whole.hash,
            "seed": seed,
            "shares": {name: str(share) for name, share in shares.items()},
        }
        listed = {name: [case.id for case in cases] for name, cases in cut.items()}
        text = json.dumps({**told, "parts": listed}, indent=1)
        (made / "split.json").write_text(text + "\n", encoding="utf-8")
    for name, cases in cut.items():
        click.echo(f"{into / name}: {_layers(cases)}")


@click.command("sample")
@options.suite_option
@options.gold_option
@dataset_options.into
@click.option("--size", type=click.IntRange(1), required=True, metavar="N", help="Cases to draw.")
@click.option(
    "--by", type=click.Choice(STRATA), default="layer", show_default=True, help="What keeps its share."
)
@dataset_options.seed
def sample_command(suite: Path | None, gold: Path | None, into: Path, size: int, by: str, seed: int) -> None:
    """Draw cases from a suite, as a suite of its own in --into."""
    from harness.authoring import sample_suite
    from harness.authoring.folders import copy_cases, new_folder

    whole = _whole(suite, gold)
    cases = sample_suite(whole, size, seed, by)
    with new_folder(into, whole) as made:
        copy_cases(whole, cases, made)
    click.echo(f"{into}: {_layers(cases)}")


def _whole(suite: Path | None, gold: Path | None) -> Suite:
    whole, _ = options.chosen_suite(options.settings(suite=suite, gold=gold))
    return whole


def _layers(cases: tuple[Case, ...]) -> str:
    from collections import Counter

    counts = Counter(case.category for case in cases)
    told = ", ".join(f"{layer} {count}" for layer, count in sorted(counts.items()))
    return f"{counted(len(cases), 'case')} ({told})"


@click.command("diff")
@click.argument("older", type=click.Path(path_type=Path))
@click.argument("newer", type=click.Path(path_type=Path))
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text", show_default=True)
@click.option("--brief", is_flag=True, help="Name the cases only, without what changed in them.")
@click.pass_context
def diff_command(ctx: click.Context, older: Path, newer: Path, form: str, brief: bool) -> None:
    """Say what changed between two suites: cases added, removed, renamed, changed, and what in them.

    Exits with 1 when something did.
    """
    import json

    from harness.authoring import diff_suites
    from harness.authoring.diff_view import diff_lines
    from harness.suite import load_suite

    diff = diff_suites(load_suite(older), load_suite(newer))
    if form == "json":
        click.echo(json.dumps(diff.as_data(), ensure_ascii=False, indent=1))
    else:
        for line in diff_lines(diff, brief=brief):
            click.echo(line)
    if not diff.empty:
        ctx.exit(ExitCode.GATE_FAILED)
