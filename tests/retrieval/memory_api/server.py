"""A memory server with an import and a search: limits, lag, ids of its own, soft deletion."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from tests.adapters.connectors.servers.serving import Reply, Request, Running, serve

KEY = "k3y/with-slash"
WINDOW_S = 0.15


@dataclass
class Record:
    id: str
    data: dict[str, Any]
    visible_after: int
    active: bool = True


@dataclass
class MemoryServer:
    own_ids: bool = False  # whether records get ids of the server's own
    names_ids: bool = False  # whether the import's reply says which
    shows_key: bool = True  # whether a whole result has the record's key
    lag: int = 0  # searches that a record is not found by after its import
    writes: int = 1000
    reads: int = 1000
    retry_after: str | None = None
    max_bytes: int = 1_000_000
    max_records: int = 500
    miscount: int = 0
    deletes_until: int | None = None  # deletions that are granted; then 500
    apart: bool = True  # whether clients are kept apart
    degraded: set[str] = field(default_factory=set)  # words of queries that are answered with 503
    unscored: set[str] = field(default_factory=set)  # contents of records that are found without a score
    key: str | None = KEY

    def __post_init__(self) -> None:
        self.records: dict[str, Record] = {}
        self.searches = 0
        self.refused = {"read": 0, "write": 0}
        self.deleted = 0
        self._used = {"read": 0, "write": 0}
        self._until: dict[str, float] = {}
        self.early = 0

    @property
    def left(self) -> list[Record]:
        return [record for record in self.records.values() if record.active]

    def add(self, id: str, **data: Any) -> None:
        self.records[id] = Record(id, data, 0)

    def __call__(self, request: Request) -> Reply:
        if self.key is not None and request.headers.get("x-api-key") != self.key:
            return Reply(401, {"error": f"bad key {request.headers.get('x-api-key')}"})
        kind = "read" if request.method == "GET" else "write"
        if self._is_too_much(kind):
            self.refused[kind] += 1
            wait = self.retry_after or f"{WINDOW_S:.2f}"
            return Reply(429, {"error": "too many requests"}, {"Retry-After": wait})
        match request.method, request.parts:
            case "POST", ("export", "import"):
                return self._import(request)
            case "GET", ("memory", "search"):
                return self._search(request)
            case "DELETE", ("memory", id):
                return self._delete(id)
        return Reply(404, {"error": "no such route"})

    def _is_too_much(self, kind: str) -> bool:
        # What is above the limit is refused until the window is over; who comes back early is counted.
        if kind in self._until:
            if monotonic() < self._until[kind]:
                self.early += 1
                return True
            del self._until[kind]
            self._used[kind] = 0
        self._used[kind] += 1
        if self._used[kind] <= (self.reads if kind == "read" else self.writes):
            return False
        self._until[kind] = monotonic() + 0.9 * WINDOW_S
        return True

    def _import(self, request: Request) -> Reply:
        if int(request.headers["content-length"]) > self.max_bytes:
            return Reply(413, {"error": "request entity too large"})
        data = request.body["data"]
        if request.body.get("operator_approved") is not True or len(data) > self.max_records:
            return Reply(400, {"error": f"at most {self.max_records} records, approved by the operator"})
        errors, ids, skipped = [], {}, 0
        held = {record.data["content"] for record in self.left}
        for one in data:
            if "REFUSED" in one["content"]:
                errors.append({"id": one["id"], "error": "content refused"})
            elif one["content"] in held:
                skipped += 1
            else:
                id = uuid.uuid4().hex if self.own_ids else one["id"]
                ids[one["id"]] = id
                self.records[id] = Record(id, one, self.searches + self.lag)
                held.add(one["content"])
        reply: dict[str, Any] = {"imported": len(ids) - self.miscount, "skipped": skipped, "errors": errors}
        return Reply(200, {**reply, "ids": ids} if self.names_ids else reply)

    def _search(self, request: Request) -> Reply:
        asked = request.query
        self.searches += 1
        if self.degraded & set(asked["q"].split()):
            error = "the vector index does not answer"
            return Reply(503, {"error": error, "query": asked["q"], "retrieval": {"degraded": True}})
        found = []
        for record in self.left:
            mine = not self.apart or record.data["client_id"] == asked.get("client_id")
            words = _words(asked["q"]) & _words(record.data["content"])
            if mine and words and record.visible_after < self.searches:
                found.append((len(words), record))
        found.sort(key=lambda one: -one[0])
        results = [self._shown(record, score, asked.get("format") == "index") for score, record in found]
        results = results[: min(int(asked["limit"]), 100)]
        return Reply(200, {"query": asked["q"], "count": len(results), "results": results})

    def _shown(self, record: Record, score: int, index: bool) -> dict[str, Any]:
        text = record.data["content"]
        short = {"id": record.id, "effective_score": score / 10, "type": record.data["type"]}
        if record.data["content"] in self.unscored:
            del short["effective_score"]
        if index:
            return {**short, "summary": text.split()[0]}
        shown = {**short, "content": text, "client_id": record.data["client_id"]}
        return {**shown, "key": record.data["key"]} if self.shows_key else shown

    def _delete(self, id: str) -> Reply:
        if id not in self.records:
            return Reply(404, {"error": "memory not found"})
        if self.deleted == self.deletes_until:
            return Reply(500, {"error": "disk full"})
        self.deleted += 1
        self.records[id].active = False
        return Reply(200, {"id": id, "deleted": True})


@contextmanager
def running(server: MemoryServer) -> Iterator[Running]:
    with serve(server) as where:
        yield where


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))
