"""What the dense operators accept and refuse: dtypes, shapes, dims and indices. Values and gradients are elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import (
    ArgumentError,
    DimensionError,
    DTypeError,
    EmptyReductionError,
    IndexOutOfRange,
    ShapeError,
    StructureError,
)

NAN = float("nan")
X = pn.array(np.arange(6.0).reshape(2, 3))
I8, U8, I64 = pn.array([1, 2], dtype="int8"), pn.array([3, 0], dtype="uint8"), pn.array([5, -6])
F32 = pn.array([0.5, 2.0], dtype="float32")
BOOL = pn.array([True, False])


WINDOW = pn.zeros(1).broadcast_to((2**58,))
REFUSED: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: BOOL - BOOL, DTypeError, "sub: bools"),
    (lambda: -BOOL, DTypeError, "neg: takes numbers, not bool"),
    (lambda: BOOL.relu(), DTypeError, "relu: takes numbers, not bool"),
    (lambda: BOOL.sgn(), DTypeError, "sgn: takes numbers, not bool"),
    (lambda: I8.gelu(), DTypeError, "gelu: takes floating point, not int8"),
    (lambda: I8.silu(), DTypeError, "silu: takes floating point"),
    (lambda: I8.softmax(0), DTypeError, "softmax: needs a floating point array"),
    (lambda: F32.softmax(0, dtype="int64"), DTypeError, "softmax"),
    (lambda: I8.dropout(), DTypeError, "dropout"),
    (lambda: I8.layer_norm(2), DTypeError, "layer_norm"),
    (lambda: F32.mean(dtype="int64"), DTypeError, "mean"),
    (lambda: I8 + 300, OverflowError, "300"),
    (lambda: U8 + -1, OverflowError, "-1"),
    (lambda: X.masked_fill(X, 0.0), DTypeError, "mask must be bool, not float64"),
    (lambda: pn.where(1, X, X), DTypeError, "condition must be bool, not int"),
    (lambda: I8.masked_fill(BOOL, 0.5), DTypeError, "can equal 0.5"),
    (lambda: I8.masked_fill(BOOL, NAN), DTypeError, "can equal nan"),
    (lambda: I8.masked_fill(BOOL, 300), OverflowError, "300 is out of bounds for int8"),
    (lambda: BOOL.masked_fill(BOOL, 2), DTypeError, "can equal 2"),
    (lambda: X + pn.array([1.0, 2.0]), ShapeError, r"add: shapes \(2, 3\) and \(2,\) do not broadcast"),
    (lambda: pn.where(BOOL, X, X), ShapeError, "where"),
    (lambda: pn.add(X, X, alpha=True), ArgumentError, "alpha"),
    (lambda: pn.add("x", X), ArgumentError, "str is neither an array nor a number"),
    (lambda: X.gelu("sigmoid"), ArgumentError, "approximate"),
    (lambda: X.sum(2), DimensionError, r"range of \[-2, 1\], but got 2"),
    (lambda: X.sum((0, -2)), DimensionError, "named twice"),
    (lambda: X.sum(1.0), ArgumentError, "dim must be an integer"),
    (lambda: X.sum(True), ArgumentError, "dim must be an integer"),
    (lambda: pn.array(1.0).sum(0), DimensionError, "no dimensions"),
    (lambda: pn.array(np.zeros((2, 0))).amax(1), EmptyReductionError, "amax: dimension 1"),
    (lambda: X.reshape(4), ShapeError, "6 elements, which do not fill"),
    (lambda: X.reshape(-1, -1), ShapeError, "one -1"),
    (lambda: X.T.view(6), ShapeError, "cannot be seen in the shape"),
    (lambda: X.permute((0, 0)), DimensionError, "permute"),
    (lambda: X.broadcast_to((3, 3)), ShapeError, "broadcast_to"),
    (lambda: X.select(1, 3), IndexOutOfRange, "index 3 is out of bounds for dimension 1 with size 3"),
    (lambda: X.narrow(1, 2, 2), IndexOutOfRange, "exceeds dimension size"),
    (lambda: X.chunk(0), ArgumentError, "chunks"),
    (lambda: pn.zeros(0, 2).chunk(2**20 + 1), ArgumentError, "at most 1048576"),
    (lambda: X[2**63], IndexOutOfRange, "beyond int64"),
    (lambda: X[-(2**70)], IndexOutOfRange, "beyond int64"),
    (lambda: X[2], IndexOutOfRange, "index"),
    (lambda: X[0, 0, 0], DimensionError, "too many indices"),
    (lambda: X[True], ArgumentError, "index"),
    (lambda: X[1.0], ArgumentError, "index"),
    (lambda: X[:, [0, 9]], IndexOutOfRange, "9, at place 1 of the index, is out of bounds for dimension 1"),
    (lambda: X.as_strided((4,), (2,)), ShapeError, "reaches element 6"),
    (lambda: X.T.as_strided((1,), (1,)), ShapeError, "contiguous"),
    (lambda: X.as_strided((2,), (-1,)), ShapeError, "as_strided"),
    (lambda: pn.cat([]), StructureError, "nothing to join"),
    (lambda: pn.cat([X, X.T]), ShapeError, "array 1"),
    (lambda: pn.stack([X, X.T]), ShapeError, "array 1"),
    (lambda: X @ X, ShapeError, "matmul: the last dimension"),
    (lambda: X @ 2.0, ShapeError, "at least one dimension"),
    (lambda: pn.bmm(X, X), ShapeError, "three dimensions"),
    (lambda: pn.linear(X, X.T), ShapeError, r"weight must have shape \(out, 3\)"),
    (lambda: pn.linear(X, X, pn.array([1.0])), ShapeError, r"bias must have shape \(2,\)"),
    (lambda: X.layer_norm(2), ShapeError, "normalized_shape"),
    (lambda: X.layer_norm(3, pn.array([1.0])), ShapeError, r"weight must have shape \(3,\)"),
    (lambda: X.dropout(1.5), ArgumentError, "p must be"),
    (lambda: X.dropout(NAN), ArgumentError, "p must be"),
    (lambda: pn.embedding(X, X), DTypeError, "indices must be integers"),
    (lambda: pn.embedding(pn.array([0, 2]), X), IndexOutOfRange, "index 2 at flat position 1"),
    (lambda: pn.embedding(pn.array([0]), X[0]), ShapeError, r"weight must have shape \(V, E\)"),
    (lambda: pn.cross_entropy(X, pn.array([0, 3])), IndexOutOfRange, "target 3 at flat position 1"),
    (lambda: pn.cross_entropy(X, pn.array([0])), ShapeError, "cross_entropy"),
    (lambda: pn.cross_entropy(X, pn.array([0.0, 1.0])), DTypeError, "class numbers"),
    (lambda: pn.cross_entropy(X, pn.array([0, 1]), reduction="max"), ArgumentError, "reduction"),
    (lambda: pn.cross_entropy(X, pn.array([0, 1]), label_smoothing=2), ArgumentError, "label_smoothing"),
    (lambda: pn.cross_entropy(X, pn.array([0, 1]), weight=pn.array([1.0])), ShapeError, "weight"),
    (lambda: X.to("complex64"), DTypeError, "complex64"),
    (lambda: pn.zeros(0).reshape(2**32, 2**32), ShapeError, "reshape: .* too many elements"),
    (lambda: pn.zeros(0).view(2**32, 2**32), ShapeError, "view: .* too many elements"),
    (lambda: pn.zeros(0).unflatten(0, (2**32, 2**32)), ShapeError, "unflatten: .* too many elements"),
    (lambda: pn.zeros(0, 2).unflatten(0, (0, 2**59)), ShapeError, "unflatten: .* too many elements"),
    (lambda: X.reshape(2**70), ShapeError, "reshape: .* too many elements"),
    (lambda: X.reshape(-(2**70)), ShapeError, "one -1"),
    (lambda: X.as_strided((2**70,), (0,)), ShapeError, "as_strided: .* too many elements"),
    (lambda: X.as_strided((2**40, 2**40), (0, 0)), ShapeError, "as_strided: .* too many elements"),
    (lambda: X.as_strided((2,), (2**70,)), ShapeError, "reaches element"),
    (lambda: X.broadcast_to((2**60, 2, 3)), ShapeError, "broadcast_to: .* too many elements"),
    (lambda: pn.zeros(1, 1).broadcast_to((2**30, 1)) + pn.zeros(1).broadcast_to((2**40,)), ShapeError, "can exist"),
    (lambda: WINDOW + pn.zeros(1, 1).broadcast_to((2, 1)), ShapeError, "add: .* too many elements"),
    (lambda: pn.zeros(2**40, 0) @ pn.zeros(0, 2**40), ShapeError, "matmul: .* too many elements"),
    (lambda: X.as_strided((2**40, 1), (0, 0)) @ X.as_strided((1, 2**40), (0, 0)), ShapeError, "matmul: .* too many"),
    (lambda: pn.zeros(2**70), ShapeError, "zeros: .* too many elements"),
    (lambda: pn.zeros(2**59), ShapeError, "zeros: .* too many elements"),
    (lambda: pn.arange(2**59), ArgumentError, "more numbers than fit anywhere"),
    (lambda: pn.arange(2**62), ArgumentError, "more numbers than fit anywhere"),
    (lambda: pn.arange(0, 2**62, 3), ArgumentError, "more numbers than fit anywhere"),
    (lambda: pn.arange(0.0, 1e300), ArgumentError, "more numbers than fit anywhere"),
    (lambda: pn.cat([WINDOW, WINDOW]), ShapeError, "cat: .* too many elements"),
    (lambda: pn.stack([WINDOW, WINDOW], 1), ShapeError, "stack: .* too many elements"),
    (lambda: pn.zeros(0, 2**62, 8), ShapeError, "zeros: .* too many elements"),
    (lambda: pn.rand(2**62), ShapeError, "rand: .* too many elements"),
    (lambda: pn.full((2**62,), 1), ShapeError, "full: .* too many elements"),
    (lambda: pn.array(np.zeros((0, 2**62), np.int8)), ShapeError, "array: .* too many elements"),
    (lambda: pn.exp(np.zeros((0, 2**62), np.int8)), ShapeError, "exp: .* too many elements"),
    (lambda: pn.zeros((1,) * 65), ShapeError, "zeros: .* at most 64 dimensions"),
    (lambda: pn.zeros((1,) * 64).unsqueeze(0), ShapeError, "unsqueeze: .* at most 64 dimensions"),
    (lambda: pn.stack([pn.zeros((1,) * 64)]), ShapeError, "at most 64 dimensions"),
    (lambda: pn.zeros((1,) * 63).unflatten(0, (1, 1, 1)), ShapeError, "unflatten: .* at most 64 dimensions"),
    (lambda: pn.zeros(1).reshape((1,) * 65), ShapeError, "reshape: .* at most 64 dimensions"),
    (lambda: pn.zeros(1)[(None,) * 64], IndexOutOfRange, "index"),
    (lambda: X[2**70], IndexOutOfRange, "index"),
    (lambda: X.select(0, -(2**70)), IndexOutOfRange, "select"),
    (lambda: X.narrow(0, 0, 2**70), IndexOutOfRange, "narrow"),
    (lambda: X[1.5:], ArgumentError, "an end of a slice"),
    (lambda: X[::"a"], ArgumentError, "an end of a slice"),
    (lambda: X[::0], ArgumentError, "step 0"),
    (lambda: X[:True], ArgumentError, "an end of a slice"),
    (lambda: pn.Array([1.0]), ArgumentError, "Array: list"),
    (lambda: pn.Array("a"), ArgumentError, "Array: str"),
    (lambda: pn.Array(None), ArgumentError, "Array: NoneType"),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_refused(number: int) -> None:
    function, kind, message = REFUSED[number]
    with pytest.raises(kind, match=message):
        function()


def test_integers_wrap_and_divide_by_zero_quietly() -> None:
    assert (U8 - pn.array([4, 1], dtype="uint8")).tolist() == [255, 255]
    assert (-U8).tolist() == [253, 0]
    assert (I64 / 0).tolist() == [float("inf"), float("-inf")]
    assert np.isnan((U8 / pn.array([1, 0], dtype="uint8")).numpy()[1])


def test_chunks() -> None:
    x = pn.arange(7)
    assert [piece.tolist() for piece in x.chunk(3)] == [[0, 1, 2], [3, 4, 5], [6]]
    assert [piece.tolist() for piece in x.chunk(5)] == [[0, 1], [2, 3], [4, 5], [6]]
    assert [piece.shape for piece in pn.zeros(0, 2).chunk(3)] == [(0, 2)] * 3


def test_unbind_of_nothing() -> None:
    assert pn.zeros(0, 2).unbind() == ()
    assert len(pn.zeros(2, 0).unbind()) == 2


def test_dropout() -> None:
    x = pn.array(np.array([1.0, NAN, 3.0], np.float32))
    np.testing.assert_array_equal(x.dropout(1.0), [0, NAN, 0])
    assert x.dropout(0.5, training=False).storage is x.storage
    kept = pn.ones(10_000, dtype="float32").dropout(0.1, generator=np.random.default_rng(0)).numpy()
    assert set(kept.tolist()) == {0.0, float(np.float32(1 / 0.9))}
    assert 8800 < np.count_nonzero(kept) < 9200
    assert pn.array(2.0).dropout(0.5).shape == ()


def test_means_of_half_precision_count_beyond_its_range() -> None:
    assert pn.ones(70_000, dtype="float16").mean().item() == 1
    x = pn.array(np.ones(70_000, np.float16), requires_grad=True)
    x.mean().backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), 1 / 70_000, rtol=5e-3)


def test_a_sum_in_integers_converts_every_element_first() -> None:
    x = pn.array([-0.75, -100.25, -100.5])  # 0 - 100 - 100
    assert [x.sum(dtype=kind).item() for kind in ("int64", "int8", "bool")] == [-200, 56, True]
