"""LangGraph's stores opened for one space: in memory, in SQLite, or in Postgres with pgvector."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from harness.adapters.connectors.embedding import Embedding, StoreOptions
from harness.adapters.protocol import AgentFailure
from harness.errors import InputError

_PACKAGES = {
    "memory": "langgraph",
    "sqlite": "langgraph-checkpoint-sqlite",
    "postgres": "langgraph-checkpoint-postgres",
}


class LangGraphOptions(StoreOptions):
    """Which store, and where.

    Attributes:
        store: `memory`, `sqlite` (a file in the space's folder) or `postgres`.
        dsn_env: name of the variable with the connection string of Postgres. The database's own
            tables are not touched: each space is a schema of its own, dropped at its end.
    """

    store: Literal["memory", "sqlite", "postgres"] = "memory"
    dsn_env: str | None = Field(None, min_length=1)

    @model_validator(mode="after")
    def _dsn_named(self) -> LangGraphOptions:
        if self.store == "postgres" and self.dsn_env is None:
            raise ValueError(
                "store='postgres' needs dsn_env='NAME', the variable that holds the connection string"
            )
        if self.store != "postgres" and self.dsn_env is not None:
            raise ValueError("dsn_env= is for Postgres: add store='postgres'")
        return self


@dataclass(frozen=True, slots=True)
class OpenStore:
    """A store, and how to remove what is in it."""

    store: Any
    remove: Callable[[], None]


def store_version(options: LangGraphOptions) -> str:
    """Return the package of the store with its version."""
    package = _PACKAGES[options.store]
    return f"{package} {version(package)}"


def check_installed(options: LangGraphOptions) -> None:
    """Import what a store needs, so that a lacking package is told when the adapter is loaded.

    Raises:
        InputError: when it cannot be imported.
    """
    # Tracing sends what a system under test handles to a service; nobody asked for that here.
    os.environ["LANGSMITH_TRACING"] = os.environ["LANGCHAIN_TRACING_V2"] = "false"
    try:
        import_module(f"langgraph.store.{options.store}")
        if options.store == "sqlite":
            _sqlite()
    except ImportError as error:
        raise InputError(
            f"store={options.store!r} needs a package that is not installed: {error}. "
            "pip install 'recallbench[langgraph]'."
        ) from None


def open_store(
    options: LangGraphOptions, namespace: str, folder: Path, embedding: Embedding, field: str
) -> OpenStore:
    """Open an empty store.

    Args:
        options: which one.
        namespace: of the space.
        folder: of the space.
        embedding: who embeds.
        field: path of the text in a value that is embedded.

    Raises:
        AgentFailure: `unreachable` when Postgres does not answer, `options` when no variable says where it is.
    """
    index = {"dims": embedding.dimensions, "embed": embedding.embed, "fields": [field]}
    # The SQLite store reads another name than it documents, and else embeds the value's whole JSON.
    index["text_fields"] = index["fields"]
    if options.store == "memory":
        from langgraph.store.memory import InMemoryStore

        return OpenStore(InMemoryStore(index=index), lambda: None)
    if options.store == "sqlite":
        return _open_sqlite(folder / "langgraph.db", index)
    return _open_postgres(_dsn(options), namespace, index)


def discard_store(options: LangGraphOptions, namespace: str) -> None:
    """Remove what a killed agent left in Postgres; the other stores ended with their process or folder."""
    if options.store == "postgres":
        with contextlib.closing(_connect(_dsn(options))) as connection:
            _drop(connection, namespace)


def _open_sqlite(path: Path, index: dict[str, Any]) -> OpenStore:
    from langgraph.store.sqlite import SqliteStore

    connection = _sqlite().connect(str(path), check_same_thread=False, isolation_level=None)
    store = SqliteStore(connection, index=index)

    def remove() -> None:
        connection.close()
        path.unlink(missing_ok=True)

    try:
        store.setup()
    except BaseException:
        remove()
        raise
    return OpenStore(store, remove)


def _sqlite() -> Any:
    """Return a SQLite that loads extensions, which many Pythons' own does not."""
    import sqlite3

    if hasattr(sqlite3.Connection, "enable_load_extension"):
        return sqlite3
    import pysqlite3

    return pysqlite3


def _open_postgres(dsn: str, namespace: str, index: dict[str, Any]) -> OpenStore:
    from langgraph.store.postgres import PostgresStore
    from psycopg import sql

    connection = _connect(dsn)
    try:
        # In a space's own schema the extension would go when that is dropped, for everybody.
        places = [_schema(namespace), _vector_schema(connection)]
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(places[0])))
        path = sql.SQL(", ").join(map(sql.Identifier, places))
        connection.execute(sql.SQL("SET search_path TO {}").format(path))
        store = PostgresStore(connection, index=index)
        store.setup()
    except BaseException:
        _end(connection, namespace)
        raise
    return OpenStore(store, lambda: _end(connection, namespace))


def _connect(dsn: str) -> Any:
    import psycopg
    from psycopg.rows import dict_row

    try:
        return psycopg.connect(
            dsn, autocommit=True, prepare_threshold=0, row_factory=dict_row, connect_timeout=10
        )
    except psycopg.OperationalError as error:
        raise AgentFailure("unreachable", f"Postgres: {' '.join(str(error).split())}") from None


def _vector_schema(connection: Any) -> str:
    """Return the schema of pgvector, which is made when the database has none."""
    import psycopg

    find = (
        "SELECT nspname FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace "
        "WHERE extname = 'vector'"
    )
    row = connection.execute(find).fetchone()
    if row is None:
        # Another worker may do the same at the same time, and be first.
        with contextlib.suppress(psycopg.errors.UniqueViolation, psycopg.errors.DuplicateObject):
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
        row = connection.execute(find).fetchone()
    return str(row["nspname"])


def _end(connection: Any, namespace: str) -> None:
    try:
        _drop(connection, namespace)
    finally:
        connection.close()


def _drop(connection: Any, namespace: str) -> None:
    from psycopg import sql

    connection.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(_schema(namespace))))


def _schema(namespace: str) -> str:
    return f"recallbench_{namespace}"


def _dsn(options: LangGraphOptions) -> str:
    name = options.dsn_env or ""
    dsn = os.environ.get(name, "").strip()
    if not dsn:
        raise AgentFailure("options", f"dsn_env: the variable {name} is not set")
    return dsn
