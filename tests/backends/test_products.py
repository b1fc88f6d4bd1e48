"""Products of many matrices against loops over rows, inner and columns; totals against exact sums."""

from __future__ import annotations

from itertools import product
from math import fsum
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pynested.backends import Matrices
from pynested.backends import numpy as cpu
from pynested.backends.numpy import products, running

pytestmark = pytest.mark.usefixtures("path")

Sizes = list[tuple[int, int, int]]


def packed(shapes: list[tuple[int, int]], transposed: bool = False, gap: int = 0) -> tuple[Matrices, int]:
    """Matrices one after the other, with a gap before each, and how long a buffer they need."""
    rows, cols = np.array(shapes, np.int64).reshape(-1, 2).T
    ends = np.cumsum(rows * cols + gap)
    return Matrices(ends - rows * cols, rows, cols, transposed), int(ends[-1]) if len(shapes) else 0


def matrix(flat: np.ndarray, matrices: Matrices, k: int) -> list[list[Any]]:
    start, rows, cols = (int(numbers[k]) for numbers in (matrices.offsets, matrices.rows, matrices.cols))
    if matrices.transposed:
        return [[flat[start + c * rows + r].item() for c in range(cols)] for r in range(rows)]
    return [[flat[start + r * cols + c].item() for c in range(cols)] for r in range(rows)]


def plain(a: np.ndarray, b: np.ndarray, left: Matrices, right: Matrices) -> list[Any]:
    result = []
    for k in range(left.count):
        first, second = matrix(a, left, k), matrix(b, right, k)
        for row in first:
            result += [sum(row[i] * second[i][c] for i in range(len(row))) for c in range(int(right.cols[k]))]
    return result


def check(sizes: Sizes, dtype: str, left_transposed: bool, right_transposed: bool, gap: int = 0) -> None:
    left, left_size = packed([(rows, inner) for rows, inner, _ in sizes], left_transposed, gap)
    right, right_size = packed([(inner, cols) for _, inner, cols in sizes], right_transposed, gap)
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-4, 5, size).astype(dtype) for size in (left_size, right_size))
    result = cpu.matmul_components(a, b, left, right)
    assert (result.dtype, result.ndim) == (a.dtype, 1)
    assert result.tolist() == plain(a, b, left, right)


@pytest.mark.parametrize("left_transposed", [False, True])
@pytest.mark.parametrize("right_transposed", [False, True])
@pytest.mark.parametrize("dtype", ["int16", "int64", "float16", "float32", "float64"])
def test_all_small_sizes(dtype: str, left_transposed: bool, right_transposed: bool) -> None:
    every = list(product(range(3), repeat=3))
    check([], dtype, left_transposed, right_transposed)
    check(every, dtype, left_transposed, right_transposed)
    check([*every, *reversed(every), (3, 2, 3)], dtype, left_transposed, right_transposed, gap=1)
    check([(2, 3, 2)] * 7, dtype, left_transposed, right_transposed)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(*[st.integers(0, 4)] * 3), max_size=20), st.booleans(), st.booleans(), st.integers(0, 2))
def test_any_sizes(sizes: Sizes, left_transposed: bool, right_transposed: bool, gap: int) -> None:
    check(sizes, "float32", left_transposed, right_transposed, gap)


def test_one_shared_matrix_and_overlapping_ones() -> None:
    lengths = [2, 0, 3, 2, 1, 2]
    left, size = packed([(length, 2) for length in lengths])
    count = len(lengths)
    for offsets in ([0] * count, [0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [5, 0, 5, 0, 3, 1]):
        right = Matrices(np.array(offsets), np.full(count, 2), np.full(count, 2))
        a, b = np.arange(size, dtype=np.float64), np.arange(9.0)
        assert cpu.matmul_components(a, b, left, right).tolist() == plain(a, b, left, right)


def test_large_and_small_ones_together() -> None:
    rng = np.random.default_rng(2)
    shapes = [(200, 3), (1, 3), (2, 3), (90, 3), (2, 3), (1, 3)]
    left, size = packed(shapes)
    right, right_size = packed([(3, 100)] * 6)
    a, b = rng.integers(-9, 9, size).astype(np.float32), rng.integers(-9, 9, right_size).astype(np.float32)
    result = cpu.matmul_components(a, b, left, right)
    start = 0
    for k, (rows, _) in enumerate(shapes):
        first = np.array(matrix(a, left, k)).reshape(rows, 3)
        np.testing.assert_array_equal(
            result[start : start + rows * 100].reshape(rows, 100), first @ matrix(b, right, k)
        )
        start += rows * 100


def test_integers_are_exact_and_bools_are_or_of_and() -> None:
    left, right = packed([(1, 2)])[0], packed([(2, 1)])[0]
    big = np.array([2**53 + 1, 1], np.int64)
    assert cpu.matmul_components(big, np.array([3, 4]), left, right).tolist() == [3 * (2**53 + 1) + 4]
    truth = np.array([True, True])
    result = cpu.matmul_components(truth, truth, left, right)
    assert (result.dtype, result.tolist()) == (np.bool_, [True])
    mixed = cpu.matmul_components(np.array([1, 2], np.int8), np.array([1, 2], np.float32), left, right)
    assert (mixed.dtype, mixed.tolist()) == (np.float32, [5])


def test_float16_accumulates_wide() -> None:
    left, right = packed([(1, 4096)])[0], packed([(4096, 1)])[0]
    ones = np.ones(4096, np.float16)
    result = cpu.matmul_components(ones, ones, left, right)
    assert (result.dtype, result.tolist()) == (np.float16, [4096])


def test_no_neighbour_changes_a_product() -> None:
    left, size = packed([(2, 3)] * 6)
    right, right_size = packed([(3, 2)] * 6)
    a, b = np.ones(size), np.ones(right_size)
    a[6 * 2 : 6 * 3] = np.nan
    result = cpu.matmul_components(a, b, left, right).reshape(6, 4)
    assert np.isnan(result[2]).all() and (result[[0, 1, 3, 4, 5]] == 3).all()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(), (0,), (1,), (7, 3), (50_000,)], ids=str)
