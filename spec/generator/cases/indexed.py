"""Calls from covering arrays of `getitem`: entries of every kind beside each other, and nested masks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...components import Components, each
from ...encoding import Index
from ..author import Book
from ..batches import Outline, drawn, outline
from ..covering import Row
from .calls import add

__all__ = ["indexed", "masked"]

ALL = slice(None)
_SLICES = {
    "all": ALL,
    "tail": slice(1, None),
    "head": slice(None, 2),
    "backwards": slice(None, None, -1),
    "second": slice(None, None, 2),
    "third": slice(1, None, 3),
    "minus": slice(-2, -1),
    "none": slice(2, 1),
    "beyond": slice(-99, 99),
}
_INSIDE = {"missing": ALL, "tail": slice(1, None), "end": -1, "backwards": slice(None, None, -2), "list": [0]}


def indexed(book: Book, row: Row, key: str) -> None:
    """Add an index of several entries; where a component that is picked lacks the place, that it is refused."""
    form = outline(row)
    x, count = drawn(form, row["dtype"], key), len(form.shapes)
    entries = [_batch(row["picked"], count), *[ALL] * (len(form.shape) - 1)]
    if form.shape[form.ragged] is None:
        entries[form.ragged] = {"number": 0, "end": -1}.get(row["sliced"], _SLICES.get(row["sliced"]))
    if form.regular:
        entries[form.regular[0]] = _INSIDE[row["entry"]]
    args, near = [x, Index(tuple(_written(row, entries)))], "getitem/float32/batch/1"
    if row["dots"] == "twice":
        book.error_inside("axes-dots", "GETITEM-7", "DimensionError", near, args)
    elif row["entry"] == "list" and not isinstance(entries[0], int):
        book.error_inside("axes-list", "GETITEM-17", "ArgumentError", near, args)
    elif not (able := tuple(layout for layout in form.able if not _misses(form, entries, layout))):
        book.error_inside("axes", "GETITEM-6", "IndexOutOfRange", near, args)
    else:
        about = "GETITEM-19" if row["entry"] == "list" else None
        add(book, row, args, "shape", "gradient", value=about, kind=_kind(form, entries), layouts=able)


def _batch(level: str, count: int) -> Any:
    """Return the first entry."""
    if level in ("first", "last"):
        return 0 if level == "first" else -1
    if level == "list":
        return [count - 1, 0, -1] if count else []
    return [number % 3 != 1 for number in range(count)] if level == "flags" else _SLICES[level]


def _written(row: Row, entries: Sequence[Any]) -> list[Any]:
    """Return the entries as the row writes them: what is whole at the end may be left out, or stand as an ellipsis."""
    told = max((n for n, one in enumerate(entries) if one != ALL), default=0)
    short = [*entries[: told + 1]]
    written = {"absent": short, "behind": [*entries, ...], "instead": [*short, ...], "twice": [*short, ..., ...]}[
        row["dots"]
    ]
    if row["new"] == "end" and row["dots"] == "absent":
        written = [*entries]
    return {"absent": written, "inside": [*written[:1], None, *written[1:]], "end": [*written, None]}[row["new"]]


def _misses(form: Outline, entries: Sequence[Any], layout: str) -> bool:
    """Say whether an integer names a place that is not there: in the batch, or in a component that is picked.

    Where none is picked, in one that might be there: it has the sizes that all have, in the strided layout by chance.
    """
    batch, *inside = entries
    if isinstance(batch, int) and not form.shapes:
        return True
    picked = [form.shapes[n] for n in np.atleast_1d(np.arange(len(form.shapes))[batch])] if form.shapes else []
    left = tuple(form.size(dim, 1) if layout == "strided" else size for dim, size in enumerate(form.shape) if dim)
    return any(
        size == 0
        for shape in (picked or (left,))
        for size, entry in zip(shape, inside, strict=True)
        if isinstance(entry, int | list)
    )


def _kind(form: Outline, entries: Sequence[Any]) -> Any:
    """Return whether the result is dense or nested, for each layout, as GETITEM-5 says."""
    if isinstance(entries[0], int):
        return "dense"
    ragged = isinstance(entries[form.ragged], int) and form.shape.count(None) == 1
    return {"jagged": "dense", "strided": "nested"} if ragged else "nested"


def masked(book: Book, row: Row, key: str) -> None:
    """Add what a nested mask picks of each component; of a mask that does not fit, that it is refused."""
    form = outline(row)
    x = drawn(form, row["dtype"], f"{key} x")
    masks = form
    if row["masked"] == "misfit":
        masks = form.longer([*form.lengths[:-1], form.lengths[-1] + 1])
    elif row["masked"] == "fewer":
        masks = form.longer(form.lengths[:-1])
    elif row["masked"] == "rows":
        masks = Outline(tuple(shape[:1] for shape in form.shapes), form.shape[:2], 1)
    holds: Components = drawn(masks, "bool", f"{key} m")
    if row["masked"] in ("nowhere", "everywhere"):
        holds = each(lambda one: np.full_like(one, row["masked"] == "everywhere"), holds)
    if row["masked"] in ("misfit", "fewer"):
        book.error_inside("axes-mask", "GETITEM-16", "StructureError", "getitem/float32/mask/1", [x, holds])
        return
    layouts = form.able if masks.shape.count(None) == form.shape.count(None) else ("strided",)
    add(book, row, [x, holds], "gradient", kind="nested", layouts=layouts)
