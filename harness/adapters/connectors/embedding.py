"""The embedder that a store of somebody else's calls: plain functions, since such stores wait for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from harness.adapters.connectors.rounds import Per
from harness.adapters.protocol import AgentFailure

if TYPE_CHECKING:
    from harness.llm.models import Models

Embed = Callable[[Sequence[str]], list[list[float]]]
_MOST_TEXTS = 100


class StoreOptions(BaseModel):
    """What is stored as one memory, and who embeds it; the same defaults for every store.

    Attributes:
        per: `round` stores a user message with its replies as one text, `message` each message.
        embedder: `wordllama` or `minilm` from an installed package, or `endpoint`.
        embedding_model: the endpoint's model, `[provider:]model[@base_url]`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    per: Per = "round"
    embedder: Literal["wordllama", "minilm", "endpoint"] = "wordllama"
    embedding_model: str | None = Field(None, min_length=1)

    @model_validator(mode="after")
    def _embedder_named(self) -> StoreOptions:
        if self.embedder == "endpoint" and self.embedding_model is None:
            raise ValueError("embedder='endpoint' needs embedding_model='[provider:]model[@base_url]'")
        if self.embedder != "endpoint" and self.embedding_model is not None:
            raise ValueError("embedding_model= is for an endpoint: add embedder='endpoint'")
        return self


@dataclass(frozen=True, slots=True)
class Embedding:
    """An embedder ready for use.

    Attributes:
        dimensions: numbers in a vector.
        embed: makes a vector of each text.
        close: frees its connections.
    """

    dimensions: int
    embed: Embed
    close: Callable[[], None]


class Embedders:
    """Makes the embedder that the options name; a packaged model is loaded once for all agents."""

    def __init__(self, options: StoreOptions) -> None:
        self._model = options.embedding_model
        self._packaged: Embedding | None = None
        if options.embedder != "endpoint":
            from harness.adapters.memories.embedders import package_embedder

            package = package_embedder(options.embedder)
            self._packaged = Embedding(package.dimensions, package.embed, lambda: None)

    def open(self, models: Models) -> Embedding:
        """Return the embedder for one agent.

        Raises:
            AgentFailure: `unreachable` when an endpoint does not answer.
        """
        return self._packaged or _at_endpoint(models, self._model)


def _at_endpoint(models: Models, spec: str | None) -> Embedding:
    """Return an endpoint's embedder. The stores call it themselves, so no cassette sees its replies."""
    import openai

    endpoint = models.endpoint(spec)
    client = openai.OpenAI(
        base_url=endpoint.base_url,
        api_key=endpoint.api_key or "none",
        timeout=models.settings.timeout_s,
    )

    def embed(texts: Sequence[str]) -> list[list[float]]:
        vectors: list[list[float]] = []
        for start in range(0, len(texts), _MOST_TEXTS):
            batch = list(texts[start : start + _MOST_TEXTS])
            try:
                reply = client.embeddings.create(model=endpoint.model, input=batch, encoding_format="float")
            except openai.APIConnectionError as error:
                raise AgentFailure(
                    "unreachable", f"the embedding endpoint {endpoint.base_url}: {error}"
                ) from None
            vectors += [item.embedding for item in sorted(reply.data, key=lambda item: item.index)]
        return vectors

    try:
        return Embedding(len(embed(["How long is a vector?"])[0]), embed, client.close)
    except BaseException:
        client.close()
        raise
