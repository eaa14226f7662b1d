"""`recallbench retrieval`: whether the right memory is found, and whether a change makes it worse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli import console, options
from harness.cli.gating import reader_may_leave
from harness.errors import GateError, InputError

if TYPE_CHECKING:
    from harness.cli.retrieving import Corpora
    from harness.evaluation import Evaluation
    from harness.naming import Spec

LEVELS = ("message", "round", "conversation")
SECTIONS = ("groups", "tags", "misses", "thresholds")
BUNDLED = "bundled"


@click.group("retrieval")
def command() -> None:
    """Measure what memory systems retrieve, and gate changes of it."""


@command.command("evaluate")
@click.argument("datasets", nargs=-1, type=click.Path(path_type=Path), metavar="[DATASET…]")
@click.option(
    "--system",
    "-s",
    "systems",
    multiple=True,
    metavar="[LABEL=]NAME[(OPTION=…)]",
    help="fts5, vector, entities, links, raw, hybrid(streams=…), memory_api(url=…), or any memory system that recalls; repeatable.",
)
@click.option(
    "--suite",
    metavar="DIR",
    help=f"Measure on the gold evidence of a suite's cases instead; '{BUNDLED}' is ours.",
)
@click.option("--level", type=click.Choice(LEVELS), help="Of a suite's evidence (message).")
@options.case_option
@click.option(
    "--corpus", type=click.Path(path_type=Path), metavar="FILE", help="Memories of a graded data set."
)
@click.option(
    "-k", "ks", multiple=True, type=click.IntRange(1), metavar="K", help="Cutoffs (5 and 10); repeatable."
)
@click.option(
    "--relevant-from", type=float, metavar="GRADE", help="Least grade that is relevant (any above 0)."
)
@click.option(
    "--sweep",
    metavar="NAME=V1,V2,…",
    help="Try values of an option of every --system, side by side, each held against the first.",
)
@click.option(
    "--show", "sections", multiple=True, type=click.Choice(SECTIONS), help="Further tables; repeatable."
)
@click.option(
    "--fail-under",
    "floors",
    multiple=True,
    metavar="METRIC=X",
    help="Exit with 1 when a system's metric is below X, failed queries counted as 0; repeatable.",
)
@click.option(
    "--not-below",
    "baselines",
    multiple=True,
    metavar="FILE|SYSTEM",
    help="Exit with 1 when a system is below an earlier result (JSON), or below another --system; repeatable.",
)
@click.option(
    "--gate-on", "gated", multiple=True, metavar="METRIC", help="Metrics of --not-below (recall and ndcg)."
)
@options.format_option
@options.output_option
def evaluate(
    datasets: tuple[Path, ...],
    systems: tuple[str, ...],
    suite: str | None,
    level: str | None,
    cases: tuple[str, ...],
    corpus: Path | None,
    ks: tuple[int, ...],
    relevant_from: float | None,
    sweep: str | None,
    sections: tuple[str, ...],
    floors: tuple[str, ...],
    baselines: tuple[str, ...],
    gated: tuple[str, ...],
    format: str | None,
    output: tuple[Path, ...],
) -> None:
    """Measure retrievers side by side on retrieval data sets, or on a suite's gold evidence.

    Every query is searched once; a query that fails is named and stands outside the means, with
    bounds. Exits with 1 when a gate is not kept, naming the queries.
    """
    from harness.cli import retrieval_gates
    from harness.cli.retrieval_sweeps import against_the_first, sections_of
    from harness.cli.retrieving import evaluate as measure
    from harness.retrieval.evaluator import RetrievalEvaluator
    from harness.retrieval.metrics import KS

    values = options.settings(format=format)
    console.check_outputs(output, [*_files_of(datasets), corpus, *_baseline_files(baselines)])
    specs = _specs(systems, sweep)
    every = [spec for tried in specs for spec in tried]
    labels = [spec.label for spec in every]
    evaluator = RetrievalEvaluator(tuple(ks) or KS, relevant_from)
    gates = retrieval_gates.read(floors, baselines, gated, labels, evaluator.ks[0])
    searched = _corpora(datasets, suite, level, cases, corpus)
    retrieval_gates.check(gates, searched, labels, evaluator)
    found: list[list[Evaluation]] = []
    for corpora in searched:
        measured = measure(corpora, every, evaluator, options.models(options.settings()))
        found.append(against_the_first(measured, len(specs[0])))
    names = [f"{name}@{evaluator.ks[0]}" for name in ("hit", "recall")] + ["mrr"]
    shown = [*sections, *dict.fromkeys(name for evaluations in found for name in sections_of(evaluations))]
    _print(found, names, shown, values["format"].value, output)
    if broken := retrieval_gates.broken(found, gates):
        raise GateError("\n".join(broken))


@command.command("compare")
@click.argument("first", type=click.Path(path_type=Path))
@click.argument("second", type=click.Path(path_type=Path))
@click.option("--metric", "metrics", multiple=True, metavar="NAME", help="Only this metric; repeatable.")
@click.option(
    "--system",
    "systems",
    multiple=True,
    metavar="LABEL",
    help="Which system of each file, where they hold several; twice, for FIRST and for SECOND.",
)
@click.option(
    "--dataset", "dataset", metavar="ID", help="Which data set of each file, where they hold several."
)
@options.format_option
def compare(
    first: Path,
    second: Path,
    metrics: tuple[str, ...],
    systems: tuple[str, ...],
    dataset: str | None,
    format: str | None,
) -> None:
    """Compare two results of the same queries: what rose, what fell, and whether that can be chance.

    FIRST and SECOND are files that `retrieval evaluate -o FILE.json` wrote, or one file twice, with a
    --system for each. p is of a paired sign-flip test.
    """
    from harness.cli.retrieval_gates import results_of
    from harness.report import change_view, markdown
    from harness.retrieval.comparing import compare as changes_of

    values = options.settings(format=format)
    if len(systems) > 2:
        raise InputError("--system: name one for both files, or one for each.")
    of_first, of_second = (systems[0], systems[-1]) if systems else (None, None)
    one = _chosen(results_of(first), first, of_first, dataset)
    other = _chosen(results_of(second), second, of_second, dataset)
    changes = changes_of(one, other, metrics)
    told = f"First is {one.system} of {first}, second is {other.system} of {second}."
    match values["format"].value:
        case "json":
            click.echo(change_view.as_json(changes), nl=False)
        case "csv":
            click.echo(change_view.as_csv(changes), nl=False)
        case "md":
            click.echo(f"{change_view.as_markdown(changes)}- {markdown.escape(told)}")
        case _:
            console.show(change_view.tables(changes))
            console.say("\n".join((*change_view.notes(changes), told)))


def _files_of(datasets: Sequence[Path]) -> Iterator[Path]:
    """Yield the data sets, and what stands in a folder of them."""
    for path in datasets:
        yield path
        if path.is_dir():
            yield from path.iterdir()


def _baseline_files(baselines: Sequence[str]) -> list[Path]:
    return [path for path in map(Path, baselines) if path.is_file()]


def _chosen(
    evaluations: Sequence[Evaluation], path: Path, system: str | None, dataset: str | None
) -> Evaluation:
    found = list(evaluations)
    if not found:
        raise InputError(f"{path}: holds no evaluation.")
    twice = " (twice, where the two differ)"
    for field, name, more in (("system", system, twice), ("dataset", dataset, "")):
        held = ", ".join(dict.fromkeys(getattr(one, field) for one in found))
        of_it = [one for one in found if name in (None, getattr(one, field))]
        if not of_it:
            raise InputError(f"{path}: holds no {field} {name!r} ({held}). Name one with --{field}{more}.")
        if len({getattr(one, field) for one in of_it}) > 1:
            raise InputError(f"{path}: holds more than one {field} ({held}). Name one with --{field}{more}.")
        found = of_it
    if len(found) > 1:
        raise InputError(f"{path}: holds {found[0].system} on {found[0].dataset} {len(found)} times.")
    return found[0]


def _specs(systems: Sequence[str], sweep: str | None) -> list[list[Spec]]:
    """Return the specs, those of one system together: one of each, or the values of a sweep."""
    from harness.cli.retrieval_sweeps import swept
    from harness.naming import parse_spec
    from harness.retrieval.adapted import find_system
    from harness.retrieval.streams.naming import known_retrievers

    if not systems:
        raise InputError("name at least one --system, such as --system fts5.")
    specs = [[parse_spec(text, "--system", labelled=True)] for text in systems]
    if sweep is not None:
        specs = swept(systems, sweep)
    labels = [spec.label for tried in specs for spec in tried]
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice:
        raise InputError(f"two systems are called {twice}. Give one of them another label: --system OTHER=….")
    for spec in (spec for tried in specs for spec in tried):
        if spec.name not in known_retrievers():
            find_system(spec)
    return specs


def _corpora(
    datasets: Sequence[Path], suite: str | None, level: str | None, cases: Sequence[str], corpus: Path | None
) -> list[Corpora]:
    from harness.cli.retrieving import Corpora
    from harness.retrieval.loading import load_several

    if bool(datasets) == bool(suite):
        raise InputError("name retrieval data sets, or a suite with --suite (one of the two).")
    if suite is None:
        if cases:
            raise InputError("--case is for --suite.")
        if level is not None:
            raise InputError("--level is for --suite.")
        loaded = load_several(datasets, corpus)
        return [Corpora(data.id, lambda data=data: iter([data])) for data in loaded]  # type: ignore[misc]
    if corpus is not None:
        raise InputError("--corpus is for graded data sets, and a suite has conversations of its own.")
    from harness.retrieval.from_suite import sets_of
    from harness.suite import load_suite

    whole = load_suite(None if suite == BUNDLED else Path(suite))
    asked = options.part_of(whole, (), tuple(cases))
    level = level or "message"
    name = f"{'bundled suite' if suite == BUNDLED else suite}, by {level}"
    return [Corpora(name, lambda: sets_of(asked, level), asked, level)]  # type: ignore[arg-type]


def _print(
    found: Sequence[Sequence[Evaluation]],
    names: Sequence[str],
    sections: Sequence[str],
    format: str,
    output: Sequence[Path],
) -> None:
    from harness.report import evaluation_view as view

    every = [one for evaluations in found for one in evaluations]
    with reader_may_leave():
        if format == "json":
            click.echo(view.as_json(every), nl=False)
        elif format == "csv":
            click.echo(view.as_csv(every), nl=False)
        else:
            for evaluations in found:
                if format == "md":
                    click.echo(view.as_markdown(evaluations, names, sections), nl=False)
                else:
                    console.show(view.tables(evaluations, names, console.width(), sections=sections))
                    console.say("\n".join(view.notes(evaluations)))
    for path in output:
        console.write_file(path, view.written(found, names, sections, path))
