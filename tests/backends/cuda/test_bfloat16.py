"""bfloat16 as users meet it: on devices, through operators and gradients, and what the CPU says of it."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import pynested as pn
from pynested.backends import dtypes
from pynested.backends.errors import MissingDependency

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)

pytestmark = pytest.mark.usefixtures("compiled")


def drawn(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape) + sum(shape)).normal(0, 1, shape).astype(BFLOAT16)


COMPONENTS = [drawn(n, 4) for n in (3, 0, 2, 1)]


def numbers(x: Any) -> list[np.ndarray]:
    """The values in float64: those of the components of a nested array."""
    arrays = x.unbind() if isinstance(x, pn.NestedArray) else [x]
    return [one.detach().to(device="cpu", dtype=pn.float64).numpy() for one in arrays]


def test_sums_and_products_are_rounded_once() -> None:
    ones = pn.ones(1000, 3, dtype=BFLOAT16, device="emulated")
    assert pn.sum(ones, 0).tolist() == pn.sum(ones, (0,)).tolist() == [1000] * 3
    assert pn.matmul(ones[:, :1].transpose(0, 1), ones).tolist() == [[1000] * 3]
    nested = pn.as_nested_array(ones.unsqueeze(0), layout=pn.jagged)
    assert pn.sum(nested, 1).tolist() == [[1000] * 3] and pn.mean(nested).item() == 1
    assert pn.sum(ones, dtype=pn.float32).item() == 3000
    weight = pn.ones(3, dtype=BFLOAT16, device="emulated", requires_grad=True)
    (ones * weight).backward(ones)
    assert weight.grad.tolist() == [1000] * 3
    rows = pn.nested_array([[[256, 0.9], [256, 0.9], [2, 0]]], dtype=BFLOAT16, device="emulated", layout=pn.jagged)
    assert pn.sum(rows, (1, 2)).tolist() == [516]  # and not 512, which the sums of rows would give if they were stored


@pytest.mark.parametrize("device", ["emulated", "cuda"])
def test_promotion(device: str, cupy: ModuleType) -> None:
    x = pn.array([1.0, 2.0], dtype=BFLOAT16, device=device)
    for number in (True, 3, 0.1):  # beside other dtypes they are weak too
        for y in (x + number, number * x, x / number, pn.where(x > 1, x, number), pn.where(x > 1, number, x)):
            assert y.dtype == (x + 1e300).dtype == BFLOAT16
    third = pn.array([0.1], dtype=BFLOAT16, device=device)
    assert (third == 0.1).tolist() == [True] and (third < 0.1).tolist() == [False]  # as float16 has it
    for dtype, common in (
        (np.int8, BFLOAT16),
        (np.float16, np.float32),
        (np.float32, np.float32),
        (np.int64, np.float64),
    ):
        assert (x + pn.ones(2, dtype=dtype, device=device)).dtype == common


OTHERS = ("bool", "int8", "uint8", "int16", "int32", "int64", "float16", "float32", "float64")


@pytest.mark.parametrize("dtype", OTHERS)
@pytest.mark.parametrize("device", ["emulated", "cuda"])
def test_every_dtype_beside_it(device: str, dtype: str, cupy: ModuleType) -> None:
    x = pn.array([0.5, -2.0], dtype=BFLOAT16, device=device, requires_grad=True)
    y = pn.ones(2, dtype=dtype, device=device)
    common = (x + y).dtype
    for of in (lambda a: a, lambda a: pn.as_nested_array([a], layout=pn.jagged)):
        a, b = of(x), of(y)
        for made, values in ((pn.where(a > 0, a, b), [0.5, 1]), (pn.where(a > 0, b, a), [1, -2])):
            assert made.dtype == common and pn.equal(made, of(pn.array(values, device=device)))
    assert pn.grad(pn.where(x > 0, x, y).sum(), x).tolist() == [1, 0]
    for place in (device, "cpu"):
        for layout in (pn.jagged, pn.strided):
            for entries in ([x, y], [y, x], [x, y[:1]]):
                nested = pn.nested_array(entries, dtype="float64", layout=layout, device=place)
                assert nested.dtype == np.float64 and nested.device == place
                assert [one.tolist() for one in nested] == [one.tolist() for one in entries]


@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "float64"])
@pytest.mark.parametrize("device", ["emulated", "cuda"])
def test_python_integers_of_any_size(device: str, dtype: str, cupy: ModuleType) -> None:
    on: dict[str, Any] = {"dtype": dtype, "device": device}
    for number in (2**63, 2**64, -(2**70)):
        x = pn.full((2,), number, **on)
        assert x.dtype == dtype and x.tolist() == [float(number)] * 2
        assert (x == number).tolist() == [True] * 2 and (x < number).tolist() == [False] * 2
        for made in (pn.ones(2, **on) * number, pn.zeros(2, **on).fill_(number), pn.masked_fill(x, x < 0, number)):
            assert made.dtype == dtype and made.tolist() == [float(number)] * 2
    for refused in (
        lambda: x * 10**400,
        lambda: pn.where(x > 0, x, 10**400),
        lambda: pn.full((2,), 10**400, **on),
        lambda: pn.masked_fill(x, x > 0, 10**400),
    ):
        with pytest.raises(OverflowError, match="an integer of 1329 bits is out of bounds"):
            refused()
    assert (x == 10**400).tolist() == [False] * 2 and (x < 10**400).tolist() == [True] * 2


@pytest.mark.parametrize("dtype", ["float16", "int64"])
def test_promotion_of_products_and_joins(dtype: str) -> None:
    common = np.float32 if dtype == "float16" else np.float64
    x, y = pn.array(drawn(2, 3, 3), device="emulated"), pn.ones(2, 3, 3, dtype=dtype, device="emulated")
    nested = pn.as_nested_array(x, layout=pn.jagged), pn.as_nested_array(y, layout=pn.jagged)
    for a, b in ((x, y), nested, nested[::-1]):
        for made in (a + b, pn.matmul(a, b), pn.cat([a, b, a]), pn.bmm(a, b)):
            assert made.dtype == common
    assert pn.linear(nested[0], y[0]).dtype == pn.linear(x, y[0]).dtype == common


def test_new_arrays() -> None:
    given = drawn(3, 2)
    on = {"dtype": "bfloat16", "device": "emulated"}
    for made in (pn.empty(2, **on), pn.zeros(2, **on), pn.rand(9, **on), pn.randn(2, **on), pn.arange(4, **on)):
        assert (made.dtype, made.device) == (BFLOAT16, "emulated")
    assert pn.full((2,), 300, **on).tolist() == [300, 300]
    assert (pn.rand(2000, **on) < 1).numpy().all()
    for values in (
        pn.array(given, device="emulated"),
        pn.array(given.astype(np.float64), **on),
        pn.array(given.tolist(), **on),
    ):
        np.testing.assert_array_equal(values.numpy(), given)
    with pn.set_default_device("emulated"):
        assert pn.array(given).dtype == pn.nested_array([given]).dtype == BFLOAT16
    with pytest.raises(OverflowError, match="1e[+]300 is out of bounds for bfloat16, whose greatest is 3.38953"):
        pn.full((2,), 1e300, **on)


@pytest.mark.parametrize("layout", [pn.strided, pn.jagged], ids=["strided", "jagged"])
def test_new_nested_arrays(layout: Any) -> None:
    on: dict[str, Any] = {"layout": layout, "device": "emulated"}
    wide = [x.astype(np.float32) for x in COMPONENTS]
    dense = drawn(2, 3, 4)
    for make in (pn.nested_array, pn.as_nested_array):
        for made in (make(COMPONENTS, **on), make(wide, dtype=BFLOAT16, **on)):
            assert (made.dtype, made.device) == (BFLOAT16, "emulated")
            assert all(np.array_equal(a, b) for a, b in zip(numbers(made), wide, strict=True))
        assert (
            make(dense, **on).dtype
            == make([pn.array(x, device="emulated") for x in dense], layout=layout).dtype
            == BFLOAT16
        )
    for like in (pn.zeros_like, pn.empty_like, pn.randn_like):
        assert like(made).dtype == like(pn.nested_array(wide, **on), dtype=BFLOAT16).dtype == BFLOAT16


def test_moves() -> None:
    x = pn.nested_array([np.array([0.5, 1 / 3]), np.array([2.0])], layout=pn.jagged, requires_grad=True)
    y = x.to("emulated", dtype=BFLOAT16)
    assert (y.dtype, y.device) == (BFLOAT16, "emulated")
    back = y.to("cpu", pn.float32)
    assert (back.dtype, back.device) == (np.float32, "cpu")
    pn.sum(back * back).backward()
    assert x.grad.dtype == np.float64 and x.grad.values().tolist() == [1, 2 * 0.333984375, 4]


def test_writes_in_place() -> None:
    x = pn.array(drawn(2, 3), device="emulated")
    x[0], x[1, :1] = 1.5, [0.25]
    x += 1
    assert x.dtype == BFLOAT16 and x[0].tolist() == [2.5] * 3 and x[1, 0].item() == 1.25
    assert x.fill_(0.1).tolist() == [[0.10009765625] * 3] * 2


def test_printed_pickled_and_copied() -> None:
    x = pn.array([1.5, 2], dtype=BFLOAT16, device="emulated")
    assert repr(x) == "array([1.5, 2], dtype=bfloat16, device='emulated')"
    again = pickle.loads(pickle.dumps(x))
    assert again.dtype == BFLOAT16 and pn.equal(again, x)


def test_values_of_it_can_be_converted_on_the_cpu() -> None:
    assert pn.array(drawn(2), dtype=pn.float32).tolist() == drawn(2).tolist()


def test_without_ml_dtypes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dtypes, "bfloat16", dtypes.bfloat16.__wrapped__)
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(MissingDependency, match="pip install ml_dtypes"):
        dtypes.bfloat16()


def test_the_devices_work_without_ml_dtypes() -> None:
    program = """
import sys
sys.modules["ml_dtypes"] = None
import pynested as pn
from pynested.backends.errors import MissingDependency
assert pn.sum(pn.ones(3, dtype=pn.float16, device="emulated")).item() == 3
try:
    pn.ones(3, dtype="bfloat16", device="emulated")
except MissingDependency as error:
    print(error)
"""
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True)
    assert "pip install ml_dtypes" in done.stdout


def test_nothing_imports_ml_dtypes_before_it_is_needed() -> None:
    program = "import sys, pynested as pn; pn.sum(pn.ones(3, dtype=pn.float16)); assert 'ml_dtypes' not in sys.modules"
    root = Path(__file__).parents[3]
    subprocess.run([sys.executable, "-c", program], cwd=root, check=True)
