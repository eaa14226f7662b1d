"""Templates of plain data: `{placeholder}`s in strings, at any depth, are filled with values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


def filled(template: Any, values: Mapping[str, Any]) -> Any:
    """Return a template with its placeholders filled.

    - A string that is exactly one placeholder becomes the value itself, with its type; inside a longer
      string, what is no string is written as JSON, and None as nothing.
    - An entry of an object or a list whose value is None is left out.
    - A name in braces that is not in `values` is left as it is.
    """
    if isinstance(template, str):
        return _text(template, values)
    if isinstance(template, Mapping):
        made = ((name, filled(part, values)) for name, part in template.items())
        return {name: part for name, part in made if part is not None}
    if isinstance(template, (list, tuple)):
        return [part for part in (filled(one, values) for one in template) if part is not None]
    return template


def placeholders(template: Any) -> Iterator[str]:
    """Return the names in braces."""
    if isinstance(template, str):
        yield from _PLACEHOLDER.findall(template)
    elif isinstance(template, Mapping):
        for part in template.values():
            yield from placeholders(part)
    elif isinstance(template, (list, tuple)):
        for part in template:
            yield from placeholders(part)


def at_path(data: Any, path: str) -> Any:
    """Return what is at a path such as `results.0.text`; None where nothing is, all of it for an empty path."""
    for step in path.split(".") if path else ():
        if isinstance(data, Mapping):
            data = data.get(step)
        elif isinstance(data, list) and step.lstrip("-").isdigit() and -len(data) <= int(step) < len(data):
            data = data[int(step)]
        else:
            return None
    return data


def _text(template: str, values: Mapping[str, Any]) -> Any:
    if (whole := _PLACEHOLDER.fullmatch(template)) and whole[1] in values:
        return values[whole[1]]
    return _PLACEHOLDER.sub(
        lambda found: _written(values[found[1]]) if found[1] in values else found[0], template
    )


def _written(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
