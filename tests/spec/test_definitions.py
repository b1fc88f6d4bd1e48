"""The definitions against arithmetic written out, number by number, on every small layout."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from pynested.spec.components import Components, layouts, split_rows
from pynested.spec.definitions import definition
from pynested.spec.generator.draws import word

from ..conversions import converted, telling

LAYOUTS = [lengths for lengths in layouts() if lengths]
WIDTH = 2
Rows = list[list[list[int]]]  # component, row, column


def rows(lengths: tuple[int, ...], key: str = "rows") -> Rows:
    """Return small integers that differ from place to place."""
    numbers = iter(int(word(key, index) % 9) - 4 for index in range(1000))
    return [[[next(numbers) for _ in range(WIDTH)] for _ in range(length)] for length in lengths]


def components(values: Rows) -> Components:
    flat = [row for component in values for row in component]
    array = np.array(flat, dtype="float64").reshape(-1, WIDTH)
    return Components(split_rows(array, [len(component) for component in values]), (len(values), None, WIDTH))


def same(got: Any, expected: Any) -> bool:
    """Compare with a nested list, of numbers or Fractions; NaN equals NaN."""
    if isinstance(expected, list):
        return len(got) == len(expected) and all(same(mine, theirs) for mine, theirs in zip(got, expected, strict=True))
    mine, theirs = float(got), float(expected)
    return mine == theirs or (math.isnan(mine) and math.isnan(theirs)) or abs(mine - theirs) < 1e-14 * (1 + abs(theirs))


def column(component: list[list[int]], place: int) -> list[int]:
    return [row[place] for row in component]


@pytest.mark.parametrize("lengths", LAYOUTS)
def test_reductions_along_the_ragged_dimension(lengths: tuple[int, ...]) -> None:
    values = rows(lengths)
    x = components(values)
    sums = [[sum(column(one, place)) for place in range(WIDTH)] for one in values]
    assert same(definition("sum")(x, 1), sums)
    means = [
        [Fraction(total, len(one)) if one else math.nan for total in row] for one, row in zip(values, sums, strict=True)
    ]
    assert same(definition("mean")(x, 1), means)
    products = [[math.prod(column(one, place)) for place in range(WIDTH)] for one in values]
    assert same(definition("prod")(x, 1), products)
    if all(lengths):
        assert same(definition("amax")(x, 1), [[max(column(one, place)) for place in range(WIDTH)] for one in values])


@pytest.mark.parametrize("lengths", LAYOUTS)
def test_reductions_across_components_count_who_is_present(lengths: tuple[int, ...]) -> None:
    values = rows(lengths)
    x = components(values)
    present = [[one[row] for one in values if row < len(one)] for row in range(max(lengths))]
    sums = [[sum(column(group, place)) for place in range(WIDTH)] for group in present]
    assert same(definition("sum")(x, 0), sums)
    means = [[Fraction(total, len(group)) for total in row] for group, row in zip(present, sums, strict=True)]
    assert same(definition("mean")(x, 0), means)
    products = [[math.prod(column(group, place)) for place in range(WIDTH)] for group in present]
    assert same(definition("prod")(x, 0), products)
    assert same(definition("amax")(x, 0), [[max(column(group, place)) for place in range(WIDTH)] for group in present])


@pytest.mark.parametrize("lengths", LAYOUTS)
def test_reductions_of_everything(lengths: tuple[int, ...]) -> None:
    values = rows(lengths)
    every = [number for one in values for row in one for number in row]
    assert float(definition("sum")(components(values), None)) == sum(every)
    mean = definition("mean")
    with np.errstate(invalid="ignore"):
        assert same(mean(components(values), None), Fraction(sum(every), len(every)) if every else math.nan)


@pytest.mark.parametrize("lengths", LAYOUTS)
def test_softmax(lengths: tuple[int, ...]) -> None:
    values = rows(lengths)

    def share(one: list[list[int]], row: int, place: int) -> float:
        return math.exp(one[row][place]) / math.fsum(math.exp(number) for number in column(one, place))

    expected = [[[share(one, row, place) for place in range(WIDTH)] for row in range(len(one))] for one in values]
    assert same(definition("softmax")(components(values), 1), expected)


@pytest.mark.parametrize("lengths", LAYOUTS)
def test_layer_norm(lengths: tuple[int, ...]) -> None:
    values = rows(lengths)

    def normal(row: list[int], place: int) -> float:
        mean = sum(row) / WIDTH
        variance = sum((number - mean) ** 2 for number in row) / WIDTH
        return (row[place] - mean) / math.sqrt(variance + 1e-5)

    expected = [[[normal(row, place) for place in range(WIDTH)] for row in one] for one in values]
    assert same(definition("layer_norm")(components(values), (WIDTH,)), expected)


@pytest.mark.parametrize("lengths", LAYOUTS)
def test_products(lengths: tuple[int, ...]) -> None:
    values, weight = rows(lengths), [[1, -2, 3], [4, 0, -1]]
    matrix = np.array(weight, dtype="float64")

    def times(row: list[int], place: int) -> int:
        return sum(row[inner] * weight[inner][place] for inner in range(WIDTH))

    expected = [[[times(row, place) for place in range(3)] for row in one] for one in values]
    assert same(definition("matmul")(components(values), matrix), expected)
    assert same(definition("linear")(components(values), matrix.T), expected)
    with_bias = [[[number + 10 for number in row] for row in one] for one in expected]
    assert same(definition("linear")(components(values), matrix.T, np.full(3, 10.0)), with_bias)
    stack = np.stack([matrix * number for number in range(len(lengths))])
    scaled = [[[number * index for number in row] for row in one] for index, one in enumerate(expected)]
    assert same(definition("bmm")(components(values), stack), scaled)


@pytest.mark.parametrize("lengths", LAYOUTS)
def test_movement(lengths: tuple[int, ...]) -> None:
    values = rows(lengths)
    x = components(values)
    turned = [[column(one, place) for place in range(WIDTH)] for one in values]
    assert same(definition("transpose")(x, 1, 2), turned)
    assert same(definition("select")(x, 2, 1), [column(one, 1) for one in values])
    assert same(definition("select")(x, 0, len(lengths) - 1), values[-1])
    if all(lengths):
        assert same(definition("select")(x, 1, -1), [one[-1] for one in values])
    assert same(definition("unsqueeze")(x, 1), [[one] for one in values])
    assert same(definition("cat")([x, x]), values + values)
    assert same(definition("cat")([x, x], 1), [one + one for one in values])
    assert same(
        definition("chunk")(x, 2),
        [values[: -(-len(values) // 2)], values[-(-len(values) // 2) :]][: min(2, len(values))],
    )
    assert same(definition("reshape")(x, (len(x), -1, 1, WIDTH)), [[[row] for row in one] for one in values])
    assert same(definition("unbind")(x), values)


@pytest.mark.parametrize("lengths", LAYOUTS)
def test_conversion(lengths: tuple[int, ...]) -> None:
    values = rows(lengths)
    x, longest = components(values), max(lengths)
    padded = [one + [[-7] * WIDTH] * (longest - len(one)) for one in values]
    assert same(definition("to_padded_array")(x, -7.0), padded)
    flat = np.array([row for one in values for row in one], dtype="float64").reshape(-1, WIDTH)
    offsets = np.cumsum([0, *lengths])
    assert same(definition("nested_array_from_jagged")(flat, offsets), values)
    assert same(definition("nested_array_from_jagged")(flat, None, np.array(lengths)), values)
    sizes = np.array([[length, WIDTH] for length in lengths])
    assert same(definition("nested_array_from_strided")(flat.ravel(), sizes), values)
    block = np.array(padded, dtype="float64").reshape(len(lengths), longest, WIDTH)
    assert same(definition("narrow")(block, 1, 0, np.array(lengths)), values)
    assert same(definition("getitem")(x, (slice(None), slice(None, None, -1))), [one[::-1] for one in values])
    assert same(definition("getitem")(x, (slice(1, None), slice(0, 2))), [one[:2] for one in values[1:]])


@pytest.mark.parametrize("lengths", LAYOUTS)
def test_elementwise_and_comparison(lengths: tuple[int, ...]) -> None:
    left, right = rows(lengths), rows(lengths, "other")
    a, b = components(left), components(right)

    def each(function: Any) -> Any:
        return [
            [[function(m, n) for m, n in zip(*pair, strict=True)] for pair in zip(one, two, strict=True)]
            for one, two in zip(left, right, strict=True)
        ]

    assert same(definition("add")(a, b, 3), each(lambda m, n: m + 3 * n))
    assert same(definition("sub")(a, b), each(lambda m, n: m - n))
    assert same(definition("mul")(a, b), each(lambda m, n: m * n))
    assert same(definition("lt")(a, b), each(lambda m, n: m < n))
    assert same(definition("eq")(a, b), each(lambda m, n: m == n))
    assert same(definition("relu")(a), each(lambda m, n: max(m, 0)))
    mask = definition("lt")(a, b)
    assert same(definition("where")(mask, a, b), each(min))
    assert same(definition("masked_fill")(a, mask, 9.0), each(lambda m, n: 9 if m < n else m))
    assert definition("equal")(a, b) is (left == right)


@pytest.mark.parametrize("lengths", LAYOUTS)
def test_losses(lengths: tuple[int, ...]) -> None:
    values = rows(lengths)
    x = components(values)
    target = Components([np.array([abs(row[0]) % WIDTH for row in one], dtype="int64") for one in values])
    losses = [
        [math.log(math.fsum(math.exp(n) for n in row)) - row[abs(row[0]) % WIDTH] for row in one] for one in values
    ]
    assert same(definition("cross_entropy")(x, target, reduction="none"), losses)
    every = [number for one in losses for number in one]
    with np.errstate(invalid="ignore"):
        mean = definition("cross_entropy")(x, target)
    assert same(mean, math.fsum(every) / len(every) if every else math.nan)
    weight = np.array([[1.0, 2.0], [3.0, 4.0]])
    picked = [[weight[index].tolist() for index in one] for one in target]
    assert same(definition("embedding")(target, weight), picked)


DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64")


@pytest.mark.parametrize("source", DTYPES)
def test_conversions(source: str) -> None:
    x = telling(np.dtype(source))
    for name in DTYPES:
        target = np.dtype(name)
        found = definition("to")(Components([x, x[:0]]), target)
        assert [one.shape for one in found] == [x.shape, (0,)]
        with np.errstate(all="ignore"):
            rounded = [one.astype(target) for one in found]  # by whoever compares; NumPy rounds once
            np.testing.assert_array_equal(rounded[0], np.array(converted(x.tolist(), target), target))


def test_equality_is_exact() -> None:
    near, wide = Components([np.array([2**53 + 1])]), Components([np.array([2.0**53])])
    assert definition("equal")(near, wide) is False and definition("equal")(near, near) is True
    assert definition("equal")(Components([np.array([2**53])]), wide) is True
    nan = Components([np.array([math.nan])])
    assert definition("equal")(nan, nan) is False


def test_arrays_are_converted_once_to_the_dtype_that_is_asked_for() -> None:
    made = definition("nested_array")([np.array([False]), np.array([-2]), np.array([300])], "float16")
    assert [one.tolist() for one in made] == [[0.0], [-2.0], [300.0]]
    assert {one.dtype.name for one in made} == {"float16"}
    assert definition("nested_array")([], "int8").dtype == np.int8


def test_irregular_and_regular_sizes_are_joined_without_components() -> None:
    arrays = [Components([], (0, None, 2), "int8"), Components([], (0, 3, 2), "float32")]
    for name, shape in (("stack", (0, 2, None, 2)), ("cat", (0, None, 2))):
        made = definition(name)(arrays, 1)
        assert (made.shape, made.dtype) == (shape, np.float32)


def test_products_with_alpha_are_taken_after_promotion() -> None:
    small, wide = Components([np.array([100], "int8")]), Components([np.array([1])])
    assert [one.tolist() for one in definition("add")(wide, small, 300)] == [[30001]]
    zero, large = Components([np.array([0.0])]), Components([np.array([2**62])])
    assert [one.tolist() for one in definition("sub")(zero, large, 4)] == [[-(2.0**64)]]
    assert [one.tolist() for one in definition("add")(small, small, 2)] == [[44]]
    zero, true = (
        Components([np.array([0], "uint8")]),
        Components([np.array([True])]),
    )  # a floating alpha makes floats of them, 1.0 too
    assert [one.tolist() for one in definition("sub")(zero, true, 1.0)] == [[-1.0]]
    assert [one.tolist() for one in definition("add")(true, true, 1.0)] == [[2.0]]


def test_integers_beyond_every_float_are_near_infinities_of_their_sign_only() -> None:
    """The float64 nearest to one of them is an infinity."""
    for sign in (1, -1):
        infinite = components([[[1, 2]]])
        infinite[0][...] = sign * math.inf
        assert definition("allclose")(infinite, sign * 10**400) is True
        assert definition("allclose")(infinite, -sign * 10**400) is False
        assert definition("allclose")(components([[[1, 2]]]), sign * 10**400) is False


def test_negative_powers_of_no_integers_are_no_error() -> None:
    nothing = Components([], (0, None, 2), np.dtype("int32"))
    assert definition("pow")(nothing, -1).dtype == np.int32
