"""The server of runs, asked over HTTP: what it shows, and what it refuses."""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from harness.errors import InputError
from harness.runs.folder import RunFolder
from harness.suite import Suite, load_suite
from harness.viewing import HOST, RunServer, Store
from tests.conftest import WriteSuite
from tests.runs.made import FAILED, RIGHT, made_run, record

EVIL = '<script>alert(1)</script>"&\u202e'


class Site:
    """A server at work, and the folder it serves."""

    def __init__(self, server: RunServer, folder: Path) -> None:
        self.server, self.folder = server, folder
        self.rendered: list[list[str]] = []

    def ask(self, path: str, method: str = "GET", **headers: str) -> tuple[int, http.client.HTTPMessage, str]:
        """Send a request as it is, with nothing put in order; `Host` is the right one unless given."""
        connection = http.client.HTTPConnection(HOST, self.server.server_port, timeout=20)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in {"Host": f"{HOST}:{self.server.server_port}", **headers}.items():
                if value:
                    connection.putheader(name, value)
            connection.endheaders()
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode()
        finally:
            connection.close()

    def send(self, data: bytes) -> bytes:
        """Send bytes that need not be a request."""
        with socket.create_connection((HOST, self.server.server_port), timeout=20) as line:
            line.sendall(data)
            line.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: line.recv(65536), b""))


Serve = Callable[..., Site]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    started: list[RunServer] = []

    def start(folder: Path = tmp_path / "runs", page: str | None = None) -> Site:
        rendered: list[list[str]] = []

        def render(runs: Sequence[RunFolder]) -> str:
            rendered.append([run.manifest.system.label for run in runs])
            return page or f"<!doctype html><p>{rendered[-1]}</p>"

        server = RunServer(Store(folder), render)
        started.append(server)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        site = Site(server, folder)
        site.rendered = rendered
        return site

    yield start
    for server in started:
        server.shutdown()
        server.server_close()


@pytest.fixture
def suite(write_suite: WriteSuite) -> Suite:
    return load_suite(write_suite("layer1_01_fee", "layer2_01_fee"))


@pytest.fixture
def runs(suite: Suite, tmp_path: Path) -> dict[str, RunFolder]:
    answered = (record("layer1_01_fee", answer=RIGHT), record("layer2_01_fee", failure=FAILED))
    return {
        "notes": made_run(tmp_path, suite, *answered, label="notes"),
        "other": made_run(tmp_path, suite, label="other"),
        "bm25": made_run(tmp_path, suite, label="bm25", reader="extractive"),
    }


# ---- what is shown --------------------------------------------------------------------


def test_the_runs_are_listed_with_what_they_came_to(serve: Serve, runs: dict[str, RunFolder]) -> None:
    status, headers, body = serve().ask("/")
    assert status == 200
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    for run in runs.values():
        assert f'name="run" value="{run.path.name}"' in body
    row = re.search(rf"<tr>(?:(?!</tr>).)*{runs['notes'].path.name}.*?</tr>", body, re.DOTALL)
    assert row is not None
    assert '<td class="n">1/2</td><td class="n">1</td>' in row[0]


def test_chosen_runs_are_compared_in_the_order_chosen(serve: Serve, runs: dict[str, RunFolder]) -> None:
    site = serve()
    query = "&".join(f"run={runs[name].path.name}" for name in ("other", "notes", "other"))
    status, _, body = site.ask(f"/compare?{query}")
    assert (status, body) == (200, "<!doctype html><p>['other', 'notes']</p>")
    site.ask(f"/compare?{query}")
    assert len(site.rendered) == 1  # kept
    begun, answers = runs["notes"].journals()
    with begun, answers:
        answers.append(record("layer2_01_fee", answer=RIGHT).as_data())
    site.ask(f"/compare?{query}")
    assert len(site.rendered) == 2  # until a run goes on


