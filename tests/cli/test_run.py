"""`recallbench run`, as a process: the tables, the formats, what is asked of whom, and what is refused."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.suite import load_suite
from tests.cli.systems import answers, environment, journal, manifest, run_folder, write_cases

SNAPSHOT = Path(__file__).with_name("snapshots") / "run_bundled.txt"
EVERYONE = ("--system", "bm25", "--system", "full_context", "--controls", "--cheaters")


def of_layer(layer: str) -> list[str]:
    return [case.id for case in load_suite() if case.category == layer]


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return write_cases(tmp_path / "suite", 4, talks=2)


def overall(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    return {one["system"]: one["summary"]["overall"] for one in json.loads(done.stdout)["systems"]}


# ---- tables ---------------------------------------------------------------------------


def test_the_bundled_cases_with_controls_and_cheaters(recallbench: Any, tmp_path: Path) -> None:
    bounds = ("--controls", "--cheaters")
    asked = 8 * len(load_suite())
    done = recallbench("run", *bounds)
    assert done.returncode == 0, done.stderr
    if os.environ.get("UPDATE_SNAPSHOTS"):
        SNAPSHOT.parent.mkdir(exist_ok=True)
        SNAPSHOT.write_text(done.stdout, encoding="utf-8")
    assert done.stdout == SNAPSHOT.read_text(encoding="utf-8")
    assert done.stderr == f"questions asked: {asked} now; kept in runs/ (recallbench compare runs/)\n"
    assert max(map(len, done.stdout.splitlines())) <= 100
    assert "Traceback" not in done.stderr

    again = recallbench("run", *bounds)
    assert again.stdout == done.stdout
    assert (
        again.stderr == f"questions asked: 0 now, {asked} before; kept in runs/ (recallbench compare runs/)\n"
    )
    order = ("no_memory", "last_conversation", "full_context", "oracle", "echo", "abstain", "bluffer", "dump")
    runs = [run_folder(tmp_path / "runs", label) for label in order]
    compared = recallbench("compare", *runs)
    assert compared.stdout == done.stdout, "compare shows what run showed"


def test_recall_and_answers_stand_in_two_tables_with_the_words_handed_over(
    recallbench: Any, suite: Path
) -> None:
    done = recallbench("run", *EVERYONE, "--suite", suite)
    assert done.returncode == 0, done.stderr
    recalled, answered = done.stdout.split("\n\n")
    assert "Mean evidence-recall reward" in recalled
    assert "Words handed over a case (mean): bm25 " in " ".join(recalled.split())
    assert "Controls, not cut to the budget" not in recalled, "nothing here is longer than the budget"
    for name in ("bm25", "full_context", "no_memory", "last_conversation", "oracle"):
        assert name in recalled.split("┗")[0].split("└")[0]
        assert f"│ {name} " not in answered
    assert "Mean keyword-recall reward" in answered
    for name in ("echo", "abstain", "bluffer", "dump"):
        assert name in answered


@pytest.mark.parametrize("format", ["md", "json", "csv"])
def test_formats(recallbench: Any, suite: Path, format: str) -> None:
    done = recallbench("run", "-s", "bm25", "-s", "no_memory", "--suite", suite, "--format", format)
    assert done.returncode == 0, done.stderr
    if format == "md":
        assert "| Overall (mean over cases) | 1.00 n=4 | 0.00 n=4 |" in done.stdout
    elif format == "csv":
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        assert [(row["system"], row["mean"]) for row in rows if row["group"] == "overall"] == [
            ("bm25", "1.0"),
            ("no_memory", "0.0"),
        ]
        assert {row["scorer"] for row in rows} == {"evidence-recall"}
    else:
        assert overall(done)["bm25"]["mean"] == 1.0
        assert overall(done)["no_memory"]["mean"] == 0.0


def test_outputs_are_written_and_two_tables_share_a_text_file(
    recallbench: Any, suite: Path, tmp_path: Path
) -> None:
    done = recallbench("run", "-s", "bm25", "-s", "echo", "--suite", suite, "-o", "a.md", "-o", "a.txt")
    assert done.returncode == 0, done.stderr
    for name in ("a.md", "a.txt"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert "evidence-recall" in text
        assert "keyword-recall" in text


@pytest.mark.parametrize("flags", [("--format", "json"), ("-o", "out.csv")], ids=["format", "output"])
def test_a_format_that_holds_one_table_is_refused_for_two_before_any_work(
    recallbench: Any, suite: Path, tmp_path: Path, flags: tuple[str, ...]
) -> None:
    command = ("run", "-s", "bm25", "-s", "echo", "--suite", suite, *flags)
    done = recallbench(*command)
    assert done.returncode == 2
    assert "Name one with --scorer evidence-recall or --scorer keyword-recall." in done.stderr
    assert not (tmp_path / "runs").exists(), "it is said before anything is asked"
    assert not (tmp_path / "out.csv").exists()
    one = recallbench(*command, "--scorer", "keyword-recall")
    assert one.returncode == 0, one.stderr
    assert "questions asked: 8 now; kept in runs/" in one.stderr


def test_per_case_shows_the_matrix(recallbench: Any, suite: Path) -> None:
    done = recallbench("run", "-s", "bm25", "--suite", suite, "--per-case")
    assert [f"layer2_0{at}_fee" in done.stdout for at in range(1, 5)] == [True] * 4


# ---- what is asked --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flags", "asked"),
    [
        (("--case", "layer1_01_bank_account"), ["layer1_01_bank_account"]),
        (("--case", "layer1_*"), of_layer("layer1")),
        (("--case", "*_01_*,layer2_16*"), ["layer1_01_bank_account", "layer2_01_two_cars_service", "layer2_16_job_offer_terms", "layer3_01_passport_and_trip"]),
        (("--case", "layer1_01_bank_account, ,"), ["layer1_01_bank_account"]),
        (("--case", "layer1_01*", "--case", "layer3_12*"), ["layer1_01_bank_account", "layer3_12_solar_and_roof"]),
        (("--layer", "layer3"), of_layer("layer3")),
        (("--limit", "1"), ["layer1_01_bank_account", "layer2_01_two_cars_service", "layer3_01_passport_and_trip"]),
        (("--layer", "layer2", "--limit", "2"), of_layer("layer2")[:2]),
    ],
    ids=["one", "pattern", "list of patterns", "list with a comma too many", "repeated", "layer", "limit", "layer and limit"],
)  # fmt: skip
def test_which_cases_are_asked(
    recallbench: Any, tmp_path: Path, flags: tuple[str, ...], asked: list[str]
) -> None:
    done = recallbench("run", "-s", "no_memory", *flags)
    assert done.returncode == 0, done.stderr
    run = run_folder(tmp_path / "runs", "no_memory")
    assert list(manifest(run)["cases"]) == asked
    assert sorted(case for case, _ in answers(run)) == asked


def test_repeats_are_asked_each_in_a_space_of_its_own_and_averaged(
    recallbench: Any, suite: Path, tmp_path: Path
) -> None:
    done = recallbench(
        "run", "-s", "quick:Later", "--suite", suite, "--repeats", "3", "--format", "json", env=environment()
    )
    assert done.returncode == 0, done.stderr
    records = journal(run_folder(tmp_path / "runs", "quick:Later") / "answers.jsonl")
    assert len(records) == 4 * 3
    assert len({one["namespace"] for one in records}) == 12
    # The first repeat hands back both facts, the others only the fee.
    assert overall(done)["quick:Later"]["mean"] == pytest.approx((1 + 0.5 + 0.5) / 3)
    assert "Each case was asked 3 times; its reward is the mean over them." in done.stdout


def test_a_budget_cuts_what_is_read_except_for_controls(
    recallbench: Any, suite: Path, tmp_path: Path
) -> None:
    done = recallbench(
        "run", "-s", "bm25", "-s", "full_context", "--suite", suite, "--budget", "7", "--format", "json"
    )
    report = json.loads(done.stdout)
    words = {one["system"]: {case["words"] for case in one["cases"]} for one in report["systems"]}
    assert words["bm25"] == {7}
    assert min(words["full_context"]) > 7
    assert any("cut to 7 words" in note for note in report["notes"])


def test_recall_limit_is_what_a_system_is_asked_for(recallbench: Any, suite: Path, tmp_path: Path) -> None:
    recallbench("run", "-s", "quick:Quick", "--suite", suite, "--recall-limit", "2", env=environment())
    records = answers(run_folder(tmp_path / "runs", "quick:Quick"))
    assert {len(one["memories"]) for one in records.values()} == {2}


def test_reader_own_lets_a_system_that_can_write_its_answer(
    recallbench: Any, suite: Path, tmp_path: Path
) -> None:
    command = ("run", "-s", "quick:Writes", "-s", "quick:Quick", "--suite", suite)
    done = recallbench(*command, "--reader", "own", env=environment())
    assert done.returncode == 0, done.stderr
    recalled, answered = done.stdout.split("\n\n")
    assert "quick:Quick" in recalled
    assert "quick:Writes" in answered
    assert "1.00 n=4" in answered
    run = run_folder(tmp_path / "runs", "quick:Writes")
    assert {one["answer"] for one in answers(run).values()} == {"The fee is $45, due March 24."}
    assert manifest(run)["reader"]["kind"] == "own"


def test_gold_overrides_the_cases_facts_in_run_and_compare(
    recallbench: Any, suite: Path, tmp_path: Path
) -> None:
    facts = {f"layer2_{at:02}_fee": {"required_facts": ["no such thing"]} for at in range(1, 5)}
    (tmp_path / "gold.json").write_text(json.dumps(facts))
    flags = ("--suite", suite, "--format", "json")
    assert overall(recallbench("run", "-s", "bm25", *flags))["bm25"]["mean"] == 1.0
    golden = recallbench("run", "-s", "bm25", *flags, "--gold", "gold.json")
    assert golden.returncode == 0, golden.stderr
    assert overall(golden)["bm25"]["mean"] == 0.0


def test_settings_come_from_variables_and_flags_win(recallbench: Any, suite: Path, tmp_path: Path) -> None:
    env = {
        "RECALLBENCH_SUITE": str(suite),
        "RECALLBENCH_FORMAT": "json",
        "RECALLBENCH_SCORER": "keyword-recall",
    }
    done = recallbench("run", "-s", "echo", env=env)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["scorer"], report["suite"]["cases"]) == ("keyword-recall", 4)
    flagged = recallbench("run", "-s", "echo", "--format", "csv", "--scorer", "token-f1", env=env)
    assert "token-f1" in flagged.stdout.splitlines()[1]


def test_runs_go_where_they_are_told_to(recallbench: Any, suite: Path, tmp_path: Path) -> None:
    done = recallbench("run", "-s", "bm25", "--suite", suite, "--runs", "deep/down")
    assert "kept in deep/down/ (recallbench compare deep/down/)" in done.stderr
    assert run_folder(tmp_path / "deep/down", "bm25")
    assert not (tmp_path / "runs").exists()


def test_a_label_names_a_system_and_a_weird_one_harms_no_path(
    recallbench: Any, suite: Path, tmp_path: Path
) -> None:
    done = recallbench(
        "run",
        "-s",
        "../../up=bm25",
        "-s",
        "記憶=bm25(rounds=2)",
        "-s",
        "bm25",
        "--suite",
        suite,
        "--format",
        "json",
    )
    assert done.returncode == 0, done.stderr
    assert list(overall(done)) == ["../../up", "記憶", "bm25"]
    assert len(list((tmp_path / "runs").iterdir())) == 3
    assert manifest(run_folder(tmp_path / "runs", "記憶"))["system"]["spec"] == "bm25(rounds=2)"


def test_a_phase_limit_is_that_phases_only(recallbench: Any, suite: Path, tmp_path: Path) -> None:
    done = recallbench(
        "run", "-s", "slow=quick:Logged(ms=300)", "--suite", suite, "--limit", "1", "--timeout", "60",
        "--timeout", "ingest=0.4", env=environment(TEST_LOG=str(tmp_path / "log")),
    )  # fmt: skip
    assert done.returncode == 1, "nothing was measured"
    (record,) = answers(run_folder(tmp_path / "runs", "slow")).values()
    assert record["failure"]["kind"] == "timeout"
    assert record["failure"]["phase"] == "ingest", "both conversations together are held to it"
    assert "System errors by kind (never a score): slow 1 timeout." in done.stdout
    assert "– 0/1 [0.00–1.00]" in done.stdout


def test_a_limit_for_a_phase_wins_over_the_one_for_all_wherever_it_stands(
    recallbench: Any, suite: Path, tmp_path: Path
) -> None:
    done = recallbench(
        "run", "-s", "slow=quick:Logged(ms=300)", "--suite", suite, "--limit", "1", "--timeout", "ingest=60",
        "--timeout", "load=60", "--timeout", "0.5", env=environment(TEST_LOG=str(tmp_path / "log")),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (record,) = answers(run_folder(tmp_path / "runs", "slow")).values()
    assert record["outcome"] == "answered"


def test_dry_run_counts_and_leaves_nothing(recallbench: Any, suite: Path, tmp_path: Path) -> None:
    done = recallbench("run", "-s", "bm25", "--controls", "--suite", suite, "--repeats", "2", "--dry-run")
    assert done.returncode == 0, done.stderr
    row = next(line for line in done.stdout.splitlines() if line.startswith("│ bm25"))
    assert [cell.strip() for cell in row.strip("│").split("│")] == ["bm25", "4", "8", "16", "96", "592", "0"]
    oracle = next(line for line in done.stdout.splitlines() if line.startswith("│ oracle"))
    assert [cell.strip() for cell in oracle.strip("│").split("│")][3:5] == ["8", "16"], "only what is cited"
    assert "Nothing was done;" in done.stdout
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("systems", [("bm25",), ("bm25", "a-label-that-goes-on-and-on=no_memory")])
def test_the_plan_keeps_to_the_terminal(recallbench: Any, suite: Path, systems: tuple[str, ...]) -> None:
    asked = [word for name in systems for word in ("-s", name)]
    done = recallbench("run", *asked, "--controls", "--suite", suite, "--dry-run", columns=80)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    row = next(line for line in lines if line.startswith("│ bm25"))
    assert [cell.strip() for cell in row.strip("│").split("│")] == ["bm25", "4", "4", "8", "48", "296", "0"]


# ---- what is refused ------------------------------------------------------------------

REFUSED: dict[str, tuple[tuple[str, ...], str]] = {
    "no system": ((), "no system to run. Name one with --system; `recallbench systems` lists them."),
    "unknown system": (("-s", "bm52"), "--system bm52: no such system. Did you mean bm25?"),
    "empty name": (("-s", ""), "names nothing"),
    "label twice": (("-s", "a=bm25", "-s", "a=oracle"), "two systems are called a. Give one of them another label: --system OTHER=oracle."),
    "system twice": (("-s", "bm25", "-s", "bm25"), "two systems are called bm25."),
    "unknown option": (("-s", "bm25(speed=3)"), "speed: "),
    "wrong option": (("-s", "bm25(rounds='x')"), "rounds: Input should be a valid integer"),
    "options not closed": (("-s", "bm25(rounds=2"), "cannot read the options. Write bm25(option=value)"),
    "timeout of nothing": (("-s", "bm25", "--timeout", "sing=3"), "PHASE=seconds with one of load, open"),
    "timeout no number": (("-s", "bm25", "--timeout", "soon"), "--timeout soon: expected seconds above 0"),
    "timeout zero": (("-s", "bm25", "--timeout", "0"), "expected seconds above 0"),
    "timeout nan": (("-s", "bm25", "--timeout", "recall=nan"), "expected seconds above 0"),
    "timeout inf": (("-s", "bm25", "--timeout", "inf"), "expected seconds above 0"),
    "option that is out of range": (("-s", "simple_notes(steps=99)"), "steps: Input should be less than or equal to 15"),
    "no such module": (("-s", "nomod:X"), "No module named 'nomod'"),
    "over no strategy": (("-s", "bm25(over='nope')"), "over nope: no such strategy."),
    "over anybody's code": (("-s", "bm25(over='quick:Quick')"), "over quick:Quick: no such strategy."),
    "required option": (("-s", "command"), "run: Field required"),
    "answers of memories": (("-s", "bm25", "-s", "oracle", "--scorer", "keyword-recall"), "hold memories and no answers. Use --scorer evidence-recall, or have a model answer: run --reader llm."),
    "matches of memories": (("-s", "bm25", "--scorer", "exact-match"), "--scorer exact-match: these runs hold memories"),
    "unknown case": (("-s", "bm25", "--case", "layer2_99_fee"), "there is no case 'layer2_99_fee'"),
    "pattern without a case": (("-s", "bm25", "--case", "nothing*"), "there is no case 'nothing*'"),
    "a list of nothing": (("-s", "bm25", "--case", ","), "no case in ,"),
    "empty layer": (("-s", "bm25", "--layer", "layer3"), "no case in layer3"),
    "bad scorer": (("-s", "bm25", "--scorer", "keyword-recal"), "Did you mean keyword-recall?"),
    "bad budget": (("-s", "bm25", "--budget", "0"), "'--budget'"),
    "bad share": (("-s", "bm25", "--max-errors", "1.5"), "not in the range from 0 to 1"),
    "bad executor": (("-s", "bm25", "--executor", "clouds"), "--executor clouds"),
    "bad ending": (("-s", "bm25", "-o", "out.docx"), ".txt, .md"),
    "runs is a file": (("-s", "bm25", "--runs", "file"), "file"),
    "below a file": (("-s", "bm25", "--runs", "file/runs"), "cannot be made: Not a directory"),
    "no model": (("-s", "bm25", "--reader", "llm"), "no key is set"),
    "no such suite": (("-s", "bm25", "--suite", "gone"), "gone"),
    "no such gold": (("-s", "bm25", "--gold", "gone.json"), "gone.json"),
}  # fmt: skip


@pytest.mark.parametrize(("flags", "said"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_done_gets_one_clear_message(
    inside: Any, suite: Path, tmp_path: Path, flags: tuple[str, ...], said: str
) -> None:
    (tmp_path / "file").write_text("")
    for dry in ((),) if "--runs" in flags else ((), ("--dry-run",)):
        done = inside("run", *([] if "--suite" in flags else ["--suite", suite]), *flags, *dry)
        assert done.returncode == 2, done.stderr
        assert said in done.stderr
        assert "Traceback" not in done.stderr
        assert "internal error" not in done.stderr
        assert done.stdout == ""
        assert not (tmp_path / "runs").exists(), "nothing was begun"


def test_a_system_that_is_not_installed_names_the_command_that_brings_it(
    recallbench: Any, suite: Path, tmp_path: Path
) -> None:
    # An interpreter that cannot find it, whether or not it is installed here.
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Hide:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'mem0': raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Hide())\n"
    )
    done = recallbench("run", "-s", "mem0", "--suite", suite, env={"PYTHONPATH": str(tmp_path)})
    assert done.returncode == 2
    assert done.stderr == (
        "recallbench: --system mem0: needs mem0, which is not installed. pip install 'recallbench[mem0]'.\n"
    )


def test_fail_under_is_a_gate_after_the_table(recallbench: Any, suite: Path) -> None:
    done = recallbench("run", "-s", "bm25", "-s", "no_memory", "--suite", suite, "--fail-under", "0.5")
    assert done.returncode == 1
    assert "Overall" in done.stdout
    assert "no_memory 0 (4/4 scored)" in done.stderr
    assert "bm25 1" not in done.stderr


# ---- start-up and the terminal --------------------------------------------------------

THIRD_PARTY = ("aiohttp", "numpy", "openai", "mem0", "chromadb", "langgraph", "langmem", "llama_index", "graphiti_core", "mcp", "scipy", "jinja2")  # fmt: skip


@pytest.mark.parametrize(
    "args", [["run", "--help"], ["systems"], ["systems", "bm25"], ["runs", "--help"]], ids=" ".join
)
def test_what_asking_for_help_loads(args: list[str]) -> None:
    code = (
        "import sys, json\n"
        "from harness.cli.main import run\n"
        f"status = run({args!r})\n"
        "print('\\n' + json.dumps([status, sorted(sys.modules)]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    status, modules = json.loads(done.stdout.splitlines()[-1])
    assert status == 0
    assert sorted(set(THIRD_PARTY) & set(modules)) == []


def test_a_bar_shows_on_a_terminal_and_leaves_nothing_behind(suite: Path, tmp_path: Path) -> None:
    import pexpect
    import pyte

    screen = pyte.Screen(100, 40)
    stream = pyte.Stream(screen)
    env = {
        **os.environ, "TERM": "xterm-256color", "PYTHONUTF8": "1",
        **environment(TEST_LOG=str(tmp_path / "log.txt")),
    }  # fmt: skip
    env.pop("COLUMNS", None)
    args = [
        "-m",
        "harness",
        "run",
        "-s",
        "slow=quick:Logged(ms=150)",
        "--suite",
        str(suite),
        "--concurrency",
        "1",
    ]
    child = pexpect.spawn(
        sys.executable, args, env=env, dimensions=(40, 100), encoding="utf-8", timeout=60, cwd=str(tmp_path)
    )
    seen = ""
    while True:
        try:
            stream.feed(child.read_nonblocking(65536, timeout=30))
        except pexpect.EOF:
            break
        shown = "\n".join(screen.display)
        seen = shown if "running" in shown and "/4" in shown and "slow · layer2" in shown else seen
    child.close()
    assert child.exitstatus == 0
    assert seen, "no bar was ever on the screen"
    left = "\n".join(line.rstrip() for line in screen.display).strip()
    assert left.startswith("┏"), left
    assert "running" not in left
    assert left.splitlines()[-1].startswith("questions asked: 4 now")


TELLING = """
class Telling:
    def __init__(self, space):
        self.said = []

    def ingest(self, conversation):
        self.said += [message.text for message in conversation.messages]

    def answer(self, question):
        return {"answer": "no idea", "memory": self.said}
