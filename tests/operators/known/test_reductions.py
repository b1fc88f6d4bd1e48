"""Reductions, running sums and products whose answers are known: exact fractions, Python's functions, loops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import EmptyReductionError
from pynested.tables.entries import Reduction
from pynested.tables.reductions import REDUCTIONS as TABLE

from ...nests import BOTH, JAGGED, STRIDED, Kind, assert_same, batch, check_gradients, distinct, nest, place
from ...support.loops import segments, variance

FULL = batch([(2, 2), (1, 2), (3, 2)], 3)
X = batch([(2, 2), (0, 2), (3, 2)])
PYTHON = {"sum": math.fsum, "mean": lambda x: math.fsum(x) / len(x), "prod": math.prod, "amax": max, "amin": min}
ROOTS = {"var": lambda square: square, "std": math.sqrt}


@pytest.mark.parametrize("dims", [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)], ids=str)
@pytest.mark.parametrize("name", PYTHON)
def test_elements_are_combined_by_python(lay: Any, name: str, dims: tuple[int, ...]) -> None:
    """Numbers that add up without rounding, and a NaN that only its own segment sees."""
    result = getattr(pn, name)(lay(FULL), dims)
    by_position: dict[Any, Any] = {}
    for position, segment in segments(FULL, dims).items():
        by_position[position] = PYTHON[name]([float(FULL[i][tuple(rest)]) for i, *rest in segment])
        got = result[position[0]].numpy()[position[1:]] if position else result.item()
        assert got == by_position[position], position
    if 0 not in dims:
        spoilt = [one.copy() for one in FULL]
        spoilt[0][0, 0] = np.nan
        for position in by_position:
            got = getattr(pn, name)(lay(spoilt), dims)[position[0]].numpy()[position[1:]]
            spoils = position[0] == 0 and (len(position) == 1 or position[1] == 0)
            assert np.isnan(got) if spoils else got == by_position[position]


@pytest.mark.parametrize("name", PYTHON)
def test_long_segments_are_within_the_bound(layout: Any, name: str) -> None:
    components = [np.random.default_rng(n).standard_normal((n, 2)).astype(np.float32) for n in (5000, 3)]
    for x, got in zip(components, getattr(pn, name)(nest(components, layout), 1), strict=True):
        exact = np.array([PYTHON[name](column) for column in x.T.astype(np.float64).tolist()])
        bound = len(x) * 2.0**-24 * np.abs(x).sum(0) if name not in ("amax", "amin") else np.zeros(2)
        assert got.dtype == np.float32 and (np.abs(got.numpy() - exact) <= bound).all()


def test_half_precision_is_added_up_wider(lay: Any) -> None:
    x = lay([np.array([60000, 60000, -60000], np.float16), np.ones(4000, np.float16)])
    assert pn.sum(x, 1).tolist() == [60000.0, 4000.0]
    assert pn.mean(x, 1).tolist() == [20000.0, 1.0]
    square = lay([np.array([[60000, 60000], [-60000, -60000]], np.float16)])
    assert pn.sum(square, (1, 2)).tolist() == [0.0] and pn.sum(square, (0, 1, 2)).item() == 0.0
    assert pn.sum(lay([np.array([x], np.float16) for x in (60000, 60000, -60000)]), 0).tolist() == [60000.0]
    assert pn.ones(70_000, dtype="float16").mean().item() == 1


def test_a_sum_in_integers_converts_every_element_first(lay: Any) -> None:
    cut = [np.array([0.5, 1.5]), np.array([-0.75, -100.25, -100.5])]  # 0 + 1, 0 - 100 - 100
    for kind, expected in ((np.int64, [1, -200]), (np.int8, [1, 56]), (np.bool_, [True, True])):
        assert_same(pn.sum(lay(cut), 1, dtype=kind), [np.array(one, kind) for one in expected])
        assert pn.array(cut[1]).sum(dtype=kind).item() == expected[1]
    assert_same(pn.sum(lay([np.array([200, 100], np.uint8)]), 1, dtype=pn.uint8), [np.uint8(44)])
    assert_same(pn.amax(lay([np.array([-3, -7], np.int8)]), 1), [np.int8(-3)])


@pytest.mark.parametrize("kind", [np.bool_, np.int8, np.float16, np.float64])
def test_any_and_all_are_those_of_python(lay: Any, kind: Any) -> None:
    lists: list[list[int]] = [[0, 1], [1, 1], [0, 0], [], [0], [1]]
    x = lay([np.array(one, kind) for one in lists])
    assert pn.any(x, 1).tolist() == [any(one) for one in lists] and pn.any(x).item() is True
    assert pn.all(x, 1).tolist() == [all(one) for one in lists] and pn.all(x).item() is False
    assert pn.any(x, 0).tolist() == [True, True] and pn.all(x, 0).tolist() == [False, False]
    assert pn.any(pn.array([np.nan, 0.0])).item() is True and pn.all(pn.array([np.nan, -0.0])).item() is False


@pytest.mark.parametrize(("ours", "name"), [(pn.argmax, "argmax"), (pn.argmin, "argmin")])
def test_positions_are_counted_within_components(lay: Any, ours: Any, name: str) -> None:
    rows: list[Any] = [[[1, 5], [4, 5]], [[7, np.nan]], [[2, 0], [9, -1], [9, -1]]]
    x = [np.array(one, np.float64) for one in rows]
    of_numpy, of_ours = getattr(np, name), ours
    for dim in (1, 2):
        assert_same(of_ours(lay(x), dim), [of_numpy(one, dim - 1) for one in x])
        assert_same(of_ours(lay(x), dim, True), [of_numpy(one, dim - 1, keepdims=True) for one in x])
    first, second, third = (np.array([one[row] for one in x if row < len(one)]) for row in range(3))
    present = [(first, [0, 1, 2]), (second, [0, 2]), (third, [2])]
    assert of_ours(lay(x), 0).tolist() == [[numbers[k] for k in of_numpy(some, 0)] for some, numbers in present]


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("shape", [(), (1,), (5,), (2, 3), (3, 1, 4), (2, 2, 2, 3)])
@pytest.mark.parametrize("kind", [np.bool_, np.int8, np.uint8, np.int64, np.float16, np.float64])
def test_the_position_among_all_elements(name: str, shape: tuple[int, ...], kind: Any) -> None:
    of_numpy, of_ours, count = getattr(np, name), getattr(pn, name), math.prod(shape)
    for step in range(3):
        numbers = ((np.arange(count) * 7 + step) % 5).astype(kind).reshape(shape)  # with ties
        for values in (numbers, numbers.T):  # in C order, whatever the memory
            x = pn.array(values)
            for found in (of_ours(x), getattr(x, name)(None), of_numpy(x, axis=None)):
                assert (found.shape, found.dtype, found.item()) == ((), np.int64, of_numpy(values))
            kept = of_ours(x, keepdim=True)
            assert (kept.shape, kept.item()) == ((1,) * len(shape), of_numpy(values))
    if kind is np.float64 and count > 3:
        numbers.reshape(-1)[1:4] = np.nan, np.inf, np.nan  # the first NaN is the greatest, and the least
        assert of_ours(pn.array(numbers)).item() == 1


@pytest.mark.parametrize("how", TABLE.values(), ids=list(TABLE))
def test_of_no_elements(how: Reduction, lay: Any) -> None:
    """The table of the code says what a segment without elements gives, for dense arrays and segments alike."""
    ours = getattr(pn, how.name)
    empty = lay([np.zeros((0, 2)), np.zeros((0, 2))])
    calls = [lambda: how(pn.zeros(0), 0), lambda: how(pn.zeros(2, 0), 1), lambda: ours(empty, 1)[0]]
    calls += [lambda: ours(lay([np.ones(2), np.ones(0)]), 1)[1]]
    if not how.is_place:
        calls += [lambda: ours(empty), lambda: ours(lay([np.zeros((0, 2)), np.zeros((2, 2))]), (1, 2))[0]]
    for call in calls:
        if how.refuses:
            with pytest.raises(EmptyReductionError, match=f"^{how.name}: "):
                call()
            continue
        np.testing.assert_array_equal(call().numpy(), np.full(call().shape, how.empty))
    assert how(pn.zeros(0, 0), 1).shape == (0,)
    assert ours(lay([np.zeros((0, 0)), np.zeros((1, 0))]), 1, True).numel() == 0
    if not how.is_place and how.option != "correction":  # which is nothing of one element
        made = place([np.array([0.5, 2.0]), np.zeros(0), np.array([3.0])], lay(X).layout, "holes", grad=True)
        result = ours(made.array, dim=())
        if result.requires_grad:
            (result * 2.0).sum().backward()
            assert_same(made.gradient(), [np.array([2.0, 2.0]), np.zeros(0), np.array([2.0])])


def test_logsumexp(lay: Any) -> None:
    x = [np.array([1000.0, 1000.0]), np.array([-1000.0]), np.array([], np.float64), np.array([-np.inf, -np.inf])]
    expected = [np.float64(1000 + math.log(2)), np.float64(-1000), np.float64(-np.inf), np.float64(-np.inf)]
    assert_same(pn.logsumexp(lay(x), 1), expected, 1e-15)
    assert pn.logsumexp(pn.array([1e308, 1e308])).item() == 1e308
    half = pn.logsumexp(pn.array(np.full(3000, 11, np.float16)))
    assert half.dtype == np.float16 and half.item() == np.float16(11 + math.log(3000))
    leaf = pn.array([1.0, 2.0, 4.0], requires_grad=True)
    weights = [math.exp(v) / (math.exp(1) + math.exp(2) + math.exp(4)) for v in (1, 2, 4)]
    np.testing.assert_allclose(pn.grad(pn.logsumexp(leaf), [leaf])[0].numpy(), weights, rtol=1e-14)


@pytest.mark.parametrize("correction", [0, 1, 0.5, 2, 3])
@pytest.mark.parametrize("name", ROOTS)
def test_variances_are_those_of_fractions(name: str, layout: Any, correction: float) -> None:
    rows = [np.array(row) for row in ([1.0, 4.0, 6.0], [], [7.0], [1e8, 1e8 + 1, 1e8 + 2], [0.1, 0.1, 0.1], [2.0, 5.0])]
    due = [ROOTS[name](variance(row, correction)) for row in rows]
    for x in (nest(rows, layout), nest(rows, layout, "holes")):
        np.testing.assert_allclose(getattr(pn, name)(x, 1, correction=correction).numpy(), due, rtol=1e-15)
        np.testing.assert_allclose(getattr(np, name)(x, axis=1, ddof=correction).numpy(), due, rtol=1e-15)
    without_divisor = [getattr(pn, name)(pn.array(row), correction=math.inf).item() for row in (rows[0], rows[4])]
    np.testing.assert_array_equal(without_divisor, [math.inf, math.nan])
    for row, number in zip(rows, due, strict=True):
        np.testing.assert_allclose(getattr(pn, name)(pn.array(row), correction=correction).numpy(), number, rtol=1e-15)


@pytest.mark.parametrize("name", ROOTS)
@pytest.mark.parametrize(("kind", "dims"), [(JAGGED, 1), (STRIDED, (0, 1)), (BOTH, None)], ids=str)
def test_gradients_of_variances_with_a_correction(name: str, kind: Kind, dims: Any) -> None:
    made = place([distinct(shape) for shape in kind.shapes((2, 3))], kind.layout, "packed", kind.ragged)
    check_gradients(lambda v: getattr(pn, name)(made.view(v), dims, correction=0.5), made.buffer.numpy())


@pytest.mark.parametrize("name", ROOTS)
def test_equal_elements_have_no_variance_and_no_slope(name: str) -> None:
    for number in (0.1, 1e300, -1e-300, 3.0):
        x = nest([np.full(7, number), np.full(2, number)], pn.jagged).requires_grad_()
        spread = getattr(pn, name)(x, 1)
        assert spread.tolist() == [0, 0]
        assert not np.any(pn.grad(spread.sum(), [x])[0].values().numpy())


def test_running_sums(lay: Any) -> None:
    x = [np.array([1.0, np.nan, 1e300]), np.array([1e17, 1.0]), np.array([0.1, 0.2]), np.array([np.inf]), np.ones(2)]
    expected = [[1.0, np.nan, np.nan], [1e17, 1e17], [0.1, 0.1 + 0.2], [np.inf], [1.0, 2.0]]
    assert_same(pn.cumsum(lay(x), 1), [np.array(one) for one in expected])
    for dtype in (np.bool_, np.int8, np.uint8, np.int16, np.int32, np.int64):
        assert_same(lay([np.array([1, 1], dtype), np.array([0], dtype)]).cumsum(1), [np.array([1, 2]), np.array([0])])
    half = lay([np.array([2048, 1, 1, 60000, 60000, -60000], np.float16)])
    assert_same(half.cumsum(1), [np.array([2048, 2048, 2050, 62048, np.inf, 62048], np.float16)])
    assert_same(lay([np.array([0.5, 1.5, 127.0])]).cumsum(1, dtype=pn.int8), [np.array([0, 1, -128], np.int8)])


def test_products_wrap_and_are_rounded_once(lay: Any) -> None:
    ints = [np.array([[100, 1]], np.int8), np.array([[2, 3]], np.int8)]
    assert_same(lay(ints) @ np.array([[2], [1]], np.int8), [np.array([[-55]], np.int8), np.array([[7]], np.int8)])
    flags = [np.array([[True, True]]), np.array([[False, True]])]
    assert_same(lay(flags) @ np.array([[True], [False]]), [np.array([[True]]), np.array([[False]])])
    half = np.float16
    x, weight, bias = np.array([[2048, 1]], half), np.array([[1, 1]], half), np.array([1], half)
    for found in (pn.linear(lay([x]), weight, bias)[0], pn.linear(pn.array(x), weight, bias)):
        assert found.dtype == half and found.tolist() == [[2050.0]]  # 2048 + 1 is between two halves
    for found in (pn.linear(lay([x]), weight, bias.astype(np.float32)), pn.linear(x, weight, np.ones(1, "f"))):
        assert found.dtype == np.float32
    for narrow, wide in (("float32", np.float64), ("float16", np.float64), ("float16", np.float32)):
        x, weight, bias = np.array([[0.1, 0.3]], narrow), np.array([[0.7, 0.9]], narrow), np.array([0.1], wide)
        due = [float(x[0, 0]) * float(weight[0, 0]) + float(x[0, 1]) * float(weight[0, 1]) + float(bias[0])]
        for found in (pn.linear(lay([x]), weight, bias)[0], pn.linear(pn.array(x), weight, bias)):
            assert found.dtype == wide
            np.testing.assert_allclose(found.numpy()[0], due, 4 * float(np.finfo(wide).eps))


def test_products_of_many_components(layout: Any) -> None:
    lengths = np.random.default_rng(0).integers(0, 5, 60)
    a, b = batch([(n, 3) for n in lengths]), batch([(3, n) for n in lengths], 1)
    assert_same(nest(a, layout) @ nest(b, layout, "packed", 2), [x @ y for x, y in zip(a, b, strict=True)])
    assert_same(nest(b, layout, "packed", 2) @ nest(a, layout), [y @ x for x, y in zip(a, b, strict=True)], 1e-14)
    spoilt = [np.full((2, 3), np.nan), np.ones((1, 3)), np.full((3, 3), np.inf)]
    for other in (np.ones((3, 2)), np.ones((3, 3, 2)), nest([np.ones((3, 2))] * 3, layout)):
        assert (nest(spoilt, layout, "holes") @ other)[1].tolist() == [[3.0, 3.0]]


def test_products_over_nothing(lay: Any, layout: Any) -> None:
    wide = [np.zeros((2, 0)), np.zeros((1, 0))]
    assert_same(pn.matmul(lay(wide), np.zeros((0, 3))), [np.zeros((2, 3)), np.zeros((1, 3))])
    columns = nest([np.zeros((3, 0)), np.ones((3, 2))], layout, "holes", 2)
    assert_same(pn.matmul(columns, lay([np.zeros((0, 2)), np.ones((2, 2))])), [np.zeros((3, 2)), np.full((3, 2), 2.0)])
    weight, bias = pn.array(np.ones((2, 3)), requires_grad=True), pn.array(np.ones(2), requires_grad=True)
    pn.linear(lay([np.zeros((0, 3))] * 2), weight, bias).sum().backward()
    assert weight.grad.tolist() == [[0.0] * 3] * 2 and bias.grad.tolist() == [0.0, 0.0]  # type: ignore[union-attr]


@pytest.mark.parametrize("count", [1, 8, 9, 20])
def test_many_components_without_a_last_size_in_a_small_buffer(count: int) -> None:
    for buffer in (np.zeros(0), np.zeros(1)):
        leaf = pn.array(buffer, requires_grad=True)
        x = pn.nested_array_from_strided(leaf, [[4, 0]] * count, [[1, 1]] * count, [0] * count)
        expected = [np.zeros((4, 0))] * count
        for result in (pn.exp(x), x + 1.0, x * x, x.contiguous(), pn.softmax(x, 2), x.clone(), pn.cat([x, x], 2), -x):
            assert_same(result, expected)
        assert_same(x.sum(2), [np.zeros(4)] * count)
        assert pn.to_padded_array(x, 1.0).shape == (count, 4, 0)
        (x * 2.0).sum().backward()
        assert leaf.grad.tolist() == np.zeros(buffer.shape).tolist()
