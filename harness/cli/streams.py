"""The standard streams: whether a person sits at them, and how wide they are.

It loads nothing but `os`, because `--help` asks it too.
"""

from __future__ import annotations

import os
from typing import TextIO


def is_terminal(stream: TextIO | None) -> bool:
    """Say whether a standard stream is a terminal; a closed one is None."""
    return stream is not None and stream.isatty()


def columns(otherwise: int) -> int:
    """Return the columns of standard output: COLUMNS where set, else the terminal's, else `otherwise`."""
    try:
        return int(os.environ.get("COLUMNS", 0)) or os.get_terminal_size(1).columns or otherwise
    except (OSError, ValueError):
        return otherwise
