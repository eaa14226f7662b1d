"""Users with sessions; what was said can be recalled some polls after its session was closed."""

from __future__ import annotations

import time
from typing import Any

from .serving import Reply, Request, overlap


class SessionServer:
    """`polls` is how often a closed session is still being worked on; `slow_s` holds up the replies that `slow` names."""

    def __init__(self, polls: int = 2, state: str = "ready", slow: str = "", slow_s: float = 0.0) -> None:
        self.polls, self.state, self.slow, self.slow_s = polls, state, slow, slow_s
        self.users: dict[str, str] = {}
        self.sessions: dict[str, dict[str, Any]] = {}
        self.made = 0

    def __call__(self, request: Request) -> Reply:
        reply = self._reply(request)
        if self.slow and request.parts[-1] == self.slow:
            time.sleep(self.slow_s)
        return reply

    def _reply(self, request: Request) -> Reply:
        match request.method, request.parts:
            case "POST", ("users",):
                self.made += 1
                self.users[f"u{self.made}"] = request.body["name"]
                return Reply(201, {"user": {"id": f"u{self.made}"}})
            case "POST", ("users", user, "sessions"):
                self.made += 1
                session = {"user": user, "said": [], "open": True, "polls": self.polls}
                self.sessions[f"s{self.made}"] = session
                return Reply(201, {"id": f"s{self.made}"})
            case "POST", ("sessions", name, "messages"):
                self.sessions[name]["said"] += request.body["messages"]
                return Reply(202, b"")
            case "POST", ("sessions", name, "close"):
                self.sessions[name]["open"] = False
                return Reply(204, b"")
            case "GET", ("sessions", name):
                self.sessions[name]["polls"] -= 1
                return Reply(200, {"status": self.state if self.sessions[name]["polls"] < 0 else "working"})
            case "POST", ("users", user, "recall"):
                return Reply(200, {"memories": self._found(user, request.body)})
            case "DELETE", ("users", user):
                self.users.pop(user)
                self.sessions = {key: one for key, one in self.sessions.items() if one["user"] != user}
                return Reply(204, b"")
        return Reply(404, {"detail": "no such route"})

    @property
    def open_sessions(self) -> int:
        return sum(one["open"] for one in self.sessions.values())

    def _found(self, user: str, asked: dict[str, Any]) -> list[dict[str, Any]]:
        done = [one for one in self.sessions.values() if one["user"] == user and one["polls"] < 0]
        found = [
            {
                "id": f"m{number}",
                "content": said["content"],
                "relevance": overlap(asked["query"], said["content"]) / 10,
                "at": said["at"],
                "kind": "episodic",
                "importance": None,
            }
            for number, said in enumerate([said for one in done for said in one["said"]])
        ]
        return sorted(found, key=lambda one: -one["relevance"])[: asked["top"]]
