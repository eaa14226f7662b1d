"""Adapters: how a memory system is reached, and those that come with the harness."""

from __future__ import annotations

from harness.adapters.protocol import (
    Adapter,
    AgentFailure,
    Memory,
    MemoryAgent,
    NoOptions,
    Question,
    Space,
)
from harness.adapters.registry import AdapterInfo, available_adapters, find_adapter

__all__ = [
    "Adapter",
    "AdapterInfo",
    "AgentFailure",
    "Memory",
    "MemoryAgent",
    "NoOptions",
    "Question",
    "Space",
    "available_adapters",
    "find_adapter",
]
