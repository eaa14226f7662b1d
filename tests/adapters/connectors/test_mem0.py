from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

if importlib.util.find_spec("mem0") is None:  # importing it here would turn its telemetry on
    pytest.skip("mem0ai is not installed", allow_module_level=True)

from harness.adapters.protocol import Adapter
from harness.errors import InputError
from harness.llm.models import ModelSettings
from tests.adapters.connectors import stores
from tests.model_server import Server
from tests.model_server.fixtures import _shared_model_server, model_server

__all__ = ["_shared_model_server", "model_server"]


@pytest.fixture
def made(model_server: Server) -> Adapter:
    return stores.adapter("mem0", model_server)


def test_each_message_arrives_with_time_and_place(model_server: Server, tmp_path: Path) -> None:
    stores.check_everything_arrives(stores.adapter("mem0", model_server, per="message"), tmp_path)


def test_a_round_is_one_memory(made: Adapter, tmp_path: Path) -> None:
    stores.check_rounds(made, tmp_path)


def test_the_metadata_is_stored(made: Adapter, tmp_path: Path) -> None:
    with stores.opened(made, stores.space(tmp_path)) as agent:
        agent.ingest(stores.talk(1))
        (item,) = agent._memory.get_all(filters={"run_id": agent._run})["results"]
    assert item["metadata"]["labels"] == {"business": "Harbor Lane Pool", "channel": "chat"}
    assert item["metadata"]["conversation"] == "conv_001"
    assert item["created_at"] == stores.BEGAN.isoformat()


def test_a_planted_fact_is_recalled(model_server: Server, tmp_path: Path) -> None:
    stores.check_planted_fact(stores.adapter("mem0", model_server, threshold=0), tmp_path)


def test_spaces_are_apart_and_close_removes(made: Adapter, tmp_path: Path) -> None:
    stores.check_apart(made, tmp_path)


def test_nothing_ingested_nothing_recalled(made: Adapter, tmp_path: Path) -> None:
    stores.check_nothing_ingested(made, tmp_path)


def test_any_script_comes_back(made: Adapter, tmp_path: Path) -> None:
    stores.check_unicode(made, tmp_path)


def test_add_and_delete(made: Adapter, tmp_path: Path) -> None:
    stores.check_add_and_delete(made, tmp_path)


def test_users_are_told_apart(made: Adapter, tmp_path: Path) -> None:
    stores.check_users(made, tmp_path)


def test_closing_twice(made: Adapter, tmp_path: Path) -> None:
    agent = made.open(stores.space(tmp_path))
    agent.close()
    agent.close()


def test_a_threshold_drops_what_is_unlike_the_question(model_server: Server, tmp_path: Path) -> None:
    strict = stores.adapter("mem0", model_server, threshold=0.99)
    with stores.opened(strict, stores.space(tmp_path)) as agent:
        agent.ingest(stores.talk(3, planted=1))
        assert agent.recall(stores.QUESTION, 5) == []


def test_no_model_is_asked_without_infer(made: Adapter, model_server: Server, tmp_path: Path) -> None:
    with stores.opened(made, stores.space(tmp_path)) as agent:
        agent.ingest(stores.talk(3))
        agent.recall(stores.QUESTION, 5)
    assert model_server.stats()["chat"] == 0
    assert model_server.stats()["embeddings"] > 3


