"""Calls from covering arrays with two operands: every way to meet, and operands that almost fit."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...numerics import NDArray
from ...pairs import PAIRS
from ..author import Book
from ..batches import Outline, drawn, outline
from ..covering import Row
from ..draws import dense, floats, integers
from .calls import add, refusal

__all__ = [
    "NARROWER",
    "NEAR",
    "WIDER",
    "dense_shape",
    "meet",
    "misfit",
    "misfit_shape",
    "miss",
    "numbers",
    "second",
    "second_dtype",
]

WIDER = {
    "bool": "int8",
    "int8": "int16",
    "int16": "int32",
    "int32": "int64",
    "float16": "float32",
    "float32": "float64",
}
NARROWER = {wide: narrow for narrow, wide in WIDER.items()}
CHOOSING = ("maximum", "minimum")  # asked without ties
EVEN = ((-8, 8), (1, 4))  # the integers drawn in front and behind: least and greatest


def meet(book: Book, row: Row, key: str) -> None:
    """Add a call of two operands that meet."""
    form = outline(row)
    ranges = (PAIRS[book.op].first, PAIRS[book.op].second) if book.op in PAIRS else EVEN
    own, other = ranges if row["side"] == "right" else ranges[::-1]
    kind = "fine" if book.op in CHOOSING else "whole"
    if row.get("numbers") == "whole" and kind == "fine":  # so few that many of them meet their equals
        kind, own, other = "whole", (0, 2), (0, 2)
    shows = row["second"] == "wider" and book.op not in PAIRS  # what is lost where it is made narrower
    x = drawn(form, row["dtype"], f"{key} x", kind, *own)
    y = second(row, form, f"{key} y", "fine" if shows else kind, *other)
    args = [x, y] if row["side"] == "right" else [y, x]
    front = 0 if row["side"] == "right" else 1
    tracked = {"both": None, "self": (front,), "other": (1 - front,)}[row.get("tracked", "both")]
    cmp = PAIRS[book.op].cmp if book.op in PAIRS else book.cmp
    if not any(name.startswith("float") for name in (row["dtype"], second_dtype(row))):
        cmp = "exact"
    add(book, row, args, "dtype", "gradient", tracked=tracked, cmp=cmp)


def second_dtype(row: Row) -> str:
    """Return the dtype of the second operand."""
    own = row["dtype"]
    return {"same": own, "wider": WIDER.get(own, ""), "narrower": NARROWER.get(own, ""), "whole": "int8"}[row["second"]]


def second(row: Row, form: Outline, key: str, kind: str, low: int = -8, high: int = 8) -> Any:
    """Return what a row says that an operand of this outline meets."""
    if row["other"] == "number":
        return 3.0 if row["dtype"].startswith("float") else 3
    if row["other"] in ("nested", "thin"):
        met = form if row["other"] == "nested" else form.resized(form.regular[0], 1)
        return drawn(met, second_dtype(row), key, kind, low, high)
    return numbers(second_dtype(row), dense_shape(row["other"], form), key, kind, low, high)


def numbers(dtype: str, shape: tuple[int, ...], key: str, kind: str, low: int = -8, high: int = 8) -> NDArray:
    """Return a dense array of whole or fine numbers."""
    if kind == "fine" and np.dtype(dtype).kind == "f":
        return dense(floats(dtype, [shape], key, ragged=None))
    return dense(integers(dtype, [shape], key, low, high, ragged=None))


def dense_shape(level: str, form: Outline) -> tuple[int, ...]:
    """Return the shape of a dense operand that fits: size 1 along what is irregular."""
    regular = tuple(1 if size is None else size for size in form.shape)
    shapes: Mapping[str, tuple[int, ...]] = {
        "point": (),
        "row": regular[-1:],
        "slices": regular,
        "slice": (1, *regular[1:]),
        "whole": (len(form.shapes), *next(iter(form.shapes), ())),
    }
    return shapes[level]


def miss(book: Book, row: Row, key: str) -> None:
    """Add a call of two operands that almost fit, which is refused."""
    form = outline(row)
    x = drawn(form, "float32", f"{key} x", "whole", 1, 4)
    nested = misfit(row["misfit"], form)
    if nested is not None:
        y: Any = drawn(nested, "float32", f"{key} y", "whole", 1, 4)
        kind, clause = "StructureError", refusal(book.op, "StructureError")
    else:
        y = numbers("float32", misfit_shape(row["misfit"], form), f"{key} y", "whole", 1, 4)
        kind, clause = "ShapeError", "BROADCASTING-6" if row["misfit"] == "deeper" else "BROADCASTING-5"
    args = [x, y] if row["side"] == "right" else [y, x]
    book.error_inside("axes", clause, kind, f"{book.op}/{NEAR.get(book.op, 'float32')}/ragged/1", args)


NEAR = dict.fromkeys(("eq", "lt"), "int32") | dict.fromkeys(("ne", "le", "gt", "ge"), "int8")


def misfit(level: str, form: Outline) -> Outline | None:
    """Return the outline of a nested operand that does not fit, if the level means one."""
    lengths = form.lengths
    if level == "entry":
        return form.longer([*lengths[:-1], lengths[-1] + 1])
    if level == "moved":
        return form.longer(next(one for one in _rotations(lengths) if one != lengths))
    if level == "fewer":
        return form.longer(lengths[:-1])
    if level == "size":
        return form.resized(form.regular[0], form.shape[form.regular[0]] + 1)  # type: ignore[operator]
    return None


def _rotations(lengths: list[int]) -> Any:
    return ([*lengths[n:], *lengths[:n]] for n in itertools.count(1))


def misfit_shape(level: str, form: Outline) -> tuple[int, ...]:
    """Return the shape of a dense operand that does not fit along the ragged dimension, or has one too many."""
    sizes = [1 if size is None else size for size in form.shape]
    at = form.ragged
    shapes: Mapping[str, list[int]] = {
        "per-component": [*sizes[:at], *sizes[at + 1 :]],
        "padded": [*sizes[:at], max(form.lengths), *sizes[at + 1 :]],
        "total": [1, *sizes[1:at], sum(form.lengths), *sizes[at + 1 :]],
        "deeper": [2, *sizes],
    }
    return tuple(shapes[level])
