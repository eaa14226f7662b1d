"""`compare` and `batch` as a user meets them: a process, files, exit statuses."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

RIGHT = "The fee is $45, due March 24."
STALE = "The fee is $30, due March 24."


def responses(folder: Path, data: Any, name: str = "answers.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")
    return path


@pytest.fixture
def suite(write_suite: Any) -> Path:
    return write_suite("layer1_01_fee", "layer1_02_fee", "layer2_01_fee", "layer3_01_fee")


IDS = ("layer1_01_fee", "layer1_02_fee", "layer2_01_fee", "layer3_01_fee")


def test_compare_shows_a_row_a_layer_and_a_column_a_system(
    recallbench: Any, suite: Path, tmp_path: Path
) -> None:
    file = responses(tmp_path, {"good": dict.fromkeys(IDS, RIGHT), "stale": dict.fromkeys(IDS, STALE)})
    done = recallbench("compare", file, "--suite", suite)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "good" in lines[1]
    assert "stale" in lines[1]
    rows = [line for line in lines if line.startswith("│")]
    assert [row.split("│")[1].strip() for row in rows] == [
        "Layer 1 · Basic Recall",
        "Layer 2 · Disambiguation",
        "Layer 3 · Cross-Session Synthesis",
        "Overall (mean over cases)",
        "95% interval",
    ]
    assert [cell.strip() for cell in rows[3].split("│")[2:4]] == ["1.00 n=4", "0.50 n=4"]
    assert "not its behaviour" in " ".join(done.stdout.split())


def test_missing_answers_are_counted_and_bounded(recallbench: Any, suite: Path, tmp_path: Path) -> None:
    file = responses(tmp_path, {"half": dict.fromkeys(IDS[:2], RIGHT), "null": dict.fromkeys(IDS)})
    done = recallbench("compare", file, "--suite", suite)
    assert done.returncode == 0
    assert "1.00 2/4 [0.50–1.00]" in done.stdout
    assert "half: 2 of 4 scored (2 missing); not to be ranked" in done.stdout
    assert "– 0/4 [0.00–1.00]" in done.stdout


def test_partial_compares_over_the_common_cases_and_says_so(
    recallbench: Any, suite: Path, tmp_path: Path
) -> None:
    file = responses(tmp_path, {"a": dict.fromkeys(IDS[:3], RIGHT), "b": dict.fromkeys(IDS[1:], STALE)})
    done = recallbench("compare", file, "--suite", suite, "--partial")
    assert "Partial: 2 of 4 cases" in done.stdout
    overall = next(line for line in done.stdout.splitlines() if "Overall" in line)
    assert "1.00 n=2" in overall
    assert "0.50 n=2" in overall


def test_partial_without_a_common_case_is_an_error(recallbench: Any, suite: Path, tmp_path: Path) -> None:
    file = responses(tmp_path, {"a": {IDS[0]: RIGHT}, "b": {IDS[1]: RIGHT}})
    done = recallbench("compare", file, "--suite", suite, "--partial")
    assert done.returncode == 2
    assert "no case was answered by every system" in done.stderr


def test_layer_narrows_the_cases_asked(recallbench: Any, suite: Path, tmp_path: Path) -> None:
    file = responses(tmp_path, {"good": dict.fromkeys(IDS, RIGHT)})
    done = recallbench("compare", file, "--suite", suite, "--layer", "layer1", "--format", "json")
    report = json.loads(done.stdout)
    assert [group["group"] for group in report["groups"]] == ["layer1", "overall"]
    assert report["systems"][0]["summary"]["overall"]["asked"] == 2


def test_outputs_take_their_format_from_the_ending(recallbench: Any, suite: Path, tmp_path: Path) -> None:
    file = responses(tmp_path, {"good": dict.fromkeys(IDS, RIGHT), "=cmd": dict.fromkeys(IDS, STALE)})
    names = [tmp_path / f"out{ending}" for ending in (".txt", ".md", ".json", ".csv")]
    flags = [part for name in names for part in ("--output", str(name))]
    done = recallbench("compare", file, "--suite", suite, "--per-case", *flags)
    assert done.returncode == 0, done.stderr
    text, markdown, data, table = (name.read_text(encoding="utf-8") for name in names)
    assert "layer3_01_fee" in text
    assert "| Overall (mean over cases) | 1.00 n=4 | 0.50 n=4 |" in markdown
    assert json.loads(data)["systems"][1]["cases"][0]["facts"][0]["voided_by"] == "old_fee"
    rows = list(csv.DictReader(io.StringIO(table)))
    assert len(rows) == 8
    assert rows[4]["system"] == "'=cmd", "a spreadsheet must not run a name"


def test_an_unknown_ending_is_refused_before_any_work(recallbench: Any, suite: Path, tmp_path: Path) -> None:
    file = responses(tmp_path, {"good": dict.fromkeys(IDS, RIGHT)})
    done = recallbench("compare", file, "--suite", suite, "--output", tmp_path / "out.docx")
    assert done.returncode == 2
    assert ".txt, .md" in done.stderr
    assert done.stdout == ""


def test_a_file_that_cannot_be_written_leaves_nothing_behind(
    recallbench: Any, suite: Path, tmp_path: Path
) -> None:
    file = responses(tmp_path, {"good": dict.fromkeys(IDS, RIGHT)})
    done = recallbench("compare", file, "--suite", suite, "--output", tmp_path / "nowhere" / "out.md")
    assert done.returncode == 2
    assert "cannot be written" in done.stderr
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize(("floor", "status"), [("0.5", 0), ("0.51", 1)], ids=["met", "missed"])
def test_fail_under(recallbench: Any, suite: Path, tmp_path: Path, floor: str, status: int) -> None:
    file = responses(tmp_path, {"good": dict.fromkeys(IDS, RIGHT), "stale": dict.fromkeys(IDS, STALE)})
    done = recallbench("compare", file, "--suite", suite, "--fail-under", floor)
    assert done.returncode == status
    assert "Overall" in done.stdout, "the table stands whether or not the gate is met"
    assert ("stale 0.5 (4/4 scored)" in done.stderr) == bool(status)


def test_fail_under_counts_what_is_missing_as_nothing(recallbench: Any, suite: Path, tmp_path: Path) -> None:
    file = responses(tmp_path, {"half": dict.fromkeys(IDS[:2], RIGHT)})
    assert recallbench("compare", file, "--suite", suite, "--fail-under", "0.6").returncode == 1


BAD_RESPONSES = {
    "unknown id": ('{"s": {"layer1_01_fees": "x"}}', "Nearest: layer1_01_fee"),
    "not JSON": ('{"s": {"layer1_01_fee": "x",}}', "answers.json:1: not JSON"),
    "a list": ("[1, 2]", "holds a list"),
    "empty file": ("", "the file is empty"),
    "empty object": ("{}", "holds no answers"),
    "key twice": (
        '{"s": {"layer1_01_fee": "x",\n"layer1_01_fee": "y"}}',
        "answers.json:2: the key 'layer1_01_fee'",
    ),
    "answer is a number": (
        '{"s": {"layer1_01_fee": 4}}',
        "an answer is a string, null or an object, not a number",
    ),
    "unknown answer key": ('{"s": {"layer1_01_fee": {"anser": "x"}}}', "did you mean answer?"),
    "memory of numbers": ('{"s": {"layer1_01_fee": {"answer": "x", "memory": [1]}}}', "'memory' is a string"),
    "negative latency": ('{"s": {"layer1_01_fee": {"answer": "x", "latency_s": -1}}}', "'latency_s' is -1"),
    "NaN": ('{"s": {"layer1_01_fee": {"answer": "x", "latency_s": NaN}}}', "NaN is no JSON number"),
    "system holds a string": ('{"s": {"layer1_01_fee": "x"}, "t": "y"}', "'s' is no case"),
}


@pytest.mark.parametrize(("text", "said"), BAD_RESPONSES.values(), ids=BAD_RESPONSES)
def test_bad_responses_get_one_clear_message(
    recallbench: Any, suite: Path, tmp_path: Path, text: str, said: str
) -> None:
    file = tmp_path / "answers.json"
    file.write_text(text, encoding="utf-8")
    done = recallbench("compare", file, "--suite", suite)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_bad_paths(recallbench: Any, suite: Path, tmp_path: Path) -> None:
    for path, said in ((tmp_path / "gone.json", "no such file"), (tmp_path, "holds no run")):
        done = recallbench("compare", path, "--suite", suite)
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    latin = tmp_path / "latin.json"
    latin.write_bytes('{"s": "é"}'.encode("latin-1"))
    assert "not UTF-8" in recallbench("compare", latin, "--suite", suite).stderr


def test_batch_tells_what_was_found_missing_and_wrong(recallbench: Any, suite: Path, tmp_path: Path) -> None:
    answers = {IDS[0]: RIGHT, IDS[1]: STALE, IDS[2]: "I don't know."}
    done = recallbench("batch", responses(tmp_path, answers), "--suite", suite)
    assert done.returncode == 0, done.stderr
    first, second, third, fourth = done.stdout.split("Title of ")[1:]
    assert "reward 1.00  passed" in first
    assert "✓ fee" in first
    assert "“The fee is $45, due March 24.”" in first
    assert "reward 0.50  not passed" in second
    assert "voided by old_fee" in second
    assert "stated as true (voids fee; last year's)" in " ".join(second.split())
    assert "not found" in third
    assert "missing: no answer was supplied" in fourth
    assert "Layer 2" in fourth


def test_batch_of_a_compare_file_wants_the_system_named(
    recallbench: Any, suite: Path, tmp_path: Path
) -> None:
    file = responses(tmp_path, {"a": {IDS[0]: RIGHT}, "b": {IDS[0]: STALE}})
    refused = recallbench("batch", file, "--suite", suite)
    assert refused.returncode == 2
    assert "several systems (a, b)" in refused.stderr
    named = recallbench("batch", file, "--suite", suite, "--system", "b", "--partial", "--format", "json")
    report = json.loads(named.stdout)
    assert [system["system"] for system in report["systems"]] == ["b"]
    assert report["systems"][0]["summary"]["overall"]["mean"] == 0.5


def test_a_batch_answer_may_be_an_object(recallbench: Any, suite: Path, tmp_path: Path) -> None:
    answers = {
        IDS[0]: {
            "answer": "No idea.",
            "memory": ["The fee is $45, due March 24."],
            "latency_s": 0.2,
            "tokens": 12,
        },
        IDS[1]: {"error": "timed out"},
    }
    file = responses(tmp_path, answers)
    by_answer = json.loads(recallbench("batch", file, "--suite", suite, "--format", "json").stdout)
    first, second = by_answer["systems"][0]["cases"][:2]
    assert first["reward"] == 0.0, "memory text never counts as answer"
    assert (second["outcome"], second["reward"]) == ("system_error", None)
    recalled = recallbench("batch", file, "--suite", suite, "--scorer", "evidence-recall", "--format", "json")
    first, second, third, _ = json.loads(recalled.stdout)["systems"][0]["cases"]
    assert (first["reward"], first["passed"], first["words"]) == (1.0, None, 7)
    assert (second["outcome"], third["outcome"]) == ("system_error", "missing")


@pytest.mark.parametrize(
    ("scorer", "answer", "said"),
    [
        ("evidence-recall", "No idea.", "answers and no memories. Use --scorer keyword-recall, or write"),
        ("evidence-recall", {"answer": "No idea."}, "answers and no memories. Use --scorer keyword-recall"),
        (
            "keyword-recall",
            {"answer": None, "memory": ["x"]},
            "memories and no answers. Use --scorer evidence-recall",
        ),
        (
            "token-f1",
            {"answer": None, "memory": ["x"]},
            "memories and no answers. Use --scorer evidence-recall",
        ),
        ("evidence-recall", {"answer": "No idea.", "memory": []}, ""),
        ("evidence-recall", {"error": "timed out"}, "nothing could be scored"),
    ],
    ids=["text", "object", "memories", "f1", "nothing recalled", "errors"],
)
def test_a_scorer_that_every_answer_would_be_missing_for_is_refused(
    recallbench: Any, suite: Path, tmp_path: Path, scorer: str, answer: Any, said: str
) -> None:
    (tmp_path / "all.json").write_text(json.dumps({"mem": dict.fromkeys(IDS, answer)}), encoding="utf-8")
    done = recallbench("compare", "all.json", "--suite", suite, "--scorer", scorer)
    assert said in done.stderr
    assert done.returncode == (0 if not said else 1 if "scored" in said else 2), done.stderr


def test_gold_file_overrides_the_header(recallbench: Any, suite: Path, tmp_path: Path) -> None:
    gold = tmp_path / "gold.json"
    gold.write_text(json.dumps({"_about": "x", IDS[0]: {"required_facts": ["blue", ["red", "crimson"]]}}))
    file = responses(tmp_path, {IDS[0]: "Blue and crimson."})
    done = recallbench("batch", file, "--suite", suite, "--gold", gold, "--partial", "--format", "json")
    assert json.loads(done.stdout)["systems"][0]["cases"][0]["reward"] == 1.0


@pytest.mark.parametrize(
    ("scorer", "said"),
    [
        ("llm-judge(no_such_option=1)", "options do not fit"),
        ("llm-judge(repeats=0)", "repeats has to be 1 or more"),
        ("keyword-recal", "Did you mean keyword-recall?"),
        ("no.such:Thing", "cannot load"),
        ("keyword-recall(dump_factor=-1)", "options do not fit"),
        ("keyword-recall(oops)", "options"),
        ("json:loads", "no scorer|options do not fit"),
    ],
)
def test_scorers_that_cannot_be_had(
    recallbench: Any, suite: Path, tmp_path: Path, scorer: str, said: str
) -> None:
    file = responses(tmp_path, {IDS[0]: RIGHT})
    done = recallbench("batch", file, "--suite", suite, "--scorer", scorer)
    assert done.returncode == 2
    assert any(part in done.stderr for part in said.split("|")), done.stderr
    assert "Traceback" not in done.stderr


def test_a_scorer_of_ones_own(recallbench: Any, suite: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from dataclasses import dataclass\n"
        "from harness.scoring import CaseScore, Scored\n"
        "@dataclass\n"
        "class Loud:\n"
        "    floor: float = 0.0\n"
        "    name: str = 'loud'\n"
        "    has_pass: bool = True\n"
        "    footnote: str = 'Counts exclamation marks.'\n"
        "    def score(self, case, answer):\n"
        "        reward = max(self.floor, float('!' in (answer.text or '')))\n"
        "        return CaseScore(case.id, case.category, self.name, Scored(reward))\n"
    )
    file = responses(tmp_path, {IDS[0]: "Hey!", IDS[1]: "Hey."})
    done = recallbench(
        "batch", file, "--suite", suite, "--scorer", "mine:Loud(floor=0.25)", "--partial", "--format", "json",
        env={"PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [case["reward"] for case in json.loads(done.stdout)["systems"][0]["cases"]] == [1.0, 0.25]


def test_a_gate_is_no_gate_with_nan_or_partial(recallbench: Any, suite: Path, tmp_path: Path) -> None:
    file = responses(tmp_path, {"half": dict.fromkeys(IDS[:2], RIGHT)})
    for flags, said in ((["nan"], "not in the range"), (["0.9", "--partial"], "does not go with --partial")):
        done = recallbench("compare", file, "--suite", suite, "--fail-under", *flags)
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr


def test_an_output_never_overwrites_what_is_read(recallbench: Any, suite: Path, tmp_path: Path) -> None:
    file = responses(tmp_path, {"good": dict.fromkeys(IDS, RIGHT)})
    before = file.read_bytes()
    done = recallbench("compare", file, "--suite", suite, "--output", file)
    assert done.returncode == 2
    assert "would overwrite what is read" in done.stderr
    assert file.read_bytes() == before


def test_an_output_through_a_link_leaves_the_link(recallbench: Any, suite: Path, tmp_path: Path) -> None:
    file = responses(tmp_path, {"good": dict.fromkeys(IDS, RIGHT)})
    link, target = tmp_path / "link.md", tmp_path / "target.md"
    link.symlink_to(target)
    assert recallbench("compare", file, "--suite", suite, "--output", link).returncode == 0
    assert link.is_symlink()
    assert "good" in target.read_text(encoding="utf-8")


def test_a_cut_off_emoji_and_a_narrow_encoding_break_nothing(
    recallbench: Any, suite: Path, tmp_path: Path
) -> None:
    file = tmp_path / "answers.json"
    file.write_text('{"' + IDS[0] + '": "The fee is $45, due March 24 \\ud83d"}', encoding="utf-8")
    done = recallbench("batch", file, "--suite", suite, "--partial", "--format", "json")
    assert json.loads(done.stdout)["systems"][0]["cases"][0]["reward"] == 1.0
    narrow = recallbench(
        "batch", file, "--suite", suite, "--partial", env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    )
    assert (narrow.returncode, narrow.stderr) == (0, "")


def test_a_scorer_that_fails_is_named_with_the_case(recallbench: Any, suite: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(
        "class Bad:\n"
        "    name, has_pass, footnote = 'bad', True, ''\n"
        "    def score(self, case, answer):\n"
        "        raise RuntimeError('no luck')\n"
    )
    file = responses(tmp_path, {IDS[0]: RIGHT})
    done = recallbench("batch", file, "--suite", suite, "--scorer", "bad:Bad", "--partial")
    assert done.returncode == 2
    assert "scorer bad failed on layer1_01_fee: RuntimeError: no luck" in done.stderr


def test_latency_tokens_and_memory_are_in_the_report(recallbench: Any, suite: Path, tmp_path: Path) -> None:
    answer = {"answer": RIGHT, "memory": ["two words"], "latency_s": 0.25, "tokens": 7}
    file = responses(tmp_path, {IDS[0]: answer})
    done = recallbench("batch", file, "--suite", suite, "--partial", "--format", "json")
    case = json.loads(done.stdout)["systems"][0]["cases"][0]
    assert (case["latency_s"], case["tokens"], case["memory_words"]) == (0.25, 7, 2)
    recalled = recallbench("batch", file, "--suite", suite, "--partial", "--scorer", "evidence-recall")
    assert "Words handed over a case (mean): responses 2." in recalled.stdout
