"""Padded arrays, packed ones, other layouts and dtypes; `narrow` and `masked_select`.

`nested_array`, `as_nested_array`, `nested_array_from_jagged` and `nested_array_from_strided` are in test_construct.py,
`getitem` is in test_indexing.py.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import (
    ArgumentError,
    DeviceError,
    DTypeError,
    GradientError,
    LayoutError,
    ShapeError,
    StructureError,
)

from ..batches import nothing_warns
from ..conversions import converted, telling
from ..nests import LAYOUTS, PLACEMENTS, assert_same, batch, distinct, nest, place

X = batch([(2, 2), (0, 2), (3, 2)])
TURNED = [x.T for x in X]
BOTH = batch([(2, 1), (0, 3), (1, 2)])
DENSE = distinct((3, 4, 2))


def padded(components: list[Any], fill: Any, size: Any = None) -> Any:
    """Written out: a full array and a loop that puts every component into its corner."""
    sizes = [max(sizes) for sizes in zip(*(x.shape for x in components), strict=True)]
    result = np.full(size or (len(components), *sizes), fill, components[0].dtype)
    for i, x in enumerate(components):
        result[(i, *map(slice, x.shape))] = x
    return result


class TestToPaddedArray:
    def test_a_negative_zero_pads_as_itself(self, layout: Any, placement: str) -> None:
        for components, kind in ((X, layout), (TURNED, layout), (BOTH, pn.strided)):
            for grad in (False, True):
                made = place(components, kind, placement, 2 if components is TURNED else 1, grad=grad)
                result = pn.to_padded_array(made.array, -0.0)
                assert_same(result, padded(components, -0.0))
                assert np.signbit(result.detach().numpy()[1]).all()
                if grad:
                    result.backward(pn.ones_like(result.detach()))
                    assert_same(made.gradient(), [np.ones(x.shape) for x in components])
        for fill in (-0.0, 0.0):
            assert_same(pn.to_padded_array(nest(X, layout, placement), fill, (4, 5, 2))[3], np.full((5, 2), fill))

    def test_dtypes(self, lay: Any) -> None:
        for kind in (np.int8, np.uint8, np.int64, np.float16, np.bool_):
            assert_same(
                pn.to_padded_array(lay([x.astype(kind) for x in X]), 0.0), padded([x.astype(kind) for x in X], 0)
            )
        ints = lay([x.astype(np.int8) for x in X])
        for fill in (0.5, np.inf, np.nan):
            with pytest.raises(DTypeError, match="int8"):
                pn.to_padded_array(ints, fill)
        with pytest.raises(OverflowError, match="300"):
            pn.to_padded_array(ints, 300)
        with pytest.raises(DTypeError, match="bool"):
            pn.to_padded_array(lay([x > 0 for x in X]), 2)

    def test_nothing_to_pad(self, lay: Any) -> None:
        assert pn.to_padded_array(lay([np.zeros((0, 2))] * 2), 1.0).shape == (2, 0, 2)
        assert pn.to_padded_array(lay(X)[:0], 1.0).shape == (0, 0, 2)
        assert pn.to_padded_array(lay([np.zeros((0, 2))]), 1.0, (2, 1, 2)).tolist() == [[[1.0, 1.0]]] * 2

    def test_out(self, lay: Any) -> None:
        out = pn.zeros((3, 3, 2))
        result = pn.to_padded_array(lay(X), 5.0, out=out)
        assert result is out
        assert_same(out, padded(X, 5.0))
        with pytest.raises(ShapeError, match="out"):
            pn.to_padded_array(lay(X), 0.0, out=pn.zeros((3, 2, 2)))
        with pytest.raises(GradientError, match="out"):
            pn.to_padded_array(place(X, grad=True).array, 0.0, out=out)
        with pytest.raises(StructureError, match="nested"):
            pn.to_padded_array(out, 0.0)


class TestContiguousAndTo:
    def test_contiguous(self, lay: Any, layout: Any) -> None:
        for components, ragged in ((X, 1), (TURNED, 2)):
            result = pn.contiguous(lay(components, ragged))
            assert_same(result, components)
            assert result.is_contiguous() and result.layout is layout
        x = nest(X, layout)
        assert pn.contiguous(x) is x or pn.contiguous(x).data is x.data

    def test_to_a_dtype_and_a_layout(self, lay: Any) -> None:
        assert_same(lay(X).to(pn.float32), [x.astype(np.float32) for x in X])
        for layout in LAYOUTS:
            assert_same(lay(X).to(layout=layout), X)
            assert lay(X).to(layout=layout).layout is layout
            assert_same(lay(X).to(pn.float32, layout=layout), [x.astype(np.float32) for x in X])
        with pytest.raises(LayoutError, match="irregular"):
            nest(BOTH, pn.strided).to(layout=pn.jagged)
        with pytest.raises(LayoutError):
            lay(X).to(layout="jagged")
        with pytest.raises(DeviceError):
            lay(X).to("cuda")
        with pytest.raises(DTypeError):
            lay(X).to(np.complex128)

    def test_gradients_pass_a_change_of_layout(self, placement: str) -> None:
        for layout in LAYOUTS:
            for other in LAYOUTS:
                made = place(X, layout, placement, grad=True)
                made.array.to(layout=other).backward(nest(X, other))
                assert_same(made.gradient(), X)

    def test_to_dense(self, lay: Any) -> None:
        equal = batch([(2, 3)] * 2)
        assert_same(lay(equal).to_dense(), np.stack(equal))
        with pytest.raises(StructureError, match=re.escape("component 1 has shape (0, 2)")):
            lay(X).to_dense()
        with pytest.raises(DeviceError):
            lay(X).pin_memory()


NARROWED = {
    "first": batch([(3, 2), (1, 2), (2, 2)]),
    "last": batch([(2, 3), (2, 1)]),
    "equal": batch([(2, 3), (2, 3)]),
    "irregular": batch([(3, 1), (2, 4)]),
    "empty": batch([(0, 2), (3, 2)]),
}


class TestNarrow:
    def test_dense(self, layout: Any) -> None:
        for start, length in ((1, 2), (0, 4), (4, 0), ([0, 1, 2], [4, 0, 2]), (np.array([3, 0, 1]), 1), (0, [1, 2, 3])):
            result = pn.narrow(DENSE, 1, start, length, layout)
            starts, lengths = np.broadcast_to(start, 3), np.broadcast_to(length, 3)
            assert_same(result, [x[s : s + n] for x, s, n in zip(DENSE, starts, lengths, strict=True)])
            assert result.layout is layout

    def test_other_dimensions_in_the_strided_layout(self) -> None:
        assert_same(
            pn.narrow(DENSE, 2, [0, 1, 0], [2, 1, 0]),
            [x[:, s : s + n] for x, s, n in zip(DENSE, (0, 1, 0), (2, 1, 0), strict=True)],
        )
        assert_same(pn.narrow(DENSE, -1, 1, 1, pn.strided), [x[:, 1:] for x in DENSE])
        assert_same(pn.narrow(DENSE, 0, 1, 2), list(DENSE[1:3]))

    def test_nested(self, lay: Any, layout: Any) -> None:
        result = pn.narrow(lay(X), 0, 1, 2)
        assert_same(result, X[1:])
        assert result.layout is layout
        assert len(pn.narrow(lay(X), 0, 3, 0)) == 0

    def test_it_is_a_view(self, layout: Any) -> None:
        values = pn.array(DENSE)
        result = pn.narrow(values, 1, [0, 1, 2], 2, layout)
        result.fill_(9.0)
        assert [int((row == 9).sum()) for row in values.numpy()] == [4, 4, 4]

    @pytest.mark.parametrize("components", NARROWED.values(), ids=NARROWED)
    @pytest.mark.parametrize("dim", [0, 1, 2, -1])
    def test_every_range_of_a_nested_array(self, layout: Any, placement: str, components: Any, dim: int) -> None:
        """What NumPy's slices show of each component, in the values, the gradients and the memory."""
        irregular = [axis + 1 for axis in (0, 1) if len({x.shape[axis] for x in components}) > 1]
        if layout is pn.jagged and len(irregular) == 2:
            return
        ragged = irregular[0] if irregular else 1
        sizes = [len(components)] if dim == 0 else [x.shape[dim - 1 if dim > 0 else dim] for x in components]
        for start in range(min(sizes) + 1):
            for length in range(min(sizes) - start + 1):
                entries = slice(start, start + length)
                index = (entries,) if dim == 1 else (slice(None), entries)
                made = place(components, layout, placement, ragged, grad=True)
                result = pn.narrow(made.array, dim, start, length)
                expected = components[entries] if dim == 0 else [x[index] for x in components]
                assert result.layout is layout and result.ndim == made.array.ndim
                if expected:
                    assert_same(result, expected)
                (result * 3.0).sum().backward()
                gradient = [np.zeros(x.shape) for x in components]
                for g in gradient[entries] if dim == 0 else [g[index] for g in gradient]:
                    g += 3.0
                assert_same(made.gradient(), gradient)
                written = place(components, layout, placement, ragged).array
                pn.narrow(written, dim, start, length).fill_(-7.0)
                assert_same(written, [np.where(g == 3.0, -7.0, x) for g, x in zip(gradient, components, strict=True)])

    def test_a_range_beyond_one_component_is_refused(self, lay: Any) -> None:
        x = lay([np.ones((3, 4)), np.ones((1, 4)), np.ones((2, 4))])
        for dim, start, length, entry, size in (
            (1, 0, 2, 1, 1), (1, 2, 0, 1, 1), (-2, 1, 1, 1, 1), (1, 0, 4, 0, 3), (2, 1, 4, 0, 4), (2, 5, 0, 0, 4),
            (1, -1, 1, 0, 3), (2, 0, -1, 0, 4), (0, 1, 3, 0, 3), (1, 2**62, 2**62, 0, 3),
        ):  # fmt: skip
            where = rf"^narrow: entry {entry}: start \({start}\) \+ length \({length}\) .* size \({size}\)"
            with pytest.raises(StructureError, match=where):
                pn.narrow(x, dim, start, length)

    def test_ranges_of_no_components(self, layout: Any) -> None:
        x = nest([np.ones((3, 4)), np.ones((1, 4))], layout)[:0]
        assert pn.narrow(x, 1, 3, 2).shape == pn.narrow(x, 1, 0, 0).shape == x.shape
        assert pn.narrow(x, 2, 1, 2).shape == (*x.shape[:2], 2)
        with pytest.raises(StructureError, match="size \\(4\\)"):
            pn.narrow(x, 2, 1, 4)

    def test_a_nested_array_takes_integers(self, lay: Any) -> None:
        for dim in (0, 1, 2):
            for start, length in (([0, 1, 2], 1), (0, [1, 1, 1]), ([0], 1), (0, [[1]])):
                with pytest.raises(StructureError, match="has shape .* Give an integer.$"):
                    pn.narrow(lay(X), dim, start, length)
            for start, length in ((0.0, 1), (0, True)):
                with pytest.raises(DTypeError, match="integer"):
                    pn.narrow(lay(X), dim, start, length)
            with pytest.raises(ArgumentError, match="length is missing. Give an integer.$"):
                pn.narrow(lay(X), dim)

    def test_gradient(self, layout: Any) -> None:
        values = pn.array(DENSE, requires_grad=True)
        result = pn.narrow(values, 1, [0, 4, 1], [2, 0, 3], layout)
        result.backward(nest([x[:n] for x, n in zip(DENSE, (2, 0, 3), strict=True)], layout))
        expected = np.zeros(DENSE.shape)
        expected[0, :2], expected[2, 1:4] = DENSE[0, :2], DENSE[2, :3]
        assert values.grad.tolist() == expected.tolist()


