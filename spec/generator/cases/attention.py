"""Cases of the attention chapter."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...encoding import Components
from ...numerics import NDArray
from ..author import Book
from ..draws import dense, floats, integers, nest
from . import flex, transformer
from . import heads as of_heads
from .inputs import INF, NAN

OP = "scaled_dot_product_attention"
LENGTHS = (2, 0, 1)
# What jagged operands can and cannot express: without a ragged dimension of queries the result is dense.
GONE = {"jagged": "dense", "strided": "nested"}


def books() -> list[Book]:
    """Return the books of this chapter."""
    book = Book(OP, zeros="either")
    plain = _values(book)
    _masks(book)
    _edges(book)
    _nothing_to_meet(book)
    _errors(book, plain)
    return [book, *flex.books(), *of_heads.books(), *transformer.books()]


def _rows(key: str, lengths: tuple[int, ...] = LENGTHS, heads: int = 2, width: int = 4, dtype: str = "float32") -> Any:
    """Return components (heads, *, width) of floats between -1 and 1."""
    return floats(dtype, [(heads, length, width) for length in lengths], key, 2, 0.25)


def _three(key: str, keys: tuple[int, ...] = LENGTHS, **sizes: Any) -> list[Any]:
    """Return queries, keys and values."""
    return [_rows(f"{key} q", **sizes), _rows(f"{key} k", keys, **sizes), _rows(f"{key} v", keys, **sizes)]


def _dense(shape: tuple[int, ...], key: str, dtype: str = "float32") -> NDArray:
    return dense(floats(dtype, [shape], key, None, 0.25))


def _values(book: Book) -> str:
    """Add what is no edge; return the id of the plainest."""
    plain = book.value("float32/heads", "1 2 8", _three("heads"), cmp="bound")
    for dtype in ("float16", "float64"):
        book.value(f"{dtype}/heads", "1 8", _three(dtype, dtype=dtype), cmp="bound")
    for dtype in ("float16", "float32", "float64"):
        long = [_rows(f"long {dtype} {x}", (1, n), 1, 3, dtype) for x, n in zip("qkv", (1, 33, 33), strict=True)]
        book.value(f"{dtype}/long", "1 8", long, cmp="bound", gradient=None)
    level = [nest("float32", [np.zeros((1, n, 2)) for n in (2, 0, 1)], 2)]
    whole = [integers("float32", [(1, n, 2) for n in (2, 4, 1)], f"level {x}", ragged=2) for x in "kv"]
    book.value("float32/level", "1 7", [*level, *whole])
    book.value("float32/cross", "1 9 10", _three("cross", (3, 2, 0)), cmp="bound")
    wide = [_rows("wide q"), _rows("wide k", (1, 2, 3)), _rows("wide v", (1, 2, 3), width=3)]
    book.value("float32/value-width", "1 7", wide, cmp="bound")
    single = [floats("float32", [(n, 3) for n in LENGTHS], f"single {x}", 1, 0.25) for x in "qkv"]
    book.value("float32/no-heads", "1 5", single, cmp="bound")
    many = [floats("float32", [(2, 1, n, 2) for n in (1, 2)], f"many {x}", 3, 0.25) for x in "qkv"]
    book.value("float32/two-axes-of-heads", "1 5", many, cmp="bound")
    lead = [floats("float32", [(n, 2, 2) for n in LENGTHS], f"lead {x}", 1, 0.25) for x in "qkv"]
    book.value("float32/ragged-heads", "1 5 7", lead, cmp="bound")
    stretched = [_rows("stretched q", heads=1, width=2), *lead[1:]]
    book.value("float32/ragged-heads-and-rows", "5 7", stretched, cmp="bound")
    one_head = [_rows("one q"), _rows("one k", heads=1), _rows("one v", heads=1)]
    book.value("float32/one-head-of-keys", "5 21", one_head, cmp="bound")
    for heads in (2, 1):
        grouped = [_rows("grouped q", heads=4), *[_rows(f"grouped {x}", (3, 1, 1), heads) for x in "kv"]]
        book.value("float32/grouped", "5", grouped, cmp="bound", kw={"enable_gqa": True})
    for scale in (0.5, -2.0, 0):
        book.value("float32/scale", "2", _three("scale", (2, 1, 3)), cmp="bound", kw={"scale": scale})
    for keys in ((3, 2, 1), (1, 2, 3)):
        causal = [_rows("causal q", (2, 3, 1)), *[_rows(f"causal {x}", keys) for x in "kv"]]
        book.value("float32/causal", "4", causal, cmp="bound", kw={"is_causal": True})
    _with_dense(book)
    mixed = [_rows("mixed q"), _rows("mixed k", dtype="float64"), _rows("mixed v")]
    book.value("float64/promotes", "8", mixed, cmp="bound", dtype="float64")
    return plain


def _with_dense(book: Book) -> None:
    nested, shapes = _three("dense", (2, 1, 3)), ((3, 2, 3, 4), (1, 2, 3, 4), (2, 3, 4), (3, 4))
    for shape in shapes:
        given = [nested[0], _dense(shape, "dense k"), _dense(shape, "dense v")]
        book.value("float32/dense-keys", "6 21", given, cmp="bound")
    for shape in shapes[:3]:
        book.value("float32/dense-query", "6 7 21", [_dense(shape, "dense q"), *nested[1:]], cmp="bound", kind=GONE)


def _pairs(key: str, queries: tuple[int, ...], keys: tuple[int, ...], heads: int, dtype: str) -> Components:
    """Return a mask (heads, *, *)."""
    shapes = [(heads, *pair) for pair in zip(queries, keys, strict=True)]
    drawn = floats("float32", shapes, key, None)
    if dtype != "bool":
        return Components([x.astype(dtype) for x in drawn], (len(shapes), heads, None, None), dtype)
    return Components([x < 1 for x in drawn], (len(shapes), heads, None, None), "bool")


def _masks(book: Book) -> None:
    keys = 3, 1, 2
    for heads in (1, 2):
        for dtype in ("bool", "float32"):
            mask = _pairs(f"mask {heads} {dtype}", (2, 2, 3), keys, heads, dtype)
            given = [_rows("mask q", (2, 2, 3)), *[_rows(f"mask {x}", keys) for x in "kv"], mask]
            clauses = "3 6 21" if dtype != "bool" else "3 6 9"
            book.value(f"float32/mask-{dtype}", clauses, given, cmp="bound")
    nested, regular = _rows("padded q"), [_dense((3, 2, 3, 4), f"padded {x}") for x in "kv"]
    present = np.array([[True, True, False], [False, True, False], [True, False, True]])[:, None, None, :]
    book.value("float32/mask-dense-bool", "3 6", [nested, *regular, present], cmp="bound")
    for shape in ((3, 1, 1, 3), (2, 1, 3), (3,), (1, 1)):
        book.value("float32/mask-dense", "3 6 21", [nested, *regular, _dense(shape, "dense mask")], cmp="bound")
    wide = [*_three("promoted", (2, 2, 2)), _dense((2, 1, 1), "bias", "float64")]
    book.value("float64/mask", "8", wide, cmp="bound", dtype="float64")


def _edges(book: Book) -> None:
    """Scores of 0, so that weights are equal and all can be worked out by hand."""
    zero, keys, values = [[[0.0]]], [[[1.0], [3.0], [NAN]]], [[[2.0], [6.0], [NAN]]]
    given = [nest("float32", one, 1) for one in (zero, keys, values)]
    # With weights of 1/2 the scores get (2 - 4) / 2 = -1 and (6 - 4) / 2 = 1: the query gets 3 - 1, the keys nothing.
    by_hand: dict[str, Any] = {
        "cotangent": nest("float32", [[[1.0]]], 1),
        "gradient": [[[[2.0]]], [[[0.0]] * 3], [[[0.5], [0.5], [0.0]]]],
    }
    left_out = np.array([[True, True, False]])
    book.value("float32/left-out", "3 11", [*given, left_out], tracked=(0, 1, 2), **by_hand)
    infinite = [
        *given[:1],
        *[nest("float32", [[[1.0], [3.0], [INF]]], 1), nest("float32", [[[2.0], [6.0], [-INF]]], 1)],
    ]
    book.value("float32/left-out", "3 11", [*infinite, left_out], tracked=(0, 1, 2), **by_hand)
    minus = np.array([[0.0, 0.0, -INF]], "float32")
    with_mask = by_hand | {"gradient": [*by_hand["gradient"], [[-1.0, 1.0, 0.0]]]}
    book.value("float32/left-out-by-minus-infinity", "3 11 21", [*given, minus], **with_mask)
    # Of two queries the first does not meet the last key, in which there is a NaN: its gradient has none either.
    two = [
        nest("float32", [[[0.0], [0.0]]], 1),
        nest("float32", [[[1.0], [NAN]]], 1),
        nest("float32", [[[2.0], [NAN]]], 1),
    ]
    causal = {"cotangent": nest("float32", [[[1.0], [0.0]]], 1), "unspecified_gradient": ((1,),), "tracked": (0,)}
    hand: Any = [[[[0.0], [0.0]]]]
    book.value("float32/causal-before-nan", "4 11", two, kw={"is_causal": True}, gradient=hand, **causal)
    blind = (
        nest("float32", [[[0.0], [0.0]]], 1),
        nest("float32", [[[1.0], [3.0]]], 1),
        nest("float32", [[[2.0], [6.0]]], 1),
    )
    seen = np.array([[[False, False], [True, True]]])
    hand = [[[[0.0], [2.0]]], [[[0.0], [0.0]]], [[[0.5], [0.5]]]]
    ones = {"cotangent": nest("float32", [[[5.0], [1.0]]], 1), "gradient": hand, "tracked": (0, 1, 2)}
    book.value("float32/all-left-out", "9 10", [*blind, seen], **ones)
    low = nest("float32", [[[-INF]]], 1), nest("float32", [[[1.0], [2.0]]], 1), nest("float32", [[[2.0], [6.0]]], 1)
    book.value("float32/all-scores-low", "9", low, gradient=None)
    high = (
        nest("float32", [[[1.0], [0.0]]], 1),
        nest("float32", [[[INF], [1.0]]], 1),
        nest("float32", [[[2.0], [6.0]]], 1),
    )
    book.value("float32/infinite-key", "1 VALUES-2", high, gradient=None)
    hollow = [integers("float32", [(1, n, 0) for n in (2, 1)], x, ragged=2) for x in "qk"]
    values_of = integers("float32", [(1, n, 2) for n in (2, 1)], "hollow v", ragged=2)
    book.value("float32/no-elements", "12", [*hollow, values_of])
    book.value("float32/no-elements", "12", [*hollow, values_of], kw={"is_causal": True, "scale": 3.0})
    whole = [integers("float32", [(1, n, 2) for n in LENGTHS], f"dropped {x}", ragged=2) for x in "qkv"]
    book.value("float32/dropped", "22", whole, kw={"dropout_p": 1.0}, gradient=None)
    book.value("float32/beyond", "1 NUMERICS-8", _beyond(), cmp="bound")


def _beyond() -> list[Components]:
    """Products that are beyond the largest float, and scores that are not."""
    big = nest("float32", [[[3e19, 1.0]], [[1.0, 2.0]]], 1)
    return [
        big,
        nest("float32", [[[3e19, 1.0], [-3e19, 0.5]], [[0.5, 1.0]]], 1),
        nest("float32", [[[1.0], [2.0]], [[3.0]]], 1),
    ]


def _nothing_to_meet(book: Book) -> None:
    book.value("float32/no-keys", "9", _three("no keys", (0, 0, 0)), zeros="signed")
    book.value("float32/no-queries", "10", [_rows("none q", (0, 0)), _rows("none k", (2, 1)), _rows("none v", (2, 1))])
    book.value("float32/all-empty", "10", _three("all empty", (0, 0), heads=1)[1:2] * 3)
    nothing = nest("float32", [], shape=(0, 2, None, 4))
    book.value("float32/batch0", "1 7", [nothing] * 3)
    book.value("float32/batch0", "7", [nothing, np.zeros((0, 2, 3, 4), "float32"), np.zeros((0, 2, 3, 5), "float32")])


def _errors(book: Book, plain: str) -> None:
    refuse, inside = book.error, book.error_inside
    q, k, v = _three("heads")
    inside("components", "13", "StructureError", plain, [q, *[_rows(x, (2, 1)) for x in "kv"]])
    inside("rows-of-values", "13", "StructureError", plain, [q, k, _rows("v", (2, 1, 1))])
    refuse("width", "13", "StructureError", plain, [q, _rows("k", width=3), v])
    refuse("heads", "13", "StructureError", plain, [q, _rows("k", heads=3), _rows("v", heads=3)])
    flat = [floats("float32", [(n, 4) for n in LENGTHS], x, 1) for x in "kv"]
    refuse("dimensions", "13", "StructureError", plain, [q, *flat])
    near = f"{OP}/float32/dense-keys/1"
    keys, values = _dense((3, 2, 3, 4), "k"), _dense((3, 2, 3, 4), "v")
    refuse("dense-width", "14", "ShapeError", near, [q, _dense((3, 2, 3, 5), "k"), values])
    refuse("dense-rows", "14", "ShapeError", near, [q, keys, _dense((3, 2, 2, 4), "v")])
    refuse("dense-heads", "14", "ShapeError", near, [q, *[_dense((3, 3, 3, 4), x) for x in "kv"]])
    refuse("dense-batch", "14", "ShapeError", near, [q, *[_dense((2, 2, 3, 4), x) for x in "kv"]])
    refuse("dense-vector", "14", "ShapeError", near, [q, _dense((4,), "k"), values])
    vectors = floats("float32", [(n,) for n in LENGTHS], "vectors", 1)
    refuse("vectors", "15", "StructureError", plain, [vectors] * 3)
    last = Components([np.ones((2, 1, n), "float32") for n in LENGTHS], (3, 2, 1, None))
    refuse("irregular", "15", "StructureError", plain, [last, last, v])
    masked = f"{OP}/float32/mask-bool/1"
    pairs = [_rows("mask q", (2, 2, 3)), *[_rows(f"mask {x}", (3, 1, 2)) for x in "kv"]]
    inside("mask", "16", "StructureError", masked, [*pairs, _pairs("m", (2, 2, 3), (3, 1, 1), 1, "bool")])
    inside("mask-heads", "16", "StructureError", masked, [*pairs, _pairs("m", (2, 2, 3), (3, 1, 2), 3, "bool")])
    near = f"{OP}/float32/mask-dense/1"
    regular = [_rows("padded q"), keys, values]
    refuse("dense-mask", "17", "ShapeError", near, [*regular, _dense((3, 1, 1, 2), "m")])
    refuse("dense-mask-batch", "17", "ShapeError", near, [*regular, _dense((2, 1, 1, 3), "m")])
    refuse("dense-mask-rank", "17", "ShapeError", near, [*regular, _dense((1, 3, 1, 1, 3), "m")])
    both = np.ones((1, 1), np.bool_)
    refuse("causal-and-mask", "18", "ArgumentError", plain, [q, k, v, both], kw={"is_causal": True})
    for scale in (NAN, INF):
        refuse("scale", "18", "ArgumentError", f"{OP}/float32/scale/1", [q, k, v], kw={"scale": scale})
    for p in (-0.5, 1.5, NAN):
        refuse("dropout", "18", "ArgumentError", f"{OP}/float32/dropped/1", [q, k, v], kw={"dropout_p": p})
    whole = [integers("int32", [(2, n, 4) for n in LENGTHS], x, ragged=2) for x in "qkv"]
    refuse("integers", "19", "DTypeError", plain, whole)
    refuse("mask-integers", "19", "DTypeError", near, [*regular, np.ones((3, 1, 1, 3), "int32")])
    grouped = [_rows("grouped q", heads=4), *[_rows(f"grouped {x}", heads=3) for x in "kv"]]
    refuse("groups", "20", "StructureError", f"{OP}/float32/grouped/1", grouped, kw={"enable_gqa": True})
