"""The named providers, what OpenRouter calls a model, and model families: `providers.yaml`, read once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from harness.errors import SettingsError


@dataclass(frozen=True, slots=True)
class Provider:
    """One named provider of an OpenAI-compatible endpoint.

    Attributes:
        name: what `--provider` takes.
        base_url: where it is, without `/chat/completions`.
        base_url_variable: the variable that replaces `base_url`.
        keys: variables that may hold its key, in the order in which they are tried.
        default_model: the model when none is asked for; None where one has to be.
        keyless: whether it answers without a key.
        models: pattern of the model names that lead here when no provider is asked for.
        aliases: other names for it.
        notes: one sentence for the docs, or nothing.
    """

    name: str
    base_url: str
    base_url_variable: str
    keys: tuple[str, ...] = ()
    default_model: str | None = None
    keyless: bool = False
    models: str | None = None
    aliases: tuple[str, ...] = ()
    notes: str = ""

    def serves(self, model: str) -> bool:
        """Tell whether a model of that name is asked for here when no provider is named."""
        return self.models is not None and re.search(self.models, model, re.IGNORECASE) is not None


class StandInName(NamedTuple):
    """A pattern of model names, and what the stand-in writes before them."""

    pattern: str
    prefix: str


@dataclass(frozen=True, slots=True)
class Table:
    """Everything that `providers.yaml` says.

    Attributes:
        providers: by name, in the order in which keys are looked for.
        stand_in: the provider that takes over when another's key is missing.
        stand_in_variable: the variable that forces the stand-in's model.
        stand_in_names: what models are called there.
        families: pattern of each model family.
    """

    providers: Mapping[str, Provider]
    stand_in: Provider
    stand_in_variable: str
    stand_in_names: tuple[StandInName, ...]
    families: Mapping[str, str]

    def find(self, name: str) -> Provider | None:
        """Return the provider of that name or alias, letter case aside."""
        wanted = name.strip().casefold()
        for provider in self.providers.values():
            if wanted == provider.name or wanted in provider.aliases:
                return provider
        return None

    def get(self, name: str) -> Provider:
        """Return the provider of that name or alias.

        Raises:
            SettingsError: when there is none.
        """
        provider = self.find(name)
        if provider is None:
            listed = ", ".join(self.providers)
            raise SettingsError(
                f"--provider: unknown provider {name!r}. The providers are {listed}; "
                "for any other endpoint give --base-url."
            )
        return provider

    def owner(self, variable: str) -> Provider | None:
        """Return the provider that a key variable belongs to."""
        return next((one for one in self.providers.values() if variable in one.keys), None)

    def serving(self, model: str) -> Provider | None:
        """Return the provider that a model's name leads to."""
        return next((one for one in self.providers.values() if one.serves(model)), None)

    def stand_in_model(self, model: str) -> str | None:
        """Return what the stand-in calls a model; None where it isn't known there."""
        for name in self.stand_in_names:
            if re.search(name.pattern, model, re.IGNORECASE):
                return name.prefix + model
        return None


@cache
def provider_table() -> Table:
    """Return the table; the file is read at the first call."""
    import yaml

    text = files("harness.llm").joinpath("providers.yaml").read_text(encoding="utf-8")
    content: dict[str, Any] = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    providers = {name: _provider(name, fields) for name, fields in content["providers"].items()}
    fallback = content["fallback"]
    return Table(
        providers=providers,
        stand_in=providers[fallback["provider"]],
        stand_in_variable=fallback["model_variable"],
        stand_in_names=tuple(StandInName(**entry) for entry in fallback["names"]),
        families=content["families"],
    )


def _provider(name: str, fields: Mapping[str, Any]) -> Provider:
    lists = {key: tuple(value) for key, value in fields.items() if isinstance(value, list)}
    return Provider(name=name, **{**fields, **lists})


def family_of(model: str) -> str | None:
    """Return the family of a model by its name, or None where no family is known.

    - `openai/gpt-5` is a gpt, `Qwen2.5-1.5B-Instruct` a qwen, `meta-llama/Llama-3.3-70B` a llama.
    - Of a distilled or mixed model the name that comes first counts: `DeepSeek-R1-Distill-Qwen-7B`
      is a deepseek.
    """
    whole = model.strip().casefold()
    for name in (whole.rpartition("/")[2], whole):
        begins = {
            family: found.start()
            for family, pattern in provider_table().families.items()
            if (found := re.search(pattern, name))
        }
        if begins:
            return min(begins, key=begins.__getitem__)
    return None
