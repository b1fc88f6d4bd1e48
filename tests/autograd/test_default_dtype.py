"""The default dtype: what looks at it, what does not, and how long it lasts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import DTypeError

MADE: dict[str, Callable[[], Any]] = {
    "array, of a list": lambda: pn.array([[0.5, 1], [True, 2.0]]),
    "array, of a number": lambda: pn.array(0.5),
    "array, of nothing": lambda: pn.array([]),
    "empty": lambda: pn.empty(2),
    "zeros": lambda: pn.zeros(2),
    "ones": lambda: pn.ones(2),
    "full": lambda: pn.full((2,), 0.5),
    "arange": lambda: pn.arange(0, 1, 0.5),
    "rand": lambda: pn.rand(2),
    "randn": lambda: pn.randn(2),
    "nested_array, of lists": lambda: pn.nested_array([[0.5], [1, 2.0]]),
    "nested_array, of nothing": lambda: pn.nested_array([]),
    "as_nested_array, of lists": lambda: pn.as_nested_array([[0.5], [1.0, 2.0]], layout=pn.jagged),
    "rand_like": lambda: pn.rand_like(pn.nested_array([[0.5], []])),
}
MADE_ELSEWISE: dict[str, tuple[Callable[[], Any], str]] = {
    "integers": (lambda: pn.array([1, 2]), "int64"),
    "bools": (lambda: pn.array([True]), "bool"),
    "a full of an integer": (lambda: pn.full((2,), 7), "int64"),
    "a range of integers": (lambda: pn.arange(3), "int64"),
    "NumPy's array": (lambda: pn.array(np.ones(2)), "float64"),
    "NumPy's scalar": (lambda: pn.full((2,), np.float64(0.5)), "float64"),
    "a list of NumPy's": (lambda: pn.array([np.float64(0.5), 1.0]), "float64"),
    "nested, of NumPy's": (lambda: pn.nested_array([np.ones(2), np.ones(1)]), "float64"),
    "a named dtype": (lambda: pn.zeros(2, dtype=pn.float64), "float64"),
    "like another": (lambda: pn.zeros_like(pn.ones(2, dtype=pn.float64)), "float64"),
    "an operator of integers": (lambda: pn.array([1]).sin(), "float64"),
    "an operator of a number": (lambda: pn.array([1]) * 0.5, "float64"),
}


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
@pytest.mark.parametrize("dtype", [pn.float16, pn.float32])
def test_constructors_look_at_it(make: Callable[[], Any], dtype: Any) -> None:
    assert make().dtype == pn.float64
    with pn.set_default_dtype(dtype):
        assert make().dtype == dtype
    assert make().dtype == pn.float64


@pytest.mark.parametrize(("make", "dtype"), MADE_ELSEWISE.values(), ids=MADE_ELSEWISE)
def test_what_has_a_dtype_keeps_it(make: Callable[[], Any], dtype: str) -> None:
    with pn.set_default_dtype(pn.float32):
        assert make().dtype == dtype


def test_values_are_rounded_once() -> None:
    with pn.set_default_dtype(pn.float32):
        assert pn.array([0.1]).tolist() == [0.10000000149011612]  # the float32 next to 0.1
        drawn = pn.rand(100, generator=np.random.default_rng(0))
    assert drawn.tolist() == np.random.default_rng(0).random(100).astype(np.float32).tolist()


def test_the_text_names_a_dtype_that_is_not_the_default_one() -> None:
    single, double = pn.array([0.5], dtype=pn.float32), pn.array([0.5])
    nested = pn.nested_array([single])
    assert repr(single) == "array([0.5], dtype=float32)" and repr(double) == "array([0.5])"
    with pn.set_default_dtype(pn.float32):
        assert repr(single) == "array([0.5])" and repr(double) == "array([0.5], dtype=float64)"
        assert "dtype" not in repr(nested)
    assert "dtype=float32" in repr(nested)


def test_a_checkpoint_repeats_the_call_with_the_dtype_of_the_call() -> None:
    x = pn.ones(2, dtype=pn.float32, requires_grad=True)
    with pn.set_default_dtype(pn.float32):
        y = pn.checkpoint(lambda x: x * pn.full((2,), 0.1), x)
    y.sum().backward()  # refused if the second call gave float64
    assert x.grad is not None and x.grad.tolist() == [0.10000000149011612] * 2


def test_a_compiled_function_follows_it() -> None:
    f = pn.compile(lambda x: x + pn.zeros(2))
    x = pn.ones(2, dtype=pn.float32)
    assert f(x).dtype == pn.float64
    with pn.set_default_dtype(pn.float32):
        assert f(x).dtype == pn.float32


def test_other_dtypes_are_refused() -> None:
    for dtype in (pn.int64, "bool", "complex128", np.longdouble):
        with pytest.raises(DTypeError, match="is not a dtype of floats. Use float16, float32 or float64"):
            pn.set_default_dtype(dtype)
    assert pn.get_default_dtype() == pn.float64


def test_pytorchs_names_of_dtypes() -> None:
    names = (pn.half, pn.float, pn.double, pn.int, pn.long)
    assert names == (pn.float16, pn.float32, pn.float64, pn.int32, pn.int64)
    assert pn.arange(3, dtype=pn.float).dtype == pn.float32
    space: dict[str, Any] = {}
    exec("from pynested import *", space)
    assert not {"float", "int"} & space.keys()  # Python's own stay
