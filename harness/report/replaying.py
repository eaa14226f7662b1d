"""Judged scores once more: out of the cassette that holds the replies, or not at all."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.errors import EndpointError, SettingsError
from harness.llm.cassette import FILE_NAME, Cassette
from harness.scoring import Answer, CaseScore, JudgeFailed, NotAnnotated
from harness.scoring.judge import LLMJudge
from harness.scoring.judge.record import JudgeSummary
from harness.scoring.judge.running import NOT_ASKED
from harness.scoring.score import without_text
from harness.suite import Case

UNRECORDED = "unrecorded"
_NOWHERE = "http://127.0.0.1:9/v1"
Pair = tuple[Case, Answer]


class ReplayedJudge:
    """A judge that never calls a model; an answer that its cassette has no ruling on is a judge error.

    Args:
        stopped: why the judged run ended early, as its report says.
        left_out: whether the report has answers that nobody was asked about; they have no ruling then.
        options: of `LLMJudge`.
    """

    def __init__(self, stopped: str | None = None, left_out: bool = False, **options: Any) -> None:
        self._judge = LLMJudge(cassette_mode="replay", **options)
        self._stopped = stopped
        self._unruled = JudgeFailed(
            NOT_ASKED if stopped or left_out else UNRECORDED,
            "the cassette holds no ruling on this answer to this case",
        )
        self.name = self._judge.name
        self.has_pass = self._judge.has_pass
        self.footnote = self._judge.footnote

    def score(self, case: Case, answer: Answer) -> CaseScore:
        """Return the ruling on one answer."""
        return self.score_many([(case, answer)])[0]

    def score_many(self, pairs: Sequence[Pair]) -> list[CaseScore]:
        """Return the rulings on answers, in their order."""
        try:
            return self._judge.score_many(pairs)
        except (EndpointError, SettingsError):
            return [self._one(*pair) for pair in pairs]

    def summary(self, scores: Sequence[CaseScore]) -> JudgeSummary:
        """Return what stands beside a table of these scores."""
        return self._judge.summary(scores)._replace(stopped=self._stopped)

    def _one(self, case: Case, answer: Answer) -> CaseScore:
        try:
            return self._judge.score_many([(case, answer)])[0]
        except (EndpointError, SettingsError):
            return CaseScore(case.id, case.category, self.name, self._unruled)


class Unjudged:
    """Stands in where no judge can be replayed: what does not hang on one is scored, nothing else."""

    name = "llm-judge"
    has_pass = True
    footnote = ""

    def score(self, case: Case, answer: Answer) -> CaseScore:
        """Return the outcome of an answer that nobody has to judge, else a judge error."""
        outcome = without_text(answer) if case.criteria else NotAnnotated("criteria")
        return CaseScore(case.id, case.category, self.name, outcome or JudgeFailed(UNRECORDED))


def judge_spec(
    report: Mapping[str, Any],
    cassette: Path | None,
    *,
    prompts: Path | None = None,
    prices: Path | None = None,
) -> tuple[str, str | None]:
    """Return the scorer that scores a judged report anew, and why it cannot judge where it cannot.

    Args:
        report: says who judged and how.
        cassette: file or folder with the replies.
        prompts: folder of the templates, where they were not the bundled ones.
        prices: price file, where costs came from one.
    """
    unjudged = f"{__name__}:Unjudged"
    judge = report.get("judge")
    if not isinstance(judge, dict) or not isinstance(judge.get("judges"), list) or not judge["judges"]:
        return unjudged, "the report does not say who judged"
    file = None if cassette is None else cassette / FILE_NAME if cassette.is_dir() else cassette
    if file is None or not file.exists():
        return unjudged, f"there is no cassette at {file or cassette}"
    named = _noted(file)
    wanted: list[dict[str, Any]] = []
    for one in judge["judges"]:
        label = one.get("judge") if isinstance(one, dict) else None
        notes = named.get(str(label), [])
        if not notes:
            return unjudged, f"the cassette {file} was not recorded with {label}"
        alike = [asked for asked, substitution in notes if substitution == one.get("substitution")]
        wanted.append((alike or [asked for asked, _ in notes])[0])
    options: dict[str, Any] = {
        "cassette": str(file),
        "with_transcript": bool(judge.get("with_transcript")),
        "per_criterion": bool(judge.get("per_criterion")),
        "repeats": judge["repeats"] if type(judge.get("repeats")) is int else 1,
        "stopped": judge.get("stopped"),
        "left_out": NOT_ASKED in (judge.get("errors") or ()),
    }
    if prompts is not None:
        options["prompts"] = str(prompts)
    if prices is not None:
        options["prices"] = str(prices)
    if len(wanted) == 1:
        options |= {name: wanted[0].get(name) for name in ("provider", "model")}
        options["base_url"] = _NOWHERE if wanted[0].get("url") else None
    else:
        options["judges"] = [_spec(one) for one in wanted]
    return (
        f"{__name__}:ReplayedJudge({', '.join(f'{name}={value!r}' for name, value in options.items())})",
        None,
    )


def _noted(file: Path) -> dict[str, list[tuple[dict[str, Any], str | None]]]:
    """Return how the judges of a cassette were asked for, and what stood in, by their labels."""
    found: dict[str, list[tuple[dict[str, Any], str | None]]] = {}
    with Cassette(file, "replay") as cassette:
        for line in cassette.lines(frozenset()):
            data = json.loads(line)
            if "note" not in data:
                break  # notes come first
            if data["note"] == "judge":
                value = data["value"]
                label = f"{value['provider']}/{value['model']}"
                found.setdefault(label, []).append((json.loads(data["name"]), value.get("substitution")))
    return found


def _spec(asked: Mapping[str, Any]) -> str:
    name = ":".join(filter(None, (asked.get("provider"), asked.get("model"))))
    return f"{name}@{_NOWHERE}" if asked.get("url") else name
