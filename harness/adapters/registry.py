"""The adapters that come with the harness or with installed packages, and how one is found by name."""

from __future__ import annotations

import importlib.util
import inspect
from typing import Any, NamedTuple

from harness.adapters.protocol import Adapter, Isolation, Kind
from harness.errors import InputError
from harness.naming import Spec, load_target, look_here, offered, unknown

ENTRY_POINTS = "recallbench.adapters"
FLAG = "--system"


class AdapterInfo(NamedTuple):
    """An adapter that can be named.

    Attributes:
        name: as users type it.
        target: `module:attribute`.
        kind: what sort of system it is.
        summary: one line.
        extra: the pip extra that brings what it needs, empty for none.
        modules: what has to be importable; tells whether the extra is installed.
        isolation: where it runs.
        source: the package that offers it.
    """

    name: str
    target: str
    kind: Kind
    summary: str
    extra: str = ""
    modules: tuple[str, ...] = ()
    isolation: Isolation = "process"
    source: str = "built-in"

    @property
    def installed(self) -> bool:
        """Whether everything that it needs can be imported."""
        return not self.lacking

    @property
    def lacking(self) -> tuple[str, ...]:
        """The modules that it needs and that are not there."""
        return tuple(name for name in self.modules if not _there(name))


_HOME = "harness.adapters"
BUILT_IN: tuple[AdapterInfo, ...] = (
    AdapterInfo("no_memory", f"{_HOME}.controls:NoMemory", "control", "remembers nothing: the lower bound", isolation="inline"),
    AdapterInfo("full_context", f"{_HOME}.controls:FullContext", "control", "hands back every message", isolation="inline"),
    AdapterInfo("last_conversation", f"{_HOME}.controls:LastConversation", "control", "hands back the last conversation only", isolation="inline"),
    AdapterInfo("oracle", f"{_HOME}.controls:Oracle", "control", "hands back the messages that the gold facts cite: the upper bound", isolation="inline"),
    AdapterInfo("echo", f"{_HOME}.cheaters:Echo", "cheater", "answers with the question", isolation="inline"),
    AdapterInfo("abstain", f"{_HOME}.cheaters:Abstain", "cheater", "always says that it does not know", isolation="inline"),
    AdapterInfo("bluffer", f"{_HOME}.cheaters:Bluffer", "cheater", "stays on the topic and commits to nothing", isolation="inline"),
    AdapterInfo("dump", f"{_HOME}.cheaters:Dump", "cheater", "answers with the whole transcript", isolation="inline"),
    AdapterInfo("simple_notes", f"{_HOME}.strategies.notes:SimpleNotes", "strategy", "a model keeps atomic facts with tags", isolation="inline"),
    AdapterInfo("enhanced_notes", f"{_HOME}.strategies.notes:EnhancedNotes", "strategy", "a model keeps paragraphs with their context", isolation="inline"),
    AdapterInfo("json_cards", f"{_HOME}.strategies.cards:JsonCards", "strategy", "a model keeps category → subcategory → key → value", isolation="inline"),
    AdapterInfo("advanced_json_cards", f"{_HOME}.strategies.cards:AdvancedJsonCards", "strategy", "a model keeps cards with backstory, person, relationship and dates", isolation="inline"),
    AdapterInfo("bm25", f"{_HOME}.memories.bm25:Bm25", "retrieval", "keyword search over chunks of rounds (SQLite FTS5)", isolation="inline"),
    AdapterInfo("vector", f"{_HOME}.memories.vector:Vector", "retrieval", "embeddings of chunks of rounds", "embed", ("numpy",)),
    AdapterInfo("hybrid", f"{_HOME}.memories.hybrid:Hybrid", "retrieval", "bm25 and vector by reciprocal rank fusion", "embed", ("numpy",)),
    AdapterInfo("mem0", f"{_HOME}.connectors.mem0:Mem0", "connector", "Mem0 with a local store", "mem0", ("mem0",)),
    AdapterInfo("langgraph", f"{_HOME}.connectors.langgraph:LangGraphStore", "connector", "a LangGraph store: memory, SQLite or Postgres", "langgraph", ("langgraph",)),
    AdapterInfo("langmem", f"{_HOME}.connectors.langmem:LangMem", "connector", "langmem on a LangGraph store", "langmem", ("langmem",)),
    AdapterInfo("llamaindex", f"{_HOME}.connectors.llamaindex:LlamaIndexMemory", "connector", "LlamaIndex Memory with a vector block", "llamaindex", ("llama_index",)),
    AdapterInfo("chroma", f"{_HOME}.connectors.chroma:Chroma", "connector", "a Chroma collection", "chroma", ("chromadb",)),
    AdapterInfo("graphiti", f"{_HOME}.connectors.graphiti:Graphiti", "connector", "Graphiti on FalkorDB", "graphiti", ("graphiti_core",)),
    AdapterInfo("mcp", f"{_HOME}.connectors.mcp:McpServer", "connector", "any MCP memory server over stdio"),
    AdapterInfo("http", f"{_HOME}.connectors.http:HttpSystem", "connector", "any system with an HTTP API, described in YAML", isolation="inline"),
    AdapterInfo("command", f"{_HOME}.connectors.command:CommandSystem", "connector", "any program that speaks JSON lines", isolation="inline"),
    AdapterInfo("python", f"{_HOME}.connectors.python:PythonObject", "connector", "any Python class or function"),
    AdapterInfo("openai_chat", f"{_HOME}.connectors.openai_chat:OpenAIChat", "connector", "a chat endpoint that is given the whole history", isolation="inline"),
)  # fmt: skip


