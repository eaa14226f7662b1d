"""Each evaluator on a constructed set with a known answer: perfect, empty, adversarial."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.effectiveness.evaluators import definitions, make_evaluators
from harness.effectiveness.gates import breaches, parse_gates
from harness.effectiveness.observed import Observed, Prediction
from harness.effectiveness.update import state_of
from harness.evaluation import Evaluation
from tests.effectiveness.made import dataset, evaluated, values

FEE = {"fact": "$45", "type": "money", "about": ["fee"], "text": "The fee is $45."}
DUE = {"fact": "March 24", "type": "date", "text": "It is due on March 24."}
TALK = [
    {
        "test_case_id": "fee",
        "conversation": [{"user": "What do I pay?"}, {"assistant": "The fee is $45, due March 24."}],
        "expected_facts": [FEE, DUE],
    },
    {
        "test_case_id": "ada",
        "input_text": "Ada's locker is G-219.",
        "expected_facts": [{"fact": "G-219", "type": "id", "about": ["Ada"]}],
    },
    {"test_case_id": "chat", "input_text": "Thanks, that was all.", "expected_facts": []},
]
RIGHT = {
    "fee": {"facts": ["A fee of $45", "due on 24 March"]},
    "ada": {"facts": ["Ada: G-219"]},
    "chat": {"facts": []},
}


def test_extraction_perfect(tmp_path: Path) -> None:
    one = evaluated(tmp_path, "extraction", TALK, RIGHT)
    assert values(one) == dict.fromkeys(
        ("precision", "recall", "f1", "item_f1", "coverage", "supported"), 1.0
    )
    assert (one.passed, one.total, one.errors) == (3, 3, ())


def test_extraction_of_nothing(tmp_path: Path) -> None:
    one = evaluated(tmp_path, "extraction", TALK, {case["test_case_id"]: {"facts": []} for case in TALK})
    assert values(one) == {
        "precision": None, "recall": 0.0, "f1": 0.0, "item_f1": 0.0, "coverage": 0.0, "supported": None,
    }  # fmt: skip
    precision = one.metric("extraction.precision")
    assert precision is not None
    assert precision.reason == "no fact was predicted"


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (["The fee is $45, due on March 24"], {"precision": 1.0, "recall": 0.5, "coverage": 1.0}),
        (["The fee is $45", "The fee is $45"], {"precision": 0.5, "recall": 0.5, "supported": 1.0}),
        (["The price is $45"], {"precision": 0.0, "coverage": 0.0}),
        (["The fee isn't $45", "The fee is $54"], {"precision": 0.0, "recall": 0.0}),
        (["The fee is $450", "It is due on March 14"], {"recall": 0.0, "supported": 0.0}),
        (["He likes sailing boats in Norway"], {"precision": 0.0, "supported": 0.0}),
    ],
    ids=["both-in-one", "twice", "of-what", "denied", "near-miss", "made-up"],
)
def test_extraction_adversarial(tmp_path: Path, facts: list[str], expected: dict[str, float]) -> None:
    one = evaluated(tmp_path, "extraction", TALK[:1], {"fee": {"facts": facts}})
    assert {name: values(one)[name] for name in expected} == expected


def test_hallucinations_are_listed_with_their_item(tmp_path: Path) -> None:
    one = evaluated(
        tmp_path, "extraction", TALK, {**RIGHT, "chat": {"facts": ["The user flies to Oslo on May 4"]}}
    )
    assert one.sections["hallucinated"][1:] == (("chat", "The user flies to Oslo on May 4"),)
    assert values(one)["precision"] == pytest.approx(3 / 4)


def test_an_error_is_never_a_score(tmp_path: Path) -> None:
    one = evaluated(tmp_path, "extraction", TALK, {**RIGHT, "fee": {"error": "timeout: it hung"}})
    f1 = one.metric("extraction.f1")
    assert f1 is not None
    assert (f1.value, f1.n, f1.of) == (1.0, 2, 3)
    assert (f1.low, f1.high) == (pytest.approx(2 / 6), 1.0)
    assert one.errors == ("fee: timeout: it hung",)


TYPES = [
    {"test_case_id": f"t{at}", "input_text": "Something.", "expected_memory_type": label}
    for at, label in enumerate(["episodic", "episodic", "factual", "personal"])
]


def predicted(*labels: str) -> dict[str, Any]:
    return {f"t{at}": {"memory_type": label} for at, label in enumerate(labels)}


def test_classification_perfect(tmp_path: Path) -> None:
    one = evaluated(
        tmp_path, "classification", TYPES, predicted("Episodic", "episodic ", "FACTUAL", "personal")
    )
    assert set(values(one).values()) == {1.0}


def test_classification_known(tmp_path: Path) -> None:
    one = evaluated(
        tmp_path, "classification", TYPES, predicted("episodic", "factual", "factual", "semantic")
    )
    found = values(one)
    assert found["accuracy"] == 0.5
    assert found["macro_precision"] == pytest.approx((1 + 1 / 2 + 0) / 3), "personal was never predicted"
    assert found["macro_recall"] == pytest.approx((1 / 2 + 1 + 0) / 3), "semantic has no support"
    assert found["macro_f1"] == pytest.approx((2 / 3 + 2 / 3 + 0 + 0) / 4)
    assert found["weighted_recall"] == pytest.approx(0.5)
    assert one.sections["classes"][3][:4] == ("personal", "–", "0.000", "0.000")
    assert one.sections["confusion"] == (
        ("Gold ↓ predicted →", "episodic", "factual", "personal", "semantic"),
        ("episodic", "1", "1", "·", "·"),
        ("factual", "·", "1", "·", "·"),
        ("personal", "·", "·", "·", "1"),
        ("semantic", "·", "·", "·", "·"),
    )


def test_classification_of_one_label_has_no_kappa(tmp_path: Path) -> None:
    kappa = evaluated(tmp_path, "classification", TYPES[:2], predicted("episodic", "episodic")).metric(
        "classification.kappa"
    )
    assert kappa is not None
    assert (kappa.value, kappa.reason) == (None, "there is only one label")


def test_what_was_not_predicted_widens_the_bounds(tmp_path: Path) -> None:
    one = evaluated(tmp_path, "classification", TYPES, predicted("episodic", "episodic", "factual"))
    accuracy = one.metric("classification.accuracy")
    assert accuracy is not None
    assert (accuracy.value, accuracy.low, accuracy.high, accuracy.n, accuracy.of) == (1.0, 0.75, 1.0, 3, 4)
    assert one.errors == ("t3: no prediction",)


WEIGHTS = [
    {"test_case_id": f"w{at}", "input_text": "Something.", "expected_importance_score": score}
    for at, score in enumerate([2, 5, 9])
]


def weighed(*scores: float) -> dict[str, Any]:
    return {f"w{at}": {"importance_score": score} for at, score in enumerate(scores)}


def test_importance_perfect(tmp_path: Path) -> None:
    one = evaluated(tmp_path, "importance", WEIGHTS, weighed(2, 5, 9))
    assert values(one) == pytest.approx({"within": 1, "mae": 0, "rmse": 0, "spearman": 1, "pearson": 1})


def test_importance_known(tmp_path: Path) -> None:
    found = values(evaluated(tmp_path, "importance", WEIGHTS, weighed(3, 8, 7)))
    assert found["within"] == pytest.approx(1 / 3)
    assert found["mae"] == pytest.approx(2)
    assert found["rmse"] == pytest.approx(((1 + 9 + 4) / 3) ** 0.5)
    assert found["spearman"] == pytest.approx(0.5)
    wide = values(evaluated(tmp_path, "importance", WEIGHTS, weighed(3, 8, 7), tolerance=3))
    assert wide["within"] == 1.0


def test_importance_without_spread_has_no_correlation(tmp_path: Path) -> None:
    one = evaluated(tmp_path, "importance", WEIGHTS, weighed(5, 5, 5))
    pearson = one.metric("importance.pearson")
    assert pearson is not None
    assert (pearson.value, pearson.reason) == (None, "one of the two sides is always the same")


def test_importance_on_another_scale_fails_instead_of_counting(tmp_path: Path) -> None:
    one = evaluated(tmp_path, "importance", WEIGHTS, weighed(0.2, 5, 9))
    mae = one.metric("importance.mae")
    assert mae is not None
    assert (mae.value, mae.n, mae.of, mae.low, mae.high) == (0.0, 2, 3, 3.0, 0.0)
    assert one.errors == ("w0: the importance 0.2 is not between 1 and 10",)


def said(id: str, text: str, fact: str, **more: Any) -> dict[str, Any]:
    return {"test_case_id": id, "input_text": text, "expected_facts": [fact], **more}


SAME = [
    said("a1", "The dog is called Biscuit.", "Biscuit", duplicates_of=None),
    said("a2", "Biscuit is the dog.", "Biscuit", duplicates_of="a1"),
    said("a3", "My dog, Biscuit.", "Biscuit", duplicates_of="a2"),
    said("b1", "The cat is called Pickle.", "Pickle", duplicates_of=None),
]


def kept(*pairs: tuple[str, str | None]) -> dict[str, Any]:
    ids = ("a1", "a2", "a3", "b1")
    return {
        id: {"cluster": cluster, **({"kept_as": text} if text else {})}
        for id, (cluster, text) in zip(ids, pairs, strict=True)
    }


def test_deduplication_perfect(tmp_path: Path) -> None:
    dog, cat = ("m1", "Dog: Biscuit"), ("m2", "Cat: Pickle")
    one = evaluated(tmp_path, "deduplication", SAME, kept(dog, dog, dog, cat))
    assert set(values(one).values()) == {1.0}
    assert one.passed == 4


def test_deduplication_that_merges_nothing(tmp_path: Path) -> None:
    one = evaluated(tmp_path, "deduplication", SAME, kept(*((str(at), None) for at in range(4))))
    found = values(one)
    assert (found["precision"], found["recall"], found["bcubed_precision"]) == (None, 0.0, 1.0)
    assert found["bcubed_recall"] == pytest.approx((1 / 3 + 1 / 3 + 1 / 3 + 1) / 4)
    assert found["merge_correct"] is None
    assert found["kept"] is None, "the memories' texts are not known"


def test_deduplication_that_merges_everything_loses_a_fact(tmp_path: Path) -> None:
    one = evaluated(tmp_path, "deduplication", SAME, kept(*[("m", "A dog called Biscuit")] * 4))
    found = values(one)
    assert (found["precision"], found["recall"]) == (pytest.approx(3 / 6), 1.0)
    assert (found["merge_correct"], found["kept"]) == (0.75, 0.75)
    assert [row[0] for row in one.sections["lost"][1:]] == ["b1"]
    assert ("b1", "The cat is called Pickle.", "a1, a2, a3", "–") in one.sections["clusters"]


def test_deduplication_of_what_is_in_no_memory(tmp_path: Path) -> None:
    dog = ("m1", "Dog: Biscuit")
    one = evaluated(tmp_path, "deduplication", SAME, kept(dog, dog, dog, ("", None)))
    kept_metric, f1 = one.metric("deduplication.kept"), one.metric("deduplication.bcubed_f1")
    assert kept_metric is not None
    assert f1 is not None
    assert kept_metric.value == 0.75
    assert (f1.value, f1.n, f1.of) == (1.0, 3, 4)


OLD = said("old", "I live at 12 Plover Street.", "12 Plover Street")
NEW = said(
    "new", "I have moved to 48 Heron Lane.", "48 Heron Lane", supersedes="old", question="Where do I live?"
)
STATES = {
    "updated": ["Lives at 48 Heron Lane."],
    "kept_both": ["Lives at 12 Plover Street.", "Lives at 48 Heron Lane."],
    "kept_old": ["Lives at 12 Plover Street."],
    "lost": ["Has a dog."],
}


@pytest.mark.parametrize("state", list(STATES))
def test_update_states(tmp_path: Path, state: str) -> None:
    one = evaluated(tmp_path, "update", [OLD, NEW], {"new": {"stored_after_update": STATES[state]}})
    found = values(one)
    assert {name: found[name] for name in STATES} == {name: float(name == state) for name in STATES}
    assert found["stale"] is None, "what was recalled is not known"


@pytest.mark.parametrize(
    "text",
    [
        "Moved from 12 Plover Street to 48 Heron Lane.",
        "Lives at 48 Heron Lane, no longer at 12 Plover Street.",
        "Lives at 48 Heron Lane (previously 12 Plover Street).",
    ],
)
def test_a_memory_that_calls_the_old_value_past_is_updated(tmp_path: Path, text: str) -> None:
    one = evaluated(tmp_path, "update", [OLD, NEW], {"new": {"stored_after_update": [text]}})
    assert values(one)["updated"] == 1.0


@pytest.mark.parametrize(
    ("recalled", "expected"),
    [
        (["Lives at 48 Heron Lane."], (1.0, 0.0, 0.0)),
        (["Lives at 12 Plover Street.", "Lives at 48 Heron Lane."], (1.0, 1.0, 1.0)),
        (["Lives at 48 Heron Lane.", "Lives at 12 Plover Street."], (1.0, 1.0, 0.0)),
        (["Has a dog."], (0.0, 0.0, None)),
        ([], (0.0, 0.0, None)),
    ],
)
def test_stale_exposure(tmp_path: Path, recalled: list[str], expected: tuple[float | None, ...]) -> None:
    one = evaluated(tmp_path, "update", [OLD, NEW], {"new": {"recalled_after_update": recalled}})
    found = values(one)
    assert (found["recalled"], found["stale"], found["stale_first"]) == expected


def test_a_chain_counts_once_with_every_earlier_value_as_old(tmp_path: Path) -> None:
    newest = said(
        "newest", "Now it is 5 Mill Row.", "5 Mill Row", supersedes="new", question="Where do I live?"
    )
    data = dataset(tmp_path, OLD, NEW, newest)
    assert [entry.id for entry in data.for_update()] == ["newest"]
    old = [fact for entry in data.before(data.get("newest")) for fact in entry.facts or ()]
    new = data.get("newest").facts or ()
    assert state_of(["5 Mill Row", "12 Plover Street"], new, old) == "kept_both"
    assert state_of(["48 Heron Lane"], new, old) == "kept_old"


@pytest.mark.parametrize(
    ("stored", "state"),
    [
        (["Lives at 12 Plover Street."], "updated"),
        (["Lives at 48 Heron Lane.", "Lives at 12 Plover Street."], "kept_both"),
        (["Lives at 48 Heron Lane."], "kept_old"),
    ],
)
def test_a_value_that_comes_back_is_no_old_one(tmp_path: Path, stored: list[str], state: str) -> None:
    back = said(
        "back", "I am at 12 Plover Street again.", "12 Plover Street", supersedes="new", question="Where do I live?"
    )  # fmt: skip
    given = {"back": {"stored_after_update": stored, "recalled_after_update": stored}}
    one = evaluated(tmp_path, "update", [OLD, NEW, back], given)
    found = values(one)
    assert {name: found[name] for name in STATES} == {name: float(name == state) for name in STATES}
    assert found["stale"] == float(state != "updated")
    assert one.passed == (state == "updated")


USERS = [
    said("ann", "My code is 4471-B.", "4471-B", user="ann", question="What is my code?"),
    said("bob", "My code is 9025-F.", "9025-F", user="bob", question="What is my code?"),
]


def recalls(ann: list[str], bob: list[str], by_bob: list[str]) -> dict[str, Any]:
    return {
        "ann": {"recalled": ann, "recalled_by_others": by_bob},
        "bob": {"recalled": bob, "recalled_by_others": []},
    }


def test_isolation_perfect(tmp_path: Path) -> None:
    one = evaluated(tmp_path, "isolation", USERS, recalls(["4471-B"], ["code 9025-F"], []))
    assert values(one) == {"isolated": 1.0, "own_recalled": 1.0, "leaks": 0.0}


@pytest.mark.parametrize(
    ("ann", "by_bob"), [(["4471-B", "9025-F"], []), (["4471-B"], ["Ann's code is 4471-B"])]
)
def test_a_leak_either_way(tmp_path: Path, ann: list[str], by_bob: list[str]) -> None:
    one = evaluated(tmp_path, "isolation", USERS, recalls(ann, ["9025-F"], by_bob))
    assert values(one) == {"isolated": 0.5, "own_recalled": 1.0, "leaks": 0.5}
    assert len(one.sections["leaks"]) == 2


def test_who_recalls_nothing_proves_nothing(tmp_path: Path) -> None:
    one = evaluated(tmp_path, "isolation", USERS, recalls([], [], []))
    assert values(one)["isolated"] is None

    assert values(one)["leaks"] is None
    assert one.total == 0


@pytest.mark.parametrize(
    ("cases", "given", "why"),
    [
        (USERS[:1], {"ann": {"recalled": ["4471-B"]}}, "there is only one user, so that nothing could leak"),
        (
            USERS,
            {"ann": {"recalled_by_others": []}, "bob": {"recalled_by_others": []}},
            "what own users were",
        ),
        (USERS, recalls([], [], []), "no user was recalled their own facts"),
    ],
    ids=["one-user", "own-unknown", "nothing-recalled"],
)
def test_where_nothing_could_leak_no_gate_opens(
    tmp_path: Path, cases: list[dict[str, Any]], given: dict[str, Any], why: str
) -> None:
    one = evaluated(tmp_path, "isolation", cases, given)
    for name in ("isolation.isolated", "isolation.leaks"):
        metric = one.metric(name)
        assert metric is not None
        assert metric.value is None
        assert metric.reason.startswith(why)
    assert len(breaches([one], parse_gates(["isolation.isolated=0"], ["isolation.leaks=9"]))) == 2


def test_a_leak_counts_even_where_own_recalls_are_not_known(tmp_path: Path) -> None:
    given = {"ann": {"recalled_by_others": ["4471-B"]}, "bob": {"recalled_by_others": []}}
    one = evaluated(tmp_path, "isolation", USERS, given)
    assert values(one) == {"isolated": 0.0, "own_recalled": None, "leaks": 1.0}


def test_what_both_users_said_is_no_leak(tmp_path: Path) -> None:
    shared = [{**case, "input_text": f"{case['input_text']} The gate is G-1."} for case in USERS]
    shared[0]["expected_facts"] = ["4471-B", {"fact": "G-1", "type": "id"}]
    one = evaluated(tmp_path, "isolation", shared, recalls(["4471-B, G-1"], ["9025-F, G-1"], ["gate G-1"]))
    assert values(one)["isolated"] == 1.0


DELETED = [
    said("gone", "My code is 4471-B.", "4471-B", deleted=True, question="What is my code?"),
    said("stays", "My cat is Pickle.", "Pickle", deleted=False, question="What is my cat called?"),
]


@pytest.mark.parametrize(
    ("code", "cat", "expected"),
    [
        ((["4471-B"], []), (["Pickle"], ["Pickle"]), (1.0, 1.0)),
        ((["4471-B"], ["4471-B"]), (["Pickle"], ["Pickle"]), (0.0, 1.0)),
        ((["4471-B"], []), (["Pickle"], []), (1.0, 0.0)),
        (([], []), (["Pickle"], ["Pickle"]), (None, 1.0)),
        ((["4471-B"], ["I deleted 4471-C"]), ([], []), (1.0, None)),
        (([], ["4471-B"]), ([], ["Pickle"]), (0.0, None)),
    ],
    ids=["perfect", "still-there", "collateral", "never-recalled", "another-value", "only-afterwards"],
)
def test_deletion(
    tmp_path: Path,
    code: tuple[list[str], list[str]],
    cat: tuple[list[str], list[str]],
    expected: tuple[float | None, float | None],
) -> None:
    before, after = "recalled_before_deletion", "recalled_after_deletion"
    given = {"gone": {before: code[0], after: code[1]}, "stays": {before: cat[0], after: cat[1]}}
    found = values(evaluated(tmp_path, "deletion", DELETED, given))
    assert (found["gone"], found["kept"]) == expected


def test_a_deleted_fact_that_is_recalled_closes_the_gate(tmp_path: Path) -> None:
    key = said("key", "My key is K-77.", "K-77", deleted=True, question="What is my key?")
    before, after = "recalled_before_deletion", "recalled_after_deletion"
    given = {"gone": {before: ["4471-B"], after: []}, "key": {before: [], after: ["K-77"]}}
    one = evaluated(tmp_path, "deletion", [DELETED[0], key], given)
    assert values(one)["gone"] == 0.5
    assert (one.passed, one.total) == (1, 2)
    red = breaches([one], parse_gates(["deletion.gone=1"], []))
    assert red[0] == "mine: deletion.gone is 0.5000, below 1"
    assert "still recalled: K-77" in red[1]
    assert one.sections["exposed"][1:] == (("key", "K-77"),)


def test_deletion_counts_facts(tmp_path: Path) -> None:
    cases = [
        {
            "test_case_id": id, "input_text": "My rooms are 212 and 919.", "expected_facts": ["212", "919"],
            "deleted": id == "goes", "question": "Which are my rooms?",
        }
        for id in ("stays", "goes", "broken")
    ]  # fmt: skip
    before, after = "recalled_before_deletion", "recalled_after_deletion"
    given = {
        "stays": {before: ["Rooms 212, 919"], after: ["Room 212"]},
        "goes": {before: ["Rooms 212, 919"], after: ["Room 919"]},
        "broken": {"error": "timeout"},
    }
    one = evaluated(tmp_path, "deletion", cases, given)
    assert values(one) == {"gone": 0.5, "kept": 0.5}
    kept = one.metric("deletion.kept")
    assert kept is not None
    assert (kept.n, kept.of, kept.low, kept.high) == (2, 4, 0.25, 0.75)
    assert [item.values["deletion.kept"] for item in one.items[:2]] == [0.5, None]
    assert one.items[0].detail["missed"] == ["went with the deleted: 919"]


@pytest.mark.parametrize(
    ("evaluator", "cases"),
    [
        ("extraction", TALK), ("classification", TYPES), ("importance", WEIGHTS), ("deduplication", SAME),
        ("update", [OLD, NEW]), ("isolation", USERS), ("deletion", DELETED),
    ],
)  # fmt: skip
def test_without_predictions_it_is_not_applicable(
    tmp_path: Path, evaluator: str, cases: list[dict[str, Any]]
) -> None:
    one = evaluated(tmp_path, evaluator, cases, {})
    assert {metric.value for metric in one.metrics} == {None}
    assert all(metric.reason.startswith("n/a: the predictions have no ") for metric in one.metrics)


LABEL = st.sampled_from(["episodic", "factual", "personal", "odd"])


@settings(deadline=None)
@given(
    st.lists(
        st.one_of(st.none(), st.tuples(LABEL, st.integers(-3, 14), st.sampled_from("xyz"))),
        min_size=4,
        max_size=4,
    )
)
def test_every_figure_is_finite_within_its_bounds_and_none_has_a_reason(rows: list[Any]) -> None:
    data = _mixed()
    predictions = {
        f"m{at}": Prediction(("Biscuit",) * at, row[0], row[1], row[2], "Biscuit")
        for at, row in enumerate(rows)
        if row is not None
    }
    observed = Observed(data, "mine", predictions)
    for name in ("extraction", "classification", "importance", "deduplication"):
        _check(make_evaluators()[name].evaluate(observed))


def _check(one: Evaluation) -> None:
    shares = {definition.name for definition in definitions() if definition.unit == "share"}
    for metric in one.metrics:
        assert metric.n <= metric.of
        if metric.value is None:
            assert metric.reason
            continue
        assert metric.low is not None
        assert metric.high is not None
        low, high = sorted((metric.low, metric.high))
        assert low - 1e-9 <= metric.value <= high + 1e-9
        if metric.name in shares:
            assert 0 <= low <= high <= 1


def _mixed() -> Any:
    from harness.effectiveness.dataset import EffectivenessSet, Entry, ExpectedFact
    from harness.facts import GoldFact
    from harness.suite import Message

    labels = ("episodic", "factual", "personal", "personal")
    entries = tuple(
        Entry(
            f"m{at}",
            (Message("user", "The dog is called Biscuit."),),
            facts=(ExpectedFact(GoldFact("Biscuit")),) * (at % 3),
            memory_type=label,
            importance=float(at + 2),
            is_clustered=at > 1,
            duplicates_of="m2" if at == 3 else None,
        )
        for at, label in enumerate(labels)
    )
    return EffectivenessSet("mixed", entries)
