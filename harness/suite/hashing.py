"""The content hash of a suite."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

from harness.errors import InputError
from harness.suite.chunks import BOM
from harness.suite.models import Case


def hash_cases(cases: Iterable[Case]) -> str:
    """Hash the cases; `Suite.hash` says what is covered."""
    return _hashed(cases, {})


def _hashed(cases: Iterable[Case], haystacks: dict[Path, bytes]) -> str:
    """Hash cases; the digest of a haystack is computed once, however many cases share it."""
    whole = sha256()
    for case in sorted(cases, key=lambda case: case.id):
        for part in (case.id.encode(), _content(case.path), _overriding_facts(case)):
            whole.update(sha256(part).digest())
        if case.haystack is not None:
            if case.haystack not in haystacks:
                haystacks[case.haystack] = sha256(_content(case.haystack)).digest()
            whole.update(haystacks[case.haystack])
    return whole.hexdigest()


def case_hashes(cases: Iterable[Case]) -> dict[str, str]:
    """Return the hash of each case by its id, in the order given; it reads every file once."""
    haystacks: dict[Path, bytes] = {}
    return {case.id: _hashed((case,), haystacks) for case in cases}


def _content(path: Path) -> bytes:
    """Return the file as it is on every machine: checkouts differ in line ends and BOM."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} can't be read any more: {error.strerror}") from error
    return data.removeprefix(BOM).replace(b"\r\n", b"\n")


def _overriding_facts(case: Case) -> bytes:
    if case.gold_path is None:
        return b""
    return json.dumps([asdict(fact) for fact in case.gold], sort_keys=True).encode()
