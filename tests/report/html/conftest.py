"""Chromium, where it is installed, and pages that say whether anything went wrong in them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Start Chromium once; skip where it or playwright is missing."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed (Debian: apt-get install chromium)")
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield started
        started.close()


class Opened:
    """A page in Chromium, with what it said and asked for."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.said: list[str] = []
        self.asked: list[str] = []
        page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("dialog", lambda dialog: (self.said.append(f"dialog: {dialog.message}"), dialog.dismiss()))

    def check(self) -> None:
        """Nothing was said, nothing was asked for but the file itself."""
        assert self.said == []
        assert [url for url in self.asked if not url.startswith("file://")] == []

    def go(self, fragment: str) -> None:
        """Follow a fragment, as a click on a link does."""
        self.page.evaluate("to => { location.hash = to }", fragment)
        self.page.wait_for_timeout(50)


OpenPage = Callable[..., Opened]


@pytest.fixture
def open_page(browser: Any, tmp_path: Path) -> Iterator[OpenPage]:
    """Open HTML from disk: `open_page(html, width=…, dark=…, fragment=…, script=…)`."""
    contexts = []

    def opened(
        html: str,
        *,
        width: int = 1280,
        dark: bool = False,
        fragment: str = "",
        script: bool = True,
        trusted: bool = False,
    ) -> Opened:
        file = tmp_path / "report.html"
        file.write_text(html, encoding="utf-8")
        context = browser.new_context(
            viewport={"width": width, "height": 800},
            color_scheme="dark" if dark else "light",
            java_script_enabled=script,
            bypass_csp=trusted,
        )
        contexts.append(context)
        made = Opened(context.new_page())
        made.page.goto(file.as_uri() + fragment)
        return made

    yield opened
    for context in contexts:
        context.close()