def test_runs_that_no_single_table_can_hold_are_offered_apart(
    serve: Serve, runs: dict[str, RunFolder]
) -> None:
    site = serve()
    status, _, body = site.ask("/compare?" + "&".join(f"run={run.path.name}" for run in runs.values()))
    assert status == 200
    links = re.findall(r'href="(/compare\?[^"]+)"', body)
    assert len(links) == 2
    assert {site.ask(link.replace("&amp;", "&"))[0] for link in links} == {200}
    assert sorted(map(sorted, site.rendered)) == [["bm25"], ["notes", "other"]]


def test_one_run_and_its_files(serve: Serve, runs: dict[str, RunFolder]) -> None:
    site, name = serve(), runs["notes"].path.name
    status, _, body = site.ask(f"/run/{name}")
    assert status == 200
    assert f'href="/run/{name}/answers.jsonl"' in body
    status, headers, text = site.ask(f"/run/{name}/manifest.json")
    assert status == 200
    assert headers["Content-Type"] == "text/plain; charset=utf-8"
    assert json.loads(text)["system"]["label"] == "notes"


def test_a_folder_that_is_one_run(serve: Serve, runs: dict[str, RunFolder]) -> None:
    site = serve(runs["notes"].path)
    assert runs["notes"].path.name in site.ask("/")[2]
    assert runs["other"].path.name not in site.ask("/")[2]
    assert site.ask(f"/compare?run={runs['notes'].path.name}")[0] == 200
    assert site.ask(f"/compare?run={runs['other'].path.name}")[0] == 404


def test_a_run_that_cannot_be_read_says_so_and_hides_no_other(
    serve: Serve, runs: dict[str, RunFolder]
) -> None:
    (runs["other"].path / "manifest.json").write_text("{}")
    site = serve()
    status, _, body = site.ask("/")
    assert status == 200
    assert "no manifest of a run" in body
    assert runs["notes"].path.name in body
    status, _, body = site.ask(f"/compare?run={runs['other'].path.name}")
    assert status == 422
    assert "no manifest of a run" in body


@pytest.mark.parametrize("link", ["attempts.jsonl", "extra.jsonl"])
def test_a_link_that_leads_to_itself_hides_no_other_run(
    serve: Serve, runs: dict[str, RunFolder], link: str
) -> None:
    (runs["other"].path / link).unlink(missing_ok=True)
    (runs["other"].path / link).symlink_to(link)
    site = serve()
    status, _, body = site.ask("/")
    assert status == 200
    assert runs["notes"].path.name in body
    assert site.ask(f"/run/{runs['other'].path.name}/{link}")[0] == 404


def test_a_folder_that_may_not_be_entered_hides_no_other_run(
    serve: Serve, runs: dict[str, RunFolder], monkeypatch: pytest.MonkeyPatch
) -> None:
    closed, found = runs["other"].path.name, Path.is_file

    def is_file(path: Path) -> bool:
        if path.parent.name == closed:
            raise PermissionError(13, "Permission denied")
        return found(path)

    monkeypatch.setattr(Path, "is_file", is_file)
    status, _, body = serve().ask("/")
    assert status == 200
    assert runs["notes"].path.name in body


def test_an_empty_folder_and_one_that_is_not_there(serve: Serve, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    assert "No run is here yet" in serve().ask("/")[2]
    with pytest.raises(InputError, match="no such folder"):
        Store(tmp_path / "none")


# ---- what is refused ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:PORT", 200), ("localhost:PORT", 200), ("LOCALHOST:PORT", 200),
        ("evil.example", 403), ("evil.example:PORT", 403), ("127.0.0.1", 403), ("127.0.0.1:1", 403),
        ("127.0.0.1.evil.example:PORT", 403), ("[::1]:PORT", 403), ("0.0.0.0:PORT", 403), ("", 403),
    ],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/", "/compare?run=x", "/nothing"])
