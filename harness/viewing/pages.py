"""The pages that are not reports: the list of runs, one run, a choice, an error. Everything is escaped."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from html import escape
from urllib.parse import quote, urlencode

from harness.runs.folder import RunFolder
from harness.viewing.store import Listed

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
STYLE = """
:root { color-scheme: light dark; --line: #8884; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }
h1 { font-size: 1.3rem; } h2 { font-size: 1.1rem; } code, pre { font: 13px/1.5 ui-monospace, monospace; }
pre { overflow-x: auto; } .wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid var(--line); padding: .35rem .6rem; text-align: left; vertical-align: top; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
td { overflow-wrap: break-word; max-width: 24rem; } code, td:last-child { white-space: nowrap; }
.plain td { white-space: normal; max-width: none; overflow-wrap: anywhere; } .dim { opacity: .7; }
button { font: inherit; padding: .35rem .9rem; margin: 1rem 0; }
"""


STYLE_HASH = b64encode(sha256(STYLE.encode()).digest()).decode()
"""What a policy names the style by, so that no other one holds."""


def text(value: object) -> str:
    """Return a text for HTML: escaped, its control and direction characters shown and not obeyed."""
    return escape(_CONTROL.sub("\ufffd", str(value)), quote=True)


def page(title: str, body: str) -> str:
    """Return a whole page; `body` is HTML."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{text(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"<h1>{text(title)}</h1>\n{body}\n</main>\n</body>\n</html>\n"
    )


def run_list(folder: str, runs: Sequence[Listed]) -> str:
    """Return the list of runs, with a box to choose each for a comparison."""
    if not runs:
        return page(
            f"Runs in {folder}",
            "<p>No run is here yet. <code>recallbench run --system NAME</code> makes one.</p>",
        )
    head = "".join(
        f'<th scope="col"{" class=n" if name in ("Answers", "Failed") else ""}>{name}</th>'
        for name in ("Compare", "Run", "System", "Version", "Reader", "Suite", "Answers", "Failed", "Begun")
    )
    rows = "\n".join(map(_row, runs))
    return page(
        f"Runs in {folder}",
        '<form action="/compare" method="get">\n<div class="wide" tabindex="0" role="region" aria-label="runs"><table>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table></div>\n"
        '<button type="submit">Compare the chosen runs</button>\n</form>',
    )


def _row(one: Listed) -> str:
    name = text(one.name)
    if one.run is None:
        return f'<tr><td></td><td>{name}</td><td colspan="7">{text(one.problem)}</td></tr>'
    manifest = one.run.manifest
    reader = manifest.reader
    budget = "" if reader.budget is None or reader.kind == "own" else f", {reader.budget} words"
    cells = (
        f'<input type="checkbox" name="run" value="{name}" aria-label="compare {name}">',
        f'<a href="/run/{quote(one.name, safe="")}">{name}</a>',
        text(manifest.system.spec if manifest.system.label == manifest.system.spec
             else f"{manifest.system.label} = {manifest.system.spec}"),
        text(manifest.system.version or "not recorded"),
        text(f"{reader.model or reader.kind}{budget}"),
        f"<code>{text(manifest.suite_hash[:12])}</code>",
    )  # fmt: skip
    figures = (f"{one.answered}/{manifest.asked}", str(one.failed))
    shown = "".join(f"<td>{cell}</td>" for cell in cells) + "".join(
        f'<td class="n">{figure}</td>' for figure in figures
    )
    return f"<tr>{shown}<td>{text(manifest.created[:16].replace('T', ' '))}</td></tr>"


def one_run(run: RunFolder, name: str, files: Iterable[tuple[str, int]]) -> str:
    """Return the page of one run: what it is, and its files."""
    manifest = run.manifest
    rows: list[tuple[str, str]] = [
        ("System", f"{manifest.system.name} ({manifest.system.kind})"),
        (
            "Options",
            ", ".join(f"{key}={value!r}" for key, value in manifest.system.options.items()) or "none",
        ),
        ("Version", manifest.system.version or "not recorded"),
        ("Model that writes", manifest.system.model or "none"),
        ("Reader", manifest.reader.model or manifest.reader.kind),
        ("Words that are read", str(manifest.reader.budget or "all")),
        ("Suite", f"{manifest.suite} ({manifest.suite_hash[:12]})"),
        (
            "Cases",
            f"{len(manifest.cases)}, each asked {'once' if manifest.repeats == 1 else f'{manifest.repeats} times'}",
        ),
        (
            "Versions",
            ", ".join(f"{key} {value}" for key, value in manifest.versions.items()) or "not recorded",
        ),
        ("Begun", manifest.created or "not recorded"),
    ]
    told = "\n".join(f'<tr><th scope="row">{label}</th><td>{text(value)}</td></tr>' for label, value in rows)
    listed = "\n".join(
        f'<li><a href="/run/{quote(name, safe="")}/{quote(file, safe="")}">{text(file)}</a> <span class="dim">{size:,} bytes</span></li>'
        for file, size in files
    )
    compare = urlencode({"run": name})
    return page(
        name,
        f'<p><a href="/">All runs</a> · <a href="/compare?{compare}">Report of this run</a></p>\n'
        f'<table class="plain"><tbody>\n{told}\n</tbody></table>\n<h2>Files</h2>\n<ul>\n{listed}\n</ul>',
    )


def choice(groups: Mapping[str, Sequence[str]]) -> str:
    """Return the page for runs of two sorts, which no single table can hold: a link to each."""
    items = "\n".join(
        f'<li><a href="/compare?{text(urlencode([("run", name) for name in names]))}">{text(scorer)}</a>: '
        f"{text(', '.join(names))}</li>"
        for scorer, names in groups.items()
    )
    return page(
        "Two tables",
        f"<p>Some of these runs only recalled and others answered, so one table cannot hold them.</p>\n<ul>\n{items}\n</ul>\n"
        '<p><a href="/">All runs</a></p>',
    )


def plain(title: str, body: str) -> str:
    """Return a page that holds plain text as it is."""
    return page(title, f'<p><a href="/">All runs</a></p>\n<pre>{text_lines(body)}</pre>')


def text_lines(body: str) -> str:
    """Return lines of text for HTML; their breaks stay."""
    return "\n".join(text(line) for line in body.split("\n"))


def problem(title: str, message: str) -> str:
    """Return the page of an error."""
    return page(title, f'<p>{text(message)}</p>\n<p><a href="/">All runs</a></p>')
