"""Each rule: what breaks it, where it says so, and what it lets pass."""

from pathlib import Path
from typing import Any

import pytest

from harness.errors import Problem
from harness.validation import ValidationReport, validate

from .conftest import CODE, NUMBER, WriteCase, conversation, line_of, sound_conversations

ABSTAIN = {"id": "unsaid", "fact": "__ABSTAIN__", "type": "abstain"}
ID_NUMBER = {"id": "number", "fact": NUMBER, "type": "id", "evidence": ["conv_001#38"]}


def of_rule(report: ValidationReport, rule: str) -> list[Problem]:
    return [problem for problem in report.problems if problem.rule == rule]


def rules(report: ValidationReport) -> list[str]:
    return [problem.rule for problem in report.problems]


def only(root: Path, profile: Any = "basic") -> Problem:
    """Return the single problem of a suite."""
    (problem,) = validate(root, profile=profile).problems
    return problem


def gold(*required: dict[str, Any], **others: list[dict[str, Any]]) -> dict[str, Any]:
    return {"required": list(required), **others}


def test_a_sound_suite_has_no_problem(tmp_path: Path, write_case: WriteCase) -> None:
    write_case("layer1", "01_a")
    write_case("layer2", "01_b")
    write_case("layer3", "01_c")
    report = validate(tmp_path, profile="bundled")
    assert report.problems == ()
    assert report.sound
    assert (report.cases, report.conversations, report.rounds) == (3, 5, 250)
    assert (report.root, report.profile) == (tmp_path, "bundled")
    assert report.words == 5 * 100 * 15 - 6 * 15 + 3 * (4 + 5)


def test_the_basic_profile_asks_for_less(tmp_path: Path, write_case: WriteCase) -> None:
    write_case(
        conversations=(conversation(said={2: f"It's {NUMBER}."}, rounds=1, when=None),),
        gold_facts=gold({"fact": NUMBER, "type": "id"}),
        evaluation_criteria=None,
        expected_behavior=None,
        question_time=None,
    )
    assert validate(tmp_path, profile="basic").sound
    assert set(rules(validate(tmp_path, profile="bundled"))) == {
        "conversation-length",
        "no-timestamp",
        "reference-answer",
        "too-few-rounds",
        "terse-messages",
        "uncited-fact",
    }


class TestStructure:
    @pytest.mark.parametrize(
        ("layer", "count", "said"),
        [("layer1", 2, "and this one has 2"), ("layer2", 1, "this one has 1"), ("layer3", 1, "two or more")],
    )
    def test_conversations_of_a_layer(self, write_case: WriteCase, layer: str, count: int, said: str) -> None:
        both = sound_conversations("layer2", "x")
        path = write_case(
            layer, conversations=both[:count], gold_facts=gold(ID_NUMBER), evaluation_criteria=None
        )
        problem = only(path)
        assert (problem.line, problem.field, problem.rule) == (2, "category", "layer-conversations")
        assert said in problem.message

    def test_turns(self, write_case: WriteCase) -> None:
        (text,) = sound_conversations("layer1", "x")
        lines = text.splitlines()
        del lines[3 + 9]  # the tenth message
        path = write_case(conversations=("\n".join(lines[:-1]) + "\n",))
        report = validate(path, profile="basic")
        (problem,) = of_rule(report, "alternation")
        assert (problem.line, problem.field) == (line_of(path, "w11x0"), "conv_001#10")

    def test_the_user_begins(self, write_case: WriteCase) -> None:
        text = "conversation_id: conv_001\nmessages:\n  - assistant: Hello.\n  - user: Hi.\n"
        path = write_case(conversations=(text,), gold_facts=None, evaluation_criteria=None)
        problem = only(path)
        assert (problem.line, problem.rule) == (line_of(path, "Hello."), "alternation")

    @pytest.mark.parametrize(("rounds", "sound"), [(49, False), (50, True)])
    def test_rounds(self, write_case: WriteCase, rounds: int, sound: bool) -> None:
        said = {38: f"The number is {NUMBER}.", 40: f"And the code is {CODE}."}
        path = write_case(conversations=(conversation(said=said, rounds=rounds),))
        found = of_rule(validate(path, profile="bundled"), "too-few-rounds")
        assert [(problem.line, problem.field) for problem in found] == (
            [] if sound else [(line_of(path, "conversation_id"), "conv_001")]
        )

    @pytest.mark.parametrize(("words", "sound"), [(12, False), (14, True), (29, True), (32, False)])
    def test_length(self, write_case: WriteCase, words: int, sound: bool) -> None:
        said = {38: f"The number is {NUMBER}.", 40: f"And the code is {CODE}."}
        path = write_case(conversations=(conversation(said=said, words=words),))
        assert len(of_rule(validate(path, profile="bundled"), "conversation-length")) == (not sound)

    @pytest.mark.parametrize(("terse", "sound"), [(5, True), (6, False)])
    def test_terse_messages(self, write_case: WriteCase, terse: int, sound: bool) -> None:
        said = {38: f"The number is {NUMBER}.", 40: f"And the code is {CODE}."}
        said |= {number: f"Yes, {number}." for number in range(1, 2 * terse, 2)}
        path = write_case(conversations=(conversation(said=said),))
        found = of_rule(validate(path, profile="bundled"), "terse-messages")
        assert len(found) == (not sound)
        if found:
            assert "#1, #3, #5, #7, #9, #11" in found[0].message


