"""The options of `memory_api`, and the key that one of them names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from harness.errors import InputError
from harness.naming import Spec

KEY_VARIABLE = "MEMORY_API_KEY"
OWN_FIELDS = frozenset("id type content key subject importance client_id created_at".split())


class MemoryApiOptions(BaseModel):
    """Where the server is, and how it is used.

    Attributes:
        url: base URL; `/export/import` and `/memory/search` are under it.
        api_key_env: variable that holds the key; None sends no key.
        ready_within: seconds without a newly found record until waiting for the index ends.
        clean_up_within: seconds that taking the records out may last.
        timeout: seconds for one request.
        max_records: most records of one import.
        max_bytes: most bytes of one import's body.
        key_prefix: what stands before the data set's id in a record's `key`.
        fields: further fields of every record, such as `{'source_agent': 'bench'}`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: str
    api_key_env: str | None = KEY_VARIABLE
    ready_within: float = Field(default=60.0, ge=0, le=86_400)
    clean_up_within: float = Field(default=900.0, ge=0, le=86_400)
    timeout: float = Field(default=30.0, gt=0, le=3600)
    max_records: int = Field(default=500, ge=1)
    max_bytes: int = Field(default=1_000_000, ge=200)
    key_prefix: str = ""
    fields: dict[str, Any] = Field(default_factory=dict)

    @field_validator("url")
    @classmethod
    def _base(cls, url: str) -> str:
        try:
            parts = urlsplit(url)
            right = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:
            right = False
        if not right or parts.query or parts.fragment or any(char.isspace() for char in url):
            raise ValueError("is no base URL; write it as 'http://127.0.0.1:8084'")
        if "@" in parts.netloc:
            raise ValueError("holds a password, and options stand in reports; leave it out")
        return url.rstrip("/")

    @field_validator("api_key_env")
    @classmethod
    def _variable(cls, name: str | None) -> str | None:
        # What is no name may be a key, which must not be shown.
        if name is not None and not (name.isidentifier() and name.isascii()):
            raise ValueError("holds no variable's name; put the key into a variable and name that")
        return name

    @field_validator("fields")
    @classmethod
    def _further(cls, fields: dict[str, Any]) -> dict[str, Any]:
        if taken := sorted(OWN_FIELDS & fields.keys()):
            raise ValueError(f"{', '.join(taken)}: set by recallbench itself")
        return fields


def read_options(spec: Spec) -> MemoryApiOptions:
    """Return the options that a spec holds.

    Raises:
        InputError: for options that do not fit; it shows no values, since one may be a key.
    """
    try:
        return MemoryApiOptions(**spec.options)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "options"
        told = first["msg"].removeprefix("Value error, ")
        known = ", ".join(MemoryApiOptions.model_fields)
        raise InputError(f"--system {spec.name}: {where}: {told}. Options: {known}.") from None


def key_of(options: MemoryApiOptions, variables: Mapping[str, str]) -> str | None:
    """Return the key that the options name, None where none is sent.

    Raises:
        InputError: where the variable is not set, or holds what no header can.
    """
    name = options.api_key_env
    if name is None:
        return None
    key = variables.get(name, "").strip()
    if not key:
        raise InputError(
            f"--system memory_api: {name} is not set. Put the server's key into it, name another variable "
            "with api_key_env='…', or send none with api_key_env=None."
        )
    if not (key.isascii() and key.isprintable()):
        raise InputError(f"--system memory_api: {name} holds characters that no header can.")
    return key
