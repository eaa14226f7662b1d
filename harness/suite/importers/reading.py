"""Downloaded files, read whole, with their checksums; and the dates in them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from harness.errors import InputError
from harness.json_file import KeyTwiceError, strict_json
from harness.suite.importers.made import SourceFile


def read_json(path: Path) -> tuple[Any, SourceFile]:
    """Return the content of a JSON file, or of a file of JSON lines as a list.

    Raises:
        InputError: when it can't be read, or is neither.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {(error.strerror or str(error)).lower()}.") from None
    source = SourceFile(path.name, len(data), sha256(data).hexdigest())
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path}: isn't UTF-8. Name the JSON file as it was downloaded.") from None
    try:
        return strict_json(text), source
    except RecursionError:
        raise InputError(f"{path}: is nested too deeply to be a data set.") from None
    except ValueError as error:
        return _lines(path, text, error), source


def _lines(path: Path, text: str, whole: ValueError) -> list[Any]:
    """Read JSON lines; where the first line is none, the error is that of the whole file."""
    found: list[Any] = []
    for number, line in enumerate(text.split("\n"), start=1):  # U+2028 and the like may stand in a string
        if not line.strip():
            continue
        try:
            found.append(strict_json(line))
        except (json.JSONDecodeError, RecursionError) as error:
            if not found:
                raise InputError(f"{path}: is no {_told(whole)}.") from None
            raise InputError(f"{path}:{number}: is no JSON line: {error}.") from None
        except ValueError as error:
            raise InputError(f"{path}:{number}: is no {_told(error)}.") from None
    if not found:
        raise InputError(f"{path}: is empty.")
    return found


def _told(error: ValueError) -> str:
    if isinstance(error, KeyTwiceError):
        return f"sound JSON: {error}. Keep one of the two"
    return f"{'JSON' if isinstance(error, json.JSONDecodeError) else 'sound JSON'}: {error}"


def without_lone_surrogates(data: Any, at: str = "") -> tuple[Any, list[str]]:
    """Return data with U+FFFD for every half of a surrogate pair, and the places where there was one.

    JSON can write such a half as an escape, but it is no character, and no file of text can hold it.
    """
    if isinstance(data, str):
        return (data, []) if _LONE.search(data) is None else (_LONE.sub("\ufffd", data), [at or "the text"])
    places: list[str] = []
    if isinstance(data, list):
        listed = []
        for number, item in enumerate(data):
            whole, found = without_lone_surrogates(item, f"{at}[{number}]")
            listed.append(whole)
            places += found
        return listed, places
    if isinstance(data, dict):
        held = {}
        for key, item in data.items():
            name, in_name = without_lone_surrogates(key, f"a key of {at}")
            whole, found = without_lone_surrogates(item, f"{at}.{name}" if at else name)
            held[name] = whole
            places += (*in_name, *found)
        return held, places
    return data, places


_LONE = re.compile("[\ud800-\udfff]")
_MONTHS = {
    name: number
    for number, name in enumerate(
        "january february march april may june july august september october november december".split(), 1
    )
}
_SPOKEN = re.compile(r"(\d{1,2}):(\d\d)\s*([ap])\.?m\.? on (\d{1,2}) ([A-Za-z]+),? (\d{4})", re.IGNORECASE)
_WRITTEN = re.compile(r"(\d{4})/(\d\d)/(\d\d)(?: \(([A-Za-z]{3})[a-z]*\))?(?: (\d\d):(\d\d))?")
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def spoken_date(text: Any) -> datetime | None:
    """Read `1:56 pm on 8 May, 2023`; None for anything else."""
    found = _SPOKEN.fullmatch(text.strip()) if isinstance(text, str) else None
    if found is None or (month := _MONTHS.get(found[5].lower())) is None:
        return None
    hour = int(found[1]) % 12 + (12 if found[3].lower() == "p" else 0)
    try:
        return datetime(int(found[6]), month, int(found[4]), hour, int(found[2]))
    except ValueError:
        return None


def written_date(text: Any) -> tuple[datetime | None, bool]:
    """Read `2023/05/30 (Tue) 23:40`; say whether the weekday is that of the date."""
    found = _WRITTEN.fullmatch(text.strip()) if isinstance(text, str) else None
    if found is None:
        return None, True
    year, month, day, hour, minute = (int(found[at] or 0) for at in (1, 2, 3, 5, 6))
    try:
        when = datetime(year, month, day, hour, minute)
    except ValueError:
        return None, True
    return when, found[4] is None or _DAYS[when.weekday()] == found[4].capitalize()


def short(text: str, most: int = 80) -> str:
    """Return a text on one line, cut where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def plain(value: Any) -> str:
    """Return a scalar of JSON as the text that a person would write."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value.strip() if isinstance(value, str) else str(value)


def close_to(name: str, known: Iterable[str]) -> str:
    """Say which names are nearest to a wrong one, of so many that they can't all be listed."""
    from difflib import get_close_matches  # only a message of an error needs it

    names = list(known)
    close = get_close_matches(name, names, n=3, cutoff=0.5) or names[:3]
    return f"nearest: {', '.join(close)}" if close else "there is none"
