"""A list of memories is imported in one request, and searched; no ids."""

from __future__ import annotations

from typing import Any

from .serving import Reply, Request, overlap


class ImportServer:
    def __init__(self) -> None:
        self.spaces: dict[str, list[dict[str, Any]]] = {}

    def __call__(self, request: Request) -> Reply:
        match request.method, request.parts:
            case "POST", (space, "import"):
                self.spaces.setdefault(space, []).extend(request.body["memories"])
                return Reply(200, {"imported": len(request.body["memories"])})
            case "POST", (space, "search"):
                asked = request.body
                found = [
                    {**one, "score": overlap(asked["query"], one["content"])} for one in self.spaces[space]
                ]
                found.sort(key=lambda one: -one["score"])
                return Reply(200, found[: asked["top_k"]])
            case "DELETE", (space,):
                self.spaces.pop(space, None)
                return Reply(200, {})
        return Reply(404, {"detail": "no such route"})
