"""A model server in a process of its own, as a test sees it."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

_PROGRAM = Path(__file__).with_name("__main__.py")
_TIMEOUT_S = 30.0
Rules = Sequence[Mapping[str, Any]]


class Server:
    """A running server.

    Attributes:
        port: where it listens on 127.0.0.1.
        pid: its process.
    """

    def __init__(self, port: int, pid: int) -> None:
        self.port = port
        self.pid = pid
        # A proxy of the environment has no business on loopback.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    @property
    def base_url(self) -> str:
        """The base URL for a client."""
        return self.url()

    def url(self, persona: str = "") -> str:
        """Return the base URL whose every reply has the faults of a persona, such as "think+delay=50"."""
        return f"http://127.0.0.1:{self.port}/{persona}/v1" if persona else f"http://127.0.0.1:{self.port}/v1"

    def stats(self) -> dict[str, Any]:
        """Return the counts since the start or the last reset."""
        found: dict[str, Any] = self._ask("/stats")
        return found

    def calls(self) -> list[dict[str, Any]]:
        """Return the last model requests: path, headers (names in lower case) and body of each."""
        found: list[dict[str, Any]] = self._ask("/requests")
        return found

    def requests(self) -> list[dict[str, Any]]:
        """Return the bodies of the last model requests, in the order in which they came."""
        return [call["body"] for call in self.calls()]

    def set_faults(self, rules: Rules) -> None:
        """Put other rules in place; they count requests from 1 again.

        Raises:
            ValueError: for a rule that is none.
        """
        self._ask("/faults", rules)

    def reset(self) -> None:
        """Forget counts and requests; the rules stay and begin anew."""
        self._ask("/reset", {})

    def _ask(self, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data=data)
        try:
            with self._opener.open(request, timeout=_TIMEOUT_S) as reply:
                return json.loads(reply.read())
        except HTTPError as error:
            with error:
                raise ValueError(json.loads(error.read())["error"]["message"]) from None


@contextmanager
def start(
    *,
    latency_ms: float = 0,
    faults: Rules = (),
    max_seconds: float = 600,
    keep: int = 1000,
    api_key: str | None = None,
    models: Sequence[str] = (),
) -> Iterator[Server]:
    """Run a server for as long as the block lasts.

    Args:
        latency_ms: how long each model request takes.
        faults: rules, as in `faults`.
        max_seconds: when it goes down by itself, whatever happens.
        keep: how many requests are remembered.
        api_key: the one key that is taken.
        models: the only models that exist.

    Raises:
        RuntimeError: when it does not come up; the message is what it printed.
    """
    command = [sys.executable, str(_PROGRAM), "--port", "0", "--until-stdin-closes"]
    command += ["--latency-ms", str(latency_ms), "--max-seconds", str(max_seconds), "--keep", str(keep)]
    if api_key is not None:
        command.append(f"--api-key={api_key}")
    if models:
        command += ["--models", ",".join(models)]
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as errors:
        if faults:
            file = Path(folder, "faults.json")
            file.write_text(json.dumps(list(faults)), encoding="utf-8")
            command += ["--faults", str(file)]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process:
            assert process.stdout is not None
            try:
                word, _, port = process.stdout.readline().strip().partition(" ")
                if word != "READY":
                    process.wait(_TIMEOUT_S)
                    errors.seek(0)
                    raise RuntimeError(f"the model server did not start: {errors.read().decode()[-2000:]}")
                yield Server(int(port), process.pid)
            finally:
                process.kill()
