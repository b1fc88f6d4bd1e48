"""Views and copies: elements stay what they are, views share the memory and stand on the tape."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import DimensionError, ShapeError

from ..nests import JAGGED_2, LAYOUTS, assert_same, batch, nest, place

X = batch([(2, 4), (0, 4), (3, 4)])
TURNED = [x.T for x in X]


class TestTranspose:
    def test_every_dtype(self, lay: Any) -> None:
        for kind in (np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.float16, np.float32):
            assert_same(lay([x.astype(kind) for x in X]).transpose(1, 2), [x.astype(kind) for x in TURNED])


class TestReshape:
    def test_reshape_as(self, lay: Any) -> None:
        for layout in LAYOUTS:
            for other in (nest([x.ravel() for x in X], layout), nest([x.reshape(-1, 2, 2) for x in X], layout)):
                result = pn.reshape_as(lay(X), other)
                assert_same(result, [x.reshape(one.shape) for x, one in zip(X, other.unbind(), strict=True)])
                assert result.layout is layout
        with pytest.raises(ShapeError, match="component 2"):
            pn.reshape_as(lay(X), nest([X[0], X[1], X[2][:1]]))
        with pytest.raises(ShapeError, match="components"):
            pn.reshape_as(lay(X), nest(X[:2]))


class TestUnbindCloneDetach:
    def test_unbind(self, lay: Any) -> None:
        for components in (pn.unbind(lay(X)), lay(X).unbind(dim=-3), tuple(lay(X))):
            assert_same(components, X)
        assert list(pn.unbind(lay(X)[:0])) == []
        for dim in (1, -1):
            with pytest.raises(DimensionError, match="dimension 0"):
                pn.unbind(lay(X), dim)

    def test_detach(self, lay: Any, layout: Any) -> None:
        made = place(X, layout, grad=True)
        result = pn.detach(made.array)
        assert_same(result, X)
        assert (result.requires_grad, result.layout) == (False, layout)
        assert np.shares_memory(result.data.data, made.array.data.data)


def test_jagged_by_the_second_dimension() -> None:
    x = nest(TURNED, JAGGED_2.layout, "holes", 2)
    assert_same(x[:, 1:3], [one[1:3] for one in TURNED])
    assert_same(x[:, :, ::-1], [one[:, ::-1] for one in TURNED])
    assert_same(x.unsqueeze(2), [one[:, None] for one in TURNED])
    with pytest.raises(DimensionError):
        x.chunk(2, 2)
