"""Templates of plain data: `{placeholder}`s in strings, at any depth, stand for values.

- A string that is exactly one placeholder becomes the value itself, with its type.
- In a longer string, None is nothing, and what is no string is written as JSON.
- An entry of an object or a list that is exactly one placeholder without a value is left out.
- Values are data: braces in them mean nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_PLACEHOLDER = re.compile(r"\{([A-Za-z_]\w*)\}")


def filled(template: Any, values: Mapping[str, Any]) -> Any:
    """Return a template with its placeholders filled; a name without a value stays as it is written."""
    if isinstance(template, str):
        whole = _PLACEHOLDER.fullmatch(template)
        if whole and whole[1] in values:
            return values[whole[1]]
        return _PLACEHOLDER.sub(lambda found: _written(found, values), template)
    if isinstance(template, Mapping):
        made = {name: filled(part, values) for name, part in template.items()}
        return {name: part for name, part in made.items() if part is not None or template[name] is None}
    if isinstance(template, list | tuple):
        parts = [(one, filled(one, values)) for one in template]
        return [part for one, part in parts if part is not None or one is None]
    return template


def placeholders(template: Any) -> Iterator[str]:
    """Yield every name in braces, keys of objects apart."""
    if isinstance(template, str):
        yield from _PLACEHOLDER.findall(template)
    elif isinstance(template, Mapping):
        for part in template.values():
            yield from placeholders(part)
    elif isinstance(template, list | tuple):
        for part in template:
            yield from placeholders(part)


def _written(found: re.Match[str], values: Mapping[str, Any]) -> str:
    if found[1] not in values:
        return found[0]
    value = values[found[1]]
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
