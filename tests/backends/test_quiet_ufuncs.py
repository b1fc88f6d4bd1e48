"""Quiet ufuncs give what NumPy's ufuncs give, in one piece or in a piece for each thread."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pynested.backends import numpy as cpu
from pynested.backends.numpy import elementwise, running


@pytest.fixture
def pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut every array into pieces for three threads."""
    monkeypatch.setattr(elementwise, "LARGE", 1)
    monkeypatch.setattr(running, "THREAD_BYTES", 0)
    monkeypatch.setattr(running, "THREADS", 3)


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (5, 0), (3, 4)], ids=str)
def test_shapes_and_order(shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(2).normal(size=shape)
    result = np.asarray(cpu.exp(x))
    np.testing.assert_array_equal(result, np.exp(x), strict=True)
    np.testing.assert_array_equal(np.asarray(cpu.exp(x.T)), result.T)


@pytest.mark.usefixtures("pieces")
@pytest.mark.parametrize("name", ["exp", "log", "sin", "tanh"])
def test_functions_of_one_operand(name: str) -> None:
    function, ufunc = getattr(cpu, name), getattr(np, name)
    for x in (np.linspace(0.5, 9, 101), np.linspace(0.5, 9, 64, dtype=np.float16).reshape(8, 8), np.arange(1, 9)):
        expected, out = ufunc(x), np.empty_like(ufunc(x))
        np.testing.assert_allclose(function(x), expected, rtol=1e-15 if x.dtype != np.float16 else 1e-3)
        np.testing.assert_array_equal(function(x.T), ufunc(x.T))
        assert function(x, out=out) is out
        np.testing.assert_array_equal(out, expected)
    assert function.__name__ == name and name in function.__doc__


ROWS = np.arange(-17.0, 18).reshape(7, 5)
OPERANDS: dict[str, tuple[Any, Any]] = {
    "equal shapes": (ROWS, ROWS[::-1].copy()),
    "a row": (ROWS, np.arange(1, 6, dtype=np.float32)),
    "a column": (np.arange(7.0).reshape(7, 1), ROWS),
    "both stretched": (np.arange(7).reshape(7, 1), np.arange(1.0, 6)),
    "one row of a matrix": (np.arange(1.0, 6).reshape(1, 5), ROWS),
    "more dimensions": (ROWS, np.arange(70.0).reshape(2, 7, 5)),
    "a number": (ROWS.astype(np.float32), 0.1),
    "a number first": (3, ROWS.astype(np.int8)),
    "a scalar of NumPy": (ROWS.astype(np.float32), np.float64(0.1)),
    "without dimensions": (np.array(2.0), np.array(3.0)),
    "turned": (ROWS.T, ROWS.T),
    "few rows": (ROWS[:1], ROWS[:1]),
    "none": (ROWS[:0], ROWS[:0]),
}


@pytest.mark.usefixtures("pieces")
@pytest.mark.parametrize("operands", OPERANDS.values(), ids=list(OPERANDS))
def test_functions_of_two_operands(operands: tuple[Any, Any]) -> None:
    for name in ("add", "multiply", "divide", "less", "equal"):
        with np.errstate(all="ignore"):
            expected = getattr(np, name)(*operands)
        got = getattr(cpu, name)(*operands)
        assert np.asarray(got).dtype == expected.dtype
        np.testing.assert_array_equal(got, expected, strict=True)


def outcome(function: Any, *operands: Any) -> Any:
    """Return the dtype and bytes of the result, or the class of the error."""
    try:
        with np.errstate(all="ignore"):
            result = function(*operands)
    except (TypeError, ValueError, OverflowError) as error:
        return next(kind for kind in (OverflowError, ValueError, TypeError) if isinstance(error, kind))
    return result.dtype, result.tobytes()


@pytest.mark.usefixtures("pieces")
@pytest.mark.parametrize("dtype", ["bool", "int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64"])
def test_errors_and_weak_numbers_are_those_of_the_ufunc(dtype: str) -> None:
    x = np.arange(6).astype(dtype)
    others = (True, False, 1, -1, 0.1, 300, 2**63, 2**70, np.int64(3), np.float32(0.1), np.bool_(True), np.array(2.5))
    for name in ("add", "subtract", "divide", "less", "equal", "maximum"):
        for other in (*others, x > 2, *([x[:3]] if name == "add" else [])):
            for operands in ((x, other), (other, x)):
                found, expected = (outcome(getattr(module, name), *operands) for module in (cpu, np))
                assert found == expected, (name, operands)
