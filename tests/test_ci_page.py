"""docs/ci.md: its commands are run as they stand there, and exit as the page says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest
import yaml

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/ci.md").read_text(encoding="utf-8")
WORKFLOW, HOOKS = (yaml.safe_load(block) for block in re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.M | re.S))
BASELINE = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.M | re.S)
SUITE = ".suite"
"""A part of the bundled suite, which stands for the whole: eighteen cases."""
STEPS = WORKFLOW["jobs"]["recall"]["steps"]


def run(command: str, folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a step as GitHub's runner does."""
    binaries = str(Path(sys.executable).parent)
    return subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", command],
        cwd=folder, capture_output=True, text=True, encoding="utf-8", timeout=300, check=False,
        env={**os.environ, "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}", "PYTHONUTF8": "1",
             "RECALLBENCH_SUITE": SUITE, **env},
    )  # fmt: skip


def ours() -> list[tuple[str, str]]:
    return [(step["name"], step["run"]) for step in STEPS if "run" in step and step["name"] != "Install"]


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the repository that the page speaks of: a memory and its baseline."""
    folder = tmp_path_factory.mktemp("repository")
    for layer in ("layer1", "layer2", "layer3"):
        (folder / SUITE / layer).mkdir(parents=True)
        for case in sorted((ROOT / "test_cases" / layer).glob("*.yaml"))[:6]:
            shutil.copy(case, folder / SUITE / layer)
    assert run("recallbench init adapter my_memory", folder).returncode == 0
    (block,) = BASELINE
    done = run(block, folder)
    assert done.returncode == 0, done.stderr
    verified = run("recallbench verify baseline.json runs/", folder)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    shutil.rmtree(folder / "runs")
    return folder


def test_the_steps_are_the_ones_that_the_page_promises() -> None:
    assert [step.get("name") or step["uses"].partition("@")[0] for step in STEPS] == [
        "actions/checkout", "actions/setup-python", "Install", "Run", "Gate", "Report", "actions/upload-artifact",
    ]  # fmt: skip
    assert STEPS[2]["run"].startswith("python -m pip install")
    assert [step.get("if") for step in STEPS[-2:]] == ["always()"] * 2


def test_an_unchanged_memory_passes_and_everything_to_upload_is_there(
    repository: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(repository, tmp_path / "work")
    summary = tmp_path / "summary.md"
    for name, command in ours():
        done = run(command, folder, GITHUB_STEP_SUMMARY=str(summary))
        assert done.returncode == 0, f"{name}: {done.stderr}"
    uploaded = STEPS[-1]["with"]["path"].split()
    assert all((folder / name).stat().st_size for name in uploaded)
    assert Xml.parse(folder / "junit.xml").getroot()[0].get("name") == "memory"
    assert "| Overall (mean over cases) |" in summary.read_text(encoding="utf-8")


def test_a_memory_that_forgets_is_stopped_at_the_gate_and_still_reported(
    repository: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(repository, tmp_path / "work")
    memory = folder / "my_memory.py"
    memory.write_text(
        memory.read_text().replace("return ranked[: min(limit, self.most)]", "return ranked[:1]")
    )
    statuses: dict[str, Any] = {}
    for name, command in ours():
        done = run(command, folder, GITHUB_STEP_SUMMARY=str(tmp_path / "summary.md"))
        statuses[name] = done.returncode
        if name == "Gate":
            gates = re.findall(r"^::error title=(\S+ \S+) not met::", done.stdout, re.M)
            assert gates == [
                "--fail-under memory=0.1",
                "--fail-under memory%3Alayer1=0.15",
                "--not-below baseline.json",
            ]
            assert "--not-below baseline.json not met: memory" in done.stderr
    assert statuses == {"Run": 0, "Gate": 1, "Report": 0}
    assert "❌" in (tmp_path / "summary.md").read_text(encoding="utf-8")


def test_the_hooks_pass_on_a_sound_suite_and_fail_on_a_broken_one(repository: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(repository, tmp_path / "work")
    case = folder / "my_suite/layer1/01_bank_account.yaml"
    case.parent.mkdir(parents=True)
    shutil.copy(ROOT / "test_cases/layer1/01_bank_account.yaml", case)
    entries = {hook["id"]: hook["entry"] for hook in HOOKS["repos"][0]["hooks"]}
    for entry in entries.values():
        done = run(entry, folder)
        assert done.returncode == 0, done.stderr
    case.write_text(
        case.read_text(encoding="utf-8").replace("user_question:", "question:", 1), encoding="utf-8"
    )
    assert run(entries["recallbench-suite"], folder).returncode == 2
    memory = folder / "my_memory.py"
    memory.write_text(memory.read_text().replace("return ranked[: min(limit, self.most)]", "return []"))
    assert run(entries["recallbench-memory"], folder).returncode == 1