class TestChronology:
    @pytest.mark.parametrize(
        ("first", "second", "asked", "sound"),
        [
            pytest.param(
                "2025-03-04T10:00-05:00", "2025-03-05T10:00-05:00", "2025-03-06", True, id="in-order"
            ),
            pytest.param("2025-03-05", "2025-03-04", "2025-03-06", False, id="days"),
            pytest.param("2025-03-04", "2025-03-04", "2025-03-04", True, id="one-day"),
            pytest.param("2025-03-04T10:00", "2025-03-04T10:00", "2025-03-06", False, id="same-time"),
            pytest.param("2025-03-04T12:00+02:00", "2025-03-04T11:00Z", "2025-03-06", True, id="offsets"),
            pytest.param(
                "2025-03-04T12:00-02:00", "2025-03-04T13:00Z", "2025-03-06", False, id="offset-tells"
            ),
            pytest.param("2025-03-04T12:00-02:00", "2025-03-04T13:00", "2025-03-06", True, id="one-offset"),
            pytest.param("2025-03-04", "2025-03-07T10:00Z", "2025-03-06T10:00Z", False, id="after-question"),
            pytest.param("2025-03-04", "2025-03-06T10:00Z", "2025-03-06T10:00Z", False, id="at-question"),
            pytest.param("2025-03-04", None, "2025-03-06", True, id="no-timestamp"),
            pytest.param("2025-03-04", "2025-03-05", None, True, id="no-question-time"),
        ],
    )
    def test_order(
        self, write_case: WriteCase, first: str, second: str | None, asked: str | None, sound: bool
    ) -> None:
        path = write_case(
            "layer2",
            conversations=(
                conversation(when=first, said={38: f"It's {NUMBER}."}),
                conversation("conv_002", second, {40: f"It's {CODE}."}),
            ),
            question_time=asked,
        )
        found = [(it.line, it.field, it.rule) for it in validate(path, profile="basic").problems]
        if sound:
            assert found == []
        else:
            assert found == [(line_of(path, "timestamp:", 2), "conv_002.timestamp", "chronology")]


