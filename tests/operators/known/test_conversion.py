"""Padding, narrowing, joining and dtypes whose answers are known: by loops, NumPy's slices and exact arithmetic."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import GradientError, ShapeError, StructureError

from ...batches import nothing_warns
from ...conversions import converted, telling
from ...nests import LAYOUTS, PLACEMENTS, assert_same, batch, distinct, nest, place

X = batch([(2, 2), (0, 2), (3, 2)])
TURNED = [x.T for x in X]
BOTH = batch([(2, 1), (0, 3), (1, 2)])
DENSE = distinct((3, 4, 2))
DTYPES = ("bool", "int8", "int32", "int64", "uint8", "float16", "float32", "float64")


def padded(components: list[Any], fill: Any, size: Any = None) -> Any:
    """Return a full array with every component in its corner."""
    sizes = [max(sizes) for sizes in zip(*(x.shape for x in components), strict=True)]
    result = np.full(size or (len(components), *sizes), fill, components[0].dtype)
    for i, x in enumerate(components):
        result[(i, *map(slice, x.shape))] = x
    return result


class TestPadding:
    def test_a_full_array_with_components_in_its_corners(self, layout: Any, placement: str) -> None:
        for fill in (0.0, -0.0, 7.5, -np.inf, np.nan, 2):
            for components, kind, ragged in ((X, layout, 1), (TURNED, layout, 2), (BOTH, pn.strided, 1)):
                x = nest(components, kind, placement, ragged)
                for size in (None, (5, 4, 4)):
                    assert_same(pn.to_padded_array(x, fill, size), padded(components, fill, size))
        vectors = [x[:, 0] for x in X]
        assert_same(pn.to_padded_array(nest(vectors, layout, placement), 1.0), padded(vectors, 1.0))
        for kind in (np.int8, np.uint8, np.int64, np.float16, np.bool_):
            whole = [x.astype(kind) for x in X]
            assert_same(pn.to_padded_array(nest(whole, layout, placement), 0.0), padded(whole, 0))

    @pytest.mark.parametrize("fill", [0.0, -0.0, 7.0])
    def test_the_gradient_is_cut_out_of_the_corners(self, layout: Any, placement: str, fill: float) -> None:
        for size in (None, (4, 5, 3)):
            made = place(X, layout, placement, grad=True)
            result = pn.to_padded_array(made.array, fill, size)
            assert_same(result, padded(X, fill, size))
            cotangent = distinct(result.shape)
            result.backward(pn.array(cotangent))
            assert_same(made.gradient(), [cotangent[i, : len(x), :2] for i, x in enumerate(X)])

    def test_nothing_to_pad(self, lay: Any) -> None:
        assert pn.to_padded_array(lay([np.zeros((0, 2))] * 2), 1.0).shape == (2, 0, 2)
        assert pn.to_padded_array(lay(X)[:0], 1.0).shape == (0, 0, 2)
        assert pn.to_padded_array(lay([np.zeros((0, 2))]), 1.0, (2, 1, 2)).tolist() == [[[1.0, 1.0]]] * 2

    def test_out(self, lay: Any) -> None:
        out = pn.zeros((3, 3, 2))
        assert pn.to_padded_array(lay(X), 5.0, out=out) is out
        assert_same(out, padded(X, 5.0))
        with pytest.raises(ShapeError, match="out"):
            pn.to_padded_array(lay(X), 0.0, out=pn.zeros((3, 2, 2)))
        with pytest.raises(GradientError, match="out"):
            pn.to_padded_array(place(X, grad=True).array, 0.0, out=out)
        with pytest.raises(StructureError, match="nested"):
            pn.to_padded_array(out, 0.0)
        assert_same(out, padded(X, 5.0))


NARROWED = {
    "first": batch([(3, 2), (1, 2), (2, 2)]),
    "last": batch([(2, 3), (2, 1)]),
    "equal": batch([(2, 3), (2, 3)]),
    "irregular": batch([(3, 1), (2, 4)]),
    "empty": batch([(0, 2), (3, 2)]),
}


class TestNarrow:
    @pytest.mark.parametrize(
        ("start", "length"),
        [(1, 2), (0, 4), (4, 0), ([0, 1, 2], [4, 0, 2]), (np.array([3, 0, 1]), 1), (0, [1, 2, 3])],
        ids=str,
    )
    def test_slices_of_numpy(self, layout: Any, start: Any, length: Any) -> None:
        starts, lengths = np.broadcast_to(start, 3), np.broadcast_to(length, 3)
        leaf = pn.array(DENSE, requires_grad=True)
        result = pn.narrow(leaf, 1, start, length, layout)
        cut = [x[s : s + n] for x, s, n in zip(DENSE, starts, lengths, strict=True)]
        assert_same(result.detach(), cut)
        assert result.layout is layout
        result.backward(nest(cut, layout))
        expected = np.zeros(DENSE.shape)
        for slot, x, s, n in zip(expected, DENSE, starts, lengths, strict=True):
            slot[s : s + n] = x[s : s + n]
        assert leaf.grad is not None and leaf.grad.tolist() == expected.tolist()

    def test_other_dimensions(self, lay: Any, layout: Any) -> None:
        expected = [x[:, s : s + n] for x, s, n in zip(DENSE, (0, 1, 0), (2, 1, 0), strict=True)]
        assert_same(pn.narrow(DENSE, 2, [0, 1, 0], [2, 1, 0]), expected)
        assert_same(pn.narrow(DENSE, -1, 1, 1, pn.strided), [x[:, 1:] for x in DENSE])
        assert_same(pn.narrow(DENSE, 0, 1, 2), list(DENSE[1:3]))
        result = pn.narrow(lay(X), 0, 1, 2)
        assert_same(result, X[1:])
        assert result.layout is layout and len(pn.narrow(lay(X), 0, 3, 0)) == 0

    @pytest.mark.parametrize("components", NARROWED.values(), ids=NARROWED)
    @pytest.mark.parametrize("dim", [0, 1, 2, -1])
    def test_every_range_of_a_nested_array(self, layout: Any, placement: str, components: Any, dim: int) -> None:
        """Values, gradients and memory are those of NumPy's slices of each component."""
        irregular = [axis + 1 for axis in (0, 1) if len({x.shape[axis] for x in components}) > 1]
        if layout is pn.jagged and len(irregular) == 2:
            return
        ragged = irregular[0] if irregular else 1
        sizes = [len(components)] if dim == 0 else [x.shape[dim - 1 if dim > 0 else dim] for x in components]
        for start, stop in itertools.combinations_with_replacement(range(min(sizes) + 1), 2):
            entries = slice(start, stop)
            index = (entries,) if dim == 1 else (slice(None), entries)
            made = place(components, layout, placement, ragged, grad=True)
            result = pn.narrow(made.array, dim, start, stop - start)
            assert result.layout is layout and result.ndim == made.array.ndim
            if dim or start < stop:
                assert_same(result.detach(), components[entries] if dim == 0 else [x[index] for x in components])
            (result * 3.0).sum().backward()
            gradient = [np.zeros(x.shape) for x in components]
            for g in gradient[entries] if dim == 0 else [g[index] for g in gradient]:
                g += 3.0
            assert_same(made.gradient(), gradient)
            written = place(components, layout, placement, ragged).array
            pn.narrow(written, dim, start, stop - start).fill_(-7.0)
            assert_same(written, [np.where(g == 3.0, -7.0, x) for g, x in zip(gradient, components, strict=True)])

    def test_any_range_along_the_ragged_dimension_of_no_components(self, layout: Any) -> None:
        x = nest([np.ones((3, 4)), np.ones((1, 4))], layout)[:0]
        assert pn.narrow(x, 1, 3, 2).shape == pn.narrow(x, 1, 0, 0).shape == x.shape
        assert pn.narrow(x, 2, 1, 2).shape == (*x.shape[:2], 2)

    def test_padding_is_undone(self, layout: Any, placement: str) -> None:
        x = nest(X, layout, placement)
        assert pn.equal(pn.narrow(pn.to_padded_array(x, np.nan), 1, 0, [2, 0, 3], layout), x)
        assert pn.equal(pn.as_nested_array(x.unbind(), layout=layout), x)


