"""Options that several commands share, and what they resolve to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from harness.cli import gate_options, judging
from harness.cli.gate_options import share

if TYPE_CHECKING:
    from harness.llm.models import Models
    from harness.settings import Resolved
    from harness.suite import Suite

Command = TypeVar("Command", bound=Callable[..., Any])
LAYER_NAMES = ("layer1", "layer2", "layer3")
CASSETTE_MODES = ("auto", "replay", "off")
FORMAT_NAMES = ("table", "md", "json", "csv")
COMPARISON_FORMAT_NAMES = (*FORMAT_NAMES, "html", "junit", "github")


class JudgedCommand(click.Command):
    """A command whose help keeps the options for judges apart."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options that every scorer knows, then those of the judge."""
        shown = [
            (param.name, param.get_help_record(ctx))
            for param in self.get_params(ctx)
            if not isinstance(param, click.Argument)
        ]
        for title, judges in (("Options", False), ("With --scorer llm-judge", True)):
            rows = [row for name, row in shown if row and _is_for_judges(name) is judges]
            with formatter.section(title):
                formatter.write_dl(rows)


def _is_for_judges(name: str | None) -> bool:
    return (name in judging.SETTINGS or name in judging.FLAGS) and name not in judging.GATES


suite_option = click.option(
    "--suite", type=click.Path(path_type=Path), metavar="DIR", help="Suite to use instead of the bundled one."
)
gold_option = click.option(
    "--gold",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Gold file that overrides the suite's gold facts.",
)
layer_option = click.option(
    "--layer",
    multiple=True,
    metavar="|".join(LAYER_NAMES),
    help="Only this layer, or group of an imported suite; repeatable.",
)
case_option = click.option(
    "--case",
    "--cases",
    "cases",
    multiple=True,
    metavar="TEST_ID",
    help="Only this case; a pattern such as 'layer1_0*', or several with commas; repeatable.",
)
scorer_option = click.option(
    "--scorer",
    metavar="NAME",
    help="keyword-recall (default), llm-judge, evidence-recall, exact-match, token-f1, module:attribute.",
)
threshold_option = click.option(
    "--pass-threshold", type=float, metavar="X", help="Reward from which an answer passes (0.6)."
)
format_option = click.option(
    "--format", "format", type=click.Choice(FORMAT_NAMES), help="What is printed (table)."
)
comparison_format_option = click.option(
    "--format",
    "format",
    type=click.Choice(COMPARISON_FORMAT_NAMES),
    help="What is printed (table); github is annotations, and a step summary where "
    "GITHUB_STEP_SUMMARY names a file.",
)
output_option = click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, dir_okay=False),
    multiple=True,
    metavar="FILE",
    help="Also write to a file, its format by its ending: .txt .md .json .csv; repeatable.",
)
comparison_output_option = click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, dir_okay=False),
    multiple=True,
    metavar="FILE",
    help="Also write to a file, its format by its ending: .txt .md .json .csv .html .xml (JUnit); repeatable.",
)
partial_option = click.option(
    "--partial", is_flag=True, help="Compare over the cases that every system answered, and say so."
)


_CASSETTE_OPTIONS = (
    click.option(
        "--cassette",
        type=click.Path(path_type=Path),
        metavar="PATH",
        help="Where replies are kept (.recallbench/cassette.sqlite).",
    ),
    click.option(
        "--cassette-mode",
        type=click.Choice(CASSETTE_MODES),
        help="auto, replay (never calls) or off.",
    ),
)


def judge_options(command: Command) -> Command:
    """Add the options of `--scorer llm-judge`."""
    for option in reversed(
        (
            click.option(
                "--judge",
                multiple=True,
                metavar="[PROVIDER:]MODEL[@URL]",
                help="Judge model; given several times, a panel.",
            ),
            click.option("--provider", metavar="NAME", help="Provider of the one judge."),
            click.option("--model", metavar="NAME", help="Model of the one judge."),
            click.option("--base-url", metavar="URL", help="OpenAI-compatible endpoint of the one judge."),
            click.option("--api-key-env", metavar="VARIABLE", help="Variable that holds its key."),
            click.option(
                "--prompts",
                type=click.Path(path_type=Path),
                metavar="DIR",
                help="Judge prompts that replace the bundled ones.",
            ),
            click.option(
                "--per-criterion", is_flag=True, help="One criterion a call, which small models need."
            ),
            click.option(
                "--with-transcript",
                is_flag=True,
                help="Show the judge the conversations; an unsupported claim vetoes a pass.",
            ),
            click.option(
                "--repeats",
                type=click.IntRange(1),
                default=1,
                metavar="K",
                help="Ask K times, take the median verdict, show the flip rate.",
            ),
            click.option(
                "--concurrency", type=click.IntRange(1), metavar="N", help="Requests in flight (16)."
            ),
            click.option(
                "--timeout",
                type=click.FloatRange(0, min_open=True),
                metavar="S",
                help="Seconds to wait for one reply (120).",
            ),
            click.option(
                "--max-errors",
                callback=share,
                type=float,
                metavar="X",
                help="Exit with 1 when the share of errors, of systems and judge, exceeds X; a judge stops there.",
            ),
            click.option(
                "--max-cost",
                type=click.FloatRange(0),
                metavar="USD",
                help="Send nothing more once so much is spent; exit with 1 if answers are left.",
            ),
            click.option(
                "--prices",
                type=click.Path(path_type=Path),
                metavar="FILE",
                help="Prices, for providers that name no cost.",
            ),
            *_CASSETTE_OPTIONS,
            click.option(
                "--retry-errors", is_flag=True, help="Ask again where the cassette holds a judge error."
            ),
        )
    ):
        command = option(command)
    return command


