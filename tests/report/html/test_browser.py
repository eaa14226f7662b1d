"""The page in a real Chromium: nothing is asked for, nothing of others runs, keys are enough."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.report.html.conftest import make

ROOT = Path(__file__).parents[3]
AXE = ROOT / "node_modules/axe-core/axe.min.js"
WriteSuite = Callable[..., Path]
LARGEST = 8_000_000


def shown(page: Any) -> list[str]:
    found: list[str] = page.locator("#matrix tbody tr:visible small").all_inner_texts()
    return [text for text in found if text.startswith("layer")]


def test_a_small_report_says_and_asks_nothing(small: Any, open_page: Callable[..., Any]) -> None:
    opened = open_page(small.html)
    for case in ("layer1_01_fee", "layer1_02_fee", "layer2_01_fee"):
        opened.go(f"#case={case}")
        assert opened.page.locator("#page h2").inner_text() == f"Title of {case}"
        for folded in opened.page.locator("#page summary").all():
            folded.click()
    opened.go("#cases")
    assert opened.page.locator("#overview").is_visible()
    opened.check()


def test_a_case_page_marks_what_was_found_and_where_it_was_said(
    small: Any, open_page: Callable[..., Any]
) -> None:
    opened = open_page(small.html, fragment="#case=layer1_01_fee")
    text = opened.page.locator(".answer .text mark")
    assert [mark.get_attribute("class") for mark in text.all()] == [
        "m-found",
        "m-found",
        "m-wrong",
        "m-found",
    ]
    evidence = opened.page.locator(".talk .cited mark")
    assert [
        (one.get_attribute("class"), one.evaluate("node => node.firstChild.data")) for one in evidence.all()
    ] == [
        ("m-found", "$45"),
        ("m-wrong", "$30"),
        ("m-found", "Monday, March 24, 2025"),
        ("m-wrong", "$99"),
    ]
    opened.page.get_by_role("button", name="conv_001 #3").click()
    assert opened.page.evaluate("document.activeElement.id") == "m-0-3"
    opened.page.get_by_text("Recalled: 2 memories").first.click()
    assert "The fee is $45" in opened.page.locator(".memories").first.inner_text()
    opened.check()


@pytest.mark.parametrize("width", [1280, 390])
def test_hostile_texts_are_shown_and_never_run(
    hostile: Any, open_page: Callable[..., Any], payloads: Any, width: int
) -> None:
    opened = open_page(hostile.html, width=width)
    page = opened.page
    title = page.title()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    opened.go("#case=layer1_01_fee")
    for folded in page.locator("#page summary").all():
        folded.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    body = page.locator("#page").inner_text()
    assert [payload for payload in payloads if payload not in body] == []
    assert "[U+202E]" in body
    assert page.title() == title
    assert page.locator("img, iframe, object, embed, form[action], svg[onload], b[onclick]").count() == 0
    opened.check()


def test_a_name_cannot_turn_the_text_beside_it(hostile: Any, open_page: Callable[..., Any]) -> None:
    page = open_page(hostile.html).page
    directions = page.locator("bdi").evaluate_all(
        "nodes => [...new Set(nodes.map(node => getComputedStyle(node).unicodeBidi))]"
    )
    assert directions == ["isolate"]


def test_a_foreign_script_is_refused_by_the_policy(small: Any, open_page: Callable[..., Any]) -> None:
    added = small.html.replace(
        "</main>", "</main><script>document.title='pwned'</script><p style='color:red'>x</p>"
    )
    opened = open_page(added)
    assert opened.page.title() != "pwned"
    assert len(opened.said) == 2
    assert all("Content Security Policy" in said for said in opened.said)


def test_filters_work_by_keyboard(small: Any, open_page: Callable[..., Any]) -> None:
    opened = open_page(small.html)
    page, press = opened.page, opened.page.keyboard.press
    press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.locator("#f-text").focus()
    page.keyboard.type("layer2_01")
    assert shown(page) == ["layer2_01_fee"]
    assert page.locator("#count").inner_text() == "1 of 3 cases"
    press("Control+A")
    press("Delete")
    for name, keys, expected in (
        ("f-layer", "layer2", ["layer2_01_fee"]),
        ("f-layer", "", ["layer1_01_fee", "layer1_02_fee", "layer2_01_fee"]),
        ("f-outcome", "system error", ["layer1_02_fee"]),
        ("f-system", "good", []),
        ("f-outcome", "passed", ["layer1_01_fee", "layer1_02_fee"]),
    ):
        page.locator(f"#{name}").focus()
        if keys:
            page.keyboard.type(keys)
        else:
            press("Home")
        assert shown(page) == expected, (name, keys)
    assert page.locator("#matrix thead th:visible").count() == 2
    page.get_by_role("button", name="Clear").focus()
    press("Enter")
    page.wait_for_timeout(50)
    assert len(shown(page)) == 3
    page.locator("#matrix tbody a").first.focus()
    press("Enter")
    page.wait_for_timeout(50)
    assert page.evaluate("document.activeElement.tagName") == "H2"
    opened.check()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("may be", ["layer2_01_fee"]),  # an answer
        ("it was $30.", ["layer1_02_fee"]),  # a memory
        ("no reply", ["layer1_02_fee"]),  # an error
        ("other ACCOUNT", ["layer1_01_fee", "layer1_02_fee", "layer2_01_fee"]),  # a conversation
        ("nowhere", []),
    ],
)
def test_search_reaches_every_text(
    small: Any, open_page: Callable[..., Any], words: str, expected: list[str]
) -> None:
    page = open_page(small.html).page
    page.locator("#f-text").fill(words)
    assert shown(page) == expected


def test_tables_sort_and_say_so(small: Any, open_page: Callable[..., Any]) -> None:
    opened = open_page(small.html)
    page = opened.page
    head = page.locator("#by-layer th", has_text="Passed")
    for expected, first in (("descending", "good"), ("ascending", "stale")):
        head.locator("button").press("Enter")
        assert head.get_attribute("aria-sort") == expected
        assert page.locator("#by-layer tbody th bdi").first.inner_text() == first
    assert (
        page.locator("#by-layer [aria-sort=none]").count() == page.locator("#by-layer th button").count() - 1
    )
    matrix = page.locator("#matrix th", has_text="stale").locator("button")
    for _ in range(2):
        matrix.click()
        assert shown(page)[0] == "layer1_01_fee"  # the only one with a reward: nothing known stands last
    opened.check()


def test_a_fragment_that_names_nothing_shows_the_overview(small: Any, open_page: Callable[..., Any]) -> None:
    for fragment in ("#case=gone", "#case=%E0%A4%A", "#case=__proto__"):
        opened = open_page(small.html, fragment=fragment)
        assert opened.page.locator("#overview").is_visible()
        opened.check()


def test_without_scripts_the_answers_are_there_in_short(
    small: Any, chromium: Callable[..., Any], tmp_path: Path
) -> None:
    file = tmp_path / "report.html"
    file.write_text(small.html, encoding="utf-8")
    browser = chromium("--blink-settings=scriptEnabled=false")
    page = browser.new_page()
    page.goto(file.as_uri())
    assert page.locator("noscript table").is_visible()
    assert "The fee may be $45 or $99." in page.locator("noscript td").all_inner_texts()
    assert page.locator("#filter").is_hidden()
    browser.close()


def test_paper_shows_what_is_folded(small: Any, open_page: Callable[..., Any]) -> None:
    opened = open_page(small.html, fragment="#case=layer1_01_fee")
    page = opened.page
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#page details:not([open], .recalled)").count() == 0
    assert page.locator(".turn").is_hidden()
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("#page details:not([open])").count() > 0
    assert len(page.pdf()) > 10_000
    opened.check()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("fragment", ["", "#case=layer1_01_bank_account"], ids=["overview", "case"])
def test_axe_finds_nothing_serious(
    whole: Any, open_page: Callable[..., Any], dark: bool, fragment: str
) -> None:
    look_with_axe(open_page(whole.html, dark=dark, fragment=fragment, trusted=True).page)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("fragment", ["", "#case=layer1_01_fee"], ids=["overview", "case"])
def test_axe_finds_nothing_serious_in_runs_with_all_unfolded(
    ran: Any, open_page: Callable[..., Any], dark: bool, fragment: str
) -> None:
    page = open_page(ran.html, dark=dark, fragment=fragment, trusted=True).page
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    if fragment:  # what is folded is made when it opens
        page.locator(".memories .unread").wait_for()
    look_with_axe(page)


@pytest.mark.parametrize("width", [1280, 390])
def test_long_names_stay_in_their_column(small: Any, open_page: Callable[..., Any], width: int) -> None:
    names = ["contextual-cards-with-hybrid-v2", "w" * 31, "retrieval(budget=1000,rounds=3)"]
    answers = dict.fromkeys(names, small.answers["good"])
    page = open_page(make(small.suite, answers).html, width=width).page
    assert page.locator("#costs figure").count() == 3
    outside = page.evaluate(
        "[...document.querySelectorAll('#costs figure')].filter(one => one.scrollWidth > one.clientWidth).length"
    )
    assert outside == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def look_with_axe(page: Any) -> None:
    """Hold a page to axe, all of whose serious findings fail the test."""
    if not AXE.exists():
        pytest.skip("axe-core is not installed (npm install --no-save axe-core)")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run().then(result => result.violations)")
    serious = [
        (one["id"], one["impact"], [node["html"][:200] for node in one["nodes"][:3]])
        for one in found
        if one["impact"] in ("serious", "critical")
    ]
    assert serious == [], json.dumps(serious, indent=1)


def test_the_whole_suite_by_eight_systems_stays_small_and_quiet(
    whole: Any, open_page: Callable[..., Any]
) -> None:
    assert len(whole.html.encode()) < LARGEST
    opened = open_page(whole.html)
    rows = opened.page.locator("#matrix tbody tr").count()
    assert rows == len(whole.suite)
    opened.page.locator("#matrix tbody a").last.click()
    assert opened.page.locator(".answer").count() == 8
    opened.check()


def test_answers_of_every_outcome_are_in_the_bars(small: Any, open_page: Callable[..., Any]) -> None:
    bars = open_page(small.html).page.locator(".outcomes tbody tr")
    assert (
        bars.nth(1).locator("td").last.inner_text().split()
        == "1 not passed 1 missing 1 system error (reported 1)".split()
    )