class TestWeekdays:
    @pytest.mark.parametrize(
        ("said", "sound"),
        [
            ("See you on Monday, March 24, 2025, at nine.", True),
            ("See you on Tuesday, March 24, 2025, at nine.", False),
            ("See you on Monday, March 24 at nine.", True),
            ("See you on Wednesday 24 March at nine.", False),
            ("See you on Friday, December 12.", True),  # nine months ahead
            ("See you on Thursday, December 12.", True),  # three months ago
            ("See you on Wednesday, December 12.", False),
            ("See you on Friday, January 2nd.", False),  # ten months ahead, people say the year
            ("See you on Tuesday, August 27.", False),  # six months ago is less near than in six months
            ("We signed it on Tuesday, August 27. Right?", True),  # unless told as past
            ("We signed it. See you on Tuesday, August 27.", False),  # in the same sentence
            ("It was Saturday, March 1, you know.", True),
            ("Come on Saturday, March 1 then.", True),  # three days ago
            ("Come on Sunday, March 1 then.", False),  # of the next year, too far ahead
            ("Come on Monday the 24th.", True),
            ("Come on Friday the 24th.", True),  # of January
            ("Come on Sunday the 24th.", False),  # August at the earliest
            ("Come on Monday the 32nd of March.", False),
            ("Come on Wednesday, April 31.", False),
            ("The 24th, a Monday, suits me.", True),
            ("March 24 (a Tuesday) suits me.", False),
            ("Monday to Friday, March 24 to 28, it's shut.", True),
        ],
    )
    def test_in_a_message(self, write_case: WriteCase, said: str, sound: bool) -> None:
        said_all = {3: said, 38: f"The number is {NUMBER}.", 40: f"The code is {CODE}."}
        path = write_case(conversations=(conversation(said=said_all),))
        problems = validate(path, profile="basic").problems
        place = (line_of(path, said.split(",")[0]), "conv_001#3", "weekday")
        assert [(problem.line, problem.field, problem.rule) for problem in problems] == [place] * (not sound)

    def test_without_a_timestamp_only_full_dates_are_checked(self, write_case: WriteCase) -> None:
        said = {3: "Sunday, March 24.", 5: "Sunday the 24th.", 7: "Sunday, March 24, 2025."}
        said |= {38: f"The number is {NUMBER}.", 40: f"The code is {CODE}."}
        path = write_case(conversations=(conversation(said=said, when=None),), question_time=None)
        assert only(path).field == "conv_001#7"

    @pytest.mark.parametrize(("locale", "sound"), [("en-US", False), ("en_US", False), ("en-GB", True)])
    def test_numeric_dates(self, write_case: WriteCase, locale: str, sound: bool) -> None:
        said = {3: "Thursday 3/4/2025.", 38: f"The number is {NUMBER}.", 40: f"The code is {CODE}."}
        path = write_case(conversations=(conversation(said=said),), locale=locale)
        assert validate(path, profile="basic").sound is sound

    @pytest.mark.parametrize(
        ("changes", "field"),
        [
            ({"user_question": "What comes on Sunday, March 24?"}, "user_question"),
            ({"expected_behavior": "It comes on Sunday, March 24."}, "expected_behavior"),
            (
                {"evaluation_criteria": [{"id": "a", "text": "Says Sunday, March 24."}]},
                "evaluation_criteria[0].text",
            ),
        ],
    )
    def test_in_the_header(self, write_case: WriteCase, changes: dict[str, Any], field: str) -> None:
        path = write_case(**changes)
        problem = only(path)
        assert (problem.line, problem.field, problem.rule) == (line_of(path, "March 24"), field, "weekday")
        assert "2025-03-24 is a Monday" in problem.message

    @pytest.mark.parametrize(
        ("form", "sound"),
        [
            ("Monday the 24th", True),
            ("Monday, March 24", True),
            ("the 24th, a Monday", True),
            ("Friday the 24th", False),  # true of some month, not of this date
            ("Sunday, March 24", False),
            ("Tuesday the 25th", True),  # another day: the calendar alone decides
        ],
    )
    def test_in_an_accepted_form(self, write_case: WriteCase, form: str, sound: bool) -> None:
        fact = {"id": "day", "fact": "March 24, 2025", "type": "date", "accept": [form]}
        path = write_case(gold_facts=gold(fact), evaluation_criteria=None)
        problems = validate(path, profile="basic").problems
        place = (line_of(path, "id: day"), "gold_facts.required[0]", "weekday")
        assert [(problem.line, problem.field, problem.rule) for problem in problems] == [place] * (not sound)