def test_only_this_machine_s_own_names_are_answered(
    serve: Serve, runs: dict[str, RunFolder], host: str, status: int, path: str
) -> None:
    site = serve()
    found, _, body = site.ask(path, Host=host.replace("PORT", str(site.server.server_port)))
    assert (found == 403) is (status == 403)
    if status == 403:
        assert all(run.path.name not in body for run in runs.values())


def test_two_hosts_and_an_address_elsewhere_are_refused(serve: Serve, runs: dict[str, RunFolder]) -> None:
    site = serve()
    own = f"Host: {HOST}:{site.server.server_port}\r\n".encode()
    assert b" 403 " in site.send(b"GET / HTTP/1.1\r\n" + own + b"Host: evil.example\r\n\r\n").splitlines()[0]
    assert b" 400 " in site.send(b"GET http://evil.example/ HTTP/1.1\r\n" + own + b"\r\n").splitlines()[0]
    assert b" 200 " in site.send(b"GET / HTTP/1.1\r\n" + own + b"\r\n").splitlines()[0]


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "BREW"])
def test_nothing_but_reading(serve: Serve, runs: dict[str, RunFolder], method: str) -> None:
    status, headers, _ = serve().ask("/", method)
    assert status == (501 if method == "BREW" else 405)
    if status == 405:
        assert headers["Allow"] == "GET, HEAD"


def test_head_is_get_without_the_page(serve: Serve, runs: dict[str, RunFolder]) -> None:
    site = serve()
    status, headers, body = site.ask("/", "HEAD")
    assert (status, body) == (200, "")
    assert headers["Content-Length"] == site.ask("/")[1]["Content-Length"]


@pytest.mark.parametrize(
    "path",
    [
        "/run/../secret.txt", "/run/%2e%2e/secret.txt", "/run/..%2fsecret.txt", "/run/%2e%2e%2fsecret.txt",
        "/run/RUN/../../secret.txt", "/run/RUN/..%2f..%2fsecret.txt", "/run/RUN/%2e%2e/%2e%2e/secret.txt",
        "/run/RUN%2f..%2f..%2fsecret.txt", "/run/RUN/%252e%252e%252fsecret.txt", "/run/RUN/....//secret.txt",
        "/run/RUN/..\\..\\secret.txt", "/run/RUN/%00", "/run/RUN/manifest.json%00.txt", "/run/RUN/.lock", "/run/RUN/",
        "/run/.", "/run/..", "/run/", "/run//secret.txt", "/../../secret.txt", "/secret.txt", "/run/RUN/FULL",
        "/compare?run=..", "/compare?run=../secret", "/compare?run=.", "/compare?run=FULL", "/compare?run=%2e%2e%2f",
        "/run/%ff%fe", "/run/RUN/notes.md", "/favicon.ico",
    ],
)  # fmt: skip
def test_nothing_outside_the_folder_has_a_path(
    serve: Serve, runs: dict[str, RunFolder], tmp_path: Path, path: str
) -> None:
    (tmp_path / "secret.txt").write_text("SECRET")
    (runs["notes"].path / "notes.md").write_text("SECRET")
    (runs["notes"].path / ".lock").write_text("SECRET")
    site = serve()
    status, _, body = site.ask(
        path.replace("RUN", runs["notes"].path.name).replace("FULL", f"{tmp_path}/secret.txt")
    )
    assert status in (400, 404), body
    assert "SECRET" not in body
    assert not site.rendered


@pytest.mark.parametrize(
    "link", ["folder", "manifest.json", "answers.jsonl", "attempts.jsonl", "extra.jsonl", "adapter.log"]
)
def test_what_a_link_leads_out_of_the_folder_is_not_there(
    serve: Serve, runs: dict[str, RunFolder], tmp_path: Path, link: str
) -> None:
    run = runs["notes"].path
    outside = tmp_path / "outside"
    if link == "folder":
        run.rename(outside)
        run.symlink_to(outside, target_is_directory=True)
        link = "answers.jsonl"
    else:
        (run / link).unlink(missing_ok=True)
        outside.write_text('{"SECRET": 1}\n')
        (run / link).symlink_to(outside)
    site = serve()
    assert site.ask(f"/run/{run.name}/{link}")[0] == 404
    if link in ("manifest.json", "answers.jsonl", "attempts.jsonl"):
        assert run.name not in site.ask("/")[2]
        assert site.ask(f"/compare?run={run.name}")[0] == 404
    assert runs["other"].path.name in site.ask("/")[2]


