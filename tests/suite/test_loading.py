"""From files to a suite: what is found, what is refused, what stays on disk."""

import json
import os
import shutil
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.errors import InputError, SuiteError
from harness.facts.model import FactType
from harness.suite import Case, load_suite, read_suite
from harness.suite.source import read_source

from .conftest import CONVERSATION, WriteCase, header


def rules(root: Path, gold: Path | None = None) -> list[tuple[str, int, str]]:
    return [
        (problem.path.name, problem.line, problem.rule) for problem in sorted(read_suite(root, gold=gold)[1])
    ]


class TestFinding:
    def test_cases_come_in_the_order_of_their_ids(self, tmp_path: Path, write_case: WriteCase) -> None:
        write_case("layer3", "01_b")
        write_case("layer1", "02_a")
        write_case("layer1", "01_z")
        suite = load_suite(tmp_path)
        assert suite.ids == ("layer1_01_z", "layer1_02_a", "layer3_01_b")
        assert suite.layer_counts == {"layer1": 2, "layer2": 0, "layer3": 1}
        assert suite.root == tmp_path

    def test_yml_and_upper_case_endings(self, tmp_path: Path, write_case: WriteCase) -> None:
        write_case("layer1", "01_a").rename(tmp_path / "layer1" / "01_a.yml")
        write_case("layer1", "02_b").rename(tmp_path / "layer1" / "02_b.YAML")
        assert len(load_suite(tmp_path)) == 2

    def test_a_root_of_case_files(self, tmp_path: Path, write_case: WriteCase) -> None:
        write_case("layer1", "01_a", folder=".")
        write_case("layer2", "01_b", folder=".")
        assert load_suite(tmp_path).ids == ("layer1_01_a", "layer2_01_b")

    def test_a_layer_as_root(self, write_case: WriteCase) -> None:
        root = write_case("layer1", "01_a").parent
        write_case("layer2", "02_b", folder="layer1")
        assert rules(root) == [("02_b.yaml", 2, "wrong-directory")]

    def test_a_root_written_as_text(self, tmp_path: Path, write_case: WriteCase) -> None:
        write_case("layer1", "01_a")
        (tmp_path / "gold.json").write_text('{"layer1_01_a": ["x"]}')
        (case,) = load_suite(str(tmp_path), gold=str(tmp_path / "gold.json"))
        assert (case.path, case.gold.required[0].fact) == (tmp_path / "layer1" / "01_a.yaml", "x")

    def test_one_file_as_root(self, write_case: WriteCase) -> None:
        path = write_case("layer1", "01_a")
        write_case("layer1", "02_b")
        assert load_suite(path).ids == ("layer1_01_a",)

    @pytest.mark.parametrize("name", ["README", "README.txt", "notes.md", ".DS_Store", ".git/config.yaml"])
    def test_what_is_nobodys_business(self, tmp_path: Path, write_case: WriteCase, name: str) -> None:
        write_case()
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("[")
        assert len(load_suite(tmp_path)) == 1

    @pytest.mark.parametrize(
        "name",
        ["other/01_a.yaml", "layer1/deeper/01_a.yaml", "layer4/01_a.yml", "notes.txt", "layer1/a.json"],
    )
    def test_what_is_out_of_place(self, tmp_path: Path, write_case: WriteCase, name: str) -> None:
        write_case()
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x: 1\n")
        assert rules(tmp_path) == [(Path(name).name, 0, "stray-file")]

    def test_linked_directories_are_read_once(self, tmp_path: Path, write_case: WriteCase) -> None:
        write_case(folder="elsewhere/layer1")
        root = tmp_path / "suite"
        root.mkdir()
        (root / "layer1").symlink_to(tmp_path / "elsewhere" / "layer1")
        (tmp_path / "elsewhere" / "layer1" / "circle").symlink_to(root)
        assert len(load_suite(root)) == 1

    @pytest.mark.parametrize(
        ("name", "said"),
        [
            pytest.param("gone", "there is no suite at", id="missing"),
            pytest.param("empty", "there is no case file in", id="empty"),
            pytest.param("notes", "there is no case file in", id="notes-only"),
            pytest.param("file.txt", "is no case file", id="file-of-another-kind"),
        ],
    )
    def test_nothing_to_load(self, tmp_path: Path, name: str, said: str) -> None:
        (tmp_path / "empty").mkdir()
        (tmp_path / "notes").mkdir()
        (tmp_path / "notes" / "README.md").touch()
        (tmp_path / "file.txt").touch()
        with pytest.raises(InputError, match=said) as caught:
            load_suite(tmp_path / name)
        assert not isinstance(caught.value, SuiteError)
        assert name in str(caught.value)

    def test_an_unreadable_file(self, tmp_path: Path, write_case: WriteCase) -> None:
        write_case()
        (tmp_path / "layer1" / "02_b.yaml").symlink_to(tmp_path / "gone")
        assert rules(tmp_path) == [("02_b.yaml", 0, "unreadable")]


