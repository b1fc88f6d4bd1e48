"""Error inputs of operators of elements and of rows: arithmetic, comparisons, choices, reductions, norms and losses."""

from __future__ import annotations

import numpy as np

from pynested.backends.errors import (
    ArgumentError,
    DimensionError,
    DivisionByZero,
    DTypeError,
    EmptyReductionError,
    GradientError,
    IndexOutOfRange,
    ShapeError,
    StructureError,
)

from ...nests import batch, distinct
from . import ErrorInput, pn

X = batch([(2, 2), (0, 2), (3, 2)])
SHORT = batch([(2, 2), (0, 2), (1, 2)])
VECTORS = [x[:, 0] for x in X]
BOOLS, MASK = [x > 0 for x in VECTORS], [x > 0 for x in X]
INTS, BYTES = ([(8 * x).astype(dtype) for x in VECTORS] for dtype in ("i8", "i1"))
SCORES, TARGETS = X, [np.array([0, 1]), np.array([], np.int64), np.array([1, -100, 1])]
TABLE, INDICES = distinct((4, 3)), [np.array([3, 0]), np.array([], np.int64), np.array([1, 1, 2])]
WIDE = batch([(2, 3), (0, 3), (4, 3)])
COLUMNS = [x.T for x in WIDE]


ALWAYS: list[ErrorInput] = [
    (lambda nest: nest(X) + nest(VECTORS), StructureError, "add: the operands have 3 and 2 dimensions"),
    (lambda nest: pn.eq(nest(X), distinct((1, 3, 1, 2))), ShapeError, "(1, 3, 1, 2)"),
    (lambda nest: nest(BYTES) ** 300, OverflowError, "pow: 300 is out of bounds for"),
    (lambda nest: pn.floor_divide(nest(BOOLS), True), DTypeError, "floor_divide: takes numbers, not bools"),
    (lambda nest: pn.bitwise_and(nest(INTS), 1.0), DTypeError, "bitwise_and: takes bools and integers, not float64"),
    (lambda nest: pn.gelu(nest(INTS)), DTypeError, "gelu: takes floating point, not int64"),
    (lambda nest: pn.gelu(nest(X), "exact"), ArgumentError, "gelu: approximate must be 'none' or 'tanh', not 'exact'"),
    (lambda nest: pn.gelu(nest(X), ["tanh"]), ArgumentError, "gelu: approximate must be 'none' or"),
    (lambda nest: pn.gelu(nest(X), 10**5000), ArgumentError, "not an integer of 16610 bits"),
    (lambda nest: pn.clamp(nest(BYTES), 0, 300), OverflowError, "clamp: 300 is out of bounds for int8"),
    (lambda nest: pn.sub(nest(X), nest(X), alpha="2"), ArgumentError, "sub: alpha must be a number"),
    (lambda nest: pn.add(nest(BYTES), nest(BYTES), alpha=300), OverflowError, "add: alpha=300 is out of bounds for"),
    (lambda nest: nest(BOOLS) - True, DTypeError, "sub: bools have no difference. Use logical_xor"),
    (lambda nest: nest(INTS) + "1", TypeError, "unsupported operand"),
    (lambda nest: ~nest(INTS), DTypeError, "logical_not"),
    (lambda nest: pn.where(nest(INTS), nest(INTS), 0), DTypeError, "where: condition must be bool, not int64"),
    (lambda nest: nest([x[:, :1] for x in X]).masked_fill(nest(MASK), 0.0), StructureError, "masked_fill"),
    (lambda nest: pn.masked_fill(distinct((3, 1, 2)), nest(MASK), 0.0), StructureError, "Nest the array first"),
    (lambda nest: nest(BYTES).masked_fill(nest(BOOLS), 0.5), DTypeError, "int8 cannot represent 0.5"),
    (lambda nest: nest(BOOLS).masked_fill(nest(BOOLS), 2), DTypeError, "bool cannot represent 2"),
    # reductions and operators of runs
    (lambda nest: pn.prod(nest(X), 3), DimensionError, "prod: Dimension out of range (expected to be in range of [-3"),
    (lambda nest: pn.softmax(nest(X), 0), DimensionError, "softmax: dimension 0 is the batch"),
    (lambda nest: pn.softmax(nest(X), None), ArgumentError, "softmax: the dimension is missing. Give 'dim'"),
    (lambda nest: pn.cumsum(nest(X), 1, axis=1), ArgumentError, "cumsum: dim=1 and axis=1 are the same parameter"),
    (lambda nest: pn.sum(nest(X), 1, axis=1), ArgumentError, "sum: dim=1 and axis=1 are the same"),
    (lambda nest: pn.sum(nest(X), 1, True, keepdims=True), ArgumentError, "sum: keepdim=True and keepdims=True are"),
    (lambda nest: pn.softmax(nest(INTS), 1), DTypeError, "softmax: the array must be floating point, not int64"),
    (lambda nest: pn.argmax(nest(X)), ArgumentError, "argmax: the elements of a nested array have no common order"),
    (lambda nest: pn.mean(nest(X), 1, dtype=pn.int64), DTypeError, "mean: "),
    (lambda nest: pn.layer_norm(nest(WIDE), (2, 3)), StructureError, "has size 2 for dimension 1, which is irregular"),
    (lambda nest: pn.layer_norm(nest(WIDE), (3, 2, 3)), StructureError, "which have 2 dimensions"),
    (lambda nest: pn.layer_norm(nest(WIDE), nest(WIDE).shape[1:]), StructureError, "includes an irregular"),
    (lambda nest: pn.layer_norm(nest(WIDE), 4), ShapeError, "has size 4 for dimension 2 of size 3"),
    (lambda nest: pn.layer_norm(nest(WIDE), 3, distinct((1, 3))), ShapeError, "weight must have shape (3,), not"),
    (lambda nest: pn.layer_norm(nest(WIDE), 3, pn.ones(3), pn.arange(3)), DTypeError, "bias: the array must be"),
    (lambda nest: pn.linear(nest(WIDE), distinct((2, 3)).astype(complex)), DTypeError, "complex"),
    (lambda nest: pn.dropout(nest(X), 1.1), ArgumentError, "p must be"),
    # losses
    (lambda nest: pn.embedding(nest(X), TABLE), DTypeError, "embedding: indices must be integers, not float64"),
    (lambda nest: pn.embedding(nest(INDICES), TABLE, 4), IndexOutOfRange,
     "embedding: padding_idx 4 is not one of the 4 rows of weight. Give an integer from -4 to 3, or None."),
    (lambda nest: pn.embedding(nest(INDICES), distinct((4,))), ShapeError, "weight must have shape (V, E)"),
    (lambda nest: pn.cross_entropy(nest(SCORES), nest(VECTORS)), DTypeError, "targets must be integers"),
    (lambda nest: pn.cross_entropy(nest(SCORES), nest(SCORES)), StructureError, "need targets of 2 dimensions"),
    (lambda nest: pn.cross_entropy(nest(COLUMNS, 2), nest([np.zeros(3, int)] * 3)), StructureError, "is irregular"),
    (lambda nest: pn.cross_entropy(nest(SCORES), np.zeros((3, 2), int)), StructureError, "must both be nested"),
    (lambda nest: pn.cross_entropy(nest(SCORES), nest(TARGETS), weight=distinct((2, 1))), ShapeError,
     "cross_entropy: weight must have shape (2,), not (2, 1)"),
    (lambda nest: pn.cross_entropy(nest(SCORES), nest(TARGETS), ignore_index=2**70), OverflowError, "ignore_index "),
    (lambda nest: pn.cross_entropy(nest(SCORES), nest(TARGETS), weight=pn.ones(2, requires_grad=True)), GradientError,
     "cross_entropy: weight requires grad"),
]  # fmt: skip