class TestEvidence:
    @pytest.mark.parametrize(
        ("key", "ref", "rule"),
        [
            ("evidence", "conv_001#38", None),
            ("evidence", "conv_001#39", "fact-not-in-evidence"),
            ("evidence", "conv_001#101", "unknown-evidence"),
            ("evidence", "conv_002#38", "unknown-evidence"),
            ("derived_from", "conv_001#39", None),
            ("derived_from", "conv_001#101", "unknown-evidence"),
        ],
    )
    def test_what_a_fact_cites(self, write_case: WriteCase, key: str, ref: str, rule: str | None) -> None:
        facts = gold({"id": "number", "fact": NUMBER, "type": "id", key: [ref]})
        path = write_case(gold_facts=facts)
        problems = validate(path, profile="basic").problems
        place = (line_of(path, f"{key}:"), f"gold_facts.required[0].{key}", rule)
        assert [(problem.line, problem.field, problem.rule) for problem in problems] == [place] * bool(rule)

    def test_every_message_cited_must_say_it(self, write_case: WriteCase) -> None:
        facts = gold({**ID_NUMBER, "evidence": ["conv_001#38", "conv_001#40"]})
        problem = only(write_case(gold_facts=facts))
        assert problem.rule == "fact-not-in-evidence"
        assert "conv_001#40" in problem.message

    @pytest.mark.parametrize("group", ["required", "optional", "forbidden"])
    def test_facts_of_every_group_are_checked(self, write_case: WriteCase, group: str) -> None:
        facts = gold(ID_NUMBER)
        other = {"id": "other", "fact": "8839201746", "type": "id", "evidence": ["conv_001#1"]}
        facts[group] = [*facts.get(group, []), other]
        problem = only(write_case(gold_facts=facts))
        assert (problem.rule, "8839201746" in problem.message) == ("fact-not-in-evidence", True)

    def test_an_abstention_is_said_nowhere(self, write_case: WriteCase) -> None:
        path = write_case(gold_facts=gold(ABSTAIN), answerable=False, evaluation_criteria=None,
                          expected_behavior="You never told me, so I don't know.")  # fmt: skip
        assert validate(path, profile="bundled").sound

    def test_a_fact_in_the_question(self, write_case: WriteCase) -> None:
        path = write_case(user_question=f"Is it {NUMBER}, and which code?")
        problem = only(path)
        assert (problem.line, problem.field) == (line_of(path, "user_question"), "user_question")
        assert (problem.rule, "'number'" in problem.message) == ("fact-in-question", True)

    @pytest.mark.parametrize(
        ("fact", "accept", "sound"),
        [
            pytest.param("8839201746", [], True, id="apart"),
            pytest.param(NUMBER, [], False, id="same"),
            pytest.param("8839201746", [f"no. {NUMBER}"], False, id="forbidden-form-states-required"),
            pytest.param("No. Seven", [], False, id="required-form-states-forbidden"),
        ],
    )
    def test_forbidden_facts(self, write_case: WriteCase, fact: str, accept: list[str], sound: bool) -> None:
        kind = "id" if fact[0].isdigit() else "text"
        forbidden = {"id": "wrong", "fact": fact, "type": kind, "accept": accept, "replaces": "number"}
        required = {**ID_NUMBER, "accept": ["that no. seven one"]}
        path = write_case(gold_facts=gold(required, forbidden=[forbidden]))
        problems = validate(path, profile="basic").problems
        place = ("gold_facts.forbidden[0]", "forbidden-matches-required")
        assert [(problem.field, problem.rule) for problem in problems] == [place] * (not sound)

    def test_ours_need_facts(self, write_case: WriteCase) -> None:
        path = write_case(gold_facts=None, evaluation_criteria=None)
        assert only(path, "bundled").rule == "not-annotated"

    def test_broken_conversations_are_not_missed_twice(self, write_case: WriteCase) -> None:
        first, _ = sound_conversations("layer2", "x")
        path = write_case("layer2", conversations=(first, "conversation_id: conv_002\nmessages: [\n"))
        assert rules(validate(path, profile="bundled")) == ["yaml"]


