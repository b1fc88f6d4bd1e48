"""Calls from covering arrays whose dimension is none: one more than there are, or one before the first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..author import Book
from ..batches import drawn, outline
from ..covering import Row
from .meetings import numbers

__all__ = ["beyond"]

ONE_MORE = ("stack", "unsqueeze")  # their dimension counts in the result
REST: Mapping[str, Callable[[Any, int], dict[str, Any]]] = {
    "select": lambda x, dim: {"dim": dim, "index": 0},
    "chunk": lambda x, dim: {"chunks": 2, "dim": dim},
    "split": lambda x, dim: {"sizes": 2, "dim": dim},
    "unflatten": lambda x, dim: {"dim": dim, "sizes": (2, -1)},
    "transpose": lambda x, dim: {"dim0": 1, "dim1": dim},
    "permute": lambda x, dim: {"dims": (*range(len(x.shape) - 1), dim)},
    "narrow": lambda x, dim: {"dim": dim, "start": 0, "length": 1, "layout": "strided"},
    "flatten": lambda x, dim: {"start_dim": dim, "end_dim": dim},
}


def beyond(book: Book, row: Row, key: str) -> None:
    """Add a call along a dimension that is not there."""
    form = outline(row)
    x: Any = drawn(form, "float32", key)
    rank = len(form.shape) + (book.op in ONE_MORE)
    dim = rank if row["dim"] == "outside" else -rank - 1
    first: Any = [x, x] if book.op in ("cat", "stack") else x
    kw = REST[book.op](x, dim) if book.op in REST else {"dim": dim}
    if book.op == "narrow":
        first = numbers("float32", (2,) * rank, key, "whole")
    layouts = ("strided",) if book.op == "narrow" else form.able
    accepted = [case for case in book.cases if case.error is None and set(layouts) <= set(case.layouts)]
    near = accepted[0].id if accepted else ""  # where this call is drawn by itself
    book.error("axes-beyond", "ERRORS-1", "DimensionError", near, [first], kw=kw, layouts=layouts)
