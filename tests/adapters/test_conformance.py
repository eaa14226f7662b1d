"""The kit passes what is sound and names the one thing that is wrong with what is not."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest

from harness.adapters import Memory, conformance
from harness.adapters.conformance import Finding, Report, assert_conforms, check, lines
from harness.adapters.hosts import Timeouts
from harness.adapters.observed import READINGS, Observed
from harness.adapters.planted import Planter
from harness.adapters.registry import AdapterInfo
from harness.adapters.rig import Rig
from harness.errors import InputError
from harness.llm.models import Models, ModelSettings
from harness.naming import parse_spec


def outcomes(report: Report) -> dict[str, str]:
    return {finding.check: finding.outcome for finding in report.findings}


def failing(spec: str, **given: Timeouts) -> set[str]:
    return {finding.check for finding in check(spec, **given).failures}


@pytest.mark.parametrize(
    "spec",
    [
        "no_memory",
        "full_context",
        "last_conversation",
        "bm25",
        "oracle",
        "echo",
        "abstain",
        "bluffer",
        "dump",
    ],
)
def test_what_comes_with_the_harness_conforms(spec: str) -> None:
    assert_conforms(spec)


def test_a_bound_that_remembers_nothing_is_not_blamed_and_not_praised() -> None:
    found = outcomes(check("no_memory"))
    assert found["recalls what it was told"] == "n/a"
    assert found["two agents in one process"] == "n/a"
    assert found["limit"] == "n/a"


@pytest.mark.usefixtures("systems")
class TestOwn:
    @pytest.mark.parametrize("spec", ["good:Overlap", "good:Answering", "good:Notebook"])
    def test_a_sound_one_conforms(self, spec: str) -> None:
        assert_conforms(spec)

    def test_a_sound_one_gets_ok_for_everything_that_applies(self) -> None:
        found = outcomes(check("good:Notebook"))
        declared_not = {"discard leaves nothing", conformance.SURFACES}
        assert {name for name, outcome in found.items() if outcome != "ok"} == declared_not

    @pytest.mark.parametrize(
        ("name", "checks"),
        [
            (
                "ClassStore",
                {"a new agent knows nothing", "close leaves nothing", "two agents in one process"},
            ),
            (
                "ModuleStore",
                {"a new agent knows nothing", "close leaves nothing", "two agents in one process"},
            ),
            (
                "DefaultArgument",
                {"a new agent knows nothing", "close leaves nothing", "two agents in one process"},
            ),
            ("ClearedOnOpen", {"two agents in one process"}),
            ("ClearedOnClose", {"two agents in one process"}),
            ("CachedByConversation", {"a new agent knows nothing", "two agents in one process"}),
            (
                "SharedFile",
                {
                    "a new agent knows nothing",
                    "close leaves nothing",
                    "a new process knows nothing",
                    "two processes at once",
                    "two agents in one process",
                },
            ),
            ("SharedFileTruncated", {"two processes at once", "two agents in one process"}),
            ("LoadedAtStart", {"a new process knows nothing", "two processes at once"}),
        ],
    )
    def test_each_way_to_leak_is_found(
        self, name: str, checks: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SHARED_FILE", str(tmp_path / "shared"))
        found = failing(f"leaking:{name}")
        assert checks <= found
        assert found <= {
            "a new agent knows nothing",
            "close leaves nothing",
            "a new process knows nothing",
            "two processes at once",
            "two agents in one process",
        }

    def test_a_server_that_keeps_namespaces_apart_conforms(self, tmp_path: Path) -> None:
        report = check(f"good:Server(server={str(tmp_path)!r})")
        assert report.ok, "\n".join(lines(report))
        assert outcomes(report)["discard leaves nothing"] == "ok"
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize(
        ("name", "checks"),
        [("ForgetfulServer", {"discard leaves nothing"}), ("Untidy", {"close leaves nothing"})],
    )
    def test_what_is_left_on_a_server_is_found(self, name: str, checks: set[str], tmp_path: Path) -> None:
        assert failing(f"good:{name}(server={str(tmp_path)!r})") == checks

    @pytest.mark.parametrize(
        ("name", "check_name", "said"),
        [
            ("Forgets", "recalls what it was told", "nothing of what was told comes back"),
            ("KeepsTheFirst", "keeps what came later", "the correction is not"),
            ("TooMany", "limit", "memories recalled with a limit of 1"),
            ("WrongPlaces", "sources", "'conv_001#0', which is no message"),
            ("Invents", "a new agent knows nothing", "recalled when nothing was ingested"),
            ("TakesAnyOption", "refuses unknown options", "no_such_option=1 was taken"),
            ("AsciiOnly", "many scripts", "destroyed"),
            ("BreaksAtQuotes", "odd questions", "a question with quotes fails: raised"),
            ("ShortMessagesOnly", "a very long message", "ValueError: too long"),
            ("SameId", "add, list, delete", "two memories have the id"),
            ("DeletesNothing", "add, list, delete", "a deleted memory is still listed"),
            ("DeletesAll", "add, list, delete", "delete removed another memory too"),
        ],
    )
    def test_each_fault_is_named(self, name: str, check_name: str, said: str) -> None:
        report = check(f"faulty:{name}")
        found = next(finding for finding in report.findings if finding.check == check_name)
        assert found.outcome == "failed"
        assert said in found.said
        assert found.mend
        assert {finding.check for finding in report.failures} == {check_name}

    @pytest.mark.parametrize(
        ("name", "check_name"),
        [
            ("NoDates", "timestamps"),
            ("Now", "timestamps"),
            ("Shuffles", "the same twice"),
            ("NoLabels", "metadata"),
            ("Normalises", "many scripts"),
        ],
    )
    def test_what_only_costs_points_is_a_warning(self, name: str, check_name: str) -> None:
        report = check(f"faulty:{name}")
        assert report.ok
        warnings = {finding.check for finding in report.findings if finding.outcome == "warning"}
        assert warnings == {check_name}

    @pytest.mark.parametrize(
        ("spec", "check_name", "said"),
        [
            ("hostile:Raises", "recalls what it was told", "recall: raised: KeyError"),
            ("hostile:SlowToIngest", "recalls what it was told", "ingest: timeout"),
            ("hostile:Dies", "recalls what it was told", "recall: crashed"),
            ("hostile:Threads", "recalls what it was told", "close: leaked_threads"),
            ("nowhere:X", "loads", "No module named 'nowhere'"),
        ],
    )
    def test_what_cannot_be_asked_at_all_fails_once(self, spec: str, check_name: str, said: str) -> None:
        report = check(spec, timeouts=Timeouts(ingest=0.5))
        assert [finding.check for finding in report.failures] == [check_name]
        assert said in report.failures[0].said
        last = report.findings[-1]
        assert last.outcome == "n/a"

    def test_a_failing_test_lists_every_failure_with_its_mend(self) -> None:
        with pytest.raises(AssertionError) as caught:
            assert_conforms("faulty:TooMany")
        said = str(caught.value)
        assert said.startswith("faulty:TooMany does not conform: 1 check failed")
        assert "Mend: return at most limit memories" in said

    @pytest.mark.parametrize(
        ("specs", "status", "shown"),
        [
            (["good:Overlap"], 0, "good:Overlap conforms\n"),
            (["good:Overlap", "faulty:TooMany"], 1, "faulty:TooMany does not conform: 1 check failed\n"),
            ([], 2, "usage: "),
            (["nothing"], 2, "no such system"),
        ],
    )
    def test_from_the_command_line(self, specs: list[str], status: int, shown: str) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "harness.adapters.conformance", *specs],
            capture_output=True, text=True, encoding="utf-8", check=False, timeout=120,
            env={**os.environ, "PYTHONUTF8": "1"},
        )  # fmt: skip
        assert done.returncode == status, done.stderr
        assert shown in done.stdout + done.stderr


def test_a_module_beside_the_test_is_found_by_the_workers(
    systems: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(systems)
    assert check("good:Overlap").ok


def test_an_unknown_system_is_the_users_to_mend() -> None:
    with pytest.raises(InputError, match="no such system"):
        check("bm26")


def test_words_are_new_in_every_check_unless_a_seed_is_given() -> None:
    assert Planter().haystack() != Planter().haystack()
    assert Planter(1).haystack() == Planter(1).haystack()
    planter = Planter(1)
    one, two = planter.haystack(), planter.haystack()
    assert not set(one.words) & set(two.words)
    assert [talk.id for talk in one.conversations] == [talk.id for talk in two.conversations]


def test_lines_show_the_mend_under_what_was_seen() -> None:
    report = Report(
        "mine:X", (Finding("loads", "ok", "offers recall"), Finding("limit", "failed", "5", "cut"))
    )
    assert lines(report) == [
        "mine:X does not conform: 1 check failed",
        "  ok       loads  offers recall",
        "  failed   limit  5",
        "                  Mend: cut.",
    ]


def test_naive_times_are_compared_by_the_clock() -> None:
    haystack = Planter(3).haystack()
    told = haystack.conversations[0].timestamp
    assert told is not None
    fact = haystack.facts[0]
    info = AdapterInfo("x", "x:X", "own", "")
    rig = Rig(info, parse_spec("x:X", ""), Models(ModelSettings(), {}), Timeouts(), Planter(3))
    rig.capabilities = frozenset({"recall"})

    def outcome(created: datetime) -> str:
        memory = Memory("1", fact.word, created_at=created)
        seen = Observed(haystack, ((fact, (memory,)),), (), (), (), ())
        return READINGS["timestamps"](rig, seen).outcome

    assert outcome(told) == "ok"
    assert outcome(told.replace(tzinfo=None)) == "ok"
    assert outcome(told.replace(year=2024)) == "warning"
