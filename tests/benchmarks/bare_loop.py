"""The other side of the judging benchmark: a plain AsyncOpenAI loop over the same requests.

usage: bare_loop.py BASE_URL BODIES.json CONCURRENCY
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from openai import AsyncOpenAI


async def main(base_url: str, bodies: list[dict[str, object]], concurrency: int) -> None:
    client = AsyncOpenAI(base_url=base_url, api_key="none")
    slots = asyncio.Semaphore(concurrency)

    async def one(body: dict[str, object]) -> int:
        async with slots:
            reply = await client.chat.completions.create(**body)  # type: ignore[call-overload]
        verdict = json.loads(reply.choices[0].message.content)
        return sum(item["verdict"] == "met" for item in verdict["criteria"])

    met = await asyncio.gather(*map(one, bodies))
    await client.close()
    print(len(met), sum(met))


asyncio.run(main(sys.argv[1], json.loads(Path(sys.argv[2]).read_text()), int(sys.argv[3])))