@pytest.mark.parametrize("source", ["bool", "int8", "int64", "uint8", "float16", "float32", "float64"])
def test_to_gives_the_bits_of_exact_arithmetic(source: str, layout: Any, placement: str) -> None:
    numbers = telling(np.dtype(source))
    whole = [numbers, numbers[:0], numbers[::-1].copy()]
    for name in ("bool", "int8", "int32", "int64", "uint8", "float16", "float32", "float64"):
        target = np.dtype(name)
        with nothing_warns():
            made = nest(whole, layout, placement).to(target)
        with np.errstate(all="ignore"):
            expected = [np.array(converted(x.tolist(), target), target) for x in whole]
        assert_same(made, expected)
        assert_same(pn.to(pn.array(numbers), target), expected[0])
        for dense in (pn.array(numbers)[::-1], pn.array(np.stack([numbers, numbers])).transpose(0, 1)[:, 0]):
            assert_same(dense.to(dtype=target), expected[2] if dense.stride() == (-1,) else expected[0])


def test_to_is_the_array_itself_where_nothing_changes() -> None:
    dense = pn.array([1.5])
    assert dense.to(pn.float64) is dense and dense.to("cpu") is dense
    half = pn.array(np.array([1.0, 2.0]), requires_grad=True)
    half.to(pn.float16).backward(pn.array([0.5, 3], dtype=pn.float16))
    assert half.grad is not None and half.grad.dtype == np.float64 and half.grad.tolist() == [0.5, 3.0]
    assert not half.to(pn.int8).requires_grad


