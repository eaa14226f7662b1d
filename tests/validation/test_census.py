"""What the census counts, and each limit it holds a suite against."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import SuiteError
from harness.suite import LAYERS, load_suite
from harness.validation import Census, take_census, validate
from harness.validation.contacts import passes_luhn
from harness.validation.corrections import corrections

from .conftest import WriteCase, conversation, line_of

PAGE = Path(__file__).parents[2] / "docs" / "suite.md"
ABILITIES = {"abstention", "knowledge_update", "temporal", "preference", "assistant_stated"}
ENOUGH = [{"id": f"c{at}", "text": f"Statement {at}."} for at in range(4)]
PRICE, FEE = "$4,250", "$311"  # the words of `conversation` look like ids, and none like money
RIVALS = {at: f"Not that one, ${at}7." for at in (11, 13, 15, 17)}
CORRECTED = {
    21: "Sorry, no, that is last year's list.",
    23: "I misread the line.",
    25: "On second thoughts, later.",
}
SAID = {38: f"The price is {PRICE}.", 40: f"And the fee is {FEE}.", **RIVALS, **CORRECTED}


def gold(**changes: Any) -> dict[str, Any]:
    return {
        "required": [
            {"id": "price", "fact": PRICE, "type": "money", "evidence": ["conv_001#38"]},
            {"id": "fee", "fact": FEE, "type": "money", "evidence": ["conv_001#40"]},
        ],
        "forbidden": [
            {"id": "w1", "fact": "$117", "type": "money", "why": "another"},
            {"id": "w2", "fact": "$137", "type": "money", "why": "another"},
        ],
        **changes,
    }


def good(write: WriteCase, stem: str = "01_a", said: dict[int, str] | None = None, **changes: Any) -> Path:
    """Write a case that keeps every limit but for what is given."""
    fields: dict[str, Any] = {
        "evaluation_criteria": ENOUGH,
        "gold_facts": gold(),
        "expected_behavior": f"The price is {PRICE}, and the fee is {FEE}.",
        "entities": [f"Xenia Person{stem[-1] * 3}"] if stem == "01_a" else [f"Yorick Other{stem[-1] * 3}"],
        **changes,
    }
    talk = conversation(said={**SAID, **(said or {})}, salt=stem)
    return write("layer1", stem, conversations=(talk,), **fields)


def broken(census: Census) -> list[str]:
    return [problem.rule for problem in census.problems]


def test_a_suite_that_keeps_every_limit(tmp_path: Path, write_case: WriteCase) -> None:
    good(write_case)
    census = take_census(tmp_path)
    assert (census.problems, dict(census.shared_names), census.shared_wording) == ((), {}, 0)
    assert census.held
    (case,) = census.cases
    (talk,) = case.conversations
    assert (case.rounds, talk.rounds, talk.messages, talk.corrections, talk.rivals) == (50, 50, 100, 3, 4)
    assert (
        case.words == talk.words == sum(len(text.split()) for text in SAID.values()) + 15 * (100 - len(SAID))
    )
    assert validate(tmp_path, profile="bundled").sound


@pytest.mark.parametrize(
    ("said", "changes", "rule", "field"),
    [
        ({21: "It is another one.", 23: "It is."}, {}, "few-corrections", "conv_001"),
        ({11: "None.", 13: "None.", 15: "None."}, {}, "few-rivals", "conv_001"),
        ({96: f"So it is {PRICE}."}, {}, "late-value", "conv_001#96"),
        ({60: "Ring 555-0142 or 402-7715."}, {}, "real-contact", "conv_001#60"),
        ({60: "Ring 1-800-867-5309."}, {}, "real-contact", "conv_001#60"),
        ({60: "Ring +1 212 867 5309, not (212) 555 0142."}, {}, "real-contact", "conv_001#60"),
        ({60: "Write to ana@somewhere.org."}, {}, "real-contact", "conv_001#60"),
        ({60: "The card is 4539 5787 6362 1486."}, {}, "real-contact", "conv_001#60"),
        ({}, {"evaluation_criteria": ENOUGH[:3]}, "criteria-count", "evaluation_criteria"),
        ({}, {"evaluation_criteria": [{"id": f"c{at}", "text": f"S {at}."} for at in range(9)]}, "criteria-count", "evaluation_criteria"),
        ({}, {"gold_facts": gold(forbidden=[])}, "few-forbidden-facts", "gold_facts"),
        ({}, {"gold_facts": gold(required=gold()["required"][:1])}, "few-required-facts", "gold_facts.required"),
    ],
)  # fmt: skip
def test_a_limit_that_is_not_kept(
    tmp_path: Path,
    write_case: WriteCase,
    said: dict[int, str],
    changes: dict[str, Any],
    rule: str,
    field: str,
) -> None:
    good(write_case, said=said, **changes)
    census = take_census(tmp_path)
    (problem,) = census.problems
    assert (problem.rule, problem.field) == (rule, field)
    assert not census.held


def test_a_value_is_late_from_the_last_tenth_on(tmp_path: Path, write_case: WriteCase) -> None:
    good(write_case, said={90: f"So it is {PRICE}."})
    assert take_census(tmp_path).held
    good(write_case, said={91: f"So it is {PRICE}."})
    assert broken(take_census(tmp_path)) == ["late-value"]


def test_no_behaviour_above_layer_1(tmp_path: Path, write_case: WriteCase) -> None:
    write_case("layer2", "01_b", evaluation_criteria=ENOUGH)
    assert "no-behaviour" in broken(take_census(tmp_path))


def test_an_unanswerable_case_requires_one_fact(tmp_path: Path, write_case: WriteCase) -> None:
    abstain = [{"id": "unsaid", "fact": "__ABSTAIN__", "type": "abstain"}]
    good(write_case, answerable=False, gold_facts=gold(required=abstain))
    census = take_census(tmp_path)
    assert census.held
    assert census.cases[0].conversations[0].rivals is None


def test_what_two_cases_share(tmp_path: Path, write_case: WriteCase) -> None:
    opening = "Good morning, it is about the bill."
    sentence = "the heron on the third chimney never looks down at the boats"
    good(
        write_case,
        "01_a",
        {1: opening, 30: f"Well, {sentence}."},
        entities=["Xenia Vantongeren", "Ruhl Bank"],
    )
    path = good(
        write_case, "02_b", {1: opening.upper(), 32: f"She says {sentence}!"}, entities=["Otto Vantóngeren", "Bank Hill"]
    )  # fmt: skip
    census = take_census(tmp_path)
    assert dict(census.shared_names) == {"vantongeren": ("layer1_01_a", "layer1_02_b")}
    assert census.shared_wording == 1
    assert {(it.rule, it.path, it.line) for it in census.problems} == {
        ("shared-opening", path, line_of(path, "GOOD MORNING")),
        ("shared-wording", path, line_of(path, "She says")),
    }


def test_cases_of_one_cluster_may_share_a_name(tmp_path: Path, write_case: WriteCase) -> None:
    for stem in ("01_a", "02_b"):
        good(write_case, stem, entities=["Xenia Vantongeren"], cluster="xenia")
    assert dict(take_census(tmp_path).shared_names) == {}


def test_a_suite_that_cannot_be_read(tmp_path: Path, write_case: WriteCase) -> None:
    path = good(write_case)
    path.write_text(path.read_text(encoding="utf-8") + "---\nconversation_id: conv_002\n", encoding="utf-8")
    with pytest.raises(SuiteError, match="messages"):
        take_census(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "No, wait, that's the envelope.",
        "Scratch that.",
        "I meant the other one.",
        "On second thoughts, the morning.",
        "It's the ninth, not the nineteenth.",
        "My mistake, it's row four.",
        "Wrong line, sorry.",
        "Actually, could we say four?",
        "Let me correct that.",
        "I said Tuesday but it was Monday.",
    ],
)
def test_words_of_correcting(text: str) -> None:
    from harness.suite import Conversation, Message

    plain = "That suits me, thank you."
    talk = Conversation(
        "c", None, {}, (Message("user", plain), Message("assistant", text), Message("user", plain))
    )
    assert corrections(talk) == 1


@given(st.text("0123456789", min_size=12, max_size=18))
def test_one_check_digit_of_ten_is_right(number: str) -> None:
    assert sum(passes_luhn(number + str(digit)) for digit in range(10)) == 1


class TestBundled:
    def test_the_page_of_the_suite_has_its_table(self) -> None:
        from harness.report import census_view, markdown

        table = markdown.table(*census_view.by_case(take_census()))
        before, _, rest = PAGE.read_text(encoding="utf-8").partition("<!-- cases -->\n")
        shown, mark, after = rest.partition("<!-- end of cases -->")
        if os.environ.get("UPDATE_DOCS"):
            PAGE.write_text(f"{before}<!-- cases -->\n{table}\n{mark}{after}", encoding="utf-8")
        assert shown == f"{table}\n"

    def test_it_has_what_it_promises(self) -> None:
        suite = load_suite()
        assert suite.layer_counts == {"layer1": 20, "layer2": 20, "layer3": 20}
        for layer in LAYERS:
            cases = [case for case in suite if case.category == layer]
            assert sum(bool(ABILITIES & set(case.abilities)) for case in cases) >= 4
        first = [case.domain for case in suite if case.category == "layer1"]
        assert len(set(first)) == len(first), "no two cases of layer 1 share a domain"
        assert sum("disambiguation" in case.abilities for case in suite if case.category == "layer2") >= 14
        assert sum(len(case.conversations()) for case in suite) >= 140

    def test_it_keeps_every_limit(self) -> None:
        census = take_census()
        assert [str(problem) for problem in census.problems] == []
        assert dict(census.shared_names) == {}
        assert census.held

    def test_json_counts_every_conversation(self) -> None:
        from harness.report import census_view

        census = take_census()
        data = json.loads(census_view.as_json(census))
        assert data["suite_hash"] == census.suite.hash
        assert len(data["cases"]) == len(census.suite)
        assert sum(data["locales"].values()) == len(census.suite)
        talks = [talk for case in data["cases"] for talk in case["conversations"]]
        assert all(talk["rounds"] >= 50 and 1300 <= talk["words"] <= 3000 for talk in talks)
