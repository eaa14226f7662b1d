"""A memory that finds chunks by the likeness of their embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from pydantic import BaseModel

from harness.adapters.memories.options import VectorOptions
from harness.adapters.memories.rankers import Ranker
from harness.adapters.memories.retrieval import Retrieval
from harness.adapters.memories.vectors import Embed, VectorIndex, Vectors
from harness.adapters.protocol import Adapter, Space

if TYPE_CHECKING:
    from harness.adapters.memories.embedders import PackageEmbedder


class Vector(Retrieval):
    """Cosine over the embeddings of chunks of rounds."""

    Options: ClassVar[type[BaseModel]] = VectorOptions

    def __init__(self, options: BaseModel, strategy: Adapter | None = None) -> None:
        super().__init__(options, strategy)
        assert isinstance(options, VectorOptions)
        self._endpoint_model = options.embedding_model
        self._package: PackageEmbedder | None = None
        if options.embedder != "endpoint":
            from harness.adapters.memories.embedders import package_embedder

            self._package = package_embedder(options.embedder)

    def rankers(self, space: Space) -> Sequence[Ranker]:
        """Return an index by embeddings."""
        return (VectorIndex(self.embedding(space)),)

    def embedding(self, space: Space) -> Embed:
        """Return what makes a vector of a text."""
        package = self._package
        if package is None:
            return space.models.embedder(self._endpoint_model).embed

        async def embed(texts: Sequence[str]) -> Vectors:
            return package.embed(texts)

        return embed

    def version(self) -> str:
        """Return the embedder."""
        return self._package.version if self._package else str(self._endpoint_model)
