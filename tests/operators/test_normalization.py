"""Softmax and layer_norm of runs, and dropout of elements."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import DTypeError, StructureError

from ..nests import assert_same, batch, distinct

SHAPES = [(2, 3), (0, 3), (4, 3)]
X = batch(SHAPES)
TURNED = [x.T for x in X]


def layer_norm(x: Any, axes: Any, eps: float = 1e-5) -> Any:
    if not x.size:
        return x
    centred = x - x.mean(axes, keepdims=True)
    return centred / np.sqrt((centred * centred).mean(axes, keepdims=True) + eps)


class TestSoftmax:
    def test_dtypes(self, lay: Any) -> None:
        half = lay([np.array([1, 2], np.float16)])
        assert pn.softmax(half, 1).dtype == np.float16
        assert pn.softmax(half, 1, dtype=pn.float64).dtype == np.float64
        whole = lay([np.array([0, 0])])
        assert_same(pn.softmax(whole, 1, dtype=pn.float32), [np.array([0.5, 0.5], np.float32)])
        for call in (lambda: pn.softmax(whole, 1), lambda: pn.softmax(half, 1, dtype=pn.int64)):
            with pytest.raises(DTypeError, match="int64"):
                call()

    def test_nothing(self, lay: Any) -> None:
        assert_same(pn.softmax(lay([np.zeros((0, 3))] * 2), 1), [np.zeros((0, 3))] * 2)
        assert len(pn.softmax(lay(X)[:0], 1)) == 0


class TestLayerNorm:
    def test_several_dimensions(self, lay: Any) -> None:
        deep = batch([(2, 2, 3), (0, 2, 3), (1, 2, 3)])
        weight = distinct((2, 3))
        assert_same(pn.layer_norm(lay(deep), (2, 3), weight), [layer_norm(x, (-2, -1)) * weight for x in deep], 1e-14)
        assert_same(pn.layer_norm(lay([x.transpose(1, 0, 2) for x in deep], 2), 3), [
            layer_norm(x.transpose(1, 0, 2), -1) for x in deep
        ], 1e-14)  # fmt: skip

    def test_dtypes(self, lay: Any) -> None:
        single = lay([x.astype(np.float32) for x in X])
        assert pn.layer_norm(single, 3, distinct((3,)), distinct((3,))).dtype == np.float32
        for kind in (np.int64, np.bool_):
            with pytest.raises(DTypeError, match=np.dtype(kind).name):
                pn.layer_norm(lay([x.astype(kind) for x in X]), 3)


@pytest.mark.parametrize("ragged", [1, 2])
def test_sizes_of_a_shape_are_taken_or_refused(lay: Any, ragged: int) -> None:
    """`x.shape` holds an object for an irregular dimension: a size of `reshape` and `view`, none of `layer_norm`."""
    given = X if ragged == 1 else TURNED
    x = lay(given, ragged)
    for function in (pn.reshape, pn.view) if x.is_contiguous() else (pn.reshape,):
        for shape in (x.shape, [-1, *x.shape[1:]]):
            assert_same(function(x, shape), given)
        assert_same(function(x, (*x.shape, 1)), [one[..., None] for one in given])
    for shape in (x.shape[1:], list(x.shape[1:]), x.shape[ragged], x.shape[ragged:]):
        with pytest.raises(StructureError, match=re.escape("layer_norm: normalized_shape (")):
            pn.layer_norm(x, shape)
    if ragged == 1:
        assert_same(pn.layer_norm(x, x.shape[2:]), [layer_norm(one, -1) for one in X], 1e-12)
