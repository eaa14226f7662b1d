"""From what the user asked for to one endpoint: base URL, model, and the key that belongs there.

The order (docs/providers.md has it for users):

1. a base URL that was given, with the key that `--api-key-env` names, or that of the provider it is;
2. the provider that was named, or that the key's variable or the model's name leads to;
3. else the first provider with a key.

A provider without its key is replaced by OpenRouter where there is a key for that, which is said in
`Endpoint.substitution`. A key goes only to the host that it belongs to, or that the user named with it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from harness.errors import SettingsError
from harness.llm.api_keys import key_variables, named_key, usable_key, why_unusable
from harness.llm.base_url import checked_base_url, is_local, is_loopback, origin
from harness.llm.providers import Provider, Table, provider_table

__all__ = ["Endpoint", "Wanted", "key_variables", "parse_judge", "resolve_endpoint"]

_BASE_URL_FLAG = "--base-url"
LOCAL_MODEL = "default"
"""What a local server is asked for when no model is named; such servers take any name."""
_AT_URL = re.compile(r"@(?=[A-Za-z][A-Za-z0-9+.-]*://)")
# What follows such an @ is meant as an address; with `@` and digits alone it may be part of a model's name.
_AT_BARE_HOST = re.compile(r"@(?:localhost\b|\d+\.\d+\.\d+\.\d+|\[|[\w.-]+:\d+|[\w.-]+/v\d)")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the user asked for by flags and settings; None for what was left open.

    Attributes:
        provider: name or alias of a provider.
        model: the model, as the endpoint calls it.
        base_url: an OpenAI-compatible endpoint.
        api_key_env: name of the variable that holds the key.
    """

    provider: str | None = None
    model: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One endpoint to call, and how it came about.

    The key shows in no repr, and neither `pickle` nor `recorded` takes it along: unpickled, an
    endpoint has none.

    Attributes:
        provider: name of the provider, or `local` or `custom` for a base URL of the user's.
        base_url: without `/chat/completions` and without a slash at the end.
        model: the model that is called.
        key_name: the variable that the key comes from, or None where no key is sent.
        api_key: the key itself.
        asked_model: the model that was asked for, or the asked provider's default.
        substitution: one sentence where provider or model are not what was asked for.
    """

    provider: str
    base_url: str
    model: str
    key_name: str | None
    api_key: str | None = field(repr=False)
    asked_model: str
    substitution: str | None = None

    @property
    def label(self) -> str:
        """The short name: `openrouter/moonshotai/kimi-k2`."""
        return f"{self.provider}/{self.model}"

    @property
    def local(self) -> bool:
        """Whether it is on this machine or in a private network."""
        return is_local(self.base_url)

    def recorded(self) -> dict[str, str | None]:
        """Return what a manifest or a log may hold: every field but the key."""
        return {one.name: getattr(self, one.name) for one in fields(self) if one.name != "api_key"}

    def __reduce__(self) -> tuple[Any, ...]:
        values = tuple(None if one.name == "api_key" else getattr(self, one.name) for one in fields(self))
        return Endpoint, values

    def __copy__(self) -> Endpoint:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Endpoint:
        return self


def parse_judge(spec: str) -> Wanted:
    """Read a `--judge` value: `[provider:]model[@base_url]`, or a provider's name alone.

    - `openai:gpt-5-mini`, `kimi`, `qwen2.5@http://127.0.0.1:8080/v1`
    - Only a provider's name before the first colon is a provider: `llama3.1:8b` is a model.

    Raises:
        SettingsError: when it names nothing, or its base URL is none.
    """
    text, base_url = spec.strip(), None
    if found := _AT_URL.search(text):
        text, base_url = text[: found.start()], checked_base_url(text[found.end() :], "--judge")
    elif _AT_BARE_HOST.search(text):
        raise SettingsError("--judge: the base URL after @ has no scheme. Write model@http://host:port/v1.")
    before, _, after = text.partition(":")
    wanted = Wanted(model=_text(text), base_url=base_url)
    if provider := provider_table().find(before):
        wanted = Wanted(provider.name, _text(after), base_url)
    if wanted == Wanted():
        raise SettingsError("--judge: names no model. Write [provider:]model[@base_url], as openai:gpt-5.")
    return wanted


def resolve_endpoint(wanted: Wanted, variables: Mapping[str, str]) -> Endpoint:
    """Return the endpoint for what was asked for.

    Args:
        wanted: flags and settings.
        variables: the environment with `.env` beneath it, as `key_variables` merges them.

    Raises:
        SettingsError: when there is none: unknown provider, no key, no model, impossible base URL.
    """
    table = provider_table()
    asked = Wanted(*(_text(getattr(wanted, one.name)) for one in fields(wanted)))
    if asked.model is not None and not (asked.model.isprintable() and " " not in asked.model):
        raise SettingsError("--model: a model's name has no spaces and no control characters.")
    named = table.get(asked.provider) if asked.provider is not None else None
    if asked.base_url is not None:
        return _at_url(checked_base_url(asked.base_url, _BASE_URL_FLAG), named, asked, variables, table)
    provider = named or _inferred(asked, variables, table)
    return _at_provider(provider, _base_url(provider, variables), asked, variables, table)


def _at_url(
    base_url: str, named: Provider | None, asked: Wanted, variables: Mapping[str, str], table: Table
) -> Endpoint:
    """Resolve a base URL that was given: no other endpoint ever stands in for it."""
    known = next(
        (
            one
            for one in table.providers.values()
            if not one.keyless and origin(one.base_url) == origin(base_url)
        ),
        None,
    )
    if named is not None and not named.keyless and named != known and asked.api_key_env is None:
        own = " or ".join(named.keys)
        raise SettingsError(
            f"{_BASE_URL_FLAG}: is not {named.name}'s host, so {own} is not sent there. Leave the provider "
            f"out; where the key belongs there, say so with --api-key-env {named.keys[0]}."
        )
    if known is not None:
        return _at_provider(known, base_url, asked, variables, table, stand_in=False)
    model = asked.model
    if named is not None and named.keyless:
        name, model = named.name, model or named.default_model
    else:
        name = "local" if is_loopback(base_url) else "custom"
        model = model or (LOCAL_MODEL if is_local(base_url) else None)
    if model is None:
        raise SettingsError(f"{_BASE_URL_FLAG}: the endpoint's model is not known. Name it with --model.")
    key = named_key(asked.api_key_env, variables) if asked.api_key_env is not None else None
    return Endpoint(name, base_url, model, asked.api_key_env, key, model)


def _at_provider(
    provider: Provider,
    base_url: str,
    asked: Wanted,
    variables: Mapping[str, str],
    table: Table,
    *,
    stand_in: bool = True,
) -> Endpoint:
    model = asked.model or provider.default_model
    key_name, key = _key(provider, asked, variables, table)
    if key is None and not provider.keyless and not is_local(base_url):
        name, other = _first_usable(table.stand_in, variables)
        if not stand_in or name is None or other is None or provider == table.stand_in:
            raise _no_key(provider, variables, table, stand_in=stand_in)
        return _stand_in(provider, asked.model or provider.default_model or "", name, other, variables, table)
    if provider == table.stand_in:
        model, how = _stand_in_model(asked.model, variables, table)
        why = None
        if asked.model is not None and model != asked.model:
            why = f"using {provider.name} with {model} for {asked.model}{f' ({how})' if how else ''}"
        return Endpoint(provider.name, base_url, model, key_name, key, asked.model or model, why)
    if model is None:
        raise SettingsError(f"{provider.name} has no default model. Name one with --model. {provider.notes}")
    return Endpoint(provider.name, base_url, model, key_name, key, model)


def _stand_in(
    provider: Provider, model: str, key_name: str, key: str, variables: Mapping[str, str], table: Table
) -> Endpoint:
    """Return the stand-in's endpoint for a provider whose own key is missing."""
    other = table.stand_in
    used, how = _stand_in_model(model, variables, table)
    said = f"{key_name}; {how}" if how else key_name
    why = f"{why_unusable(provider.keys, variables)}: using {other.name} with {used} ({said}) for {model}"
    return Endpoint(other.name, _base_url(other, variables), used, key_name, key, model, why)


