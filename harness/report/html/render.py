"""The page as text: `render` is pure, the same data gives the same bytes."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from harness.comparison import Comparison
from harness.report.html.data import ReportData, report_data
from harness.report.html.overview import OUTCOMES, heat_step
from harness.report.html.panels import Answers
from harness.report.html.payload import block, case_data, index_data
from harness.suite import Suite

if TYPE_CHECKING:
    import jinja2

    from harness.runs.folder import RunFolder

_FOLDER = Path(__file__).parent


def render_report(
    comparison: Comparison,
    suite: Suite,
    runs: Sequence[RunFolder] = (),
    *,
    answers: Answers | None = None,
    title: str | None = None,
) -> str:
    """Return the HTML report of a comparison.

    Args:
        comparison: the scores.
        suite: the cases, those of the comparison among them.
        runs: the runs that the answers come from; case pages show what each system recalled.
        answers: where the answers come from a file, `Responses.systems`.
        title: of the page.

    Raises:
        InputError: when the journal of a run cannot be read.
    """
    return render(report_data(comparison, suite, runs, answers=answers, title=title))


def render(data: ReportData) -> str:
    """Return the page."""
    from markupsafe import Markup

    style, script = part("style.css"), part("pages.js") + part("script.js")
    # Only these are not escaped: the page's own style and script, and JSON that `block` has escaped.
    return _template().render(
        data=data,
        outcomes=OUTCOMES,
        policy=policy(style, script),
        style=Markup(style),
        script=Markup(script),
        index=Markup(block(index_data(data))),
        blocks=(Markup(block(case_data(case))) for case in data.cases),
    )


def policy(style: str, script: str) -> str:
    """Return the content security policy: nothing is loaded, and only this style and script count."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_hash(script)}'",
            f"style-src '{_hash(style)}'",
            "img-src data:",  # the empty icon, so that no browser asks a server for one
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )


@cache
def part(name: str) -> str:
    """Return the text of a file that is put into the page."""
    return (_FOLDER / name).read_text(encoding="utf-8")


@cache
def _template() -> jinja2.Template:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER / "templates", encoding="utf-8"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["percent"] = "{:.2f}%".format
    environment.filters["heat"] = heat_step
    return environment.get_template("page.html.j2")


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
