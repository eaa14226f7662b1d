"""The HTML report of the bundled suite by eight systems: how long it takes to make, to show, to filter."""

from __future__ import annotations

import runpy
import time
from pathlib import Path
from typing import Any

import pytest

from harness.comparison import compare
from harness.report.html.render import render_report
from harness.suite import load_suite

ROOT = Path(__file__).parents[2]
HELP = runpy.run_path(str(ROOT / "tests/report/html/conftest.py"))
WORDS = ("card", "number", "march", "no such word")

# Milliseconds from the start of loading until a box of the first table is on the screen.
FIRST_TABLE = """() => new Promise(done => {
  const seen = () => {
    const box = document.querySelector('#by-layer')?.getBoundingClientRect();
    box && box.height ? done(performance.now()) : requestAnimationFrame(seen);
  };
  seen();
})"""
# Milliseconds from a key press to the next frame painted after it, layout included.
FILTER = """text => new Promise(done => {
  const box = document.getElementById('f-text');
  const start = performance.now();
  box.value = text;
  box.dispatchEvent(new Event('input', { bubbles: true }));
  document.body.offsetHeight;
  const ran = performance.now() - start;
  requestAnimationFrame(() => setTimeout(() => done([ran, performance.now() - start])));
})"""
OPEN = """at => new Promise(done => {
  const start = performance.now();
  addEventListener('hashchange', () => requestAnimationFrame(() => setTimeout(() => done(performance.now() - start))), { once: true });
  location.hash = '#case=' + encodeURIComponent(JSON.parse(document.getElementById('index').textContent).cases[at].id);
})"""


@pytest.mark.benchmark
def test_the_page_is_quick(tmp_path: Path) -> None:
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if HELP["CHROMIUM"] is None:
        pytest.skip("Chromium is not installed")
    suite = load_suite(ROOT / "test_cases")
    answers = HELP["synthetic"](suite)
    comparison = compare(suite, answers)
    start = time.perf_counter()
    html = render_report(comparison, suite, answers=answers)
    made = time.perf_counter() - start
    file = tmp_path / "report.html"
    file.write_text(html, encoding="utf-8")
    print(
        f"\n{len(suite)} cases by {len(answers)} systems: {len(html.encode()) / 1e6:.1f} MB, made in {made:.1f} s"
    )
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=HELP["CHROMIUM"], args=list(HELP["FLAGS"]))
        shown = min(_first_table(browser, file) for _ in range(3))
        page = browser.new_page()
        page.goto(file.as_uri())
        cold = page.evaluate(FILTER, "insurance")  # at once: the words of the cases are not gathered yet
        page.wait_for_timeout(3_000)
        warm = [page.evaluate(FILTER, text) for text in WORDS * 3]
        opened = [page.evaluate(OPEN, at) for at in range(0, len(suite), 7)]
        browser.close()
    slowest, painted = max(ran for ran, _ in warm), max(frame for _, frame in warm)
    print(f"first table: {shown:.0f} ms")
    print(
        f"filter: {slowest:.1f} ms at most, {painted:.0f} ms until painted; the very first {cold[0]:.0f} ms"
    )
    print(f"a case's page: {max(opened):.0f} ms at most")
    assert len(html.encode()) < 8_000_000
    assert shown < 1_000
    assert slowest < 100


def _first_table(browser: Any, file: Path) -> float:
    page = browser.new_page()
    page.goto(file.as_uri(), wait_until="commit")
    taken: float = page.evaluate(FIRST_TABLE)
    page.close()
    return taken