def _stand_in_model(model: str | None, variables: Mapping[str, str], table: Table) -> tuple[str, str]:
    """Return the model to ask the stand-in for, and why it is another one than asked for."""
    default = table.stand_in.default_model
    assert default is not None
    if forced := variables.get(table.stand_in_variable, "").strip():
        return forced, f"{table.stand_in_variable} forces the model"
    mapped = table.stand_in_model(model) if model is not None else None
    if mapped is not None:
        return mapped, ""
    return default, "another model, its default"


def _inferred(asked: Wanted, variables: Mapping[str, str], table: Table) -> Provider:
    """Return the provider that the key's variable, the model's name or a key leads to."""
    if asked.api_key_env is not None and (owner := table.owner(asked.api_key_env)):
        return owner
    if asked.model is not None and (serving := table.serving(asked.model)):
        return serving
    if asked.api_key_env is not None:
        raise SettingsError(
            "--api-key-env: says which key, not where it belongs. Add --provider or --base-url."
        )
    keyed = [one for one in table.providers.values() if not one.keyless]
    for provider in keyed:
        if _first_usable(provider, variables)[1] is not None:
            return provider
    names = [name for one in keyed for name in one.keys]
    # The many that are merely unset would hide the one placeholder.
    held = [name for name in names if variables.get(name, "").strip()]
    raise SettingsError(
        f"no model endpoint: {why_unusable(held, variables) if held else 'no key is set'}. Set one of "
        f"{', '.join(names)} in the environment or in .env, or name a local server with --base-url "
        f"or --provider {_listed(one.name for one in table.providers.values() if one.keyless)}."
    )


