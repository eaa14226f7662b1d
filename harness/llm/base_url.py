"""Base URLs: which are accepted, how they are written, and which are local.

A message about a refused URL never repeats it: what is refused may hold a password or a key.
"""

from __future__ import annotations

import ipaddress
from urllib.parse import SplitResult, urlsplit

from harness.errors import SettingsError

_EXAMPLE = "http://127.0.0.1:8080/v1"
# The client adds these itself.
_ROUTES = ("/chat/completions", "/completions", "/responses", "/embeddings")
_PRIVATE = tuple(
    map(
        ipaddress.ip_network,
        ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "fc00::/7", "fe80::/10"),
    )
)


def checked_base_url(text: str, source: str) -> str:
    """Return a base URL in its one spelling: lower-case host, no slash at the end.

    Args:
        text: what the user wrote.
        source: the flag or variable it came from, for the message.

    Raises:
        SettingsError: when it can't be a base URL.
    """
    parts, port = _split(text.strip(), source)
    host = parts.hostname or ""
    place = f"[{host}]" if ":" in host else host
    if port is not None:
        place += f":{port}"
    url = f"{parts.scheme}://{place}{parts.path.rstrip('/')}"
    for route in _ROUTES:
        if url.endswith(route):
            raise SettingsError(f"{source}: ends with {route}. Cut that off: {url.removesuffix(route)}")
    return url


def _split(text: str, source: str) -> tuple[SplitResult, int | None]:
    if not text.isascii() or not text.isprintable() or " " in text:
        raise SettingsError(
            f"{source}: holds a space or a character that no URL has. Write it like {_EXAMPLE}."
        )
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise SettingsError(f"{source}: the host or port cannot be read. Write it like {_EXAMPLE}.") from None
    if "://" not in text:
        raise SettingsError(f"{source}: has no scheme. Begin with http:// or https://, as in {_EXAMPLE}.")
    if parts.scheme not in ("http", "https"):
        raise SettingsError(f"{source}: is neither http:// nor https://. Write it like {_EXAMPLE}.")
    if "@" in parts.netloc:
        raise SettingsError(
            f"{source}: holds a user name or password. Take it out, put the key into a variable "
            "and name that with --api-key-env."
        )
    if "?" in text or "#" in text:
        raise SettingsError(f"{source}: has a query (?…) or fragment (#…). Cut it off.")
    if not parts.hostname:
        raise SettingsError(f"{source}: names no host. Write it like {_EXAMPLE}.")
    return parts, port


def origin(base_url: str) -> tuple[str, str, int]:
    """Return scheme, host and port: what a key belongs to."""
    parts = urlsplit(base_url)
    return parts.scheme, parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)


def is_loopback(base_url: str) -> bool:
    """Tell whether a base URL leads to this machine."""
    host = urlsplit(base_url).hostname or ""
    address = _address(host)
    if address is None:
        return host == "localhost" or host.endswith(".localhost")
    return address.is_loopback or address.is_unspecified


def is_local(base_url: str) -> bool:
    """Tell whether a base URL leads to this machine or a private network.

    A host without a dot, such as a container's name, is none that the internet knows.
    """
    if is_loopback(base_url):
        return True
    host = urlsplit(base_url).hostname or ""
    address = _address(host)
    if address is None:
        return "." not in host or host.endswith((".local", ".internal", ".lan", ".home.arpa"))
    return any(address in network for network in _PRIVATE)


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
