from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from harness.llm.exchange import ChatRequest, Unanswered
from harness.llm.models import Models, ModelSettings
from tests.model_server import Server, start


@pytest.fixture(scope="module")
def server() -> Any:
    with start(max_seconds=300) as running:
        yield running


def ask(base_url: str, cassette: Path, **settings: Any) -> str:
    async def go() -> str:
        models = Models(
            ModelSettings(model="rules", base_url=base_url, cassette=str(cassette), **settings), {}
        )
        try:
            request = ChatRequest(({"role": "user", "content": "Say something."},), None, {"max_tokens": 50})
            return str((await models.chat().ask(request)).value)
        finally:
            await models.close()

    return asyncio.run(go())


def test_an_error_in_the_cassette_is_asked_again_only_when_told_to(server: Server, tmp_path: Path) -> None:
    cassette = tmp_path / "cassette.sqlite"
    with pytest.raises(Unanswered, match="content_filter"):
        ask(server.url("azure_content_filter"), cassette)
    with pytest.raises(Unanswered, match="content_filter"):
        ask(server.base_url, cassette)
    answer = ask(server.base_url, cassette, retry_errors=True)
    assert answer
    assert ask(server.base_url, cassette) == answer


def test_one_endpoint_is_one_model(server: Server) -> None:
    models = Models(ModelSettings(model="rules", base_url=server.base_url), {})
    assert models.chat() is models.chat()
    assert models.chat() is not models.chat(f"other@{server.base_url}")
    again = ModelSettings(**models.settings.as_data())
    assert again == models.settings