FILLED: list[ErrorInput] = [
    (lambda nest: nest(X) + distinct((3, 2)), ShapeError, "align dimension 0 with the batch: v[:, None, :]."),
    (lambda nest: nest(X) + distinct((3,)), ShapeError, "align dimension 0 with the batch: v[:, None, None]."),
    (lambda nest: nest([x[:, :, None] for x in X]) + distinct((3, 7)), ShapeError, "the batch: v[:, None, None, :]."),
    (lambda nest: nest(X) + distinct((4, 1, 1)), ShapeError, "(4, 1, 1)"),
    (lambda nest: pn.clamp(nest(X), 0, nest(SHORT)), StructureError,
     "clamp: the operands differ at component 2: lengths 3 and 1 along dimension 1"),
    (lambda nest: nest(INTS) // nest([x * 0 for x in INTS]), DivisionByZero,
     "floor_divide: component 0: an integer is divided by the divisor 0 at [0]"),
    (lambda nest: nest(INTS) ** -1, ValueError, "pow: component 0: the exponent is negative"),
    (lambda nest: pn.amax(nest(X), 1), EmptyReductionError, "amax: component 1, of shape (0, 2), is empty along dim; "
     "the maximum of no elements is undefined"),
    (lambda nest: pn.amin(nest([np.zeros((0, 2))])), EmptyReductionError, "the nested array has no elements"),
    *[(lambda nest, op=op, dims=dims, shape=shape: op(nest([np.zeros((n, *shape)) for n in (2, 3)]), dims),
       EmptyReductionError, f"{op.__name__}: a nested array of shape (2, ")
      for op in (pn.amax, pn.amin, pn.argmax, pn.argmin) for dims, shape in ((2, (0,)), (3, (5, 0)))],
    (lambda nest: pn.embedding(nest([*INDICES[:2], np.array([1, 4, 2])]), TABLE), IndexOutOfRange,
     "embedding: index 4 at component 2, position (1,), is not one of the 4 rows"),
    (lambda nest: pn.cross_entropy(nest(SCORES), nest([*TARGETS[:2], np.array([0, 0, 3])])), IndexOutOfRange,
     "target 3 at component 2, position (2,)"),
    (lambda nest: pn.cross_entropy(nest(SCORES), nest([*TARGETS[:2], np.array([0])])), StructureError, "component 2"),
]  # fmt: skip

