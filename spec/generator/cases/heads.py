"""Cases of attention between projections."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...encoding import Components
from ...numerics import NDArray
from ..author import Book
from ..draws import dense, floats, nest

OP = "multi_head_attention"
LENGTHS = (2, 0, 1)


def books() -> list[Book]:
    """Return the book of this operator."""
    book = Book(OP, zeros="either")
    plain = _values(book)
    _edges(book)
    _errors(book, plain)
    return [book]


def _rows(key: str, lengths: tuple[int, ...] = LENGTHS, width: int = 2, dtype: str = "float32") -> Components:
    return floats(dtype, [(length, width) for length in lengths], f"mha {key}", 1, 0.25)


def _matrix(key: str, *shape: int, dtype: str = "float32") -> NDArray:
    return dense(floats(dtype, [shape], f"mha {key}", None, 0.25))


def _weights(dtype: str = "float32") -> list[NDArray]:
    """Return both projections, each with a bias."""
    shapes = ("in", 6, 2), ("in bias", 6), ("out", 2, 2), ("out bias", 2)
    return [_matrix(key, *shape, dtype=dtype) for key, *shape in shapes]


def _values(book: Book) -> str:
    """Add what is no edge; return the id of the plainest."""
    x, y, given = _rows("x"), _rows("y", (1, 2, 3)), _weights()
    plain = book.value("float32/two-heads", "1 5", [x, y, y, 2, *given], cmp="bound")
    whole = [_rows("wide", dtype="float64")] * 3
    book.value("float64/one-head", "1 5", [*whole, 1, *_weights("float64")], cmp="bound")
    book.value("float32/no-bias", "1", [x, x, x, 2, given[0], None, given[2]], cmp="bound")
    book.value("float32/causal", "3", [x, y, y, 1, *given], cmp="bound", kw={"is_causal": True})
    mask = np.array([[True, False]])
    book.value("float32/mask", "3", [x, *[_matrix("regular", 3, 2, 2)] * 2, 2, *given, mask], cmp="bound")
    apart = {f"{name}_proj_weight": _matrix(name, 2, width) for name, width in zip("qkv", (2, 3, 1), strict=True)}
    others = [x, _rows("k", (1, 2, 3), 3), _rows("v", (1, 2, 3), 1)]
    book.value("float32/apart", "2", [*others, 2, None, *given[1:]], cmp="bound", kw=apart)
    return plain


def _edges(book: Book) -> None:
    """Queries of zeros meet all keys alike, so that all can be worked out by hand."""
    eye = np.eye(2, dtype="float32")
    same = np.concatenate([0 * eye, eye, eye])
    x = nest("float32", [[[2.0, 4.0], [6.0, 0.0]], [[1.0, 3.0]]], 1)
    book.value("float32/mean-of-all", "1", [x, x, x, 2, same, None, eye], gradient=None)
    none = nest("float32", [np.zeros((0, 2))] * 2, 1)
    bias = np.array([3.0, 5.0], "float32")
    book.value("float32/no-keys", "6", [x, none, none, 2, same, None, eye, bias], gradient=None)
    for average in (True, False):
        kw = {"need_weights": True, "average_attn_weights": average}
        book.value("float32/weights", "4 6", [x, _rows("y", (1, 0)), _rows("y", (1, 0)), 2, same, None, eye],
                   kw=kw, several=True, gradient=None)  # fmt: skip
    nothing = nest("float32", [], shape=(0, None, 2))
    book.value("float32/batch0", "5", [nothing] * 3 + [2, same, None, eye, bias])


def _errors(book: Book, plain: str) -> None:
    x, given = _rows("x"), _weights()
    book.error("heads", "7", "ArgumentError", plain, [x, x, x, 3, *given])
    book.error("heads", "7", "ArgumentError", plain, [x, x, x, 0, *given])
    book.error("no-projection", "7", "ArgumentError", plain, [x, x, x, 2, None, *given[1:]])
    two: dict[str, Any] = {"q_proj_weight": given[2]}
    book.error("two-projections", "7", "ArgumentError", plain, [x, x, x, 2, *given], kw=two)
    book.error("projection", "8", "ShapeError", plain, [x, x, x, 2, given[0][:4], *given[1:]])
    book.error("bias", "8", "ShapeError", plain, [x, x, x, 2, given[0], given[1][:2], *given[2:]])
    book.error("out", "8", "ShapeError", plain, [x, x, x, 2, *given[:2], given[0], given[3]])
    flat = floats("float32", [(n,) for n in (2, 1)], "mha flat", 1)
    book.error("flat", "9", "StructureError", plain, [flat, flat, flat, 1, *given])
