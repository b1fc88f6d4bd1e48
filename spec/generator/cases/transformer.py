"""Cases of the layers of a transformer.

Rows of two numbers have few parameters, but become signs in a norm, unless its eps is large. And a bound grows with
each norm on the way to the result: those after which the next step comes are in float64, where that leaves enough.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...encoding import Components
from ...numerics import NDArray
from ..author import Book
from ..draws import dense, floats, nest

ENCODER, DECODER = "transformer_encoder_layer", "transformer_decoder_layer"
SELF, BOTH = ("self_attn",), ("self_attn", "multihead_attn")
WIDTH = 2
EPS: dict[str, Any] = {"layer_norm_eps": 0.5}
BEFORE = {**EPS, "norm_first": True}
LENGTHS, OTHERS = (2, 0, 1), (1, 2, 3)
Parameters = dict[str, NDArray]


def books() -> list[Book]:
    """Return the books of these operators."""
    encoder, decoder = Book(ENCODER, zeros="either"), Book(DECODER, zeros="either")
    _encoded(encoder)
    _encoded_by_hand(encoder)
    _decoded(decoder)
    _decoded_by_hand(decoder)
    return [encoder, decoder]


def _rows(key: str, lengths: tuple[int, ...] = LENGTHS, width: int = WIDTH, dtype: str = "float32") -> Components:
    return floats(dtype, [(length, width) for length in lengths], f"rows of {key}", 1, 0.25)


def _matrix(key: str, *shape: int, dtype: str = "float32") -> NDArray:
    return dense(floats(dtype, [shape], f"rows of {key}", None, 0.25))


def _parameters(attentions: tuple[str, ...], dtype: str = "float32", bias: bool = False) -> Parameters:
    """Return what a layer has: numbers between -1 and 1, to which norms add 2; hidden rows have one element."""
    shapes: dict[str, tuple[int, ...]] = {}
    for one in attentions:
        shapes |= {f"{one}.in_proj_": (3 * WIDTH, WIDTH), f"{one}.out_proj.": (WIDTH, WIDTH)}
    shapes |= {"linear1.": (1, WIDTH), "linear2.": (WIDTH, 1)}
    shapes |= {f"norm{number + 1}.": (WIDTH,) for number in range(len(attentions) + 1)}
    found = {f"{name}weight": _matrix(f"{name}weight", *shape, dtype=dtype) for name, shape in shapes.items()}
    found |= {name: one + 2 for name, one in found.items() if name.startswith("norm")}
    biases = {f"{name}bias": _matrix(f"{name}bias", shape[0], dtype=dtype) for name, shape in shapes.items()}
    return found | (biases if bias else {})


def _encoded(book: Book) -> None:
    """Add what has to be computed."""
    full = _parameters(SELF, "float64", True)
    book.value("float64/plain", "1 3 8 10", [_rows("wide", dtype="float64"), full, 2], cmp="bound", kw=EPS)
    wide = [_rows("wide", dtype="float64"), _parameters(SELF, "float64")]
    book.value("float64/norm-first", "2 3 6 10", [*wide, 1], cmp="bound", kw=BEFORE)
    x, p = _rows("x"), _parameters(SELF)
    of_rows: dict[str, Any] = {"cmp": "bound", "tracked": (0,)}
    alone: dict[str, Any] = {"cmp": "bound", "gradient": None}
    book.value("float32/gelu", "4", [x, p, 1], kw=BEFORE | {"activation": "gelu"}, **of_rows)
    book.value("float32/causal", "5", [x, p, 2], kw=BEFORE | {"is_causal": True}, **of_rows)
    book.value("float32/mask", "5", [x, p, 1, _meets((True, False, False, True), True)], kw=BEFORE, **alone)
    book.value("float64/promotes", "6 9", [x, wide[1], 1], dtype="float64", **of_rows)


def _meets(first: tuple[bool, ...], last: bool) -> Components:
    """Return a mask (1, *, *) for rows of the lengths 2, 0 and 1, with their pairs of the first and the last."""
    parts = np.array(first).reshape(1, 2, 2), np.zeros((1, 0, 0), np.bool_), np.array(last).reshape(1, 1, 1)
    return Components(parts, (3, 1, None, None), np.bool_)


def _by_hand(attentions: tuple[str, ...]) -> tuple[Components, Parameters, dict[str, float]]:
    """Return rows of two numbers, and with what their layer can be worked out.

    A row gets the mean of the rows that it meets. A norm without eps makes (1, -1) of what falls, and (-1, 1) of what
    rises, and each row by itself is given twice its first number, where that is above 0.
    """
    eye, ones = np.eye(2, dtype="float32"), np.ones(2, "float32")
    found = {"linear1.weight": 2 * eye[:1], "linear2.weight": eye[:, :1]}
    for one in attentions:
        found |= {f"{one}.in_proj_weight": np.concatenate([0 * eye, 0 * eye, eye]), f"{one}.out_proj.weight": eye}
    found |= {f"norm{number + 1}.weight": ones for number in range(len(attentions) + 1)}
    return nest("float32", [[[1.0, 3.0], [2.0, 0.0]], [[4.0, 1.0]]], 1), found, {"layer_norm_eps": 0.0}


def _encoded_by_hand(book: Book) -> None:
    x, p, options = _by_hand(SELF)
    near = book.value("float32/signs", "1 3 6", [x, p, 1], kw=options, cmp="bound", gradient=None)
    shifted = p | {"self_attn.out_proj.bias": np.ones(2, "float32"), "linear2.bias": np.ones(2, "float32")}
    book.value("float32/dropped", "7", [x, shifted, 1], kw={"norm_first": True, "dropout_p": 1.0}, gradient=None)
    book.value("float32/batch0", "8 10", [x[:0], p, 1])
    bare, one = {name: weight for name, weight in p.items() if name != "linear2.weight"}, np.ones(1, "float32")
    book.error("missing", "11", "ArgumentError", near, [x, bare, 1])
    book.error_inside("unknown", "11", "ArgumentError", near, [x, p | {"norm3.weight": p["norm1.weight"]}, 1])
    book.error_inside("activation", "11", "ArgumentError", near, [x, p, 1], kw={"activation": "tanh"})
    book.error("heads", "11", "ArgumentError", near, [x, p, 3])
    book.error("broadcasts", "12", "ShapeError", near, [x, p | {"linear2.weight": one[None]}, 1])
    book.error_inside("bias", "12", "ShapeError", near, [x, p | {"norm1.bias": one}, 1])
    flat = floats("float32", [(n,) for n in (2, 1)], "layer flat", 1)
    book.error("flat", "13", "StructureError", near, [flat, p, 1])


def _decoded(book: Book) -> None:
    """Add what has to be computed."""
    wide = [_rows("wide", dtype="float64"), _rows("wide y", OTHERS, dtype="float64")]
    full, bare = (_parameters(BOTH, "float64", bias) for bias in (True, False))
    book.value("float64/plain", "1 3 6 9", [*wide, full, 2], cmp="bound", kw=EPS)
    before = BEFORE | {"activation": "gelu"}
    book.value("float64/norm-first", "2 3 5 9", [*wide, bare, 1], cmp="bound", kw=before, tracked=(0, 1))
    x, y, p = _rows("x"), _rows("y", OTHERS), _parameters(BOTH)
    of_rows: dict[str, Any] = {"cmp": "bound", "tracked": (0, 1)}
    alone: dict[str, Any] = {"cmp": "bound", "gradient": None}
    for one in ("tgt", "memory"):
        book.value(f"float32/{one}-causal", "4", [x, y, p, 1], kw=BEFORE | {f"{one}_is_causal": True}, **of_rows)
    met = _meets((False, True, True, False), True)
    book.value("float32/tgt-mask", "4", [x, y, p, 2, met], kw=BEFORE, **alone)
    regular, seen = _matrix("regular", 3, 2, WIDTH), np.array([[True, False]])
    book.value("float32/memory-mask", "4 6", [x, regular, p, 1, None, seen], kw=BEFORE, **alone)
    book.value("float32/one-memory", "6 9", [x, regular[0], p, 1], kw=BEFORE, **of_rows)
    book.value("float64/promotes", "7", [x, wide[1], bare, 1], dtype="float64", kw=EPS, **of_rows)


def _decoded_by_hand(book: Book) -> None:
    x, p, options = _by_hand(BOTH)
    y = nest("float32", [[[3.0, 0.0]], np.zeros((0, 2))], 1)
    near = book.value("float32/signs", "1 3 8", [x, y, p, 1], kw=options, cmp="bound", gradient=None)
    shifted = p | {"multihead_attn.out_proj.bias": np.array([-8.0, 8.0], "float32")}
    book.value("float32/no-memory", "8", [x, y, shifted, 1], kw=options, cmp="bound", gradient=None)
    book.value("float32/dropped", "5", [x, y, shifted, 1], kw={"norm_first": True, "dropout_p": 1.0}, gradient=None)
    book.value("float32/batch0", "6 9", [x[:0], y[:0], p, 1])
    refuse, inside, longer = book.error, book.error_inside, _rows("longer", (1, 2), 3)
    bare = {name: weight for name, weight in p.items() if name != "multihead_attn.in_proj_weight"}
    refuse("missing", "10", "ArgumentError", near, [x, y, bare, 1])
    inside("heads", "10", "ArgumentError", near, [x, y, p, 3])
    inside("broadcasts", "11", "ShapeError", near, [x, y, p | {"linear2.weight": np.ones((1, 1), "float32")}, 1])
    refuse("rows-of-memory", "12", "StructureError", near, [x, longer, p, 1])
    inside("rows-of-dense-memory", "11", "ShapeError", near, [x, np.ones((2, 1, 3), "float32"), p, 1])
    inside("components", "12", "StructureError", near, [x, y[:1], p, 1])
    inside("flat", "12", "StructureError", near, [x, floats("float32", [(2,), (1,)], "layer flat", 1), p, 1])
