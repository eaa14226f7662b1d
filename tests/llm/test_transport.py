from __future__ import annotations

import asyncio
import gzip
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from harness.llm.endpoint import Endpoint
from harness.llm.replies import ReplyError
from harness.llm.transport import Transport
from tests.model_server import Server

KEY = "sk-test-0123456789abcdef"
BODY = {"model": "m", "messages": [{"role": "user", "content": "Hello."}]}


def endpoint(base_url: str, key: str | None = KEY) -> Endpoint:
    return Endpoint("custom", base_url, "m", "THE_KEY" if key else None, key, "m")


def posted(base_url: str, body: Any = BODY, *, key: str | None = KEY, timeout_s: float = 5) -> Any:
    """Return status, headers and text of one request, or the error that it raised."""

    async def run() -> Any:
        transport = Transport(endpoint(base_url, key), timeout_s, 4)
        try:
            return await transport.post(body)
        except ReplyError as error:
            return error
        finally:
            await transport.close()

    return asyncio.run(run())


@asynccontextmanager
async def says(response: bytes) -> AsyncIterator[tuple[str, list[bytes]]]:
    """Run a server that says the same to everybody; give its base URL and what it heard."""
    heard: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.read(65536))
        writer.write(response)
        await writer.drain()
        writer.close()

    listening = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with listening:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1", heard


def told(response: bytes) -> Any:
    async def run() -> Any:
        async with says(response) as (url, _):
            transport = Transport(endpoint(url), 5, 1)
            try:
                return await transport.post(BODY)
            except ReplyError as error:
                return error
            finally:
                await transport.close()

    return asyncio.run(run())


