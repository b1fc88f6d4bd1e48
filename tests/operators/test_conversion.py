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
    LayoutError,
    StructureError,
)

from ..nests import LAYOUTS, assert_same, batch, distinct, nest, place

X = batch([(2, 2), (0, 2), (3, 2)])
BOTH = batch([(2, 1), (0, 3), (1, 2)])
DENSE = distinct((3, 4, 2))


class TestContiguousAndTo:
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
    @pytest.mark.parametrize("components", NARROWED.values(), ids=NARROWED)
    @pytest.mark.parametrize("dim", [0, 1, 2, -1])
    def test_every_range_of_a_nested_array(self, layout: Any, placement: str, components: Any, dim: int) -> None:
        """Values, gradients and memory are those of NumPy's slices of each component."""
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
