"""A loopback model server for tests: the chat-completions protocol, a rule-based judge, faults on order.

A real HTTP/1.1 server in a process of its own, standard library only:

    with start(latency_ms=20, faults=[{"when": {"every": 10}, "do": {"rate_limited": {"retry_after": 0.05}}}]) as server:
        ...                       # an OpenAI client with base_url=server.base_url, any key
        server.url("garbage")     # the same server, every reply garbage
        server.set_faults([...])  # other rules from now on, counted from 1 again
        server.stats()            # requests, chat, in_flight, max_in_flight, connections, by_status, faults
        server.requests()         # the bodies of the last chat requests, in the order they came

By hand: `python -m tests.model_server --port 0 --latency-ms 50 --faults FILE.json --max-seconds 600`, which prints
`READY <port>`. It goes down by itself after `--max-seconds`, and when the one who started it is gone.

Routes: `POST [/PERSONA]/v1/chat/completions`, `POST [/PERSONA]/v1/embeddings`, `GET [/PERSONA]/v1/models`,
`GET /stats`, `GET /requests`, `POST /reset`, `POST /faults`. A persona is the name of a fault, or several joined by
`+`, each with its main argument after `=`: `/delay=200+think/v1/chat/completions`.

What is answered to a chat request, in this order: a fault that refuses it; what any real provider refuses (no model,
no messages, `json_object` without the word JSON, a wrong key where `api_key` is set, a model outside `models`);
a verdict by `rule_judge` when the last message is a judge prompt; an instance of the schema asked for; a sentence
about the last user message. Without a latency or a delay requests are answered one by one, so `max_in_flight` is 1;
with one, the time a ruling takes is part of it. A reply longer than `max_tokens` is cut, with `finish_reason` "length".

- `wire`: HTTP/1.1 with keep-alive. `server`: routes and counters. `embedding`: vectors from hashes.
- `faults`: which rule strikes which request. `refusals`: error bodies in the providers' words.
  `replies`: the envelope of a reply and what can go wrong in it.
- `judge_prompt`, `values`, `rule_judge`: a judge that knows no more than a judge is sent. It shares no code with the
  package under test. `spoiled`: the verdicts of bad judges.
- `process`: `start` and `Server`. `fixtures`: the same for pytest.
"""

from __future__ import annotations

from .process import Server, start

__all__ = ["Server", "start"]
