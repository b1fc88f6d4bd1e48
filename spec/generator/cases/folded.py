"""Calls from covering arrays along a dimension: reductions, places, and operators on runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...components import over_runs
from ...encoding import Components
from ..author import Book
from ..batches import Outline, drawn, outline
from ..covering import Row
from .calls import add, refusal
from .meetings import NARROWER, WIDER

__all__ = ["CHOOSING", "along", "chooses_from_nothing", "dims_of", "kind_of", "reduced", "spelled_dims"]

CHOOSING = ("amax", "amin", "argmax", "argmin")  # they refuse a run without elements, and are asked without ties
TRUTHS = ("any", "all")


def reduced(book: Book, row: Row, key: str) -> None:
    """Add a reduction; where it would choose from a run without elements, that it is refused."""
    form = outline(row)
    dims = dims_of(row, form)
    kind = "distinct" if book.op in CHOOSING else "whole" if book.op in TRUTHS else row["numbers"]
    x = drawn(form, row["dtype"], key, kind, *((0, 1) if book.op in TRUTHS else ()))
    args, kw = spelled_dims(row, dims, [x])
    kw |= _asked(row)
    if row["keepdim"] != "absent":
        kw["keepdim"] = row["keepdim"] == "true"
    if book.op in CHOOSING and chooses_from_nothing(x, dims):
        clause, near = refusal(book.op, "EmptyReductionError"), f"{book.op}/float32/ragged/1"
        book.error_inside("axes-empty", clause, "EmptyReductionError", near, args, kw=kw)
        return
    kinds = kind_of(form, dims, bool(kw.get("keepdim", False)))
    add(book, row, args, "shape", "dtype", "gradient", kw=kw, kind=kinds, **_compared(book, row, kw))


def along(book: Book, row: Row, key: str) -> None:
    """Add an operator on runs, which keeps the shape."""
    form = outline(row)
    x = drawn(form, row["dtype"], key, row["numbers"])
    args, kw = spelled_dims(row, dims_of(row, form), [x])
    kw |= _asked(row)
    add(book, row, args, "shape", "gradient", kw=kw, **_compared(book, row, kw))


def _asked(row: Row) -> dict[str, Any]:
    """Return the dtype that a row asks for."""
    if "asked" not in row:
        return {}
    dtype = {"same": row["dtype"], "wider": WIDER.get(row["dtype"]), "narrower": NARROWER.get(row["dtype"])}
    return {"dtype": np.dtype(dtype.get(row["asked"], "float32"))}


def _compared(book: Book, row: Row, kw: Mapping[str, Any]) -> dict[str, Any]:
    """Return how whole numbers are compared: they are added up without rounding."""
    integers = np.dtype(row["dtype"]).kind in "iub" and "dtype" not in kw and book.op != "mean"
    whole = integers or row.get("numbers") == "whole"
    return {"cmp": "exact"} if whole else {}


def dims_of(row: Row, form: Outline) -> Any:
    """Return the dimensions that the level of `dim` means: one, several, or None."""
    rank = len(form.shape)
    means: Mapping[str, Callable[[], Any]] = {
        "ragged": lambda: form.ragged,
        "regular": lambda: form.regular[0],
        "last": lambda: rank - 1,
        "batch": lambda: 0,
        "batch-ragged": lambda: (0, form.ragged),
        "inner": lambda: tuple(range(1, rank)),
        "all": lambda: tuple(range(rank)),
        "none": lambda: None,
        "others": lambda: tuple(form.regular),
        "outside": lambda: rank,
        "before": lambda: -rank - 1,
    }
    return means[row["dim"]]()


def _several(dims: Any, rank: int) -> tuple[int, ...]:
    return tuple(range(rank)) if dims is None else dims if isinstance(dims, tuple) else (dims,)


def spelled_dims(row: Row, dims: Any, args: list[Any]) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments with `dim` among them, as the row spells it."""
    if dims is None:
        return args, {} if row["spelled"] == "position" else {"dim": None}
    rank = len(args[0].shape)
    counted = [dim - rank if row["sign"] == "back" else dim for dim in _several(dims, rank)]
    if row["spelled"] == "reversed":
        counted.reverse()
    one = not isinstance(dims, tuple) and row["spelled"] != "tuple"
    given = counted[0] if one else tuple(counted)
    return ([*args, given], {}) if row["spelled"] == "position" else (args, {"dim": given})


def kind_of(form: Outline, dims: Any, keepdim: bool) -> Any:
    """Return whether the result is dense or nested, for each layout, as LAYOUTS-6 and LAYOUTS-7 say."""
    several = _several(dims, len(form.shape))
    if 0 in several:
        return "dense"
    strided = "dense" if len(several) == len(form.shape) - 1 and not keepdim else "nested"
    if form.shape.count(None) != 1:
        return strided
    jagged = "dense" if form.ragged in several else "nested"
    return strided if strided == jagged else {"jagged": jagged, "strided": strided}


def chooses_from_nothing(x: Components, dims: Any) -> bool:
    """Say whether some element of the result would be chosen from no elements."""
    counts = over_runs(len, x, dims)
    found = counts if isinstance(counts, Components) else [counts]
    return any(bool((np.asarray(one) == 0).any()) for one in found)
