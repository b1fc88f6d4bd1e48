"""Calls from covering arrays that give components another shape: without ones, in factors, in a shape of its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..author import BOTH, Book
from ..batches import Outline, drawn, outline
from ..covering import Row
from .calls import add, refusal
from .moved import counted, dim_of, spelled

__all__ = ["factored", "reshaped", "squeezed"]


def squeezed(book: Book, row: Row, key: str) -> None:
    """Add that a dimension of size 1 goes; of another size, that this is refused."""
    form = outline(row)
    dim = dim_of(row["dim"], form)
    written: Any = counted(dim, len(form.shape), row["sign"])
    how = {**row, "spelled": "keyword" if row["spelled"] == "tuple" else row["spelled"]}
    given = {"dim": (written,) if row["spelled"] == "tuple" else written}
    args, kw = spelled(how, [drawn(form, row["dtype"], key)], given)
    _along_regular(book, row, form, dim, "DimensionError" if form.shape[dim] in (None, 1) else "ShapeError", args, kw)


def factored(book: Book, row: Row, key: str) -> None:
    """Add that a dimension becomes several; where their sizes are of another product, that this is refused."""
    form = outline(row)
    dim = dim_of(row["dim"], form)
    size = form.size(dim, 2) if dim else len(form.shapes)
    given = {"dim": counted(dim, len(form.shape), row["sign"]), "sizes": _factors(row["factors"], size)}
    args, kw = spelled(row, [drawn(form, row["dtype"], key)], given)
    wrong = row["factors"] == "misfit" and dim > 0 and form.shape[dim] is not None
    if wrong:
        near = f"{book.op}/float32/ragged/1"
        book.error_inside("axes-sizes", refusal(book.op, "ShapeError"), "ShapeError", near, args, kw=kw)
        return
    _along_regular(book, row, form, dim, "DimensionError", args, kw, fits=row["factors"] != "misfit")


def _along_regular(
    book: Book, row: Row, form: Outline, dim: int, kind: str, args: Any, kw: Any, fits: bool = True
) -> None:
    """Add a call along a regular dimension, or that along this one it is refused."""
    near = f"{book.op}/float32/ragged/1"
    irregular = form.able if dim == 0 else form.layouts(dim)[0]
    if irregular:
        clause = refusal(book.op, "DimensionError")
        book.error_inside("axes", clause, "DimensionError", near, args, kw=kw, layouts=irregular)
    elif kind == "ShapeError":
        book.error_inside("axes-size", refusal(book.op, kind), kind, near, args, kw=kw)
    elif form.shape[dim] is not None and fits:
        add(book, row, args, "shape", "gradient", kw=kw)


def _factors(level: str, size: int) -> tuple[int, ...]:
    """Return sizes whose product is the size of a dimension, of which one may be left open."""
    low = next((n for n in (2, 3, 5, 7) if size % n == 0), 1)
    two = (low, size // low)
    return {
        "two": two,
        "three": (1, *two[::-1]),
        "first": (-1, low),
        "last": (low, -1),
        "misfit": (low, size // low + 1),
    }[level]


def reshaped(book: Book, row: Row, key: str) -> None:
    """Add components in another shape; where their elements do not fit it, that this is refused."""
    form = outline(row)
    x = drawn(form, row["dtype"], f"{key} x")
    target = _target(row["target"], form)
    pairs = list(zip(target.shapes, form.shapes, strict=True))
    if not pairs and book.op != "reshape_as":  # an irregular dimension keeps its size; of another array it has any
        pairs = [(_known(target), _known(form))]
    wrong = any(math.prod(new) != math.prod(old) for new, old in pairs)
    if wrong and not form.shapes:
        return  # nothing says that there is no component which fits
    args: list[Any] = [x, _written(row["counted"], form, target)]
    if book.op == "reshape_as":
        args = [x, drawn(target, "int8", f"{key} y")]
    if wrong:
        kind, near = "ShapeError", f"{book.op}/float32/{'ragged' if book.op == 'reshape_as' else 'split'}/1"
        clause = "RESHAPE-7" if book.op == "reshape" else refusal(book.op, kind)  # on sizes, and not on the batch
        book.error_inside("axes", clause, kind, near, args)
    else:
        add(book, row, args, "shape", "gradient", kind="nested", **_viewed(form, target) if book.op == "view" else {})


def _viewed(form: Outline, target: Outline) -> dict[str, Any]:
    """Return where a view is due though elements go to the other side of the ragged dimension.

    Those of one component do where it is packed; those of several stay in place in the strided layout alone: VIEW-5.
    """
    at = form.ragged
    halves = [(one.shape[1:at], one.shape[at + 1 :]) for one in (form, target)]
    if form.able != BOTH or len({tuple(map(_product, pair)) for pair in halves}) == 1:
        return {}
    several = sum(map(bool, map(math.prod, form.shapes))) > 1
    return {"layouts": BOTH[:1]} if several else {"placements": ("packed",)}


def _product(sizes: Sequence[int | None]) -> int:
    return math.prod(size for size in sizes if size is not None)


def _known(form: Outline) -> tuple[int, ...]:
    """Return the regular sizes, which are all that is known of no components."""
    return tuple(size for size in form.shape[1:] if size is not None)


def _target(level: str, form: Outline) -> Outline:
    """Return the outline that is asked for: regular sizes change, irregular dimensions stay where they are."""
    sizes = list(form.shape[1:])
    cut = max([place for place, size in enumerate(sizes) if size is None], default=0) + 1
    head, tail = sizes[:cut], sizes[cut:]
    if level == "turned":
        regular = iter([size for size in sizes if size is not None][::-1])
        new = [None if size is None else next(regular) for size in sizes]
    elif level == "split":
        new = [*sizes[:-1], *_factors("two", sizes[-1] or 0)]
    elif level == "merged":
        new = [*head, math.prod(size or 0 for size in tail)]
    else:
        new = [*sizes, {"ones": 1, "misfit": 2}[level]] if level != "same" else sizes
    shapes = [tuple(shape[d] if size is None else size for d, size in enumerate(new)) for shape in form.shapes]
    return Outline(tuple(shapes), (form.shape[0], *new), form.ragged)


def _written(level: str, form: Outline, target: Outline) -> tuple[int, ...]:
    """Return a shape as an argument: -1 where a dimension is irregular, or wherever its size stays."""
    stays = [d < len(form.shape) and form.shape[d] == size for d, size in enumerate(target.shape)]
    return tuple(
        -1 if size is None or (level == "minus" and keeps) else size
        for size, keeps in zip(target.shape, stays, strict=True)
    )
