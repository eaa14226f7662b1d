"""What keyword recall has to hold over the bundled cases, whatever they are."""

from __future__ import annotations

import pytest

from harness.scoring import score_case
from harness.suite import Case, load_suite

CASES = tuple(load_suite())


@pytest.fixture(params=CASES, ids=lambda case: case.id)
def case(request: pytest.FixtureRequest) -> Case:
    return request.param  # type: ignore[no-any-return]


def test_the_reference_answer_scores_one(case: Case) -> None:
    score = score_case(case, case.expected_behavior)
    assert score.reward == 1.0, [(v.fact.id, v.match, v.voided_by) for v in score.verdicts if not v.counts]


@pytest.mark.parametrize("answer", ["", "   ", "Sure! Happy to help with that. What would you like to know?"])
def test_an_answer_without_content_scores_nothing(case: Case, answer: str) -> None:
    assert score_case(case, answer).reward == 0.0


def test_an_echo_of_the_question_scores_nothing(case: Case) -> None:
    assert score_case(case, case.question).reward == 0.0


@pytest.mark.parametrize("answer", ["I don't know.", "I'm sorry, I have no record of that."])
def test_not_knowing_is_right_only_where_nothing_was_to_be_known(case: Case, answer: str) -> None:
    assert score_case(case, answer).reward == (0.0 if case.answerable else 1.0)


def test_the_transcript_as_an_answer_is_a_dump(case: Case) -> None:
    transcript = "\n".join(message.text for talk in case.conversations() for message in talk.messages)
    score = score_case(case, transcript)
    assert "dump" in score.flags
    assert score.reward == 0.0
    assert score.passed() is False


def test_one_conversation_as_an_answer_is_a_dump(case: Case) -> None:
    for talk in case.conversations():
        score = score_case(case, "\n".join(message.text for message in talk.messages))
        assert score.passed() is False, talk.id


def test_a_wrong_value_beside_the_right_answer_lowers_the_reward(case: Case) -> None:
    required = len(case.gold.required)
    for wrong in case.gold.forbidden:
        score = score_case(case, f"{case.expected_behavior} It is {wrong.fact}.")
        assert score.reward == pytest.approx((required - 1) / required), wrong.id