"""


def test_memory_that_an_answering_system_tells_of_is_held_to_the_budget(
    recallbench: Any, tmp_path: Path, write_suite: Any
) -> None:
    write_suite("layer1_01_fee")
    (tmp_path / "telling.py").write_text(TELLING, encoding="utf-8")
    args = ("run", "--system", "own=telling:Telling", "--suite", "suite", "--scorer", "evidence-recall")
    assert "1.00 n=1" in recallbench(*args, "--runs", "all").stdout
    few = recallbench(*args, "--runs", "few", "--budget", "3")
    assert "0.00 n=1" in few.stdout
    assert "Words handed over a case (mean): own 3." in few.stdout


def test_another_model_is_another_run_for_a_system_of_ones_own(
    recallbench: Any, tmp_path: Path, write_suite: Any
) -> None:
    write_suite("layer1_01_fee")
    (tmp_path / "telling.py").write_text(TELLING, encoding="utf-8")
    for model in ("one", "two", "one"):
        done = recallbench(
            "run", "-s", "telling:Telling", "--suite", "suite", "--base-url", "http://127.0.0.1:9/v1", "--model", model
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    runs = list((tmp_path / "runs").iterdir())
    assert len(runs) == 2
    models = {json.loads((run / "manifest.json").read_text())["system"]["model"] for run in runs}
    assert models == {"local/one", "local/two"}
