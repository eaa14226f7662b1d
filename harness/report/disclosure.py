"""The disclosure card: everything a reader needs to judge a table, and what is not known said so.

A card is made once, from a comparison and the runs behind it, and is plain data from then on:
`as_data` and `from_data` turn it into what the JSON report holds and back, so that every
renderer shows the same card.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from harness.comparison import OVERALL, Comparison
from harness.report.attribution import run_of
from harness.report.card import Card, Part, Row, as_data, as_markdown, as_text, from_data
from harness.report.provenance import Provenance, provenance
from harness.runs.folder import RunFolder
from harness.scoring import SystemScores

__all__ = [
    "NOT_RECORDED",
    "Card",
    "Part",
    "Row",
    "as_data",
    "as_markdown",
    "as_text",
    "card",
    "from_data",
    "scorer_spec",
]

NOT_RECORDED = "not recorded"
_NAMED = 5


def card(
    result: Comparison,
    runs: Sequence[RunFolder] = (),
) -> Card:
    """Return the card of a comparison.

    Args:
        result: what is shown; its judge's summary is read too.
        runs: the runs behind its systems, told by label or by folder; none for answers from a file.
    """
    cases = [case.id for case in result.cases]
    parts = []
    origins = []
    for system in result.systems:
        run = run_of(system.system, runs)
        origin = None if run is None else provenance(run, cases)
        origins.append(origin)
        parts.append(Part(system.system, tuple(_system_rows(result, system, origin))))
    rows = [
        *_suite_rows(result),
        _scorer_row(result),
        _row("pass_threshold", "pass threshold", result.threshold if result.has_pass else "none: nothing passes"),
        *_judge_rows(result),
        _seed_row(_seed(result)),
        _row("dates", "run on", _dates([one for one in origins if one is not None])),
    ]  # fmt: skip
    return Card(tuple(rows), tuple(parts))


def _row(key: str, label: str, value: Any, text: str = "", note: str = "") -> Row:
    if value is None or value == "":
        return Row(key, label, NOT_RECORDED)
    shown = text or (value if isinstance(value, str) else f"{value:,}" if type(value) is int else str(value))
    return Row(key, label, f"{shown} ({note})" if note else shown, value)


def scorer_spec(result: Comparison) -> str:
    """Return the scorer with its options, where they are known, as it can be typed."""
    return typed(result.scorer, result.scorer_options)


def typed(scorer: str, options: Mapping[str, Any] | None) -> str:
    """Return a scorer with options as it can be typed."""
    # 8 and 8.0 are one option.
    same = {name: float(value) if type(value) is int else value for name, value in (options or {}).items()}
    told = ", ".join(f"{name}={value!r}" for name, value in same.items())
    return f"{scorer}({told})" if told else scorer


def _scorer_row(result: Comparison) -> Row:
    """Return the scorer; the options of a judge have rows of their own."""
    known = result.scorer_options is not None or result.judge is not None
    return _row("scorer", "scorer", scorer_spec(result), note="" if known else "options not recorded")


def _suite_rows(result: Comparison) -> Iterable[Row]:
    yield _row("suite", "suite", result.suite)
    yield _row("suite_hash", "suite hash", result.suite_hash)
    yield _row("suite_version", "suite version", "none beside the hash")
    sizes = {group: result.size(group) for group in result.groups if group != OVERALL}
    each = ", ".join(f"{group} {size}" for group, size in sizes.items())
    yield _row("cases", "cases asked", {**sizes, OVERALL: len(result.cases)}, f"{len(result.cases)} ({each})")


def _judge_rows(result: Comparison) -> Iterable[Row]:
    judge = result.judge
    if judge is None:
        yield _row("judge", "judge", "none: scored without a model")
        return
    from harness.report import judged

    for at, use in enumerate(judge.judges, start=1):
        of = "" if len(judge.judges) == 1 else f" {at}"
        yield _row(f"judge{of}".replace(" ", "_"), f"judge{of} asked", use.label)
        yield _row(f"judge_answered{of}".replace(" ", "_"), f"judge{of} answered as", list(use.models) or None,
                   ", ".join(use.models))  # fmt: skip
        yield _row(f"judge_parameters{of}".replace(" ", "_"), f"judge{of} accepted", list(use.sent) or None,
                   " / ".join(use.sent))  # fmt: skip
        if use.substitution:
            yield _row(f"judge_substitution{of}".replace(" ", "_"), f"judge{of} stands in", use.substitution)
        yield _tokens_row(f"judge_tokens{of}".replace(" ", "_"), f"judge{of} tokens",
                          use.spent.prompt_tokens + use.spent.completion_tokens, use.spent.counted, use.spent.calls)  # fmt: skip
        yield _cost_row(f"judge_cost{of}".replace(" ", "_"), f"judge{of} cost", use.spent.cost, use.spent.priced,
                        use.spent.calls)  # fmt: skip
    yield _row("judge_prompts", "judge prompts", judge.prompt_hash)
    how = [
        "with transcript" if judge.with_transcript else "without transcript",
        "one criterion a call" if judge.per_criterion else "all criteria in one call",
        f"asked {judge.repeats} times" if judge.repeats > 1 else "asked once",
    ]
    yield _row("judge_method", "judge asked", how, ", ".join(how))
    told = judged.calibration_line(result).removeprefix("Calibration: ")
    yield _row("judge_calibration", "judge calibration", judge.calibration or "none", told)
    errors = dict(judge.errors)
    yield _row("judge_errors", "judge errors", errors, _counts(errors) or "none")


def _seed_row(seed: int | None) -> Row:
    return _row("seed", "seed of the statistics", seed, "" if seed is None else str(seed))


def _seed(result: Comparison) -> int | None:
    found = getattr(getattr(result, "statistics", None), "seed", None)
    return found if type(found) is int else None


def _dates(origins: Sequence[Provenance]) -> str | None:
    days = sorted({one.manifest.created[:10] for one in origins if one.manifest.created})
    if not days:
        return None
    return days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"


def _system_rows(result: Comparison, system: SystemScores, origin: Provenance | None) -> Iterable[Row]:
    yield from _made_by(result, system, origin)
    yield from _worked(origin)
    cell = result.cell(OVERALL, system)
    gaps = [
        f"{count} {what}" for count, what in ((cell.missing, "missing"), (cell.errors, "errors")) if count
    ]
    covered = {"scored": cell.scored, "asked": cell.asked, "missing": cell.missing, "errors": cell.errors}
    yield _row(
        "coverage", "scored", covered, f"{cell.scored} of {cell.asked}" + "".join(f", {gap}" for gap in gaps)
    )
    yield from _spent(system, origin)


def _made_by(result: Comparison, system: SystemScores, origin: Provenance | None) -> Iterable[Row]:
    """Yield what the system is and what reads for it."""
    part = None if origin is None else origin.manifest.system
    reader = None if origin is None else origin.manifest.reader
    yield _row("adapter", "adapter", part and f"{part.name} ({part.kind})")
    yield _row("version", "system version", part and part.version)
    options = None if part is None else dict(part.options)
    told = ", ".join(f"{name}={value!r}" for name, value in (options or {}).items())
    yield _row("options", "options", options, told or "none")
    model = part.model if part else result.models.get(system.system)
    asks = "none" if part is not None and model is None else model
    yield _row("model", "model that writes" if part else "model", asks)
    prompts = None if part is None else dict(part.prompts)
    hashes = ", ".join(f"{name} {value[:12]}" for name, value in (prompts or {}).items())
    yield _row("prompts", "its prompts", prompts, hashes or "none")
    yield _row("reader", "reader", reader and (reader.model or reader.kind))
    no_model = reader is not None and reader.model is None
    yield _row("reader_prompt", "reader prompt", "none" if no_model else reader and reader.prompt)
    answered = list(origin.models) if origin else []
    nobody = "no model was asked" if no_model and asks == "none" else None
    yield _row("model_answered", "models answered as", answered or nobody, ", ".join(answered))
    uncut = reader is not None and reader.budget is None
    yield _row("budget", "words that are read", "all" if uncut else reader and reader.budget)
    yield _row("recall_limit", "memories asked for", reader and reader.limit)
    yield _row("run_seed", "seed of the run", None if origin is None else "none: a run draws nothing")


def _worked(origin: Provenance | None) -> Iterable[Row]:
    """Yield when and how the run went."""
    manifest = None if origin is None else origin.manifest
    yield _row("run", "run", origin and origin.run)
    yield _row("begun", "begun", manifest and manifest.created)
    held = dict(manifest.versions) if manifest else None
    yield _row(
        "versions", "versions", held or None, ", ".join(f"{name} {one}" for name, one in (held or {}).items())
    )
    yield _row("repeats", "times each case was asked", manifest and manifest.repeats)
    yield _attempts(origin)
    failures = None if origin is None else dict(origin.failures)
    yield _row("failures", "system errors", failures, _counts(failures or {}) or "none")
    hashes = None if origin is None else {"all": origin.digest, "cases": dict(origin.digests)}
    yield _row("answers_hash", "hash of the answers", hashes, origin.digest if origin else "")


def _attempts(origin: Provenance | None) -> Row:
    if origin is None or origin.attempts is None:
        return _row("attempts", "attempts", None)
    data = {"begun": origin.attempts, "answers": origin.answers, "again": dict(origin.again),
            "replaced": origin.replaced}  # fmt: skip
    text = f"{origin.attempts} for {origin.answers} answers"
    if origin.again:
        named = [f"{name} {count} times" for name, count in list(origin.again.items())[:_NAMED]]
        more = f" and {len(origin.again) - _NAMED} more" if len(origin.again) > _NAMED else ""
        text += f"; begun again: {', '.join(named)}{more}"
    if origin.replaced:
        text += f"; {origin.replaced} replaced by a later one"
    return _row("attempts", "attempts", data, text)


def _spent(system: SystemScores, origin: Provenance | None) -> Iterable[Row]:
    """Yield what the answers took, as far as somebody said."""
    told = [score.tokens for score in system.scores if score.tokens is not None]
    if origin is None:
        yield _tokens_row("tokens", "tokens for answers", sum(told), len(told), len(system.scores))
    else:
        yield _tokens_row(
            "tokens", "tokens for answers", origin.tokens or 0, origin.tokens_told, origin.answers
        )
    written = dict(origin.written) if origin else {}
    text = ", ".join(f"{value:,} {name.replace('_', ' ')}" for name, value in written.items())
    yield _row("tokens_written", "tokens for memories", written or None, text)
    waits = [score.latency_s for score in system.scores if score.latency_s is not None]
    mean = sum(waits) / len(waits) if waits else None
    yield _row("latency_s", "seconds an answer (mean)", mean, "" if mean is None else f"{mean:.3g}")
    if origin is None:
        yield _row("cost_usd", "cost of the reader", None)
    elif origin.manifest.reader.model is None:
        yield _row("cost_usd", "cost of the reader", 0.0, "none: no model reads")
    else:
        yield _cost_row("cost_usd", "cost of the reader", origin.cost, origin.priced, origin.answers)


def _tokens_row(key: str, label: str, tokens: int, told: int, of: int) -> Row:
    if not told:
        return _row(key, label, None)
    part = f" ({told} of {of} say)" if told < of else ""
    return _row(key, label, tokens, f"{tokens:,}{part}")


def _cost_row(key: str, label: str, cost: float | None, priced: int, of: int) -> Row:
    part = f" for {priced} of {of} replies" if priced < of else ""
    return _row(key, label, cost, "" if cost is None else f"${cost:.4f}{part}")


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{kind} {count}" for kind, count in counts.items())
