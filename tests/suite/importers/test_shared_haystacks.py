"""Cases that share a file of conversations: loading, hashing, what is wrong with them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from harness.errors import InputError, SuiteError
from harness.suite import load_suite, source
from harness.suite.hashing import case_hashes
from harness.suite.importers import import_files, write_suite
from harness.validation import take_census, validate
from tests.suite.importers.synthetic import locomo_sample, written


@pytest.fixture
def root(tmp_path: Path) -> Path:
    samples = [locomo_sample("talk-1"), locomo_sample("talk-2")]
    write_suite(import_files([written(tmp_path / "talks.json", samples)]), tmp_path / "suite")
    return tmp_path / "suite"


def test_a_haystack_is_parsed_once_for_its_questions(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source._haystack.cache_clear()
    read: list[Path] = []
    real = source.read_chunks
    monkeypatch.setattr(source, "read_chunks", lambda path: read.append(path) or real(path))
    for case in sorted(load_suite(root), key=lambda case: case.cluster or ""):
        assert len(case.conversations()) == 2
    assert [path.name for path in read if path.parent.name == "haystacks"] == ["talk-1.yaml", "talk-2.yaml"]


def test_the_hash_covers_the_haystack(root: Path, tmp_path: Path) -> None:
    suite = load_suite(root)
    before, each = suite.hash, case_hashes(suite)
    moved = tmp_path / "elsewhere"
    shutil.copytree(root, moved)
    assert load_suite(moved).hash == before
    talk = root / "haystacks" / "talk-2.yaml"
    talk.write_text(talk.read_text().replace("Kiwi", "Koko"))
    assert load_suite(root).hash != before
    after = case_hashes(load_suite(root))
    assert {name for name in each if each[name] != after[name]} == {name for name in each if "talk-2" in name}
    assert "Koko" in load_suite(root).get("single-hop_talk-2_q002").conversations()[0].messages[1].text


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (("haystack: talk-1", "haystack: talk-9"), "no-haystack"),
        (("haystack: talk-1", "haystack: ../talk-1"), "bad-haystack"),
        (("category: temporal", "category: Tempo ral"), "bad-value"),
        (("category: temporal", "category: multi-hop"), "wrong-directory"),
        (("haystack: talk-1\n", ""), "bad-value"),
        (("title:", "evidence: [nothing]\ntitle:"), "bad-evidence"),
    ],
)
def test_a_broken_header_is_a_problem_with_its_line(root: Path, change: tuple[str, str], rule: str) -> None:
    path = root / "temporal" / "talk-1_q001.yaml"
    assert change[0] in path.read_text()
    path.write_text(path.read_text().replace(*change))
    with pytest.raises(SuiteError) as caught:
        load_suite(root)
    assert rule in {problem.rule for problem in caught.value.problems}
    assert all(problem.path == path and problem.line for problem in caught.value.problems)


def test_conversations_in_the_case_and_in_a_haystack_are_too_many(root: Path) -> None:
    path = root / "temporal" / "talk-1_q001.yaml"
    with path.open("a") as file:
        file.write("---\nconversation_id: x\nmessages: [{user: Hi.}]\n")
    with pytest.raises(SuiteError, match="extra-document"):
        load_suite(root)


def test_a_broken_haystack_is_named(root: Path) -> None:
    (root / "haystacks" / "talk-1.yaml").write_text("conversation_id: a\nmessages: []\n")
    with pytest.raises(SuiteError, match=r"haystacks/talk-1\.yaml:2"):
        load_suite(root).cases[0].conversations()


def test_groups_are_free_only_beside_haystacks(root: Path) -> None:
    shutil.rmtree(root / "haystacks")
    with pytest.raises(SuiteError, match="stray-file"):
        load_suite(root)


def test_the_lint_reads_shared_haystacks(root: Path) -> None:
    report = validate(root)
    assert report.cases == 14
    assert {problem.rule for problem in report.problems} <= {"fact-in-question"}


def test_validate_counts_what_is_shared_once(root: Path) -> None:
    suite = load_suite(root)
    talks = {case.haystack: case.conversations() for case in suite}
    report = validate(root)
    assert report.cases == len(suite) > len(talks)
    assert report.conversations == sum(map(len, talks.values()))
    assert report.words == sum(talk.words for shared in talks.values() for talk in shared)


def test_stats_says_that_it_counts_written_cases(root: Path) -> None:
    with pytest.raises(InputError, match="cases share 2 haystacks"):
        take_census(root)
