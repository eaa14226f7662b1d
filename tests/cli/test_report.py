"""`recallbench report`: formats, files, and what is opened."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pexpect
import pytest

from tests.cli.systems import write_cases


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run two systems over a suite, once for all tests."""
    folder = tmp_path_factory.mktemp("ready")
    write_cases(folder / "suite", 3, talks=2)
    subprocess.run(
        [sys.executable, "-m", "harness", "run", "--suite", "suite", "-s", "bm25", "-s", "no_memory"],
        cwd=folder, check=True, capture_output=True, timeout=120, env={**os.environ, "PYTHONUTF8": "1"},
    )  # fmt: skip
    return folder


@pytest.fixture
def here(ready: Path, tmp_path: Path) -> Path:
    shutil.copytree(ready, tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_without_options_it_writes_a_page(here: Path, recallbench: Any) -> None:
    done = recallbench("report", "runs")
    assert done.returncode == 0, done.stderr
    assert (done.stdout, done.stderr) == ("", "wrote report.html\n")
    page = (here / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") or page.startswith("<!DOCTYPE html>")
    assert "layer2_01_fee" in page
    assert "bm25" in page
    again = recallbench("report", "runs", "--format", "html")
    assert again.returncode == 0, again.stderr


def test_other_formats_are_printed(here: Path, inside: Any) -> None:
    printed = {
        format: inside("report", "runs", "--format", format) for format in ("md", "json", "csv", "junit")
    }
    assert all(done.returncode == 0 for done in printed.values())
    assert "| Overall (mean over cases) | 1.00 n=3 | 0.00 n=3 |" in printed["md"].stdout
    assert [one["system"] for one in json.loads(printed["json"].stdout)["systems"]] == ["bm25", "no_memory"]
    assert {row["system"] for row in csv.DictReader(io.StringIO(printed["csv"].stdout))} == {
        "bm25",
        "no_memory",
    }
    assert [suite.get("tests") for suite in Xml.fromstring(printed["junit"].stdout)] == ["3", "3"]
    assert not (here / "report.html").exists()


def test_outputs_go_by_their_ending_and_nothing_is_printed(here: Path, inside: Any) -> None:
    names = ["a.html", "a.md", "a.json", "a.csv", "a.xml"]
    done = inside("report", "runs", *(part for name in names for part in ("-o", name)))
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert all((here / name).stat().st_size for name in names)
    assert Xml.parse(here / "a.xml").getroot().tag == "testsuites"
    assert not (here / "report.html").exists()


def test_a_format_and_an_output(here: Path, inside: Any) -> None:
    done = inside("report", "runs", "--format", "md", "-o", "a.json")
    assert done.stdout.startswith("| Layer |")
    assert json.loads((here / "a.json").read_text())["schema"].startswith("recallbench.comparison")
    done = inside("report", "runs", "--format", "html", "-o", "mine.html")
    assert (done.returncode, (here / "report.html").exists()) == (0, False)


def test_compare_and_run_write_the_same_formats(here: Path, inside: Any) -> None:
    done = inside("compare", "runs", "--format", "junit", "-o", "c.html", "-o", "c.xml")
    assert done.returncode == 0, done.stderr
    assert done.stdout == (here / "c.xml").read_text(encoding="utf-8")
    assert "bm25" in (here / "c.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("gone",), "gone: no such folder"),
        (("suite",), "holds no run"),
        (("runs", "-o", "a.docx"), ".html, .xml"),
        (("runs", "-o", "no/a.html"), "there is no folder"),
        (("runs", "--open", "-o", "a.md"), "--open shows the HTML report"),
        (("runs", "--format", "md", "--open"), "--open shows the HTML report"),
        (("runs", "--format", "github"), "'github' is not one of"),
        (("runs", "--layer", "layer3"), "no case in layer3"),
        ((), "Missing argument"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_cannot_be_reported(here: Path, inside: Any, flags: tuple[str, ...], said: str) -> None:
    done = inside("report", *flags)
    assert done.returncode == 2
    assert said in done.stderr
    assert not (here / "report.html").exists()


def test_a_page_of_another_origin_is_not_overwritten_unless_it_is_named(here: Path, inside: Any) -> None:
    (here / "report.html").write_text("<p>mine</p>")
    done = inside("report", "runs")
    assert done.returncode == 2
    assert "is no report of ours" in done.stderr
    assert (here / "report.html").read_text() == "<p>mine</p>"
    assert inside("report", "runs", "-o", "report.html").returncode == 0
    assert inside("report", "runs").returncode == 0


def test_recall_and_answers_do_not_fit_into_one_page(here: Path, inside: Any) -> None:
    assert inside("run", "--suite", "suite", "-s", "echo").returncode == 0
    done = inside("report", "runs")
    assert done.returncode == 2
    assert "Name one with --scorer evidence-recall or --scorer keyword-recall." in done.stderr
    assert inside("report", "runs", "--scorer", "keyword-recall").returncode == 0


def test_the_page_is_opened_on_a_terminal_only(here: Path, recallbench: Any) -> None:
    browser = here / "browser"
    browser.write_text('#!/bin/sh\necho "$1" >> opened.txt\n')
    browser.chmod(0o755)
    env = {"BROWSER": f"{browser} %s"}
    done = recallbench("report", "runs", "--open", env=env)
    assert done.returncode == 0
    assert "not opened, since this is no terminal" in done.stderr
    assert not (here / "opened.txt").exists()
    terminal = pexpect.spawn(
        sys.executable, ["-m", "harness", "report", "runs", "--open", "-o", "a b.html"],
        cwd=here, env={**os.environ, **env}, encoding="utf-8", timeout=60,
    )  # fmt: skip
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 0
    assert (here / "opened.txt").read_text().strip() == (here / "a b.html").as_uri()


def test_runs_of_two_suites_in_one_folder(here: Path, inside: Any, recallbench: Any) -> None:
    for case in write_cases(here / "taxes", 2).rglob("*_fee.yaml"):
        text = case.read_text(encoding="utf-8").replace("_fee", "_tax")
        case.with_name(case.name.replace("_fee", "_tax")).write_text(text, encoding="utf-8")
        case.unlink()
    done = recallbench("run", "--suite", "taxes", "-s", "bm25")
    assert done.returncode == 0, done.stderr
    either = inside("compare", "runs")
    assert either.returncode == 2
    assert "the runs are over 2 suites: " in either.stderr
    assert either.stderr.endswith("Name one with --suite.\n")
    for suite, n, systems in (("suite", 3, {"bm25", "no_memory"}), ("taxes", 2, {"bm25"})):
        one = inside("compare", "runs", "--suite", suite, "--format", "json")
        assert one.returncode == 0, one.stderr
        assert "left out, since none of their cases is in" in one.stderr
        told = json.loads(one.stdout)
        assert {row["system"] for row in told["systems"]} == systems
        assert len(told["systems"][0]["cases"]) == n
