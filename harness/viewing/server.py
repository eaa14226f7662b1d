"""The server: loopback only, GET and HEAD only, for the names of this machine only."""

from __future__ import annotations

import socketserver
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from harness.errors import HarnessError, InputError
from harness.runs.comparing import default_scorer
from harness.runs.folder import RunFolder
from harness.viewing import pages
from harness.viewing.store import Store

HOST = "127.0.0.1"
Render = Callable[[Sequence[RunFolder]], str]
_KEPT = 8
_PATIENCE_S = 20.0
_HTML = "text/html; charset=utf-8"
_TEXT = "text/plain; charset=utf-8"
_CLOSED = "base-uri 'none'; frame-ancestors 'none'"
OWN_POLICY = f"default-src 'none'; style-src 'sha256-{pages.STYLE_HASH}'; form-action 'self'; {_CLOSED}"
REPORT_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; font-src data:; "
    f"form-action 'none'; {_CLOSED}"
)
"""For a report that has scripts of its own, and a policy in its head that names them by their hashes."""
_HAS_POLICY = 'http-equiv="content-security-policy"'


class Reply(NamedTuple):
    """What a request is answered with."""

    status: HTTPStatus
    body: bytes
    type: str = _HTML
    policy: str = OWN_POLICY


class RunServer(ThreadingHTTPServer):
    """Serves the runs of a store until it is shut down.

    Args:
        store: the runs.
        render: makes the page of a comparison.
        port: to listen on; 0 for any free one.

    Raises:
        InputError: when the port cannot be had.
    """

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, store: Store, render: Render, port: int = 0) -> None:
        self.store = store
        self._render = render
        self._made: OrderedDict[Any, str] = OrderedDict()
        self._making = threading.Lock()
        try:
            super().__init__((HOST, port), _Handler)
        except OSError as error:
            raise InputError(
                f"--port {port}: {error.strerror}. Choose another port, or 0 for a free one."
            ) from None

    def server_bind(self) -> None:
        """Bind without asking a name server what this machine is called."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, int(self.server_address[1])

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a browser that went away."""

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://{HOST}:{self.server_port}/"

    @property
    def names(self) -> frozenset[str]:
        """The Host headers that are answered; any other is a page elsewhere that was pointed here."""
        own = {f"{name}:{self.server_port}" for name in (HOST, "localhost")}
        return frozenset(own | ({HOST, "localhost"} if self.server_port == 80 else set()))

    def reply(self, path: str, query: str) -> Reply:
        """Return the page for a path."""
        parts = [unquote(part, errors="replace") for part in path.split("/")[1:]]
        try:
            match parts:
                case [""]:
                    return _page(pages.run_list(str(self.store.path), self.store.listed()))
                case ["compare"]:
                    return self._compare(parse_qs(query, errors="replace", max_num_fields=500).get("run", []))
                case ["run", name]:
                    files = [(file, found.stat().st_size) for file, found in self.store.files(name).items()]
                    return _page(pages.one_run(self.store.runs([name])[0], name, files))
                case ["run", name, file]:
                    return Reply(HTTPStatus.OK, self.store.text(name, file), _TEXT)
        except KeyError:
            return failure(HTTPStatus.NOT_FOUND, "There is no such run or file here.")
        except ValueError:
            return failure(HTTPStatus.BAD_REQUEST, "Too many runs are named.")
        except HarnessError as error:
            return failure(HTTPStatus.UNPROCESSABLE_ENTITY, str(error))
        except OSError as error:
            return failure(HTTPStatus.INTERNAL_SERVER_ERROR, f"It cannot be read: {error.strerror}.")
        return failure(HTTPStatus.NOT_FOUND, "There is no such page.")

    def _compare(self, names: Sequence[str]) -> Reply:
        wanted = list(dict.fromkeys(names))
        if not wanted:
            return failure(HTTPStatus.BAD_REQUEST, "No run is chosen. Go back and choose one or more.")
        runs = self.store.runs(wanted)
        groups: dict[str, list[str]] = {}
        for name, run in zip(wanted, runs, strict=True):
            groups.setdefault(default_scorer(run), []).append(name)
        if len(groups) > 1:
            return _page(pages.choice(groups))
        state = tuple(wanted), self.store.state(wanted)
        with self._making:  # one at a time: it takes all of a processor
            made = self._made.get(state)
            if made is None:
                made = self._made[state] = self._render(runs)
                while len(self._made) > _KEPT:
                    self._made.popitem(last=False)
        guarded = _HAS_POLICY in made[:20_000].lower()
        return _page(made, REPORT_POLICY if guarded else OWN_POLICY)


def _page(html: str, policy: str = OWN_POLICY) -> Reply:
    return Reply(HTTPStatus.OK, html.encode("utf-8", "replace"), policy=policy)


def failure(status: HTTPStatus, message: str) -> Reply:
    """Return the page of an error."""
    return Reply(status, pages.problem(status.phrase, message).encode("utf-8", "replace"))


class _Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: RunServer
    timeout = _PATIENCE_S

    def do_GET(self) -> None:
        self._send(self._reply())

    def do_HEAD(self) -> None:
        self._send(self._reply())

    def _refused(self) -> None:
        self._send(failure(HTTPStatus.METHOD_NOT_ALLOWED, "This server is read-only."), allow=True)

    do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_TRACE = do_CONNECT = _refused

    def _reply(self) -> Reply:
        hosts = self.headers.get_all("Host", [])
        if len(hosts) != 1 or hosts[0].strip().lower() not in self.server.names:
            return failure(HTTPStatus.FORBIDDEN, f"This server answers at {self.server.url} only.")
        if not self.path.startswith("/") or self.path.startswith("//"):
            return failure(HTTPStatus.BAD_REQUEST, "The request names no path.")
        split = urlsplit(self.path)
        try:
            return self.server.reply(split.path, split.query)
        except Exception as error:  # a page that cannot be made must not end the connection without a word
            return failure(HTTPStatus.INTERNAL_SERVER_ERROR, f"It cannot be shown: {type(error).__name__}.")

    def _send(self, reply: Reply, *, allow: bool = False) -> None:
        self.send_response(reply.status)
        for name, value in (
            ("Content-Type", reply.type),
            ("Content-Length", str(len(reply.body))),
            ("Content-Security-Policy", reply.policy),
            ("X-Content-Type-Options", "nosniff"),
            ("X-Frame-Options", "DENY"),
            ("Referrer-Policy", "no-referrer"),
            ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Cache-Control", "no-store"),
        ):
            self.send_header(name, value)
        if allow:
            self.send_header("Allow", "GET, HEAD")
        self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer a request that is none with a page like every other."""
        status = HTTPStatus(code)
        if not hasattr(self, "headers") or self.request_version == "HTTP/0.9":
            self.request_version = "HTTP/1.0"
        self._send(failure(status, "This is no request that can be answered."))

    def version_string(self) -> str:
        """Tell nobody which Python this is."""
        return "recallbench"

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""
