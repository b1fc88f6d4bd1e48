"""Block programs: every operation in blocks has the bits that it has alone, at all edges of its numbers.

The sign of a NaN is excepted: NumPy's loops take it from one operand or the other.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.numpy import running
from pynested.graph.block_program import BlockProgram
from pynested.graph.fusible_ops import OPERATIONS, LazyArray

from .arrays import Replayed

EDGES = [0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 1e-40, -1e-310, 1.0, -1.0, 0.5, 2.0, -3.25, 88.0, -105.0, 1e30]


def edges(dtype: Any) -> list[pn.NestedArray]:
    """All pairs of edges, as two operands of one structure."""
    with np.errstate(over="ignore"):
        pairs = np.array([*product(EDGES, EDGES), (1.0, 1.0)]).astype(str(dtype))
    offsets = pn.array([0, 100, 100, len(pairs)])
    return [pn.nested_array_from_jagged(pn.array(pairs[:, i].copy()), offsets) for i in (0, 1)]


def bits(x: Any) -> bytes:
    """The values bit for bit, with one NaN."""
    values = (x.detach().values() if isinstance(x, pn.NestedArray) else x.detach()).numpy()
    return np.where(np.isnan(values), np.nan, values).tobytes()


def gradients(function: Any, *operands: Any) -> list[Any]:
    """The gradients of floats, where every element of the result has a cotangent of its own."""
    tracked = [x.detach().requires_grad_() if x.dtype.kind == "f" else x for x in operands]
    y = function(*tracked)
    counted = pn.arange(y.values().numel()).reshape(*y.values().shape).to(y.dtype)
    cotangent = pn.nested_array_from_jagged(counted * 0.25 - 7, y.offsets())
    found = pn.grad(y, [x for x in tracked if x.requires_grad], cotangent, allow_unused=True)
    return [x.detach() for x in found if x is not None]


def assert_same_bits(function: Any, *operands: Any, has_gradient: bool = True) -> None:
    compiled = Replayed(function)
    assert bits(compiled(*operands)) == bits(function(*operands))
    if has_gradient:
        found, expected = gradients(compiled, *operands), gradients(function, *operands)
        assert [x.dtype for x in found] == [x.dtype for x in expected]
        assert list(map(bits, found)) == list(map(bits, expected))
    assert compiled.has_chains


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("dtype", [pn.float16, pn.float32, pn.float64], ids=str)
@pytest.mark.parametrize("name", [name for name in OPERATIONS if name != "where" and not name.startswith("bitwise")])
def test_every_operation_in_blocks_gives_the_same_bits(name: str, dtype: Any) -> None:
    operator, op = getattr(pn, name), OPERATIONS[name]
    x, y = edges(dtype)
    if len(op.vjps) == 1:
        assert_same_bits(lambda x: operator(operator(x)), x, has_gradient=not op.may_return_bool)
    else:
        assert_same_bits(lambda x, y: operator(operator(y, x), y), x, y, has_gradient=not op.may_return_bool)
        assert_same_bits(lambda x: operator(operator(2, x), -0.0), x, has_gradient=not op.may_return_bool)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("kind", [pn.float16, pn.float32, pn.float64], ids=str)
@pytest.mark.parametrize("other", [pn.float16, pn.float32, pn.float64, pn.int8, pn.int64, pn.bool], ids=str)
def test_dtypes_meet_as_they_do_otherwise(kind: Any, other: Any) -> None:
    def function(x: Any, y: Any, b: Any) -> Any:
        z = pn.where((x > y) | ~(y == 0), (x + y) * y - b, x) / 3
        return pn.where(z >= y, z.to(pn.float16) * x, pn.maximum(x, y * 0.5)) - y.to(pn.float32)

    x = edges(kind)[0]
    y = pn.array(np.arange(x.values().numel()) % 7 - 2).to(other)
    assert_same_bits(function, x, pn.nested_array_from_jagged(y, x.offsets()), pn.array(3).to(other))


def test_a_dense_operand_has_no_step_of_its_own() -> None:
    """`clamp` of a dense array by a nested one: its gradient is summed in float32 and then rounded to float16."""
    x = pn.nested_array_from_jagged(pn.array(np.full(4, 9.0, np.float32)), pn.array([0, 1, 4]))
    b = pn.array(1.0, dtype=pn.float16).requires_grad_()
    cotangents = pn.nested_array_from_jagged(pn.array([1e5, 1e5, -1e5, 2.0], dtype=pn.float32), x.offsets())
    compiled = Replayed(lambda b, x: b.clamp(-1, x) * 1.0)
    assert float(pn.grad(compiled(b, x), b, cotangents)) == np.inf  # NaN, if each cotangent were rounded


def test_scratch_memory_is_used_again_after_its_last_reader(small_blocks: None) -> None:
    """Random programs against NumPy, which keeps every array."""
    drawn = np.random.default_rng(5)
    for count in (1, 4, 12, 30, 30, 30):
        inputs, arrays = [LazyArray(np.dtype(np.float64)) for _ in range(3)], list(drawn.normal(size=(3, 40, 7)))
        lazy, known = [*inputs], [*arrays]
        for _ in range(count):
            (i, j), kind = drawn.integers(max(0, len(lazy) - 6), len(lazy), 2), drawn.integers(4)
            for values in (lazy, known):
                a, b = values[i], values[j]
                values.append(
                    [lambda a, b: a + b, lambda a, b: np.sin(a) * b - 1, lambda a, b: np.where(a < b, a, b),
                     lambda a, b: np.maximum(np.sign(a), 0.5)][kind](a, b)
                )  # fmt: skip
        wanted = [*drawn.integers(3, len(lazy), 3), -1, 0]
        results = BlockProgram(inputs, [lazy[i] for i in wanted])((40, 7), arrays)
        assert [x.tobytes() for x in results] == [known[i].tobytes() for i in wanted]


def test_threads_and_blocks_meet_without_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "THREADS", 3)
    drawn, row = np.random.default_rng(6), pn.array(np.random.default_rng(7).normal(size=5))
    offsets = pn.array([0, 3, 40_000, 40_000, 70_001])
    x, y = (pn.nested_array_from_jagged(pn.array(drawn.normal(size=(70_001, 5))), offsets) for _ in range(2))
    assert_same_bits(lambda x, y: pn.gelu(x * row + y) * y - pn.maximum(x, y), x, y)