def available_adapters() -> tuple[AdapterInfo, ...]:
    """Return the built-in adapters and those that installed packages offer.

    A name belongs to the first that has it; what else bears it is found by `module:attribute`.
    """
    found = list(BUILT_IN)
    for offer in offered(ENTRY_POINTS):
        summary = f"from {offer.target.partition(':')[0]}"
        first = next((info for info in found if info.name == offer.name), None)
        if first is not None:
            summary = f"shadowed, since {first.source} has the name: use {offer.target}"
        found.append(AdapterInfo(offer.name, offer.target, "own", summary, source=offer.source))
    return tuple(found)


def find_adapter(spec: Spec) -> AdapterInfo:
    """Return the adapter that a spec names; it is not loaded yet.

    Raises:
        InputError: for an unknown name, or when what the adapter needs is not installed.
    """
    known = available_adapters() if all(info.name != spec.name for info in BUILT_IN) else BUILT_IN
    found = next((info for info in known if info.name == spec.name), None)
    if found is None and ":" in spec.name:
        found = AdapterInfo(
            spec.name, spec.name, "own", f"from {spec.name.partition(':')[0]}", source="your own"
        )
    if found is None:
        look_here()
        if spec.name.isidentifier() and _there(spec.name):
            raise InputError(
                f"{FLAG} {spec.text}: {spec.name} is a module. Name its class too: {spec.name}:ClassName."
            )
        raise unknown(FLAG, spec.name, "system", (info.name for info in known))
    if found.lacking:
        raise InputError(
            f"{FLAG} {spec.text}: needs {', '.join(found.lacking)}, which is not installed. "
            f"pip install 'recallbench[{found.extra}]'."
        )
    return found


def make_adapter(info: AdapterInfo, spec: Spec) -> Adapter:
    """Load an adapter and set its options; to be called where it runs.

    Raises:
        InputError: when it cannot be loaded, is no adapter, or the options do not fit.
    """
    from pydantic import ValidationError

    target = load_target(info.target, FLAG, spec.text)
    if not (inspect.isclass(target) and issubclass(target, Adapter)):
        from harness.adapters.plain import as_adapter

        target = as_adapter(target, spec)
    try:
        options = target.Options(**spec.options)
    except ValidationError as error:
        raise InputError(f"{FLAG} {spec.text}: {_said(error, target.Options)}") from None
    made: Adapter = target(options)
    return made


def _said(error: Any, options: Any) -> str:
    """Say which options do not fit, and which there are."""
    wrong = "; ".join(
        f"{'.'.join(map(str, one['loc'])) or 'options'}: {one['msg'].removeprefix('Value error, ')}"
        for one in error.errors()
    )
    names = ", ".join(options.model_fields) or "none"
    return f"{wrong}. Its options: {names}."


def _there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False
