"""Which record of the server is which memory of the data set."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from harness.retrieval.dataset import StoredMemory
from harness.retrieval.memory_api.records import id_of
from harness.retrieval.memory_api.replies import Hit

_SHORTEST_BEGINNING = 12


class IdBook:
    """The ids of a run's records, sent and given.

    A result is known by the id that its record was sent with. Where the server gives ids of its own, it
    is known by the record's key, or by its text, whole or cut short with an ellipsis; its id is kept
    from then on. A result that says it is another client's is never taken for one of ours, and none is
    known by its text once a sent id has come back: the server keeps those.

    Args:
        memories: the corpus.
        client: the client id of this run.
        prefix: what stands before a memory's id in its key.

    Attributes:
        kept: whether the server is seen to keep the ids that were sent.
        own: whether it is seen to give its own.
    """

    def __init__(self, memories: Sequence[StoredMemory], client: str, prefix: str = "") -> None:
        self.kept = False
        self.own = False
        self._client = client
        self._prefix = prefix
        self._sent = {id_of(memory, client): memory.id for memory in memories}
        self._given: dict[str, str] = {}
        self._owned: dict[str, list[str]] = {}
        self._texts = {memory.id: _folded(memory.text) for memory in memories}
        self._seen: set[str] = set()
        self._by_text: dict[str, list[str]] = defaultdict(list)
        for memory in memories:
            self._by_text[self._texts[memory.id]].append(memory.id)

    def name_of(self, hit: Hit) -> str | None:
        """Return the name of a result's memory and note that it was found, None where it is not known."""
        name = self._recognised(hit)
        if name is not None:
            self._seen.add(name)
        return name

    def learn(self, given: str, name: str) -> None:
        """Note the id that the server gave a memory."""
        if self._sent.get(given) == name:
            self.kept = True
        else:
            self.own = True
            self._given[given] = name
            self._owned.setdefault(name, []).append(given)

    def sent_back(self, id: str) -> None:
        """Note that the server knows an id that was sent."""
        self.kept = True

    def given_to(self, name: str) -> list[str]:
        """Return the ids that the server is known to have given a memory."""
        return list(self._owned.get(name, ()))

    def settled(self, name: str) -> bool:
        """Say whether a memory was found, or one of the same text, and its results will be known."""
        found = any(twin in self._seen for twin in self._by_text[self._texts[name]])
        return found and (not self.own or name in self._owned)

    def _recognised(self, hit: Hit) -> str | None:
        if hit.id in self._sent:
            self.kept = True
            return self._sent[hit.id]
        if hit.id in self._given:
            return self._given[hit.id]
        if self.kept or hit.client not in (None, self._client):
            return None
        name = self._by_key(hit.key) or self._by_its_text(hit.text)
        if name is not None:
            self.learn(hit.id, name)
        return name

    def _by_key(self, key: str | None) -> str | None:
        if key is None or not key.startswith(self._prefix):
            return None
        name = key[len(self._prefix) :]
        return name if name in self._texts else None

    def _by_its_text(self, text: str) -> str | None:
        folded = _folded(text)
        if folded in self._by_text:
            return next((name for name in self._by_text[folded] if name not in self._owned), None)
        beginning = folded.removesuffix("…").removesuffix("...").rstrip()
        if beginning == folded or len(beginning) < _SHORTEST_BEGINNING:
            return None
        fitting = [name for name, whole in self._texts.items() if whole.startswith(beginning)]
        return fitting[0] if len(fitting) == 1 and fitting[0] not in self._owned else None


def _folded(text: str) -> str:
    return " ".join(text.split())
