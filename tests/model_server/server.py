"""The routes of the model server: what is answered to which request, and what is counted."""

from __future__ import annotations

import asyncio
import json
import sys
import traceback
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from . import embedding
from .answerer import answered, last_user_text
from .faults import Asked, Fault, Rule, faults_for, format_of, parse_rules, persona
from .judge_prompt import text_of
from .refusals import REFUSALS, refused
from .replies import completion
from .rule_judge import judged
from .spoiled import SPOILED
from .wire import Connection, Request, Response

_ROUTES = {"/chat/completions": "chat", "/embeddings": "embeddings", "/models": "models"}


@dataclass(slots=True)
class Counts:
    """What has happened since the start or the last reset."""

    requests: int = 0
    connections: int = 0
    in_flight: int = 0
    max_in_flight: int = 0
    bytes_in: int = 0
    routes: Counter[str] = field(default_factory=Counter)
    by_status: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)

    def as_json(self) -> dict[str, Any]:
        shown = {
            name: getattr(self, name)
            for name in ("requests", "connections", "in_flight", "max_in_flight", "bytes_in")
        }
        return {
            **shown,
            "chat": self.routes["chat"],
            "embeddings": self.routes["embeddings"],
            "by_status": dict(self.by_status),
            "faults": dict(self.faults),
        }


class ModelServer:
    """The state of one server.

    Args:
        latency_s: how long each model request takes.
        rules: faults, as in `faults`.
        keep: how many requests are kept for `/requests`.
        api_key: the one key that is taken; any, or none, when None.
        models: the models that exist; any when empty.
    """

    def __init__(
        self,
        *,
        latency_s: float = 0.0,
        rules: Iterable[Mapping[str, Any]] = (),
        keep: int = 1000,
        api_key: str | None = None,
        models: Iterable[str] = (),
    ) -> None:
        self.latency_s = latency_s
        self.rules: list[Rule] = parse_rules(list(rules))
        self.api_key = api_key
        self.models = tuple(models)
        self.counts = Counts()
        self.calls: deque[dict[str, Any]] = deque(maxlen=keep)
        self._numbers: Counter[str] = Counter()

    async def listen(self, port: int) -> asyncio.Server:
        """Start to listen on loopback; port 0 takes a free one."""
        loop = asyncio.get_running_loop()
        return await loop.create_server(
            lambda: Connection(self.handle, self._opened), "127.0.0.1", port, backlog=1024
        )

    def _opened(self) -> None:
        self.counts.connections += 1

    async def handle(self, request: Request) -> Response:
        """Return the response to any request; a defect of the server's own becomes a 500 that says so."""
        try:
            return await self._routed(request)
        except Exception:
            traceback.print_exc(file=sys.stderr)
            return _json(
                500, {"error": {"message": "the model server of the tests has a defect; see its stderr"}}
            )

    async def _routed(self, request: Request) -> Response:
        path = request.path.partition("?")[0]
        if path in ("/stats", "/requests", "/reset", "/faults"):
            return self._control(request.method, path, request.body)
        self.counts.requests += 1
        self.counts.bytes_in += len(request.body)
        self.counts.in_flight += 1
        self.counts.max_in_flight = max(self.counts.max_in_flight, self.counts.in_flight)
        try:
            response = await self._model(request, path)
        finally:
            self.counts.in_flight -= 1
        self.counts.by_status[str(response.status)] += 1
        return response

    def _control(self, method: str, path: str, body: bytes) -> Response:
        if path == "/stats":
            return _json(200, self.counts.as_json())
        if path == "/requests":
            return _json(200, list(self.calls))
        if method != "POST":
            return _json(405, {"error": {"message": f"{path} takes POST"}})
        if path == "/faults":
            try:
                self.rules = parse_rules(json.loads(body or b"[]"))
            except ValueError as error:
                return _json(400, {"error": {"message": str(error)}})
        else:
            self.counts = Counts(in_flight=self.counts.in_flight)
            self.calls.clear()
            for rule in self.rules:
                rule.struck = 0
                rule.bodies.clear()
        self._numbers.clear()
        return _json(200, {"ok": True})

    async def _model(self, request: Request, path: str) -> Response:
        prefix, found, rest = path.partition("/v1")
        route = _ROUTES.get(rest, "") if found else ""
        self.counts.routes[route or "unknown"] += 1
        try:
            own = persona(prefix.strip("/"))
        except ValueError as error:
            return _refuse("bad_route", {"path": f"{path}: {error}"})
        if not route or request.method != ("GET" if route == "models" else "POST"):
            return _refuse("bad_route", {"path": path})
        if self.api_key is not None and request.headers.get("authorization") != f"Bearer {self.api_key}":
            return _refuse("unauthorized", {})
        if route == "models":
            own_models = [
                {"id": name, "object": "model", "owned_by": "tests"}
                for name in self.models or ("test-model",)
            ]
            return _json(200, {"object": "list", "data": own_models})
        try:
            body = json.loads(request.body)
            if not isinstance(body, dict):
                raise ValueError
        except ValueError:
            return _refuse("bad_request", {"message": "We could not parse the JSON body of your request."})
        self.calls.append({"path": path, "headers": dict(request.headers), "body": body})
        return await self._answer(request, body, route, own)

    async def _answer(
        self, request: Request, body: dict[str, Any], route: str, own: tuple[Fault, ...]
    ) -> Response:
        self._numbers[route] += 1
        number = self._numbers[route]
        messages = body.get("messages")
        messages = messages if isinstance(messages, list) else []
        asked = Asked(number, body, request.body, last_user_text(messages), route)
        faults = own + faults_for(self.rules, asked)
        named = {fault.name: fault.arguments for fault in faults}
        wait = self.latency_s
        wait += sum(float(fault.arguments.get("ms", 100)) / 1000 for fault in faults if fault.name == "delay")
        if "slow_headers" in named:
            wait += float(named["slow_headers"].get("seconds", 60))
        response = self._refused(faults, body) or self._wrong(body, route)
        self.counts.faults.update(tuple(named))
        if response is None:
            response = self._embedded(body) if route == "embeddings" else _said(body, faults, named, number)
        # The time that ruling took is part of the latency, as it is of a model's.
        left = request.arrived + wait - asyncio.get_running_loop().time()
        if wait and left > 0:
            await asyncio.sleep(left)
        return _cut(response, named)

    def _refused(self, faults: tuple[Fault, ...], body: Mapping[str, Any]) -> Response | None:
        for name, arguments in faults:
            if name in REFUSALS and (response := refused(name, arguments, body, format_of(body))):
                return response
        return None

    def _wrong(self, body: Mapping[str, Any], route: str) -> Response | None:
        """Return what any real provider answers to a request that is no good."""
        if not isinstance(body.get("model"), str):
            return _refuse("bad_request", {"message": "you must provide a model parameter"})
        if self.models and body["model"] not in self.models:
            return _refuse("model_not_found", {}, body)
        if route == "embeddings":
            return None
        messages = body.get("messages")
        if not isinstance(messages, list) or not messages or not all(isinstance(m, dict) for m in messages):
            return _refuse("bad_request", {"message": "Missing required parameter: 'messages'."})
        if body.get("stream"):
            return _refuse("unsupported_param", {"param": "stream"}, body)
        if format_of(body) == "json_object" and not any("json" in text_of(m).lower() for m in messages):
            return _refuse("needs_word_json", {})
        return None

    def _embedded(self, body: dict[str, Any]) -> Response:
        try:
            return _json(200, embedding.response(body))
        except ValueError as error:
            return _refuse("bad_request", {"message": str(error)})