class TestSources:
    def test_one_source(self, write_case: WriteCase) -> None:
        path = write_case("layer2", gold_facts=gold(ID_NUMBER), expected_behavior=f"It's {NUMBER}.")
        problem = only(path, "bundled")
        assert (problem.line, problem.rule) == (line_of(path, "required:"), "one-source")

    def test_a_spare_conversation(self, write_case: WriteCase) -> None:
        _, second = sound_conversations("layer2", "x")
        first = conversation(said={10: f"It may be {CODE}.", 38: f"The number is {NUMBER}."})
        path = write_case("layer2", conversations=(first, second))
        problem = only(path, "bundled")
        assert (problem.line, problem.field) == (line_of(path, "conversation_id: conv_002"), "conv_002")
        assert problem.rule == "spare-conversation"

    def test_a_conversation_that_a_derived_fact_needs(self, write_case: WriteCase) -> None:
        derived = {
            "id": "sum",
            "fact": "$42",
            "type": "money",
            "derived_from": ["conv_001#38", "conv_002#40"],
        }
        _, second = sound_conversations("layer3", "x")
        by_chance = "It was $42 for something else altogether, back then."
        path = write_case(
            "layer3",
            conversations=(conversation(said={38: by_chance}), second),
            gold_facts=gold(derived),
            evaluation_criteria=None,
            expected_behavior="It makes $42.",
        )
        assert validate(path, profile="bundled").sound

    @pytest.mark.parametrize(
        ("early", "cited", "rule"),
        [
            pytest.param(38, "conv_001#38", [], id="superseded"),
            pytest.param(38, "conv_002#40", ["one-source"], id="no-earlier-state"),
            pytest.param(10, "conv_001#38", ["superseded-state"], id="last-state-said-before"),
        ],
    )
    def test_a_superseded_case(self, write_case: WriteCase, early: int, cited: str, rule: list[str]) -> None:
        old = "8839201746"
        first = {38: f"It is {old} for now."} | ({early: f"It may become {NUMBER}."} if early != 38 else {})
        second = {40: f"It was {old} and is {NUMBER}."}
        path = write_case(
            "layer2",
            conversations=(
                conversation(said=first),
                conversation("conv_002", "2025-03-11T10:15:00-05:00", second),
            ),
            gold_facts=gold(
                {**ID_NUMBER, "evidence": ["conv_002#40"]},
                forbidden=[
                    {"id": "old", "fact": old, "type": "id", "replaces": "number", "evidence": [cited]}
                ],
            ),
            expected_behavior=f"It's {NUMBER}.",
        )
        found = rules(validate(path, profile="bundled"))
        assert [name for name in found if name != "spare-conversation"] == rule


class TestAnswers:
    def test_the_reference_answer(self, write_case: WriteCase) -> None:
        path = write_case(expected_behavior=f"The number is {NUMBER}.")
        problem = only(path, "bundled")
        assert (problem.line, problem.rule) == (line_of(path, "expected_behavior"), "reference-answer")
        assert "scores 0.5; not stated: code" in problem.message

    def test_a_reference_answer_that_states_what_is_forbidden(self, write_case: WriteCase) -> None:
        facts = gold(ID_NUMBER, forbidden=[{"id": "wrong", "fact": "8839201746", "type": "id"}])
        path = write_case(gold_facts=facts, expected_behavior=f"It's {NUMBER}. The other is 8839201746.")
        assert "stated though forbidden: wrong" in only(path, "bundled").message

    def test_an_echo_that_scores(self, write_case: WriteCase) -> None:
        question = f"The number is {NUMBER}. Which code?"
        found = rules(validate(write_case(user_question=question), profile="bundled"))
        assert sorted(found) == ["echoed-question", "fact-in-question"]

    def test_i_dont_know_that_scores(self, write_case: WriteCase) -> None:
        fact = {"id": "mood", "fact": "don't know", "evidence": ["conv_001#38"]}
        path = write_case(
            conversations=(conversation(said={38: "I just don't know what to say."}),),
            gold_facts=gold(fact),
            evaluation_criteria=None,
            expected_behavior="You said: don't know.",
        )
        assert "i-dont-know" in rules(validate(path, profile="bundled"))


