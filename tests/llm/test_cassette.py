from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InputError
from harness.llm import cassette
from harness.llm.cassette import Cassette, Entry, Mode, canonical, request_key

ROOT = Path(__file__).parents[2]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


def entry(asked: Any, body: str = "a reply", *, status: int = 200) -> Entry:
    request = canonical(asked)
    return Entry(request_key(request), request, status, body, "custom", '{"temperature":0}')


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def one_line(error: BaseException) -> str:
    said = str(error)
    assert "\n" not in said
    assert "Traceback" not in said
    return said


PREAMBLE = """
import os, sys
from pathlib import Path
from harness.llm.cassette import Cassette, Entry, canonical, request_key

def entry(asked, body="a reply"):
    request = canonical(asked)
    return Entry(request_key(request), request, 200, body, "custom", '{"temperature":0}')
"""


def writer(path: Path, code: str) -> subprocess.Popen[str]:
    """Start a process that writes into a cassette; it says READY and begins when told to."""
    program = PREAMBLE + "print('READY', flush=True); sys.stdin.readline()\n"
    program += f"with Cassette(Path({str(path)!r})) as store:\n{indent(code, '    ')}"
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "READY\n"
    return process


def said_alone(code: str, *, before: str = "") -> str:
    """Run code in a process of its own; return what it printed, or the error that it ended with."""
    program = f"{PREAMBLE}{before}\ntry:\n{indent(code, '    ')}\n"
    program += "except BaseException as error:\n    print(f'{type(error).__name__}: {error}')"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True, timeout=60
    )
    assert done.stderr == ""
    return done.stdout.rstrip("\n")


# Whoever is root may write everywhere; nobody may not.
NO_RIGHTS = "if os.getuid() == 0: os.setgid(65534); os.setuid(65534)"
posix = pytest.mark.skipif(not hasattr(os, "getuid"), reason="takes the rights of a POSIX system")


