"""Generated kernels give what the operators of the chain give, bit for bit, and write nothing behind their results."""

from __future__ import annotations

import shutil
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends import registry

from .arrays import assert_same
from .test_kernels import EXACT, operands, results_and_gradients

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="the emulation needs g++")

CHECKED = [
    ("a bias", pn.float32), ("a bias", pn.float16), ("read twice", pn.float32), ("a choice", pn.float32),
    ("several results", pn.float32),
]  # fmt: skip
GUARDS: list[Any] = []  # memory that kernels may write to, and some behind it
BEHIND, UNTOUCHED = 512, -77


def guarded(shape: tuple[int, ...], dtype: Any) -> Any:
    size = int(np.prod(shape))
    GUARDS.append(np.full(size + BEHIND, UNTOUCHED, dtype))
    return GUARDS[-1][:size].reshape(shape)


def check(name: str, dtype: Any) -> None:
    """Hold a chain against its operators: results, gradients, and the memory behind them."""
    GUARDS.clear()
    given = operands(dtype, 40, 0, 690)
    backend: Any = registry.get_backend("emulated")
    expected = results_and_gradients(EXACT[name], given)
    usual, backend.new = backend.new, guarded
    try:
        found = results_and_gradients(compiled := pn.compile(EXACT[name]), given)
    finally:
        backend.new = usual
    assert compiled.graphs[0].calls, "the graph was given up for the function itself"
    assert all((one[-BEHIND:] == UNTOUCHED).all() for one in GUARDS)
    for one, other in zip(found, expected, strict=True):
        assert_same(one, other)


@pytest.mark.parametrize(("name", "dtype"), CHECKED)
def test_a_kernel_gives_what_its_operators_give_and_writes_nothing_else(name: str, dtype: Any) -> None:
    check(name, dtype)
