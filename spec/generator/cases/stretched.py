"""Operands that do not fit, though NumPy would broadcast every pair of their components: some length is 1."""

from __future__ import annotations

from typing import Any

from ..author import Book
from ..batches import Outline, drawn, outline
from ..covering import Row
from .calls import refusal
from .meetings import NEAR, numbers

__all__ = ["stretch"]


def stretch(book: Book, row: Row, key: str) -> None:
    """Add a call that is refused, since an irregular dimension never stretches."""
    form = outline(row)
    x = form.longer(_lengths(row["misfit"], form)) if row["misfit"] != "ones" else form
    left = drawn(x, "float32", f"{key} x", "whole", 1, 4)
    right, kind = _other(row["misfit"], x, f"{key} y")
    args = [left, right] if row["side"] == "right" else [right, left]
    clause = refusal(book.op, kind) if kind == "StructureError" else "BROADCASTING-5"
    near = f"{book.op}/{NEAR.get(book.op, 'float32')}/ragged/1"
    layouts = ("jagged",) if row["misfit"] == "ones" else None  # all 1 long is regular in the strided layout
    book.error_inside("axes-stretched", clause, kind, near, args, layouts=layouts)


def _lengths(level: str, form: Outline) -> list[int]:
    """Return the lengths of the operand that there is something wrong beside."""
    numbers = range(len(form.shapes))
    if level == "almost":
        return [2 - (number == numbers[-1]) for number in numbers]
    if level == "late":
        return [*form.lengths[:-1], 3]
    longer = 3 if level == "swapped" else form.shapes[0][1]
    return [longer if number % 2 else 1 for number in numbers]


def _other(level: str, form: Outline, key: str) -> tuple[Any, str]:
    """Return the operand that does not fit, and how it is refused."""
    lengths, count = form.lengths, len(form.shapes)
    if level == "almost":
        shape = [1 if size is None else size for size in form.shape]
        shape[form.ragged] = lengths[0]
        return numbers("float32", tuple(shape), key, "whole", 1, 4), "ShapeError"
    if level == "elsewhere":
        shapes = tuple((shape[1], shape[0], *shape[2:]) for shape in form.shapes)
        other = Outline(shapes, (count, form.shape[2], None, *form.shape[3:]), 2)
    else:
        other = form.longer({
            "swapped": [lengths[number ^ 1] if number ^ 1 < count else lengths[number] for number in range(count)],
            "ones": [1] * count,
            "late": [*lengths[:-1], 1],
        }[level])  # fmt: skip
    return drawn(other, "float32", key, "whole", 1, 4), "StructureError"
