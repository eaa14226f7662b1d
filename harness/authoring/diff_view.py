"""A difference of suites as lines to read: `+` came, `-` went, `~` changed, `>` was renamed."""

from __future__ import annotations

from collections.abc import Iterator

from harness.authoring.difference import Change, SuiteDiff

_LONGEST = 200
_AROUND = 30


def diff_lines(diff: SuiteDiff, *, brief: bool = False) -> Iterator[str]:
    """Yield the lines of a difference, a summary last; `brief` leaves out what changed in a case."""
    for name in diff.removed:
        yield f"- {name}"
    for name in diff.added:
        yield f"+ {name}"
    for old, new in diff.renamed:
        yield f"> {old} is now {new}"
    for case in diff.changed:
        yield f"~ {case.id}"
        for change in () if brief else case.changes:
            yield from _change(change)
    counts = (
        (len(diff.added), "added"),
        (len(diff.removed), "removed"),
        (len(diff.renamed), "renamed"),
        (len(diff.changed), "changed"),
        (diff.same, "the same"),
    )
    yield ", ".join(f"{count} {what}" for count, what in counts if count or what == "the same")


def _change(change: Change) -> Iterator[str]:
    yield f"    {change.place}"
    before, after = _apart(change.before, change.after)
    if before is not None:
        yield f"      - {before}"
    if after is not None:
        yield f"      + {after}"


def _apart(before: str | None, after: str | None) -> tuple[str | None, str | None]:
    """Return both texts, long ones cut to where they differ."""
    texts = [None if text is None else " ".join(text.split()) for text in (before, after)]
    if before != after and texts[0] == texts[1]:
        texts = [repr(before), repr(after)]  # they differ in white space only
    start = 0
    if texts[0] is not None and texts[1] is not None:
        same = next(
            (at for at, (one, other) in enumerate(zip(texts[0], texts[1], strict=False)) if one != other),
            min(len(texts[0]), len(texts[1])),
        )
        start = max(0, same - _AROUND) if max(map(len, (texts[0], texts[1]))) > _LONGEST else 0
    return _cut(texts[0], start), _cut(texts[1], start)


def _cut(text: str | None, start: int) -> str | None:
    if text is None:
        return None
    kept = text[start : start + _LONGEST]
    return f"{'…' if start else ''}{kept}{'…' if len(text) > start + _LONGEST else ''}"