def test_sum_all(dtype: str, shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(3).normal(1, 3, shape).astype(dtype)
    total = cpu.sum_all(x)
    assert isinstance(total, np.ndarray) and (total.shape, total.dtype) == ((), x.dtype)
    numbers = list(map(float, x.ravel()))
    error, magnitude = abs(fsum([*numbers, -float(total)])), fsum(map(abs, numbers))  # exact sums, rounded once
    eps = float(np.finfo(dtype).eps)
    computing = 2.0**-24 if dtype == "float16" else eps / 2
    assert error <= 40 * computing * magnitude + eps * abs(fsum(numbers))
    np.testing.assert_array_equal(cpu.sum_all(x.T), total) if x.ndim < 2 else None


def test_a_float16_total_does_not_overflow_on_the_way() -> None:
    assert cpu.sum_all(np.array([60000, 60000, -60000, -60000, 3], np.float16)) == 3


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_sum_first(dtype: str) -> None:
    """Of whole blocks, of a part of one, and of rows with steps; a NaN and an infinity stay in their columns."""
    rows = 2 * running.rows_in_block(3 * np.dtype(dtype).itemsize) + 5
    x = np.random.default_rng(rows).integers(-8, 9, (rows, 3)).astype(dtype) / 8
    due = np.array([sum((column * 8).astype(int).tolist()) for column in x.T]) / 8
    assert products.sum_first(x).dtype == dtype
    np.testing.assert_array_equal(products.sum_first(x), due.astype(dtype))
    np.testing.assert_array_equal(products.sum_first(np.asfortranarray(x)[:, ::-1]), due[::-1].astype(dtype))
    x[rows // 2, 0], x[-1, 1] = np.nan, -np.inf
    np.testing.assert_array_equal(products.sum_first(x), np.array([np.nan, -np.inf, due[2]], dtype))


def test_sum_all_of_integers_is_exact() -> None:
    assert cpu.sum_all(np.full(7, 2**62)).tolist() == (7 * 2**62 + 2**63) % 2**64 - 2**63
    assert cpu.sum_all(np.full(300, 127, np.int8)).tolist() == 300 * 127
    assert cpu.sum_all(np.array([[True, True], [False, True]])).tolist() == 3
    assert cpu.sum_all(np.zeros(0, np.uint8)).dtype == np.int64


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("rows", [1, 2, 7])
def test_rows_of_a_large_product_are_shared(dtype: str, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs: list[tuple[int, int]] = []

    def run(work: Any, cuts: list[tuple[int, int]], nbytes: int) -> None:
        jobs.extend(cuts)
        running.run(work, cuts, nbytes)

    for module in (products, running):
        monkeypatch.setattr(module, "THREADS", 2)
    monkeypatch.setattr(products, "blas_threads", lambda: 2)
    monkeypatch.setattr(products, "run", run)
    monkeypatch.setattr(products, "SHARED_PRODUCT", 7 * 5 * rows)
    generator = np.random.default_rng(rows)
    a, b = (generator.integers(-9, 9, shape).astype(dtype) for shape in ((rows, 5), (5, 7)))
    due = np.einsum("ij,jk->ik", a, b)
    for left, right in product((a, np.asfortranarray(a)), (b, np.asfortranarray(b))):
        np.testing.assert_array_equal(cpu.matmul(left, right), due)
    assert jobs == ([(0, rows // 2), (rows // 2, rows)] if rows > 1 else [(0, 1)]) * 4
    jobs.clear()
    cpu.matmul(a[:, :4], b[:4])  # one that is smaller
    monkeypatch.setattr(products, "blas_threads", lambda: 16)
    np.testing.assert_array_equal(cpu.matmul(a, b), due)  # BLAS has more threads than we have
    assert not jobs
