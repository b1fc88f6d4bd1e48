"""Dense arrays: factories, errors, attributes, and conversions to NumPy and Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.autograd import Array
from pynested.backends.errors import (
    ArgumentError,
    DimensionError,
    DTypeError,
    GradientError,
    ShapeError,
)

TRACKED = pn.array([1.0, 2.0], requires_grad=True)
NUMBERS = pn.array([1, 2])

# ---- construction -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "dtype", "shape"),
    [
        ([[1, 2], [3, 4]], "int64", (2, 2)),
        ([1.0], "float64", (1,)),
        ([True], "bool", (1,)),
        ([], "float64", (0,)),
        (3, "int64", ()),
    ],
)
def test_dtype_and_shape_follow_the_data(data: Any, dtype: str, shape: tuple[int, ...]) -> None:
    x = pn.array(data)
    assert x.dtype == dtype and x.shape == shape


def test_array_copies_unless_told_otherwise() -> None:
    values = np.arange(4.0)
    assert not np.shares_memory(pn.array(values).numpy(), values)
    assert pn.array(values, copy=False).numpy() is values
    assert pn.array(TRACKED * 2).is_leaf
    assert pn.array(values).numpy().ctypes.data % 64 == 0


def test_sizes_are_given_one_by_one_or_as_a_tuple() -> None:
    for make in (pn.empty, pn.zeros, pn.ones, pn.rand, pn.randn):
        assert make(2, 0).shape == make((2, 0)).shape == (2, 0) and make(()).shape == ()
    assert pn.zeros(2).tolist() == [0, 0] and pn.ones(2).tolist() == [1, 1] and pn.full(3, 7).tolist() == [7, 7, 7]
    assert pn.full((1, 2), 0.5, requires_grad=True).requires_grad and pn.full((), True).dtype == np.bool_


@pytest.mark.parametrize(
    ("args", "kwargs", "numbers"),
    [
        ((3,), {}, [0, 1, 2]),
        ((1, 4), {}, [1, 2, 3]),
        ((5, 0, -2), {}, [5, 3, 1]),
        ((), {"start": 2, "stop": 9, "step": 3}, [2, 5, 8]),
        ((2,), {"stop": 4}, [2, 3]),
        ((5,), {"step": 2}, [0, 2, 4]),
        ((1, 2), {"step": 0.25, "requires_grad": True}, [1.0, 1.25, 1.5, 1.75]),
        ((1, 2, 0.25), {"requires_grad": True}, [1.0, 1.25, 1.5, 1.75]),
        ((), {"start": 2}, [0, 1]),
    ],
)
def test_arange_takes_its_limits_by_position_and_by_name(args: Any, kwargs: Any, numbers: Any) -> None:
    assert pn.arange(*args, **kwargs).tolist() == numbers


class Almost(np.random.Generator):
    """Draws the largest float64 below 1."""

    def random(self, size: Any = None, out: Any = None) -> Any:  # type: ignore[override]
        out = np.empty(size) if out is None else out
        out[...] = 1 - 2.0**-53
        return out


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_random_numbers_stay_below_one(dtype: str) -> None:
    assert (pn.rand(4, dtype=dtype, generator=Almost(np.random.PCG64())) < 1.0).tolist() == [True] * 4


# ---- refusals -----------------------------------------------------------------------------------------------------

ERRORS: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "text": (lambda: pn.array(["a"]), DTypeError, ""),
    "None": (lambda: pn.array([None]), DTypeError, ""),
    "ragged lists": (lambda: pn.array([[1, 2], [3]]), ArgumentError, "nested_array"),
    "negative size": (lambda: pn.zeros(2, -1), ArgumentError, "negative"),
    "integers that require grad": (lambda: pn.arange(3, requires_grad=True), DTypeError, "int64"),
    "arange without start": (lambda: pn.arange(stop=3), ArgumentError, "arange: 'start' is missing"),  # type: ignore[call-arg]
    "size of a missing dim": (lambda: pn.zeros(3, 2).size(2), DimensionError, ""),
    "float of two": (lambda: float(pn.array([1.0, 2.0])), ArgumentError, ""),
    "len of a 0-d array": (lambda: len(pn.array(1.0)), ArgumentError, ""),
    "bool of nothing": (lambda: bool(pn.array([])), ArgumentError, ""),
    "index of a float": (lambda: [1, 2][pn.array(1.0)], DTypeError, "only an integer"),
    "numpy of what requires grad": (TRACKED.numpy, GradientError, "detach"),
    "asarray of what requires grad": (lambda: np.asarray(TRACKED), GradientError, "detach"),
    "adding text": (lambda: TRACKED + "a", TypeError, ""),
    "a list times an array": (lambda: [1.0, 2.0] * TRACKED, TypeError, ""),
    "less than None": (lambda: TRACKED < None, TypeError, ""),
    "a dict in matmul": (lambda: TRACKED @ {}, TypeError, ""),
    "times a complex number": (lambda: TRACKED * 1j, DTypeError, "complex"),
    "a result that stops": (lambda: (TRACKED * 2).requires_grad_(False), GradientError, "only a leaf"),
    "an operand of another shape": (lambda: NUMBERS.add_(pn.ones(2, 2)), ShapeError, r"\(2, 2\) does not fit"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name: str) -> None:
    call, kind, text = ERRORS[name]
    with pytest.raises(kind, match=text or None):
        call()
    assert (NUMBERS.tolist(), TRACKED.tolist()) == ([1, 2], [1, 2])


NESTED = [pn.nested_array([np.ones(2), np.ones(3)], layout=layout) for layout in (pn.jagged, pn.strided)]
ARRAYS = [
    pn.ones(2, 3),
    TRACKED * 2,
    pn.ones(4)[1:],
    *NESTED,
    NESTED[0].data,
    NESTED[1].values(),
    NESTED[1].unbind()[0],
]


@pytest.mark.parametrize("array", ARRAYS, ids=range(len(ARRAYS)))
def test_data_and_structure_cannot_be_set(array: Any) -> None:
    before, values = array.data, np.array(array.data)
    for name in ("data", "structure")[: 1 + array.is_nested]:
        for other in (np.ones(1), before, pn.ones(2), None):
            with pytest.raises(AttributeError, match=rf"property '{name}' of .* has no setter"):
                setattr(array, name, other)
    assert array.data is before and (np.array(array.data) == values).all()


# ---- attributes and conversions -----------------------------------------------------------------------------------


def test_attributes() -> None:
    x = pn.array(np.arange(6.0).reshape(2, 3).T)
    assert (x.shape, x.ndim, x.dim(), x.numel(), len(x)) == ((3, 2), 2, 2, 6, 3)
    assert (x.size(), x.size(-1), x.stride(), x.stride(0)) == ((3, 2), 2, (2, 1), 2)
    assert x.is_contiguous() and not x.T.is_contiguous() and x.T.storage is x.storage
    assert x.dtype == np.float64 and (x.device, x.is_leaf, x.is_nested) == ("cpu", True, False)
    assert len({NUMBERS, pn.array([1, 2]), NUMBERS}) == 2  # hashes are by identity


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (NUMBERS, "array([1, 2])"),
        (pn.array([1.0], dtype="float32"), "array([1.], dtype=float32)"),
        (TRACKED, "array([1., 2.], requires_grad=True)"),
        (TRACKED * 2, "array([2., 4.], made by mul)"),
        (TRACKED.unbind()[0], "array(1., made by unbind)"),
    ],
)
def test_repr(x: Array, text: str) -> None:
    assert repr(x) == text


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
    assert (np.ones((2, 2)) @ x).tolist() == [5.0, 5.0]
    assert (np.ones(2) < x).tolist() == [False, True] == np.greater(x, np.ones(2)).tolist()


def test_a_leaf_can_stop_requiring_grad() -> None:
    x = pn.array([1.0], requires_grad=True)
    y = x * x
    x.requires_grad_(False)
    y.sum().backward()
    assert x.grad is None and not (x * 2).requires_grad
