"""The default device and the default dtype: functions that use them, arrays that keep their own, blocks and threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import DeviceError, DTypeError

VALUES = np.array([[1.0, 2.0], [3.0, 4.0]])
Make = Callable[..., Any]

# Functions that make floats without being told a dtype.
FLOATS: dict[str, Make] = {
    "array of a list": lambda **options: pn.array([[0.5, 1], [True, 2.0]], **options),
    "array of a number": lambda **options: pn.array(0.5, **options),
    "array of nothing": lambda **options: pn.array([], **options),
    "empty": lambda **options: pn.empty(2, **options),
    "zeros": lambda **options: pn.zeros(2, **options),
    "ones": lambda **options: pn.ones(2, **options),
    "full": lambda **options: pn.full((2,), 0.5, **options),
    "arange": lambda **options: pn.arange(0, 1, 0.5, **options),
    "rand": lambda **options: pn.rand(2, **options),
    "randn": lambda **options: pn.randn(2, **options),
    "nested_array of lists": lambda **options: pn.nested_array([[0.5], [1, 2.0]], **options),
    "nested_array of nothing": lambda **options: pn.nested_array([], **options),
    "as_nested_array of lists": lambda **options: pn.as_nested_array([[0.5], [1.0, 2.0]], layout=pn.jagged, **options),
    "as_nested_array of nothing": lambda **options: pn.as_nested_array([], **options),
}
FACTORIES: dict[str, Make] = {
    **FLOATS,
    "array of an ndarray": lambda **options: pn.array(VALUES, **options),
    "array of another dtype": lambda **options: pn.array(VALUES, dtype=pn.float32, **options),
    "array that shares": lambda **options: pn.array(VALUES, copy=False, **options),
    "randint": lambda **options: pn.randint(5, size=(2,), **options),
    "nested_array of ndarrays": lambda **options: pn.nested_array(list(VALUES), **options),
    "nested_array of a batch": lambda **options: pn.nested_array(VALUES, **options),
    "as_nested_array of a batch": lambda **options: pn.as_nested_array(VALUES, layout=pn.jagged, **options),
}
WITHOUT_DEVICE: dict[str, Make] = {
    "nested_array_from_jagged": lambda: pn.nested_array_from_jagged(VALUES, [0, 2]),
    "nested_array_from_strided": lambda: pn.nested_array_from_strided(VALUES[0], [[1], [1]]),
    "narrow": lambda: pn.narrow(VALUES, 1, 0, [1, 2], layout=pn.jagged),
    "offsets": lambda: pn.narrow(VALUES, 1, 0, [1, 2], layout=pn.jagged).offsets(),
    "lengths": lambda: pn.narrow(VALUES, 1, 0, [1, 2], layout=pn.jagged).lengths(),
    "zeros_like": lambda: pn.zeros_like(VALUES),
    "rand_like": lambda: pn.rand_like(VALUES),
}
X = pn.array(VALUES)
NESTED = pn.nested_array([X, X])
ON_THE_CPU: dict[str, Make] = {
    "array": lambda: pn.array(X),
    "another dtype": lambda: pn.array(X, dtype=pn.float32),
    "nested_array": lambda: pn.nested_array(X),
    "nested_array beside lists": lambda: pn.nested_array([[[5.0]], X]),
    "as_nested_array": lambda: pn.as_nested_array(X),
    "as_nested_array beside lists": lambda: pn.as_nested_array([X, [[5.0]]]),
    "as_nested_array of nested": lambda: pn.as_nested_array(NESTED),
    "zeros_like": lambda: pn.zeros_like(X),
    "ones_like": lambda: pn.ones_like(NESTED),
    "randn_like": lambda: pn.randn_like(X),
    "nested_array_from_jagged": lambda: pn.nested_array_from_jagged(X, [0, 2]),
    "from_dlpack": lambda: pn.from_dlpack(VALUES),
}


@pytest.mark.parametrize("name", [*FACTORIES, *WITHOUT_DEVICE])
def test_new_arrays_lie_on_the_default_device(name: str) -> None:
    make = (FACTORIES | WITHOUT_DEVICE)[name]
    assert make().device == pn.get_default_device() == "cpu"
    with pn.set_default_device("plain"):
        assert make().device == "plain"
        if name in FACTORIES:
            assert make(device="cpu").device == "cpu"
            with pytest.raises(DeviceError, match="'nowhere'"):
                make(device="nowhere")


@pytest.mark.parametrize("make", ON_THE_CPU.values(), ids=ON_THE_CPU)
def test_arrays_of_arrays_lie_on_their_device(make: Make) -> None:
    with pn.set_default_device("plain"):
        assert make().device == "cpu"


def test_arrays_on_two_devices_are_not_joined() -> None:
    with pn.set_default_device("plain"), pytest.raises(DeviceError, match=r"different devices: cpu, plain"):
        pn.as_nested_array([X, pn.array(VALUES)])


def test_moved_arrays_are_copies_and_keep_their_history() -> None:
    x = pn.array(VALUES, requires_grad=True)
    moved = pn.as_nested_array([x, x], device="plain", layout=pn.jagged)
    moved.values().backward(pn.ones_like(moved.values()))
    assert (x.grad.device, x.grad.tolist()) == ("cpu", [[2, 2], [2, 2]])
    assert not np.shares_memory(pn.array(VALUES, device="plain", copy=False).data, VALUES)


def test_a_missing_device_is_refused_at_once() -> None:
    missing = ["tpu", "cuda:2", 0] if find_spec("cupy") else ["tpu", "cuda:2", 0, "cuda"]
    for device in missing:
        with pytest.raises(DeviceError) as caught:
            pn.set_default_device(device)  # type: ignore[arg-type]
        assert "\n" not in str(caught.value)
    assert pn.get_default_device() == "cpu"


@pytest.mark.parametrize("make", FACTORIES.values(), ids=FACTORIES)
def test_number_0_of_a_device_is_the_device(make: Make) -> None:
    assert make(device="plain:0").device == "plain" and make().to(device="cpu:0").device == "cpu"
    with pn.set_default_device("plain:0"):
        assert pn.get_default_device() == "plain"
    for function in (make, X.to):
        with pytest.raises(DeviceError, match="device 'cuda:1': only number 0 .* 'cuda' or 'cuda:0'.*CUDA_VISIBLE"):
            function(device="cuda:1")


@pytest.mark.parametrize("make", FLOATS.values(), ids=FLOATS)
def test_new_floats_have_the_default_dtype(make: Make) -> None:
    for dtype in (pn.float16, pn.float32):
        assert make().dtype == pn.float64
        with pn.set_default_dtype(dtype):
            assert make().dtype == dtype and make(dtype=pn.float64).dtype == pn.float64
    assert make().dtype == pn.float64


OTHER_DTYPES: dict[str, tuple[Make, str]] = {
    "integers": (lambda: pn.array([1, 2]), "int64"),
    "bools": (lambda: pn.array([True]), "bool"),
    "full of an integer": (lambda: pn.full((2,), 7), "int64"),
    "arange of integers": (lambda: pn.arange(3), "int64"),
    "an ndarray": (lambda: pn.array(np.ones(2)), "float64"),
    "NumPy's scalar": (lambda: pn.full((2,), np.float64(0.5)), "float64"),
    "a list with NumPy's scalar": (lambda: pn.array([np.float64(0.5), 1.0]), "float64"),
    "nested_array of ndarrays": (lambda: pn.nested_array([np.ones(2), np.ones(1)]), "float64"),
    "like another": (lambda: pn.zeros_like(X), "float64"),
    "an operator of integers": (lambda: pn.array([1]).sin(), "float64"),
    "an operator of a number": (lambda: pn.array([1]) * 0.5, "float64"),
}


@pytest.mark.parametrize(("make", "dtype"), OTHER_DTYPES.values(), ids=OTHER_DTYPES)
def test_values_with_a_dtype_keep_it(make: Make, dtype: str) -> None:
    with pn.set_default_dtype(pn.float32):
        assert make().dtype == dtype


def test_random_floats_are_drawn_in_float64_and_rounded() -> None:
    with pn.set_default_dtype(pn.float32):
        x = pn.rand(100, generator=np.random.default_rng(0))
    assert x.tolist() == np.random.default_rng(0).random(100).astype(np.float32).tolist()


def test_repr_names_other_devices_and_dtypes_than_the_usual() -> None:
    single, double = pn.array([0.5], dtype=pn.float32), pn.array([0.5])
    assert (repr(single), repr(double)) == ("array([0.5], dtype=float32)", "array([0.5])")
    with pn.set_default_dtype(pn.float32):
        assert (repr(single), repr(double)) == ("array([0.5])", "array([0.5], dtype=float64)")
        assert "dtype" not in repr(pn.nested_array([single]))
    assert "dtype=float32" in repr(pn.nested_array([single])) and "device" not in repr(NESTED)
    assert repr(NESTED.to("plain").requires_grad_()).endswith(", requires_grad=True, device='plain')")


def test_functions_that_run_again_have_the_dtype_of_their_call() -> None:
    x = pn.ones(2, dtype=pn.float32, requires_grad=True)
    compiled = pn.compile(lambda x: x + pn.zeros(2))
    assert compiled(x.detach()).dtype == pn.float64
    with pn.set_default_dtype(pn.float32):
        y = pn.checkpoint(lambda x: x * pn.full((2,), 0.1), x)
        assert compiled(x.detach()).dtype == pn.float32
    y.sum().backward()  # refused if the second call gave float64
    assert x.grad is not None and x.grad.tolist() == [float(np.float32(0.1))] * 2


def test_other_dtypes_than_floats_are_refused() -> None:
    for dtype in (pn.int64, "bool", "complex128", np.longdouble):
        with pytest.raises(DTypeError, match="is not a dtype of floats. Use float16, float32 or float64"):
            pn.set_default_dtype(dtype)
    assert pn.get_default_dtype() == pn.float64


def test_pytorchs_names_of_dtypes() -> None:
    names = (pn.half, pn.float, pn.double, pn.int, pn.long)
    assert names == (pn.float16, pn.float32, pn.float64, pn.int32, pn.int64)
    namespace: dict[str, Any] = {}
    exec("from pynested import *", namespace)
    assert not {"float", "int"} & namespace.keys()  # Python's own stay


# ---- blocks and threads -------------------------------------------------------------------------------------------


class Default(NamedTuple):
    """Functions that set and read a default, a function that reads it from a new array, and two values."""

    set: Callable[[Any], Any]
    get: Callable[[], Any]
    of_new_array: Callable[[], Any]
    first: Any
    other: Any


DEVICE = Default(pn.set_default_device, pn.get_default_device, lambda: pn.zeros(1).device, "cpu", "plain")
DTYPE = Default(pn.set_default_dtype, pn.get_default_dtype, lambda: pn.zeros(1).dtype, pn.float64, pn.float32)


@pytest.fixture(params=[pytest.param(DEVICE, id="device"), pytest.param(DTYPE, id="dtype")])
def default(request: pytest.FixtureRequest) -> Iterator[Default]:
    yield request.param
    request.param.set(None)


def test_a_block_ends_and_a_call_without_one_lasts(default: Default) -> None:
    first, other = default.first, default.other
    with default.set(other):
        for value in (first, None):
            with default.set(value):
                assert default.get() == default.of_new_array() == first
        assert default.get() == default.of_new_array() == other
    with pytest.raises(RuntimeError, match="inside"), default.set(other):
        raise RuntimeError("inside")
    assert default.get() == default.of_new_array() == first
    default.set(other)
    assert default.get() == default.of_new_array() == other


def test_every_thread_has_its_own(default: Default) -> None:
    first, other = default.first, default.other
    kept, values = default.set(other), []
    default.set(first)

    def work() -> None:
        values.extend([default.get(), default.of_new_array()])
        with kept:
            values.append(default.get())
        values.append(default.get())

    with kept:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert values == [first, first, other, first]
        assert default.get() == default.of_new_array() == other
    assert default.get() == first
