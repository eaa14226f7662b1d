"""Which data sets can be imported, and which of them a file is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel

from harness.errors import InputError
from harness.suite.importers import locomo, longmemeval
from harness.suite.importers.made import Imported, Report
from harness.suite.importers.reading import read_json, without_lone_surrogates
from harness.suite.importers.shapes import LocomoSample, LongMemEvalItem, check_shape


class Form(NamedTuple):
    """A data set that can be imported.

    Attributes:
        name: as users type it.
        title: what it is.
        source: where to get it.
        licence: under which licence.
        fits: tells whether a file is one.
        shape: what each item of a file has to be.
        read: makes conversations and questions of it.
    """

    name: str
    title: str
    source: str
    licence: str
    fits: Callable[[Any], bool]
    shape: type[BaseModel]
    read: Callable[[Any, Report], Imported]


FORMS = {
    form.name: form
    for form in (
        Form(
            locomo.FORM,
            locomo.TITLE,
            locomo.SOURCE,
            locomo.LICENCE,
            locomo.is_locomo,
            LocomoSample,
            locomo.read_locomo,
        ),
        Form(
            longmemeval.FORM,
            longmemeval.TITLE,
            longmemeval.SOURCE,
            longmemeval.LICENCE,
            longmemeval.is_longmemeval,
            LongMemEvalItem,
            longmemeval.read_longmemeval,
        ),
    )
}


def import_files(paths: Sequence[Path], name: str | None = None) -> Imported:
    """Read the files of one data set.

    Args:
        paths: the files as downloaded; several are read as if they were one.
        name: which data set they are; found out by looking when left out.

    Raises:
        InputError: for a file that can't be read or is none of the data sets.
        SuiteError: for one whose items are of another shape.
    """
    if not paths:
        told = "; ".join(f"{form.name}: {form.source}" for form in FORMS.values())
        raise InputError(f"no file to import. Download one and name it ({told}).")
    items: list[Any] = []
    sources = []
    broken: list[tuple[Path, list[str]]] = []
    form = None if name is None else FORMS[name]
    for path in paths:
        data, source = read_json(path)
        found = next((one for one in FORMS.values() if one.fits(data)), None)
        if found is None or (form is not None and found is not form):
            wanted = form.name if form else " or ".join(FORMS)
            raise InputError(f"{path}: is no {wanted} file. Name the JSON file as it was downloaded.")
        form = found
        listed = data if isinstance(data, list) else [data]
        check_shape(path, listed, form.shape)
        whole, places = without_lone_surrogates(listed)
        broken.append((path, places))
        items += whole
        sources.append(source)
    assert form is not None
    report = Report(form.name, form.title, form.source, form.licence, tuple(sources))
    for path, places in broken:
        for place in places:
            told = "half of a surrogate pair, which is no character"
            report.add("lone-surrogate", f"{path.name} {place}", told, "repaired", "written as U+FFFD")
    return form.read(items, report)