M = pn.array(np.arange(6.0).reshape(2, 3))
DENSE: list[ErrorInput] = [
    (lambda: pn.logaddexp(pn.array([1], dtype=pn.int8), 2), DTypeError, "logaddexp: takes floats, not int8"),
    (lambda: 5 // pn.array([[1], [0]]), ZeroDivisionError, "an integer is divided by the divisor 0 at [1, 0]"),
    (lambda: pn.amin(pn.zeros(2, 0), 1), EmptyReductionError, "amin: dimension 1 of an array of shape (2, 0) is empty"),
    (lambda: pn.cross_entropy(1.0, pn.array(0)), ShapeError, "but for a last dimension of the scores, the classes"),
    (lambda: pn.argmax(pn.zeros(0, 3)), EmptyReductionError, "argmax: an array of shape (0, 3) has no"),
    (lambda: M.sum((0, -2)), DimensionError, "named twice"),
    (lambda: pn.add(M, M, alpha=True), ArgumentError, "alpha must be a number, not True"),
    (lambda: M.layer_norm(2), ShapeError, "must be the last sizes of an array of shape (2, 3)"),
    (lambda: pn.embedding(pn.array([0, 2]), M), IndexOutOfRange, "index 2 at flat position 1"),
    (lambda: pn.cross_entropy(M, pn.array([0, 3])), IndexOutOfRange, "target 3 at flat position 1"),
    (lambda: pn.cross_entropy(M, pn.array([0])), ShapeError, "shape (2, 3) and targets of shape (1,) must have"),
    *[(lambda value=value: pn.cross_entropy(M, pn.array([0]), reduction=value), ArgumentError,
       "cross_entropy: reduction must be 'none', 'mean' or 'sum', not ")
      for value in ("max", None, ["mean"], np.array(["mean", "sum"]), 10**5000)],
]  # fmt: skip