class TestMaskedSelect:
    def test_values(self) -> None:
        mask = DENSE > 0
        result = pn.masked_select(DENSE, mask)
        assert (result.layout, result.ndim, len(result)) == (pn.jagged, 2, 12)
        assert_same(
            result, [row[chosen] for row, chosen in zip(DENSE.reshape(12, 2), mask.reshape(12, 2), strict=True)]
        )
        assert_same(pn.masked_select(DENSE, mask[:1, :1]), [row[mask[0, 0]] for row in DENSE.reshape(12, 2)])
        assert_same(pn.masked_select(DENSE, False), [np.zeros(0)] * 12)
        assert_same(pn.masked_select(DENSE[0, 0], DENSE[0, 0] > 0), [DENSE[0, 0][DENSE[0, 0] > 0]])
        assert_same(pn.masked_select(np.zeros((2, 0)), np.zeros((2, 0), np.bool_)), [np.zeros(0)] * 2)

    def test_gradient(self) -> None:
        values = pn.array(DENSE, requires_grad=True)
        result = pn.masked_select(values, DENSE > 0)
        result.backward(result.detach())
        assert values.grad.tolist() == np.where(DENSE > 0, DENSE, 0).tolist()


def test_round_trips() -> None:
    for layout in LAYOUTS:
        for placement in PLACEMENTS:
            x = nest(X, layout, placement)
            back = pn.narrow(pn.to_padded_array(x, np.nan), 1, 0, [2, 0, 3], layout)
            assert pn.equal(back, x)
            assert pn.equal(pn.as_nested_array(x.unbind(), layout=layout), x)
