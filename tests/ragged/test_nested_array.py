"""`NestedArray` itself: its parts, its gradient, its text, and the protocols of Python and NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError, DimensionError, DTypeError, GradientError, StructureError

from ..nests import LAYOUTS, assert_same, batch, nest

X = batch([(2, 2), (0, 2), (3, 2)])
EACH_LAYOUT = pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)


def test_strides_and_offsets_by_dimension() -> None:
    x, gaps, strided = nest(X), nest(X, pn.jagged, "holes"), nest(X, pn.strided)
    assert (x.layout, strided.layout, x.is_nested) == (pn.jagged, pn.strided, True)
    assert gaps.offsets().tolist()[:3] == gaps.component_offsets().tolist() == [7, 6, 2]
    assert x.size(2) == x.size(-1) == 2 and x.size(1) == x.shape[1] and x.size() == x.shape
    assert (x.stride(), x.stride(1), x.stride(2)) == ((2, 1), 2, 1)
    assert strided.component_strides().tolist() == strided.stride().tolist() == [[2, 1]] * 3
    assert strided.stride(2).tolist() == [1, 1, 1] and strided.stride(0).tolist() == [0, 4, 4]
    for call, error in (
        (lambda: x.stride(0), StructureError),
        (lambda: x.size(3), DimensionError),
        (lambda: strided.size(1), StructureError),
    ):
        with pytest.raises(error):
            call()


@EACH_LAYOUT
def test_grad_is_nested_and_lies_where_the_array_does(layout: Any) -> None:
    x = nest(X, layout, "holes").detach().requires_grad_()
    for number in (2, 4):
        (x * x).sum().backward()
        assert_same(x.grad, [number * component for component in X])
        assert x.grad.structure is x.structure
    x.grad = None
    assert x.grad is None


@EACH_LAYOUT
def test_gradients_that_do_not_fit(layout: Any) -> None:
    x = nest(X, layout).requires_grad_()
    with pytest.raises(GradientError, match="ones_like"):
        (x * 2).backward()
    with pytest.raises(GradientError, match="nested"):
        (x * 2).backward(pn.array(1.0))
    for call in ((x * 2).backward, lambda grad: setattr(x, "grad", grad)):
        with pytest.raises(StructureError, match="component 2"):
            call(nest([X[0], X[1], X[2][:1]]))
    with pytest.raises(DTypeError):
        nest([np.array([1, 2])], layout).requires_grad_()


def test_text() -> None:
    text = repr(pn.nested_array([[1, 2], [3]]))
    assert text.startswith("nested_array([\n  array([1, 2]),\n  array([3]),\n], shape=(2, j")
    assert "array([], shape=(0, 2))" in repr(nest(X)) and "layout=pn.jagged" in repr(nest(X))
    assert "array([])," in repr(pn.nested_array([[1.0], []]))
    assert repr(pn.nested_array([])) == "nested_array([], shape=(0,))"
    x = nest(X, pn.strided).requires_grad_()
    assert repr(x).endswith("requires_grad=True)") and repr(x * x).endswith("made by mul)")
    elided = repr(nest([np.arange(20)] * 100))
    assert "94 more components" in elided and elided.count("\n") < 15


@EACH_LAYOUT
def test_protocols(layout: Any) -> None:
    x = nest(X, layout, "holes")
    assert_same(list(x), X)
    assert {x: 1}[x] == 1 and (x == "a") is False
    with pytest.raises(ArgumentError):
        bool(x)
    with pytest.raises(StructureError):
        np.asarray(x)
    equal = batch([(2, 2)] * 2)
    assert np.array_equal(np.asarray(nest(equal, layout, "transposed")), np.stack(equal))
