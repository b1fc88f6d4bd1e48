"""Calls from covering arrays that bring dimensions elsewhere, make one of several, add one, or choose from one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..author import Book
from ..batches import Outline, drawn, outline
from ..covering import Row
from .calls import add, refusal

__all__ = ["chosen", "counted", "dim_of", "moved", "spelled"]


def moved(book: Book, row: Row, key: str) -> None:
    """Add a call of an operator that keeps the elements."""
    form = outline(row)
    rank, start, end = len(form.shape), dim_of(row["moved"], form), dim_of(row["onto"], form)
    order = [dim for dim in range(rank) if dim != start]
    order.insert(end, start)
    arguments: Mapping[str, dict[str, Any]] = {
        "transpose": {"dim0": start, "dim1": end},
        "permute": {"dims": tuple(order)},
        "flatten": {"start_dim": min(start, end), "end_dim": max(start, end)},
        "unsqueeze": {"dim": start},
    }
    counts = rank + (book.op == "unsqueeze")
    given = {name: counted(dim, counts, row["sign"]) for name, dim in arguments[book.op].items()}
    args, kw = spelled(row, [drawn(form, row["dtype"], key)], given)
    add(book, row, args, "shape", "gradient", kw=kw, kind="nested")


def chosen(book: Book, row: Row, key: str) -> None:
    """Add a choice of one element of each run; where some run has none, that it is refused."""
    form = outline(row)
    dim = dim_of(row["moved"], form)
    sizes = [shape[dim - 1] if dim else len(form.shapes) for shape in form.shapes]
    shortest = min(sizes, default=1 if dim else 0)
    index = {"first": 0, "last": -1, "end": max(shortest - 1, 0)}[row["place"]]
    given = {"dim": counted(dim, len(form.shape), row["sign"]), "index": index}
    args, kw = spelled(row, [drawn(form, row["dtype"], key)], given)
    if shortest == 0 or form.shape[dim] == 0:
        add_refused = book.error_inside if form.shapes or dim == 0 else book.error
        near = f"{book.op}/float32/ragged/1"
        add_refused("axes-empty", refusal(book.op, "IndexOutOfRange"), "IndexOutOfRange", near, args, kw=kw)
        return
    if dim == 0:
        add(book, row, args, "gradient", kw=kw, kind="dense")
        return
    jagged = "dense" if dim == form.ragged and form.shape.count(None) == 1 else "nested"
    kind = {"jagged": jagged, "strided": "nested"} if jagged == "dense" else "nested"
    add(book, row, args, "shape", "gradient", kw=kw, kind=kind)


def dim_of(level: str, form: Outline) -> int:
    """Return the dimension that a level means."""
    means: Mapping[str, Callable[[], int]] = {
        "batch": lambda: 0,
        "ragged": lambda: form.ragged,
        "regular": lambda: form.regular[0],
        "first": lambda: 1,
        "last": lambda: len(form.shape) - 1,
    }
    return means[level]()


def counted(dim: Any, rank: int, sign: str) -> Any:
    """Return dimensions from the front or from the back; the batch is always 0."""
    if isinstance(dim, tuple):
        return tuple(counted(one, rank, sign) if one else 0 for one in dim)
    return dim - rank if sign == "back" else dim


def spelled(row: Row, args: list[Any], given: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments, those given by position or by name, as the row spells them."""
    return ([*args, *given.values()], {}) if row["spelled"] == "position" else (args, dict(given))
