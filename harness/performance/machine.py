"""What machine this is, without its name: times of two machines do not compare."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path
from typing import NamedTuple

_CPUINFO = Path("/proc/cpuinfo")


class Machine(NamedTuple):
    """The machine that figures were measured on.

    Attributes:
        cpu: model of the processor.
        cores: cores that this process may use.
        system: operating system and architecture.
        python: implementation and version.
    """

    cpu: str
    cores: int
    system: str
    python: str

    def __str__(self) -> str:
        cores = "1 core" if self.cores == 1 else f"{self.cores} cores"
        return f"{self.cpu}, {cores}, {self.system}, {self.python}"


def this_machine() -> Machine:
    """Look at this machine."""
    may_use = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return Machine(
        _cpu(),
        may_use,
        f"{platform.system()} {platform.machine()}",
        f"{platform.python_implementation()} {platform.python_version()}",
    )


def busy(machine: Machine) -> str:
    """Say by how much other work keeps the cores busy, or nothing where they are free."""
    try:
        load = os.getloadavg()[0]
    except (AttributeError, OSError):
        return ""
    if load <= machine.cores:
        return ""
    return (
        f"the machine is busy with other work (load {load:.1f} on {machine.cores} cores): "
        "every time here is longer than the system alone would take"
    )


def _cpu() -> str:
    try:
        lines = _CPUINFO.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    for line in lines:
        name, _, value = line.partition(":")
        if name.strip() in ("model name", "Hardware") and value.strip():
            return " ".join(value.split())
    return platform.processor() or f"unknown processor ({sys.platform})"
