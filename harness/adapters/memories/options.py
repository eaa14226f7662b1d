"""The options of the memories here."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

EmbedderName = Literal["wordllama", "minilm", "endpoint"]


class ChunkOptions(BaseModel):
    """How conversations are cut, and what is kept with each chunk.

    Attributes:
        rounds: rounds in a chunk. Of the bundled cases' evidence most fits into 500 words by chunks of
            three that share none: shared rounds take up room twice.
        overlap: rounds that a chunk shares with the one before it, fewer than `rounds`.
        dates: whether a chunk says when it was said.
        prefix: whether a model writes one sentence for each chunk that places it in its conversation.
        model: the model for that, `[provider:]model[@base_url]`; the run's own when left out.
        over: a strategy whose memories are ranked together with the chunks, as `advanced_json_cards`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    rounds: int = Field(3, ge=1, le=10_000)
    overlap: int = Field(0, ge=0)
    dates: bool = True
    prefix: bool = False
    model: str | None = Field(None, min_length=1)
    over: str | None = Field(None, min_length=1)

    @model_validator(mode="after")
    def _fit(self) -> ChunkOptions:
        if self.overlap >= self.rounds:
            raise ValueError(f"overlap={self.overlap} has to be below rounds={self.rounds}")
        if self.model is not None and not self.prefix:
            raise ValueError("model= names who writes the prefixes: add prefix=True, or leave it out")
        return self


class VectorOptions(ChunkOptions):
    """The same, with an embedder.

    Attributes:
        embedder: `wordllama` or `minilm` from an installed package, or `endpoint`.
        embedding_model: the endpoint's model, `[provider:]model[@base_url]`.
    """

    embedder: EmbedderName = "wordllama"
    embedding_model: str | None = Field(None, min_length=1)

    @model_validator(mode="after")
    def _named(self) -> VectorOptions:
        if self.embedder == "endpoint" and self.embedding_model is None:
            raise ValueError("embedder='endpoint' needs embedding_model='[provider:]model[@base_url]'")
        if self.embedder != "endpoint" and self.embedding_model is not None:
            raise ValueError("embedding_model= is for an endpoint: add embedder='endpoint'")
        return self
