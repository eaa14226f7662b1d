"""recallbench: benchmark conversational memory systems, offline and without a key.

The whole public API; each name is imported when it is first used.

    >>> import harness
    >>> match = harness.match_fact("Your account number is 442-985-3327.", {"fact": "4429853327", "type": "id"})
    >>> match.asserted
    True
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.comparison import Cell, Comparison, compare
    from harness.errors import HarnessError, InputError, Problem, SuiteError
    from harness.facts import AnswerText, FactMatch, FactType, GoldFact, match_fact
    from harness.report import render
    from harness.scoring import (
        PASS_THRESHOLD,
        Answer,
        CaseScore,
        Responses,
        Scorer,
        SystemScores,
        find_scorer,
        load_responses,
        score_batch,
        score_case,
    )
    from harness.scoring.calibration import Calibration, calibrate
    from harness.scoring.judge import LLMJudge
    from harness.scoring.probes import Probe, load_labels, load_probes
    from harness.suite import Case, Conversation, Message, Suite, load_suite
    from harness.validation import validate

_HOME = {
    "harness.comparison": ("Cell", "Comparison", "compare"),
    "harness.errors": ("HarnessError", "InputError", "Problem", "SuiteError"),
    "harness.facts": ("AnswerText", "FactMatch", "FactType", "GoldFact", "match_fact"),
    "harness.report": ("render",),
    "harness.scoring": (
        "PASS_THRESHOLD",
        "Answer",
        "CaseScore",
        "Responses",
        "Scorer",
        "SystemScores",
        "find_scorer",
        "load_responses",
        "score_batch",
        "score_case",
    ),
    "harness.scoring.calibration": ("Calibration", "calibrate"),
    "harness.scoring.judge": ("LLMJudge",),
    "harness.scoring.probes": ("Probe", "load_labels", "load_probes"),
    "harness.suite": ("Case", "Conversation", "Message", "Suite", "load_suite"),
    "harness.validation": ("validate",),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [  # noqa: RUF022 - grouped as a user meets them
    "load_suite", "Suite", "Case", "Conversation", "Message", "validate",
    "GoldFact", "FactType", "FactMatch", "AnswerText", "match_fact",
    "score_case", "score_batch", "load_responses", "Responses", "Answer", "CaseScore", "SystemScores", "Scorer",
    "find_scorer", "PASS_THRESHOLD", "LLMJudge",
    "calibrate", "Calibration", "Probe", "load_probes", "load_labels",
    "compare", "Comparison", "Cell", "render",
    "HarnessError", "InputError", "SuiteError", "Problem",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'harness' has no attribute {name!r}")
    value = getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
