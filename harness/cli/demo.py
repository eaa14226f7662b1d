"""`recallbench demo`."""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli import console, running

if TYPE_CHECKING:
    from harness.comparison import Comparison
    from harness.runs.folder import RunFolder
    from harness.scoring import Responses, Scorer
    from harness.suite import Case, Suite

_SYSTEMS = ("bm25", "no_memory", "last_conversation", "full_context", "oracle")
_EXPLAINED = "bm25"
_WORKED_CASE = "layer2_01_two_cars_service"
SAMPLE = (
    "layer1_01_bank_account",
    "layer1_10_pharmacy_transfer",
    "layer1_18_retirement_accounts",
    "layer2_01_two_cars_service",
    "layer2_08_rental_repairs",
    "layer2_16_job_offer_terms",
    "layer3_01_passport_and_trip",
    "layer3_06_cafe_second_site",
    "layer3_12_solar_and_roof",
)
"""The cases of the demo, three a layer."""
SCORERS = ("evidence-recall", "keyword-recall", "llm-judge")


@click.command("demo")
@click.option(
    "--scorer",
    type=click.Choice(SCORERS),
    default=SCORERS[0],
    show_default=True,
    help="evidence-recall runs systems now; the others score recorded answers of a small local model, "
    "llm-judge by replaying what another one ruled. No key, no network.",
)
def command(scorer: str) -> None:
    """Run memory systems over sample cases, offline, and show what they recalled.

    It prints the layer-by-system table and explains one case.
    """
    from harness.resources import example_responses
    from harness.scoring import load_responses
    from harness.suite import Suite, load_suite

    whole = load_suite()
    sample = Suite(whole.root, tuple(whole.get(name) for name in SAMPLE))
    if scorer == SCORERS[0]:
        _run(sample)
    else:
        _score(sample, load_responses(example_responses(), whole.ids), scorer)
    click.echo("Next: recallbench run --system bm25 --system your_module:YourMemory --controls")
    click.echo(f"      recallbench show {_WORKED_CASE}")


def _run(sample: Suite) -> None:
    """Run the systems in a folder of their own, which is gone afterwards."""
    from harness.adapters.registry import find_adapter
    from harness.comparison import compare_scores
    from harness.llm.models import Models, ModelSettings
    from harness.naming import parse_spec
    from harness.runs.comparing import notes_on
    from harness.runs.execute import execute
    from harness.runs.preparing import Entrant, Settings
    from harness.runs.scoring import score_run
    from harness.scoring import find_scorer

    specs = [parse_spec(name, "--system") for name in _SYSTEMS]
    entrants = [Entrant(spec, find_adapter(spec)) for spec in specs]
    scorer = find_scorer(SCORERS[0])
    with tempfile.TemporaryDirectory(prefix="recallbench-demo-") as folder:
        began = time.perf_counter()
        with running.progress("running") as tick:
            models = Models(ModelSettings(), {})
            done = asyncio.run(execute(sample, entrants, Settings(), models, Path(folder), tick))
        scored = [score_run(run, sample.cases, scorer) for run in done.folders]
        took = time.perf_counter() - began
        result = compare_scores(
            sample,
            [one.scores for one in scored],
            scorer,
            source="a run of the demo",
            notes=notes_on(scored, sample.cases, scorer),
        )
        console.show_comparison(result, "table")
        click.echo(f"Run just now in {took:.1f} s: {len(specs)} systems, {len(sample)} cases, no model.")
        explained = next(run for run in done.folders if run.manifest.system.label == _EXPLAINED)
        _explain_run(result, sample.get(_WORKED_CASE), explained)


def _explain_run(result: Comparison, case: Case, run: RunFolder) -> None:
    from harness.report import terminal

    record = run.record(case.id)
    scores = next(system.scores for system in result.systems if system.system == _EXPLAINED)
    score = next(one for one in scores if one.case_id == case.id)
    click.echo(f"\nOne case explained: {case.id}, {case.title}")
    console.say(f"Question: {case.question}")
    if record is not None and record.memories is not None:
        click.echo(
            f"{_EXPLAINED} was handed {record.words_in:,} words and asked; of what it recalled, "
            f"{score.memory_words} words were read:"
        )
    console.show(terminal.case_score(score, threshold=result.threshold, has_pass=result.has_pass))


def _score(sample: Suite, given: Responses, scorer: str) -> None:
    """Score the recorded answers."""
    from harness.comparison import compare
    from harness.scoring import find_scorer

    used: Scorer = find_scorer(scorer)
    note = ""
    if scorer == "llm-judge":
        sample, used, note = _recorded(sample)
    result = compare(sample, given, scorer=used, notes=(note,))
    console.show_comparison(result, "table")
    _explain_answers(result, sample.get(_WORKED_CASE), given)


def _recorded(suite: Suite) -> tuple[Suite, Scorer, str]:
    """Return the cases that the bundled cassette covers, its judge, and what to say of it."""
    from harness.llm.cassette import Cassette
    from harness.resources import judge_cassette
    from harness.scoring.judge import LLMJudge
    from harness.suite import Suite

    path = judge_cassette()
    with Cassette(path, "replay") as cassette:
        about = cassette.note("about", "demo")
    part = Suite(suite.root, tuple(suite.get(name) for name in about["cases"]))
    judge = LLMJudge(cassette=path, cassette_mode="replay", **about["judge"])
    return part, judge, about["note"]


def _explain_answers(result: Comparison, case: Case, given: Responses) -> None:
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    from harness.report import terminal

    at = [label.id for label in result.cases].index(case.id)
    click.echo(f"\nOne case explained: {case.id}, {case.title}")
    console.say(f"Question: {case.question}")
    for system in result.systems:
        click.echo()
        answer = given.systems[system.system].get(case.id)
        said = answer.text if answer and answer.text else "(no answer)"
        console.show(
            Group(Text(f"{system.system} answered:", style="bold"), Padding(Text(said), (0, 2, 0, 2)))
        )
        console.show(terminal.case_score(system.scores[at], threshold=result.threshold))
