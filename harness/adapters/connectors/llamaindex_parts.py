"""What LlamaIndex's vector block needs and its core package lacks: a store that keeps text; and its text, read."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

_BEGINS = re.compile(r"(?:^|(?<=</message>\n))<message role='(\w+)'>")
_ENDS = "</message>"
_KEPT = "\nAdditional Info: ("


class Line(NamedTuple):
    """A message as the block wrote it down.

    Attributes:
        role: user or assistant.
        text: what was said.
        kept: what was put beside it.
    """

    role: str
    text: str
    kept: Mapping[str, Any]


def spoken(text: str) -> list[Line]:
    r"""Read the messages out of a text of the block; none where it is not in the block's form.

    The form: `<message role='user'>Hello.\nAdditional Info: ({'said_at': …})</message>`, a line break
    between two.
    """
    starts = list(_BEGINS.finditer(text))
    ends = [*(start.start() for start in starts), len(text)][1:]
    return [
        _line(start[1], text[start.end() : end].rstrip("\n").removesuffix(_ENDS))
        for start, end in zip(starts, ends, strict=True)
    ]


def _line(role: str, body: str) -> Line:
    said, mark, kept = body.rpartition(_KEPT)
    if not mark:
        return Line(role, body, {})
    try:
        return Line(role, said, dict(ast.literal_eval(kept.removesuffix(")"))))
    except (SyntaxError, ValueError):
        return Line(role, body, {})


def embed_model(embed: Callable[[Sequence[str]], list[list[float]]]) -> Any:
    """Return an embedder as LlamaIndex wants one."""
    from llama_index.core.embeddings import BaseEmbedding

    class Given(BaseEmbedding):  # type: ignore[misc]
        def _get_text_embedding(self, text: str) -> list[float]:
            return embed([text])[0]

        def _get_query_embedding(self, query: str) -> list[float]:
            return embed([query])[0]

        async def _aget_text_embedding(self, text: str) -> list[float]:
            return embed([text])[0]

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return embed([query])[0]

    return Given(model_name="given")


def block_store() -> Any:
    """Return a vector store in memory that keeps text and compares by cosine, all with all.

    `SimpleVectorStore`, the one in the core package, keeps none, and the block refuses it. Every node in
    it is of one session, so that filters have nothing to do. `found` are the nodes of the last search
    with their cosines, which the block itself does not hand on.
    """
    import numpy as np
    from llama_index.core.vector_stores.types import BasePydanticVectorStore, VectorStoreQueryResult

    class Kept(BasePydanticVectorStore):  # type: ignore[misc]
        stores_text: bool = True
        nodes: list[Any] = []  # noqa: RUF012  pydantic copies it
        found: list[Any] = []  # noqa: RUF012

        @property
        def client(self) -> None:
            return None

        def add(self, nodes: Sequence[Any], **_: Any) -> list[str]:
            self.nodes += nodes
            return [node.node_id for node in nodes]

        def delete(self, ref_doc_id: str, **_: Any) -> None:
            self.nodes = [node for node in self.nodes if node.ref_doc_id != ref_doc_id]

        def clear(self) -> None:
            self.nodes, self.found = [], []

        def query(self, query: Any, **_: Any) -> Any:
            self.found = []
            if self.nodes:
                rows = np.asarray([node.get_embedding() for node in self.nodes], dtype=np.float32)
                asked = np.asarray(query.query_embedding, dtype=np.float32)
                lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(asked)
                cosines = (rows @ asked / np.where(lengths == 0, 1, lengths)).tolist()
                ranked = sorted(zip(self.nodes, cosines, strict=True), key=lambda pair: -pair[1])
                self.found = ranked[: query.similarity_top_k]
            return VectorStoreQueryResult(
                nodes=[node for node, _ in self.found],
                similarities=[cosine for _, cosine in self.found],
                ids=[node.node_id for node, _ in self.found],
            )

    return Kept()
