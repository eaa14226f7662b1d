from __future__ import annotations

import asyncio
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from harness.adapters.connectors.mcp import McpServer
from harness.adapters.connectors.mcp_options import McpOptions
from harness.adapters.connectors.mcp_results import at_path, merged, words_of
from harness.adapters.connectors.value_templates import filled
from harness.adapters.protocol import AgentFailure, Memory, Question
from tests.adapters.connectors import stores
from tests.adapters.connectors.waited import Waited

TINY = [sys.executable, str(Path(__file__).with_name("tiny_mcp_server.py"))]
ROOT = Path(__file__).parents[3]
REFERENCE = Path(
    os.environ.get("MCP_SERVER_MEMORY")
    or ROOT / "node_modules/@modelcontextprotocol/server-memory/dist/index.js"
)
needs_reference = pytest.mark.skipif(
    not REFERENCE.exists() or shutil.which("node") is None,
    reason="needs Node and: npm install --no-save @modelcontextprotocol/server-memory@2026.8.31",
)


def tiny(*arguments: str, **changes: Any) -> Waited:
    options: dict[str, Any] = {
        "run": [*TINY, *arguments],
        "add_tool": "remember",
        "add_arguments": {
            "who": "{user}",
            "what": "{text}",
            "when": "{timestamp}",
            "nr": "{number}",
            "from": "{conversation_id}/{namespace}",
            "about": "{metadata}",
        },
        "add_id": "stored.key",
        "search_tool": "look_up",
        "search_arguments": {"about": "{question}", "most": "{limit}"},
        "list_tool": "everything",
        "delete_tool": "forget",
        "delete_arguments": {"key": "{id}"},
        "results": "hits",
        "result_text": "body",
        "result_id": "key",
        "result_score": "far",
        "result_time": "when",
        "lower_is_better": True,
        "nothing": "nothing found",
        "timeout_s": 20,
    }
    return Waited(McpServer(McpOptions(**{**options, **changes})))


def listing(*arguments: str, **changes: Any) -> Waited:
    """Return the tiny server with its list as what is read, which has neither `hits` nor `far`."""
    return tiny(*arguments, **{"results": "", "result_score": None, **changes})


def reference(**changes: Any) -> Waited:
    options = {"preset": "reference", "run": ["node", str(REFERENCE)], **changes}
    return Waited(McpServer(McpOptions(**options)))


def opened(made: Waited, folder: Path) -> Any:
    return stores.opened(made, stores.space(folder))  # type: ignore[arg-type]


def test_each_message_reaches_any_server_with_time_and_metadata(tmp_path: Path) -> None:
    conversation = stores.talk(2)
    with opened(listing(per="message"), tmp_path) as agent:
        agent.ingest(conversation)
        kept = agent.list()
        raw = agent.inner._client
        notes = agent._wait(raw.call, "everything", {}).texts
    assert [memory.text for memory in kept] == [f"{m.role}: {m.text}" for m in conversation.messages]
    assert [memory.created_at for memory in kept] == [m.timestamp for m in conversation.messages]
    assert [memory.source_refs for memory in kept] == [(f"conv_001#{n}",) for n in range(1, 5)]
    assert '"about": {"business": "Harbor Lane Pool", "channel": "chat"}' in notes[0]
    assert '"nr": 3' in notes[2]
    assert agent.inner._place["namespace"] in notes[0]


def test_a_planted_fact_is_recalled_from_any_server(tmp_path: Path) -> None:
    stores.check_planted_fact(tiny(), tmp_path)  # type: ignore[arg-type]


def test_a_distance_is_handed_over_negated(tmp_path: Path) -> None:
    with opened(tiny(), tmp_path) as agent:
        agent.add("red apples")
        (found,) = agent.recall(Question("green apples"), 5)
    assert (found.id, found.score) == ("note-1", -1)


def test_nothing_found_in_words_is_an_empty_recall(tmp_path: Path) -> None:
    with opened(tiny(), tmp_path) as agent:
        assert agent.recall(stores.QUESTION, 5) == []
        assert agent.recall(Question(" "), 5) == []
        assert agent.recall(stores.QUESTION, 0) == []


def test_one_memory_is_deleted_and_a_tools_error_is_a_failure(tmp_path: Path) -> None:
    with opened(listing(), tmp_path) as agent:
        agent.add("one")
        key = agent.add("two")
        agent.delete(key)
        assert stores.texts(agent.list()) == ["one"]
        with pytest.raises(AgentFailure, match="tool forget failed: no note note-2") as failed:
            agent.delete(key)
    assert failed.value.kind == "raised"