def test_names_that_no_address_can_hold_are_left_out(serve: Serve, runs: dict[str, RunFolder]) -> None:
    odd = os.fsdecode(os.fsencode(runs["other"].path.with_name("odd")) + b"-\xff")
    os.rename(runs["other"].path, odd)  # noqa: PTH104
    status, _, body = serve().ask("/")
    assert status == 200
    assert runs["notes"].path.name in body
    assert "odd" not in body


@pytest.mark.parametrize(
    "data", [b"\r\n\r\n", b"nonsense\r\n\r\n", b"GET /\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n",
             b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 500 + b"\r\n", b"\xff\xfe\x00\r\n\r\n"],
)  # fmt: skip
def test_what_is_no_request_shows_nothing_and_ends_nothing(
    serve: Serve, runs: dict[str, RunFolder], data: bytes
) -> None:
    site = serve()
    answer = site.send(data)
    assert runs["notes"].path.name.encode() not in answer
    assert b"Traceback" not in answer
    assert site.ask("/")[0] == 200


# ---- what a page may do ---------------------------------------------------------------


@pytest.mark.parametrize(
    "path", ["/", "/run/RUN", "/run/RUN/manifest.json", "/compare?run=RUN", "/compare", "/nothing"]
)
def test_every_answer_carries_the_headers(serve: Serve, runs: dict[str, RunFolder], path: str) -> None:
    _, headers, _ = serve().ask(path.replace("RUN", runs["notes"].path.name))
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["Cache-Control"] == "no-store"
    assert headers["Server"] == "recallbench"
    assert headers["Access-Control-Allow-Origin"] is None
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'")
    assert "frame-ancestors 'none'" in policy
    assert "script-src" not in policy


def test_a_report_may_run_scripts_only_where_it_names_them_itself(
    serve: Serve, runs: dict[str, RunFolder]
) -> None:
    guarded = '<!doctype html><meta http-equiv="Content-Security-Policy" content="default-src \'none\'">'
    for page, allowed in ((guarded, True), ("<!doctype html><script>1</script>", False)):
        _, headers, _ = serve(page=page).ask(f"/compare?run={runs['notes'].path.name}")
        assert ("script-src" in headers["Content-Security-Policy"]) is allowed


def test_what_systems_are_called_is_shown_and_not_obeyed(serve: Serve, suite: Suite, tmp_path: Path) -> None:
    run = made_run(tmp_path, suite, label=EVIL, name=EVIL, model=EVIL)
    site = serve()
    name = run.path.name
    for path in ("/", f"/run/{name}", f"/compare?run={EVIL.replace(' ', '')[:8]}"):
        body = site.ask(path.replace("<", "%3C").replace(">", "%3E"))[2]
        assert "<script" not in body
        assert "\u202e" not in body
    assert "&lt;script&gt;" in site.ask("/")[2]


def test_a_port_that_is_taken_is_one_clear_line(
    serve: Serve, runs: dict[str, RunFolder], tmp_path: Path
) -> None:
    port = serve().server.server_port
    with pytest.raises(InputError, match=f"--port {port}: "):
        RunServer(Store(tmp_path / "runs"), lambda found: "", port)


def test_a_page_that_cannot_be_made_is_an_answer_too(runs: dict[str, RunFolder], serve: Serve) -> None:
    site = serve()

    def fails(found: Any) -> str:
        raise RuntimeError("SECRET")

    site.server._render = fails  # type: ignore[assignment]
    status, _, body = site.ask(f"/compare?run={runs['notes'].path.name}")
    assert status == 500
    assert "SECRET" not in body
