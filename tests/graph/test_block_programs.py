"""Block programs: every operation in blocks has the bits that it has alone, at all edges of its numbers."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.numpy import parallel
from pynested.graph.fusible_ops import OPERATIONS

from .arrays import Replayed, assert_same_with_gradients

EDGES = [0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 1e-40, -1e-310, 1.0, -1.0, 0.5, 2.0, -3.25, 88.0, -105.0, 1e30]


def edges(dtype: Any) -> list[pn.NestedArray]:
    """Return all pairs of edges, as two operands of one structure."""
    with np.errstate(over="ignore"):
        pairs = np.array([*product(EDGES, EDGES), (1.0, 1.0)]).astype(str(dtype))
    offsets = pn.array([0, 100, 100, len(pairs)])
    return [pn.nested_array_from_jagged(pn.array(pairs[:, i].copy()), offsets) for i in (0, 1)]


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("dtype", [pn.float16, pn.float32, pn.float64], ids=str)
@pytest.mark.parametrize("name", [name for name in OPERATIONS if name != "where" and not name.startswith("bitwise")])
def test_every_operation_in_blocks_gives_the_same_bits(name: str, dtype: Any) -> None:
    operator, op = getattr(pn, name), OPERATIONS[name]
    x, y = edges(dtype)
    programs: list[Any] = [lambda x, y: operator(operator(y, x), y), lambda x, y: operator(operator(2, x), -0.0)]
    for program in programs if len(op.vjps) == 2 else [lambda x, y: operator(operator(x))]:
        assert_same_with_gradients(compiled := Replayed(program), program, x, y)
        assert compiled.has_chains


@pytest.mark.parametrize("numel", [100, 1 << 20])
@pytest.mark.parametrize("dtype", [pn.float16, pn.float32, pn.float64], ids=str)
def test_relu_of_minus_zero_is_zero(dtype: Any, numel: int) -> None:
    x = pn.array(np.full(numel, -0.0), dtype=dtype)
    for result in (pn.relu(x) * 1.0, Replayed(lambda x: pn.relu(x) * 1.0)(x)):
        assert not np.signbit(result.numpy()).any()


def test_a_dense_operand_has_no_step_of_its_own() -> None:
    """`clamp` of a dense array by a nested one: its gradient is summed in float32 and then rounded to float16."""
    x = pn.nested_array_from_jagged(pn.array(np.full(4, 9.0, np.float32)), pn.array([0, 1, 4]))
    b = pn.array(1.0, dtype=pn.float16).requires_grad_()
    cotangents = pn.nested_array_from_jagged(pn.array([1e5, 1e5, -1e5, 2.0], dtype=pn.float32), x.offsets())
    compiled = Replayed(lambda b, x: b.clamp(-1, x) * 1.0)
    assert float(pn.grad(compiled(b, x), b, cotangents)) == np.inf  # NaN, if each cotangent were rounded


def test_threads_and_blocks_meet_without_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "THREADS", 3)
    drawn, row = np.random.default_rng(6), pn.array(np.random.default_rng(7).normal(size=5))
    offsets = pn.array([0, 3, 40_000, 40_000, 70_001])
    x, y = (pn.nested_array_from_jagged(pn.array(drawn.normal(size=(70_001, 5))), offsets) for _ in range(2))
    compiled = Replayed(function := lambda x, y: pn.gelu(x * row + y) * y - pn.maximum(x, y))
    assert_same_with_gradients(compiled, function, x, y)
    assert compiled.has_chains
