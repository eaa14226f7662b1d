"""Any memory server of the Model Context Protocol, over standard input and output; see docs/systems/mcp.md."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel

from harness.adapters.connectors.mcp_client import McpClient
from harness.adapters.connectors.mcp_options import McpOptions
from harness.adapters.connectors.mcp_results import at_path, data_of, memories_in, merged, words_of
from harness.adapters.connectors.rounds import Piece, pieces
from harness.adapters.connectors.value_templates import filled
from harness.adapters.connectors.variables import resolved
from harness.adapters.protocol import Adapter, AgentFailure, Capability, Memory, Question, Space
from harness.adapters.states import files_state
from harness.suite import Conversation

_USER = "user"


class McpServer(Adapter):
    """A server process for each agent, filled and asked through its tools."""

    Options: ClassVar[type[BaseModel]] = McpOptions

    def __init__(self, options: BaseModel) -> None:
        super().__init__(options)
        assert isinstance(options, McpOptions)
        self._how = options
        self._server = ""
        can: set[Capability] = {"recall", "add"}
        can |= {"list"} if options.list_tool else set()
        can |= {"delete"} if options.delete_tool else set()
        # Which tools there are is a matter of the options, and so is what an agent can do.
        self.capabilities = frozenset(can)  # type: ignore[misc]

    async def open(self, space: Space) -> McpAgent:
        """Start a server and return an agent that talks to it.

        Raises:
            AgentFailure: when the server does not start, or lacks a tool that the options name.
        """
        place = {"namespace": space.namespace, "folder": str(space.folder)}
        client = await McpClient.start(
            [str(filled(part, place)) for part in self._how.command],
            {name: str(filled(value, place)) for name, value in resolved(self._how.env).items()},
            Path.cwd(),
            self._how.timeout_s,
        )
        try:
            tools = await client.tools()
            lacking = sorted(self._how.tools - tools)
            if lacking:
                raise AgentFailure(
                    "options",
                    f"the MCP server has no tool {', '.join(lacking)}; it has {', '.join(sorted(tools)) or 'none'}",
                )
        except BaseException:
            await client.close()
            raise
        self._server = client.server
        return McpAgent(self._how, client, place)

    def version(self) -> str:
        """Return the server as it names itself, once one was started; its command line before."""
        command = " ".join(self._how.command)
        state = files_state(self._how.command, Path())
        return self._server or (f"{command} (files {state})" if state else command)


class McpAgent:
    """One server process."""

    def __init__(self, options: McpOptions, client: McpClient, place: Mapping[str, str]) -> None:
        self._options = options
        self._client = client
        self._place = place
        self._added = 0
        self._refs: dict[str, tuple[str, ...]] = {}

    async def ingest(self, conversation: Conversation) -> None:
        """Call the add tool for each piece, in order."""
        for piece in pieces(conversation, self._options.per):
            id = await self._add(_values(piece), _name_of(piece))
            self._refs[id] = piece.source_refs

    async def recall(self, question: Question, limit: int) -> Sequence[Memory]:
        """Return what the search tool finds, in its order; with `each_word` what fits most words."""
        if limit < 1 or not question.text.strip():
            return []
        asked = {"question": question.text, "limit": limit, "user": _USER}
        if not self._options.each_word:
            found = await self._search(asked)
        else:
            words = words_of(question.text)
            found = merged({word: await self._search({**asked, "word": word}) for word in words})
        return self._with_refs(found[:limit])

    async def add(self, text: str) -> str:
        """Add one text; return its id."""
        return await self._add({"text": text, "role": "user"}, "added")

    async def list(self) -> Sequence[Memory]:
        """Return everything that the list tool returns."""
        options = self._options
        assert options.list_tool is not None
        data = await self._call(options.list_tool, options.list_arguments, {"user": _USER})
        return self._with_refs(memories_in(data, options))

    async def delete(self, memory_id: str) -> None:
        """Call the delete tool."""
        options = self._options
        assert options.delete_tool is not None
        await self._call(options.delete_tool, options.delete_arguments, {"id": memory_id})

    async def close(self) -> None:
        """Stop the server, and remove what it stored in the folder of the space."""
        await self._client.close()
        for path in Path(self._place["folder"]).iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)

    async def _add(self, values: Mapping[str, Any], name: str) -> str:
        self._added += 1
        own = name if name != "added" else f"added#{self._added}"
        empty = dict.fromkeys(("timestamp", "conversation_id", "metadata"))
        data = await self._call(
            self._options.add_tool,
            self._options.add_arguments,
            {**empty, "number": self._added, "user": _USER, **values, "id": own},
        )
        if self._options.add_id is None:
            return own
        id = at_path(data, self._options.add_id)
        if id is None:
            raise AgentFailure("bad_value", f"the add tool returned no id at add_id={self._options.add_id!r}")
        return str(id)

    async def _search(self, values: Mapping[str, Any]) -> Sequence[Memory]:
        options = self._options
        return memories_in(await self._call(options.search_tool, options.search_arguments, values), options)

    async def _call(self, tool: str, template: Mapping[str, Any], values: Mapping[str, Any]) -> Any:
        return data_of(await self._client.call(tool, filled(template, {**self._place, **values})))

    def _with_refs(self, memories: Sequence[Memory]) -> Sequence[Memory]:
        return [replace(memory, source_refs=self._refs.get(memory.id, ())) for memory in memories]


def _name_of(piece: Piece) -> str:
    """Return `conv_001#3-4`, from the first and the last message."""
    first, last = piece.source_refs[0], piece.source_refs[-1]
    return first if first == last else f"{first}-{last.rpartition('#')[2]}"


def _values(piece: Piece) -> dict[str, Any]:
    return {
        "text": piece.text,
        "role": piece.messages[0].role,
        "timestamp": None if piece.said_at is None else piece.said_at.isoformat(),
        "conversation_id": piece.conversation,
        "number": int(piece.source_refs[0].rpartition("#")[2]),
        "metadata": dict(piece.labels),
    }
