"""Graphiti, a graph of facts with their times, on FalkorDB; see docs/systems/graphiti.md."""

from __future__ import annotations

import itertools
import logging
import os
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from harness.adapters.connectors.embedding import Embedders, Embedding, StoreOptions
from harness.adapters.connectors.rounds import Piece, pieces
from harness.adapters.protocol import Adapter, AgentFailure, Capability, Memory, Question, Space
from harness.suite import Conversation

if TYPE_CHECKING:
    from harness.llm.endpoint import Endpoint


class GraphitiOptions(StoreOptions):
    """A FalkorDB that runs already, and how Graphiti is used.

    Attributes:
        per: what makes an episode: a `message`, a `round` or a whole `conversation`.
        host, port: where FalkorDB listens.
        username: for FalkorDB, where it wants one.
        password_env: name of the variable with the password for FalkorDB.
        model: the model that extracts facts, `[provider:]model[@base_url]`; the run's own when left out.
        structured: how the model is asked for JSON: by its schema, or in words for endpoints that
            don't take one.
    """

    per: Literal["message", "round", "conversation"] = "round"  # type: ignore[assignment]
    host: str = Field("127.0.0.1", min_length=1)
    port: int = Field(6379, ge=1, le=65535)
    username: str | None = None
    password_env: str | None = None
    model: str | None = Field(None, min_length=1)
    structured: Literal["json_schema", "json_object"] = "json_schema"