def test_masked_select() -> None:
    leaf, mask = pn.array(DENSE, requires_grad=True), DENSE > 0
    rows = [row[chosen] for row, chosen in zip(DENSE.reshape(12, 2), mask.reshape(12, 2), strict=True)]
    result = pn.masked_select(leaf, mask)
    assert (result.layout, result.ndim, len(result)) == (pn.jagged, 2, 12)
    assert_same(result.detach(), rows)
    assert_same(pn.masked_select(DENSE, mask[:1, :1]), [row[mask[0, 0]] for row in DENSE.reshape(12, 2)])
    assert_same(pn.masked_select(DENSE, False), [np.zeros(0)] * 12)
    assert_same(pn.masked_select(DENSE[0, 0], DENSE[0, 0] > 0), [DENSE[0, 0][DENSE[0, 0] > 0]])
    assert_same(pn.masked_select(np.zeros((2, 0)), np.zeros((2, 0), np.bool_)), [np.zeros(0)] * 2)
    result.backward(result.detach())
    assert leaf.grad is not None and leaf.grad.tolist() == np.where(mask, DENSE, 0).tolist()


@pytest.mark.parametrize("source", [name for name in DTYPES if name != "int32"])
def test_to_gives_the_bits_of_exact_arithmetic(source: str, layout: Any, placement: str) -> None:
    numbers = telling(np.dtype(source))
    whole = [numbers, numbers[:0], numbers[::-1].copy()]
    for name in DTYPES:
        target = np.dtype(name)
        with nothing_warns():
            made = nest(whole, layout, placement).to(target)
        with np.errstate(all="ignore"):
            expected = [np.array(converted(x.tolist(), target), target) for x in whole]
        assert_same(made, expected)
        assert_same(pn.to(pn.array(numbers), target), expected[0])
        assert_same(pn.array(numbers)[::-1].to(dtype=target), expected[2])
        assert_same(pn.array(np.stack([numbers, numbers])).transpose(0, 1)[:, 0].to(dtype=target), expected[0])


