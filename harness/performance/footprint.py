"""How much memory and disk a system takes, where that can be seen from here."""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from harness.adapters.registry import AdapterInfo
from harness.adapters.serving import folder_of

_PROC = Path("/proc")
_ELSEWHERE = frozenset({"http", "openai_chat"})


class Footprint(NamedTuple):
    """What a system takes at one moment, in bytes; None where it cannot be seen.

    Attributes:
        resident: memory of its processes.
        disk: size of the files in its agent's folder.
    """

    resident: int | None
    disk: int | None


def footprint(info: AdapterInfo, namespace: str) -> Footprint:
    """Look at the processes and the folder of an agent."""
    return Footprint(_resident(info), _disk(folder_of(namespace)))


def unseen(info: AdapterInfo) -> str:
    """Say why a system's memory cannot be seen, or nothing where it can."""
    if info.name in _ELSEWHERE:
        return "its store runs in a process that is not the harness's"
    if not (_PROC / "self" / "stat").exists():
        return "resident memory is read from /proc, which this operating system lacks"
    return ""


def _resident(info: AdapterInfo) -> int | None:
    """Return the resident memory of the workers, or of this process for what runs in it; children included."""
    if unseen(info):
        return None
    own = {os.getpid()} if info.isolation == "inline" else set()
    return sum(map(_pages, own | _below(os.getpid()))) * os.sysconf("SC_PAGE_SIZE")


def _below(root: int) -> set[int]:
    """Return the processes that a process started, and those that they did."""
    children: dict[int, list[int]] = defaultdict(list)
    for entry in _PROC.iterdir():
        if entry.name.isdigit():
            try:
                # The name of a process stands in brackets and may hold anything.
                fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
                children[int(fields[1])].append(int(entry.name))
            except (OSError, IndexError, ValueError):
                continue  # it has ended meanwhile
    found: set[int] = set()
    left = [root]
    while left:
        fresh = [child for child in children[left.pop()] if child not in found]
        found.update(fresh)
        left += fresh
    return found


def _pages(process: int) -> int:
    try:
        return int((_PROC / str(process) / "statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return 0


def _disk(folder: Path) -> int | None:
    """Return the bytes in a folder's files; None where there is no folder or no file in it."""
    sizes = []
    for path in folder.rglob("*") if folder.is_dir() else ():
        try:
            if path.is_file() and not path.is_symlink():
                sizes.append(path.stat().st_size)
        except OSError:
            continue  # a journal that is gone again
    return sum(sizes) if sizes else None
