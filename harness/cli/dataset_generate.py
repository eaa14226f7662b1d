"""`recallbench dataset generate`: cases and recall data sets written by a model."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli import options
from harness.cli.dataset_options import counted, into, locale, model, seed
from harness.cli.streams import is_terminal
from harness.errors import GateError, InputError

if TYPE_CHECKING:
    from harness.authoring.generation import Finished, Result, Wish
    from harness.llm.endpoint import Endpoint
    from harness.llm.models import ModelSettings

KINDS = ("case", "recall")
DIFFICULTIES = ("easy", "medium", "hard")
_MODEL_SETTINGS = (
    "provider",
    "model",
    "base_url",
    "api_key_env",
    "concurrency",
    "cassette",
    "cassette_mode",
)


@click.command("generate")
@into
@click.option(
    "--kind",
    type=click.Choice(KINDS),
    default="case",
    show_default=True,
    help="case: cases of a suite; recall: memories and queries of a retrieval data set.",
)
@click.option(
    "--count",
    type=click.IntRange(1, 10_000),
    metavar="N",
    default=1,
    show_default=True,
    help="Cases, or clusters of memories, to try; a larger one goes on.",
)
@click.option("--domain", default="", metavar="TEXT", help="What it is about, such as 'pharmacy'.")
@click.option(
    "--layer",
    type=click.Choice(options.LAYER_NAMES),
    default="layer1",
    show_default=True,
    help="Of each case.",
)
@click.option(
    "--difficulty",
    type=click.Choice(DIFFICULTIES),
    default="medium",
    show_default=True,
    help="How close the rival values are.",
)
@click.option(
    "--conversations", type=click.IntRange(1, 12), metavar="N", help="Of each case (1, 2 or 3 by layer)."
)
@click.option(
    "--rounds",
    type=click.IntRange(1, 400),
    metavar="N",
    default=50,
    show_default=True,
    help="Of each conversation; also the least that is accepted.",
)
@click.option(
    "--memories",
    type=click.IntRange(2, 60),
    metavar="N",
    default=8,
    show_default=True,
    help="Of each cluster.",
)
@click.option(
    "--queries",
    type=click.IntRange(1, 30),
    metavar="N",
    default=2,
    show_default=True,
    help="Of each cluster.",
)
@locale
@seed
@click.option(
    "--repairs",
    type=click.IntRange(0, 20),
    metavar="N",
    default=2,
    show_default=True,
    help="How often one is sent back with its problems before it is rejected.",
)
@click.option(
    "--rejects",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Where rejected ones go, with their reasons (DIR.rejects beside --into).",
)
@model
@click.option("--concurrency", type=click.IntRange(1), metavar="N", help="Requests in flight (16).")
@click.option(
    "--timeout", type=click.FloatRange(0, min_open=True), metavar="S", help="Seconds for one reply (120)."
)
@click.option("--max-cost", type=click.FloatRange(0), metavar="USD", help="Send nothing more once spent.")
@click.option("--prices", type=click.Path(path_type=Path), metavar="FILE", help="Prices by model.")
@click.option("--retry-errors", is_flag=True, help="Ask again where the cassette holds an error.")
@click.option("--yes", is_flag=True, help="Start without asking, whatever it costs.")
@click.option("--dry-run", is_flag=True, help="Say what it would take, and do nothing.")
def generate_command(into: Path, count: int, **flags: Any) -> None:
    """Let a model write cases, or a recall data set; only what passes every check is kept.

    Each is written in stages, validated, sent back with its problems, and rejected with reasons when that
    does not help. The same command goes on where it was stopped.
    """
    from harness.authoring.generation import estimate
    from harness.authoring.generation.opening import author_endpoint
    from harness.authoring.generation.run import unfinished
    from harness.llm.usage import load_prices
    from harness.settings import variables
    from harness.suite.placing import named

    for name in ("timeout", "max_cost"):
        if flags[name] is not None and not flags[name] < float("inf"):
            raise InputError(f"--{name.replace('_', '-')} {flags[name]:g}: expected a finite number.")
    wish = _wish(flags)
    settings = _model_settings(flags)
    endpoint = author_endpoint(settings, variables())
    if endpoint.substitution:
        click.echo(endpoint.substitution, err=True)
    prices = {} if flags["prices"] is None else load_prices(flags["prices"])
    retry = flags["retry_errors"]
    left = unfinished(wish, count, endpoint.model, into, retry_unanswered=retry)
    takes = estimate(wish, len(left), flags["repairs"], prices.get(endpoint.model))
    what = "case" if wish.kind == "case" else "cluster"
    earlier = f" ({count - len(left)} finished before)" if len(left) < count else ""
    click.echo(f"{counted(len(left), what)} by {endpoint.label}{earlier}: {takes.sentence}", err=True)
    if flags["dry_run"]:
        return
    costs = not endpoint.local or (takes.cost is not None and takes.cost[1] > 0)
    if left and costs and settings.cassette_mode != "replay" and not flags["yes"]:
        _confirm()
    place = named(into)
    rejects = flags["rejects"] or place.with_name(f"{place.name}.rejects")
    result = _carry_out(wish, count, settings, endpoint, into, rejects, flags["repairs"], prices, flags)
    _tell(result, what, into, rejects)


def _wish(flags: Mapping[str, Any]) -> Wish:
    from harness.authoring.generation import Wish
    from harness.authoring.generation.wish import CONVERSATIONS

    layer = flags["layer"]
    conversations = flags["conversations"] or CONVERSATIONS[layer]
    if flags["kind"] == "case" and (conversations == 1) != (layer == "layer1"):
        raise InputError(
            f"--conversations {conversations}: a case of layer1 has one, and a case of the others two or more."
        )
    names = ("kind", "difficulty", "rounds", "locale", "memories", "queries", "seed")
    chosen = {name: flags[name] for name in names}
    return Wish(**chosen, layer=layer, conversations=conversations, domain=" ".join(flags["domain"].split()))


def _model_settings(flags: Mapping[str, Any]) -> ModelSettings:
    from harness.llm.models import ModelSettings

    values = options.settings(**{name: flags[name] for name in _MODEL_SETTINGS})
    given = {name: values[name].value for name in _MODEL_SETTINGS}
    given["cassette"] = None if given["cassette"] is None else str(given["cassette"])
    if flags["timeout"] is not None:
        given["timeout_s"] = flags["timeout"]
    return ModelSettings(**given, retry_errors=flags["retry_errors"])


def _confirm() -> None:
    if not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
        raise InputError("this may cost money. Add --yes to start it, or --max-cost USD --yes to bound it.")
    if not click.confirm("This may cost money. Start?", err=True):
        raise InputError("not started.")


def _carry_out(
    wish: Wish,
    count: int,
    settings: ModelSettings,
    endpoint: Endpoint,
    into: Path,
    rejects: Path,
    repairs: int,
    prices: Mapping[str, Any],
    flags: Mapping[str, Any],
) -> Result:
    from harness.authoring.generation import generate
    from harness.authoring.generation.opening import author_model

    async def work() -> Result:
        opened = author_model(settings, endpoint, prices=prices, max_cost=flags["max_cost"])
        async with opened as chat:
            done = await generate(
                wish,
                count,
                chat,
                into,
                rejects,
                repairs=repairs,
                retry_unanswered=flags["retry_errors"],
                note=_note,
            )
            if chat.fresh.calls:
                cost = "cost unknown" if chat.fresh.cost is None else f"${chat.fresh.cost:.4f}"
                click.echo(f"asked for now: {_replies(chat.fresh.calls)}, {cost}", err=True)
            return done

    try:
        return asyncio.run(work())
    except KeyboardInterrupt:
        click.echo("What is finished is kept; the same command goes on from there.", err=True)
        raise


def _note(finished: Finished) -> None:
    mended = f", mended {counted(finished.repairs, 'time')}" if finished.repairs else ""
    if finished.accepted:
        click.echo(f"{finished.name}: written{mended}", err=True)
        return
    more = f" (and {len(finished.reasons) - 1} more)" if len(finished.reasons) > 1 else ""
    click.echo(f"{finished.name}: rejected{mended}: {finished.reasons[0]}{more}", err=True)


def _tell(result: Result, what: str, into: Path, rejects: Path) -> None:
    click.echo(f"{into}: {counted(result.accepted, what)} written, {result.rejected} rejected")
    if result.rejected:
        click.echo(f"{rejects}: the rejected ones, with reasons; another --seed tries others", err=True)
    if result.stopped:
        raise GateError(f"stopped early: {result.stopped}. What is finished is kept.")
    if not result.accepted:
        raise GateError(f"nothing could be written: {counted(result.rejected, what)} rejected, see {rejects}")


def _replies(count: int) -> str:
    return "1 reply" if count == 1 else f"{count:,} replies"
