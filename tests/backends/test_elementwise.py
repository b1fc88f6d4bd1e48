"""Functions of one element against math and mpmath, element by element."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

from pynested.backends import numpy as cpu
from pynested.backends.numpy import elementwise, running

FLOATS = ["float16", "float32", "float64"]
ROUNDOFF = {"float16": 2.0**-11, "float32": 2.0**-24, "float64": 2.0**-53}
COMPUTING = {**ROUNDOFF, "float16": 2.0**-24}
SUBNORMAL = {"float16": 2.0**-24, "float32": 2.0**-149, "float64": 5e-324}

pytestmark = pytest.mark.usefixtures("path")


def values(dtype: str) -> np.ndarray:
    rng = np.random.default_rng(7)
    many = np.concatenate([rng.normal(0, scale, 40) for scale in (1e-3, 1.0, 5.0, 60.0)])
    return np.concatenate([many, [0.0, -0.0, 1.0, -1.0, -87.5, -95.0, -103.0, -700.0, -720.0, 80.0]]).astype(dtype)


def exact(function: Callable[[mpmath.mpf], mpmath.mpf], x: np.ndarray) -> np.ndarray:
    with mpmath.workdps(60):
        return np.array([float(function(mpmath.mpf(float(value)))) for value in x])


def gelu(x: mpmath.mpf) -> mpmath.mpf:
    return x * mpmath.ncdf(x)


def gelu_tanh(x: mpmath.mpf) -> mpmath.mpf:
    return x / 2 * (1 + mpmath.tanh(mpmath.sqrt(2 / mpmath.pi) * (x + mpmath.mpf(0.044715) * x**3)))


def silu(x: mpmath.mpf) -> mpmath.mpf:
    return x / (1 + mpmath.exp(-x))


def assert_close(got: np.ndarray, expected: np.ndarray, error: np.ndarray) -> None:
    """Within error roundoffs of the computation and one rounding of the result."""
    dtype = got.dtype.name
    with np.errstate(over="ignore"):
        allowed = COMPUTING[dtype] * error + ROUNDOFF[dtype] * abs(expected) + 2 * SUBNORMAL[dtype]
    wrong = ~(abs(got.astype(np.float64) - expected) <= allowed)
    assert not wrong.any(), (got[wrong], expected[wrong], allowed[wrong])


@pytest.mark.parametrize("dtype", FLOATS)
def test_gelu(dtype: str) -> None:
    x = values(dtype)
    wide = x.astype(np.float64)
    expected = exact(gelu, x)
    assert_close(cpu.gelu(x), expected, 4 * abs(wide) + 4 * abs(expected))
    expected = exact(gelu_tanh, x)
    assert_close(cpu.gelu(x, "tanh"), expected, 8 * abs(wide) + 4 * abs(expected))


@pytest.mark.parametrize("dtype", FLOATS)
def test_silu_keeps_its_relative_precision_in_the_tail(dtype: str) -> None:
    x = values(dtype)
    expected = exact(silu, x)
    assert_close(cpu.silu(x), expected, 12 * abs(expected))


def test_a_nan_beside_the_tail_changes_nothing() -> None:
    x = np.array([-95, 1], np.float32)
    np.testing.assert_array_equal(cpu.silu(np.append(x, np.float32(np.nan)))[:2], cpu.silu(x))


@pytest.mark.parametrize("dtype", FLOATS)
def test_erf(dtype: str) -> None:
    x = values(dtype)
    assert_close(cpu.erf(x), exact(mpmath.erf, x), 8 * np.abs(exact(mpmath.erf, x)))
    tiny = np.array([1e-30, -1e-12, 1e-6], np.float32)
    np.testing.assert_allclose(cpu.erf(tiny), 2 / math.sqrt(math.pi) * tiny, rtol=3e-7)


@pytest.mark.parametrize("dtype", FLOATS)
def test_erfc_keeps_its_relative_precision_in_the_tail(dtype: str) -> None:
    x = np.append(values(dtype), np.linspace(0, 28, 1001).astype(dtype))
    expected = exact(mpmath.erfc, x)
    assert_close(cpu.erfc(x), expected, 10 * np.abs(expected))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    "backward, function",
    [
        (cpu.gelu_backward, gelu),
        (lambda g, x: cpu.gelu_backward(g, x, "tanh"), gelu_tanh),
        (cpu.silu_backward, silu),
    ],
    ids=["gelu", "gelu tanh", "silu"],
)
def test_backward_is_the_derivative(
    backward: Callable[..., np.ndarray], function: Callable[[mpmath.mpf], mpmath.mpf], dtype: str
) -> None:
    x = values(dtype)[:160]
    g = np.random.default_rng(1).normal(size=x.shape).astype(dtype)
    slope = np.array([float(mpmath.diff(function, mpmath.mpf(float(value)))) for value in x])
    assert_close(backward(g, x), g.astype(np.float64) * slope, (8 + 4 * abs(x.astype(np.float64))) * abs(g))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("form", ["none", "tanh"])
def test_activations_at_the_edges(dtype: str, form: str) -> None:
    largest = np.finfo(dtype).max
    x = np.array([largest, -largest, np.inf, np.nan, 0], dtype)
    g = np.ones_like(x)
    for forward in (cpu.gelu(x, form), cpu.silu(x)):
        np.testing.assert_array_equal(forward, np.array([largest, 0, np.inf, np.nan, 0], dtype))
    for backward in (cpu.gelu_backward(g, x, form), cpu.silu_backward(g, x)):
        np.testing.assert_array_equal(backward[[0, 1, 3, 4]], np.array([1, 0, np.nan, 0.5], dtype))


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (5, 0), (3, 4)], ids=str)
def test_shapes_and_order(shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(2).normal(size=shape)
    for function in (cpu.gelu, cpu.silu, cpu.erf, cpu.erfc, cpu.relu, cpu.exp):
        result = np.asarray(function(x))
        assert (result.shape, result.dtype) == (shape, x.dtype)
        np.testing.assert_array_equal(np.asarray(function(x.T)), result.T)


@pytest.mark.parametrize("size", [0, 1, 5, elementwise.ROW_OF_ZEROS, 2 * elementwise.ROW_OF_ZEROS + 3])
@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8", *FLOATS])
def test_relu(size: int, dtype: str) -> None:
    x = np.random.default_rng(3).integers(-100, 100, size).astype(dtype)
    result = cpu.relu(x)
    assert result.dtype == x.dtype and result is not x
    assert result.tolist() == [max(value, 0) for value in x.tolist()]


def test_relu_of_nan_bool_and_views() -> None:
    x = np.full(elementwise.ROW_OF_ZEROS + 2, np.nan, np.float32)
    assert np.isnan(cpu.relu(x)).all() and np.isnan(cpu.relu(x[:3])).all()
    truth = np.array([True, False])
    assert cpu.relu(truth).tolist() == [True, False] and cpu.relu(truth).dtype == bool
    wide = np.arange(-20000, 20000.0).reshape(200, 200).T
    np.testing.assert_array_equal(cpu.relu(wide), np.where(wide > 0, wide, 0))


def test_sgn() -> None:
    x = np.array([-2.5, -0.0, 0.0, 3, np.inf, -np.inf, np.nan])
    np.testing.assert_array_equal(cpu.sgn(x), [-1, 0, 0, 1, 1, -1, np.nan])
    assert cpu.sgn(np.array([-128, 0, 127], np.int8)).tolist() == [-1, 0, 1]
    assert cpu.sgn(np.array([True, False])).tolist() == [True, False]


@pytest.mark.parametrize("name", ["exp", "log", "sin", "tanh"])
def test_threads_change_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function, plain = getattr(cpu, name), getattr(np, name)
    for x in (np.linspace(0.5, 9, 101), np.linspace(0.5, 9, 64, dtype=np.float16).reshape(8, 8), np.arange(1, 9)):
        _everything_is_large(monkeypatch)
        np.testing.assert_allclose(function(x), plain(x), rtol=1e-15 if x.dtype != np.float16 else 1e-3)
        np.testing.assert_array_equal(function(x.T), plain(x.T))
        out = np.empty_like(plain(x))
        assert function(x, out=out) is out
        np.testing.assert_array_equal(out, plain(x))
    assert function.__name__ == name and name in function.__doc__


def _everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elementwise, "LARGE", 1)
    monkeypatch.setattr(running, "THREAD_BYTES", 0)
    monkeypatch.setattr(running, "THREADS", 3)


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


@pytest.mark.parametrize("operands", OPERANDS.values(), ids=list(OPERANDS))
def test_pieces_are_what_the_ufunc_says(operands: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    _everything_is_large(monkeypatch)
    for name in ("add", "multiply", "divide", "less", "equal"):
        with np.errstate(all="ignore"):
            expected = getattr(np, name)(*operands)
        got = getattr(cpu, name)(*operands)
        assert np.asarray(got).dtype == expected.dtype
        np.testing.assert_array_equal(got, expected, strict=True)


def test_pieces_refuse_what_the_ufunc_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    _everything_is_large(monkeypatch)
    with pytest.raises(OverflowError):
        cpu.add(ROWS.astype(np.int8), 300)
    with pytest.raises(TypeError):
        cpu.subtract(ROWS > 0, ROWS > 1)
    with pytest.raises(ValueError, match="broadcast"):
        cpu.add(ROWS, ROWS[:, :3].copy())


def outcome(function: Any, *operands: Any) -> Any:
    """The result and its dtype, or the class of the error."""
    try:
        with np.errstate(all="ignore"):
            result = function(*operands)
    except (TypeError, OverflowError) as error:
        return OverflowError if isinstance(error, OverflowError) else TypeError
    return result.dtype, result.tobytes()


@pytest.mark.parametrize("dtype", ["bool", "int8", "int16", "int32", "int64", "uint8", *FLOATS])
def test_numbers_beside_a_large_array_are_as_weak_as_beside_a_small_one(
    dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _everything_is_large(monkeypatch)
    x = np.arange(6).astype(dtype)
    numbers = (True, False, 1, -1, 0.1, 300, 2**63, 2**70, np.int64(3), np.float32(0.1), np.bool_(True), np.array(2.5))
    for name in ("add", "multiply", "divide", "less", "equal", "maximum"):
        function, plain = getattr(cpu, name), getattr(np, name)
        for number in numbers:
            for operands in ((x, number), (number, x)):
                assert outcome(function, *operands) == outcome(plain, *operands), (name, operands)
