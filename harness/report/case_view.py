"""A case as a person reads it: question, criteria, gold facts, conversations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from harness.facts import GoldFact
from harness.report.boxes import visible
from harness.suite import Case, Conversation

_ROLE_STYLES = {"required": "green", "optional": "cyan", "forbidden": "red"}


def overview(case: Case) -> RenderableType:
    """Return everything but the conversations."""
    head = Text(case.id, style="bold")
    head.append(f"  {visible(case.title)}")
    facts = Table(box=None, show_header=False, padding=(0, 1, 0, 0), pad_edge=False)
    for _ in range(4):
        facts.add_column(overflow="fold")
    for role, group in (
        ("required", case.gold.required),
        ("optional", case.gold.optional),
        ("forbidden", case.gold.forbidden),
    ):
        for fact in group:
            facts.add_row(
                Text(role, style=_ROLE_STYLES[role]),
                Text(visible(fact.id)),
                Text(f"{visible(fact.fact)} ({fact.type})", style="bold"),
                Text(visible(_fact_note(fact)), style="dim"),
            )
    parts: list[RenderableType] = [head, Text(_labels(case), style="dim"), Text("")]
    if case.description:
        parts += [Text(visible(case.description)), Text("")]
    parts += [_section("Question", [visible(case.question)])]
    parts += [_section("Criteria", [_criterion(case, at) for at in range(len(case.criteria))])]
    if case.gold.annotated:
        parts += [Text("Gold facts", style="bold"), Padding(facts, (0, 0, 1, 2))]
    if case.expected_behavior:
        parts += [_section("Reference answer", [visible(case.expected_behavior)])]
    return Group(*parts)


def conversation(talk: Conversation, cited: Mapping[int, str] | None = None) -> RenderableType:
    """Return a conversation with numbered messages.

    Args:
        talk: the conversation.
        cited: `{message number: note}` of the messages that gold facts cite.
    """
    when = talk.timestamp.isoformat(sep=" ", timespec="minutes") if talk.timestamp else "no date"
    labels = ", ".join(f"{key}: {value}" for key, value in talk.metadata.items())
    head = Text(f"{talk.id}  {when}  {talk.rounds} rounds, {talk.words} words", style="bold")
    if labels:
        head.append(f"  {visible(labels)}", style="dim")
    table = Table(box=None, show_header=False, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for number, message in enumerate(talk.messages, start=1):
        said = Text(visible(message.text))
        if cited and number in cited:
            said.append(f"  ← {visible(cited[number])}", style="green")
        style = "cyan" if message.role == "user" else "magenta"
        table.add_row(Text(str(number), style="dim"), Text(message.role, style=style), said)
    return Group(head, table, Text(""))


def citations(case: Case) -> dict[str, dict[int, str]]:
    """Return `{conversation id: {message number: fact ids}}` of the evidence."""
    cited: dict[str, dict[int, str]] = {}
    for fact in case.gold:
        for reference in (*fact.evidence, *fact.derived_from):
            talk, _, number = reference.partition("#")
            if number.isdigit():
                notes = cited.setdefault(talk, {})
                name = fact.id or fact.fact
                notes[int(number)] = f"{notes[int(number)]}, {name}" if int(number) in notes else name
    return cited


def case_table(cases: Iterable[Case]) -> Table:
    """Return a table of cases: id, title, domain, abilities."""
    table = Table(header_style="bold")
    for name in ("Case", "Title", "Domain", "Abilities"):
        table.add_column(name, overflow="fold", no_wrap=name == "Case")
    for case in cases:
        table.add_row(
            Text(case.id),
            Text(visible(case.title)),
            Text(visible(case.domain)),
            Text(visible(", ".join(case.abilities))),
        )
    return table


def case_data(case: Case) -> dict[str, Any]:
    """Return what `list --format json` says of a case."""
    return {
        "test_id": case.id,
        "category": case.category,
        "title": case.title,
        "domain": case.domain,
        "abilities": list(case.abilities),
        "answerable": case.answerable,
        "question": case.question,
        "required_facts": len(case.gold.required),
        "forbidden_facts": len(case.gold.forbidden),
        "criteria": len(case.criteria),
    }


def _labels(case: Case) -> str:
    asked = f"asked {case.question_time.isoformat(sep=' ', timespec='minutes')}" if case.question_time else ""
    answerable = "" if case.answerable else "not answerable from the conversations"
    return " · ".join(
        filter(None, (case.category, case.domain, ", ".join(case.abilities), case.locale, asked, answerable))
    )


def _section(title: str, lines: Iterable[str]) -> RenderableType:
    body = Group(*(Padding(Text(line), (0, 0, 0, 2)) for line in lines))
    return Group(Text(title, style="bold"), body, Text(""))


def _criterion(case: Case, at: int) -> str:
    criterion = case.criteria[at]
    notes = [criterion.dimension or "", "judged only" if criterion.kind == "behaviour" else ""]
    if criterion.weight != 1:
        notes.append(f"weight {criterion.weight:g}")
    shown = ", ".join(filter(None, notes))
    return visible(f"{at + 1}. {criterion.text}" + (f" ({shown})" if shown else ""))


def _fact_note(fact: GoldFact) -> str:
    parts = [
        f"or {' / '.join(fact.accept)}" if fact.accept else "",
        f"from {', '.join(fact.evidence)}" if fact.evidence else "",
        f"derived from {', '.join(fact.derived_from)}" if fact.derived_from else "",
        f"replaces {fact.replaces}" if fact.replaces else "",
        fact.why,
    ]
    return "; ".join(filter(None, parts))
