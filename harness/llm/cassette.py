"""The cassette: every reply of a model, stored under what was asked.

One SQLite file in WAL mode. SQLite is there in every Python, commits a reply in a tenth of a
millisecond, keeps several writing processes apart and survives `kill -9` in the middle of a
write; and any SQLite browser opens it. `export` and `read_lines` turn it into JSON lines, the
form that goes under version control.

- A key is the hash of the request as meant: model, messages, schema, parameters, repeat and
  attempt. Never the host or port, never a parameter that a server made us rename.
- A reply is stored as it came, malformed ones too, so that a replay repeats a run's errors.
- A key once written stands: of two writers the first wins and both go on with its reply.
"""

from __future__ import annotations

import json
import re
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, NamedTuple

from harness.errors import InputError

Mode = Literal["auto", "replay", "off"]
MODES: tuple[Mode, ...] = ("auto", "replay", "off")
FILE_NAME = "cassette.sqlite"
_BUSY_MS = 30_000
_RETRY_S = 0.01
_VERSION = 1
_LONE = re.compile("[\ud800-\udfff]")
_TABLES = """
CREATE TABLE IF NOT EXISTS replies (
    key TEXT PRIMARY KEY, request TEXT NOT NULL, status INTEGER NOT NULL, body TEXT NOT NULL,
    provider TEXT NOT NULL, sent TEXT NOT NULL, recorded_at TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS notes (
    kind TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (kind, name)
) WITHOUT ROWID;
"""


class Entry(NamedTuple):
    """One reply and what it answered.

    Attributes:
        key: hash of the request, see `request_key`.
        request: the canonical request as JSON text.
        status: HTTP status of the reply.
        body: the reply's body as it came.
        provider: who served it, by name.
        sent: the parameters that the server accepted, as JSON text.
    """

    key: str
    request: str
    status: int
    body: str
    provider: str
    sent: str


def canonical(value: Any) -> str:
    """Return JSON text that is the same for the same value: sorted keys, no spaces.

    The text is plain Unicode, which any store takes: a lone surrogate in a value is escaped.
    """
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        text = _LONE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    return text


def request_key(request: str) -> str:
    """Return the key of a canonical request: 64 hexadecimal digits."""
    return sha256(request.encode()).hexdigest()


class Cassette:
    """A store of replies; a context manager.

    Args:
        path: the file; a directory stands for `cassette.sqlite` in it, and a file that ends in
            `.jsonl` is an export, which can only be replayed. None keeps nothing.
        mode: `auto` reads, and writes what it lacks; `replay` never writes; `off` does neither.

    Raises:
        InputError: for a file that is no cassette, or one that is missing when replayed; by any
            method when the file cannot be read or written any more.
    """

    def __init__(self, path: Path | None, mode: Mode = "auto") -> None:
        if mode not in MODES:
            raise InputError(f"cassette mode {mode!r}: the modes are {', '.join(MODES)}.")
        self.mode: Mode = "off" if path is None else mode
        self.path = path
        self._lines: dict[str, Entry] = {}
        self._notes: dict[tuple[str, str], str] = {}
        self._base: sqlite3.Connection | None = None
        if path is None or self.mode == "off":
            return
        path = self.path = _file_at(path, mode)
        if path.suffix == ".jsonl":
            if mode != "replay":
                raise InputError(
                    f"{path}: an exported cassette can only be replayed. Add --cassette-mode replay, "
                    "or name a .sqlite file."
                )
            self._read_export(path)
        else:
            self._base = _open(path, read_only=mode == "replay")

    def get(self, key: str) -> Entry | None:
        """Return the reply stored under a key."""
        if self._base is None:
            return self._lines.get(key)
        rows = self._run("SELECT key, request, status, body, provider, sent FROM replies WHERE key = ?", key)
        return Entry(*rows[0]) if rows else None

    def put(self, entry: Entry, *, replace: bool = False) -> Entry:
        """Store a reply, on disk when this returns; return the one that now stands.

        Args:
            entry: the reply.
            replace: put it in the place of one that is there.
        """
        if self._base is None or self.mode != "auto":
            return entry
        verb = "REPLACE" if replace else "INSERT OR IGNORE"
        now = datetime.now(UTC).isoformat(timespec="seconds")
        before = self._base.total_changes
        self._run(f"{verb} INTO replies VALUES (?, ?, ?, ?, ?, ?, ?)", *entry, now)
        return entry if self._base.total_changes > before else self.get(entry.key) or entry

    def note(self, kind: str, name: str) -> Any:
        """Return what was noted, such as how a judge was resolved; None when nothing was."""
        if self._base is None:
            text = self._notes.get((kind, name))
        else:
            rows = self._run("SELECT value FROM notes WHERE kind = ? AND name = ?", kind, name)
            text = rows[0][0] if rows else None
        return None if text is None else self._parsed(text)

    def write_note(self, kind: str, name: str, value: Any) -> None:
        """Keep something beside the replies; a later note of the same name takes its place."""
        if self._base is not None and self.mode == "auto":
            self._run("REPLACE INTO notes VALUES (?, ?, ?)", kind, name, canonical(value))

    def __len__(self) -> int:
        if self._base is None:
            return len(self._lines)
        count: int = self._run("SELECT count(*) FROM replies")[0][0]
        return count

    def lines(self, keys: frozenset[str] | None = None) -> Iterator[str]:
        """Yield the cassette as JSON lines, notes first, each kind in the order of its keys.

        Args:
            keys: only these replies.
        """
        for kind, name, value in self._all_notes():
            yield canonical({"note": kind, "name": name, "value": self._parsed(value)})
        for entry in self._all_entries():
            if keys is None or entry.key in keys:
                yield canonical(
                    {
                        "request": self._parsed(entry.request),
                        "status": entry.status,
                        "body": entry.body,
                        "provider": entry.provider,
                        "sent": self._parsed(entry.sent),
                    }
                )

    def _parsed(self, text: str) -> Any:
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            raise InputError(
                f"{self.path}: damaged: what should be JSON begins {text[:40]!r}. Record it anew, in another file."
            ) from None

    def _all_notes(self) -> Iterable[tuple[str, str, str]]:
        if self._base is None:
            return [(kind, name, value) for (kind, name), value in sorted(self._notes.items())]
        return self._run("SELECT kind, name, value FROM notes ORDER BY kind, name")

    def _all_entries(self) -> Iterator[Entry]:
        if self._base is None:
            yield from (self._lines[key] for key in sorted(self._lines))
            return
        # One by one: the keys fit into memory, the bodies of a long run may not.
        for (key,) in self._run("SELECT key FROM replies ORDER BY key"):
            entry = self.get(key)
            if entry is not None:
                yield entry

    def _run(self, sql: str, *values: str | int) -> list[tuple[Any, ...]]:
        assert self._base is not None
        try:
            return self._base.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise InputError(
                f"{self.path}: the cassette cannot be {'read' if sql.startswith('SELECT') else 'written'}: "
                f"{error}. What was stored before is kept; {_mend(error)}"
            ) from None

    def _read_export(self, path: Path) -> None:
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path}: cannot be read as a cassette: {error}.") from None
        for number, line in enumerate(text.split("\n"), start=1):
            if not line.strip():
                continue
            try:
                self._take(json.loads(line))
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                raise InputError(
                    f"{path}:{number}: no line of an exported cassette. Export it again."
                ) from None

    def _take(self, read: Mapping[str, Any]) -> None:
        if "note" in read:
            self._notes[str(read["note"]), str(read["name"])] = canonical(read["value"])
            return
        request = canonical(read["request"])
        key = request_key(request)
        self._lines[key] = Entry(
            key,
            request,
            int(read["status"]),
            str(read["body"]),
            str(read["provider"]),
            canonical(read["sent"]),
        )

    def close(self) -> None:
        """Close the file; closing twice does no harm."""
        if self._base is not None:
            self._base.close()
            self._base = None

    def __enter__(self) -> Cassette:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _file_at(path: Path, mode: Mode) -> Path:
    try:
        if path.is_dir():
            path = path / FILE_NAME
        if mode == "replay" and not path.exists():
            raise InputError(f"{path}: no such cassette. Record one first: leave out --cassette-mode replay.")
    except OSError as error:
        raise InputError(f"{path}: cannot be used as a cassette: {error.strerror}.") from None
    return path


