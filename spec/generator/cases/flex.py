"""Cases of attention with functions of pairs, which are given by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...encoding import Components
from ..author import Book
from ..draws import floats, integers, nest
from .inputs import INF, NAN

OP, MASK = "flex_attention", "create_nested_block_mask"
LENGTHS = (3, 0, 2)
_ALONE = {"block_mask": "alone"}  # which lets queries and keys of the same lengths meet


def books() -> list[Book]:
    """Return the books of these operators."""
    book, masks = Book(OP, zeros="either"), Book(MASK)
    _values(book)
    _sums(book)
    _edges(book)
    _errors(book)
    _blocks(masks)
    return [book, masks]


def _rows(key: str, lengths: tuple[int, ...] = LENGTHS, heads: int = 2, dtype: str = "float32") -> Components:
    return floats(dtype, [(heads, length, 2) for length in lengths], key, 2, 0.25)


def _three(key: str, keys: tuple[int, ...] = LENGTHS, heads: int = 2, dtype: str = "float32") -> list[Any]:
    """Return queries, and keys and values, of perhaps fewer heads."""
    return [_rows(f"{key} q", dtype=dtype), *[_rows(f"{key} {x}", keys, heads, dtype) for x in "kv"]]


def _values(book: Book) -> None:
    book.value("float32/plain", "1 8", _three("plain"), cmp="bound")
    for name in ("alibi", "causal"):
        clauses = "1 2" if name == "alibi" else "1 4"
        book.value(f"float32/{name}", clauses, _three(name), cmp="bound", kw={"score_mod": name})
    for name in ("causal", "near", "checkered", "nothing"):
        clauses = {"checkered": "2 3", "nothing": "3 9"}.get(name, "3")
        book.value(f"float32/mask-{name}", clauses, _three(name, (2, 1, 3)), cmp="bound", kw={"block_mask": name})
    both = {"score_mod": "alibi", "block_mask": "near", "scale": 0.5, "enable_gqa": True}
    book.value("float32/both", "1 2 3 5", _three("both", (4, 2, 1), heads=1), cmp="bound", kw=both)
    for dtype in ("float16", "float64"):
        kw = {"score_mod": "alibi", "block_mask": "causal"}
        book.value(f"{dtype}/both", "1 3 8", _three(dtype, dtype=dtype), cmp="bound", kw=kw)
    many = [floats("float32", [(2, 2, n, 1) for n in (1, 2)], f"many {x}", 3, 0.25) for x in "qkv"]
    book.value("float32/two-axes-of-heads", "2 7", many, cmp="bound", kw={"score_mod": "alibi"})
    lead = [floats("float32", [(n, 2, 1) for n in (1, 2)], f"lead {x}", 1, 0.25) for x in "qkv"]
    book.value("float32/ragged-heads", "2 7", lead, cmp="bound", kw={"score_mod": "alibi"})


def _sums(book: Book) -> None:
    """A query that meets one key has its score as the log-sum, and its value as the result."""
    single = [integers("float32", [(2, n, 2) for n in lengths], f"one {x}", ragged=2)
              for x, lengths in zip("qkv", ((2, 1, 1), (1, 0, 1), (1, 0, 1)), strict=True)]  # fmt: skip
    for kw in ({}, {"score_mod": "marked"}, {"score_mod": "marked", "block_mask": "checkered"}):
        options = {"scale": 2.0, "return_lse": True, **kw}
        book.value("float32/log-sums", "1 2 6 7 9", single, kw=options, several=True, zeros="either")
    both = {"scale": 2.0, "score_mod": "marked", "block_mask": "checkered", "return_aux": (True, True)}
    book.value("float32/besides", "7 9 17 18", single, kw=both, several=True, zeros="either")
    # So far apart that the greatest score has all the weight; the third component has scores of -inf, +inf and NaN.
    q = nest("float32", [[[16.0], [-16.0]], np.zeros((0, 1)), [[-INF], [INF], [NAN]]], 1)
    k = nest("float32", [[[16.0], [-8.0], [32.0]], [[1.0]], [[1.0], [2.0]]], 1)
    v = nest("float32", [[[1.0], [2.0], [3.0]], [[4.0]], [[5.0], [6.0]]], 1)
    for asked in ((False, True), (True, True)):
        book.value("float32/greatest", "17", [q, k, v], kw={"return_aux": asked}, several=True, gradient=None)
    book.value("float32/nothing-besides", "17", single, kw={**both, "return_aux": (False, False)}, several=True)


def _edges(book: Book) -> None:
    """Scores of 0, so that weights are equal and all can be worked out by hand."""
    level = [nest("float32", [*np.zeros((2, 2, 2, 1))], 2)] * 2
    values = integers("float32", [(2, 2, 1)] * 2, "level v", ragged=2)
    slopes = np.zeros(2, "float32")
    book.value("float32/captured", "2 11", [*level, values, slopes])
    book.value("float32/captured", "3 11", [*level, values, slopes], kw={"block_mask": "checkered"})
    # The first query meets its own key alone, in the last of which there is a NaN: its gradient has none either.
    two = [nest("float32", [[[0.0], [0.0]]], 1), nest("float32", [[[1.0], [NAN]]], 1)]
    last = nest("float32", [[[2.0], [-INF]]], 1)
    first = {"cotangent": nest("float32", [[[1.0], [0.0]]], 1), "unspecified_gradient": ((1,),), "tracked": (0,)}
    for kw in ({"block_mask": "causal"}, {"score_mod": "causal"}):
        hand: Any = [[[[0.0], [0.0]]]]
        clauses = "3 10" if "block_mask" in kw else "4 10"
        book.value("float32/left-out", clauses, [*two, last], kw=kw, gradient=hand, **first)
    # The same of a value alone; and scores that are -inf of themselves, which are not left out.
    two[1] = nest("float32", [[[1.0], [1.0]]], 1)
    hand = [[[[0.0], [0.0]]]]
    book.value("float32/left-out", "4 10", [*two, last], kw={"score_mod": "causal"}, gradient=hand, **first)
    low = nest("float32", [[[-INF]]], 1), nest("float32", [[[1.0], [2.0]]], 1), nest("float32", [[[2.0], [6.0]]], 1)
    for kw in ({"score_mod": "marked"}, {}):
        book.value("float32/all-scores-low", "4" if kw else "1", low, kw=kw, gradient=None)
    neither = {"score_mod": "causal", "block_mask": "checkered"}
    book.value("float32/nothing-left", "3 4 9", _three("neither"), cmp="bound", kw=neither)
    book.value("float32/no-keys", "9", _three("no keys", (0, 0, 0)), kw={"score_mod": "alibi"}, zeros="signed")
    nothing = nest("float32", [], shape=(0, 2, None, 2))
    book.value("float32/batch0", "1 7", [nothing] * 3, kw={"score_mod": "alibi", "block_mask": "causal"})


def _errors(book: Book) -> None:
    refuse, inside, near = book.error, book.error_inside, f"{OP}/float32/plain/1"
    q, k, v = _three("plain")
    inside("rows-of-values", "12", "StructureError", near, [q, k, _rows("v", (3, 1, 2))])
    refuse("heads", "12", "StructureError", near, [q, _rows("k", heads=3), _rows("v", heads=3)])
    inside("shape", "13", "ShapeError", near, [q, k, v], kw={"score_mod": "first"})
    inside("dtype", "14", "DTypeError", near, [q, k, v], kw={"score_mod": "compared"})
    refuse("integers", "14", "DTypeError", near, [integers("int32", [(2, n, 2) for n in LENGTHS], "w", ragged=2)] * 3)
    inside("no-array", "15", "ArgumentError", near, [q, k, v], kw={"score_mod": "forgotten"})
    inside("mask-of-others", "16", "StructureError", near, [q, *[_rows(x, (3, 1, 2)) for x in "kv"]], kw=_ALONE)
    refuse("scale", "15", "ArgumentError", near, [q, k, v], kw={"scale": NAN})
    refuse("both", "19", "ArgumentError", near, [q, k, v], kw={"return_lse": True, "return_aux": (True, False)})


def _blocks(book: Book) -> None:
    q, k = _rows("blocks q", (5, 0, 1, 2)), _rows("blocks k", (3, 2, 4, 0), 1)
    one = ""
    for name in ("causal", "near", "checkered", "nothing"):
        one = book.value("blocks", "1 2 4 5", [name, q, k], kw={"BLOCK_SIZE": 2})
    book.value("blocks", "1 2", ["near", q, k], kw={"BLOCK_SIZE": (1, 3)})
    book.value("blocks", "1 3", ["near", q], kw={"BLOCK_SIZE": 2})
    book.value("blocks", "1 2", ["causal", q, k])
    few, dense = _rows("blocks few", (3, 0), 1), np.zeros((2, 1, 2, 1), "float32")
    for other in (dense, dense[:1], dense[0], dense[0, 0]):
        book.value("dense", "4 9", ["near", few, other], kw={"BLOCK_SIZE": 2})
    book.value("dense", "4 9", ["checkered", dense, few], kw={"BLOCK_SIZE": 2})
    nothing = nest("float32", [], shape=(0, 2, None, 2))
    book.value("batch0", "4 5", ["causal", nothing])
    book.error_inside("components", "6", "StructureError", one, ["causal", q, _rows("k", (3, 2), 1)])
    book.error("vectors", "6", "StructureError", one, ["causal", floats("float32", [(2,), (1,)], "vectors", 1)])
    for name, wrong in (("slices", dense[[0, 1, 0]]), ("dense-vector", dense[0, 0, 0]), ("rank", dense[None])):
        book.error_inside(name, "10", "ShapeError", one, ["causal", few, wrong])
    book.error("block-size", "7", "ArgumentError", one, ["causal", q, k], kw={"BLOCK_SIZE": 0})
    book.error_inside("numbers", "8", "DTypeError", one, ["distance", q, k], kw={"BLOCK_SIZE": 2})
