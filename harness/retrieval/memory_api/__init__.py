"""A memory server behind HTTP as a retriever: records are imported, searched, and taken out again.

    --system "memory_api(url='http://127.0.0.1:8084')"

docs/connect-memory-api.md has the requests, the options, and what happens to the server.
"""

from harness.retrieval.memory_api.options import MemoryApiOptions, key_of, read_options
from harness.retrieval.memory_api.retriever import MemoryApi

__all__ = ["MemoryApi", "MemoryApiOptions", "key_of", "read_options"]
