"""The interactive menu: what each entry does. How a person is asked is the prompter's matter."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import click
from rich.console import RenderableType

from harness import report
from harness.cli import console, judging
from harness.cli.prompter import Option, Prompter
from harness.comparison import LAYER_TITLES, Comparison, compare
from harness.errors import HarnessError
from harness.report import case_view, json_report, terminal
from harness.resources import example_responses
from harness.scoring import Answer, Responses, Scorer, load_responses
from harness.suite import Case, Suite

SESSION_SCHEMA = "recallbench.session/1"
_BACK = "Back"
Action = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Result:
    """One thing that was scored in this session."""

    label: str
    comparison: Comparison
    evidence: bool


@dataclass
class Menu:
    """The menu over one suite; results of the session pile up in `results`."""

    suite: Suite
    scorer: Scorer
    threshold: float
    prompter: Prompter
    results: list[Result] = field(default_factory=list)

    def run(self) -> None:
        """Show the main menu until the person quits; raises Leave when the input ends."""
        while True:
            entries: list[Option[Action | None]] = [
                Option("Browse cases", self.browse),
                Option("Answer a question by hand", self.answer_any),
                Option("Score a responses file", self.score_file),
                Option("Compare systems", self.compare_file),
                Option(f"Results of this session ({len(self.results)})", self.session),
                Option("Quit", None),
            ]
            action = self.prompter.choose(f"recallbench: {len(self.suite)} cases", entries)
            if action is None:
                return
            try:
                action()
            except HarnessError as error:
                click.echo(f"{error}")

    # ---- cases ------------------------------------------------------------------------

    def browse(self) -> None:
        """Pick a case by layer and domain, then read or answer it."""
        while (case := self._pick_case()) is not None:
            self._case_menu(case)

    def answer_any(self) -> None:
        """Pick a case and answer its question."""
        case = self._pick_case()
        if case is not None:
            self._answer(case)

    def _pick_case(self) -> Case | None:
        layer_options: list[Option[str | None]] = [
            Option(f"{LAYER_TITLES.get(name, name)} ({count})", name)
            for name, count in self.suite.layer_counts.items()
            if count
        ]
        layer_options += [Option("All layers", ""), Option(_BACK, None)]
        layer = self.prompter.choose("Which layer?", layer_options)
        if layer is None:
            return None
        cases = [case for case in self.suite if layer in ("", case.category)]
        domains = sorted({case.domain for case in cases if case.domain})
        if len(domains) > 1:
            domain_options: list[Option[str | None]] = [Option("All domains", "")]
            domain_options += [Option(name, name) for name in domains]
            domain_options.append(Option(_BACK, None))
            domain = self.prompter.choose("Which domain?", domain_options)
            if domain is None:
                return None
            cases = [case for case in cases if domain in ("", case.domain)]
        case_options: list[Option[Case | None]] = [Option(f"{case.id}  {case.title}", case) for case in cases]
        case_options.append(Option(_BACK, None))
        return self.prompter.choose("Which case?", case_options)

    def _case_menu(self, case: Case) -> None:
        talks = case.conversations()
        cited = case_view.citations(case)
        while True:
            console.say(f"\nQuestion: {case.question}")
            entries: list[Option[Action | None]] = [
                Option(
                    f"Read {talk.id} ({talk.rounds} rounds, {talk.words} words)",
                    lambda talk=talk: self._page(case_view.conversation(talk, cited.get(talk.id))),  # type: ignore[misc]
                )
                for talk in talks
            ]
            entries += [
                Option("Answer the question", lambda: self._answer(case)),
                Option("Show criteria and gold facts", lambda: self._page(case_view.overview(case))),
                Option(_BACK, None),
            ]
            action = self.prompter.choose(f"{case.id}: {case.title}", entries)
            if action is None:
                return
            action()

    def _answer(self, case: Case) -> None:
        console.say(f"\nQuestion: {case.question}")
        text = self.prompter.ask("Your answer (empty to go back)")
        if not text:
            return
        one = Suite(self.suite.root, (case,))
        given = Responses({"you": {case.id: Answer(text)}}, "typed by hand")
        result = self._compare(one, given)
        score = result.systems[0].scores[0]
        console.show(
            terminal.case_score(
                score, threshold=self.threshold, title=case.title, has_pass=self.scorer.has_pass
            )
        )
        self.results.append(Result(f"Answer to {case.id}", result, evidence=True))

    # ---- files ------------------------------------------------------------------------

    def score_file(self) -> None:
        """Score one system of a responses file case by case."""
        typed = self.prompter.ask("Responses file (empty to go back)")
        if not typed:
            return
        path = Path(typed).expanduser()
        given = load_responses(path, self.suite.ids)
        name = next(iter(given.systems))
        if len(given.systems) > 1:
            name = self.prompter.choose("Which system?", [Option(system, system) for system in given.systems])
        one = Responses({name: given.systems[name]}, given.source, given.note, given.models)
        result = self._compare(self.suite, one)
        self._page(*console.comparison_parts(result, evidence=True))
        self.results.append(Result(f"{name} of {path.name}", result, evidence=True))

    def compare_file(self) -> None:
        """Compare the systems of a responses file."""
        typed = self.prompter.ask("Responses file (empty for the bundled example)")
        path = Path(typed).expanduser() if typed else example_responses()
        given = load_responses(path, self.suite.ids)
        result = self._compare(self.suite, given)
        console.show_comparison(result, "table")
        self.results.append(Result(f"Comparison of {path.name}", result, evidence=False))

    def _compare(self, suite: Suite, given: Responses) -> Comparison:
        with judging.watched(self.scorer):
            return compare(suite, given, scorer=self.scorer, threshold=self.threshold)

    # ---- session ----------------------------------------------------------------------

    def session(self) -> None:
        """View or export what was scored since the start."""
        if not self.results:
            click.echo("Nothing has been scored in this session yet.")
            return
        while True:
            view_options: list[Option[Action | None]] = [
                Option(f"View {result.label}", lambda result=result: self._view(result))  # type: ignore[misc]
                for result in self.results
            ]
            view_options += [
                Option("Export as JSON", lambda: self._export("json")),
                Option("Export as Markdown", lambda: self._export("md")),
                Option(_BACK, None),
            ]
            action = self.prompter.choose("Results of this session", view_options)
            if action is None:
                return
            action()

    def _view(self, result: Result) -> None:
        self._page(*console.comparison_parts(result.comparison, evidence=result.evidence))

    def _export(self, format: str) -> None:
        path = Path(self.prompter.ask("Write to", f"recallbench-session.{format}")).expanduser()
        if path.exists():
            keep: list[Option[bool]] = [Option("Keep it", False), Option("Replace it", True)]
            if not self.prompter.choose(f"{path} exists.", keep):
                return
        console.write_file(path, session_text(self.results, format))
        click.echo(f"wrote {path}")

    def _page(self, *parts: RenderableType) -> None:
        """Show something long: through the pager where a person sits, at once over a pipe."""
        if self.prompter.paged:
            console.page(parts)
            return
        for part in parts:
            console.show(part)


def session_text(results: list[Result], format: str) -> str:
    """Return the session's results as `json` or `md`."""
    if format == "json":
        data = {
            "schema": SESSION_SCHEMA,
            "results": [
                {"label": result.label, **json_report.as_data(result.comparison)} for result in results
            ],
        }
        return json.dumps(data, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    parts = ["# recallbench session"]
    for result in results:
        shown = report.render(result.comparison, "md", evidence=result.evidence)
        parts.append(f"## {result.label}\n\n{shown.rstrip()}")
    return "\n\n".join(parts) + "\n"
