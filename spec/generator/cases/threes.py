"""Calls from covering arrays of `where`, `masked_fill` and `clamp`: what decides, what is chosen, and what misfits."""

from __future__ import annotations

from typing import Any

from ..author import Book
from ..batches import Outline, drawn, outline
from ..covering import Row
from .calls import add, refusal
from .meetings import dense_shape, misfit, misfit_shape, numbers, second

__all__ = ["between", "choose", "fill", "miss_of_three"]


def _deciding(row: Row, form: Outline, key: str) -> Any:
    """Return the bools of a row: nested, or dense."""
    if row["decides"] in ("nested", "alone"):
        return drawn(form, "bool", key)
    if row["decides"] == "thin":
        return drawn(form.resized(form.regular[0], 1), "bool", key)
    return numbers("bool", dense_shape(row["decides"], form), key, "whole")


def choose(book: Book, row: Row, key: str) -> None:
    """Add a choice between two operands."""
    form = outline(row)
    alone = row["decides"] == "alone"
    x: Any = numbers(row["dtype"], dense_shape("slices", form), f"{key} x", "fine")
    x = x if alone else drawn(form, row["dtype"], f"{key} x", "fine")
    y = second(row, form, f"{key} y", "fine")
    pair = [x, y] if row["side"] == "right" else [y, x]
    own = 1 if row["side"] == "right" else 2
    tracked = {"both": None, "self": (own,), "other": (3 - own,)}[row["tracked"]]
    add(book, row, [_deciding(row, form, f"{key} c"), *pair], "dtype", "gradient", tracked=tracked, kind="nested")


def fill(book: Book, row: Row, key: str) -> None:
    """Add a call that writes one number where a mask holds."""
    form = outline(row)
    x = drawn(form, row["dtype"], f"{key} x", "fine")
    value = {"f": -2.5, "b": True}.get(x.dtype.kind, 7)
    add(book, row, [x, _deciding(row, form, f"{key} m"), value], "dtype", "gradient", kind="nested")


def between(book: Book, row: Row, key: str) -> None:
    """Add a call with limits: one of them may be anything that meets, the other is a number."""
    form = outline(row)
    x = drawn(form, row["dtype"], f"{key} x", "fine")
    end = second(row, form, f"{key} y", "fine")
    whole = x.dtype.kind != "f"
    lowest, highest = (-3, 3) if whole else (-1.75, 1.75)
    limits = {
        "both": {"min": lowest, "max": end},
        "low": {"min": end},
        "high": {"max": end},
        "crossed": {"min": highest, "max": end},
    }[row["limits"]]
    args = [x, *limits.values()] if "min" in limits and row["dtype"] != "float16" else [x]
    kw = {} if len(args) > 1 else limits
    add(book, row, args, "dtype", "gradient", kw=kw, kind="nested", zeros="either")


def miss_of_three(book: Book, row: Row, key: str) -> None:
    """Add a call of three operands of which one almost fits."""
    form, place = outline(row), ("first", "second", "third").index(row["position"])
    dtypes = {"where": ("bool", "float32", "float32"), "masked_fill": ("float32", "bool")}
    args: list[Any] = []
    for number, dtype in enumerate(dtypes.get(book.op, ("float32",) * 3)):
        own = misfit(row["misfit"], form) if number == place else form
        shape = () if own is not None else misfit_shape(row["misfit"], form)
        name = f"{key} {number}"
        args.append(drawn(own, dtype, name) if own is not None else numbers(dtype, shape, name, "whole"))
    if book.op == "masked_fill":
        args.append(7.0)
    nested = misfit(row["misfit"], form) is not None
    clause = "BROADCASTING-6" if row["misfit"] == "deeper" else "BROADCASTING-5"
    kind = "StructureError" if nested else "ShapeError"
    near = f"{book.op}/float32/ragged/1"
    book.error_inside("axes", refusal(book.op, kind) if nested else clause, kind, near, args)
