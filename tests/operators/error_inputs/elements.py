"""Error inputs of the operators of single elements: arithmetic, comparisons, choices, reductions, norms and losses."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from pynested.backends.errors import (
    ArgumentError,
    DimensionError,
    DivisionByZero,
    DTypeError,
    EmptyReductionError,
    IndexOutOfRange,
    ShapeError,
    StructureError,
)

from ...nests import batch, distinct
from . import ErrorInput, pn

NAN, INF = float("nan"), float("inf")
X = batch([(2, 2), (0, 2), (3, 2)])
SHORT = batch([(2, 2), (0, 2), (1, 2)])
VECTORS = [x[:, 0] for x in X]
BOOLS, MASK = [x > 0 for x in VECTORS], [x > 0 for x in X]
INTS, BYTES, UNSIGNED, HALVES = ([(8 * x).astype(dtype) for x in VECTORS] for dtype in ("i8", "i1", "u1", "f2"))
SCORES, TARGETS = X, [np.array([0, 1]), np.array([], np.int64), np.array([1, -100, 1])]
TABLE, INDICES = distinct((4, 3)), [np.array([3, 0]), np.array([], np.int64), np.array([1, 1, 2])]
WIDE = batch([(2, 3), (0, 3), (4, 3)])
COLUMNS = [x.T for x in WIDE]

ARITHMETIC = (
    "add", "sub", "mul", "div", "maximum", "minimum", "clamp", "pow", "floor_divide", "remainder", "logaddexp",
)  # fmt: skip
COMPARING = ("eq", "ne", "lt", "le", "gt", "ge")
INTEGRAL = ("pow", "floor_divide", "remainder", "bitwise_and", "bitwise_or", "bitwise_xor")
LOGICAL = ("logical_and", "logical_or", "logical_xor")
NO_BOOLS = ("neg", "sgn", "relu", "floor", "ceil", "round", "trunc", "square")
REDUCTIONS = ("sum", "mean", "prod", "amax", "amin", "argmax", "argmin", "logsumexp", "any", "all", "var", "nanmean")
NOTHING_TO_CHOOSE = ("amax", "amin", "argmax", "argmin")
RUNWISE = ("softmax", "log_softmax", "softmin", "cumsum")


def rows(names: Any, call: Any, error: type[Exception], text: str) -> list[ErrorInput]:
    """A row for each name: ``call`` gets the function first, and ``{}`` in the text is the name."""
    return [(partial(call, getattr(pn, name)), error, text.format(name)) for name in names]


ALWAYS: list[ErrorInput] = [
    *rows((*ARITHMETIC, *COMPARING, *LOGICAL), lambda f, nest: f(nest(X), nest(VECTORS)), StructureError,
          "{}: the operands have 3 and 2 dimensions"),
    *rows((*ARITHMETIC, *COMPARING), lambda f, nest: f(nest(X), distinct((1, 3, 1, 2))), ShapeError, "(1, 3, 1, 2)"),
    *rows((*ARITHMETIC, *COMPARING), lambda f, nest: f(nest(X), distinct((1, 1, 3))), ShapeError, "(1, 1, 3)"),
    *rows(INTEGRAL, lambda f, nest: f(nest(BYTES), 300), OverflowError, "{}: 300 is out of bounds for int8"),
    *rows(INTEGRAL, lambda f, nest: f(300, nest(BYTES)), OverflowError, "{}: 300 is out of bounds for int8"),
    *rows(INTEGRAL[:3], lambda f, nest: f(nest(BOOLS), True), DTypeError, "{}: takes numbers, not bools"),
    *rows(INTEGRAL[3:], lambda f, nest: f(nest(INTS), 1.0), DTypeError, "{}: takes bools and integers, not float64"),
    *rows(INTEGRAL[3:], lambda f, nest: f(True, nest(X)), DTypeError, "{}: takes bools and integers, not float64"),
    *rows(NO_BOOLS, lambda f, nest: f(nest(BOOLS)), DTypeError, "{}: takes numbers, not bool"),
    *rows(("gelu", "silu"), lambda f, nest: f(nest(INTS)), DTypeError, "{}: takes floating point, not int64"),
    *rows(("add", "sub"), lambda f, nest: f(nest(X), nest(X), alpha="2"), ArgumentError, "{}: alpha must be a number"),
    *rows(("add", "sub"), lambda f, nest: f(nest(BYTES), nest(BYTES), alpha=300), OverflowError,
          "{}: alpha=300 is out of bounds for int8"),
    *rows(("add", "sub"), lambda f, nest: f(nest(BYTES), 1, alpha=128), OverflowError, "out of bounds for int8"),
    *rows(("add", "sub"), lambda f, nest: f(3, nest(BYTES), alpha=-(2**70)), OverflowError, "out of bounds for int8"),
    *rows(("add", "sub"), lambda f, nest: f(nest(BYTES), 300, alpha=2), OverflowError, "out of bounds for int8"),
    *rows(("add", "sub"), lambda f, nest: f(nest(INTS), nest(BYTES), alpha=2**63), OverflowError, "{}: alpha="),
    (lambda nest: nest(BYTES) - 300, OverflowError, "300"),
    (lambda nest: nest(BYTES) + -129, OverflowError, "-129"),
    (lambda nest: nest(BOOLS) - True, DTypeError, "sub: bools have no difference"),
    (lambda nest: pn.sub(nest(BOOLS), nest(BOOLS), alpha=2), DTypeError, "sub: bools have no difference"),
    (lambda nest: nest(INTS) + 1j, DTypeError, "complex"),
    (lambda nest: nest(INTS) + "1", TypeError, "unsupported operand"),
    (lambda nest: nest(INTS) // "1", TypeError, "unsupported operand"),
    (lambda nest: ~nest(INTS), DTypeError, "logical_not"),
    (lambda nest: pn.gelu(nest(X), "exact"), ArgumentError, "gelu: approximate must be 'none' or 'tanh', not 'exact'"),
    (lambda nest: pn.clamp(nest(BYTES), 0, 300), OverflowError, "300"),
    (lambda nest: nest(BYTES).clamp_(0.5), DTypeError, "int8"),
    (lambda nest: nest(BYTES).reciprocal_(), DTypeError, "int8"),
    *[(lambda nest, x=x, wrong=wrong, step=step: pn.where(nest(BOOLS), *(wrong, nest(x))[::step]), OverflowError,
       "out of bounds for") for step in (1, -1) for x, wrong in
      ((BYTES, 300), (UNSIGNED, -1), (INTS, 2**70), (HALVES, 1e5), (VECTORS, -(2**2000)))],
    (lambda nest: pn.where(nest(INTS), nest(INTS), 0), DTypeError, "where: condition must be bool, not int64"),
    (lambda nest: pn.where(nest(MASK), distinct((1, 3, 1, 2)), 0.0), ShapeError, "(1, 3, 1, 2)"),
    (lambda nest: nest([x[:, :1] for x in X]).masked_fill(nest(MASK), 0.0), StructureError, "masked_fill"),
    (lambda nest: nest([x[:, :1] for x in X]).masked_fill(distinct((1, 1, 2)) > 0, 0.0), ShapeError, "masked_fill"),
    (lambda nest: pn.masked_fill(distinct((3, 1, 2)), nest(MASK), 0.0), StructureError, "Nest it first"),
    (lambda nest: nest(BYTES).masked_fill(nest(BOOLS), 0.5), DTypeError, "int8 can equal 0.5"),
    (lambda nest: nest(BYTES).masked_fill(nest(BOOLS), NAN), DTypeError, "int8 can equal nan"),
    (lambda nest: nest(BYTES).masked_fill(nest(BOOLS), 300), OverflowError, "300 is out of bounds for int8"),
    (lambda nest: nest(BOOLS).masked_fill(nest(BOOLS), 2), DTypeError, "bool can equal 2"),
    (lambda nest: nest(INTS).masked_fill(nest(INTS), 0), DTypeError, "mask must be bool, not int64"),
    *[(lambda nest, rtol=rtol: nest(X).allclose(nest(X), rtol), ArgumentError,
       "rtol") for rtol in (-1, NAN, True, "a")],
    # reductions and operators of runs
    *rows(REDUCTIONS, lambda f, nest: f(nest(X), 3), DimensionError,
     "{}: Dimension out of range (expected to be in range of [-3, 2], but got 3)"),
    *rows(REDUCTIONS, lambda f, nest: f(nest(X), "1"), ArgumentError, "{}: dim"),
    *rows(REDUCTIONS, lambda f, nest: f(nest(X), True), ArgumentError, "{}: dim"),
    *rows(("sum", "amax", "any", "var"), lambda f, nest: f(nest(X), (1, -2)), DimensionError, "twice"),
    *rows(("sum", "amax", "any", "var"), lambda f, nest: f(nest(X), (1, 5)), DimensionError, "[-3, 2]"),
    *rows(RUNWISE, lambda f, nest: f(nest(X), 0), DimensionError, "{}: dimension 0 is the batch"),
    *rows(RUNWISE, lambda f, nest: f(nest(X), -3), DimensionError, "{}: dimension 0 is the batch"),
    *rows(RUNWISE, lambda f, nest: f(nest(X), 3), DimensionError, "[-3, 2]"),
    *rows(RUNWISE, lambda f, nest: f(nest(X), None), ArgumentError, "{}: 'dim', which dimension, is not given"),
    *rows(RUNWISE, lambda f, nest: f(nest(X), 1, axis=1), ArgumentError, "{}: dim=1 and axis=1 say the same thing"),
    *rows(REDUCTIONS, lambda f, nest: f(nest(X), 1, axis=1), ArgumentError, "{}: dim=1 and axis=1 say the same thing"),
    *rows(REDUCTIONS[:1], lambda f, nest: f(nest(X), 1, True, keepdims=True), ArgumentError,
          "{}: keepdim=True and keepdims=True say the same thing"),
    *rows(RUNWISE[:3], lambda f, nest: f(nest(INTS), 1), DTypeError,
     "{}: needs a floating point array, this one is int64"),
    *rows(RUNWISE[:3], lambda f, nest: f(nest(HALVES), 1, dtype=pn.int64), DTypeError, "int64"),
    *[(lambda nest, wrong=wrong: pn.var(nest(X), correction=wrong), ArgumentError, "var: correction")
      for wrong in (-1, NAN, True, "unbiased", None)],
    *rows(("argmax", "argmin"), lambda f, nest: f(nest(X)), ArgumentError,
          "{}: the elements of a nested array have no common order"),
    *rows(("argmax", "argmin"), lambda f, nest: f(nest(X), (1,)), ArgumentError, "{}: dim must be an integer"),
    (lambda nest: pn.sum(nest(X), 1, dtype=np.complex128), DTypeError, "complex128"),
    (lambda nest: pn.mean(nest(X), 1, dtype=pn.int64), DTypeError, "mean: "),
    (lambda nest: np.cumsum(nest(X)), ArgumentError, "axis"),
    *[(lambda nest, shape=shape: pn.layer_norm(nest(COLUMNS, 2), shape), StructureError, "dimension 2 is irregular")
      for shape in ((2,), 4, (3, 2))],
    (lambda nest: pn.layer_norm(nest(WIDE), (2, 3)), StructureError, "has 2 where dimension 1 is irregular"),
    (lambda nest: pn.layer_norm(nest(WIDE), (3, 2, 3)), StructureError, "which have 2 dimensions"),
    (lambda nest: pn.layer_norm(nest(WIDE), nest(WIDE).shape[1:]), StructureError, "reaches into an irregular"),
    (lambda nest: pn.layer_norm(nest(WIDE), 4), ShapeError, "has 4 where dimension 2 has size 3"),
    *[(lambda nest, wrong=wrong: pn.layer_norm(nest(WIDE), 3, distinct(wrong)), ShapeError,
       f"layer_norm: weight must have shape (3,), not {wrong}") for wrong in ((4,), (1,), (1, 3), ())],
    *[(lambda nest, wrong=wrong: pn.layer_norm(nest(WIDE), 3, None, distinct(wrong)), ShapeError,
       f"layer_norm: bias must have shape (3,), not {wrong}") for wrong in ((4,), (1,), (1, 3), ())],
    (lambda nest: pn.layer_norm(nest(INTS), 3), DTypeError,
     "layer_norm: needs a floating point array, this one is int64"),
    (lambda nest: pn.layer_norm(nest(BOOLS), 3), DTypeError, "bool"),
    (lambda nest: pn.dropout(nest(INTS)), DTypeError, "dropout: needs a floating point array, this one is int64"),
    *[(lambda nest, p=p: pn.dropout(nest(X), p), ArgumentError, "p must be") for p in (-0.1, 1.1, NAN, True, "0.5")],
    # losses
    *[(lambda nest, dtype=dtype: pn.embedding(nest([x.astype(dtype) for x in INDICES]), TABLE), DTypeError,
       f"embedding: indices must be integers, these are {dtype}") for dtype in ("float64", "bool")],
    (lambda nest: pn.embedding(nest(INDICES), TABLE, 4), IndexOutOfRange,
     "embedding: padding_idx 4 is not one of the 4 rows of weight. Give an integer from -4 to 3, or None."),
    (lambda nest: pn.embedding(nest([np.zeros(0, int)]), np.zeros((0, 3)), 0), IndexOutOfRange,
     "padding_idx 0 is not one of the 0 rows of weight. Give None."),
    *[(lambda nest, shape=shape: pn.embedding(nest(INDICES), distinct(shape)), ShapeError,
       "embedding: weight must have shape (V, E)") for shape in ((4,), (4, 3, 1), ())],
    *[(lambda nest, t=t: pn.cross_entropy(nest(SCORES), nest([y.astype(t) for y in TARGETS])), DTypeError,
       f"cross_entropy: targets must be class numbers, these are {t}") for t in ("float64", "bool")],
    (lambda nest: pn.cross_entropy(nest([x.astype(int) for x in SCORES]), nest(TARGETS)), DTypeError, "int64"),
    (lambda nest: pn.cross_entropy(nest(SCORES), nest(SCORES)), StructureError, "need targets of 2 dimensions"),
    (lambda nest: pn.cross_entropy(nest(COLUMNS, 2), nest([np.zeros(3, int)] * 3)), StructureError,
     "the classes, is irregular"),
    (lambda nest: pn.cross_entropy(nest(SCORES), np.zeros((3, 2), int)), StructureError,
     "must both be nested, or both"),
    *[(lambda nest, shape=shape: pn.cross_entropy(nest(SCORES), nest(TARGETS), weight=distinct(shape)), ShapeError,
       f"cross_entropy: weight must have shape (2,), not {shape}") for shape in ((3,), (1,), (2, 1), ())],
    *[(lambda nest, one=one: pn.cross_entropy(nest(SCORES), nest(TARGETS), **one), ArgumentError, next(iter(one)))
      for one in ({"reduction": "max"}, {"reduction": None}, {"label_smoothing": -0.1}, {"label_smoothing": 1.5})],
    (lambda nest: pn.cross_entropy(nest(SCORES), nest(TARGETS), ignore_index=2**70), OverflowError,
     "cross_entropy: ignore_index "),
]  # fmt: skip

FILLED: list[ErrorInput] = [
    (lambda nest: nest(X) + distinct((3, 2)), ShapeError, "v[:, None"),
    (lambda nest: nest(VECTORS) * distinct((3,)), ShapeError, "v[:, None]"),
    *rows((*ARITHMETIC, *COMPARING, *LOGICAL), lambda f, nest: f(nest(X), nest(SHORT)), StructureError,
          "{}: the operands differ at component 2: lengths 3 and 1 along dimension 1"),
    *rows(INTEGRAL[3:], lambda f, nest: f(nest(INTS), nest(INTS[::-1])), StructureError, "{}: "),
    *rows((*ARITHMETIC, *COMPARING), lambda f, nest: f(nest(X), nest(X[:2])), StructureError, "3 and 2 components"),
    *rows(ARITHMETIC, lambda f, nest: f(nest(X), nest(batch([(1, 2), (1, 2), (2, 2)]))), StructureError, "component"),
    *rows((*ARITHMETIC, *COMPARING), lambda f, nest: f(nest(X), distinct((3, 2))), ShapeError, "(3, 2)"),
    *rows(("add", "eq"), lambda f, nest: f(nest(X), distinct((4, 1, 1))), ShapeError, "(4, 1, 1)"),
    *rows(("add", "eq"), lambda f, nest: f(nest(X), distinct((3,))), ShapeError, "(3,)"),
    *rows(("add", "eq"), lambda f, nest: f(nest(X), distinct((1, 3, 2))), ShapeError, "(1, 3, 2)"),
    *rows(INTEGRAL[1:3], lambda f, nest: f(nest(INTS), nest([abs(x) * 0 for x in INTS])), DivisionByZero,
          "{}: component 0: an integer is divided by the divisor 0 at [0]"),
    *rows(INTEGRAL[1:3], lambda f, nest: f(nest(INTS), 0), ZeroDivisionError, "{}: component 0: an integer is divided"),
    *rows(INTEGRAL[1:3], lambda f, nest: f(nest(INTS), np.array([[1], [1], [0]])), ZeroDivisionError, "component 2"),
    (lambda nest: nest(INTS) ** nest([0 * x - 1 for x in INTS]), ArgumentError,
     "pow: component 0: the exponent at [0] is negative"),
    (lambda nest: nest(INTS) ** -1, ValueError, "pow: component 0: the exponent is negative"),
    (lambda nest: pn.clamp(nest(X), 0, nest(SHORT)), StructureError, "component 2"),
    (lambda nest: pn.where(nest(MASK), nest(SHORT), 0.0), StructureError, "where: the operands differ at component 2"),
    (lambda nest: pn.where(nest(MASK), distinct((3, 2)), 0.0), ShapeError, "(3, 2)"),
    (lambda nest: nest(X).masked_fill(nest([x > 0 for x in SHORT]), 0.0), StructureError,
     "component 2: lengths 3 and 1 along dimension 1"),
    (lambda nest: nest(X).allclose(nest(SHORT)), StructureError,
     "allclose: the operands differ at component 2: lengths 3 and 1"),
    (lambda nest: nest(X).allclose(nest(X)[1:]), StructureError, "3 and 2 components"),
    *rows(NOTHING_TO_CHOOSE, lambda f, nest: f(nest(X), 1), EmptyReductionError, "{}: component 1, of shape (0, 2)"),
    *rows(("amax", "amin"), lambda f, nest: f(nest(X), (1, 2)), EmptyReductionError, "component 1, of shape (0, 2)"),
    *rows(("amax", "amin"), lambda f, nest: f(nest([np.zeros((0, 2))])), EmptyReductionError, "no elements"),
    *rows(("amax", "amin"), lambda f, nest: f(nest([np.zeros((2, 0)), np.zeros((1, 0))]), 2), EmptyReductionError,
     "{}"),
    (lambda nest: pn.embedding(nest([*INDICES[:2], np.array([1, 4, 2])]), TABLE), IndexOutOfRange,
     "embedding: index 4 at component 2, position (1,), is not one of the 4 rows"),
    (lambda nest: pn.embedding(nest([*INDICES[:2], np.array([1, -1, 2])]), TABLE), IndexOutOfRange, "index -1 at"),
    (lambda nest: pn.embedding(nest([np.zeros((1, 2), int), np.array([[0, 9]])]), TABLE), IndexOutOfRange,
     "index 9 at component 1, position (0, 1)"),
    (lambda nest: pn.cross_entropy(nest(SCORES), nest([*TARGETS[:2], np.array([0, 0, 3])])), IndexOutOfRange,
     "target 3 at component 2, position (2,)"),
    (lambda nest: pn.cross_entropy(nest(SCORES), nest([*TARGETS[:2], np.array([0, 0, -1])])), IndexOutOfRange,
     "target -1 at"),
    (lambda nest: pn.cross_entropy(nest(SCORES), nest([*TARGETS[:2], np.array([0])])), StructureError, "component 2"),
    (lambda nest: pn.cross_entropy(nest(SCORES), nest(TARGETS[:2])), StructureError, "3 components need targets"),
]  # fmt: skip

M = pn.array(np.arange(6.0).reshape(2, 3))
I8, U8, F32, FLAGS = (pn.array([1, 0], dtype=dtype) for dtype in ("int8", "uint8", "float32", "bool"))
LABELS = pn.array([0, 1])
RAGGED = pn.nested_array(batch([(2, 1), (1, 2)]), layout=pn.strided)
DENSE: list[ErrorInput] = [
    *rows(NO_BOOLS, lambda f: f(FLAGS), DTypeError, "{}: takes numbers, not bool"),
    *rows(("gelu", "silu"), lambda f: f(I8), DTypeError, "{}: takes floating point, not int8"),
    *rows(INTEGRAL, lambda f: f(I8, 300), OverflowError, "{}: 300 is out of bounds for int8"),
    (lambda: pn.logaddexp(I8, 2), DTypeError, "logaddexp: takes floats, not int8"),
    *rows(INTEGRAL[1:3], lambda f: f(5, pn.array([[1], [0]])), ZeroDivisionError, "{}: an integer"),
    *rows(REDUCTIONS, lambda f: f(M, 2), DimensionError,
     "{}: Dimension out of range (expected to be in range of [-2, 1], but got 2)"),
    *rows(REDUCTIONS, lambda f: f(M, 1.0), ArgumentError, "{}: dim must be an integer"),
    *rows(REDUCTIONS, lambda f: f(pn.array(1.0), 0), DimensionError, "no dimensions"),
    *rows(RUNWISE, lambda f: f(pn.array(1.0), 0), DimensionError, "no dimensions"),
    *rows(NOTHING_TO_CHOOSE, lambda f: f(pn.zeros(2, 0), 1), EmptyReductionError, "{}: dimension 1"),
    *rows(("argmax", "argmin"), lambda f: f(pn.zeros(0, 3)), EmptyReductionError,
          "{}: an array of shape (0, 3) has no"),
    *rows(("argmax", "argmin"), lambda f: f(M, (0, 1)), ArgumentError, "{}: dim must be an integer"),
    *rows(("amax", "amin"), lambda f: f(RAGGED, 0), EmptyReductionError, "(1, 1)"),
    *rows(("var", "std"), lambda f: f(M, correction=-1), ArgumentError, "{}: correction"),
    *rows(("softmax", "log_softmax"), lambda f: f(I8, 0), DTypeError, "{}: needs a floating point array"),
    *rows(("softmax", "log_softmax"), lambda f: f(F32, 0, dtype="int64"), DTypeError, "{}: "),
    (lambda: FLAGS - FLAGS, DTypeError, "sub: bools"),
    (lambda: M.sum((0, -2)), DimensionError, "named twice"),
    (lambda: F32.mean(dtype="int64"), DTypeError, "mean"),
    (lambda: I8.dropout(), DTypeError, "dropout"),
    (lambda: M.dropout(1.5), ArgumentError, "p must be"),
    (lambda: I8 + 300, OverflowError, "300"),
    (lambda: U8 + -1, OverflowError, "-1"),
    (lambda: M.masked_fill(M, 0.0), DTypeError, "mask must be bool, not float64"),
    (lambda: M.masked_fill(pn.ones(3, 1, 1) > 0, 0.0), ShapeError, "masked_fill"),
    (lambda: I8.masked_fill(FLAGS, 0.5), DTypeError, "can equal 0.5"),
    (lambda: I8.masked_fill(FLAGS, 300), OverflowError, "300 is out of bounds for int8"),
    (lambda: FLAGS.masked_fill(FLAGS, 2), DTypeError, "can equal 2"),
    (lambda: pn.zeros(1, dtype="float16").masked_fill(pn.array([True]), 1e6), OverflowError, "bounds for float16"),
    (lambda: pn.where(1, M, M), DTypeError, "condition must be bool, not int"),
    (lambda: pn.where(FLAGS, M, M), ShapeError, "where"),
    (lambda: M + pn.array([1.0, 2.0]), ShapeError, "add: shapes (2, 3) and (2,) do not broadcast"),
    (lambda: pn.add(M, M, alpha=True), ArgumentError, "alpha must be a number, not True"),
    (lambda: pn.add("x", M), ArgumentError, "str is neither an array nor a number"),
    (lambda: I8 ** "2", TypeError, "unsupported operand"),
    (lambda: M.gelu("sigmoid"), ArgumentError, "approximate"),
    (lambda: ~I8, DTypeError, "only bool"),
    (lambda: M.layer_norm(2), ShapeError, "must be the last sizes of an array of shape (2, 3)"),
    (lambda: M.layer_norm(3, pn.array([1.0])), ShapeError, "weight must have shape (3,)"),
    (lambda: I8.layer_norm(2), DTypeError, "layer_norm"),
    (lambda: pn.embedding(M, M), DTypeError, "indices must be integers"),
    (lambda: pn.embedding(pn.array([0, 2]), M), IndexOutOfRange, "index 2 at flat position 1"),
    (lambda: pn.embedding(pn.array([0]), M[0]), ShapeError, "weight must have shape (V, E)"),
    (lambda: pn.cross_entropy(M, pn.array([0, 3])), IndexOutOfRange, "target 3 at flat position 1"),
    (lambda: pn.cross_entropy(M, pn.array([0])), ShapeError, "scores of shape (2, 3) need targets of shape (2,)"),
    (lambda: pn.cross_entropy(M, F32), DTypeError, "class numbers"),
    (lambda: pn.cross_entropy(M, LABELS, reduction="max"), ArgumentError, "reduction must be 'none', 'mean' or 'sum'"),
    (lambda: pn.cross_entropy(M, LABELS, label_smoothing=2), ArgumentError, "label_smoothing"),
    (lambda: pn.cross_entropy(M, LABELS, weight=pn.array([1.0])), ShapeError, "weight must have shape (3,)"),
]  # fmt: skip
