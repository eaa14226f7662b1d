"""API keys in variables: merging `.env`, telling a placeholder from a key, refusing a broken one.

No message ever holds a key or a part of one; variables are named, their values are not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from harness.errors import SettingsError

# What example files and half-finished copies leave in a key's place; each pattern is for the whole value,
# letter case and enclosing quotes aside. A key that is merely short, or odd, is none of these.
PLACEHOLDERS = (
    r"[\W_]*",  # nothing, quotes, dots, dashes
    r"<.*>|\[.*\]|\{.*\}|%.*%|\$\{.*|\$\w+|\$\(.*",  # <key>, {{ key }}, %KEY%, ${KEY} and $KEY unexpanded
    r"(?:[a-z0-9]{1,8}[-_])*[x*.…•_-]{3,}",  # xxx, sk-xxxx, sk-or-v1-…, xxxx-xxxx
    r".*(?:\.\.\.|…|\*\*\*|•••).*",  # sk-ab...yz, sk-****wxyz: as dashboards shorten it
    r"(?:[a-z0-9]{1,8}[-_])?your[-_ ].*",
    r"(?:my|the|insert|enter|paste|put|add|replace)[-_ ].*(?:key|token|secret|here).*",
    r"(?:your|my)?(?:[a-z]+[-_ ])*(?:api[-_ ]?)?(?:key|token|secret)(?:[-_ ]?(?:goes[-_ ]?)?here)?",
    r"change[-_ ]?(?:me|this)|replace[-_ ]?(?:me|this)|to[-_ ]?do|tbd|fix[-_ ]?me",
    r"none|null|nil|undefined|unset|empty|placeholder|example|n/?a",
)
_PLACEHOLDER = re.compile("|".join(f"(?:{pattern})" for pattern in PLACEHOLDERS), re.IGNORECASE | re.DOTALL)
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*")


def key_variables(dotenv: Mapping[str, str], environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of `.env` and of the environment; the environment wins.

    A blank value counts as none: it hides nothing and is left out. Neither mapping is changed.
    """
    merged = {name: value for name, value in dotenv.items() if value.strip()}
    merged.update({name: value for name, value in environ.items() if value.strip()})
    return merged


def is_placeholder(value: str) -> bool:
    """Tell whether a value only keeps a key's place: `your_key_here`, `sk-xxxx`, `<key>`, blank."""
    return _PLACEHOLDER.fullmatch(_bare(value)) is not None


def usable_key(name: str, variables: Mapping[str, str]) -> str | None:
    """Return the key that a variable holds, or None when it is unset or a placeholder.

    White space and one pair of quotes around the key are dropped.

    Raises:
        SettingsError: when the value can't be sent as a key.
    """
    key = _bare(variables.get(name, ""))
    if _PLACEHOLDER.fullmatch(key):
        return None
    if not key.isascii() or not key.isprintable() or " " in key:
        raise SettingsError(
            f"{name}: the key holds a space, a control character or one outside ASCII. "
            "Copy it again, the key alone."
        )
    return key


def named_key(name: str, variables: Mapping[str, str]) -> str:
    """Return the key from the variable that the user named with `--api-key-env`.

    Raises:
        SettingsError: when the variable is unset or holds a placeholder, or is no variable's name.
    """
    # Somebody may give the key itself; what doesn't look like a name is therefore not repeated.
    if not _VARIABLE.fullmatch(name) and name not in variables:
        raise SettingsError(
            "--api-key-env: no such variable. Give the name of a variable that holds the key, "
            "such as OPENAI_API_KEY, and never the key itself."
        )
    key = usable_key(name, variables)
    if key is None:
        raise SettingsError(
            f"--api-key-env: {why_unusable([name], variables)}. Set it in the environment or in .env, "
            "or leave the option out for a server without keys."
        )
    return key


def why_unusable(names: Sequence[str], variables: Mapping[str, str]) -> str:
    """Say why none of these variables gives a key: `A and B are not set`."""
    unset = [name for name in names if not variables.get(name, "").strip()]
    held = [name for name in names if name not in unset]
    said = []
    if held:
        said.append(f"{_all(held)} {'hold placeholders' if len(held) > 1 else 'holds a placeholder'}")
    if unset:
        said.append(f"{_all(unset)} {'are' if len(unset) > 1 else 'is'} not set")
    return ", ".join(said)


def _all(names: Sequence[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def _bare(value: str) -> str:
    text = value.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'`":
        return text[1:-1].strip()
    return text
