"""A memory server of the Model Context Protocol in one file, with tools and shapes that nobody else has.

    remember(who, what, when)   returns {"stored": {"key": …}}
    look_up(about, most)        returns JSON text {"hits": [{"key", "body", "far", "when"}]}, nearest first
    everything()                returns its notes as text parts, one JSON object each
    forget(key)

`--fault` makes it misbehave: die or hang at start or at a look-up, write no JSON, speak another protocol.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from typing import Any

NOTES: dict[str, dict[str, Any]] = {}


def remember(given: dict[str, Any]) -> dict[str, Any]:
    key = f"note-{len(NOTES) + 1}"
    NOTES[key] = {"key": key, "body": given["what"], "when": given.get("when"), "given": given}
    return {"content": [{"type": "text", "text": "ok"}], "structuredContent": {"stored": {"key": key}}}


def look_up(given: dict[str, Any]) -> dict[str, Any]:
    asked = set(given["about"].lower().split())
    hits = [{**note, "far": len(asked - set(note["body"].lower().split()))} for note in NOTES.values()]
    hits = sorted((hit for hit in hits if hit["far"] < len(asked)), key=lambda hit: hit["far"])
    text = json.dumps({"hits": hits[: given["most"]]}) if hits else "Nothing found for that."
    return {"content": [{"type": "text", "text": text}]}


def everything(given: dict[str, Any]) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": json.dumps(note)} for note in NOTES.values()]}


def forget(given: dict[str, Any]) -> dict[str, Any]:
    if NOTES.pop(given["key"], None) is None:
        return {"isError": True, "content": [{"type": "text", "text": f"no note {given['key']}"}]}
    return {"content": []}


TOOLS = {"remember": remember, "look_up": look_up, "everything": everything, "forget": forget}


def send(message: dict[str, Any]) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def misbehave(how: str) -> None:
    if how == "die":
        print("Traceback: out of marbles", file=sys.stderr, flush=True)
        sys.exit(3)
    if how == "hang":
        time.sleep(60)
    if how == "garbage":
        print("Server listening …", flush=True)


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--fault", default="")
    options.add_argument("--stay", action="store_true", help="do not end when the input closes")
    chosen = options.parse_args()
    when, _, how = chosen.fault.partition("-")
    for line in sys.stdin:
        message = json.loads(line)
        method = message.get("method")
        if method == "initialize":
            if when == "start":
                misbehave(how)
            spoken = "1999-01-01" if how == "protocol" else message["params"]["protocolVersion"]
            about = {"name": "tiny", "version": "1.2"}
            send(
                {
                    "id": message["id"],
                    "result": {
                        "protocolVersion": spoken,
                        "capabilities": {"tools": {}},
                        "serverInfo": about,
                    },
                }
            )
        elif method == "tools/list":
            first, second = list(TOOLS)[:2], list(TOOLS)[2:]
            page = message["params"].get("cursor")
            names = second if page else first
            found: dict[str, Any] = {"tools": [{"name": name, "inputSchema": {}} for name in names]}
            send({"id": message["id"], "result": found if page else {**found, "nextCursor": "2"}})
        elif method == "tools/call":
            called = message["params"]["name"]
            if called == "look_up" and when == "search":
                misbehave(how)
            send({"method": "notifications/message", "params": {"level": "info", "data": "on it"}})
            send({"id": "asked-by-server", "method": "ping"})
            assert json.loads(sys.stdin.readline())["result"] == {}
            send({"id": message["id"], "result": TOOLS[called](message["params"]["arguments"])})
        elif method == "notifications/initialized" and os.environ.get("TINY_SHOWS_ENV"):
            NOTES["env"] = {"key": "env", "body": " ".join(sorted(os.environ)), "when": None}
    if chosen.stay:
        time.sleep(60)


if __name__ == "__main__":
    main()