@pytest.mark.parametrize("convert", [lambda x, to: x.to(to), lambda x, to: x.astype(to)], ids=["to", "astype"])
def test_gradients_pass_a_change_of_dtype_and_layout(convert: Any, layout: Any, placement: str) -> None:
    for other in LAYOUTS:
        made = place(X, layout, placement, grad=True)
        convert(made.array, pn.float32).to(layout=other).contiguous().sum().backward()
        assert_same(made.gradient(), [np.ones(x.shape) for x in X])
        made.buffer.grad = None
        moved = made.array.to(layout=other)
        assert moved.layout is other
        moved.backward(nest(X, other))
        assert_same(made.gradient(), X)
    half = pn.array(np.array([1.0, 2.0]), requires_grad=True)
    convert(half, pn.float16).backward(pn.array([0.5, 3], dtype=pn.float16))
    assert half.grad is not None and half.grad.dtype == np.float64 and half.grad.tolist() == [0.5, 3.0]
    assert not convert(half, pn.int8).requires_grad


def test_contiguous_components_lie_in_order(lay: Any, layout: Any) -> None:
    for components, ragged in ((X, 1), (TURNED, 2)):
        for result in (pn.contiguous(lay(components, ragged)), pn.clone(lay(components, ragged))):
            assert_same(result, components)
            assert result.layout is layout
        assert pn.contiguous(lay(components, ragged)).is_contiguous()
    assert_same(lay(batch([(2, 3)] * 2)).to_dense(), np.stack(batch([(2, 3)] * 2)))
    signed = [np.array([-0.0, np.nan]), np.array([])]
    assert_same(pn.clone(lay(signed)), signed)
    for copied in (pn.clone, pn.contiguous, pn.detach):
        made: Any = copied(np.array([1.0, 2.0]))  # type: ignore[type-var]
        assert type(made) is pn.Array and made.tolist() == [1.0, 2.0]


