from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.adapters.strategies.cards import AdvancedJsonCards, JsonCards
from harness.adapters.strategies.notes import EnhancedNotes, SimpleNotes
from harness.adapters.strategies.replies import read_reply, schema_of
from harness.adapters.strategies.store import Form, Operation, Refused, Source, Store
from harness.llm.reply_error import ReplyError

FORMS = [one.form() for one in (SimpleNotes, EnhancedNotes, JsonCards, AdvancedJsonCards)]
BY_NAME = pytest.mark.parametrize("form", FORMS, ids=[form.name for form in FORMS])
WORDS = st.sampled_from(["", "a", "A ", "b", "c d"])


def operations(form: Form) -> st.SearchStrategy[Operation]:
    ids = st.sampled_from([f"{form.noun[0]}{n}" for n in range(1, 6)] + ["", "x"])
    fields = st.dictionaries(st.sampled_from([*form.fields, "stray"]), WORDS)
    values = st.dictionaries(st.sampled_from(["k", "l"]), WORDS)
    return st.builds(
        Operation, st.sampled_from(["add", "add", "update", "delete", "no", ""]), ids, fields, values
    )


@BY_NAME
@given(data=st.data())
def test_any_operations_keep_the_memory_in_order(form: Form, data: st.DataObject) -> None:
    store = Store(form)
    ever: set[str] = set()
    for number, operation in enumerate(data.draw(st.lists(operations(form), max_size=25))):
        before = {entry.id: entry for entry in store.entries}
        try:
            store.apply(operation, Source(refs=(f"c#{number}",)))
        except Refused:
            assert {entry.id: entry for entry in store.entries} == before
            continue
        after = {entry.id: entry for entry in store.entries}
        assert len(after) == len(store.entries)
        untouched = before.keys() - {operation.id} if operation.op != "add" else before.keys()
        assert all(after[ident] is before[ident] for ident in untouched)
        if operation.op == "add":
            (new,) = after.keys() - before.keys()
            assert new not in ever
            ever.add(new)
        elif operation.op == "delete":
            assert before.keys() - after.keys() == {operation.id}
        else:
            assert after.keys() == before.keys()
            old, entry = before[operation.id], after[operation.id]
            for name in form.fields:
                assert entry.fields[name] == (operation.fields.get(name) or old.fields[name])
            if form.has_values:
                named = operation.values
                assert entry.values == {k: v for k, v in {**old.values, **named}.items() if v}
            assert entry.created == old.created
            assert entry.written.refs == (*old.written.refs, f"c#{number}")
        places = [tuple(e.fields[n].casefold().strip() for n in form.identity) for e in store.entries]
        assert len(set(places)) == len(places)
        last = store.by_last_change
        assert [e.turn for e in last] == sorted({e.turn for e in store.entries}, reverse=True)
        assert all(form.render(entry) for entry in last)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["op", "id", "text", "tags", "values", "messages", "x"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@BY_NAME
@given(operations=JSON, done=JSON)
def test_whatever_a_model_writes_is_read_or_called_unusable(form: Form, operations: Any, done: Any) -> None:
    try:
        value = schema_of(form, empty=False).read({"operations": operations, "done": done}, set())
        reply = read_reply(value, form)
    except ReplyError:
        return
    store = Store(form)
    for operation, numbers in reply.operations:
        assert all(number >= 0 for number in numbers)
        with suppress(Refused):
            store.apply(operation, Source())


@BY_NAME
def test_the_schema_is_in_the_strict_form(form: Form) -> None:
    schema = schema_of(form, empty=False).json_schema()
    entry = schema["properties"]["operations"]["items"]
    assert entry["properties"]["op"] == {"type": "string", "enum": ["add", "update", "delete"]}
    first = schema_of(form, empty=True).json_schema()["properties"]["operations"]["items"]
    assert first["properties"]["op"]["enum"] == ["add"]
    assert entry["required"] == list(entry["properties"])
    assert not entry["additionalProperties"]
