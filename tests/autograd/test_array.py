"""Dense arrays: construction, conversion to NumPy and Python, refusals, and writes in place."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.autograd import Array, manual_seed, no_grad
from pynested.backends.errors import (
    ArgumentError,
    DeviceError,
    DimensionError,
    DTypeError,
    GradientError,
    ReadOnlyError,
    ShapeError,
)

DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64")
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


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(dtype: str) -> None:
    assert pn.array([0, 1], dtype=dtype).dtype == dtype
    assert pn.zeros(2, dtype=dtype).tolist() == [0, 0]
    assert pn.ones((2,), dtype=dtype).tolist() == [1, 1]
    assert pn.full((2,), 1, dtype=dtype).dtype == dtype
    assert pn.empty(2, 0, dtype=dtype).shape == (2, 0)


def test_filled_and_rounded_values() -> None:
    assert pn.array([1e300, 0.1], dtype="float32").tolist() == [float("inf"), float(np.float32(0.1))]
    assert pn.full(3, 7).tolist() == [7, 7, 7]
    assert pn.full((1, 2), 0.5, requires_grad=True).requires_grad
    assert pn.full((), True).dtype == np.bool_


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


def test_random_arrays_follow_the_seed_or_their_generator() -> None:
    def draw() -> list[Any]:
        manual_seed(1)
        return [pn.rand(2).tolist(), pn.randn(2).tolist(), pn.randint(5, size=3).tolist()]

    assert draw() == draw()
    own = np.random.default_rng(2)
    assert pn.rand(3, generator=own).tolist() == np.random.default_rng(2).random(3).tolist()
    assert pn.rand(()).shape == pn.randn(()).shape == ()
    integers = pn.randint(-2, 3, (100,), dtype="int8")
    assert integers.dtype == np.int8 and set(integers.tolist()) == {-2, -1, 0, 1, 2}


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_random_numbers_stay_below_one(dtype: str) -> None:
    class Almost(np.random.Generator):
        def random(self, size: Any = None, out: Any = None) -> Any:  # type: ignore[override]
            out = np.empty(size) if out is None else out
            out[...] = 1 - 2.0**-53
            return out

    x = pn.rand(4, dtype=dtype, generator=Almost(np.random.PCG64()))
    assert x.dtype == dtype and (x < 1.0).tolist() == [True] * 4


# ---- refusals -----------------------------------------------------------------------------------------------------

ERRORS: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "a float as int64": (lambda: pn.array([1.5], dtype="int64"), DTypeError, ""),
    "300 as int8": (lambda: pn.array([300], dtype="int8"), OverflowError, ""),
    "-1 as uint8": (lambda: pn.array([-1], dtype="uint8"), OverflowError, ""),
    "2 as bool": (lambda: pn.array([2], dtype="bool"), OverflowError, ""),
    "a float as bool": (lambda: pn.array([0.0], dtype="bool"), DTypeError, ""),
    "complex data": (lambda: pn.array([1j]), DTypeError, ""),
    "complex dtype": (lambda: pn.array([1.0], dtype="complex128"), DTypeError, ""),
    "uint16": (lambda: pn.array([1], dtype="uint16"), DTypeError, ""),
    "uint32 of NumPy": (lambda: pn.array(np.zeros(2, np.uint32)), DTypeError, ""),
    "text": (lambda: pn.array(["a"]), DTypeError, ""),
    "None": (lambda: pn.array([None]), DTypeError, ""),
    "beyond int64": (lambda: pn.array([2**70]), OverflowError, ""),
    "ragged lists": (lambda: pn.array([[1, 2], [3]]), ArgumentError, "nested_array"),
    "no device for array": (lambda: pn.array([1.0], device="nowhere"), DeviceError, ""),
    "no device for zeros": (lambda: pn.zeros(2, device="nowhere"), DeviceError, ""),
    "full of a float as int64": (lambda: pn.full((2,), 1.5, dtype="int64"), DTypeError, ""),
    "negative size": (lambda: pn.zeros(2, -1), ArgumentError, "negative"),
    "size of a float": (lambda: pn.zeros(2.5), ArgumentError, "integer"),  # type: ignore[arg-type]
    "integers that require grad": (lambda: pn.arange(3, requires_grad=True), DTypeError, ""),
    "an int array that requires grad": (lambda: pn.array([1], requires_grad=True), DTypeError, "int64"),
    "arange without start": (lambda: pn.arange(stop=3), ArgumentError, "arange: 'start' is not given"),  # type: ignore[call-arg]
    "rand of integers": (lambda: pn.rand(2, dtype="int64"), DTypeError, ""),
    "rand of another generator": (lambda: pn.rand(2, generator=3), ArgumentError, "default_rng"),  # type: ignore[arg-type]
    "size of a missing dim": (lambda: pn.zeros(3, 2).size(2), DimensionError, ""),
    "float of two": (lambda: float(pn.array([1.0, 2.0])), ArgumentError, ""),
    "len of a 0-d array": (lambda: len(pn.array(1.0)), ArgumentError, ""),
    "bool of nothing": (lambda: bool(pn.array([])), ArgumentError, ""),
    "index of a float": (lambda: [1, 2][pn.array(1.0)], DTypeError, "only an integer"),
    "NumPy's out": (lambda: np.add(NUMBERS, NUMBERS, out=np.zeros(2)), TypeError, ""),
    "reduce of a ufunc": (lambda: np.add.reduce(NUMBERS), TypeError, ""),
    "numpy of what requires grad": (TRACKED.numpy, GradientError, "detach"),
    "asarray of what requires grad": (lambda: np.asarray(TRACKED), GradientError, "detach"),
    "adding text": (lambda: TRACKED + "a", TypeError, ""),
    "a list times an array": (lambda: [1.0, 2.0] * TRACKED, TypeError, ""),
    "less than None": (lambda: TRACKED < None, TypeError, ""),
    "a dict in matmul": (lambda: TRACKED @ {}, TypeError, ""),
    "times a complex number": (lambda: TRACKED * 1j, DTypeError, "complex"),
    "deepcopy of a result": (lambda: copy.deepcopy(TRACKED * 2), GradientError, "deepcopy"),
    "a result that stops": (lambda: (TRACKED * 2).requires_grad_(False), GradientError, "only a leaf"),
    "div_ of integers": (lambda: NUMBERS.div_(2), DTypeError, "without loss"),
    "fill_ with a fraction": (lambda: NUMBERS.fill_(2.5), DTypeError, r"can equal 2.5"),
    "fill_ beyond int8": (lambda: pn.array([1], dtype="int8").fill_(300), OverflowError, ""),
    "add_ of a larger one": (lambda: NUMBERS.add_(pn.ones(2, 2, dtype="int64")), ShapeError, r"\(2, 2\) does not fit"),
    "copy_ of a longer one": (lambda: NUMBERS.copy_(pn.array([1, 2, 3])), ShapeError, ""),
    "a write where places repeat": (lambda: NUMBERS.broadcast_to((2, 2)).mul_(2), GradientError, "read-only"),
    "add_ of what requires grad": (lambda: pn.array([1.0, 2.0]).add_(TRACKED), GradientError, "an operand requires"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name: str) -> None:
    call, kind, text = ERRORS[name]
    with pytest.raises(kind, match=text or None):
        call()
    assert (NUMBERS.tolist(), TRACKED.tolist()) == ([1, 2], [1, 2])


@pytest.mark.parametrize("layout", [None, pn.jagged, pn.strided])
def test_data_and_structure_cannot_be_set(layout: Any) -> None:
    for x in (pn.ones(2, 3), pn.ones(3, requires_grad=True) * 2, pn.ones(4)[1:]):
        arrays: list[Any] = [x]
        if layout is not None:
            nested = pn.nested_array([np.ones(2), np.ones(3)], layout=layout)
            arrays = [nested, nested.data, nested.values(), nested.unbind()[0]]
        for array in arrays:
            before, values = array.data, np.array(array.data)
            for name in ("data", "structure")[: 1 + array.is_nested]:
                for other in (np.ones(1), before, pn.ones(2), None):
                    with pytest.raises(ReadOnlyError, match=rf"Array\.{name} cannot be set\. .*copy_\(source\)"):
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
    assert TRACKED.sum().item() == 3
    assert pn.array([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]
    loss = pn.array(1.2345, requires_grad=True) * 1
    assert f"{loss:.3f}" == "1.234" and round(loss, 2) == 1.23
    assert type(round(loss)) is int and round(pn.array([0.5, 1.5])).tolist() == [0.0, 2.0]


def test_numpy_reads_arrays_and_stands_on_either_side() -> None:
    x = pn.array([1.0, 4.0])
    assert x.numpy() is x.data
    assert np.asarray(x, dtype=np.float32).dtype == np.float32
    recorded: Any = np.exp(TRACKED)
    assert np.sqrt(x).tolist() == [1, 2] and recorded.requires_grad
    assert isinstance(np.array([1.0, 2.0]) + x, Array)
    assert (np.float64(3) * x).tolist() == [3, 12]
    assert np.from_dlpack(x).tolist() == [1, 4]
    assert (np.ones((2, 2)) @ x).tolist() == [5.0, 5.0]
    assert (np.ones(2) < x).tolist() == [False, True] == np.greater(x, np.ones(2)).tolist()


def test_comparisons() -> None:
    x, y = pn.array([1.0, 2.0, np.nan]), pn.array([2.0, 2.0, np.nan])
    found = [(x < y), (x <= y), (x > y), (x >= y), (x == y), (x != y)]
    assert [one.tolist() for one in found] == [
        [True, False, False], [True, True, False], [False] * 3, [False, True, False], [False, True, False],
        [True, False, True],
    ]  # fmt: skip
    assert (~pn.array([True, False])).tolist() == [False, True]
    assert not (TRACKED > 0).requires_grad


def test_copies_and_pickles() -> None:
    x = pn.array([[1.0, 2.0]], requires_grad=True)
    for again in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert again.requires_grad and again.tolist() == x.tolist()
        assert not np.shares_memory(again.data, x.data)
    assert pickle.loads(pickle.dumps(x * 2)).is_leaf
    assert pickle.loads(pickle.dumps(pn.array(2.0))).shape == ()
    y = pn.zeros(2)
    copy.copy(y)[0] = 5.0
    assert y.tolist() == [5.0, 0.0]


def test_a_leaf_can_stop_requiring_grad() -> None:
    x = pn.array([1.0], requires_grad=True)
    y = x * x
    x.requires_grad_(False)
    y.sum().backward()
    assert x.grad is None and not (x * 2).requires_grad


# ---- writes in place ----------------------------------------------------------------------------------------------


def test_writes_go_through_views() -> None:
    x = pn.array(np.arange(6.0).reshape(2, 3))
    x[0].mul_(2)
    x[1, 2] = 50
    x.T[1].fill_(-1)
    x.select(1, 0).copy_(pn.array([7.0, 8.0]))
    assert x.tolist() == [[7, -1, 4], [8, -1, 50]]
    x += 1
    x -= pn.array([1.0, 0.0, 0.0])
    x *= 2
    x /= 4
    assert x.tolist() == [[3.5, 0, 2.5], [4, 0, 25.5]]
    assert x.neg_().abs_().relu_().exp_() is x
    x.masked_fill_(x > 1e3, 0.0).add_(1, alpha=2).sub_(x).zero_()
    assert x.tolist() == [[0, 0, 0], [0, 0, 0]]
    assert pn.array([1, 2]).fill_(3.0).tolist() == [3, 3]


def test_views_share_one_storage() -> None:
    x = pn.array(np.arange(12.0))
    views = [x[1:], x.reshape(3, 4), x.detach(), x.as_strided((2,), (3,)), x[3], x.unsqueeze(0), x.reshape(3, 4).T]
    views += [*x.unbind()[:1], *x.chunk(2), x.broadcast_to((2, 12)), x.view(4, 3)[1]]
    assert all(view.storage is x.storage for view in views)
    assert x.clone().storage is not x.storage


VIEWS: dict[str, Callable[[Array], Array]] = {
    "leaf": lambda x: x,
    "index": lambda x: x[0],
    "transposed": lambda x: x.T,
    "result": lambda x: x * 2,
    "unbound": lambda x: x.unbind()[0],
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_a_write_is_refused_where_a_gradient_would_be_wrong(view: Callable[[Array], Array]) -> None:
    x = pn.array([[1.0, 2.0]], requires_grad=True)
    with pytest.raises(GradientError, match=r"mul_: this array requires grad.*x = x.mul"):
        view(x).mul_(2)
    with pytest.raises(GradientError, match="this array requires grad"):
        view(x)[...] = 0
    with no_grad():
        view(x).mul_(2)
