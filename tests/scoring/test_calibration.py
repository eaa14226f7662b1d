"""The figures of a calibration, by hand-made rulings; an error is never a ruling."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InputError
from harness.scoring import Answer, CaseScore, JudgeFailed, NotAnnotated, Outcome, Scored, find_scorer
from harness.scoring.calibration import Calibration, KindRow, Listed, Ruling, calibrate, hash_probes, measure
from harness.scoring.probes import Label, Probe
from harness.statistics import Rate
from harness.suite import Case, Suite, load_suite

CASE = "layer1_01_fee"
BARE = "layer1_02_bare"
REFUSED = JudgeFailed("refusal")


def probe(name: str, label: Label = "accept", kind: str = "k", answer: str | None = None) -> Probe:
    return Probe(CASE, name, kind, label, name if answer is None else answer)


def score(outcome: Outcome | float) -> CaseScore:
    return CaseScore(CASE, "layer1", "judge", Scored(outcome) if isinstance(outcome, float) else outcome)


def ruling(label: Label, *outcomes: Outcome | float, kind: str = "k", name: str = "p") -> Ruling:
    return Ruling(probe(name, label, kind), tuple(map(score, outcomes)))


def measured(*rulings: Ruling) -> Calibration:
    return measure(rulings, scorer="judge", suite_hash="0" * 64)


def test_false_accepts_and_false_rejects_are_counted_by_kind() -> None:
    made = measured(
        ruling("reject", 0.6, kind="stale", name="a"),
        ruling("reject", 0.59, kind="stale"),
        ruling("accept", 1.0, kind="verbatim"),
        ruling("accept", 0.0, kind="paraphrase", name="b"),
        ruling("accept", 0.9, kind="paraphrase"),
        ruling("reject", 0.0, kind="paraphrase"),
    )
    assert made.kinds == (
        KindRow("verbatim", "accept", Rate(0, 1), 1),
        KindRow("paraphrase", "accept", Rate(1, 2), 2),
        KindRow("stale", "reject", Rate(1, 2), 2),
        KindRow("paraphrase", "reject", Rate(0, 1), 1),
    )
    assert (made.false_accepts, made.false_rejects, made.accuracy) == (Rate(1, 3), Rate(1, 3), Rate(4, 6))
    assert made.kappa == pytest.approx(1 / 3)
    assert [(item.probe.id, item.reward, item.status) for item in made.wrong] == [
        ("a", 0.6, "false_accept"),
        ("b", 0.0, "false_reject"),
    ]
    assert (made.flip, made.errors, made.unruled) == (None, 0, ())


def test_an_error_is_neither_a_false_accept_nor_a_false_reject() -> None:
    made = measured(
        ruling("reject", REFUSED, name="a"),
        ruling("accept", JudgeFailed("malformed"), name="b"),
        ruling("accept", NotAnnotated(), name="c"),
        ruling("accept", 1.0),
        ruling("reject", 0.0),
    )
    assert (made.false_accepts, made.false_rejects, made.accuracy) == (Rate(0, 1), Rate(0, 1), Rate(2, 2))
    assert (made.n, made.errors, made.not_annotated, made.kappa_n) == (5, 2, 1, 2)
    assert made.failures == (("malformed", 1), ("refusal", 1))
    assert [(item.probe.id, item.status) for item in made.unruled] == [
        ("a", "judge_error"),
        ("b", "judge_error"),
        ("c", "not_annotated"),
    ]
    assert [(row.label, row.wrong.n, row.asked) for row in made.kinds] == [("accept", 1, 3), ("reject", 1, 2)]


@pytest.mark.parametrize(
    ("outcomes", "passed", "reward", "flipped"),
    [
        pytest.param([1.0], True, 1.0, False, id="once"),
        pytest.param([1.0, 0.7, 0.0], True, 0.7, True, id="majority-passes"),
        pytest.param([1.0, 0.5, 0.0], False, 0.5, True, id="majority-fails"),
        pytest.param([1.0, 0.0], False, 0.0, True, id="a-tie-is-no-pass"),
        pytest.param([0.9, 0.6], True, 0.6, False, id="rewards-differ-and-the-decision-does-not"),
        pytest.param([REFUSED, 1.0], True, 1.0, False, id="an-error-has-no-say"),
        pytest.param([REFUSED, REFUSED], None, None, False, id="nothing-but-errors"),
    ],
)
def test_repeats_decide_together(
    outcomes: list[Outcome | float], passed: bool | None, reward: float | None, flipped: bool
) -> None:
    made = ruling("accept", *outcomes)
    assert (made.passed, made.reward, made.flipped) == (passed, reward, flipped)


def test_the_flip_rate_is_over_probes_scored_at_least_twice() -> None:
    made = measured(
        ruling("accept", 1.0, 1.0, 0.0, kind="a"),
        ruling("accept", 1.0, 1.0, 1.0, kind="b"),
        ruling("accept", 1.0, REFUSED, REFUSED, kind="b"),
        ruling("reject", REFUSED, 0.0, 1.0, kind="c"),
    )
    assert made.flip == Rate(2, 3)
    assert [row.flip for row in made.kinds] == [Rate(1, 1), Rate(0, 1), Rate(1, 1)]
    assert (made.errors, made.failures, made.repeats) == (0, (("refusal", 3),), 3)


@pytest.mark.parametrize(
    ("rulings", "reason"),
    [
        pytest.param([ruling("accept", 1.0)], "labels and rulings are all the same one", id="one-class"),
        pytest.param([ruling("accept", REFUSED)], "no probe was ruled on", id="nothing-ruled"),
    ],
)
def test_an_undefined_kappa_says_why(rulings: list[Ruling], reason: str) -> None:
    made = measured(*rulings)
    assert made.kappa is None
    assert made.kappa_undefined == reason
    assert "κ undefined" in made.summary()


def test_summary() -> None:
    rejects = [ruling("reject", float(at < 12)) for at in range(63)]
    accepts = [ruling("accept", float(at >= 2)) for at in range(36)]
    assert measured(*rejects, *accepts).summary() == (
        "false accepts 12/63 (19%, 95% 11–30%), false rejects 2/36 (6%, 2–18%), κ 0.71, "
        "99 probes of 1 case, 0 errors"
    )
    assert measured(ruling("reject", 0.0, 1.0), ruling("accept", REFUSED, NotAnnotated())).summary() == (
        "false accepts 0/1 (0%, 95% 0–79%), false rejects none ruled on, κ undefined, flips 1/1, "
        "2 probes of 1 case, 1 error"
    )


OUTCOMES = st.one_of(st.sampled_from([0.0, 0.5, 0.6, 1.0]), st.sampled_from([REFUSED, NotAnnotated()]))
RULINGS = st.lists(
    st.builds(
        lambda label, outcomes, kind: ruling(label, *outcomes, kind=kind),
        st.sampled_from(["accept", "reject"]),
        st.lists(OUTCOMES, min_size=1, max_size=4),
        st.sampled_from("abc"),
    ),
    min_size=1,
    max_size=20,
)


@given(RULINGS)
def test_everything_asked_is_counted_once_and_survives_a_store(rulings: list[Ruling]) -> None:
    made = measured(*rulings)
    assert made.n == len(rulings) == made.accuracy.n + made.errors + made.not_annotated
    assert made.false_accepts.n + made.false_rejects.n == made.accuracy.n
    assert made.false_accepts.k + made.false_rejects.k == len(made.wrong) == made.accuracy.n - made.accuracy.k
    assert sum(row.asked for row in made.kinds) == made.n
    for label, rate in (("accept", made.false_rejects), ("reject", made.false_accepts)):
        rows = [row.wrong for row in made.kinds if row.label == label]
        assert (sum(row.k for row in rows), sum(row.n for row in rows)) == rate
    assert Calibration.from_data(json.loads(json.dumps(made.as_data(), allow_nan=False))) == made


@pytest.mark.parametrize(
    "change", [{"schema": "recallbench.calibration/0"}, {"kinds": None}, {"wrong": [{}]}, {"failures": []}]
)
def test_a_damaged_store_says_so(change: dict[str, Any]) -> None:
    data = {**measured(ruling("accept", 1.0)).as_data(), **change}
    with pytest.raises(InputError, match="calibration"):
        Calibration.from_data(data)


def test_the_hash_covers_what_is_scored() -> None:
    one, two = probe("a"), probe("b", "reject")
    whole = hash_probes([one, two])
    assert whole == hash_probes([two, replace(one, note="why")])
    others = [[one], [one, replace(two, label="accept")], [one, replace(two, answer="c")]]
    assert len({whole, *map(hash_probes, others)}) == 4


@pytest.fixture
def suite(write_suite: Callable[..., Path]) -> Suite:
    return load_suite(write_suite(CASE))


PROBES = (
    probe("right", answer="The fee is $45, due on March 24, 2025."),
    probe("stale", "reject", answer="The fee is $30, due on March 24, 2025."),
    probe("empty", "reject", answer=""),
    probe("terse", answer="forty-five bucks a month from now"),
)


def test_keyword_recall_over_probes(suite: Suite) -> None:
    made = calibrate(PROBES, suite, find_scorer("keyword-recall"))
    assert (made.scorer, made.of, made.repeats, made.flip) == ("keyword-recall", "keyword-recall", 1, None)
    assert (made.suite_hash, made.probes_hash) == (suite.hash, hash_probes(PROBES))
    assert (made.false_accepts, made.false_rejects) == (Rate(0, 2), Rate(1, 2))
    assert made.wrong == (Listed(PROBES[3], 0.5, "false_reject"),)


def test_the_threshold_decides(suite: Suite) -> None:
    strict, lenient = (
        calibrate(PROBES, suite, find_scorer("keyword-recall"), threshold=threshold)
        for threshold in (0.6, 0.5)
    )
    assert (strict.accuracy, lenient.accuracy) == (Rate(3, 4), Rate(4, 4))
    assert [item.probe.id for item in strict.wrong] == ["terse"], "and no threshold lets a stale value pass"


@dataclass
class Drifting:
    """Scores by what it was told in advance, all answers at once."""

    rewards: Iterator[float]
    name: str = "drifting"
    has_pass: bool = True
    footnote: str = ""

    def score(self, case: Case, answer: Answer) -> CaseScore:
        raise AssertionError("asked one by one")

    def score_many(self, pairs: Sequence[tuple[Case, Answer]]) -> list[CaseScore]:
        self.asked = [answer.text for _, answer in pairs]
        return [score(next(self.rewards)) for _ in pairs]


def test_all_repeats_are_scored_in_one_call(suite: Suite) -> None:
    scorer = Drifting(iter([1.0, 0.0, 0.0, 1.0, 1.0, 0.0]))
    made = calibrate(
        PROBES[:2], suite, scorer, repeats=3, score_many=scorer.score_many, of="kimi · prompt abc"
    )
    assert scorer.asked == [PROBES[0].answer, PROBES[1].answer] * 3
    assert made.flip == Rate(2, 2)
    assert made.wrong == ()
    assert made.of == "kimi · prompt abc"


def test_a_scorer_of_many_answers_is_asked_for_all_of_them(suite: Suite) -> None:
    scorer = Drifting(iter([1.0, 0.0]))
    made = calibrate(PROBES[:2], suite, scorer)
    assert scorer.asked == [PROBES[0].answer, PROBES[1].answer]
    assert made.accuracy.n == 2


def test_what_cannot_be_calibrated(suite: Suite) -> None:
    scorer = find_scorer("keyword-recall")
    with pytest.raises(InputError, match="no probes"):
        calibrate([], suite, scorer)
    with pytest.raises(InputError, match="evidence-recall has no pass"):
        calibrate(PROBES, suite, find_scorer("evidence-recall"))
    with pytest.raises(InputError, match="no case 'layer1_09_x'"):
        calibrate([replace(PROBES[0], case_id="layer1_09_x")], suite, scorer)
    with pytest.raises(InputError, match="repeats is 0"):
        calibrate(PROBES, suite, scorer, repeats=0)
    with pytest.raises(ValueError, match="0 scores for 4 answers"):
        calibrate(PROBES, suite, scorer, score_many=lambda pairs: [])


def test_a_case_without_gold_facts_is_not_annotated(tmp_path: Path) -> None:
    path = tmp_path / "layer1" / "02_bare.yaml"
    path.parent.mkdir()
    path.write_text(
        f"test_id: {BARE}\ncategory: layer1\ntitle: Bare\nuser_question: What?\n---\n"
        "conversation_id: c\nmessages:\n  - user: Hello.\n  - assistant: Hello.\n",
        encoding="utf-8",
    )
    made = calibrate(
        [Probe(BARE, "a", "k", "accept", "x")], load_suite(tmp_path), find_scorer("keyword-recall")
    )
    assert (made.not_annotated, made.errors, made.accuracy) == (1, 0, Rate(0, 0))
    assert "1 not annotated" in made.summary()