def http(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    lines = [f"HTTP/1.1 {status}", f"content-length: {len(body)}", "connection: close", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def test_a_reply_is_status_headers_and_text(server: Server) -> None:
    status, headers, text = posted(server.base_url)
    assert status == 200
    assert headers["content-type"] == "application/json"
    assert json.loads(text)["choices"][0]["message"]["content"] == "You said: Hello."
    assert server.requests() == [BODY]


@pytest.mark.parametrize("status", [400, 401, 429, 500, 529])
def test_a_status_that_is_no_success_is_no_exception(server: Server, status: int) -> None:
    server.set_faults([{"do": {"status": {"code": status, "retry_after": 7}}}])
    got, headers, text = posted(server.base_url)
    assert (got, headers["retry-after"]) == (status, "7")
    assert "error" in json.loads(text)
    assert server.stats()["chat"] == 1  # it retries nothing by itself


@pytest.mark.parametrize("fault", ["drop", "drop_mid_body", "long_length", "short_length"])
def test_a_broken_connection_is_told_from_a_slow_reply(server: Server, fault: str) -> None:
    error = posted(server.url(fault))
    assert isinstance(error, ReplyError)
    assert error.kind == "connection"
    assert "\n" not in error.message


@pytest.mark.parametrize("fault", ["slow_headers", "slow_body"])
def test_a_reply_that_does_not_come_in_time_is_a_timeout(server: Server, fault: str) -> None:
    error = posted(server.url(f"{fault}=10"), timeout_s=0.1)
    assert isinstance(error, ReplyError)
    assert (error.kind, error.message) == ("timeout", "no reply within 0.1 s")


def test_an_address_where_nobody_is_gives_one_line() -> None:
    error = posted("http://127.0.0.1:1/v1")
    assert isinstance(error, ReplyError)
    assert error.kind == "connection"
    assert "Cannot connect" in error.message
    assert "\n" not in error.message


RAW = {
    "no HTTP": b"SSH-2.0-OpenSSH_9.6\r\n",
    "nothing": b"",
    "half a head": b"HTTP/1.1 200 OK\r\ncontent-le",
    "a length that is none": b"HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n{}",
    "a broken chunk": b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n",
    "no gzip": http(b"{}", "content-encoding: gzip"),
    "a redirect in a circle": http(b"", "location: /v1/chat/completions", status="307 Temporary Redirect"),
    "a redirect to nowhere": http(b"", "location: http://127.0.0.1:1/", status="307 Temporary Redirect"),
}


@pytest.mark.parametrize("kind", RAW)
def test_whatever_a_server_says_is_a_reply_or_trouble_on_the_way(kind: str) -> None:
    got = told(RAW[kind])
    if isinstance(got, ReplyError):
        assert got.kind == "connection"
        assert "\n" not in got.message
    else:
        assert got[0] == 307


def test_a_body_that_is_not_utf8_is_read_as_far_as_it_goes() -> None:
    _, _, text = told(http(b'{"a": "caf\xe9 \xff"}', "content-type: application/json"))
    assert json.loads(text) == {"a": "caf\ufffd \ufffd"}


def test_a_character_that_utf8_lacks_is_replaced_on_the_wire(server: Server) -> None:
    body = {**BODY, "messages": [{"role": "user", "content": "half a pair: \ud83d!"}]}
    status, _, _ = posted(server.base_url, body)
    assert status == 200
    assert server.requests()[0]["messages"][0]["content"] == "half a pair: \ufffd!"


# Keys


def test_the_key_goes_out_as_a_bearer(server: Server) -> None:
    posted(server.base_url)
    assert server.calls()[0]["headers"]["authorization"] == f"Bearer {KEY}"


def test_without_a_key_no_authorization_goes_out(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    posted(server.base_url, key=None)
    [call] = server.calls()
    assert "authorization" not in call["headers"]
    assert KEY not in json.dumps(call)


def test_the_environment_adds_no_account_and_no_address(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-somebody")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-of-somebody")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    posted(server.base_url)
    assert "of-somebody" not in json.dumps(server.calls())


@pytest.mark.parametrize("status", [200, 401, 500])
def test_a_key_that_the_server_repeats_is_taken_out(server: Server, status: int) -> None:
    if status == 200:
        server.set_faults([{"do": {"text": f"Your key is {KEY}."}}])
    else:
        server.set_faults([{"do": {"status": {"code": status, "message": f"Wrong key: {KEY}."}}}])
    got, _, text = posted(server.base_url)
    assert got == status
    assert KEY not in text
    assert "[key]" in text


def test_a_key_in_a_body_that_is_cut_is_taken_out_of_the_error(server: Server) -> None:
    server.set_faults([{"do": [{"text": f"{KEY} {KEY} {KEY} {KEY} {KEY}"}, "short_length"]}])
    error = posted(server.base_url)
    assert isinstance(error, ReplyError)
    assert KEY not in f"{error} {error!r} {error.message}"


def test_a_redirect_takes_the_key_to_no_other_host() -> None:
    async def run() -> list[bytes]:
        async with says(http(b"{}")) as (other, heard):
            moved = http(b"", f"location: {other}/elsewhere", status="307 Temporary Redirect")
            async with says(moved) as (url, _):
                transport = Transport(endpoint(url), 5, 1)
                try:
                    await transport.post(BODY)
                except ReplyError:
                    pass
                finally:
                    await transport.close()
            return heard

    assert KEY.encode() not in b"".join(asyncio.run(run()))


def test_no_log_holds_the_key(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    server.set_faults([{"do": {"status": {"code": 401, "message": "Wrong key."}}}])
    posted(server.base_url)
    posted(server.url("drop"))
    assert caplog.records  # the client does log at this level
    assert KEY not in caplog.text
    assert not any([KEY in repr(vars(record)) for record in caplog.records])


# Connections


def together(base_url: str, count: int, connections: int) -> None:
    async def run() -> None:
        transport = Transport(endpoint(base_url), 20, connections)
        try:
            await asyncio.gather(*(transport.post(BODY) for _ in range(count)))
            await asyncio.gather(*(transport.post(BODY) for _ in range(count)))
        finally:
            await transport.close()

    asyncio.run(run())


def test_one_pool_serves_everybody(server: Server) -> None:
    together(server.url("delay=5"), 24, 6)
    stats = server.stats()
    assert stats["chat"] == 48
    assert stats["connections"] - 1 <= 6  # one is the test's own, for the counts
    assert stats["max_in_flight"] <= 6


def test_a_reply_too_large_to_be_a_verdict_is_refused() -> None:
    bomb = gzip.compress(b" " * (20 << 20))
    error = told(http(bomb, "content-type: application/json", "content-encoding: gzip"))
    assert (error.kind, error.message) == ("provider_error", "The reply is larger than 16 MB.")


def test_a_redirect_is_not_followed() -> None:
    status, headers, _ = told(http(b"", "location: http://127.0.0.1:9/v1", status="307 Temporary Redirect"))
    assert (status, headers["location"]) == (307, "http://127.0.0.1:9/v1")


def test_a_stand_in_of_a_few_letters_is_no_secret() -> None:
    body = b'{"fee": "no fee"}'

    async def run() -> str:
        async with says(http(body)) as (url, _):
            transport = Transport(replace(endpoint(url), api_key="fee"), 5, 1)
            try:
                return (await transport.post(BODY))[2]
            finally:
                await transport.close()

    assert asyncio.run(run()) == body.decode()
