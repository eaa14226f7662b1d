"""An index by words: SQLite's FTS5 with its BM25."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence

from harness.adapters.memories.rankers import Ranked

_WORD = re.compile(r"[^\W_]+")
# Scripts that put no spaces between words: one character is one word here, as FTS5 cannot cut them.
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_MOST_TERMS = 500


class WordIndex:
    """Texts in an FTS5 table of its own, in memory.

    Words are stemmed (Porter) and lose case and diacritics. FTS5's BM25 has k1 = 1.2 and b = 0.75.
    """

    def __init__(self) -> None:
        self._base = sqlite3.connect(":memory:", isolation_level=None)
        self._base.execute(
            "CREATE VIRTUAL TABLE texts USING fts5(id UNINDEXED, text, "
            "tokenize = 'porter unicode61 remove_diacritics 2')"
        )
        self._rows: dict[str, int] = {}
        self._next = 1

    async def add(self, texts: Sequence[tuple[str, str]]) -> None:
        """Take texts in."""
        rows = [(row, id, _spaced(text)) for row, (id, text) in enumerate(texts, start=self._next)]
        self._base.execute("BEGIN")
        self._base.executemany("INSERT INTO texts(rowid, id, text) VALUES (?, ?, ?)", rows)
        self._base.execute("COMMIT")
        self._next += len(rows)
        self._rows.update((id, row) for row, id, _ in rows)

    def remove(self, id: str) -> None:
        """Take a text out."""
        self._base.execute("DELETE FROM texts WHERE rowid = ?", (self._rows.pop(id),))

    async def rank(self, question: str, depth: int) -> list[Ranked]:
        """Return the texts that share a word with the question, by BM25."""
        sought = match_expression(question)
        if not sought:
            return []
        rows = self._base.execute(
            "SELECT id, -bm25(texts) FROM texts WHERE texts MATCH ? ORDER BY bm25(texts), rowid LIMIT ?",
            (sought, depth),
        )
        return [Ranked(*row) for row in rows]

    def close(self) -> None:
        """Free the table."""
        self._base.close()


def match_expression(question: str) -> str:
    """Return the FTS5 expression for any of a question's words; empty where it has none.

    Each word stands in quotes, so that none is an operator and no character has a meaning.
    """
    words = dict.fromkeys(word for word in _WORD.findall(_spaced(question).lower()))
    return " OR ".join(f'"{word}"' for word in list(words)[:_MOST_TERMS])


def _spaced(text: str) -> str:
    """Return a text as it is indexed; what SQLite cannot store of it is replaced."""
    storable = text.encode("utf-8", "replace").decode().replace("\0", " ")
    return _UNSPACED.sub(r" \g<0> ", storable)
