"""`python -m tests.model_server`, or `python tests/model_server/__main__.py`: run a server until it is stopped."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
from pathlib import Path

if not __package__:  # run by its path: the package is a neighbour of no other code
    sys.path[0] = str(Path(__file__).resolve().parents[1])
    __package__ = "model_server"

from .server import ModelServer


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="model_server", description="An OpenAI-compatible server for tests."
    )
    parser.add_argument("--port", type=int, default=0, help="0: a free one, which is printed")
    parser.add_argument("--latency-ms", type=float, default=0.0)
    parser.add_argument("--faults", type=Path, help="a JSON file of rules")
    parser.add_argument("--max-seconds", type=float, default=600.0, help="stop by itself after so long")
    parser.add_argument("--keep", type=int, default=1000, help="requests kept for /requests")
    parser.add_argument("--api-key", help="refuse any other")
    parser.add_argument(
        "--models", default="", help="names of models, separated by commas; any when left out"
    )
    parser.add_argument("--until-stdin-closes", action="store_true", help="stop when stdin is closed")
    return parser.parse_args()


async def _run(options: argparse.Namespace) -> None:
    rules = json.loads(options.faults.read_text(encoding="utf-8")) if options.faults else []
    server = ModelServer(
        latency_s=options.latency_ms / 1000,
        rules=rules,
        keep=options.keep,
        api_key=options.api_key,
        models=[name for name in options.models.split(",") if name],
    )
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    loop.call_later(options.max_seconds, stop.set)
    if options.until_stdin_closes:
        # Even a parent that is killed closes its end of the pipe.
        loop.add_reader(sys.stdin.fileno(), _read_on, sys.stdin.fileno(), stop)
    listening = await server.listen(options.port)
    print(f"READY {listening.sockets[0].getsockname()[1]}", flush=True)
    await stop.wait()
    listening.close()


def _read_on(file: int, stop: asyncio.Event) -> None:
    if not os.read(file, 4096):
        stop.set()


if __name__ == "__main__":
    asyncio.run(_run(_arguments()))
