"""A report held against what is recomputed: what differs, what cannot be held against anything."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from harness.errors import InputError
from harness.report import fitting, replaying
from harness.report.verifying import ABSENT, verify

Edit = Callable[[dict[str, Any]], Any]

REPORT: dict[str, Any] = {
    "schema": "recallbench.comparison/1",
    "scorer": "keyword-recall",
    "pass_threshold": 0.6,
    "suite": {"path": "/here/suite", "hash": "ab" * 32, "cases": 2},
    "source": "runs/a, runs/b",
    "notes": ["Mean reward: 2 cases.", "Passed: a 1/2."],
    "statistics": {"seed": 7, "pairs": [{"first": "a", "second": "b", "p": 0.125, "n": 2}]},
    "systems": [
        {
            "system": name,
            "summary": {"overall": {"mean": 0.75, "passed": 1, "asked": 2}},
            "cases": [
                {
                    "test_id": f"layer1_0{at}",
                    "outcome": "scored",
                    "reward": 0.5 * at,
                    "passed": at == 2,
                    "facts": [],
                }
                for at in (1, 2)
            ],
        }
        for name in ("a", "b(k=[1])")
    ],
}


def changed(edit: Edit) -> dict[str, Any]:
    data = copy.deepcopy(REPORT)
    edit(data)
    return data


def test_what_agrees_is_counted() -> None:
    found = verify(REPORT, copy.deepcopy(REPORT))
    assert found.agrees
    assert found.numbers > 10
    assert not found.unclaimed


def test_an_integer_beyond_every_float_differs_and_ends_nothing() -> None:
    claimed = copy.deepcopy(REPORT)
    claimed["pass_threshold"] = 10**400
    (one,) = verify(claimed, REPORT).differences
    assert one.path == "pass_threshold"


def test_where_it_lay_and_the_last_digit_of_a_float_do_not_matter() -> None:
    def elsewhere(data: dict[str, Any]) -> None:
        data["suite"]["path"] = "/there"
        data["source"] = "other"
        data["statistics"]["pairs"][0]["p"] = 0.125 * (1 + 1e-15)
        data["systems"].reverse()
        data["notes"].reverse()

    assert verify(REPORT, changed(elsewhere)).agrees


@pytest.mark.parametrize(
    ("edit", "path", "reported", "recomputed"),
    [
        (lambda d: d["systems"][1]["cases"][0].update(reward=0.9),
         "systems[b(k=[1])].cases[layer1_01].reward", 0.5, 0.9),
        (lambda d: d["systems"][0]["cases"][1].update(passed=1), "systems[a].cases[layer1_02].passed", True, 1),
        (lambda d: d["systems"][0]["cases"][1].update(reward=None), "systems[a].cases[layer1_02].reward", 1.0, None),
        (lambda d: d["systems"][0]["summary"]["overall"].update(mean=0.7501), "systems[a].summary.overall.mean", 0.75, 0.7501),
        (lambda d: d["statistics"]["pairs"][0].update(p=0.5), "statistics.pairs[a, b].p", 0.125, 0.5),
        (lambda d: d["notes"].__setitem__(1, "Passed: a 2/2."), "notes", "Passed: a 1/2.", "Passed: a 2/2."),
        (lambda d: d["notes"].append("WARNING: below no_memory."), "notes", ABSENT, "WARNING: below no_memory."),
        (lambda d: d.update(pass_threshold=0.7), "pass_threshold", 0.6, 0.7),
        (lambda d: d["systems"][0]["cases"][0].update(facts=[1]), "systems[a].cases[layer1_01].facts", [], [1]),
    ],
)  # fmt: skip
def test_each_difference_is_named_with_both_values(
    edit: Edit, path: str, reported: Any, recomputed: Any
) -> None:
    (one,) = verify(REPORT, changed(edit)).differences
    assert (one.path, one.reported, one.recomputed) == (path, reported, recomputed)


def test_answers_come_before_the_sums_that_follow_from_them() -> None:
    def edit(data: dict[str, Any]) -> None:
        data["systems"][1]["summary"]["overall"]["mean"] = 0.1
        data["systems"][1]["cases"][1]["reward"] = 0.1
        data["notes"][0] = "Mean reward: 3 cases."

    found = verify(REPORT, changed(edit))
    assert [one.path for one in found.differences] == [
        "systems[b(k=[1])].cases[layer1_02].reward",
        "systems[b(k=[1])].summary.overall.mean",
        "notes",
    ]
    assert found.places == (("b(k=[1])", "layer1_02"),)


@pytest.mark.parametrize("which", ["reported", "recomputed"])
def test_a_case_or_a_system_that_only_one_side_has_differs(which: str) -> None:
    less = changed(lambda data: data["systems"][0]["cases"].pop())
    fewer = changed(lambda data: data["systems"].pop())
    for data, path in ((less, "systems[a].cases[layer1_02]"), (fewer, "systems[b(k=[1])]")):
        sides = (data, REPORT) if which == "reported" else (REPORT, data)
        (one,) = verify(*sides).differences
        assert one.path == path
        assert ABSENT in (one.reported, one.recomputed)


def test_a_figure_that_nobody_computes_is_not_passed_in_silence() -> None:
    made_up = changed(
        lambda data: data["systems"][0]["summary"]["overall"].update(stars=5, more={"a": 1, "b": 2})
    )
    found = verify(made_up, REPORT)
    assert not found.differences
    assert not found.agrees
    assert {(one.path, one.fields) for one in found.unverifiable} == {
        ("systems[].summary.overall.stars", 1), ("systems[].summary.overall.more", 2),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("edit", "lacks"),
    [
        (lambda d: d.pop("statistics"), "statistics"),
        (lambda d: d["systems"][0].pop("summary"), "systems[].summary"),
        (lambda d: d["systems"][1]["cases"][0].pop("reward"), "systems[].cases[].reward"),
    ],
)
def test_what_a_report_lacks_does_not_differ_and_does_not_agree(edit: Edit, lacks: str) -> None:
    found = verify(changed(edit), REPORT)
    assert not found.differences
    assert found.unclaimed == (lacks,)
    assert not found.agrees
    assert not found.answers_unseen


def test_answers_that_nobody_asked_for_are_named() -> None:
    found = verify(REPORT, REPORT, unasked={"a": [("layer1_09", 0)], "b(k=[1])": []})
    (one,) = found.differences
    assert one.place == ("a", "layer1_09")
    assert one.recomputed == "answered (repeat 1), though never asked"


def test_without_a_judge_only_what_hangs_on_none_is_held() -> None:
    def unjudged(data: dict[str, Any]) -> None:
        for system in data["systems"]:
            for case in system["cases"]:
                case.update(outcome="judge_error", reward=None, passed=None, words=3)

    now = changed(unjudged)
    found = verify(REPORT, now, unjudged="no cassette")
    assert not found.differences
    assert {one.path for one in found.unverifiable} >= {"systems[].cases[].reward", "notes"}
    assert {one.why for one in found.unverifiable} == {"no cassette"}
    # What needs no judge still counts: a failure that the report calls a score, and the other way round.
    now["systems"][0]["cases"][0]["outcome"] = "missing"
    assert verify(REPORT, now, unjudged="no cassette").places == (("a", "layer1_01"),)
    claims = changed(lambda data: data["systems"][0]["cases"][1].update(outcome="missing", reward=None))
    assert ("a", "layer1_02") in verify(claims, now, unjudged="no cassette").places


def test_hashes_of_answers_name_the_case() -> None:
    def card(hashed: str) -> dict[str, Any]:
        row = {"key": "answers_hash", "label": "h", "text": "t", "value": {"cases": {"layer1_01": hashed}}}
        return {**REPORT, "disclosure": {"rows": [], "systems": [{"system": "a", "rows": [row]}]}}

    assert verify(card("00"), card("11")).places == (("a", "layer1_01"),)


# ---- what is read ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not JSON"),
        ("[]", "no report of a comparison"),
        ('{"schema": "recallbench.session/1"}', "no report of a comparison"),
        ('{"schema": "recallbench.comparison/1"}', "no whole report"),
        ('{"schema": "recallbench.comparison/1", "schema": "x"}', "stands twice"),
        ('{"schema": NaN}', "no JSON number"),
        ("[" * 100_000, "nested too deep"),
        (json.dumps({**REPORT, "systems": []}), "no whole report"),
        (json.dumps({**REPORT, "systems": [{"system": "a", "cases": [{}]}]}), "no whole report"),
        (json.dumps({**REPORT, "pass_threshold": "0.6"}), "no whole report"),
    ],
)
def test_what_is_no_report_is_refused_in_one_line(text: str, said: str, tmp_path: Any) -> None:
    path = tmp_path / "report.json"
    path.write_text(text)
    with pytest.raises(InputError, match=said) as refused:
        fitting.load_report(path)
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_report_that_is_not_there(tmp_path: Any) -> None:
    with pytest.raises(InputError, match="no such file"):
        fitting.load_report(tmp_path / "none.json")
    with pytest.raises(InputError, match="cannot be read"):
        fitting.load_report(tmp_path)


@pytest.mark.parametrize("judge", [None, {}, {"judges": []}, {"judges": "x"}, {"judges": [{"judge": "a/b"}]}])
def test_a_judge_that_cannot_be_replayed_is_told(judge: Any, tmp_path: Any) -> None:
    spec, why = replaying.judge_spec({"judge": judge}, tmp_path / "none.sqlite")
    assert spec.endswith(":Unjudged")
    assert why