def _key(
    provider: Provider, asked: Wanted, variables: Mapping[str, str], table: Table
) -> tuple[str | None, str | None]:
    """Return the variable and the key for a provider, or None twice."""
    if asked.api_key_env is None:
        return _first_usable(provider, variables)
    owner = table.owner(asked.api_key_env)
    if owner is not None and owner != provider:
        raise SettingsError(
            f"--api-key-env: {asked.api_key_env} belongs to {owner.name} and is not sent to {provider.name}."
        )
    return asked.api_key_env, named_key(asked.api_key_env, variables)


def _first_usable(provider: Provider, variables: Mapping[str, str]) -> tuple[str | None, str | None]:
    for name in provider.keys:
        if (key := usable_key(name, variables)) is not None:
            return name, key
    return None, None


def _no_key(
    provider: Provider, variables: Mapping[str, str], table: Table, *, stand_in: bool
) -> SettingsError:
    accepted = list(provider.keys)
    if stand_in and provider != table.stand_in:
        accepted += table.stand_in.keys
    one_of = f"Set {_listed(accepted)} in the environment or in .env"
    return SettingsError(
        f"no key for {provider.name}: {why_unusable(accepted, variables)}. {one_of}, or choose another "
        "endpoint with --provider or --base-url."
    )


def _base_url(provider: Provider, variables: Mapping[str, str]) -> str:
    """Return the provider's base URL, or the one that its variable puts in place."""
    given = variables.get(provider.base_url_variable, "").strip()
    return checked_base_url(given, provider.base_url_variable) if given else provider.base_url


def _listed(names: Any) -> str:
    *most, last = names
    return f"{', '.join(most)} or {last}" if most else str(last)


def _text(value: str | None) -> str | None:
    """Return the text without white space around it, or None where nothing is left."""
    return (value or "").strip() or None
