"""The description of an HTTP system: a YAML file, read strictly; every mistake names its line."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from harness.adapters.connectors import http_values as values
from harness.adapters.connectors.http_reading import Reader, Step
from harness.errors import InputError, SuiteError
from harness.suite.chunks import read_header
from harness.suite.yaml_reader import parse

STEPS = (
    "open", "open_session", "ingest", "close_session", "ready", "recall", "answer", "add", "list", "delete", "close",
)  # fmt: skip
_ITEM_PATHS = frozenset({"id", "text", "score", "created_at", "type", "importance"})
_OWN: Mapping[str, frozenset[str]] = {
    "open": frozenset(),
    "open_session": values.OF_CONVERSATION,
    "ingest": values.OF_PIECE,
    "close_session": frozenset(),
    "ready": frozenset(),
    "recall": values.OF_QUESTION,
    "answer": values.OF_QUESTION - {"limit"},
    "add": frozenset({"text", "user"}),
    "list": frozenset(),
    "delete": frozenset({"id"}),
    "close": frozenset(),
}
_FIELDS: Mapping[str, frozenset[str]] = {
    "open": frozenset({"save"}),
    "open_session": frozenset({"save"}),
    "ingest": frozenset({"save", "per", "message"}),
    "ready": frozenset({"path", "value", "failed", "interval_s", "longest_s"}),
    "recall": _ITEM_PATHS | {"items"},
    "list": _ITEM_PATHS | {"items"},
    "answer": frozenset({"text", "tokens"}),
    "add": frozenset({"id"}),
}
_NEEDED: Mapping[str, tuple[str, ...]] = {
    "ready": ("path", "value"),
    "recall": ("items", "text"),
    "list": ("items", "text", "id"),
    "answer": ("text",),
    "add": ("id",),
    "ingest": ("per",),
}
# Steps that run once for each conversation where they use what its session saved.
PER_SESSION = ("close_session", "ready", "close")
_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_TOP = ("name", "version", "url", "headers", "timeout_s")


@dataclass(frozen=True, slots=True)
class HttpDescription:
    """What a description says.

    Attributes:
        name, version: of the system, for the manifest.
        digest: hash of the file.
        url: base URL without a final slash.
        headers: as they are sent, but for `{namespace}`.
        secrets: values that came from the environment; they never show.
        timeout_s: seconds that one request may take.
        steps: what is sent, and what is taken from the replies.
        session_values: what is saved anew for each conversation.
    """

    name: str
    version: str
    digest: str
    url: str
    headers: Mapping[str, str]
    secrets: tuple[str, ...]
    timeout_s: float
    steps: Mapping[str, Step]
    session_values: frozenset[str]

    def per_session(self, name: str) -> bool:
        """Whether a step runs once for each conversation."""
        return name in self.steps and bool(self.steps[name].names & self.session_values)


def load_description(path: Path, url: str | None = None) -> HttpDescription:
    """Read a description.

    Args:
        path: the file.
        url: base URL instead of the file's.

    Raises:
        InputError: for every mistake of the file, all at once; for a variable that is not set.
    """
    try:
        chunk = read_header(path)
        document = parse(chunk)
    except SuiteError as error:
        raise InputError("\n".join(map(str, error.problems))) from None
    reader = Reader(document)
    if not chunk.last:
        reader.wrong((), "a second document follows.", "Keep one description in a file.")
    if not isinstance(document.value, dict):
        raise InputError(f"{path}:1: holds no description. Write `url: …`, `ingest: …` and `recall: …`.")
    reader.only((), (*_TOP, *STEPS))
    saved = _saved(reader, document.value)
    steps: dict[str, Step] = {}
    for name in STEPS:
        if name in document.value:
            known = _OWN[name] | {"namespace"} | saved[0]
            if name in ("ingest", *PER_SESSION):
                known |= saved[1]
            step = reader.step(name, known, _FIELDS.get(name, frozenset()), _NEEDED.get(name, ()))
            if step is not None:
                steps[name] = step
    _complete(reader, document.value)
    base = url if url is not None else reader.text(("url",), needed=True)
    _check_url(reader, base, given=url is not None)
    headers, secrets = _headers(reader)
    made = HttpDescription(
        reader.text(("name",)) or path.stem,
        reader.text(("version",)) or "",
        sha256(path.read_bytes()).hexdigest()[:12],
        (base or "").rstrip("/"),
        headers,
        secrets,
        reader.number(("timeout_s",), 30.0, most=3600.0),
        steps,
        saved[1],
    )
    reader.finish()
    return made


def _saved(reader: Reader, value: Mapping[str, Any]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names that are saved once, and those that each conversation saves."""

    def names(step: str) -> Iterator[str]:
        held = value.get(step)
        kept = held.get("save") if isinstance(held, dict) else None
        for name in kept if isinstance(kept, dict) else ():
            if not re.fullmatch("[a-z_]+", name):
                reader.wrong((step, "save", name), f"{name!r} is no name.", "Use small letters and _ only.")
            elif name in {"namespace", "id", "user"}.union(*_OWN.values()):
                reader.wrong(
                    (step, "save", name), f"{name!r} has a meaning of its own.", "Choose another name."
                )
            else:
                yield name

    return frozenset(names("open")), frozenset((*names("open_session"), *names("ingest")))


def _complete(reader: Reader, value: Mapping[str, Any]) -> None:
    if "ingest" not in value:
        reader.wrong((), "says not how messages are handed over.", "Write an `ingest` step.")
    if "recall" not in value and "answer" not in value:
        reader.wrong((), "has neither `recall` nor `answer`.", "Write one of the two steps.")


def _check_url(reader: Reader, url: str | None, *, given: bool) -> None:
    if url is None:
        return
    wrong = ""
    if not re.match(r"https?://[^/\s?#]+", url):
        wrong = "is no HTTP address. Write http://host:port."
    elif "@" in url.split("//", 1)[1].split("/", 1)[0]:
        wrong = "holds a name or password. Send them in a header, from ${VARIABLE}."
    elif re.search(r"[\s?#{}]", url):
        wrong = "holds a blank, ?, # or a brace. Leave it at host, port and path."
    if wrong and given:
        raise InputError(f"--system http: url {wrong}")
    if wrong:
        message, _, mend = wrong.partition(". ")
        reader.wrong(("url",), f"{message}.", mend)


def _headers(reader: Reader) -> tuple[dict[str, str], tuple[str, ...]]:
    secrets: list[str] = []
    made: dict[str, str] = {}
    for name in reader.mapping(("headers",)):
        at = ("headers", name)
        text = reader.text(at) or ""
        reader.check_names(_VARIABLE.sub("", text), at, frozenset({"namespace"}))
        for variable in _VARIABLE.findall(text):
            value = os.environ.get(variable, "")
            if not value:
                reader.wrong(at, f"the variable {variable!r} is not set.", f"Set it: export {variable}=…")
            elif not value.isprintable() or not value.isascii():
                reader.wrong(at, f"the variable {variable!r} holds what no header can.", "Check its value.")
            secrets.append(value)
        if not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", name) or not text.isprintable():
            reader.wrong(at, "is no header that can be sent.", "Write `Name: value` on one line.")
        made[name] = _VARIABLE.sub(lambda found: os.environ.get(found[1], ""), text)
    return made, tuple(secret for secret in secrets if secret)