def _open(path: Path, *, read_only: bool) -> sqlite3.Connection:
    base: sqlite3.Connection | None = None
    try:
        if read_only:
            base = sqlite3.connect(_read_only(path), uri=True, isolation_level=None)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            base = sqlite3.connect(path, isolation_level=None)
        _when_free(lambda held=base: _prepare(held, read_only=read_only))  # type: ignore[misc]
    except (sqlite3.Error, OSError, _OtherFormat) as error:
        if base is not None:
            base.close()
        said = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{path}: cannot be used as a cassette: {said}. Name another file.") from None
    return base


def _read_only(path: Path) -> str:
    """Return the URI that opens a cassette without writing anything, even beside it.

    A file in WAL mode can only be read together with two more that SQLite creates in its folder,
    unless SQLite is told that nobody writes. That is so when no log with replies lies beside it.
    """
    log = path.with_name(f"{path.name}-wal")
    still = not log.exists() or not log.stat().st_size
    return f"{path.resolve().as_uri()}?mode=ro{'&immutable=1' if still else ''}"


class _OtherFormat(Exception):
    """An SQLite file, but no cassette of this version."""


def _when_free(step: Callable[[], None]) -> None:
    """Take a step as soon as no other process is in the way.

    SQLite's own patience does not cover the switch to WAL mode, which several processes may want
    of a new file at once.
    """
    until = time.monotonic() + _BUSY_MS / 1000
    while True:
        try:
            return step()
        except sqlite3.OperationalError as error:
            # The low byte is the kind, the rest what it was busy with.
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(_RETRY_S)


def _prepare(base: sqlite3.Connection, *, read_only: bool) -> None:
    base.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
    # Tables and version are written as one, so whoever sees tables sees the version.
    tables = base.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    version = base.execute("PRAGMA user_version").fetchone()[0]
    if (tables or read_only) and version != _VERSION:
        raise _OtherFormat(
            f"it is of version {version}, and this program reads {_VERSION}" if version else "it is none"
        )
    if not read_only:
        base.execute("PRAGMA journal_mode = WAL")
        # A killed process loses nothing; a power cut may lose the last replies, never the file.
        base.execute("PRAGMA synchronous = NORMAL")
        base.execute("PRAGMA wal_autocheckpoint = 10000")  # 40 MB: each checkpoint waits for the disk
        if not tables:
            base.executescript(f"BEGIN IMMEDIATE;{_TABLES}PRAGMA user_version = {_VERSION};COMMIT;")
    base.execute("SELECT count(*) FROM replies").fetchone()


def _mend(error: sqlite3.Error) -> str:
    said = str(error)
    if "full" in said:
        return "make room on the disk, then run the same command again."
    if "locked" in said:
        return "end the program that holds the file, then run the same command again."
    return "check the file and its disk."
