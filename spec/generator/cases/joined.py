"""Calls from covering arrays that cut one array into several, and that make one of several."""

from __future__ import annotations

from typing import Any

from ..author import Book
from ..batches import Outline, drawn, outline
from ..covering import Row
from .calls import add, refusal
from .meetings import second_dtype
from .moved import counted, dim_of, spelled

__all__ = ["cut", "join"]

COUNTS = {"two": 2, "one": 1, "three": 3}
FITS = "alike"


def cut(book: Book, row: Row, key: str) -> None:
    """Add a cut into pieces, or that it is refused."""
    form = outline(row)
    dim, x = dim_of(row["dim"], form), drawn(form, row["dtype"], key)
    size = form.size(dim, 0) if dim else len(form.shapes)
    name, pieces = "chunks" if book.op == "chunk" else "sizes", _pieces(row["pieces"], size)
    args, kw = spelled(row, [x], {name: pieces, "dim": counted(dim, len(form.shape), row["sign"])})
    fits = form.size(dim, -1) >= 0 if dim else True
    if isinstance(pieces, tuple) and not (fits and sum(pieces) == size):
        clause, near = refusal(book.op, "ShapeError"), "split/float32/inner-sizes/1"
        book.error_inside("axes-sum", clause, "ShapeError", near, args, kw=kw)
        return
    value = "SPLIT-2" if book.op == "split" and isinstance(pieces, int) else None
    refused, accepted = form.layouts(*([dim] if dim else []))
    if isinstance(pieces, tuple) or dim == 0 or form.shape[dim] is not None:
        add(book, row, args, "shape", "gradient", value=value, kw=kw, layouts=(*refused, *accepted))
        return
    if not refused:  # one size after all, as the strided layout has it
        x.shape = (*x.shape[:dim], size, *x.shape[dim + 1 :])
        add(book, row, args, "shape", "gradient", value=value, kw=kw)
        return
    near = f"{book.op}/float32/inner/1"
    book.error_inside("axes", refusal(book.op, "DimensionError"), "DimensionError", near, args, kw=kw, layouts=refused)


def _pieces(level: str, size: int) -> Any:
    if level == "uneven":
        return (size - 1, 0, 1) if size else (0, 0)
    return (size, 1) if level == "total" else size + 2 if level == "beyond" else COUNTS[level]


def join(book: Book, row: Row, key: str) -> None:
    """Add a call that joins arrays, of which one may differ; what cannot be joined so is refused."""
    form, last = outline(row), COUNTS[row["arrays"]] - 1
    dim = dim_of(row["dim"], form)
    forms = [form] * (last + 1)
    forms[{"first": 0, "middle": 1}.get(row.get("odd", ""), last)] = _other(row, form, dim)
    dtypes = [row["dtype"]] * last + [second_dtype(row) if last else row["dtype"]]
    arrays = [drawn(one, dtype, f"{key} {n}") for n, (one, dtype) in enumerate(zip(forms, dtypes, strict=True))]
    args, kw = spelled(row, [arrays], {"dim": counted(dim, len(form.shape) + (book.op == "stack"), row["sign"])})
    near = f"{book.op}/float32/{'ragged' if book.op == 'stack' else 'batch'}/1"
    if book.op == "stack" and dim == 0:
        book.error_inside("axes-batch", refusal("stack", "DimensionError"), "DimensionError", near, args, kw=kw)
    elif row["unlike"] not in _joins(book.op, dim, form) and any(one != form for one in forms):
        clause = refusal(book.op, "StructureError")
        book.error_inside("axes-unlike", clause, "StructureError", near, args, kw=kw)
    else:
        value = "CAT-2" if book.op == "cat" and dim else None
        add(book, row, args, "dtype", "gradient", value=value, kw=kw, kind="nested")


def _joins(op: str, dim: int, form: Outline) -> tuple[str, ...]:
    """Return in what one of the arrays may differ."""
    if op == "stack":
        return (FITS,)
    if dim == 0:
        return (FITS, "along", "across", "lengths", "fewer")
    return (FITS, "along", "lengths") if dim == form.ragged and form.shape[dim] is None else (FITS, "along")


def _other(row: Row, form: Outline, dim: int) -> Outline:
    """Return the outline of the array that differs."""
    unlike, lengths = row["unlike"], form.lengths
    if unlike == "deeper":
        return Outline(tuple((*shape, 1) for shape in form.shapes), (*form.shape, 1), form.ragged)
    if unlike == "fewer" or (unlike == "along" and dim == 0):
        return form.longer(lengths[: len(lengths) // 2])
    if unlike == "across":
        other = next(one for one in form.regular[::-1] if one != dim)
        return form.resized(other, form.shape[other] + 1)  # type: ignore[operator]
    if unlike == "lengths":
        return form.longer([*lengths[:-1], lengths[-1] + 1])
    if unlike == "along" and dim == form.ragged and form.shape[dim] is None:
        return form.longer([length + number % 2 + 1 for number, length in enumerate(lengths)])
    return form.resized(dim, form.shape[dim] + 1) if unlike == "along" else form  # type: ignore[operator]