def test_what_it_can_do_is_what_tools_are_named() -> None:
    assert tiny().made.capabilities == {"recall", "add", "list", "delete"}
    assert tiny(list_tool=None, delete_tool=None).made.capabilities == {"recall", "add"}


@pytest.mark.parametrize(
    ("fault", "kind", "message"),
    [
        ("start-die", "unreachable", r"gone \(exit status 3\); it last said: Traceback: out of marbles"),
        ("start-hang", "timeout", "did not reply to initialize within 0.5 s"),
        ("start-garbage", "bad_value", "no JSON-RPC message: Server listening"),
        ("start-protocol", "unreachable", "speaks protocol 1999-01-01"),
    ],
)
def test_a_server_that_does_not_start_is_a_clear_failure(
    fault: str, kind: str, message: str, tmp_path: Path
) -> None:
    hurried = {"timeout_s": 0.5} if fault.endswith("hang") else {}
    with pytest.raises(AgentFailure, match=message) as failed:
        tiny("--fault", fault, **hurried).open(stores.space(tmp_path))
    assert failed.value.kind == kind
    assert not _children()


@pytest.mark.parametrize(("fault", "kind"), [("search-die", "unreachable"), ("search-garbage", "bad_value")])
def test_a_server_that_fails_later_is_a_clear_failure(fault: str, kind: str, tmp_path: Path) -> None:
    with opened(tiny("--fault", fault), tmp_path) as agent:
        agent.ingest(stores.talk(2))
        with pytest.raises(AgentFailure) as failed:
            agent.recall(stores.QUESTION, 5)
    assert failed.value.kind == kind
    assert not _children()


def test_a_program_that_is_not_there_is_unreachable(tmp_path: Path) -> None:
    with pytest.raises(AgentFailure, match="cannot start the MCP server no-such-program") as failed:
        tiny(run="no-such-program --stdio").open(stores.space(tmp_path))
    assert failed.value.kind == "unreachable"


def test_a_tool_that_the_server_lacks_is_named(tmp_path: Path) -> None:
    with pytest.raises(AgentFailure, match="no tool memorise; it has everything, forget") as failed:
        tiny(add_tool="memorise").open(stores.space(tmp_path))
    assert failed.value.kind == "options"


def test_a_result_of_another_shape_is_named(tmp_path: Path) -> None:
    with opened(tiny(results="found.here"), tmp_path) as agent:
        agent.add("the swimming pool")
        with pytest.raises(AgentFailure, match=r"no list at results='found\.here'.*hits"):
            agent.recall(stores.QUESTION, 5)


def test_a_server_that_will_not_end_is_made_to(tmp_path: Path) -> None:
    with opened(tiny("--stay"), tmp_path) as agent:
        agent.add("one")
        assert len(_children()) == 1
    assert not _children()


def test_a_server_sees_no_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-harness")
    with opened(listing(env={"TINY_SHOWS_ENV": "1", "PLACE": "{folder}"}), tmp_path) as agent:
        names = agent.list()[0].text.split()
    assert {"PATH", "PLACE", "TINY_SHOWS_ENV"} <= set(names)
    assert "OPENAI_API_KEY" not in names


def test_two_servers_side_by_side_are_apart(tmp_path: Path) -> None:
    with opened(tiny(), tmp_path) as one, opened(tiny(), tmp_path) as other:
        one.ingest(stores.talk(3, planted=1))
        other.ingest(stores.talk(3))
        assert stores.FACT in one.recall(stores.QUESTION, 5)[0].text
        assert stores.FACT not in " ".join(stores.texts(other.recall(stores.QUESTION, 5)))
    assert one.inner._client.server == "tiny 1.2"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"add_arguments": {"what": "{txt}"}}, r"add_arguments= has no \{txt\}"),
        ({"add_arguments": {"what": "hello"}}, r"lacks \{text\}"),
        ({"search_arguments": {"q": "{word}"}}, r"lacks \{question\}"),
        ({"each_word": True}, r"lacks \{word\}"),
        ({"delete_arguments": {}}, r"lacks \{id\}"),
        ({"run": "  "}, "run= is empty"),
    ],
)
def test_wrong_options_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        tiny(**changes)


def test_what_is_given_goes_before_the_preset() -> None:
    options = McpOptions(preset="reference", run="x", env={"A": "1"}, search_tool="mine")  # type: ignore[call-arg]
    assert options.env == {"MEMORY_FILE_PATH": "{folder}/memory.jsonl", "A": "1"}
    assert (options.search_tool, options.add_tool) == ("mine", "create_entities")


