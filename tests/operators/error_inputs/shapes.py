"""Error inputs of the operators of whole arrays: movement, joining, matrix products and sizes beyond every memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from pynested.backends.errors import ArgumentError, DimensionError, IndexOutOfRange, ShapeError, StructureError

from ...nests import batch, distinct
from . import ErrorInput, pn

X = batch([(2, 4), (0, 4), (3, 4)])
VECTORS = [x[:, 0] for x in X]
ONES = batch([(2, 1, 3), (0, 1, 3), (4, 1, 3)])
LONGER, WIDER = batch([(1, 4), (2, 4), (0, 4)]), batch([(2, 5), (0, 5), (3, 5)])
ROWS = batch([(2, 3), (0, 3), (4, 3)])  # (B, *, D)
RIGHT = batch([(3, 2), (3, 0), (3, 4)])  # (B, D, *)
INNER = batch([(2, 2), (0, 2), (4, 2)])  # (B, *, E)
ALL = slice(None)


def reshaped(name: str, x: Any, shape: Iterable[int | None], ragged: Any) -> Any:
    """Call `reshape` or `view` with the ragged size of dimension 1 of an array in place of None."""
    return getattr(x, name)([ragged.shape[1] if size is None else size for size in shape])


def calls(table: list[tuple[str, Any, type[Exception], str]], x: Any) -> list[ErrorInput]:
    """Return a row for each method, its arguments, the class and the text of the error."""
    return [(lambda nest, name=name, args=args: getattr(nest(x), name)(*args), kind, text)
            for name, args, kind, text in table]  # fmt: skip


ALWAYS: list[ErrorInput] = [
    *calls([
        ("transpose", (0, 1), DimensionError, "transpose: dimension 0 is the batch"),
        ("unflatten", (2, (3, -1)), ShapeError, "unflatten: dimension 2 has 4 elements, which do not fill"),
        ("unflatten", (1, (1, -1)), DimensionError, "unflatten: dimension 1 is irregular"),
        ("unflatten", (2, (2**32, 2**32)), ShapeError, "too many elements"),
        ("unflatten", (2, (1,) * 62 + (4,)), ShapeError, "at most 64 dimensions"),
        *[("view", shape, ShapeError, text) for shape, text in (
            ((2, -1, 4), "view: the first size of (2, -1, 4) must be"),
            ((-1, 2, 4), "view: dimension 1 is irregular, so its only valid size is -1, not 2"),
            ((-1, -1, 2, -1), "view: -1 keeps the size that a dimension has, and dimension 3 is new"),
            ((-1, -1, -2), "view: invalid size -2"))],
        ("select", (2, 4), IndexOutOfRange, "select: index 4 is out of bounds along dimension 2"),
        ("chunk", (2, 1), DimensionError, "chunk: dimension 1 is irregular"),
        ("split", (2, 1), DimensionError, "split: dimension 1 is irregular; pieces of one size"),
        *[("split", (sizes, 2), ArgumentError, f"split: {text}") for sizes, text in (
            (0, "a piece has at least 1 entry, not 0"), ((), "there must be at least one size, and all must be 0"))],
        ("split", ((1, 1), 2), ShapeError, "split: the sizes [1, 1] add up to 2"),
        ("unbind", (1,), DimensionError, "unbound along dimension 0, not"),
        ("permute", (-1, 0, 1), DimensionError, "would make 2 the batch. Begin with 0"),
        ("permute", (0, 1), DimensionError, "each of the 3 dimensions once"),
        ("flatten", (), DimensionError, "x.flatten(1)"),
        ("flatten", (2, 1), DimensionError, "flatten: start_dim 2 comes after end_dim 1"),
    ], X),
    *calls([
        ("squeeze", (1,), DimensionError, "squeeze: dimension 1 is irregular; only"),
        ("squeeze", (), DimensionError, "result of a nested array would depend on lengths"),
        ("squeeze", (3,), ShapeError, "squeeze: dimension 3 has size 3; only a dimension of size 1"),
        ("expand", (-1, -1, 5), ShapeError, "expand: shape (-1, -1, 5) has 3 sizes"),
        ("expand", (-1, 4, 5, 3), ShapeError, "expand: dimension 1 is irregular and cannot have size 4"),
    ], ONES),
    *[(lambda nest, shape=shape: reshaped("view", nest(X), shape, nest(X)), ShapeError, text) for shape, text in (
        ((None, -1, 4), "is a ragged size, and the first size is the number of components. Give "),
        ((-1, 4, None), "is a ragged size, and dimension 2 has size 4 in every component. Give an integer."),
        ((-1, -1, 4, None), "is a ragged size, and dimension 3 is new. Give an integer"))],
    (lambda nest: nest(X)[:0].chunk(2**40), ArgumentError, "chunk: 1099511627776 pieces without elements are"),
    (lambda nest: pn.reshape_as(nest(X), X[0]), ShapeError, "both arrays must be nested and have equally many"),
    # joining
    (lambda nest: pn.cat([nest(X), nest(VECTORS)]), StructureError, "cat: array 1 has 2 dimensions and array 0 has 3"),
    (lambda nest: pn.cat([nest(X), pn.zeros(3, 2, 4)]), StructureError, "Nest its components first"),
    (lambda nest: pn.stack([nest(X)] * 2, 0), DimensionError, "use pn.cat(arrays, 0)"),
    (lambda nest: pn.stack(nest(X)), ArgumentError, "not one array: pn.stack([a, b])"),
    # products
    (lambda nest: nest(ROWS) @ nest(VECTORS), StructureError, "matmul: the components of a nested operand"),
    (lambda nest: pn.matmul(nest(ROWS), pn.array(2.0)), ShapeError, "matmul: a dense operand has no dimensions"),
    (lambda nest: pn.matmul(nest(ROWS), pn.ones(3, 2, 2, 2)), ShapeError, "the dense operand has 4 dimensions"),
    (lambda nest: pn.bmm(nest(ROWS), distinct((3, 2))), StructureError, "bmm: the operands have 3 and 2 dimensions"),
    (lambda nest: pn.linear(nest(RIGHT, 2), distinct((2, 3))), StructureError, "linear: dimension 2, the last one, is"),
    (lambda nest: pn.linear(nest(ROWS), distinct((3,))), ShapeError, "weight must have shape (out, 3), not (3,)"),
    (lambda nest: pn.linear(nest(ROWS), distinct((2, 3)), distinct((1,))), ShapeError, "bias must have shape (2,)"),
]  # fmt: skip

FILLED: list[ErrorInput] = [
    *calls([
        ("reshape", (3, -1, 5), ShapeError, "has shape (2, 4) and 8 elements; shape (3, -1, 5) would give"),
        ("select", (1, 2), IndexOutOfRange, "components 0 (length 2), 1 (length 0)"),
        ("split", ((1, 1), 1), ShapeError, "of component 1 has size 0"),
    ], X),
    *[(lambda nest, other=other: reshaped("reshape", nest(X), (3, None, 4), nest(other)), ShapeError,
       f"is a ragged size, and its {text}. Give -1 or x.shape[1], which keep the size of each component.")
      for other, text in (
          ([*X[:2], LONGER[0]], "length of component 2 is 1 instead of 3"),
          (X[:2], "number of components is 2 instead of 3"))],
    (lambda nest: pn.reshape_as(nest(X), nest([*X[:2], X[2][:1]])), ShapeError, "reshape_as: component 2 of shape"),
    (lambda nest: pn.cat([nest(X), nest(WIDER)], 1), StructureError,
     "component 0 has shape (2, 5) in array 1 and (2, 4) in array 0; they may differ only along dimension 1"),
    (lambda nest: pn.cat([nest(X), nest(X)[:2]], 1), StructureError, "cat: array 1 has 2 components and array 0 has 3"),
    (lambda nest: pn.stack([nest(X), nest(X[:2])], 1), StructureError, "stack: the operands have 3 and 2 components"),
    (lambda nest: nest(ROWS) @ nest(RIGHT[:2], 2), StructureError, "3 and 2 components"),
    (lambda nest: nest(batch([(2, 2, 3)] * 3)) @ nest(batch([(3, 3, 3)] * 3)), StructureError,
     "there is no product of shapes (2, 2, 3) and (3, 3, 3)"),
    (lambda nest: pn.matmul(nest(ROWS), distinct((4,))), ShapeError,
     "matmul: at component 0, the left matrix has 3 columns, and the right matrix has 4 rows"),
    (lambda nest: pn.matmul(nest(ROWS), distinct((2, 3, 2))), ShapeError, "must have 3 slices, one for each component"),
    (lambda nest: pn.bmm(nest(ROWS), nest(RIGHT[:1], 2)), StructureError, "the operands have batch sizes 3 and 1"),
    (lambda nest: pn.bmm(nest(ROWS), nest(INNER)), StructureError, "bmm: at component 0, the left matrix has 3"),
]  # fmt: skip

M = pn.array(np.arange(6.0).reshape(2, 3))
WINDOW = pn.zeros(1).broadcast_to((2**58,))
NO_ROWS = pn.nested_array_from_strided(pn.ones(0), [[0, 2**40], [2**40, 0]])
COLUMN = pn.nested_array_from_strided(pn.ones(1), [[2**40, 1]], [[0, 0]], [0])
ROW = pn.ones(1).broadcast_to((2**20,))
BY_COLUMNS = pn.nested_array_from_jagged(pn.zeros(4, 2, 2), [0, 1, 2], jagged_dim=2)
DENSE: list[ErrorInput] = [
    (lambda: pn.linear(pn.nested_array([1.0, 2.0]), M), StructureError, "linear: the components have no dimensions"),
    (lambda: pn.linear(2.0, M), ShapeError, "linear: the input has no dimensions"),
    (lambda: BY_COLUMNS.view(2, 2, -1, 4), ShapeError, "view: the elements of the components do not lie in the order"),
    *[(lambda shape=shape: pn.zeros(0, 3).reshape(shape), ShapeError, "-1 in the shape")
      for shape in ((0, -1), (-1, 5, 0))],
    (lambda: BY_COLUMNS.reshape(2, 8), ShapeError, "(2, 8) has no size for the ragged dimension 2"),
    *[(lambda name=name, args=args: getattr(M, name)(*args), kind, text) for name, args, kind, text in (
        ("reshape", (4,), ShapeError, "6 elements, which do not fill"), ("reshape", (-1, -1), ShapeError, "one -1"),
        ("reshape", (5, -1), ShapeError, "6 elements, which do not fill the shape (5, -1)"),
        ("broadcast_to", ((3, 3),), ShapeError, "broadcast_to: shapes (2, 3) and (3, 3) do not broadcast"),
        ("expand", (-1, 2, 3), ShapeError, "expand: shape (-1, 2, 3) has a size below 0"),
        ("expand", ((3, 3),), ShapeError, "expand: shapes (2, 3) and (3, 3) do not broadcast"),
        ("reshape_as", (pn.ones(4),), ShapeError, "reshape_as: an array of shape (2, 3) has 6 elements"),
        ("expand", (1, 3), ShapeError, "expand: an array of shape (2, 3) does not broadcast to (1, 3)"),
        ("select", (1, 3), IndexOutOfRange, "index 3 is out of bounds for dimension 1 with size 3"),
        *[("narrow", (1, *span), IndexOutOfRange,
           f"narrow: start {span[0]} and length {span[1]} do not fit dimension 1 of size 3")
          for span in ((2, 2), (-4, 1), (0, -1), (4, 0))],
        ("chunk", (0,), ArgumentError, "chunk: chunks must be greater than 0, not 0"),
        ("as_strided", ((2,), (2**70,)), ShapeError, "reaches element"),
        ("as_strided", ((2,), (-1,)), ShapeError, "sizes (2,), strides (-1,) and offset 0 must be >= 0"),
        ("as_strided", ((2,), (1,), -1), ShapeError, "and offset -1 must be >= 0"))],
    (lambda: M.T.view(6), ShapeError, "has no view of shape (6,)"),
    (lambda: M.T.as_strided((1,), (1,)), ShapeError, "as_strided: the array is not contiguous"),
    *[(lambda split=split: split(pn.zeros(2**40, 0)), ArgumentError, "pieces without elements are too many")
      for split in (lambda x: x.split(1), lambda x: x.chunk(2**40), lambda x: pn.nested_array([x.T]).split(1, 2))],
    (lambda: pn.stack([]), StructureError, "stack: the list is empty"),
    (lambda: pn.stack(1.0), ArgumentError, "stack: takes a list of arrays, not float"),
    *[(lambda join=join: join([M, M.T]), ShapeError, "array 1 has shape (3, 2) and array 0 has shape (2, 3)")
      for join in (pn.cat, pn.stack)],
    (lambda: M @ M, ShapeError, "matmul: the left operand of shape (2, 3) has 3 columns"),
    (lambda: M @ 2.0, ShapeError, "both need at least one dimension"),
    (lambda: pn.bmm(M, M), ShapeError, "bmm: shapes (2, 3) and (2, 3) must have three dimensions each"),
    # more elements, or dimensions, than any memory has
    *[(call, ShapeError, f"{name}: shape (") for name, call in (
        ("rand", lambda: pn.rand(2**62)), ("full", lambda: pn.full((2**62,), 1)),
        ("array", lambda: pn.array(np.zeros((0, 2**62), np.int8))),
        ("exp", lambda: pn.exp(np.zeros((0, 2**62), np.int8))), ("reshape", lambda: pn.zeros(0).reshape(2**32, 2**32)),
        ("matmul", lambda: pn.zeros(2**40, 0) @ pn.zeros(0, 2**40)),
        ("matmul", lambda: M.as_strided((2**40, 1), (0, 0)) @ M.as_strided((1, 2**40), (0, 0))),
        ("cat", lambda: pn.cat([WINDOW, WINDOW])), ("to_padded_array", lambda: pn.to_padded_array(NO_ROWS, 0.0)),
        ("sub", lambda: pn.nested_array_from_jagged(COLUMN[0], [0, 2**40]) - ROW))],
    (lambda: pn.zeros((1,) * 64).unsqueeze(0), ShapeError, "unsqueeze: an array has at most 64 dimensions"),
    (lambda: pn.nested_array_from_strided(pn.ones(0), [[0, 2**58]] * 9).to_dense(), ShapeError, "too many elements"),
    (lambda: pn.cat([pn.nested_array_from_strided(pn.ones(1), [[0, 2**57], [1, 1]])] * 4, 2), StructureError,
     "component 0 of sizes [0, 576460752303423488] has too many elements"),
    (lambda: pn.nested_array_from_strided(pn.ones(0), [[2**40, 0], [1, 0]])
     @ pn.nested_array_from_strided(pn.ones(0), [[0, 2**40], [0, 1]]), StructureError,
     "matmul: component 0 of sizes [1099511627776, 1099511627776] has too many elements"),
]  # fmt: skip