def go(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


def ended(process: subprocess.Popen[str]) -> str:
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    return said


# Keys


def shuffled(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: shuffled(value[name]) for name in reversed(value)}
    return [shuffled(item) for item in value] if isinstance(value, list) else value


@given(JSON)
def test_a_key_does_not_depend_on_the_order_of_members(value: Any) -> None:
    assert request_key(canonical(value)) == request_key(canonical(shuffled(value)))


@given(JSON, JSON)
def test_different_requests_have_different_keys(one: Any, other: Any) -> None:
    # 1, 1.0 and True are equal to Python, and are different things to ask for.
    if json.dumps(one, sort_keys=True) != json.dumps(other, sort_keys=True):
        assert request_key(canonical(one)) != request_key(canonical(other))


@given(JSON)
def test_a_canonical_text_reads_back_as_the_request(value: Any) -> None:
    assert json.loads(canonical(value)) == value


@pytest.mark.parametrize("text", ["\ud800", "\udfff!", "a\udc80b", "é\ud83d", "\U0001f600", "\x00", "\u2028"])
def test_any_text_can_be_asked_stored_and_exported(tmp_path: Path, text: str) -> None:
    asked = {"messages": [{"role": "user", "content": text}]}
    body = json.dumps({"content": text})
    with Cassette(tmp_path / "c.sqlite") as store:
        store.put(entry(asked, body))
        store.write_note("judge", "kimi", {"said": text})
        lines = list(store.lines())
    export = tmp_path / "c.jsonl"
    export.write_text("\n".join(lines), encoding="utf-8")
    for path in (tmp_path / "c.sqlite", export):
        with Cassette(path, "replay") as store:
            kept = store.get(entry(asked).key)
            assert kept is not None
            assert json.loads(kept.request) == asked
            assert json.loads(kept.body) == {"content": text}
            assert store.note("judge", "kimi") == {"said": text}


def test_a_lone_surrogate_is_not_taken_for_its_replacement() -> None:
    assert request_key(canonical("\ud800")) != request_key(canonical("\ufffd"))
    assert request_key(canonical("\ud800")) != request_key(canonical("\udc00"))


# Reading and writing


def test_a_reply_comes_back_as_it_was(tmp_path: Path) -> None:
    kept = entry({"a": 1}, "<html>\r\nnot JSON \x00 é\u2028</html>", status=503)
    with Cassette(tmp_path / "c.sqlite") as store:
        assert store.get(kept.key) is None
        assert store.put(kept) == kept
        assert store.get(kept.key) == kept
        assert len(store) == 1
    with Cassette(tmp_path / "c.sqlite") as store:
        assert store.get(kept.key) == kept


def test_the_first_reply_stands_until_it_is_replaced(tmp_path: Path) -> None:
    first, second = entry("q", "first"), entry("q", "second")
    with Cassette(tmp_path / "c.sqlite") as store:
        store.put(first)
        assert store.put(second) == first
        assert store.get(first.key) == first
        assert store.put(second, replace=True) == second
        assert store.get(first.key) == second
        assert len(store) == 1


def test_a_directory_stands_for_the_file_in_it(tmp_path: Path) -> None:
    with Cassette(tmp_path) as store:
        store.put(entry("q"))
        assert store.path == tmp_path / "cassette.sqlite"
    with Cassette(tmp_path, "replay") as store:
        assert len(store) == 1


def test_folders_on_the_way_are_made(tmp_path: Path) -> None:
    with Cassette(tmp_path / "a" / "b" / "c.sqlite") as store:
        store.put(entry("q"))
    assert (tmp_path / "a" / "b" / "c.sqlite").is_file()


@pytest.mark.parametrize("name", ["what?.sqlite", "a#b.sqlite", "100%25.sqlite", "Akte für Lena.sqlite"])
def test_a_file_may_have_any_name(tmp_path: Path, name: str) -> None:
    with Cassette(tmp_path / name) as store:
        store.put(entry("q"))
    with Cassette(tmp_path / name, "replay") as store:
        assert len(store) == 1
    assert list(files(tmp_path)) == [name]


def test_notes_are_kept_and_the_last_one_stands(tmp_path: Path) -> None:
    with Cassette(tmp_path / "c.sqlite") as store:
        assert store.note("judge", "kimi") is None
        store.write_note("judge", "kimi", {"model": "k2"})
        store.write_note("judge", "kimi", {"model": "k3"})
    with Cassette(tmp_path / "c.sqlite", "replay") as store:
        assert store.note("judge", "kimi") == {"model": "k3"}
        assert store.note("judge", "other") is None


@pytest.mark.parametrize(("path", "mode"), [(None, "auto"), ("c.sqlite", "off"), (None, "replay")])
def test_off_keeps_nothing(tmp_path: Path, path: str | None, mode: Mode) -> None:
    with Cassette(tmp_path / path if path else None, mode) as store:
        assert store.mode == "off"
        assert store.put(entry("q")) == entry("q")
        store.write_note("judge", "kimi", 1)
        assert store.get(entry("q").key) is None
        assert store.note("judge", "kimi") is None
        assert len(store) == 0
    assert files(tmp_path) == {}


def test_off_does_not_even_read(tmp_path: Path) -> None:
    with Cassette(tmp_path / "c.sqlite") as store:
        store.put(entry("q"))
    with Cassette(tmp_path / "c.sqlite", "off") as store:
        assert store.get(entry("q").key) is None


def test_closing_twice_does_no_harm(tmp_path: Path) -> None:
    store = Cassette(tmp_path / "c.sqlite")
    store.close()
    store.close()


# Replay


def test_replay_writes_nothing_even_beside_the_file(tmp_path: Path) -> None:
    with Cassette(tmp_path / "c.sqlite") as store:
        store.put(entry("q"))
    before = files(tmp_path)
    assert list(before) == ["c.sqlite"]
    with Cassette(tmp_path / "c.sqlite", "replay") as store:
        assert store.put(entry("new")) == entry("new")
        store.put(entry("q", "other"), replace=True)
        store.write_note("judge", "kimi", 1)
        assert store.get(entry("q").key) == entry("q")
        assert store.get(entry("new").key) is None
        assert list(files(tmp_path)) == ["c.sqlite"]
    assert files(tmp_path) == before


@pytest.fixture
def open_to_all() -> Iterator[Path]:
    """A folder that another user can reach, which pytest's own are not."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)
        Path(folder).chmod(0o755)


@posix
def test_replay_works_where_nothing_may_be_written(open_to_all: Path) -> None:
    path = open_to_all / "c.sqlite"
    with Cassette(path) as store:
        store.put(entry("q"))
    path.chmod(0o444)
    open_to_all.chmod(0o555)
    code = f"with Cassette(Path({str(path)!r}), 'replay') as store: print(store.get(entry('q').key).body)"
    assert said_alone(code, before=NO_RIGHTS) == "a reply"


@posix
@pytest.mark.parametrize("which", ["file", "folder"])
def test_recording_where_nothing_may_be_written_gives_one_line(open_to_all: Path, which: str) -> None:
    path = open_to_all / "c.sqlite"
    if which == "file":
        with Cassette(path) as store:
            store.put(entry("q"))
        path.chmod(0o444)
    open_to_all.chmod(0o555)
    code = f"with Cassette(Path({str(path)!r})) as store: store.put(entry('new'))"
    said = said_alone(code, before=NO_RIGHTS)
    assert said.startswith(f"InputError: {path}: ")
    assert "\n" not in said


@posix
@pytest.mark.parametrize("name", ["c.sqlite", "c.jsonl"])
def test_a_file_that_may_not_be_read_gives_one_line(open_to_all: Path, name: str) -> None:
    path = open_to_all / name
    path.write_bytes(b"")
    path.chmod(0)
    said = said_alone(f"Cassette(Path({str(path)!r}), 'replay')", before=NO_RIGHTS)
    assert said.startswith(f"InputError: {path}: ")
    assert "\n" not in said


@posix
def test_a_folder_that_may_not_be_entered_gives_one_line(open_to_all: Path) -> None:
    path = open_to_all / "closed" / "c.sqlite"
    path.parent.mkdir(mode=0)
    for mode in ("auto", "replay"):
        said = said_alone(f"Cassette(Path({str(path)!r}), {mode!r})", before=NO_RIGHTS)
        assert said.startswith(f"InputError: {path}: ")
        assert "\n" not in said


def test_replay_of_a_file_that_somebody_records_sees_what_is_there(tmp_path: Path) -> None:
    with Cassette(tmp_path / "c.sqlite") as recording:
        recording.put(entry("q"))
        with Cassette(tmp_path / "c.sqlite", "replay") as store:
            assert store.get(entry("q").key) == entry("q")
            recording.put(entry("later"))
            assert store.get(entry("later").key) == entry("later")


# Files that are none


def other_database(path: Path) -> None:
    base = sqlite3.connect(path)
    base.execute("CREATE TABLE visits (url TEXT)")
    base.commit()
    base.close()


def other_version(path: Path) -> None:
    Cassette(path).close()
    base = sqlite3.connect(path)
    base.execute("PRAGMA user_version = 99")
    base.close()


def damaged(path: Path) -> None:
    with Cassette(path) as store:
        for number in range(50):
            store.put(entry(number, "x" * 2000))
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])


BROKEN = {
    "text": lambda path: path.write_text("These are my notes.\n" * 50),
    "another database": other_database,
    "another version": other_version,
    "half a page": lambda path: path.write_bytes(b"SQLite format 3\x00" + bytes(30)),
}


@pytest.mark.parametrize("mode", ["auto", "replay"])
@pytest.mark.parametrize("kind", BROKEN)
def test_a_file_that_is_no_cassette_gives_one_line_and_is_left_alone(
    tmp_path: Path, kind: str, mode: Mode
) -> None:
    path = tmp_path / "c.sqlite"
    BROKEN[kind](path)
    before = files(tmp_path)
    with pytest.raises(InputError) as caught:
        Cassette(path, mode)
    assert one_line(caught.value).startswith(f"{path}: cannot be used as a cassette: ")
    assert "Name another file." in str(caught.value)
    assert files(tmp_path) == before


@pytest.mark.parametrize("mode", ["auto", "replay"])
def test_half_a_cassette_is_an_error_at_the_latest_when_read(tmp_path: Path, mode: Mode) -> None:
    path = tmp_path / "c.sqlite"
    damaged(path)

    def read_all() -> None:
        with Cassette(path, mode) as store:
            for number in range(50):
                store.get(entry(number).key)
            list(store.lines())

    with pytest.raises(InputError) as caught:
        read_all()
    assert one_line(caught.value).startswith(f"{path}: ")


def test_an_empty_file_is_a_cassette_to_be_and_nothing_to_replay(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    path.write_bytes(b"")
    with pytest.raises(InputError, match="cannot be used as a cassette"):
        Cassette(path, "replay")
    with Cassette(path) as store:
        store.put(entry("q"))
        assert len(store) == 1


@pytest.mark.parametrize("name", ["c.sqlite", "c.jsonl", "none/c.sqlite", "."])
def test_a_missing_cassette_cannot_be_replayed(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError) as caught:
        Cassette(tmp_path / name, "replay")
    assert "no such cassette" in one_line(caught.value)
    assert files(tmp_path) == {}


def test_a_path_through_a_file_gives_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError) as caught:
        Cassette(tmp_path / "file" / "c.sqlite")
    assert "cannot be used as a cassette" in one_line(caught.value)


def test_a_directory_in_the_files_place_gives_one_line(tmp_path: Path) -> None:
    (tmp_path / "cassette.sqlite").mkdir()
    for mode in ("auto", "replay"):
        with pytest.raises(InputError) as caught:
            Cassette(tmp_path, mode)  # type: ignore[arg-type]
        assert "cannot be used as a cassette" in one_line(caught.value)


def test_an_unknown_mode_gives_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="auto, replay, off"):
        Cassette(tmp_path / "c.sqlite", "record")  # type: ignore[arg-type]


# Export


def test_an_export_replays_like_the_file(tmp_path: Path) -> None:
    kept = [
        entry({"q": number, "é": "ü"}, f"reply {number}\u2028", status=200 + number) for number in range(5)
    ]
    with Cassette(tmp_path / "c.sqlite") as store:
        for one in kept:
            store.put(one)
        store.write_note("judge", "kimi", {"model": "k2"})
        lines = list(store.lines())
    path = tmp_path / "c.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    with Cassette(path, "replay") as store:
        assert [store.get(one.key) for one in kept] == kept
        assert store.note("judge", "kimi") == {"model": "k2"}
        assert len(store) == 5
        assert list(store.lines()) == lines
        assert store.put(entry("new")) == entry("new")
        assert store.get(entry("new").key) is None


def test_an_export_is_the_same_in_whatever_order_replies_came(tmp_path: Path) -> None:
    exports = []
    for name, numbers in (("a", range(9)), ("b", reversed(range(9)))):
        with Cassette(tmp_path / f"{name}.sqlite") as store:
            for number in numbers:
                store.put(entry(number))
            exports.append(list(store.lines()))
    assert exports[0] == exports[1]


def test_an_export_holds_what_was_asked_and_not_where(tmp_path: Path) -> None:
    with Cassette(tmp_path / "c.sqlite") as store:
        store.put(entry({"q": 1}))
        [line] = store.lines()
    assert set(json.loads(line)) == {"request", "status", "body", "provider", "sent"}


def test_some_replies_can_be_exported(tmp_path: Path) -> None:
    with Cassette(tmp_path / "c.sqlite") as store:
        for number in range(5):
            store.put(entry(number, f"reply {number}"))
        lines = list(store.lines(frozenset({entry(3).key})))
    assert [json.loads(line)["body"] for line in lines] == ["reply 3"]


def test_an_export_cannot_be_recorded_into(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="can only be replayed"):
        Cassette(tmp_path / "c.jsonl")


GOOD = '{"request":{"q":1},"status":200,"body":"b","provider":"p","sent":{}}'


@pytest.mark.parametrize(
    "line",
    [
        "not JSON",
        "[]",
        "3",
        "{}",
        '{"request": {}}',
        '{"note": "judge"}',
        GOOD[:-5],
        GOOD.replace("200", '"ok"'),
        "[" * 10**5,
    ],
    ids=lambda line: line[:30],
)
def test_a_line_that_is_none_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text(f"{GOOD}\n\n{line}\n")
    with pytest.raises(InputError) as caught:
        Cassette(path, "replay")
    assert one_line(caught.value).startswith(f"{path}:3: ")


def test_an_export_that_is_not_utf8_gives_one_line(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(b"\xff\xfe{}")
    with pytest.raises(InputError) as caught:
        Cassette(path, "replay")
    assert one_line(caught.value).startswith(f"{path}: ")


# Several writers, and ends without warning


def test_writers_of_the_same_new_file_all_go_on_with_the_first_reply(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    code = """
for number in range(60):
    print(store.put(entry(number, f"NAME {number}")).body)
    store.put(entry(f"NAME {number}", "own"))
"""
    writers = [writer(path, code.replace("NAME", name)) for name in ("anna", "bo", "cy")]
    for one in writers:
        go(one)
    said = [ended(one).splitlines() for one in writers]
    assert len(said[0]) == 60
    assert said[0] == said[1] == said[2]
    with Cassette(path, "replay") as store:
        assert len(store) == 60 + 3 * 60
        kept = [store.get(entry(number).key) for number in range(60)]
        assert [one.body for one in kept if one] == said[0]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no kill -9")
def test_a_killed_writer_leaves_every_reply_it_was_told_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    code = """
number = 0
while True:
    store.put(entry(number, "x" * 500))
    print(number, flush=True)
    number += 1
"""
    process = writer(path, code)
    go(process)
    assert process.stdout is not None
    for _ in range(100):
        last = int(process.stdout.readline())
    process.kill()
    rest = process.communicate()[0].splitlines()
    # The last line may be torn; a number without its line's end says nothing.
    told = max([last, *map(int, rest[:-1])])
    before = files(tmp_path)
    with Cassette(path, "replay") as store:
        assert all([store.get(entry(number).key) for number in range(told + 1)])
    assert files(tmp_path)["c.sqlite"] == before["c.sqlite"]
    with Cassette(path) as store:  # and the next run goes on where it ended
        assert len(store) >= told + 1
        store.put(entry("next"))
        assert store.get(entry("next").key) == entry("next")


def test_a_file_that_somebody_holds_gives_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "c.sqlite"
    monkeypatch.setattr(cassette, "_BUSY_MS", 20)
    with Cassette(path) as store:
        store.put(entry("q"))
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        try:
            with pytest.raises(InputError) as caught:
                store.put(entry("new"))
            with pytest.raises(InputError):
                store.write_note("judge", "kimi", 1)
            assert store.get(entry("q").key) == entry("q")
        finally:
            other.close()
        said = one_line(caught.value)
        assert said.startswith(f"{path}: the cassette cannot be written: database is locked")
        assert "end the program that holds the file" in said
        store.put(entry("new"))


@posix
def test_a_full_disk_gives_one_line_and_keeps_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    small = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
"""
    code = f"""
with Cassette(Path({str(path)!r})) as store:
    for number in range(1000):
        store.put(entry(number, "x" * 5000))
"""
    said = said_alone(code, before=small)
    assert said.startswith(f"InputError: {path}: the cassette cannot be written: ")
    assert "What was stored before is kept" in said
    with Cassette(path, "replay") as store:
        assert len(store) >= 5
        assert store.get(entry(0).key) == entry(0, "x" * 5000)


def test_a_file_that_another_process_is_setting_up_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    path = tmp_path / "c.sqlite"
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("CREATE TABLE t (x)")
    other.execute("DROP TABLE t")
    other.execute("BEGIN EXCLUSIVE")

    def let_go(seconds: float) -> None:
        waited.append(seconds)
        if other.in_transaction:
            other.execute("COMMIT")

    monkeypatch.setattr("harness.llm.cassette._BUSY_MS", 50)
    monkeypatch.setattr("harness.llm.cassette.time.sleep", let_go)
    monkeypatch.setattr("harness.llm.cassette.time.monotonic", lambda: 0.0)
    with Cassette(path) as store:
        assert len(store) == 0
    other.close()
    assert waited
