from __future__ import annotations

import math

import numpy as np
import pytest

from pynested.spec.components import (
    Components,
    broadcast,
    cast,
    dims_of,
    each,
    layouts,
    left_align,
    matched,
    promoted,
    split_rows,
    without,
)
from pynested.spec.definitions import definition
from pynested.spec.generator.exact import Exact, lift
from pynested.spec.numerics import erf, is_nan, maximum_along, mean_along, real, sum_along, wide


def test_small_layouts_are_enumerated_exhaustively() -> None:
    every = list(layouts())
    assert len(every) == len(set(every)) == 85
    assert {(), (0,), (3, 3, 3), (0, 0, 0), (0, 3, 1)} <= set(every)
    assert len(list(layouts(2, 4))) == 1 + 5 + 25


@pytest.mark.parametrize("lengths", list(layouts()))
def test_left_alignment_marks_what_is_present(lengths: tuple[int, ...]) -> None:
    components = Components(
        split_rows(np.arange(2.0 * sum(lengths)).reshape(-1, 2), lengths), (len(lengths), None, 2), "f8"
    )
    aligned, present = left_align(components)
    assert aligned.shape == present.shape == (len(lengths), max(lengths, default=0), 2)
    assert present.sum() == 2 * sum(lengths)
    for number, component in enumerate(components):
        assert np.array_equal(aligned[number][present[number]], component.ravel())


def test_components_know_their_shape_and_dtype() -> None:
    x = Components([np.zeros((2, 3), "float32"), np.zeros((1, 3), "float32")])
    assert (x.shape, x.dtype) == ((2, None, 3), "float32")
    assert Components([np.zeros((2, 3))] * 2).shape == (2, 2, 3)
    with pytest.raises(TypeError, match="pass dtype="):
        Components([], (0, None, 3))


def test_a_slice_of_components_keeps_what_it_cannot_show() -> None:
    x = Components([np.zeros((2, 3), "int8")] * 2, (2, None, 3))
    for picked, count in ((x[:0], 0), (x[1:], 1), (x[::-1], 2), (x[5:], 0)):
        assert isinstance(picked, Components)
        assert (len(picked), picked.shape, picked.dtype) == (count, (count, None, 3), "int8")
    assert x[-1] is x[1]


def test_the_law_is_a_function_of_each() -> None:
    x = Components([np.array([[1.0, 2.0]]), np.zeros((0, 2))], (2, None, 2))
    doubled = each(lambda a, b: a + b, x, x)
    assert [one.tolist() for one in doubled] == [[[2.0, 4.0]], []]
    assert doubled.shape == (2, None, 2)
    assert each(np.add, np.array([1.0]), 2.0).tolist() == [3.0]
    with pytest.raises(ValueError, match=r"component 0 of the result has shape \(2, 1\), not \(None, 2\)"):
        each(np.transpose, x)
    assert each(np.transpose, x, shape=(2, 2, None)).shape == (2, 2, None)


def test_the_law_for_no_components() -> None:
    none, other = Components([], (0, None, 4), "float32"), Components([], (0, 3, 1), "int64")
    assert (each(np.equal, none, other).shape, each(np.equal, none, other).dtype) == ((0, None, 4), "bool")
    assert (each(np.add, none, np.zeros((1, 1, 4), "float64")).dtype) == "float64"
    turned = each(np.transpose, none, shape=(0, 4, None))
    assert (turned, turned.shape, turned.dtype) == ([], (0, 4, None), "float32")
    chosen = each(lambda x: x[7], none, shape=(0, 4), dtype="int8")
    assert (chosen.shape, chosen.dtype) == ((0, 4), "int8")


def test_logical_shapes() -> None:
    assert broadcast((2, None, 4), (4,), (2, 1, 1)) == (2, None, 4)
    assert broadcast((0, 3, 1), (0, None, 5)) == (0, None, 5)
    assert dims_of(None, (2, None, 4)) == (0, 1, 2)
    assert (dims_of(1, (2, 3)), dims_of((1, 0), (2, 3))) == ((1,), (1, 0))
    assert without((2, None, 4), (1,)) == (2, 4)
    assert without((2, None, 4), (0, 2), keepdim=True) == (1, None, 1)


