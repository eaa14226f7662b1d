"""Pages as wikis write them: front matter above the text, links in double brackets."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

_FRONT = re.compile(r"\A---[ \t]*\n(?P<fields>.*?)\n---[ \t]*\n?", re.DOTALL)
_LINK = re.compile(r"\[\[(?P<target>[^\[\]|#\n]+)(?:#[^\[\]|\n]*)?(?:\|(?P<label>[^\[\]\n]*))?\]\]")


class Page(NamedTuple):
    """What a page says of itself.

    Attributes:
        body: the text without its front matter; a link is its label.
        title: as the front matter gives it.
        entities: what the front matter says that it is about.
        links: targets of its links, as they are written, front matter's first.
    """

    body: str
    title: str
    entities: tuple[str, ...]
    links: tuple[str, ...]


def read_page(content: str) -> Page:
    """Read a text that may have front matter and links; front matter that can't be read stays text."""
    fields: dict[str, Any] = {}
    body = content
    if front := _FRONT.match(content):
        import yaml

        try:
            read = yaml.load(front["fields"], Loader=yaml.CBaseLoader)
        except yaml.YAMLError:
            read = None
        if isinstance(read, dict):
            fields, body = read, content[front.end() :]
    linked = tuple(found["target"].strip() for found in _LINK.finditer(body))
    return Page(
        body=_LINK.sub(lambda found: found["label"] or found["target"], body).strip(),
        title=str(fields.get("title") or ""),
        entities=listed(fields.get("entities")),
        links=(*listed(fields.get("links")), *linked),
    )


def listed(value: Any) -> tuple[str, ...]:
    """Return the texts of a list, or of one text with commas."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return tuple(map(str, value)) if isinstance(value, list) else ()
