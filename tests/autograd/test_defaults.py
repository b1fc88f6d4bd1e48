"""The default device and the default dtype: functions that use them, arrays that keep their own, blocks and threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from itertools import count
from typing import Any, NamedTuple

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import DeviceError, DTypeError

VALUES = np.array([[1.0, 2.0], [3.0, 4.0]])
X = pn.array(VALUES)
NESTED = pn.nested_array([X, X])
Make = Callable[..., Any]

# Functions that make floats if no dtype is an argument; these and the other factories have a parameter `device`.
FLOATS: list[Make] = [
    partial(pn.array, [[0.5, 1], [True, 2.0]]), partial(pn.array, 0.5), partial(pn.array, []), partial(pn.empty, 2),
    partial(pn.zeros, 2), partial(pn.ones, 2), partial(pn.full, (2,), 0.5), partial(pn.arange, 0, 1, 0.5),
    partial(pn.rand, 2), partial(pn.randn, 2), partial(pn.nested_array, []), partial(pn.as_nested_array, []),
    partial(pn.nested_array, [[0.5], [1, 2.0]]), partial(pn.as_nested_array, [[0.5], [1.0, 2.0]], layout=pn.jagged),
]  # fmt: skip
FACTORIES: list[Make] = [
    *FLOATS, partial(pn.array, VALUES), partial(pn.array, VALUES, copy=False), partial(pn.randint, 5, size=(2,)),
    partial(pn.nested_array, list(VALUES)), partial(pn.nested_array, VALUES),
    partial(pn.as_nested_array, VALUES, layout=pn.jagged),
]  # fmt: skip
WITHOUT_DEVICE: list[Make] = [
    lambda: pn.nested_array_from_jagged(VALUES, [0, 2]), lambda: pn.nested_array_from_strided(VALUES[0], [[1], [1]]),
    lambda: pn.narrow(VALUES, 1, 0, [1, 2], layout=pn.jagged),
    lambda: pn.narrow(VALUES, 1, 0, [1, 2], layout=pn.jagged).offsets(),
    lambda: pn.narrow(VALUES, 1, 0, [1, 2], layout=pn.jagged).lengths(),
    lambda: pn.zeros_like(VALUES), lambda: pn.rand_like(VALUES),
]  # fmt: skip
# Functions whose result lies on the device of their argument.
LIKE: list[Make] = [
    pn.empty_like, pn.zeros_like, pn.ones_like, lambda x: pn.full_like(x, 7), pn.rand_like, pn.randn_like,
    lambda x: pn.randint_like(x, 5),
]  # fmt: skip
OF_DENSE: list[Make] = [
    *LIKE, pn.array, lambda x: pn.array(x, dtype=pn.float32), pn.nested_array, pn.as_nested_array,
    lambda x: pn.nested_array([[[5.0]], x]), lambda x: pn.as_nested_array([x, [[5.0]]]),
    lambda x: pn.as_nested_array(pn.nested_array(x)), lambda x: pn.nested_array_from_jagged(x, [0, 2]),
]  # fmt: skip


@pytest.mark.parametrize("make", FACTORIES + WITHOUT_DEVICE, ids=count())
def test_new_arrays_lie_on_the_default_device(make: Make) -> None:
    assert make().device == pn.get_default_device() == "cpu"
    with pn.set_default_device("plain:0"):
        assert make().device == pn.get_default_device() == "plain"
        if make in FACTORIES:
            assert make(device="cpu:0").device == "cpu"
            of_number = "device 'cuda:1': only number 0 .* 'cuda' or 'cuda:0'.*CUDA_VISIBLE"
            for device, text in (("nowhere", "'nowhere'"), ("cuda:1", of_number)):
                with pytest.raises(DeviceError, match=text):
                    make(device=device)


@pytest.mark.shows("LIKE-9")
@pytest.mark.parametrize(("device", "default"), [("cpu", "plain"), ("plain", "cpu")])
def test_arrays_of_arrays_lie_on_their_device(device: str, default: str) -> None:
    x = pn.array(VALUES, device=device)
    with pn.set_default_device(default):
        assert [function(x).device for function in OF_DENSE] == [device] * len(OF_DENSE)
        for layout in (pn.jagged, pn.strided):
            nested = pn.as_nested_array(x, layout=layout)
            assert [function(nested).device for function in LIKE] == [device] * len(LIKE)
        assert pn.from_dlpack(VALUES).device == "cpu"


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
    assert pn.get_default_device() == "cpu" == X.to(device="cpu:0").device


@pytest.mark.parametrize("make", FLOATS, ids=count())
def test_new_floats_have_the_default_dtype(make: Make) -> None:
    for dtype in (pn.float16, pn.float32):
        assert make().dtype == pn.float64
        with pn.set_default_dtype(dtype):
            assert make().dtype == dtype and make(dtype=pn.float64).dtype == pn.float64
    assert make().dtype == pn.float64


OTHER_DTYPES: list[tuple[Make, str]] = [
    (lambda: pn.array([1, 2]), "int64"), (lambda: pn.array([True]), "bool"), (lambda: pn.full((2,), 7), "int64"),
    (lambda: pn.arange(3), "int64"), (lambda: pn.array(np.ones(2)), "float64"),
    (lambda: pn.full((2,), np.float64(0.5)), "float64"), (lambda: pn.array([np.float64(0.5), 1.0]), "float64"),
    (lambda: pn.nested_array([np.ones(2), np.ones(1)]), "float64"), (lambda: pn.zeros_like(X), "float64"),
    (lambda: pn.array([1]).sin(), "float64"), (lambda: pn.array([1]) * 0.5, "float64"),
]  # fmt: skip


def test_values_with_a_dtype_keep_it() -> None:
    with pn.set_default_dtype(pn.float32):
        assert [make().dtype for make, _ in OTHER_DTYPES] == [np.dtype(dtype) for _, dtype in OTHER_DTYPES]


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


def test_a_checkpoint_runs_again_with_the_dtype_of_its_call() -> None:
    x = pn.ones(2, dtype=pn.float32, requires_grad=True)
    with pn.set_default_dtype(pn.float32):
        y = pn.checkpoint(lambda x: x * pn.full((2,), 0.1), x)
    y.sum().backward()  # refused if the second call gave float64
    assert x.grad is not None and x.grad.tolist() == [float(np.float32(0.1))] * 2


def test_other_dtypes_than_floats_are_refused() -> None:
    for dtype in (pn.int64, "bool", "complex128", np.longdouble, "float99", "f4,(", 3, [("a", "f4", 1, 2)]):
        with pytest.raises(DTypeError, match="is not a dtype of floats. Use float16, float32 or float64"):
            pn.set_default_dtype(dtype)
    assert pn.get_default_dtype() == pn.float64


def test_pytorchs_names_of_dtypes() -> None:
    names = (pn.half, pn.float, pn.double, pn.int, pn.long)
    assert names == (pn.float16, pn.float32, pn.float64, pn.int32, pn.int64)
    namespace: dict[str, Any] = {}
    exec("from pynested import *", namespace)
    assert not {"float", "int"} & namespace.keys()  # Python's own stay


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
