"""Dense arrays: factories, errors, attributes, and conversions to NumPy and Python."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.autograd import Array
from pynested.backends.errors import ArgumentError, DimensionError, DTypeError, GradientError

TRACKED = pn.array([1.0, 2.0], requires_grad=True)
NUMBERS = pn.array([1, 2])


def test_array_copies_unless_told_otherwise() -> None:
    values = np.arange(4.0)
    assert not np.shares_memory(pn.array(values).numpy(), values)
    assert pn.array(values, copy=False).numpy() is values
    assert pn.array(TRACKED * 2).is_leaf
    assert pn.array(values).numpy().ctypes.data % 64 == 0


def test_sizes_are_separate_arguments_or_a_tuple() -> None:
    for make in (pn.empty, pn.zeros, pn.ones, pn.rand, pn.randn):
        assert make(2, 0).shape == make((2, 0)).shape == (2, 0) and make(()).shape == ()
    assert pn.zeros(2).tolist() == [0, 0] and pn.ones(2).tolist() == [1, 1] and pn.full(3, 7).tolist() == [7, 7, 7]
    assert pn.full((1, 2), 0.5, requires_grad=True).requires_grad and pn.full((), True).dtype == np.bool_


def test_arange_takes_its_limits_by_position_and_by_name() -> None:
    assert pn.arange(3).tolist() == pn.arange(start=3).tolist() == [0, 1, 2]
    assert pn.arange(start=2, stop=9, step=3).tolist() == [2, 5, 8]
    assert pn.arange(1.0, 0.0, 1e-320).tolist() == pn.arange(0, 1e308, -1e-300).tolist() == []  # -inf steps
    assert pn.arange(2, stop=4).tolist() == [2, 3] and pn.arange(5, step=2).tolist() == [0, 2, 4]
    for x in (pn.arange(1, 2, 0.25, requires_grad=True), pn.arange(1, 2, step=0.25, requires_grad=True)):
        assert x.requires_grad and x.tolist() == [1.0, 1.25, 1.5, 1.75]


ERRORS: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "text": (lambda: pn.array(["a"]), DTypeError, ""),
    "ragged lists": (lambda: pn.array([[1, 2], [3]]), ArgumentError, "nested_array"),
    "an integer beyond int64 among floats": (
        lambda: pn.array([2**70, 0.5]), OverflowError, "beyond the range of int64"),
    "an integer beyond int64 of NumPy": (lambda: pn.array([[2**70], [np.int8(1)]]), OverflowError, "array: .*int64"),
    "a list as a number": (
        lambda: pn.full(2, [0] * 99), ArgumentError, "fill_value must be a number, not a list of 99"),
    "a list of a long integer": (lambda: pn.full(2, [10**5000]), ArgumentError, "must be a number, not a list of 1"),
    "a dict of a long integer": (lambda: pn.zeros({1: 10**5000}), ArgumentError, "an integer, not a dict of 1"),
    "a fraction of a long integer": (
        lambda: pn.softmax(TRACKED, Fraction(10**5000, 3)), ArgumentError, "dim must be an integer, not a Fraction"),
    "complex numbers": (lambda: pn.array([1j], dtype=pn.float64), DTypeError, r"complex128 values .*\(values\.real\)"),
    "floats as integers": (lambda: pn.array([1.0], dtype=pn.int32), DTypeError,
        r"cannot represent all of them.*pn\.array\(values\)\.to\(pn\.int32\)"),
    "a class as a number": (lambda: pn.full(2, np.float64), ArgumentError, "not <class 'numpy.float64'>"),
    "a long text as a size": (lambda: pn.zeros("2" * 999), ArgumentError, "a size must be an integer, not a str"),
    "negative size": (lambda: pn.zeros(2, -1), ArgumentError, "negative"),
    "integers that require grad": (lambda: pn.arange(3, requires_grad=True), DTypeError, "int64"),
    "size of a missing dim": (lambda: pn.zeros(3, 2).size(2), DimensionError, ""),
    "float of two": (lambda: float(pn.array([1.0, 2.0])), ArgumentError, ""),
    "len of a 0-d array": (lambda: len(pn.array(1.0)), ArgumentError, ""),
    "bool of nothing": (lambda: bool(pn.array([])), ArgumentError, ""),
    "index of a float": (lambda: [1, 2][pn.array(1.0)], DTypeError, "only an integer"),
    "numpy of a tracked array": (TRACKED.numpy, GradientError, "detach"),
    "asarray of a tracked array": (lambda: np.asarray(TRACKED), GradientError, "detach"),
    "a list times an array": (lambda: [1.0, 2.0] * TRACKED, TypeError, ""),
    "less than None": (lambda: TRACKED < None, TypeError, ""),
    "a dict in matmul": (lambda: TRACKED @ {}, TypeError, ""),
    "an intermediate result": (lambda: (TRACKED * 2).requires_grad_(False), GradientError, "only a leaf"),
    "another buffer": (lambda: setattr(TRACKED * 2, "data", np.ones(2)), AttributeError, "property 'data' of"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "text"), ERRORS.values(), ids=ERRORS)
def test_errors(call: Callable[[], Any], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text or None):
        call()
    assert TRACKED.tolist() == [1, 2]


def test_attributes() -> None:
    x = pn.array(np.arange(6.0).reshape(2, 3).T)
    assert (x.shape, x.ndim, x.dim(), x.numel(), len(x)) == ((3, 2), 2, 2, 6, 3)
    assert (x.size(), x.size(-1), x.stride(), x.stride(0)) == ((3, 2), 2, (2, 1), 2)
    assert x.is_contiguous() and not x.T.is_contiguous() and x.T.storage is x.storage
    assert x.dtype == np.float64 and (x.device, x.is_leaf, x.is_nested) == ("cpu", True, False)
    assert len({NUMBERS, pn.array([1, 2]), NUMBERS}) == 2  # hashes are by identity


def test_repr() -> None:
    assert repr(NUMBERS) == "array([1, 2])" and repr(TRACKED) == "array([1., 2.], requires_grad=True)"
    assert repr(TRACKED * 2) == "array([2., 4.], made by mul)"
    assert repr(TRACKED.unbind()[0]) == "array(1., made by unbind)"
    assert repr(pn.zeros(0)) == "array([])" and repr(pn.zeros(2, 0)) == "array([], shape=(2, 0))"
    assert repr(pn.zeros(0, dtype=pn.int64)) == "array([], dtype=int64)"  # pn.array([]) is float64
    assert repr(pn.array([[]]) > 0) == "array([], shape=(1, 0), dtype=bool)"
    assert repr(pn.nested_array([[], []], dtype=bool)).endswith(", shape=(2, 0), dtype=bool)")


def test_python_numbers() -> None:
    assert (float(pn.array(2.5)), int(pn.array([3])), bool(pn.array([[1]])), pn.array(2).item()) == (2.5, 3, True, 2)
    assert [10, 20, 30][pn.array(1)] == 20
    loss = pn.array(1.2345, requires_grad=True) * 1
    assert f"{loss:.3f}" == "1.234" and round(loss, 2) == 1.23
    assert type(round(loss)) is int and round(pn.array([0.5, 1.5])).tolist() == [0.0, 2.0]


def test_numpy_reads_arrays_and_stands_on_either_side() -> None:
    x = pn.array([1.0, 4.0])
    assert x.numpy() is x.data
    assert np.asarray(x, dtype=np.float32).dtype == np.float32
    assert isinstance(np.array([1.0, 2.0]) + x, Array)
    assert (np.float64(3) * x).tolist() == [3, 12] and not (TRACKED > 0).requires_grad
    assert (np.ones(2) < x).tolist() == [False, True] == np.greater(x, np.ones(2)).tolist()


def test_a_leaf_can_stop_requiring_grad() -> None:
    x = pn.array([1.0], requires_grad=True)
    y = x * x
    x.requires_grad_(False)
    y.sum().backward()
    assert x.grad is None and not (x * 2).requires_grad
