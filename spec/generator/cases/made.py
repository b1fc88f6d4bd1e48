"""Calls from covering arrays that make nested arrays: of sequences, of buffers, of what is cut out of dense arrays."""

from __future__ import annotations

import math
from itertools import accumulate
from typing import Any

import numpy as np

from ...numerics import NDArray
from ..author import Book
from ..batches import Outline, drawn, outline
from ..covering import Row
from ..draws import word
from .calls import add
from .meetings import WIDER, numbers
from .moved import counted, spelled

__all__ = ["carved", "from_buffer", "from_sequence", "misplaced", "picked"]


def _integers(values: Any) -> NDArray:
    return np.array(list(values), np.int64)


def from_sequence(book: Book, row: Row, key: str) -> None:
    """Add an array of arrays, in the layout and the dtype that are asked for."""
    x = drawn(outline(row), row["dtype"], key)
    kw: dict[str, Any] = {"layout": row["layout"]}
    if row["asked"] == "wider":
        kw["dtype"] = np.dtype(WIDER.get(row["dtype"], row["dtype"]))
    gradient = None if "dtype" in kw else "auto"
    add(book, row, [list(x)], "shape", "gradient", kw=kw, layouts=(row["layout"],), kind="nested", gradient=gradient)


def from_buffer(book: Book, row: Row, key: str) -> None:
    """Add components that lie in a buffer: rows along one dimension, or elements with strides."""
    form = outline(row)
    sizes = form.lengths if book.op == "nested_array_from_jagged" else [math.prod(shape) for shape in form.shapes]
    starts, extent = _places(row["described"], sizes)
    make = _jagged if book.op == "nested_array_from_jagged" else _strided
    args, kw = make(row, form, (starts, extent), key)
    layout = "jagged" if make is _jagged else "strided"
    add(book, row, args, "shape", "gradient", kw=kw, layouts=(layout,), kind="nested")


def misplaced(book: Book, row: Row, key: str) -> None:
    """Add a buffer in which one component does not lie."""
    form, number = outline(row), ("first", "middle", "last").index(row["component"])
    jagged = book.op == "nested_array_from_jagged"
    sizes = form.lengths if jagged else [math.prod(shape) for shape in form.shapes]
    starts, extent = _places("offsets", sizes)
    lengths = [list(shape) for shape in form.shapes]
    if row["wrong"] in ("beyond", "before"):
        starts[number] = extent - sizes[number] + 1 if row["wrong"] == "beyond" else -1
    else:
        lengths[number][0] = extent if row["wrong"] == "longer" else -1
        starts[number] = max(starts[number], 1)
    if jagged:
        regular = [size or 0 for size in form.shape[2:]]
        values = numbers("float32", (extent, *regular), key, "whole")
        args = [values, _integers([*starts, extent]), _integers(length[0] for length in lengths)]
    else:
        steps = np.array([_steps(shape, turned=False) for shape in form.shapes], np.int64)
        values = numbers("float32", (extent,), key, "whole")
        args = [values, np.array(lengths, np.int64), steps, _integers(starts)]
    clause = "NESTED_ARRAY_FROM_JAGGED-6" if jagged else "NESTED_ARRAY_FROM_STRIDED-4"
    if not jagged and row["wrong"] == "negative":
        clause = "NESTED_ARRAY_FROM_STRIDED-5"
    near = f"{book.op}/float32/{'holes' if jagged else 'offsets'}/1"
    book.error_inside(
        "axes-wrong", clause, "StructureError", near, args, layouts=("jagged",) if jagged else ("strided",)
    )


def _places(level: str, sizes: list[int]) -> tuple[list[int], int]:
    """Return where the components begin, and how long the buffer is."""
    if level == "holes":
        ends = list(accumulate((size + 2 for size in sizes), initial=1))
        return ends[:-1], ends[-1]
    if level == "unordered":
        ends = list(accumulate(sizes[::-1], initial=0))
        return ends[:-1][::-1], ends[-1]
    if level == "overlapping":
        return [number % 2 for number, _ in enumerate(sizes)], max(sizes, default=0) + 1
    ends = list(accumulate(sizes, initial=0))
    return ends[:-1], ends[-1]


def _jagged(row: Row, form: Outline, places: tuple[list[int], int], key: str) -> tuple[list[Any], dict[str, Any]]:
    starts, extent = places
    regular = [size or 0 for size in form.shape[1:]]
    values = numbers(row["dtype"], (*regular[: form.ragged - 1], extent, *regular[form.ragged :]), key, "fine")
    kw: dict[str, Any] = {"jagged_dim": form.ragged} if form.ragged > 1 else {}
    if row["described"] == "lengths":
        return [values], {"lengths": _integers(form.lengths), **kw}
    if row["described"] == "offsets":
        return [values, _integers([*starts, extent])], kw
    return [values, _integers([*starts, extent]), _integers(form.lengths)], kw


def _strided(row: Row, form: Outline, places: tuple[list[int], int], key: str) -> tuple[list[Any], dict[str, Any]]:
    starts, extent = places
    rank = len(form.shape) - 1
    values = numbers(row["dtype"], (extent,), key, "fine")
    sizes = np.array(form.shapes, np.int64).reshape(len(form.shapes), rank)
    if row["described"] == "offsets":
        return [values, sizes], {}
    turned = row["described"] == "lengths"  # the first dimension varies fastest
    steps = [_steps(shape, turned) for shape in form.shapes]
    given = [values, sizes, np.array(steps, np.int64).reshape(sizes.shape)]
    return (given, {}) if turned else ([*given, _integers(starts)], {})


def _steps(shape: tuple[int, ...], turned: bool) -> list[int]:
    """Return how far apart neighbours are along each dimension, where the last one varies fastest, or the first."""
    if turned:
        return [math.prod(shape[:dim]) for dim in range(len(shape))]
    return [math.prod(shape[dim + 1 :]) for dim in range(len(shape))]


def carved(book: Book, row: Row, key: str) -> None:
    """Add stretches along one dimension of a dense array."""
    form = outline(row)
    dim, longest = form.ragged, max(form.lengths, default=0)
    size = longest + 2
    shape = [1 if n is None else n for n in form.shape]
    block = numbers(row["dtype"], (*shape[:dim], size, *shape[dim + 1 :]), f"{key} x", "fine")
    last = [size - length for length in form.lengths]
    begins: Any = {
        "vector": _integers(word(key, number) % (end + 1) for number, end in enumerate(last)),
        "number": 1,
        "edges": _integers(end * (number % 2) for number, end in enumerate(last)),
    }[row["begins"]]
    extent = _integers(form.lengths) if row["extent"] == "vector" else longest
    given = {"dim": counted(dim, len(shape), row["sign"]), "start": begins, "length": extent}
    args, kw = spelled(row, [block], given)
    kw["layout"] = row["layout"]
    add(book, row, args, "shape", "gradient", kw=kw, layouts=(row["layout"],), kind="nested")


def picked(book: Book, row: Row, key: str) -> None:
    """Add the elements of each run of a dense array where a mask holds, which may be smaller than the array."""
    form = outline(row)
    shape = tuple(size or 0 for size in form.shape)
    masks = {"whole": shape, "row": shape[-1:], "slice": (1, *shape[1:]), "point": ()}[row["decides"]]
    args = [numbers(row["dtype"], shape, f"{key} x", "fine"), numbers("bool", masks, f"{key} m", "whole")]
    add(book, row, args, "shape", "gradient", layouts=("jagged",), kind="nested")
