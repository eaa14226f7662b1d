"""The HTML report: one file that stands by itself, works from disk and runs no code but its own.

    data    what is on the page, from a Comparison, its Suite and, where there are some, its runs
    render  the page as text

`docs/html-report.md` says what a reader finds on it.
"""

from __future__ import annotations
