"""A call that a row asks for, as a case: the clauses that it shows, its cotangent, and who requires grad."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...table import load_table
from ..author import Book
from ..covering import Row

__all__ = ["add", "clauses", "refusal"]


def clauses(op: str, *classes: str) -> str:
    """Return the first clause of the operator of each class that it has: what an ordinary call shows."""
    found = [next((one.id for one in load_table()[op].clauses if one.kind_class == name), "") for name in classes]
    return " ".join(one for one in found if one)


def refusal(op: str, kind: str) -> str:
    """Return the first clause of the operator that refuses with this kind of error."""
    return next(one.id for one in load_table()[op].clauses if one.error == kind)


def add(book: Book, row: Row, args: Sequence[Any], *classes: str, value: str | None = None, **options: Any) -> None:
    """Add a call that is answered; the row says which cotangent comes in.

    ``value`` is the clause on its value, where the operator's first one is about other calls.
    """
    shown = f"{value or clauses(book.op, 'value')} {clauses(book.op, *classes)}"
    book.value(f"{row['dtype']}/axes", shown, args, drawn=row.get("cotangent", "whole"), **options)