class TestInfer:
    @pytest.fixture
    def made(self, model_server: Server, monkeypatch: pytest.MonkeyPatch) -> Adapter:
        # Mem0 by itself would go where these point, with its own choice of key.
        monkeypatch.setenv("OPENROUTER_API_KEY", "of-somebody")
        monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
        extracted = {
            "memory": [
                {"text": "The user's locker at the swimming pool is number 4417", "attributed_to": "user"}
            ]
        }
        model_server.set_faults([{"when": {"contains": "4417"}, "do": {"text": json.dumps(extracted)}}])
        return stores.adapter("mem0", model_server, infer=True)

    def test_what_the_model_extracts_is_recalled_with_its_round(
        self, made: Adapter, model_server: Server, tmp_path: Path
    ) -> None:
        talk = stores.talk(3, planted=1)
        where = stores.space(tmp_path, ModelSettings(model="scribe", base_url=model_server.base_url))
        with stores.opened(made, where) as agent:
            agent.ingest(talk)
            (found,) = agent.recall(stores.QUESTION, 5)
            assert (
                agent.list()[0].text == found.text == "The user's locker at the swimming pool is number 4417"
            )
        assert found.source_refs == ("conv_001#3", "conv_001#4")
        assert found.created_at == talk.messages[2].timestamp
        asked = [body for body in model_server.requests() if "messages" in body]
        assert len(asked) == 3
        for body, first in zip(asked, (0, 2, 4), strict=True):
            assert body["model"] == "scribe"
            prompt = body["messages"][-1]["content"]
            assert talk.messages[first].text in prompt
            assert talk.messages[first + 1].text in prompt
            assert "The new messages were said on Tuesday, 2025-03-04." in prompt

    def test_a_model_that_is_down_is_a_failure(
        self, made: Adapter, model_server: Server, tmp_path: Path
    ) -> None:
        model_server.set_faults([{"do": "bad_request"}])
        where = stores.space(tmp_path, ModelSettings(model="scribe", base_url=model_server.base_url))
        with stores.opened(made, where) as agent, pytest.raises(Exception, match="extraction failed"):
            agent.ingest(stores.talk(1))


def test_in_a_worker_process(model_server: Server, tmp_path: Path) -> None:
    asked = stores.spec("mem0", model_server)
    named, found, printed = asyncio.run(stores.through_a_worker(asked, tmp_path))
    assert named == f"mem0ai {version('mem0ai')}"
    assert stores.FACT in found[0].text
    assert printed == ""


_ALONE = """
import sys
from pathlib import Path

def watch(event, arguments):
    asked = {"socket.connect": lambda: arguments[1][0], "socket.getaddrinfo": lambda: arguments[0]}
    if event in asked and asked[event]() != "127.0.0.1":
        print("CONNECTS", arguments, file=sys.stderr)

sys.addaudithook(watch)
from tests.adapters.connectors import stores

class Server:
    base_url = sys.argv[1]

made = stores.adapter("mem0", Server)
agent = made.open(stores.space(Path(sys.argv[2])))
agent.ingest(stores.talk(2, planted=1))
assert stores.FACT in agent.recall(stores.QUESTION, 1)[0].text
if sys.argv[3] == "closed":
    agent.close()
"""


@pytest.mark.parametrize("end", ["closed", "left open"])
def test_it_is_quiet_and_keeps_to_itself(model_server: Server, tmp_path: Path, root: Path, end: str) -> None:
    home, space, scratch = tmp_path / "home", tmp_path / "space", tmp_path / "scratch"
    for folder in (home, space, scratch):
        folder.mkdir()
    env = {**os.environ, "HOME": str(home), "TMPDIR": str(scratch), "PYTHONPATH": str(root)}
    done = subprocess.run(
        [sys.executable, "-c", _ALONE, model_server.base_url, str(space), end],
        capture_output=True, text=True, timeout=120, check=False, env=env, cwd=root,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    if end == "closed":
        assert done.stdout + done.stderr == ""
    assert "CONNECTS" not in done.stderr
    assert not list(home.rglob("*"))
    assert not list(scratch.rglob("*"))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"model": "scribe"}, "add infer=True"),
        ({"threshold": 2}, "threshold: Input should be less than or equal to 1"),
        ({"embedding_model": None}, "needs embedding_model="),
        ({"store": "redis"}, "store: Extra inputs are not permitted"),
    ],
)
def test_options_that_do_not_fit(model_server: Server, options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        stores.adapter("mem0", model_server, **options)
