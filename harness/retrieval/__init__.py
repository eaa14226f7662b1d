"""Retrieval by itself: is the right memory found, and does a change make it worse?"""

from __future__ import annotations

from harness.retrieval.dataset import Query, RetrievalSet, StoredMemory
from harness.retrieval.evaluator import RetrievalEvaluator, search_all
from harness.retrieval.loading import load_retrieval
from harness.retrieval.metrics import measure

__all__ = [
    "Query",
    "RetrievalEvaluator",
    "RetrievalSet",
    "StoredMemory",
    "load_retrieval",
    "measure",
    "search_all",
]
