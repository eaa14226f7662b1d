"""What a scorer is, and how one is found by name.

A name is a built-in (`keyword-recall`), an entry point of the group `recallbench.scorers`,
or `module:attribute`. Options may follow in brackets: `keyword-recall(dump_factor=8)`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

from harness.errors import InputError
from harness.naming import load_target, offered, parse_spec, unknown
from harness.scoring.score import CaseScore
from harness.suite import Case
from harness.suite.answer import Answer

ENTRY_POINTS = "recallbench.scorers"
DEFAULT_SCORER = "keyword-recall"
_OF_EVERY_SCORER = ("name", "has_pass", "footnote")


@runtime_checkable
class Scorer(Protocol):
    """Scores one answer to one case.

    Attributes:
        name: as users type it.
        has_pass: whether a reward of this scorer can pass or fail.
        footnote: one line for under a table: what the figure cannot see.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def has_pass(self) -> bool: ...  # noqa: D102

    @property
    def footnote(self) -> str: ...  # noqa: D102

    def score(self, case: Case, answer: Answer) -> CaseScore:
        """Return the score; an answer that cannot be scored has an outcome that says why.

        A scorer that works on many answers at once may also have
        `score_many(pairs: Sequence[tuple[Case, Answer]]) -> list[CaseScore]`, which is used then.
        """
        ...


class ScorerInfo(NamedTuple):
    """A scorer that can be named: where it comes from and what it is for."""

    name: str
    target: str
    summary: str
    source: str = "built-in"


JUDGE = "llm-judge"
BUILT_IN = (
    ScorerInfo(
        "keyword-recall",
        "harness.scoring.keyword_recall:KeywordRecall",
        "typed gold facts stated as true in the answer (offline)",
    ),
    ScorerInfo(
        JUDGE,
        "harness.scoring.judge:LLMJudge",
        "a model rules on each criterion, with quotes that are checked (needs an endpoint or a cassette)",
    ),
    ScorerInfo(
        "evidence-recall",
        "harness.scoring.evidence_recall:EvidenceRecall",
        "gold facts present in what the memory handed back (offline)",
    ),
    ScorerInfo(
        "exact-match",
        "harness.scoring.overlap:ExactMatch",
        "the normalised answer equals a gold answer (offline, for imported data sets)",
    ),
    ScorerInfo(
        "token-f1",
        "harness.scoring.overlap:TokenF1",
        "bag-of-tokens F1 with a gold answer (offline, for imported data sets)",
    ),
)


def available_scorers() -> tuple[ScorerInfo, ...]:
    """Return the built-in scorers and those that installed packages offer."""
    plugins = (
        ScorerInfo(offer.name, offer.target, f"from {offer.target.partition(':')[0]}", offer.source)
        for offer in offered(ENTRY_POINTS)
    )
    return (*BUILT_IN, *plugins)


def scorer_name(spec: str) -> str:
    """Return the name in a scorer's spec, without its options."""
    return spec.strip().partition("(")[0]


def find_scorer(spec: str, **defaults: Any) -> Scorer:
    """Return the scorer that `spec` names, with its options set.

    Args:
        spec: name and options.
        defaults: options that hold where the spec does not set them.

    Raises:
        InputError: for an unknown name, a target that cannot be imported, or bad options.
    """
    name, options = parse_spec(spec, "--scorer")[1:3]
    factory = _factory(name)
    try:
        made = factory(**{**defaults, **options})
    except (TypeError, ValueError) as error:
        said = (
            str(error).replace("__init__()", "").replace(f"{getattr(factory, '__name__', '')}.", "").strip()
        )
        raise InputError(f"--scorer {spec}: the options do not fit: {said}") from None
    if not isinstance(made, Scorer):
        raise InputError(
            f"--scorer {spec}: {name} is no scorer; it needs name, has_pass, footnote and score(case, answer)"
        )
    return made


def options_of(scorer: Scorer) -> dict[str, Any] | None:
    """Return the options of one of the harness's own scorers; a judge tells its own in its summary.

    Those of a scorer from elsewhere may be nobody's business, such as a key.
    """
    own = type(scorer).__module__.startswith("harness.") and not hasattr(scorer, "summary")
    if not own or not is_dataclass(scorer):
        return None
    names = (one.name for one in fields(scorer) if one.name not in _OF_EVERY_SCORER)
    return {name: getattr(scorer, name) for name in names}


def _factory(name: str) -> Callable[..., object]:
    target = next((info.target for info in BUILT_IN if info.name == name), None)
    if target is None and ":" in name:
        target = name
    if target is None:
        known = available_scorers()
        target = next((info.target for info in known if info.name == name), None)
        if target is None:
            raise unknown("--scorer", name, "scorer", (info.name for info in known))
    found = load_target(target, "--scorer", name)
    if not callable(found):
        raise InputError(f"--scorer {name}: {target} is no class or function that makes a scorer.")
    factory: Callable[..., object] = found
    return factory