def comparison_options(command: Command) -> Command:
    """Add the options that every command which scores answers has."""
    for option in reversed(
        (
            layer_option,
            case_option,
            scorer_option,
            gold_option,
            suite_option,
            threshold_option,
            partial_option,
            comparison_format_option,
            comparison_output_option,
            *gate_options.ALL,
        )
    ):
        command = option(command)
    return command


def settings(**flags: Any) -> Mapping[str, Resolved]:
    """Resolve the settings behind the flags given; see `harness.settings`.

    A format that only comparisons have can be asked for by the flag alone.
    """
    from harness.settings import resolve

    format = flags.get("format")
    if format not in COMPARISON_FORMAT_NAMES[len(FORMAT_NAMES) :]:
        return resolve(flags)
    values = resolve({**flags, "format": None})
    return {**values, "format": values["format"]._replace(value=format, source="flag --format")}


def models(values: Mapping[str, Resolved], *names: str, **more: Any) -> Models:
    """Return the models that a command asks, through the cassette of the settings.

    Args:
        values: the settings.
        names: which of them, beside the cassette and its mode, choose the model.
        more: what else there is to say of it.
    """
    from harness.llm.models import Models, ModelSettings
    from harness.settings import variables

    given = {name: values[name].value for name in (*names, "cassette_mode")}
    path = values["cassette"].value
    return Models(
        ModelSettings(**given, **more, cassette=str(path.absolute()) if path else None), variables()
    )


def chosen_suite(
    values: Mapping[str, Resolved], layers: tuple[str, ...] = (), cases: tuple[str, ...] = ()
) -> tuple[Suite, Suite]:
    """Return the whole suite, and its part in the layers and of the cases asked for."""
    from harness.suite import load_suite

    whole = load_suite(values["suite"].value, gold=values["gold"].value)
    return whole, part_of(whole, layers, cases)


def part_of(whole: Suite, layers: tuple[str, ...], cases: tuple[str, ...]) -> Suite:
    """Return the part of a suite in the layers and of the cases asked for.

    Raises:
        InputError: when nothing is left.
    """
    from harness.errors import InputError
    from harness.suite import Suite

    if not layers and not cases:
        return whole
    groups = whole.groups
    for name in layers:
        if name not in groups and (name not in LAYER_NAMES or groups[0] not in LAYER_NAMES):
            known = ", ".join(map(repr, groups if groups[0] not in LAYER_NAMES else LAYER_NAMES))
            raise InputError(f"--layer: {name!r} is not one of {known}.")
    named = _named_cases(whole, cases)
    chosen = (
        case for case in whole if (not layers or case.category in layers) and (not cases or case.id in named)
    )
    part = Suite(whole.root, tuple(chosen))
    if not len(part):
        raise InputError(f"{whole.root}: no case in {', '.join((*layers, *cases))}.")
    return part


def _named_cases(whole: Suite, given: tuple[str, ...]) -> frozenset[str]:
    """Return the ids that names, patterns and lists of them stand for."""
    from fnmatch import filter as matching

    found: set[str] = set()
    for name in (part.strip() for text in given for part in text.split(",") if part.strip()):
        matched = matching(whole.ids, name) if any(char in name for char in "*?[") else []
        found |= set(matched) if matched else {whole.get(name).id}
    return frozenset(found)


def model_options(command: Command) -> Command:
    """Add the options that name the model of a run: it writes memories and reads them."""
    for option in reversed(
        (
            click.option("--provider", metavar="NAME", help="Provider of the model."),
            click.option("--model", metavar="NAME", help="Model that writes memories and reads them."),
            click.option("--base-url", metavar="URL", help="OpenAI-compatible endpoint of the model."),
            click.option("--api-key-env", metavar="VARIABLE", help="Variable that holds its key."),
            *_CASSETTE_OPTIONS,
        )
    ):
        command = option(command)
    return command
