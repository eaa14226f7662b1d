"""How often keyword recall is wrong about the bundled probes: the rates that the suite promises."""

from __future__ import annotations

from collections import Counter

import pytest

from harness.scoring import find_scorer
from harness.scoring.calibration import calibrate
from harness.scoring.probes import load_probes
from harness.suite import load_suite

SUITE = load_suite()
MADE = calibrate(load_probes(None, SUITE), SUITE, find_scorer("keyword-recall"))
WRONG = Counter((item.probe.kind, item.status) for item in MADE.wrong)
ASKED = Counter(item.kind for item in load_probes(None, SUITE))
ABSTAINED = sum(probe.kind == "abstain" and probe.label == "reject" for probe in load_probes(None, SUITE))

# What rules cannot see, each with the reason.
KNOWN = {
    "layer1_01_bank_account specific_wrong_1": "two of three values are right; the wrong number is the savings account's",
    "layer1_01_bank_account specific_wrong_3": "two of three values are right; the wrong number is the other bank's",
    "layer1_01_bank_account partial": "two of three values are right, and nothing is wrong",
    "layer1_18_retirement_accounts paraphrase_4": "balances of other accounts stand in a table without a verb",
    "layer3_06_cafe_second_site paraphrase_5": "days are listed under their month, as on a planner",
    "layer3_06_cafe_second_site specific_wrong_2": "four of six days are right; the wrong ones are true of other things",
    "layer3_12_solar_and_roof paraphrase_6": "days are listed under their month, as on a planner",
}
BLIND_TO = {"attribution", "no_synthesis"}


@pytest.mark.parametrize("kind", ["empty", "vague_topical", "injection", "abstain", "dump", "ask_back"])
def test_what_says_nothing_never_passes(kind: str) -> None:
    assert WRONG[kind, "false_accept"] == 0


@pytest.mark.parametrize("kind", ["specific_wrong", "stale", "hedged"])
def test_wrong_values_pass_at_most_three_times_in_a_hundred(kind: str) -> None:
    assert WRONG[kind, "false_accept"] <= 0.03 * ASKED[kind]


@pytest.mark.parametrize(
    ("kind", "share"), [("verbatim", 0.0), ("extra_but_right", 0.03), ("paraphrase", 0.15)]
)
def test_right_answers_are_seldom_rejected(kind: str, share: float) -> None:
    assert WRONG[kind, "false_reject"] <= share * ASKED[kind]


def test_every_other_mistake_is_known_and_has_a_reason() -> None:
    wrong = {
        f"{item.probe.case_id} {item.probe.id}" for item in MADE.wrong if item.probe.kind not in BLIND_TO
    }
    assert wrong == set(KNOWN)


def test_every_probe_was_ruled_on() -> None:
    assert ASKED.total() >= 10 * len(SUITE)
    assert ABSTAINED > 0
    assert all(item.status in ("false_accept", "false_reject") for item in MADE.wrong)
