"""Ufuncs of the device "cpu" equal NumPy's ufuncs, in one piece or in a piece for each thread."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pynested.backends import get_backend
from pynested.backends.quiet import quietly

from .conftest import force

cpu = get_backend("cpu")

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64"]
UNARY = [*((n,) for n in (0, 1, 64, 101)), (0, 3), (5, 0), (3, 4), (8, 8), ()]


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("name", ["exp", "log", "sin", "tanh"])
def test_functions_of_one_operand(name: str) -> None:
    function, ufunc = getattr(cpu, name), getattr(np, name)
    for number, shape in enumerate(UNARY):
        x = np.random.default_rng(number).uniform(1, 9, shape).astype(DTYPES[4 + number % 5])
        expected = ufunc(x)
        rtol = 1e-3 if x.dtype in (np.float16, np.uint8) else 1e-6 if x.dtype == np.float32 else 1e-15
        np.testing.assert_allclose(np.asarray(function(x)), expected, rtol, strict=True)
        np.testing.assert_array_equal(function(x.T), ufunc(x.T))
    assert function.__name__ == name and name in function.__doc__


def outcome(function: Any, operands: Any) -> Any:
    """Return the dtype, shape and bytes of the result, or the class of the error; the error state must stay."""
    with np.errstate(all="raise"):
        try:
            result = quietly(function, *operands)
        except (TypeError, ValueError, OverflowError) as error:
            return next(kind for kind in (OverflowError, ValueError, TypeError) if isinstance(error, kind))
        assert set(np.geterr().values()) == {"raise"}
    return result.dtype, np.shape(result), result.tobytes()


def compare(names: tuple[str, ...], *operands: Any) -> None:
    for name in names:
        assert outcome(getattr(cpu, name), operands) == outcome(getattr(np, name), operands), (name, operands)


@given(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, min_side=0, max_side=7), st.data())
def test_functions_of_two_operands(drawn: hnp.BroadcastableShapes, data: st.DataObject) -> None:
    rng = np.random.default_rng(0)
    x, y = (rng.integers(-9, 9, shape).astype(data.draw(st.sampled_from(DTYPES))) for shape in drawn.input_shapes)
    with pytest.MonkeyPatch.context() as monkeypatch:
        force("tiny blocks on threads", monkeypatch)
        compare(("add", "multiply", "divide", "less", "equal"), x, y)
        compare(("add", "multiply", "divide", "less", "equal"), y.T, x.T)


@pytest.mark.parametrize("dtype", DTYPES)
def test_errors_and_weak_numbers_are_those_of_the_ufunc(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    force("tiny blocks on threads", monkeypatch)
    x = np.arange(6).astype(dtype)
    others = (True, False, 1, -1, 0.1, 300, 2**63, 2**70, np.int64(3), np.float32(0.1), np.bool_(True), np.array(2.5))
    compare(("add",), x, x[:3])
    for other in (*others, x > 2):
        for operands in ((x, other), (other, x)):
            compare(("add", "subtract", "divide", "less", "equal", "maximum"), *operands)
