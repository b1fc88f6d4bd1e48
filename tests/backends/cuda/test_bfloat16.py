"""bfloat16 on devices: promotion, constructors, sums that are rounded once, and its optional dependency.

`test_device_law` runs every sample input in bfloat16, `test_casts` casts, and every way into an array.
"""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import pynested as pn

from ...autograd.test_defaults import FLOATS

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


def test_sums_over_several_dimensions_are_rounded_once(compiled: None) -> None:
    ones = pn.ones(1000, 3, dtype=BFLOAT16, device="emulated")
    assert pn.sum(ones, dtype=pn.float32).item() == 3000
    assert pn.mean(pn.as_nested_array(ones.unsqueeze(0), layout=pn.jagged)).item() == 1
    weight = pn.ones(3, dtype=BFLOAT16, device="emulated", requires_grad=True)
    (ones * weight).backward(ones)
    assert weight.grad.tolist() == [1000] * 3
    rows = pn.nested_array([[[256, 0.9], [256, 0.9], [2, 0]]], dtype=BFLOAT16, device="emulated", layout=pn.jagged)
    assert pn.sum(rows, (1, 2)).tolist() == [516]  # and not 512, which the sums of rows would give if they were stored


COMMON = {
    **dict.fromkeys(("bool", "int8", "uint8"), BFLOAT16),
    **dict.fromkeys(("float16", "int16", "float32"), np.dtype(np.float32)),
    **dict.fromkeys(("int32", "int64", "float64"), np.dtype(np.float64)),
}


@pytest.mark.parametrize("dtype", COMMON)
def test_every_dtype_beside_it(dtype: str, device: str) -> None:
    x = pn.array([0.5, -2.0], dtype=BFLOAT16, device=device, requires_grad=True)
    y = pn.ones(2, dtype=dtype, device=device)
    for of in (lambda a: a, lambda a: pn.as_nested_array([a], layout=pn.jagged)):
        a, b = of(x), of(y)
        rows, columns = a.unsqueeze(-2), b.unsqueeze(-1)
        made = pn.where(a > 0, a, b), pn.where(a > 0, b, a), a + b, pn.cat([a, b, a])
        made += pn.matmul(rows, columns), pn.matmul(columns, rows)
        assert {y.dtype for y in made} == {COMMON[dtype]}
        for got, values in zip(made[:2], ([0.5, 1], [1, -2]), strict=True):
            assert pn.equal(got, of(pn.array(values, device=device)))
    assert pn.grad(pn.where(x > 0, x, y).sum(), x).tolist() == [1, 0]


def test_python_numbers_are_weak_and_integers_of_any_size(device: str) -> None:
    on: dict[str, Any] = {"dtype": BFLOAT16, "device": device}
    x = pn.array([1.0, 2.0], **on)
    for number in (True, 3, 0.1, 2**63, 2**64, -(2**70)):
        made = x + number, number * x, x / number, pn.where(x > 1, x, number), pn.masked_fill(x, x > 1, number)
        assert {y.dtype for y in (*made, x + 1e300)} == {BFLOAT16}
    third = pn.array([0.1], **on)
    assert (third == 0.1).tolist() == [True] and (third < 0.1).tolist() == [False]  # as float16 has it
    for number in (2**63, 2**64, -(2**70)):
        full = pn.full((2,), number, **on)
        assert full.tolist() == pn.zeros(2, **on).fill_(number).tolist() == [float(number)] * 2
        assert (full == number).tolist() == [True] * 2 and (full < number).tolist() == [False] * 2
    huge = 10**400
    for refused in (lambda: x * huge, lambda: pn.where(x > 0, x, huge), lambda: pn.full((2,), huge, **on)):
        with pytest.raises(OverflowError, match="an integer of 1329 bits is out of bounds"):
            refused()
    assert (x == huge).tolist() == [False] * 2 and (x < huge).tolist() == [True] * 2


def test_new_printed_copied_and_pickled_arrays(device: str) -> None:
    on: dict[str, Any] = {"dtype": "bfloat16", "device": device}
    for make in FLOATS:
        made = make(**on)
        assert (made.dtype, made.device) == (BFLOAT16, device), make
    assert (pn.rand(2000, **on) < 1).to("cpu", pn.bool).numpy().all()
    x = pn.nested_array([[0.5, 1.5]], layout=pn.jagged, **on)
    for like in (pn.zeros_like(x), pn.randn_like(x), pn.empty_like(x.to(pn.float32), dtype="bfloat16")):
        assert like.dtype == BFLOAT16
    x = pn.array([1.5, 2], **on)
    assert repr(x) == f"array([1.5, 2], dtype=bfloat16, device='{device}')" and f"{x[0]:.2f}" == "1.50"
    assert "array([1.5, 2]" in repr(pn.nested_array([x], layout=pn.jagged))
    for again in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert (again.dtype, again.device, again.tolist()) == (BFLOAT16, device, [1.5, 2])


def test_gradients_move_between_dtypes(compiled: None) -> None:
    x = pn.nested_array([np.array([0.5, 1 / 3]), np.array([2.0])], layout=pn.jagged, requires_grad=True)
    y = x.to("emulated", dtype=BFLOAT16)
    back = y.to("cpu", pn.float32)
    assert [(z.dtype, z.device) for z in (y, back)] == [(BFLOAT16, "emulated"), (np.float32, "cpu")]
    pn.sum(back * back).backward()
    assert x.grad.dtype == np.float64 and x.grad.values().tolist() == [1, 2 * 0.333984375, 4]


def test_ml_dtypes_is_imported_only_for_bfloat16(compiled: None) -> None:
    program = """
import sys, pynested as pn
from pynested.backends.errors import MissingDependency
pn.sum(pn.ones(3, dtype=pn.float16))
assert "ml_dtypes" not in sys.modules
sys.modules["ml_dtypes"] = None
assert pn.sum(pn.ones(3, dtype=pn.float16, device="emulated")).item() == 3
try:
    pn.ones(3, dtype="bfloat16", device="emulated")
except MissingDependency as error:
    print(error)
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=Path(__file__).parents[3], capture_output=True, text=True, check=True)
    assert "pip install ml_dtypes" in done.stdout
