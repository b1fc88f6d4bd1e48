"""Calls from covering arrays that turn nested arrays into something else: padded ones, other dtypes, one bool."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...components import Components, each
from ..author import Book
from ..batches import drawn, outline
from ..covering import Row
from .calls import add, refusal
from .meetings import NARROWER, WIDER
from .moved import spelled

__all__ = ["compared", "converted", "padded"]

PADDINGS: dict[str, Any] = {
    "number": 7.0, "zero": 0.0, "minus": -0.0, "nan": math.nan, "infinite": -math.inf, "integer": 3,
}  # fmt: skip


def padded(book: Book, row: Row, key: str) -> None:
    """Add a padded array; of a size that is too small, that it is refused."""
    form = outline(row)
    x = drawn(form, row["dtype"], key, "fine")
    padding = PADDINGS[row["padding"]]
    if x.dtype.kind != "f":
        padding = bool(padding) if x.dtype.kind == "b" else int(padding)
    least = [len(x), *(max((one.shape[d] for one in x), default=size or 0) for d, size in enumerate(x.shape[1:]))]
    sizes = {
        "same": least,
        "more": [size + 1 for size in least],
        "batch": [least[0] + 2, *least[1:]],
        "less": [*least[: form.ragged], least[form.ragged] - 1, *least[form.ragged + 1 :]],
    }.get(row["outside"])
    args, kw = spelled(row, [x], {"padding": padding} | ({} if sizes is None else {"output_size": tuple(sizes)}))
    if row["outside"] == "less" and least[form.ragged] > 0:
        clause, near = refusal(book.op, "ShapeError"), f"{book.op}/float32/size/1"
        book.error_inside("axes", clause, "ShapeError", near, args, kw=kw)
    elif row["outside"] != "less":
        add(book, row, args, "shape", "gradient", kw=kw)


def converted(book: Book, row: Row, key: str) -> None:
    """Add a conversion to a dtype, a layout, or both."""
    x = drawn(outline(row), row["dtype"], key, "fine")
    target = {"wider": WIDER, "narrower": NARROWER}.get(row["asked"], {}).get(row["dtype"], row["dtype"])
    kw = {"dtype": np.dtype(target), "layout": row["layout"]}
    add(book, row, [x], "gradient", kw=kw, kind="nested", dtype=target)


def compared(book: Book, row: Row, key: str) -> None:
    """Add a comparison that gives one bool: of two arrays that are equal, or differ in one respect."""
    form = outline(row)
    x = drawn(form, row["dtype"], key, "fine")
    if row["differs"] == "sign":
        x = each(lambda one: 0 * np.abs(one), x)
    elif row["differs"] == "nan":
        x = each(lambda one: np.where(np.arange(one.size).reshape(one.shape) % 2, one, np.nan).astype(one.dtype), x)
    others: dict[str, Callable[[], Components]] = {
        "last": lambda: _with_another_last(x),
        "dtype": lambda: each(lambda one: one.astype(WIDER[row["dtype"]]), x),
        "lengths": lambda: drawn(form.longer([*form.lengths[1:], form.lengths[0]]), row["dtype"], key, "fine"),
        "near": lambda: each(lambda one: np.nextafter(one, np.asarray(8, one.dtype)), x),
        "sign": lambda: each(lambda one: -one, x),
    }
    args = [x, others[row["differs"]]() if row["differs"] in others else x]
    if row["differs"] == "lengths" and book.op == "allclose":
        near = "allclose/float32/same/1"
        book.error_inside("axes", refusal("allclose", "StructureError"), "StructureError", near, args)
    else:
        kw = {"equal_nan": True} if book.op == "allclose" and row["differs"] == "nan" else {}
        book.value(f"{row['dtype']}/axes", "1", args, kw=kw)


def _with_another_last(x: Components) -> Components:
    """Return components of which the last element is another."""
    y = each(np.copy, x)
    full = [one for one in y if one.size]
    if full:
        full[-1].reshape(-1)[-1] += 3
    return y