class Graphiti(Adapter):
    """A graph of its own for each agent; what is recalled are its facts."""

    Options: ClassVar[type[GraphitiOptions]] = GraphitiOptions
    capabilities: ClassVar[frozenset[Capability]] = frozenset({"recall", "add", "list", "delete", "discard"})

    def __init__(self, options: GraphitiOptions) -> None:
        super().__init__(options)
        os.environ["GRAPHITI_TELEMETRY_ENABLED"] = "false"
        for name in ("graphiti_core", "falkordb", "httpx"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        import graphiti_core  # noqa: F401  a missing package shows when the adapter is made

        self._how = options
        self._embedders = Embedders(options)

    async def open(self, space: Space) -> GraphitiAgent:
        """Return an agent with a graph of its own.

        Raises:
            AgentFailure: `unreachable` when FalkorDB does not answer.
        """
        from redis.exceptions import RedisError

        agent = None
        try:
            agent = GraphitiAgent(
                self._how,
                _connect(self._how),
                space.namespace,
                space.models.endpoint(self._how.model),
                space.models.settings.timeout_s,
                self._embedders.open(space.models),
            )
            await agent.prepare()
        except (RedisError, OSError) as error:
            if agent is not None:
                with suppress(RedisError, OSError):
                    await agent.close()
            place = f"{self._how.host}:{self._how.port}"
            raise AgentFailure("unreachable", f"FalkorDB at {place}: {error}") from None
        return agent

    async def discard(self, namespace: str) -> None:
        """Remove the graph of a killed agent."""
        client = _connect(self._how)
        try:
            await _drop(client, namespace)
        finally:
            await client.aclose()

    def version(self) -> str:
        """Return the version of the package and the model that extracts facts, where an option names it."""
        by = f", facts by {self._how.model}" if self._how.model else ""
        return f"graphiti-core {version('graphiti-core')}{by}"


class GraphitiAgent:
    """One graph: the space is both its database and its group."""

    def __init__(
        self,
        options: GraphitiOptions,
        client: Any,
        namespace: str,
        endpoint: Endpoint,
        timeout_s: float,
        embedding: Embedding,
    ) -> None:
        import openai
        from graphiti_core import Graphiti as Graph
        from graphiti_core.driver.falkordb_driver import FalkorDriver
        from graphiti_core.llm_client.config import LLMConfig
        from graphiti_core.llm_client.openai_generic_client import OpenAIGenericClient

        self._options = options
        self._namespace = namespace
        self._embedding = embedding
        self._refs: dict[str, tuple[str, ...]] = {}
        self._numbers = itertools.count(1)
        self._chat = openai.AsyncOpenAI(
            base_url=endpoint.base_url, api_key=endpoint.api_key or "none", timeout=timeout_s
        )
        config = LLMConfig(model=endpoint.model, small_model=endpoint.model, base_url=endpoint.base_url)
        self._client = client
        self._driver: Any = FalkorDriver(falkor_db=self._client, database=namespace)
        self._graph: Any = Graph(
            graph_driver=self._driver,
            llm_client=OpenAIGenericClient(
                config=config, client=self._chat, structured_output_mode=options.structured
            ),
            embedder=_embedder(embedding),
            cross_encoder=_no_cross_encoder(),
        )

    async def prepare(self) -> None:
        """Make the indices of the graph."""
        await self._driver.build_indices_and_constraints()

    async def ingest(self, conversation: Conversation) -> None:
        """Add a conversation episode by episode, in order; a model extracts the facts of each."""
        per = self._options.per
        cut = _whole(conversation) if per == "conversation" else pieces(conversation, per)
        for piece in cut:
            if piece.text.strip():
                await self._episode(piece.text, piece.said_at, _described(piece), piece.source_refs)

    async def recall(self, question: Question, limit: int) -> Sequence[Memory]:
        """Return facts by Graphiti's own fusion (RRF) of full text and embeddings."""
        from graphiti_core.search.search_config_recipes import EDGE_HYBRID_SEARCH_RRF

        if limit < 1 or not question.text.strip():
            return []
        found = await self._graph.search_(
            question.text,
            config=EDGE_HYBRID_SEARCH_RRF.model_copy(update={"limit": limit}),
            group_ids=[self._namespace],
        )
        scored = zip(found.edges, found.edge_reranker_scores, strict=True)
        return [self._memory(edge, score) for edge, score in scored]

    async def add(self, text: str) -> str:
        """Add an episode of one text; return the id of the first fact in it, empty where there is none."""
        made = await self._episode(text, None, "said directly", ())
        return str(made.edges[0].uuid) if made.edges else ""

    async def list(self) -> Sequence[Memory]:
        """Return every fact, in the order of their making."""
        from graphiti_core.edges import EntityEdge
        from graphiti_core.errors import GroupsEdgesNotFoundError

        try:
            edges = await EntityEdge.get_by_group_ids(self._driver, [self._namespace])
        except GroupsEdgesNotFoundError:
            return []
        return [self._memory(edge, None) for edge in sorted(edges, key=lambda edge: edge.created_at)]

    async def delete(self, memory_id: str) -> None:
        """Remove a fact.

        Raises:
            EdgeNotFoundError: when there is none of this id.
        """
        from graphiti_core.edges import EntityEdge

        edge = await EntityEdge.get_by_uuid(self._driver, memory_id)
        await edge.delete(self._driver)

    async def close(self) -> None:
        """Remove the graph, and close all connections."""
        try:
            await _drop(self._client, self._namespace)
        finally:
            await self._graph.close()
            await self._chat.close()
            self._embedding.close()

    async def _episode(
        self, text: str, said_at: datetime | None, description: str, refs: tuple[str, ...]
    ) -> Any:
        made = await self._graph.add_episode(
            name=refs[0] if refs else f"added#{next(self._numbers)}",
            episode_body=text,
            source_description=description,
            reference_time=said_at or datetime.now(UTC),
            group_id=self._namespace,
        )
        self._refs[made.episode.uuid] = refs
        return made

    def _memory(self, edge: Any, score: float | None) -> Memory:
        refs = [ref for episode in edge.episodes for ref in self._refs.get(episode, ())]
        over = f" (until {edge.invalid_at:%Y-%m-%d})" if edge.invalid_at else ""
        return Memory(
            id=edge.uuid,
            text=f"{edge.fact}{over}",
            score=score,
            created_at=edge.valid_at or edge.reference_time,
            source_refs=tuple(dict.fromkeys(refs)),
            type=edge.name,
        )


def _whole(conversation: Conversation) -> list[Piece]:
    """Return a conversation as one piece."""
    parts = pieces(conversation, "message")
    return [
        Piece(
            text="\n".join(part.text for part in parts),
            messages=conversation.messages,
            said_at=conversation.timestamp,
            source_refs=tuple(ref for part in parts for ref in part.source_refs),
            conversation=conversation.id,
            labels=conversation.metadata,
        )
    ]


def _described(piece: Piece) -> str:
    """Return what is known of a conversation beside its words."""
    labels = "; ".join(f"{name}: {value}" for name, value in piece.labels.items())
    return f"conversation {piece.conversation}{f'; {labels}' if labels else ''}"


def _connect(options: GraphitiOptions) -> Any:
    from falkordb.asyncio import FalkorDB

    password = os.environ.get(options.password_env) if options.password_env else None
    return FalkorDB(host=options.host, port=options.port, username=options.username, password=password)


async def _drop(client: Any, name: str) -> None:
    """Remove a graph; one that is not there is removed already."""
    if name in await client.list_graphs():
        await client.select_graph(name).delete()


def _embedder(embedding: Embedding) -> Any:
    from graphiti_core.embedder.client import EmbedderClient

    class Given(EmbedderClient):  # type: ignore[misc]
        async def create(self, input_data: Any) -> list[float]:
            return embedding.embed([input_data] if isinstance(input_data, str) else list(input_data)[:1])[0]

        async def create_batch(self, input_data_list: list[str]) -> list[list[float]]:
            return embedding.embed(input_data_list) if input_data_list else []

    return Given()


def _no_cross_encoder() -> Any:
    """Return a stand-in for the one that Graphiti makes by default, which wants OpenAI's key; RRF asks none."""
    from graphiti_core.cross_encoder.client import CrossEncoderClient

    class Unused(CrossEncoderClient):  # type: ignore[misc]
        async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:
            raise NotImplementedError("facts are ranked by RRF")

    return Unused()
