"""The table of providers: sound data, the same in the docs, and families of models by name."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import SettingsError
from harness.llm.base_url import checked_base_url, is_loopback
from harness.llm.providers import Provider, family_of, provider_table

PROVIDERS = list(provider_table().providers.values())
DOCS = Path(__file__).parents[2] / "docs" / "providers.md"


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.name)
def test_every_provider_is_usable(provider: Provider) -> None:
    assert checked_base_url(provider.base_url, "table") == provider.base_url
    assert provider.base_url_variable.endswith("_BASE_URL")
    assert provider.keyless == is_loopback(provider.base_url)
    assert provider.keyless or (provider.keys and provider.default_model)
    assert provider.base_url.startswith("http://" if provider.keyless else "https://")


def test_names_aliases_and_variables_are_used_once() -> None:
    for values in (
        [name for one in PROVIDERS for name in (one.name, *one.aliases)],
        [name for one in PROVIDERS for name in (*one.keys, one.base_url_variable)],
    ):
        assert len(values) == len(set(values))


def test_the_expected_providers_are_there() -> None:
    names = "kimi openai openrouter anthropic deepseek groq mistral together gemini xai fireworks".split()
    local = "ollama lmstudio llamacpp vllm".split()
    table = provider_table().providers
    assert set(names + local) <= set(table)
    assert [one.name for one in PROVIDERS if one.keyless] == local
    assert table["kimi"].keys == ("KIMI_API_KEY", "MOONSHOT_API_KEY")
    assert table["ollama"].base_url == "http://127.0.0.1:11434/v1"


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.name)
def test_a_default_model_leads_to_its_provider_or_is_served_by_several(provider: Provider) -> None:
    serving = provider_table().serving(provider.default_model or "")
    assert serving in (provider, None) or "gpt-oss" in (provider.default_model or "")


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("kimi", "kimi"),
        (" Kimi ", "kimi"),
        ("moonshot", "kimi"),
        ("google", "gemini"),
        ("llama.cpp", "llamacpp"),
    ],
)
def test_a_provider_is_found_by_name_and_alias(name: str, found: str) -> None:
    assert provider_table().get(name).name == found


def test_an_unknown_provider_is_an_error_that_lists_them() -> None:
    with pytest.raises(SettingsError, match=r"unknown provider 'kimmi'.*kimi, openai.*--base-url"):
        provider_table().get("kimmi")


@pytest.mark.parametrize(
    ("model", "provider"),
    [
        ("kimi-k2", "kimi"),
        ("moonshot-v1-8k", "kimi"),
        ("gpt-5-mini", "openai"),
        ("o3-mini", "openai"),
        ("o1", "openai"),
        ("chatgpt-4o-latest", "openai"),
        ("claude-sonnet-5", "anthropic"),
        ("gemini-3.5-flash", "gemini"),
        ("deepseek-chat", "deepseek"),
        ("codestral-latest", "mistral"),
        ("open-mixtral-8x22b", "mistral"),
        ("grok-4.3", "xai"),
        ("accounts/fireworks/models/gpt-oss-120b", "fireworks"),
        ("meta-llama/llama-3.3-70b-instruct:free", "openrouter"),
        ("openai/gpt-5", "openrouter"),
        ("gpt-oss-120b", None),
        ("qwen2.5", None),
        ("orca", None),
    ],
)
def test_a_models_name_leads_to_a_provider(model: str, provider: str | None) -> None:
    found = provider_table().serving(model)
    assert (found.name if found else None) == provider


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("gpt-5", "gpt"),
        ("openai/gpt-5", "gpt"),
        ("gpt-oss-120b", "gpt"),
        ("o3-mini", "gpt"),
        ("chatgpt-4o-latest", "gpt"),
        ("EleutherAI/gpt-neox-20b", None),
        ("claude-sonnet-5", "claude"),
        ("us.anthropic.claude-opus-4-1", "claude"),
        ("moonshotai/kimi-k2", "kimi"),
        ("moonshot-v1-8k", "kimi"),
        ("gemini-3.5-flash", "gemini"),
        ("google/gemma-3-27b-it", "gemma"),
        ("meta-llama/Llama-3.3-70B-Instruct", "llama"),
        ("TinyLlama-1.1B-Chat", "llama"),
        ("CodeLlama-7b", "llama"),
        ("ollama/qwen2.5:7b", "qwen"),
        ("Qwen2.5-1.5B-Instruct", "qwen"),
        ("QwQ-32B", "qwen"),
        ("/models/qwen2.5-1.5b-instruct-q4_k_m.gguf", "qwen"),
        ("mistralai/Mixtral-8x7B", "mistral"),
        ("codestral-latest", "mistral"),
        ("deepseek-chat", "deepseek"),
        ("DeepSeek-R1-Distill-Qwen-7B", "deepseek"),
        ("deepseek-ai/R1", "deepseek"),
        ("x-ai/grok-4", "grok"),
        ("zai/glm-4.6", "glm"),
        ("SmolLM2-360M-Instruct", "smollm"),
        ("microsoft/phi-4", "phi"),
        ("01-ai/yi-34b", "yi"),
        ("default", None),
        ("my-finetune", None),
        ("", None),
    ],
)
def test_family(model: str, family: str | None) -> None:
    assert family_of(model) == family
    assert family_of(model.upper()) == family


@given(st.text(max_size=40))
def test_any_name_has_a_family_or_none(name: str) -> None:
    assert family_of(name) in {*provider_table().families, None}


def test_the_file_is_read_only_when_it_is_needed() -> None:
    code = (
        "import sys, harness.llm.endpoint; assert 'yaml' not in sys.modules and 'openai' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def table_row(provider: Provider) -> str:
    keys = " or ".join(f"`{key}`" for key in provider.keys)
    if provider.keyless:
        keys = f"none needed; {keys} is sent" if keys else "none needed"
    model = f"`{provider.default_model}`" if provider.default_model else "none: name one"
    return f"| {provider.name} | {provider.base_url} | `{provider.base_url_variable}` | {keys} | {model} |"


def test_the_docs_show_this_table() -> None:
    text = DOCS.read_text(encoding="utf-8")
    section = re.search(r"^## Providers\n(.*?)^## ", text, re.MULTILINE | re.DOTALL)
    assert section is not None
    rows = [line for line in section[1].splitlines() if line.startswith("| ")][2:]
    assert rows == [table_row(provider) for provider in PROVIDERS]
    notes = [line for line in section[1].splitlines() if line.startswith("- ")]
    assert notes == [f"- {one.name}: {one.notes}" for one in PROVIDERS if one.notes]
    for provider in PROVIDERS:
        for alias in provider.aliases:
            assert f"`{alias}` ({provider.name})" in section[1]
