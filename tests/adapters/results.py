"""Run every memory system that there is a connector for over the bundled cases; docs/results.md shows the tables.

    python -m tests.adapters.results --runs results/extractive
    python -m tests.adapters.results --runs results/smollm2 --reader llm --base-url URL --model NAME

It starts the servers that some of them need, on loopback, and ends them again. What is finished in
an earlier call is not done again. Arguments that it does not know go to `recallbench run`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

from tests.adapters.connectors import falkordb, postgres, scripted_extraction

DSN = "MEMORY_DSN"
BOUNDS = ["--system", "no_memory", "--system", "oracle"]
"""With a small model as reader: whole conversations are more than it can read."""
ALONE = "graphiti"
"""Run by itself, one case at a time: FalkorDB 1.4.1 has been seen to hang with two graphs at work."""
MCP_SERVER = Path("node_modules/@modelcontextprotocol/server-memory/dist/index.js")


def systems(port: int, extraction: str) -> list[str]:
    """Return the systems as `--system` takes them."""
    found = [
        "bm25",
        "vector=vector(embedder='wordllama')",
        "hybrid=hybrid(embedder='wordllama')",
        "minilm=vector(embedder='minilm')",
        "mem0",
        "langgraph_sqlite=langgraph(store='sqlite')",
        f"langgraph_postgres=langgraph(store='postgres',dsn_env='{DSN}')",
        "langmem",
        "llamaindex",
        "chroma",
        f"graphiti=graphiti(port={port},per='conversation',model='scripted@{extraction}')",
    ]
    if MCP_SERVER.exists():
        found.append(f"mcp_memory=mcp(preset='reference',run='node {MCP_SERVER}')")
    return found


def main() -> int:
    """Start the servers, run the systems, print nothing of our own but errors."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", required=True)
    parser.add_argument("--only", action="append", help="label of a system; repeatable")
    known, others = parser.parse_known_args()
    with ExitStack() as stack:
        port = stack.enter_context(falkordb.running())
        dsn = stack.enter_context(postgres.running())
        extraction = stack.enter_context(scripted_extraction.serving()).base_url
        chosen = [
            spec
            for spec in systems(port, extraction)
            if not known.only or spec.partition("(")[0].partition("=")[0] in known.only
        ]
        status = 0
        for alone, more in (
            (False, BOUNDS if "llm" in others else ["--controls"]),
            (True, ["--concurrency", "1"]),
        ):
            specs = [spec for spec in chosen if spec.startswith(ALONE) is alone]
            command = [sys.executable, "-m", "harness", "run", "--runs", known.runs, *others, *more]
            for spec in specs:
                command += ["--system", spec]
            if specs:
                done = subprocess.run(command, env={**os.environ, DSN: dsn}, check=False)
                status = max(status, done.returncode)
        return status


if __name__ == "__main__":
    sys.exit(main())