class TestProblems:
    def test_every_problem_of_every_file_is_raised_at_once(
        self, tmp_path: Path, write_case: WriteCase
    ) -> None:
        write_case("layer1", "01_a", titel="T")
        write_case("layer1", "02_b", text="a: b: c\n")
        write_case("layer1", "03_c", question_time="soon", locale="x")
        write_case("layer2", "01_d")
        with pytest.raises(SuiteError) as caught:
            load_suite(tmp_path)
        found = [(problem.path.stem, problem.rule) for problem in caught.value.problems]
        assert found == [
            ("01_a", "unknown-key"),
            ("02_b", "yaml"),
            ("03_c", "bad-timestamp"),
            ("03_c", "bad-locale"),
        ]
        assert str(caught.value).startswith("4 problems in the suite:\n")

    def test_the_sound_part_of_a_broken_suite(self, tmp_path: Path, write_case: WriteCase) -> None:
        write_case("layer1", "01_a")
        write_case("layer1", "02_b", text="[")
        suite, problems = read_suite(tmp_path)
        assert suite.ids == ("layer1_01_a",)
        assert len(problems) == 1

    def test_a_duplicate_id_names_the_other_file(self, tmp_path: Path, write_case: WriteCase) -> None:
        first = write_case("layer1", "01_a")
        shutil.copy(first, first.with_suffix(".yml"))
        (problem,) = read_suite(tmp_path)[1]
        assert (problem.path.name, problem.line, problem.rule) == ("01_a.yml", 1, "duplicate-id")
        assert str(first) in problem.message


class TestConversations:
    def test_they_are_read_from_the_file_at_each_call(self, write_case: WriteCase) -> None:
        second = CONVERSATION.replace("conv_001", "conv_002").replace("T10:15:00-05:00", "")
        path = write_case(conversations=(CONVERSATION, second))
        (case,) = load_suite(path)
        one, two = case.conversations()
        assert (one.id, two.id) == ("conv_001", "conv_002")
        assert one.metadata == {"business": "Larch Bank", "department": "Accounts"}
        assert [(message.role, message.text) for message in one.messages] == [
            ("user", "Hello, I'd like to open an account."),
            ("assistant", "It's open; the number is 4429853327."),
        ]
        assert (one.rounds, one.words) == (1, 13)
        assert one.timestamp is not None
        assert one.timestamp.isoformat() == "2025-03-04T10:15:00-05:00"
        assert two.timestamp is not None
        assert two.timestamp.isoformat() == "2025-03-04T00:00:00"
        path.write_text(path.read_text().replace("open an account", "close an account"))
        assert "close" in case.conversations()[0].messages[0].text

    def test_broken_ones_do_not_keep_a_header_from_loading(self, write_case: WriteCase) -> None:
        path = write_case(conversations=(CONVERSATION, "conversation_id: conv_002\nmessages: [oh: no: no]\n"))
        (case,) = load_suite(path)
        assert case.question == "What's my account number?"
        with pytest.raises(SuiteError) as caught:
            case.conversations()
        (problem,) = caught.value.problems
        last_line = len(path.read_text().splitlines())
        assert (problem.path, problem.line, problem.rule) == (path, last_line, "yaml")

    @pytest.mark.parametrize(
        ("broken", "offset", "field", "rule"),
        [
            pytest.param("conversation_id: a\n", 0, "messages", "missing-key", id="no-messages"),
            pytest.param("conversation_id: a\nmessages: []\n", 1, "messages", "bad-value", id="empty"),
            pytest.param("messages:\n  - user: x\n", 0, "conversation_id", "missing-key", id="no-id"),
            pytest.param(
                "conversation_id: a#1\nmessages:\n  - user: x\n", 0, "conversation_id", "bad-id", id="bad-id"
            ),
            pytest.param(
                "conversation_id: a\nmessages:\n  - user: x\n  - bot: y\n", 3, "messages[1]", "bad-message",
                id="role",
            ),
            pytest.param(
                "conversation_id: a\nmessages:\n  - user: x\n    assistant: y\n", 2, "messages[0]",
                "bad-message", id="two-turns",
            ),
            pytest.param(
                "conversation_id: a\nmessages:\n  - user:\n", 2, "messages[0]", "bad-message", id="silent"
            ),
            pytest.param(
                "conversation_id: a\nmessages:\n  - hello\n", 2, "messages[0]", "bad-message", id="no-role"
            ),
            pytest.param(
                "conversation_id: a\ntimestamp: 2025-13-01\nmessages:\n  - user: x\n", 1, "timestamp",
                "bad-timestamp", id="date",
            ),
            pytest.param(
                "conversation_id: a\ntime: 2025-12-01\nmessages:\n  - user: x\n", 1, "time", "unknown-key",
                id="unknown-key",
            ),
            pytest.param(
                "conversation_id: a\nmetadata: {x: [1]}\nmessages:\n  - user: x\n", 1, "metadata.x",
                "bad-value", id="metadata",
            ),
            pytest.param(
                "conversation_id: conv_001\nmessages:\n  - user: x\n", 0, "conversation_id", "duplicate-id",
                id="duplicate",
            ),
            pytest.param("", -1, "", "empty", id="nothing-after-the-marker"),
        ],
    )  # fmt: skip
    def test_what_can_be_wrong_with_one(
        self, write_case: WriteCase, broken: str, offset: int, field: str, rule: str
    ) -> None:
        path = write_case(conversations=(CONVERSATION, broken))
        begin = len(path.read_text().removesuffix(broken).splitlines()) + 1
        (case,) = load_suite(path)
        with pytest.raises(SuiteError) as caught:
            case.conversations()
        found = [(problem.line, problem.field, problem.rule) for problem in caught.value.problems]
        assert found == [(begin + offset, field, rule)]

    def test_every_problem_of_every_conversation(self, write_case: WriteCase) -> None:
        path = write_case(conversations=("a: 1\n", CONVERSATION, "[\n"))
        source = read_source(load_suite(path).cases[0])
        found = [(problem.field, problem.rule) for problem in source.problems]
        assert sorted(found) == [
            ("", "yaml"),
            ("a", "unknown-key"),
            ("conversation_id", "missing-key"),
            ("messages", "missing-key"),
        ]
        assert [transcript.conversation.id for transcript in source.transcripts] == ["conv_001"]

    def test_a_byte_that_is_not_utf8(self, write_case: WriteCase) -> None:
        path = write_case()
        path.write_bytes(path.read_bytes().replace(b"Hello", b"Hell\xf6"))
        (case,) = load_suite(path)
        with pytest.raises(SuiteError) as caught:
            case.conversations()
        assert [problem.rule for problem in caught.value.problems] == ["not-utf8"]

    def test_none_at_all(self, write_case: WriteCase) -> None:
        (case,) = load_suite(write_case(conversations=()))
        with pytest.raises(SuiteError, match="has no conversation"):
            case.conversations()

    def test_lines_are_those_of_the_file(self, write_case: WriteCase) -> None:
        path = write_case(conversations=(CONVERSATION, CONVERSATION.replace("001", "002")))
        lines = path.read_text().splitlines()
        first, second = read_source(load_suite(path).cases[0]).transcripts
        assert lines[first.line("conversation_id") - 1] == "conversation_id: conv_001"
        assert lines[second.line("conversation_id") - 1] == "conversation_id: conv_002"
        assert second.line("timestamp") == second.line("conversation_id") + 1
        assert lines[second.message_line(1) - 1].startswith("  - assistant: It's open")