def _said(
    body: dict[str, Any], faults: tuple[Fault, ...], named: Mapping[str, Mapping[str, Any]], number: int
) -> Response:
    ruling = judged(body["messages"])
    if ruling is None:
        text = answered(body, format_of(body))
    else:
        judgement, answer = ruling
        for fault in faults:
            if fault.name in SPOILED:
                judgement = SPOILED[fault.name](judgement, answer)
        text = json.dumps(judgement, ensure_ascii=False)
    return _json(200, completion(text, body, named, number))


def _cut(response: Response, named: Mapping[str, Mapping[str, Any]]) -> Response:
    """Return the response as the faults of the wire leave it."""
    length = len(response.body)
    if "bad_body" in named:
        response = response._replace(body=response.body[: length // 2])
    if "long_length" in named:
        response = response._replace(claimed=length + 100)
    if "short_length" in named:
        response = response._replace(claimed=length // 2)
    if "drop_mid_body" in named:
        response = response._replace(sent=-(length // 2))
    if "drop" in named:
        response = response._replace(sent=0)
    if "slow_body" in named:
        response = response._replace(pause_s=float(named["slow_body"].get("seconds", 60)))
    return response


def _json(status: int, body: Any) -> Response:
    return Response(status, json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def _refuse(name: str, arguments: Mapping[str, Any], body: Mapping[str, Any] | None = None) -> Response:
    response = refused(name, arguments, body or {}, "")
    assert response is not None
    return response
