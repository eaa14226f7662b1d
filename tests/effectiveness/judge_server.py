"""A judge on loopback that rules as a function says."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Ruling = Callable[[str, list[str]], Any]


class Judge:
    """Serves completions that a function makes of the stored text and the ids of the facts."""

    def __init__(self) -> None:
        self.rules: Ruling = lambda stored, ids: {}
        self.asked: list[str] = []
        judge = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                prompt = asked["messages"][1]["content"]
                judge.asked.append(prompt)
                stored = re.search(r"<<<STORED \w+>>>\n(.*)\n<<<END", prompt, re.DOTALL)
                assert stored is not None
                ids = re.findall(r"^- (f\d+): ", prompt, re.MULTILINE)
                said = judge.rules(stored[1], ids)
                content = said if isinstance(said, str) else json.dumps(said)
                choice = {
                    "index": 0,
                    "finish_reason": "stop",
                    "message": {"role": "assistant", "content": content},
                }
                body = json.dumps(
                    {"id": "1", "object": "chat.completion", "model": "m", "choices": [choice]}
                ).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}/v1"


@contextmanager
def serving() -> Iterator[Judge]:
    made = Judge()
    thread = threading.Thread(target=made.server.serve_forever, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.server.shutdown()
        made.server.server_close()
        thread.join()


def ruling(same: dict[str, bool], quote: str) -> dict[str, Any]:
    pairs = [{"id": id, "verdict": "same" if held else "different"} for id, held in same.items()]
    support = "supported" if quote else "unsupported"
    return {"reasoning": "so", "pairs": pairs, "quote": quote, "support": support}
