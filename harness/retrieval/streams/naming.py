"""Retrievers by name: `fts5`, `vector`, `entities`, `links`, `raw`, `hybrid`, `memory_api`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from harness.errors import InputError
from harness.llm.models import Models
from harness.naming import Spec
from harness.retrieval.streams import hashing
from harness.retrieval.streams.base import Retriever
from harness.retrieval.streams.fused import SEEDS, Fused, Links
from harness.retrieval.streams.simple import Entities, Raw, Vectors, Words

AUTO, HASHING = "auto", "hashing"


class _Options(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class VectorOptions(_Options):
    """How vectors are made.

    Attributes:
        embedder: `wordllama`, `minilm`, `hashing`, or `endpoint` with a model; `auto` is wordllama
            where its package is installed and else hashing, which sees spelling only and says so.
        embedding_model: the endpoint's model, `[provider:]model[@base_url]`.
        floor: the least cosine that is handed back.
    """

    embedder: str = AUTO
    embedding_model: str | None = None
    floor: float = Field(-1.0, ge=-1, le=1)


class LinksOptions(_Options):
    """Whose results are followed along their links."""

    of: str = "fts5"
    seeds: int = Field(SEEDS, ge=1)


class HybridOptions(VectorOptions):
    """What is fused, and how.

    Attributes:
        streams: names joined by commas, among fts5, vector, entities, links, raw.
        k: the constant of reciprocal rank fusion.
        weights: one number for each stream, joined by commas, at least one of them above 0.
        seeds: results that links are followed from.
    """

    streams: str = "fts5,vector"
    k: float = Field(60, gt=-1)
    weights: str | None = None
    seeds: int = Field(SEEDS, ge=1)

    @field_validator("weights", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> Any:
        if isinstance(value, list | tuple):
            return ",".join(map(str, value))
        return str(value) if isinstance(value, int | float) else value


def make_retriever(spec: Spec, models: Models) -> Retriever | None:
    """Return the retriever that a spec names, None where none has that name.

    Args:
        spec: as the user typed it.
        models: for an embedder at an endpoint.

    Raises:
        InputError: for options that do not fit, or an embedder that is not there.
    """
    maker = _MAKERS.get(spec.name)
    return None if maker is None else maker(spec, models)


def known_retrievers() -> tuple[str, ...]:
    """Return the names, in order."""
    return tuple(_MAKERS)


def _checked(model: type[BaseModel], spec: Spec) -> Any:
    try:
        return model(**spec.options)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "options"
        known = ", ".join(model.model_fields) or "none"
        raise InputError(f"--system {spec.text}: {where}: {first['msg']}. Options: {known}.") from None


def _words(spec: Spec, _: Models) -> Retriever:
    _checked(_Options, spec)
    return Words(spec.label)


def _entities(spec: Spec, _: Models) -> Retriever:
    _checked(_Options, spec)
    return Entities(spec.label)


def _raw(spec: Spec, _: Models) -> Retriever:
    _checked(_Options, spec)
    return Raw(spec.label)


def _vector(spec: Spec, models: Models) -> Retriever:
    return _vectors(_checked(VectorOptions, spec), models, spec.label)


def _vectors(options: VectorOptions, models: Models, name: str) -> Vectors:
    if options.embedder == HASHING or (options.embedder == AUTO and not _installed("wordllama")):
        version = f"hashing, {hashing.DIMENSIONS} dimensions"
        return Vectors(hashing.embed, version, lexical=True, floor=options.floor, name=name)
    if options.embedder == "endpoint":
        if options.embedding_model is None:
            raise InputError("embedder='endpoint' needs embedding_model='[provider:]model[@base_url]'.")
        model = models.embedder(options.embedding_model)
        return Vectors(model.embed, options.embedding_model, floor=options.floor, name=name)
    from harness.adapters.memories.embedders import package_embedder

    package = package_embedder("wordllama" if options.embedder == AUTO else options.embedder)

    async def embed(texts: Sequence[str]) -> list[list[float]]:
        return package.embed(texts)

    return Vectors(embed, package.version, floor=options.floor, name=name)


def _installed(package: str) -> bool:
    import importlib.util

    return all(importlib.util.find_spec(name) for name in (package, "numpy", "safetensors", "tokenizers"))


def _links(spec: Spec, models: Models) -> Retriever:
    options: LinksOptions = _checked(LinksOptions, spec)
    seeds = make_retriever(Spec(options.of, options.of, {}, options.of), models)
    if seeds is None or isinstance(seeds, Links):
        raise InputError(f"--system {spec.text}: of={options.of!r} finds nothing to follow links from.")
    return Links(seeds, options.seeds, spec.label)


def _hybrid(spec: Spec, models: Models) -> Retriever:
    options: HybridOptions = _checked(HybridOptions, spec)
    names = [name.strip() for name in options.streams.split(",") if name.strip()]
    known = ("fts5", "vector", "entities", "raw", "links")
    wrong = [name for name in names if name not in known]
    if wrong or not names or names == ["links"] or len(set(names)) < len(names):
        raise InputError(
            f"--system {spec.text}: streams={options.streams!r}. Name different ones of {', '.join(known)}, "
            "and not links alone."
        )
    weights = None
    if options.weights is not None:
        try:
            weights = [float(part) for part in options.weights.split(",")]
        except ValueError:
            weights = []
        wrong_weight = any(not 0 <= weight < math.inf for weight in weights)
        if len(weights) != len(names) or wrong_weight or not any(weights):
            raise InputError(
                f"--system {spec.text}: weights are {len(names)} numbers from 0 on, one a stream and not all 0."
            )
        by_name = dict(zip(names, weights, strict=True))
        weights = [by_name[name] for name in sorted(names, key=lambda name: name == "links")]
    makers: Mapping[str, Callable[[], Retriever]] = {
        "fts5": Words,
        "vector": lambda: _vectors(options, models, "vector"),
        "entities": Entities,
        "raw": Raw,
    }
    return Fused(
        [makers[name]() for name in names if name != "links"],
        k=options.k,
        weights=weights,
        links=Links(Words(), options.seeds) if "links" in names else None,
        name=spec.label,
    )


def _memory_api(spec: Spec, models: Models) -> Retriever:
    from harness.retrieval.memory_api import MemoryApi, read_options

    return MemoryApi(read_options(spec), models.variables, spec.label)


_MAKERS: Mapping[str, Callable[[Spec, Models], Retriever]] = {
    "fts5": _words,
    "vector": _vector,
    "entities": _entities,
    "links": _links,
    "raw": _raw,
    "hybrid": _hybrid,
    "memory_api": _memory_api,
}