@pytest.mark.parametrize(
    ("template", "result"),
    [
        ("{n}", 3),
        ("no. {n} of {who}", "no. 3 of Ada"),
        ({"a": ["{n}", "{none}", "{map}"], "b": "{none}"}, {"a": [3, {"x": 1}]}),
        ("map {map}, {none}{other}", 'map {"x": 1}, {other}'),
        (5, 5),
    ],
)
def test_templates(template: Any, result: Any) -> None:
    assert filled(template, {"n": 3, "who": "Ada", "none": None, "map": {"x": 1}}) == result


def test_a_value_is_not_a_template() -> None:
    assert filled("{text}!", {"text": "{who}", "who": "Ada"}) == "{who}!"


@pytest.mark.parametrize(
    ("path", "found"),
    [("a.1.b", 2), ("", {"a": [1, {"b": 2}]}), ("a.9", None), ("a.b", None), ("a.0.c", None)],
)
def test_paths(path: str, found: Any) -> None:
    assert at_path({"a": [1, {"b": 2}]}, path) == found


def test_words_of_a_question() -> None:
    assert words_of("What's the Wi-Fi password for cabin 7, and the cabin's name?") == [
        "wi", "fi", "password", "cabin", "name",
    ]  # fmt: skip
    assert words_of("東京 の 駅") == ["東京", "の", "駅"]


def test_word_by_word_the_most_words_come_first() -> None:
    pool, locker, both = Memory("1", "The pool."), Memory("2", "A locker."), Memory("3", "Pool locker.")
    other = Memory("4", "Handed back with an entity, but without the word.")
    found = merged({"pool": [pool, both, other], "locker": [locker, both], "pool locker": [both]})
    assert [(memory.id, memory.score) for memory in found] == [("3", 3), ("1", 1), ("2", 1)]


@needs_reference
def test_the_reference_server_takes_everything_in(tmp_path: Path) -> None:
    stores.check_everything_arrives(reference(per="message"), tmp_path)  # type: ignore[arg-type]


@needs_reference
def test_the_reference_server_keeps_rounds(tmp_path: Path) -> None:
    stores.check_rounds(reference(), tmp_path)  # type: ignore[arg-type]


@needs_reference
def test_the_reference_server_recalls_a_planted_fact(tmp_path: Path) -> None:
    with opened(reference(), tmp_path) as agent:
        agent.ingest(stores.talk(60, planted=37))
        found = agent.recall(stores.QUESTION, 5)
    assert stores.FACT in found[0].text
    assert found[0].source_refs == ("conv_001#75", "conv_001#76")
    assert found[0].score == 4


@needs_reference
def test_reference_servers_are_apart_and_close_removes(tmp_path: Path) -> None:
    with opened(reference(), tmp_path) as one, opened(reference(), tmp_path) as other:
        one.ingest(stores.talk(3, planted=1))
        other.ingest(stores.talk(3))
        assert stores.FACT in one.recall(stores.QUESTION, 5)[0].text
        assert stores.FACT not in " ".join(stores.texts(other.recall(stores.QUESTION, 5)))
    assert not _children()


@needs_reference
def test_the_reference_server_with_nothing_and_any_script(tmp_path: Path) -> None:
    stores.check_nothing_ingested(reference(), tmp_path)  # type: ignore[arg-type]
    stores.check_unicode(reference(), tmp_path)  # type: ignore[arg-type]
    stores.check_add_and_delete(reference(), tmp_path)  # type: ignore[arg-type]


@needs_reference
def test_the_reference_server_names_itself(tmp_path: Path) -> None:
    made = reference()
    with opened(made, tmp_path):
        assert made.made.version() == "memory-server 0.6.3"


def _children() -> list[int]:
    """Return the processes of this one that are servers of these tests; Linux only, else none."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            line = (folder / "cmdline").read_text()
        except (OSError, ValueError):
            continue
        if parent == os.getpid() and ("tiny_mcp_server" in line or "server-memory" in line):
            found.append(int(folder.name))
    return found


def test_the_worker_protocol_of_the_harness_is_kept(tmp_path: Path) -> None:
    async def run() -> list[Memory]:
        agent = await tiny().made.open(stores.space(tmp_path))
        try:
            # Each call in a task of its own, as a host may make them.
            await asyncio.create_task(agent.ingest(stores.talk(2, planted=0)))
            return list(await asyncio.create_task(agent.recall(stores.QUESTION, 1)))
        finally:
            await asyncio.create_task(agent.close())

    assert stores.FACT in asyncio.run(run())[0].text