def test_tolist(lay: Any) -> None:
    assert lay(X).tolist() == [x.tolist() for x in X] and lay(X)[:0].tolist() == []
    made = nest([np.array([1, 2]), np.array([3])]).tolist()
    assert made == [[1, 2], [3]] and type(made[0][0]) is int
    assert nest(X).requires_grad_().tolist() == [x.tolist() for x in X]


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_pieces_of_an_array_joined_again(layout: Any, placement: str, dim: int) -> None:
    components = batch([(3, 4), (3, 4)])
    made = place(components, layout, placement, grad=True)
    pieces = made.array.split((1, components[0].shape[dim - 1] - 1) if dim else (1, 1), dim)
    joined = pn.cat([piece * (i + 2) for i, piece in enumerate(pieces)], dim)
    factors = np.full((2, 3, 4), 3.0)
    factors[tuple([slice(None)] * dim + [slice(1)])] = 2.0
    assert_same(joined.detach(), [x * f for x, f in zip(components, factors, strict=True)])
    joined.sum().backward()
    assert_same(made.gradient(), list(factors))
    made.buffer.grad = None
    (pn.cat([made.array, made.array], dim).sum() + pn.stack([made.array] * 2, dim + 1).sum()).backward()
    assert_same(made.gradient(), [np.full(x.shape, 4.0) for x in components])


SHAPES: list[tuple[Callable[[Any], Any], list[tuple[int, ...]]]] = [
    (lambda x: x.squeeze(), [(3, 2)]), (lambda x: x.squeeze(0), [(3, 1, 2)]), (lambda x: x.squeeze(-2), [(1, 3, 2)]),
    (lambda x: x.squeeze((0, 2)), [(3, 2)]), (lambda x: x.squeeze(()), [(1, 3, 1, 2)]),
    (lambda x: x.flatten(), [(6,)]), (lambda x: x.flatten(1), [(1, 6)]), (lambda x: x.flatten(0, 1), [(3, 1, 2)]),
    (lambda x: x.flatten(-2, 3), [(1, 3, 2)]), (lambda x: x.flatten(1, 1), [(1, 3, 1, 2)]),
    (lambda x: x.sum().flatten(), [(1,)]),
    (lambda x: x.chunk(2, 1), [(1, 2, 1, 2), (1, 1, 1, 2)]), (lambda x: x.chunk(5, 3), [(1, 3, 1, 1)] * 2),
    (lambda x: pn.arange(7).chunk(5), [(2,), (2,), (2,), (1,)]), (lambda x: x[:0].chunk(3), [(0, 3, 1, 2)] * 3),
    (lambda x: x.split(2, 1), [(1, 2, 1, 2), (1, 1, 1, 2)]), (lambda x: x[:0].split(3), [(0, 3, 1, 2)]),
    (lambda x: x.split((2, 1), 1), [(1, 2, 1, 2), (1, 1, 1, 2)]),
    (lambda x: x[:0].unbind(), []), (lambda x: x[:, :, :, :0].unbind(1), [(1, 1, 0)] * 3),
    (lambda x: x.expand(2, -1, 4, 2), [(2, 3, 4, 2)]), (lambda x: x.broadcast_to((2, 1, 3, 1, 2)), [(2, 1, 3, 1, 2)]),
]  # fmt: skip


@pytest.mark.parametrize("row", range(len(SHAPES)))
def test_shapes_of_dense_arrays(row: int) -> None:
    call, due = SHAPES[row]
    found = call(pn.zeros(1, 3, 1, 2))
    assert [one.shape for one in (found if isinstance(found, tuple | list) else [found])] == due


def test_joined_arrays_are_strided_if_their_ragged_dimensions_or_widths_differ() -> None:
    wider = batch([(2, 3), (0, 3), (3, 3)], 3)
    joined = pn.cat([nest(X), nest(wider)])
    assert_same(joined, [*X, *wider])
    turned = [nest(TURNED, pn.jagged, "packed", 2), nest(TURNED, pn.jagged, "holes", 2).transpose(1, 2)]
    assert joined.layout is pn.cat([nest(X), turned[0]]).layout is pn.strided
    assert_same(pn.cat([nest(X), turned[1]], 2), [np.concatenate([x, x], 1) for x in X])


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_two_irregular_dimensions_are_joined(placement: str) -> None:
    a, b, c = batch([(2, 1), (1, 3)]), batch([(2, 2), (1, 0)], 1), batch([(0, 1), (3, 3)], 2)
    x = nest(a, pn.strided, placement)
    assert_same(pn.cat([x, nest(b, pn.strided)], 2), [np.concatenate(one, 1) for one in zip(a, b, strict=True)])
    assert_same(pn.cat([x, nest(c, pn.strided, "holes")], 1), [np.concatenate(one) for one in zip(a, c, strict=True)])
