"""The models that one run may ask: made when first asked for, all through one cassette."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.llm.cassette import Cassette, Mode
from harness.llm.client import ChatModel
from harness.llm.endpoint import Endpoint, Wanted, parse_judge, resolve_endpoint

if TYPE_CHECKING:
    from harness.llm.embeddings import EmbeddingModel


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """What the user said of models; it goes to worker processes as JSON and holds no key.

    Attributes:
        provider, model, base_url, api_key_env: as `Wanted` has them.
        cassette: where replies are kept, None to keep none.
        cassette_mode: auto, replay or off.
        concurrency: most requests in flight for each model.
        timeout_s: seconds to wait for one reply.
        retry_errors: ask again where the cassette holds an error.
    """

    provider: str | None = None
    model: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    cassette: str | None = None
    cassette_mode: Mode = "auto"
    concurrency: int = 16
    timeout_s: float = 120.0
    retry_errors: bool = False

    def as_data(self) -> dict[str, Any]:
        """Return the settings as plain data; `ModelSettings(**data)` reads them back."""
        return asdict(self)


class Models:
    """Chat and embedding models by name.

    Args:
        settings: the run's own model, and where replies are kept.
        variables: environment with the keys.
    """

    def __init__(self, settings: ModelSettings, variables: Mapping[str, str]) -> None:
        self.settings = settings
        self.variables = variables
        self._chats: dict[Endpoint, ChatModel] = {}
        self._embedders: dict[Endpoint, EmbeddingModel] = {}
        self._cassette: Cassette | None = None

    def endpoint(self, spec: str | None = None) -> Endpoint:
        """Return where a model is.

        Args:
            spec: `[provider:]model[@base_url]`; the run's own model when left out.

        Raises:
            SettingsError: when nothing names a model that can be reached.
        """
        own = self.settings
        wanted = parse_judge(spec) if spec else Wanted(own.provider, own.model, own.base_url, own.api_key_env)
        return resolve_endpoint(wanted, self.variables)

    def chat(self, spec: str | None = None) -> ChatModel:
        """Return a chat model; the same one for the same endpoint."""
        endpoint = self.endpoint(spec)
        if endpoint not in self._chats:
            self._chats[endpoint] = ChatModel(
                endpoint,
                self._replies(),
                concurrency=self.settings.concurrency,
                timeout_s=self.settings.timeout_s,
                retry_errors=self.settings.retry_errors,
            )
        return self._chats[endpoint]

    def embedder(self, spec: str | None = None) -> EmbeddingModel:
        """Return an embedding model; the same one for the same endpoint."""
        from harness.llm.embeddings import EmbeddingModel

        endpoint = self.endpoint(spec)
        if endpoint not in self._embedders:
            self._embedders[endpoint] = EmbeddingModel(
                endpoint,
                self._replies(),
                concurrency=self.settings.concurrency,
                timeout_s=self.settings.timeout_s,
            )
        return self._embedders[endpoint]

    async def close(self) -> None:
        """Close connections and cassette."""
        for chat in self._chats.values():
            await chat.close()
        for embedder in self._embedders.values():
            await embedder.close()
        self._chats.clear()
        self._embedders.clear()
        if self._cassette is not None:
            self._cassette.close()
            self._cassette = None

    def _replies(self) -> Cassette:
        if self._cassette is None:
            path = self.settings.cassette
            self._cassette = Cassette(Path(path) if path else None, self.settings.cassette_mode)
        return self._cassette
