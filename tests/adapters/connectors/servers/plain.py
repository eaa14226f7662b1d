"""A store for each user: a request a message, a search by GET."""

from __future__ import annotations

from typing import Any

from .serving import Reply, Request, overlap


class PlainStore:
    def __init__(self) -> None:
        self.users: dict[str, list[dict[str, Any]]] = {}

    def __call__(self, request: Request) -> Reply:
        match request.method, request.parts:
            case "POST", ("users", user, "memories"):
                held = self.users.setdefault(user, [])
                held.append({"id": len(held) + 1, **request.body})
                return Reply(201, {"id": len(held)})
            case "GET", ("users", user, "search"):
                found = [
                    {"id": one["id"], "score": overlap(request.query["q"], one["text"]), "memory": one}
                    for one in self.users.get(user, [])
                ]
                found.sort(key=lambda one: -one["score"])
                return Reply(200, {"results": found[: int(request.query["limit"])]})
            case "GET", ("users", user, "memories"):
                return Reply(200, {"results": [{"memory": one} for one in self.users.get(user, [])]})
            case "DELETE", ("users", user, "memories", number):
                held = self.users.get(user, [])
                self.users[user] = [one for one in held if str(one["id"]) != number]
                return Reply(200 if len(self.users[user]) < len(held) else 404, {})
            case "DELETE", ("users", user):
                return Reply(200 if self.users.pop(user, None) is not None else 404, {})
        return Reply(404, {"detail": "no such route"})
