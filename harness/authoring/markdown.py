"""A suite to be read by people: question, criteria, gold and dialogues of each case in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator

from harness.authoring.case_text import spelled
from harness.suite import Case, Conversation, Criterion, Suite

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~&])")
_LEADING = re.compile(r"^(\s*)([-+=](?=[-=\s]|$)|\d{1,9}[.)](?=\s|$))", re.MULTILINE)
_COLUMNS = ("", "id", "value", "type", "also", "cited", "why")


def suite_in_markdown(suite: Suite) -> Iterator[str]:
    """Yield the suite as Markdown, case by case."""
    noun = "case" if len(suite) == 1 else "cases"
    yield f"# {plain(suite.root.name or str(suite.root))}\n\n{len(suite)} {noun}, hash `{suite.hash[:12]}`.\n"
    for case in suite:
        yield "\n" + "\n\n".join(_case(case)) + "\n"


def plain(text: str) -> str:
    """Return text that Markdown shows as it is, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _case(case: Case) -> Iterator[str]:
    yield f"## {plain(case.id)}: {plain(case.title)}"
    labels = [case.category, case.domain, *case.abilities, case.locale]
    labels += [f"cluster {case.cluster}"] * bool(case.cluster)
    labels += [] if case.answerable else ["not answerable"]
    yield ", ".join(plain(label) for label in labels if label)
    if case.description:
        yield _paragraphs(case.description)
    if case.entities:
        yield f"People and places: {', '.join(map(plain, case.entities))}."
    asked = f" ({spelled(case.question_time)})" if case.question_time else ""
    yield f"### Question{asked}"
    yield _paragraphs(case.question)
    if case.criteria:
        yield "### Criteria"
        yield "\n".join(map(_criterion, case.criteria))
    if case.expected_behavior:
        yield "### Reference answer"
        yield _paragraphs(case.expected_behavior)
    if tuple(case.gold):
        yield "### Gold facts"
        yield _gold(case)
    for talk in case.conversations():
        yield from _talk(talk)


def _criterion(criterion: Criterion) -> str:
    about = [criterion.dimension or "", f"weight {criterion.weight:g}" if criterion.weight != 1 else ""]
    about += ["behaviour" if criterion.kind == "behaviour" else "", *criterion.facts]
    told = ", ".join(plain(one) for one in about if one)
    return f"- **{plain(criterion.id)}**{f' ({told})' if told else ''}: {plain(criterion.text)}"


def _gold(case: Case) -> str:
    rows = [_COLUMNS, ("---",) * len(_COLUMNS)]
    for group in ("required", "optional", "forbidden"):
        for fact in getattr(case.gold, group):
            also = "; ".join(map(plain, (*fact.accept, *(f"stale: {form}" for form in fact.stale))))
            cited = [*fact.evidence, *(f"from {ref}" for ref in fact.derived_from)]
            why = [fact.why, f"replaces {fact.replaces}" if fact.replaces else ""]
            told = "; ".join(plain(one) for one in why if one)
            rows.append(
                (
                    group,
                    plain(fact.id),
                    plain(fact.fact),
                    fact.type.value,
                    also,
                    plain(", ".join(cited)),
                    told,
                )
            )
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _talk(talk: Conversation) -> Iterator[str]:
    labels = [spelled(talk.timestamp) or "", *(f"{name}: {value}" for name, value in talk.metadata.items())]
    told = ", ".join(plain(label) for label in labels if label)
    yield f"### {plain(talk.id)}{f' ({told})' if told else ''}"
    lines = []
    for number, message in enumerate(talk.messages, start=1):
        at = f" ({spelled(message.timestamp)})" if message.timestamp else ""
        begin = f"{number}. "
        text = _paragraphs(message.text).replace("\n", "\n" + " " * len(begin))
        lines.append(f"{begin}**{message.role}**{at}: {text}")
    yield "\n".join(lines)


def _paragraphs(text: str) -> str:
    """Return text with its line ends, each a hard one, and nothing in it taken for markup."""
    escaped = _LEADING.sub(
        lambda found: f"{found[1]}{_unlisted(found[2])}", _SPECIAL.sub(r"\\\1", text.strip())
    )
    lines = (line.strip() for line in escaped.splitlines())
    return re.sub(r"\\?\n(?:\\?\n)+", "\n\n", "\\\n".join(lines))


def _unlisted(mark: str) -> str:
    return f"\\{mark}" if len(mark) == 1 else f"{mark[:-1]}\\{mark[-1]}"
