"""Probe files and a user's labels: every form, and each thing wrong with a file named with its line."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.errors import InputError, SuiteError
from harness.scoring.probes import Probe, load_labels, load_probes
from harness.suite import Suite, load_suite

CASE = "layer1_01_fee"
OTHER = "layer2_02_card"


@pytest.fixture
def suite(write_suite: Callable[..., Path]) -> Suite:
    return load_suite(write_suite(CASE, OTHER))


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def problems(load: Callable[[], object]) -> list[str]:
    """Return each problem as `line field rule`."""
    with pytest.raises(SuiteError) as caught:
        load()
    assert all(problem.message and problem.mend for problem in caught.value.problems)
    return [f"{problem.line} {problem.field} {problem.rule}".strip() for problem in caught.value.problems]


FILE = f"""\
test_id: {CASE}
probes:
  - id: verbatim
    kind: verbatim
    label: accept
    answer: The fee is $45, due on March 24.
  - id: empty
    kind: empty
    label: reject
    answer: ""
    note: says nothing
  - id: block
    kind: paraphrase
    label: accept
    answer: |-
      # It's $45
        - due: March 24
"""


def test_a_probe_file(tmp_path: Path, suite: Suite) -> None:
    put(tmp_path / "probes" / "layer1" / "01_fee.yaml", FILE)
    put(tmp_path / "probes" / "README.md", "What these are.")
    put(
        tmp_path / "probes" / "layer2" / "02_card.yml",
        f"test_id: {OTHER}\nprobes: [{{id: empty, kind: empty, label: reject, answer: ''}}]",
    )
    assert load_probes(tmp_path / "probes", suite) == (
        Probe(CASE, "verbatim", "verbatim", "accept", "The fee is $45, due on March 24."),
        Probe(CASE, "empty", "empty", "reject", "", "says nothing"),
        Probe(CASE, "block", "paraphrase", "accept", "# It's $45\n  - due: March 24"),
        Probe(OTHER, "empty", "empty", "reject", ""),
    )


def test_a_single_file(tmp_path: Path, suite: Suite) -> None:
    assert len(load_probes(put(tmp_path / "mine.yaml", FILE), suite)) == 3


ONE = "  - {id: a, kind: k, label: accept, answer: x}\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("", ["1  empty"], id="empty-file"),
        pytest.param("- x", ["1  bad-value"], id="no-mapping"),
        pytest.param(f"test_id: {CASE}\nprobes: []", ["2 probes bad-value"], id="no-probes"),
        pytest.param(f"test_id: {CASE}\nprobes:", ["2 probes bad-value"], id="nothing-under-probes"),
        pytest.param(f"test_id: {CASE}", ["1 probes missing-key"], id="probes-missing"),
        pytest.param(f"probes:\n{ONE}", ["1 test_id missing-key"], id="test-id-missing"),
        pytest.param(f"test_id: layer1_01_fees\nprobes:\n{ONE}", ["1 test_id unknown-case"], id="unknown-case"),
        pytest.param(f"test_id: {CASE}\nnotes: x\nprobes:\n{ONE}", ["2 notes unknown-key"], id="unknown-key"),
        pytest.param(
            f"test_id: {CASE}\nprobes:\n{ONE}  - {{id: b, kind: k, label: maybe, answer: x}}\n"
            "  - {id: c, kind: k, label: accept, anser: x}\n  - {id: d, kind: '', label: true, answer: }\n  - text",
            ["4 probes[1].label bad-value", "5 probes[2].anser unknown-key", "5 probes[2].answer missing-key",
             "6 probes[3].answer bad-value", "6 probes[3].kind bad-value", "7 probes[4] bad-value"],
            id="every-probe-is-looked-at",
        ),
        pytest.param(f"test_id: {CASE}\nprobes:\n{ONE}{ONE}", ["4 probes[1].id duplicate-id"], id="same-id"),
        pytest.param(
            f"test_id: {CASE}\nprobes:\n{ONE}  - {{id: b, kind: k, label: reject, answer: ' x '}}",
            ["4 probes[1].label two-labels"], id="one-answer-with-two-labels",
        ),
        pytest.param(f"test_id: {CASE}\nprobes:\n{ONE}---\na: b", ["1  extra-document"], id="two-documents"),
        pytest.param("test_id: [", ["2  yaml"], id="broken"),
        pytest.param(f"test_id: {CASE}\ntest_id: x", ["2 test_id duplicate-key"], id="same-key"),
        pytest.param(f"test_id: {CASE}\nprobes: [{{id: a, kind: k, label: '1', answer: x}}]",
                     ["2 probes[0].label bad-value"], id="a-user's-spelling"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_probe_file(tmp_path: Path, suite: Suite, text: str, found: list[str]) -> None:
    path = put(tmp_path / "p.yaml", text)
    assert problems(lambda: load_probes(path, suite)) == found


def test_the_problems_of_all_files_come_together(tmp_path: Path, suite: Suite) -> None:
    root = tmp_path / "probes"
    put(root / "layer1" / "01_fee.yaml", f"test_id: {CASE}\nprobes:\n{ONE}")
    put(root / "layer1" / "02_fee.yaml", f"test_id: {CASE}\nprobes:\n{ONE}")
    put(root / "layer2" / "02_card.yaml", "")
    put(root / "notes.txt", "x")
    assert problems(lambda: load_probes(root, suite)) == [
        "1 test_id wrong-name",
        "3 probes[0].id duplicate-id",
        "1  empty",
        "0  stray-file",
    ]


def test_messages_say_what_to_do(tmp_path: Path, suite: Suite) -> None:
    path = put(
        tmp_path / "p.yaml",
        f"test_id: layer1_01_fees\nprobes:\n{ONE}{ONE}  - {{id: b, kind: k, label: ok, answer: }}\n"
        "  - {id: c, kind: k, label: ok, answer: ''}",
    )
    with pytest.raises(SuiteError) as caught:
        load_probes(path, suite)
    text = str(caught.value)
    assert f"nearest: {CASE}" in text
    assert f"the first: {path}:3." in text
    assert 'Write the text; "" is an answer of no words.' in text
    assert "is 'ok'. Mend: Write one of accept, reject." in text


@pytest.mark.parametrize("name", ["nowhere", "empty"])
def test_nothing_to_load(tmp_path: Path, suite: Suite, name: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=name):
        load_probes(tmp_path / name, suite)


RIGHT = Probe(CASE, "label_1", "labelled", "accept", "The fee is $45.")
WRONG = Probe(CASE, "label_2", "stale", "reject", "It's $30, \u2028 😀 \t\\ud83d")
ANSWERS: list[dict[str, Any]] = [
    {"answer": RIGHT.answer, "label": "accept"},
    {"answer": WRONG.answer, "label": "reject", "kind": "stale"},
]
FORMS = {
    "by-case": {"_comment": "two of them", CASE: ANSWERS},
    "one-case": {"test_id": CASE, "probes": ANSWERS},
    "list-of-cases": [{"test_id": CASE, "probes": ANSWERS}],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("name", "write"),
    [
        pytest.param("l.json", json.dumps, id="json"),
        pytest.param("l.json", lambda data: json.dumps(data, ensure_ascii=False), id="json-not-escaped"),
        pytest.param("l.json", lambda data: json.dumps(data, indent="\t"), id="json-with-tabs"),
        pytest.param("l.json", lambda data: json.dumps(data, separators=(",", ":")), id="json-compact"),
        pytest.param("L.YAML", lambda data: yaml.safe_dump(data, allow_unicode=True), id="yaml"),
    ],
)
def test_labels(tmp_path: Path, suite: Suite, form: str, name: str, write: Callable[[Any], str]) -> None:
    assert load_labels(put(tmp_path / name, write(FORMS[form])), suite) == (RIGHT, WRONG)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_labels_in_csv(tmp_path: Path, suite: Suite, delimiter: str, bom: str) -> None:
    path = tmp_path / "labels.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(bom)
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(["Label", "answer", "kind", "test_id"])
        writer.writerow(["TRUE", RIGHT.answer, "", CASE])
        writer.writerow(["0", WRONG.answer, "stale", CASE])
        writer.writerow(["fail", "", "empty", OTHER])
        writer.writerow(["fail", 'line; one,\n"two"\n---\n', "dump", OTHER])
    assert load_labels(path, suite) == (
        RIGHT,
        WRONG,
        Probe(OTHER, "label_1", "empty", "reject", ""),
        Probe(OTHER, "label_2", "dump", "reject", 'line; one,\n"two"\n---\n'),
    )


@pytest.mark.parametrize(
    ("spelling", "label"),
    [("accept", "accept"), ("Pass", "accept"), ("true", "accept"), (True, "accept"), (1, "accept"),
     ("reject", "reject"), ("FAIL", "reject"), (False, "reject"), (0, "reject"), ("0", "reject")],
)  # fmt: skip
def test_spellings_of_a_label(tmp_path: Path, suite: Suite, spelling: object, label: str) -> None:
    path = put(tmp_path / "l.json", json.dumps({CASE: [{"answer": "x", "label": spelling}]}))
    assert [probe.label for probe in load_labels(path, suite)] == [label]


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        pytest.param("l.json", "", ["1  empty"], id="empty-json"),
        pytest.param("l.json", "{\n 'a': 1}", ["2  json"], id="no-json"),
        pytest.param("l.json", '"text"', ["1  bad-labels"], id="a-text"),
        pytest.param("l.json", '{"_note": "x"}', ["1  empty"], id="nothing-but-a-comment"),
        pytest.param("l.json", "[]", ["1  empty"], id="an-empty-list"),
        pytest.param("l.json", "[" * 3000 + "]" * 3000, ["1  yaml"], id="deep"),
        pytest.param("l.json", f'{{\n"{CASE}": "text",\n"layer9": []}}',
                     [f"2 {CASE} bad-labels", "3 layer9 bad-labels", "3 layer9 unknown-case"], id="no-list"),
        pytest.param("l.json", f'{{"{CASE}": [\n{{"answer": "x", "label": 0.5}},\n{{"label": 1}}]}}',
                     [f"2 {CASE}[0].label bad-value", f"3 {CASE}[1].answer missing-key"], id="bad-answers"),
        pytest.param("l.json", f'{{"{CASE}": [],\n"{CASE}": []}}', [f"2 {CASE} duplicate-key"], id="twice"),
        pytest.param("l.csv", "", ["1  missing-column"] * 3, id="empty-csv"),
        pytest.param("l.csv", "test_id,answer,label\n", ["0  empty"], id="only-a-header"),
        pytest.param("l.csv", "test_id,answr,label,label\n",
                     ["1  duplicate-column", "1  missing-column", "1  unknown-column"], id="columns"),
        pytest.param("l.csv", f'test_id,answer,label\n{CASE},"a\nb",pass\n\n{CASE},a, b,pass\nx,a,fail\n{CASE},a,ok\n',
                     ["5  bad-row", "6 test_id unknown-case", "7 label bad-value"], id="rows"),
        pytest.param("l.csv", f'test_id,answer,label\n{CASE},a,pass\n{CASE},"b\n', ["3  csv"], id="open-quote"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_labels(
    tmp_path: Path, suite: Suite, name: str, text: str, found: list[str]
) -> None:
    path = put(tmp_path / name, text)
    assert problems(lambda: load_labels(path, suite)) == found


def test_an_ending_that_says_nothing(tmp_path: Path, suite: Suite) -> None:
    with pytest.raises(InputError, match=r"\.json, \.yaml, \.yml, \.csv"):
        load_labels(tmp_path / "labels.xlsx", suite)


def test_a_file_that_is_not_there(tmp_path: Path, suite: Suite) -> None:
    assert problems(lambda: load_labels(tmp_path / "none.csv", suite)) == ["0  unreadable"]


def test_bytes_that_are_no_text(tmp_path: Path, suite: Suite) -> None:
    path = tmp_path / "l.csv"
    path.write_bytes(b"test_id,answer,label\n" + CASE.encode() + b",caf\xe9,pass\n")
    assert problems(lambda: load_labels(path, suite)) == ["2  not-utf8"]


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(answer=TEXTS, escaped=st.booleans())
def test_json_answers_arrive_as_they_were(tmp_path: Path, suite: Suite, answer: str, escaped: bool) -> None:
    data = {CASE: [{"answer": answer, "label": "fail"}]}
    path = put(tmp_path / "any.json", json.dumps(data, ensure_ascii=escaped))
    (probe,) = load_labels(path, suite)
    assert probe.answer == answer


def test_half_of_a_character_in_json(tmp_path: Path, suite: Suite) -> None:
    text = f'{{"{CASE}": [{{"answer": "\\ud83d \\ud83d\\ude00 \\\\ud83d", "label": 1}}]}}'
    assert load_labels(put(tmp_path / "l.json", text), suite)[0].answer == "\ufffd 😀 \\ud83d"
