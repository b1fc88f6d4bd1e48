"""Shapes that a view can have, and memory that results share with an array or a structure."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn

from ..nests import assert_same, batch, nest
from .test_views import ndarray, storage

X = batch([(2, 4), (0, 4), (3, 4)])


@pytest.mark.parametrize(
    ("shapes", "placement"),
    [
        ([(4, 3, 2)], "packed"),
        ([(4, 0, 2), (4, 3, 2)], "packed"),
        *[
            (shapes, placement)
            for shapes in ([(1, 3, 8)], [(4, 0, 2)] * 2, [(4, 2, 0), (4, 1, 0)])
            for placement in ("packed", "holes")
        ],
    ],
    ids=str,
)
def test_elements_move_across_the_ragged_dimension_of_one_component(shapes: Any, placement: str) -> None:
    x = batch(shapes)
    wide = 0 if shapes[0][2] == 0 else 4
    array = nest(x, pn.jagged, placement, 2)
    seen = pn.view(array, (len(x), 2, -1, wide))
    assert_same(seen, [part.reshape(2, part.shape[1], wide) for part in x])
    assert seen.layout is pn.jagged and storage(seen) is storage(array)
    seen.fill_(7.0)
    assert all((part.numpy() == 7).all() for part in array)


def test_expand_repeats_elements_in_a_view(lay: Any) -> None:
    components = batch([(2, 1, 3), (0, 1, 3), (4, 1, 3)])
    x = lay(components).detach().requires_grad_()
    for shape in ((-1, -1, 5, -1), (3, -1, 5, 3), (3, x.shape[1], 5, 3)):
        seen = x.expand(*shape)
        assert_same(seen.detach(), [np.repeat(part, 5, axis=1) for part in components])
        assert seen.layout is x.layout and storage(seen) is storage(x)
    assert_same(x.detach().expand(-1, -1, 0, -1), [part[:, :0] for part in components])
    (x.expand(-1, -1, 5, -1) * 2.0).sum().backward()
    assert all((part.numpy() == 10.0).all() for part in x.grad)


@pytest.mark.parametrize("ragged", [1, 2])
def test_the_shape_of_an_array_is_a_shape_for_it(lay: Any, ragged: int) -> None:
    """`x.shape` contains an object for an irregular dimension, which `reshape` and `view` take as a size."""
    components = X if ragged == 1 else [part.T for part in X]
    x = lay(components, ragged)
    for function in (pn.reshape, pn.view) if x.is_contiguous() else (pn.reshape,):
        for shape in (x.shape, [-1, *x.shape[1:]]):
            assert_same(function(x, shape), components)
        assert_same(function(x, (*x.shape, 1)), [part[..., None] for part in components])


# ---- arrays that share memory ---------------------------------------------------------------------------------------


def test_a_write_into_numbers_of_a_structure_changes_no_array(layout: Any, placement: str) -> None:
    x, strided = nest(X, layout, placement), layout is pn.strided
    handed = [x.offsets().numpy(), x.component_sizes(), x.component_offsets(), x.lengths_along(1), x.shape[1].lengths]
    handed += [x.stride(), x.stride(0), x.stride(1), x.component_strides()] if strided else []
    handed += [] if strided or x.lengths() is None else [x.lengths().numpy()]
    for integers in handed:
        assert not integers.flags.writeable
        owner = integers if integers.base is None else integers.base
        owner.setflags(write=True)  # which NumPy allows to whoever has the owner of the memory
        owner[...] = 0
    assert_same(x, X)


def test_numpy_gets_a_view_on_request(layout: Any) -> None:
    numbers = [X[0], X[0]]
    x = nest(numbers, layout)
    np.testing.assert_array_equal(np.asarray(x), numbers)
    assert not np.shares_memory(np.array(x), ndarray(x))
    assert np.shares_memory(np.asarray(x), ndarray(x)) and np.shares_memory(np.array(x, copy=False), ndarray(x))


def test_an_operator_that_changes_nothing_returns_the_array_itself() -> None:
    dense = pn.array([1.5])
    assert dense.to(pn.float64) is dense and dense.to("cpu") is dense
    assert dense.dropout(0.5, training=False).storage is dense.storage
    for op in (pn.floor, pn.ceil, pn.round, pn.trunc):
        whole = pn.array([3])
        assert not np.shares_memory(ndarray(op(whole)), ndarray(whole))