def test_dense_operands_meet_components() -> None:
    nested = Components([np.zeros((2, 3)), np.zeros((1, 3))])
    row, batch, one = np.ones(3), np.arange(6.0).reshape(2, 1, 3), np.ones((1, 1, 3))
    assert [b.shape for _, b in matched(nested, row)] == [(3,), (3,)]
    assert np.array_equal(matched(nested, batch)[1][1], batch[1])
    assert np.array_equal(matched(one, nested)[1][0], one[0])
    assert matched(nested, 2.0)[0][1] == 2.0


def test_numbers_are_weak() -> None:
    for dtype, result in (("int8", "int8"), ("float32", "float64")):
        for count in (0, 1):
            x = Components([np.zeros(1, dtype)] * count, (count, None), dtype)
            assert [operand.dtype for operand in promoted(x, 3)] == [result, result]
    assert [operand.dtype for operand in promoted(np.zeros(1, "int8"), 1.5)] == ["float64", "float64"]


def test_casts_keep_complex_and_exact_numbers() -> None:
    assert cast(Components([np.ones(1, "float32")]), "float64").dtype == "float64"
    assert cast(Components([np.ones(1, "complex128")]), "float32").dtype == "complex128"
    assert cast(Components([lift(np.ones(1))]), "float32").dtype == object
    assert cast(Components([np.ones(1, "int8")]), None).dtype == "int8"
    assert cast(Components([], (0,), "int8"), "float32").dtype == "float32"


def test_wide_widens_floats_only() -> None:
    assert wide(np.ones(1, "float16")).dtype == "float64"
    assert wide(np.ones(1, "int8")).dtype == "int8"
    assert wide(np.ones(1, "complex128")).dtype == "complex128"
    assert real(np.array([1 + 2j])).tolist() == [1.0]


@pytest.mark.parametrize("kind", ["float64", "complex128", "object"])
def test_helpers_agree_on_every_kind_of_number(kind: str) -> None:
    numbers = np.array([[1.0, math.nan, -2.0], [0.5, 4.0, -1.0]])
    x = lift(numbers) if kind == "object" else numbers.astype(kind)
    assert is_nan(x).tolist() == np.isnan(numbers).tolist()
    greatest = [float(real(number)) if kind != "object" else float(number) for number in maximum_along(x, 1)]
    assert math.isnan(greatest[0])
    assert greatest[1] == 4
    assert abs(complex(_number(sum_along(x[1], 0)))) == 3.5
    assert abs(complex(_number(mean_along(x[1], 0)))) == pytest.approx(3.5 / 3)


def _number(value: np.ndarray) -> complex:
    item = value.item()
    return float(item) if isinstance(item, Exact) else item


def test_sums_and_means_of_nothing() -> None:
    assert sum_along(np.zeros((0, 2), "float32"), 0).tolist() == [0, 0]
    assert np.isnan(mean_along(np.zeros((0, 2), "int8"), 0)).all()
    assert sum_along(np.array([200, 100], "uint8"), 0).dtype == "int64"
    assert maximum_along(np.array([[1.0, 2.0]]), (0, 1)) == 2


@pytest.mark.parametrize("number", [0.0, 0.3, -1.7, 4.0])
def test_erf_and_its_continuation(number: float) -> None:
    assert erf(number) == math.erf(number)
    slope = 2 / math.sqrt(math.pi) * math.exp(-(number**2))
    assert erf(np.array(number + 1e-30j)).imag / 1e-30 == pytest.approx(slope)
    assert float(erf(lift(np.array([number])))[0]) == pytest.approx(math.erf(number), abs=1e-16)


@pytest.mark.parametrize("op", ["argmax", "argmin", "amax", "amin", "logsumexp", "prod"])
@pytest.mark.parametrize("keepdim", [False, True])
def test_no_components_have_no_runs(op: str, keepdim: bool) -> None:
    x = Components([], (0, None, 0), "int16")
    found = definition(op)(x, 2, keepdim=keepdim)
    assert found == []
    assert found.shape == ((0, None, 1) if keepdim else (0, None))
    kinds = {"logsumexp": "float64", "amax": "int16", "amin": "int16"}
    assert found.dtype == kinds.get(op, "int64")
