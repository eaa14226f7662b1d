"""How a memory server of the Model Context Protocol is started, filled and asked."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from harness.adapters.connectors.rounds import Per
from harness.adapters.connectors.value_templates import placeholders
from harness.adapters.connectors.variables import VARIABLE, without_secrets

PLACE = frozenset({"namespace", "folder"})
PIECE = PLACE | {"id", "text", "role", "timestamp", "conversation_id", "number", "metadata", "user"}
ASKED = PLACE | {"question", "word", "limit", "user"}
LISTED = PLACE | {"user"}
NAMED = PLACE | {"id"}
_ALLOWED: Mapping[str, frozenset[str]] = {
    "run": PLACE,
    "env": PLACE,
    "add_arguments": PIECE,
    "search_arguments": ASKED,
    "list_arguments": LISTED,
    "delete_arguments": NAMED,
}

_PRESETS: Mapping[str, Mapping[str, Any]] = {
    # @modelcontextprotocol/server-memory: an entity a piece, since a search hands back whole entities.
    "reference": {
        "env": {"MEMORY_FILE_PATH": "{folder}/memory.jsonl"},
        "add_tool": "create_entities",
        "add_arguments": {
            "entities": [
                {
                    "name": "{id}",
                    "entityType": "{role}",
                    "observations": ["{text}", "{timestamp}", "metadata {metadata}"],
                }
            ]
        },
        "search_tool": "search_nodes",
        "search_arguments": {"query": "{word}"},
        "each_word": True,
        "list_tool": "read_graph",
        "delete_tool": "delete_entities",
        "delete_arguments": {"entityNames": ["{id}"]},
        "results": "entities",
        "result_id": "name",
        "result_text": "observations.0",
        "result_time": "observations.1",
    }
}


class McpOptions(BaseModel):
    """A server, its tools, their arguments, and where their results are.

    Arguments are templates: `{text}`, `{role}`, `{timestamp}`, `{conversation_id}`, `{number}`,
    `{metadata}`, `{id}` and `{user}` when adding; `{question}` or `{word}`, `{limit}` and `{user}` when
    searching; `{id}` when deleting; `{namespace}` and `{folder}` everywhere.

    Attributes:
        run: the server's command line.
        env: variables for it, `${NAME}` for one of the harness's; beside them it gets PATH, HOME and
            the like, and no keys.
        preset: `reference` for @modelcontextprotocol/server-memory; what is given beside it goes first.
        per: `round` adds a user message with its replies as one text, `message` each message.
        add_tool, add_arguments: called for each piece.
        add_id: path of the id in its result, where the server makes ids; else `{id}` is the id.
        search_tool, search_arguments: called for a question, or with `each_word` for each word in it.
        each_word: whether the server's search takes a query for one string to look for.
        list_tool, list_arguments, delete_tool, delete_arguments: where the server has them.
        results: path of the list in what a search and a list return; empty when they return the list itself.
        result_text, result_id, result_score, result_time: paths in an item, which may be a string too.
        lower_is_better: whether the score is a distance; it is handed over negated.
        nothing: how a reply in words begins that says that nothing was found.
        timeout_s: seconds to wait for each reply.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    run: str | list[str] = Field(min_length=1)
    env: dict[str, str] = {}
    preset: Literal["reference"] | None = None
    per: Per = "round"
    add_tool: str = Field(min_length=1)
    add_arguments: dict[str, Any]
    add_id: str | None = None
    search_tool: str = Field(min_length=1)
    search_arguments: dict[str, Any]
    each_word: bool = False
    list_tool: str | None = None
    list_arguments: dict[str, Any] = {}
    delete_tool: str | None = None
    delete_arguments: dict[str, Any] = {}
    results: str = ""
    result_text: str = ""
    result_id: str | None = None
    result_score: str | None = None
    result_time: str | None = None
    lower_is_better: bool = False
    nothing: str | None = Field(None, min_length=1)
    timeout_s: float = Field(30.0, gt=0, le=3600)

    @model_validator(mode="before")
    @classmethod
    def _with_preset(cls, given: Any) -> Any:
        """Lay the preset under what is given."""
        preset = _PRESETS.get(str(given.get("preset"))) if isinstance(given, Mapping) else None
        if preset is None:
            return given
        merged = {**preset, **given}
        if isinstance(given.get("env"), Mapping):
            merged["env"] = {**preset["env"], **given["env"]}
        return merged

    @model_validator(mode="after")
    def _fit(self) -> McpOptions:
        if not self.command:
            raise ValueError("run= is empty; give the server's command line")
        for name, allowed in _ALLOWED.items():
            given = getattr(self, name)
            if name == "env":
                given = [VARIABLE.sub("", value) for value in without_secrets(self.env).values()]
            strange = sorted(set(placeholders(given)) - allowed)
            if strange:
                raise ValueError(
                    f"{name}= has no {{{strange[0]}}}; it may have "
                    f"{', '.join(f'{{{one}}}' for one in sorted(allowed))}"
                )
        if "text" not in placeholders(self.add_arguments):
            raise ValueError("add_arguments= lacks {text}, so that nothing would be stored")
        asks = "word" if self.each_word else "question"
        if asks not in placeholders(self.search_arguments):
            raise ValueError(f"search_arguments= lacks {{{asks}}}")
        if self.delete_tool and "id" not in placeholders(self.delete_arguments):
            raise ValueError("delete_arguments= lacks {id}")
        return self

    @property
    def command(self) -> list[str]:
        """The command line, taken apart."""
        return shlex.split(self.run) if isinstance(self.run, str) else list(self.run)

    @property
    def tools(self) -> frozenset[str]:
        """The tools that are called."""
        named = (self.add_tool, self.search_tool, self.list_tool, self.delete_tool)
        return frozenset(tool for tool in named if tool)
