from __future__ import annotations

import base64
import http.client
import json
import math
import os
import socket
import struct
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from .asking import PROMPT, RIGHT, chat, post
from .process import Server, start

ROOT = Path(__file__).parents[2]

# The protocol


def test_one_connection_serves_many_requests(model_server: Server) -> None:
    before = model_server.stats()["connections"]
    connection = http.client.HTTPConnection("127.0.0.1", model_server.port)
    for number in range(5):
        connection.request("POST", "/v1/chat/completions", json.dumps(chat(f"Message {number}")))
        reply = json.loads(connection.getresponse().read())
        assert reply["choices"][0]["message"]["content"] == f"You said: Message {number}"
        assert reply["object"] == "chat.completion"
        assert reply["usage"]["total_tokens"] > 0
    connection.close()
    stats = model_server.stats()
    assert (stats["requests"], stats["chat"]) == (5, 5)
    assert stats["connections"] == before + 2  # this one, and the one that asked for the stats


def test_chunked_split_and_pipelined_requests(model_server: Server) -> None:
    body = json.dumps(chat("In chunks")).encode()
    head = b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n"
    parts = [body[:7], body[7:30], body[30:]]
    chunks = (
        b"".join(b"%x;ext=1\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\ntrailer: 1\r\n\r\n"
    )
    plain = head + b"content-length: %d\r\n\r\n" % len(body) + body
    sent = head + b"transfer-encoding: chunked\r\n\r\n" + chunks + plain
    with socket.create_connection(("127.0.0.1", model_server.port), timeout=10) as connection:
        for at in range(0, len(sent), 50):
            connection.sendall(sent[at : at + 50])
        held = b""
        while held.count(b"You said: In chunks") < 2:
            data = connection.recv(65536)
            assert data, held
            held += data
    assert held.count(b"HTTP/1.1 200 OK") == 2


@pytest.mark.parametrize(
    "sent",
    [
        b"nonsense\r\n\r\n",
        b"POST / HTTP/1.1\r\ncontent-length: many\r\n\r\n",
        b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    ],
)
def test_what_is_no_http_is_refused_and_the_connection_closed(model_server: Server, sent: bytes) -> None:
    with socket.create_connection(("127.0.0.1", model_server.port), timeout=10) as connection:
        connection.sendall(sent)
        held = b""
        while data := connection.recv(65536):
            held += data
    assert held.startswith(b"HTTP/1.1 400")


def test_sixty_four_connections_are_answered_at_once() -> None:
    with start(latency_ms=300) as server, ThreadPoolExecutor(64) as pool:
        replies = list(pool.map(lambda n: post(server, chat(f"n {n}")).content, range(128)))
        assert replies == [f"You said: n {n}" for n in range(128)]
        stats = server.stats()
    assert 32 <= stats["max_in_flight"] <= 64
    assert stats["in_flight"] == 0


def test_the_openai_client_gets_along_with_it(model_server: Server) -> None:
    import openai

    with openai.OpenAI(base_url=model_server.base_url, api_key="sk-test", max_retries=0) as client:
        reply = client.chat.completions.create(
            model="test-model",
            messages=[
                {"role": "system", "content": "Reply with one JSON object."},
                {"role": "user", "content": PROMPT.format(answer=RIGHT)},
            ],
            response_format={"type": "json_object"},
        )
        verdicts = json.loads(reply.choices[0].message.content or "")["criteria"]
        assert [ruling["verdict"] for ruling in verdicts] == ["met", "met"]
        vectors = client.embeddings.create(model="e", input=["one tuner", "two"], dimensions=16)
        assert [len(item.embedding) for item in vectors.data] == [16, 16]
        assert [model.id for model in client.models.list()] == ["test-model"]
    with (
        openai.OpenAI(
            base_url=model_server.url("rate_limited=0.25"), api_key="sk-test", max_retries=0
        ) as client,
        pytest.raises(openai.RateLimitError) as error,
    ):
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Hello"}])
    assert error.value.response.headers["retry-after"] == "0.25"


def test_embeddings_are_the_same_every_time_in_both_encodings(model_server: Server) -> None:
    asked = {"model": "e", "input": ["the piano tuner comes", "the piano tuner came", "eleven blue whales"]}
    floats = [item["embedding"] for item in post(model_server, asked, route="embeddings").json["data"]]
    packed = post(model_server, {**asked, "encoding_format": "base64"}, route="embeddings").json["data"]
    assert all(math.isclose(math.hypot(*vector), 1) for vector in floats)
    for vector, item in zip(floats, packed, strict=True):
        unpacked = struct.unpack(f"<{len(vector)}f", base64.b64decode(item["embedding"]))
        assert unpacked == pytest.approx(vector, abs=1e-6)
    near, far = (_dot(floats[0], floats[at]) for at in (1, 2))
    assert near > 0.5 > far
    assert post(model_server, {"model": "e", "input": []}, route="embeddings").status == 400
    assert post(model_server, {"model": "e", "input": "x", "dimensions": 0}, route="embeddings").status == 400


def _dot(left: list[float], right: list[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))


def test_requests_are_kept_with_their_headers_up_to_a_cap() -> None:
    with start(keep=2) as server:
        for number in range(3):
            post(server, chat(str(number), seed=number), authorization=f"Bearer key-{number}")
        assert [body["seed"] for body in server.requests()] == [1, 2]
        assert [call["headers"]["authorization"] for call in server.calls()] == [
            "Bearer key-1",
            "Bearer key-2",
        ]
        server.reset()
        assert server.requests() == []
        assert server.stats()["requests"] == 0


def test_wrong_key_model_route_and_body_are_refused_as_providers_do() -> None:
    with start(api_key="sk-right", models=["judge-a", "judge-b"]) as server:
        right: dict[str, Any] = {"authorization": "Bearer sk-right"}
        assert post(server, chat()).json["error"]["code"] == "invalid_api_key"
        refused = post(server, chat(), **right)
        assert (refused.status, refused.json["error"]["code"]) == (404, "model_not_found")
        assert "`test-model`" in refused.json["error"]["message"]
        assert post(server, {**chat(), "model": "judge-b"}, **right).status == 200
    with start() as server:
        assert post(server, chat(), route="completions").status == 404
        assert post(server, chat(), persona="no_such_persona").status == 404
        assert post(server, b"{").status == 400
        assert post(server, {"model": "m", "messages": []}).status == 400
        assert post(server, {"messages": chat()["messages"]}).status == 400
        wordless = post(server, chat(response_format={"type": "json_object"}))
        assert (wordless.status, "'json'" in wordless.json["error"]["message"]) == (400, True)


def test_an_answerer_gives_data_of_the_shape_asked_for_and_stops_at_the_limit(model_server: Server) -> None:
    shape = {"type": "object", "properties": {"ok": {"type": "boolean"}, "word": {"enum": ["yes", "no"]}}}
    form = {"type": "json_schema", "json_schema": {"name": "check", "schema": shape}}
    assert json.loads(post(model_server, chat(response_format=form)).content) == {"ok": True, "word": "yes"}
    cut = post(model_server, chat("one two three four five", max_tokens=3)).choice
    assert (cut["finish_reason"], cut["message"]["content"]) == ("length", "You said: on")
    assert post(model_server, chat("same")).content == post(model_server, chat("same")).content


# Its process


def test_it_runs_by_hand_and_goes_down_by_itself() -> None:
    command = [sys.executable, "-m", "tests.model_server", "--port", "0", "--max-seconds", "0.2"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    word, _, port = done.stdout.strip().partition(" ")
    assert (done.returncode, word, done.stderr) == (0, "READY", "")
    assert int(port) > 0


def test_it_goes_down_with_a_parent_that_is_killed() -> None:
    program = "from model_server import start\nwith start() as s: print(s.pid, flush=True); input()"
    env = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.kill()
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and _alive(child):
        time.sleep(0.02)
    assert not _alive(child)


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return state.rpartition(") ")[2][0] != "Z"


def test_rules_that_are_none_are_named() -> None:
    with (
        pytest.raises(RuntimeError, match="no fault is called 'explode'"),
        start(faults=[{"do": "explode"}]),
    ):
        pass
    with start() as server:
        with pytest.raises(ValueError, match="rule 1: unknown in when: weather"):
            server.set_faults([{"do": "think"}, {"when": {"weather": "bad"}, "do": "think"}])
        with pytest.raises(ValueError, match="rule 0: nothing to do"):
            server.set_faults([{"when": {"nth": 1}}])