class TestSuite:
    def test_get(self, tmp_path: Path, write_case: WriteCase) -> None:
        write_case("layer1", "01_bank_account")
        suite = load_suite(tmp_path)
        assert suite.get("layer1_01_bank_account").domain == "banking"
        with pytest.raises(InputError, match="nearest: layer1_01_bank_account"):
            suite.get("layer1_01_bankaccount")
        with pytest.raises(InputError, match="known: layer1_01_bank_account"):
            suite.get("zzz")

    @pytest.mark.parametrize(
        ("filters", "ids"),
        [
            ({}, ["layer1_01_a", "layer2_01_b", "layer2_02_c"]),
            ({"layer": "layer2"}, ["layer2_01_b", "layer2_02_c"]),
            ({"domain": "travel"}, ["layer2_02_c"]),
            ({"ability": "correction"}, ["layer1_01_a", "layer2_01_b"]),
            ({"layer": "layer2", "ability": "correction"}, ["layer2_01_b"]),
            ({"domain": "gardening"}, []),
        ],
        ids=str,
    )
    def test_select(
        self, tmp_path: Path, write_case: WriteCase, filters: dict[str, str], ids: list[str]
    ) -> None:
        write_case("layer1", "01_a")
        write_case("layer2", "01_b")
        write_case("layer2", "02_c", domain="travel", abilities=["temporal"])
        selected = load_suite(tmp_path).select(**filters)  # type: ignore[arg-type]
        assert [case.id for case in selected] == ids
        assert [selected.get(case_id).id for case_id in ids] == ids

    def test_hash_is_that_of_the_content(self, tmp_path: Path, write_case: WriteCase) -> None:
        path = write_case("layer1", "01_a")
        write_case("layer1", "02_b")
        before = load_suite(tmp_path).hash
        assert len(before) == 64

        elsewhere = tmp_path / "copy" / "of"
        shutil.copytree(tmp_path / "layer1", elsewhere / "layer1")
        for file in elsewhere.glob("layer1/*"):
            file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n"))
            os.utime(file, (1, 1))
        assert load_suite(elsewhere).hash == before

        path.write_text(path.read_text().replace("It's open", "It is open"))  # in a conversation
        assert load_suite(tmp_path / "layer1").hash != before

    def test_hash_is_that_of_the_cases_selected(self, tmp_path: Path, write_case: WriteCase) -> None:
        only = write_case("layer1", "01_a")
        write_case("layer2", "01_b")
        suite = load_suite(tmp_path)
        assert suite.select(layer="layer1").hash == load_suite(only).hash != suite.hash

    def test_hash_covers_an_overriding_gold_file(self, tmp_path: Path, write_case: WriteCase) -> None:
        write_case("layer1", "01_a")
        gold = tmp_path / "gold.json"
        hashes = {load_suite(tmp_path).hash}
        for facts in (["4429853327"], ["4429853328"], [["4429853327", "4429 853 327"]]):
            gold.write_text(json.dumps({"layer1_01_a": facts}))
            hashes.add(load_suite(tmp_path, gold=gold).hash)
        assert len(hashes) == 4

    def test_hash_of_a_file_that_is_gone(self, tmp_path: Path, write_case: WriteCase) -> None:
        path = write_case()
        suite = load_suite(tmp_path)
        path.unlink()
        with pytest.raises(InputError, match="can't be read any more"):
            _ = suite.hash


