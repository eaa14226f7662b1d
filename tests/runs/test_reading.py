"""Which results are read alike."""

from __future__ import annotations

import pytest

from harness.runs.reading import Reading, differences

PLAIN = Reading("extractive", None, 1000, 100)
MODEL = Reading("openai/small", "aaaaaaaabbbb", 1000, 100)


@pytest.mark.parametrize(
    ("now", "before", "same", "said"),
    [
        (PLAIN, PLAIN, True, []),
        (PLAIN, MODEL, False, ["its reader was openai/small, here it is extractive"]),
        (MODEL, MODEL._replace(prompt="cccccccc"), True, ["prompt was cccccccc, here it is aaaaaaaa"]),
        (PLAIN, PLAIN._replace(budget=300), False, ["its budget was 300 words, here it is 1,000"]),
        (PLAIN, PLAIN._replace(limit=5, budget=1), True, ["budget was 1 ", "for 5 memories, here for 100"]),
        (PLAIN._replace(budget=None), PLAIN._replace(limit=5), False, []),
        (Reading("own", None, 1, 1), MODEL, False, []),
        (Reading("own", None, 1, 1), MODEL, True, ["its reader was openai/small, here it is own"]),
        (Reading("own", None, 1, 1), Reading("own", None, 2, 2), True, []),
        (MODEL._replace(budget=None), PLAIN, False, ["its reader was extractive, here it is openai/small"]),
    ],
)
def test_differences(now: Reading, before: Reading, same: bool, said: list[str]) -> None:
    found = list(differences(now, before, same=same))
    assert len(found) == len(said)
    assert all(part in line for part, line in zip(said, found, strict=True)), found
