"""A chat endpoint for Graphiti whose extraction is a script: each line of an episode is one fact.

It follows the JSON schema that is asked for by its name; every other schema gets the emptiest object
that fits it. So Graphiti's own work is tested (episodes, graph, search), and nobody's extraction.
Run as a program it serves until its input closes, and prints its base URL.
"""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_CURRENT = re.compile(r"<CURRENT[ _]MESSAGES?>\n?(.*?)\n?</CURRENT[ _]MESSAGES?>", re.DOTALL)
_LINE = re.compile(r"^(user|assistant): (.+)$", re.MULTILINE)


def reply(request: Mapping[str, Any]) -> str:
    """Return the content of the reply to a chat request."""
    asked = (request.get("response_format") or {}).get("json_schema") or {}
    prompt = "\n".join(str(message["content"]) for message in request["messages"])
    found = _CURRENT.search(prompt)
    lines = _LINE.findall(found[1]) if found else []
    match asked.get("name"):
        case "ExtractedEntities":
            entities = [
                {"name": name, "entity_type_id": 0, "episode_indices": [0]} for name in ("user", "assistant")
            ]
            return json.dumps({"extracted_entities": entities})
        case "ExtractedEdges":
            return json.dumps({"edges": [_edge(role, said) for role, said in lines]})
        case _:
            schema = asked.get("schema", {})
            return json.dumps(_emptiest(schema, schema.get("$defs", {})))


def _edge(role: str, said: str) -> dict[str, Any]:
    other = "assistant" if role == "user" else "user"
    return {
        "source_entity_name": role,
        "target_entity_name": other,
        "relation_type": "SAID",
        "fact": f"The {role} said: {said}",
        "valid_at": None,
        "invalid_at": None,
        "episode_indices": [0],
    }


def _emptiest(schema: Mapping[str, Any], named: Mapping[str, Any]) -> Any:
    if "$ref" in schema:
        return _emptiest(named[schema["$ref"].rpartition("/")[2]], named)
    if "enum" in schema:
        return schema["enum"][0]
    for one in schema.get("anyOf", ()):
        if one.get("type") == "null":
            return None
    match schema.get("type"):
        case "object":
            return {name: _emptiest(part, named) for name, part in schema.get("properties", {}).items()}
        case "array":
            return []
        case "integer" | "number":
            return 0
        case "boolean":
            return False
        case _:
            return ""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # unbuffered, each reply would wait for a delayed acknowledgement
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append(request)  # type: ignore[attr-defined]
        body = json.dumps(
            {
                "id": "1",
                "object": "chat.completion",
                "created": 0,
                "model": request["model"],
                "choices": [
                    {
                        "index": 0,
                        "finish_reason": "stop",
                        "message": {"role": "assistant", "content": reply(request)},
                    }
                ],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
            }
        ).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Extraction(ThreadingHTTPServer):
    """The endpoint; `asked` are the requests so far."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[dict[str, Any]] = []

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


@contextmanager
def serving() -> Iterator[Extraction]:
    """Serve in threads of this process."""
    with Extraction() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()


if __name__ == "__main__":
    with serving() as endpoint:
        print(endpoint.base_url, flush=True)
        sys.stdin.read()