words = st.text(
    st.characters(codec="utf-8", exclude_categories=("C", "Z"), exclude_characters="\ufeff"), min_size=1
).filter(lambda text: any(char.isalnum() for char in text) and text.isprintable())
names = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
facts = st.fixed_dictionaries(
    {
        "fact": words,
        "type": st.sampled_from([kind.value for kind in FactType if kind is not FactType.ABSTAIN]),
    },
    optional={
        "accept": st.lists(words, max_size=3),
        "evidence": st.lists(st.builds("{}#{}".format, names, st.integers(1, 200)), max_size=2),
        "why": words,
    },
)
criteria = st.fixed_dictionaries(
    {"text": words},
    optional={
        "weight": st.floats(0.001, 1000),
        "kind": st.sampled_from(["fact", "behaviour"]),
        "dimension": st.sampled_from(["accuracy", "context", "proactivity"]),
    },
)


@settings(
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    max_examples=60,
)
@given(
    title=words,
    question=words,
    abilities=st.lists(words, max_size=3),
    locale=st.sampled_from(["en", "en-US", "de_AT", "zh-Hant-TW", "es-419"]),
    moment=st.datetimes().map(lambda moment: moment.replace(microsecond=0)),
    required=st.dictionaries(names, facts, max_size=4),
    criterion=st.dictionaries(names, criteria, max_size=3),
)
def test_a_header_written_is_the_header_read(
    tmp_path: Path,
    title: str,
    question: str,
    abilities: list[str],
    locale: str,
    moment: object,
    required: dict[str, dict[str, object]],
    criterion: dict[str, dict[str, object]],
) -> None:
    written = header(
        title=title,
        user_question=question,
        abilities=abilities,
        locale=locale,
        question_time=str(moment),
        gold_facts={"required": [{"id": name, **fact} for name, fact in required.items()]},
        evaluation_criteria=[{"id": name, **item} for name, item in criterion.items()],
    )
    path = tmp_path / "01_account.yaml"
    path.write_text(yaml.safe_dump(written, allow_unicode=True), encoding="utf-8")
    (case,) = load_suite(path)
    assert header_of(case) == {
        **written,
        "question_time": moment,
        "description": "",
        "abilities": tuple(abilities),
        "gold_facts": {
            "required": [
                {"id": name, "why": "", "accept": (), "evidence": (), **freeze(fact)}
                for name, fact in required.items()
            ]
        },
        "evaluation_criteria": [
            {"id": name, "weight": 1.0, "kind": "fact", "dimension": None, **item}
            for name, item in criterion.items()
        ],
    }


def freeze(fact: dict[str, object]) -> dict[str, object]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in fact.items()}


def header_of(case: Case) -> dict[str, object]:
    """Say a case in the words of its header."""
    return {
        "test_id": case.id,
        "category": case.category,
        "title": case.title,
        "description": case.description,
        "domain": case.domain,
        "abilities": case.abilities,
        "locale": case.locale,
        "question_time": case.question_time,
        "user_question": case.question,
        "expected_behavior": case.expected_behavior,
        "evaluation_criteria": [
            {key: getattr(item, key) for key in ("id", "text", "weight", "kind", "dimension")}
            for item in case.criteria
        ],
        "gold_facts": {
            "required": [
                {key: getattr(fact, key) for key in ("id", "fact", "type", "accept", "evidence", "why")}
                for fact in case.gold.required
            ]
        },
    }
