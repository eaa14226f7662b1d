"""The package: what it exports, and that a wheel carries what a checkout has."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import harness


def test_all_is_what_can_be_imported() -> None:
    assert len(set(harness.__all__)) == len(harness.__all__)
    for name in harness.__all__:
        assert getattr(harness, name) is not None
    assert dir(harness) == sorted(harness.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = harness.nothing


def test_every_public_name_is_documented() -> None:
    page = (Path(__file__).parents[1] / "docs" / "python-api.md").read_text(encoding="utf-8")
    assert [name for name in harness.__all__ if f"`{name}" not in page] == []
    undocumented = [
        name
        for name in harness.__all__
        if name != "PASS_THRESHOLD" and not (getattr(harness, name).__doc__ or "").strip()
    ]
    assert undocumented == []


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel and unpack it far from the checkout."""
    root = Path(__file__).parents[1]
    out = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)],
        cwd=root, check=True, capture_output=True,
    )  # fmt: skip
    (wheel,) = out.glob("*.whl")
    site = out / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    return site


def _run(site: Path, *args: str) -> subprocess.CompletedProcess[str]:
    # The path in front keeps an editable install from answering for the wheel.
    code = (
        f"import sys; sys.path.insert(0, {str(site)!r})\n"
        f"from harness.cli.main import main; main({list(args)!r})"
    )
    return subprocess.run(
        [sys.executable, "-c", code], cwd=site.parent, capture_output=True, text=True, check=False,
        env={**os.environ, "COLUMNS": "100", "PYTHONUTF8": "1"},
    )  # fmt: skip


def test_the_wheel_brings_cases_fixtures_and_prompts(installed: Path) -> None:
    bundled = installed / "harness" / "_bundled"
    root = Path(__file__).parents[1]
    for folder in ("test_cases", "fixtures", "prompts"):
        here = {path.relative_to(root / folder) for path in (root / folder).rglob("*") if path.is_file()}
        there = {
            path.relative_to(bundled / folder) for path in (bundled / folder).rglob("*") if path.is_file()
        }
        assert here == there
    assert not list(installed.glob("tests*"))


def test_the_installed_wheel_prints_the_same_table(installed: Path) -> None:
    from_wheel = _run(installed, "compare", "--format", "json")
    assert from_wheel.returncode == 0, from_wheel.stderr
    report = json.loads(from_wheel.stdout)
    assert str(installed) in report["suite"]["path"]
    from_checkout = subprocess.run(
        [sys.executable, "-m", "harness", "compare", "--format", "json"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert report["systems"] == json.loads(from_checkout.stdout)["systems"]
    assert report["suite"]["hash"] == json.loads(from_checkout.stdout)["suite"]["hash"]