class TestAcross:
    def test_an_entity_of_two_cases(self, tmp_path: Path, write_case: WriteCase) -> None:
        write_case("layer1", "01_a", entities=["Dr. Orla  Brandt", "Larch Bank"])
        path = write_case("layer1", "02_b", entities=["Nobody", "orla brandt"])
        problem = only(tmp_path, "bundled")
        assert (problem.path, problem.line) == (path, line_of(path, "- orla brandt"))
        assert (problem.field, problem.rule) == ("entities[1]", "shared-entity")
        assert "layer1_01_a" in problem.message

    @pytest.mark.parametrize(("clusters", "sound"), [(("a", "a"), True), (("a", "b"), False)])
    def test_cases_of_a_cluster_share_their_people(
        self, tmp_path: Path, write_case: WriteCase, clusters: tuple[str, str], sound: bool
    ) -> None:
        for stem, cluster in zip(("01_a", "02_b"), clusters, strict=True):
            write_case("layer1", stem, entities=["Orla Brandt"], cluster=cluster)
        assert validate(tmp_path, profile="bundled").sound is sound

    @pytest.mark.parametrize(
        ("first", "second", "sound"),
        [
            pytest.param(
                "My sister keeps four goats behind the old mill house.",
                "Well, my sister keeps four goats behind the OLD mill, she says.",
                False,
                id="eight-words",
            ),
            pytest.param(
                "My sister keeps four goats behind the old mill house.",
                "My sister keeps four goats behind the new mill house.",
                True,
                id="seven-words",
            ),
            pytest.param(
                "Is there anything else I can help you with today?",
                "Is there anything else I can help you with today?",
                True,
                id="courtesy",
            ),
        ],
    )
    def test_wording(
        self, tmp_path: Path, write_case: WriteCase, first: str, second: str, sound: bool
    ) -> None:
        said = {38: f"The number is {NUMBER}.", 40: f"And the code is {CODE}."}
        write_case("layer1", "01_a", conversations=(conversation(said={**said, 5: first}, salt="a"),))
        path = write_case("layer1", "02_b", conversations=(conversation(said={**said, 7: second}, salt="b"),))
        problems = validate(tmp_path, profile="bundled").problems
        place = (path, line_of(path, second), "conv_001#7", "shared-wording")
        assert [(it.path, it.line, it.field, it.rule) for it in problems] == [place] * (not sound)
        if problems:
            assert "conv_001 of layer1_01_a" in problems[0].message


class TestGiveaways:
    def test_the_title_says_a_value(self, write_case: WriteCase) -> None:
        path = write_case(title=f"The account {NUMBER}")
        problem = only(path, "bundled")
        assert (problem.rule, problem.field) == ("fact-given-away", "title")
        assert (problem.line, NUMBER in problem.message) == (line_of(path, "title:"), True)

    def test_a_label_says_a_value(self, write_case: WriteCase) -> None:
        (text,) = sound_conversations("layer1", "x")
        labelled = text.replace("messages:", f"metadata: {{reference: {CODE}}}\nmessages:", 1)
        path = write_case(conversations=(labelled,))
        problem = only(path, "bundled")
        assert (problem.rule, problem.line) == ("fact-given-away", line_of(path, "metadata"))
        assert only_basic_is_sound(path)

    def test_the_id_says_a_value(self, write_case: WriteCase) -> None:
        path = write_case(stem=f"01_{NUMBER}")
        assert only(path, "bundled").field == "test_id"


def only_basic_is_sound(path: Path) -> bool:
    return validate(path, profile="basic").sound
