"""The process in which llama.cpp's server runs; started by `harness.llm.local_server`, never imported.

It reads one JSON line from standard input, writes one to standard output when the server
listens, and ends when standard input closes, which it does however its parent ends. All else
that it or the native code prints goes to standard error. It needs nothing of `harness`, so
that it runs wherever that was imported from.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import time
from typing import Any


def main() -> None:
    """Serve until standard input closes."""
    reply = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # llama.cpp prints to both
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to deal with
    line = sys.stdin.buffer.readline()
    if not line:
        os._exit(0)
    order = json.loads(line)
    _die_with(order["parent"])
    started = time.perf_counter()
    try:
        server = _serve(order)
    except Exception as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())
        print(json.dumps({"error": said}), file=reply, flush=True)
        os._exit(1)
    taken = time.perf_counter() - started
    print(json.dumps({"url": server.listening_address, "load_s": taken}), file=reply, flush=True)
    sys.stdin.buffer.read()
    os._exit(0)  # the native server would first finish what it is answering


def _serve(order: dict[str, Any]) -> Any:
    # By name: the package has no type stubs, and is an extra.
    xllamacpp = importlib.import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = order["path"]
    params.model_alias = {order["name"]}
    params.hostnames = ["127.0.0.1"]
    params.port = order["port"]
    params.n_parallel = order["parallel"]
    params.n_ctx = order["context"] * order["parallel"]  # llama.cpp shares it out among the slots
    params.cpuparams.n_threads = order["threads"]
    params.cpuparams_batch.n_threads = order["threads"]
    params.cache_ram_mib = 256  # of old prompts; by default they may fill 8 GB
    params.cors_origins = "http://127.0.0.1"  # no web page elsewhere may use the model
    params.ui = False
    params.offline = True
    return xllamacpp.Server(params)


def _die_with(parent: int) -> None:
    """Have the kernel kill this process when its parent dies, which also works while a model loads.

    Reading standard input is no help then: loading holds Python's lock.
    """
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    death_signal = 1  # PR_SET_PDEATHSIG
    ctypes.CDLL(None).prctl(death_signal, signal.SIGKILL)
    if os.getppid() != parent:  # it died before we asked
        os._exit(0)


if __name__ == "__main__":
    main()
