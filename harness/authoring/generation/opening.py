"""The author's model: resolved, and recorded, as a judge is, so that a replay needs no key."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from harness.errors import InputError
from harness.llm.cassette import Cassette, canonical
from harness.llm.client import ChatModel
from harness.llm.endpoint import LOCAL_MODEL, Endpoint
from harness.llm.models import Models, ModelSettings
from harness.llm.usage import Price

_NOTE = "author"


@asynccontextmanager
async def author_model(
    settings: ModelSettings,
    endpoint: Endpoint,
    *,
    prices: Mapping[str, Price] | None = None,
    max_cost: float | None = None,
) -> AsyncIterator[ChatModel]:
    """Open the model, and note in its cassette how it was resolved.

    Args:
        settings: where replies are kept, how many requests are in flight.
        endpoint: as `author_endpoint` found it.
        prices: dollars for a million tokens, by model.
        max_cost: dollars after which no request is sent.
    """
    path = None if settings.cassette is None else Path(settings.cassette)
    with Cassette(path, settings.cassette_mode) as cassette:
        noted = {key: value for key, value in endpoint.recorded().items() if key != "base_url"}
        if cassette.mode == "auto" and cassette.note(_NOTE, _wanted(settings)) != noted:
            cassette.write_note(_NOTE, _wanted(settings), noted)
        async with ChatModel(
            endpoint,
            cassette,
            concurrency=settings.concurrency,
            timeout_s=settings.timeout_s,
            prices=prices,
            max_cost=max_cost,
            retry_errors=settings.retry_errors,
        ) as chat:
            yield chat


def author_endpoint(settings: ModelSettings, variables: Mapping[str, str]) -> Endpoint:
    """Return where the model is; in replay as it was when it was recorded.

    Raises:
        SettingsError: when nothing names a model that can be reached.
        InputError: for a model without a name whose replies are to be kept.
    """
    if settings.cassette_mode == "replay" and settings.cassette is not None:
        with Cassette(Path(settings.cassette), "replay") as cassette:
            if noted := cassette.note(_NOTE, _wanted(settings)):
                return Endpoint(**noted, base_url="", api_key=None)
    endpoint = Models(settings, variables).endpoint()
    if settings.cassette is not None and settings.cassette_mode != "off" and endpoint.model == LOCAL_MODEL:
        raise InputError("--base-url without --model: name the model, because replies are kept by it.")
    return endpoint


def _wanted(settings: ModelSettings) -> str:
    wanted = {"provider": settings.provider, "model": settings.model, "url": bool(settings.base_url)}
    return canonical(wanted)
