"""Structures: facts that follow from the places of components, immutability, sizes that are equal by value, and parts.

`tests/operators/test_views.py` and `tests/fuzz` check what operators make of them.
"""

from __future__ import annotations

import copy
import operator
import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError, ReadOnlyError
from pynested.structure import Jagged, Strided, as_readonly
from pynested.structure.ragged_size import RaggedSize

from ..nests import assert_same, batch, nest, plain

X = [np.arange(6.0).reshape(3, 2)]


def test_ragged_sizes_are_equal_by_value() -> None:
    a, b, c = (RaggedSize(as_readonly(lengths)) for lengths in ([1, 2], [1, 2], [2, 1]))
    assert a == b and hash(a) == hash(b) and repr(a) == repr(b)
    assert a != c and repr(a) != repr(c) and a != 2
    x, y = nest(batch([(2, 2), (1, 2)])), nest(batch([(2, 3), (1, 3)]), pn.strided, "holes")
    assert x.shape[1] == y.shape[1] and x.shape[:1] + x.shape[2:] == (2, 2)
    assert repr(x.shape) == f"(2, {x.shape[1]}, 2)"
    size: Any = a
    binary: list[Any] = [operator.add, operator.sub, operator.mul, operator.mod, operator.pow, divmod]
    operations: list[Any] = [partial(function, size) for function in (operator.neg, operator.pos, abs)]
    operations += [partial(function, *pair) for function in binary for pair in ((size, 2), (2, size))]
    for operation in operations:
        with pytest.raises(ArgumentError, match="is not a number. Use the sizes of all components"):
            operation()


@pytest.mark.parametrize(
    "x", [nest(X), nest(X, pn.strided), nest(X, pn.jagged, "holes")], ids=["jagged", "strided", "with gaps"]
)
def test_arrays_and_structures_are_immutable(x: Any) -> None:
    for owner, names in ((x, ("data", "structure")), (x.structure, ("offsets", "count", "is_packed", "new"))):
        for name in names:
            with pytest.raises((ReadOnlyError, AttributeError), match=name):
                setattr(owner, name, None)
            with pytest.raises(AttributeError):
                delattr(owner, name)
    assert copy.copy(x.structure) is copy.deepcopy(x.structure) is x.structure
    unpickled = pickle.loads(pickle.dumps(x.structure))
    assert unpickled.same_placement(x.structure)
    for structure in (x.structure, unpickled):
        with pytest.raises(ValueError, match="read-only"):
            structure.offsets[0] = 1
    assert_same(copy.copy(x), X)


def test_strides_and_offsets_without_elements_cannot_overflow() -> None:
    """A stride without a second element, and the offset of an empty component, can have any value."""
    far = 2**62
    strides = [[far, 1], [far, -far], [far, far]]
    x = pn.nested_array_from_strided(X[0][0], [[1, 2], [0, 5], [1, 1]], strides, [0, far, 1])
    assert_same(x, [X[0][:1], np.zeros((0, 5)), X[0][:1, 1:]])
    assert_same(x.transpose(1, 2)[:, :, None], [component.T[:, None] for component in plain(x)])
    assert_same(x * 2.0, [2 * component for component in plain(x)])
    assert pn.arange(3).as_strided((1, 2), (far, 1)).tolist() == [[0, 1]]


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_views_of_reversed_memory_are_valid_arrays(axis: int) -> None:
    shape = [2, 3, 2]
    shape[axis] = 1  # so that the memory counts as contiguous, although one stride is negative
    values = np.flip(np.arange(float(np.prod(shape))).reshape(shape), axis)
    assert values.flags.c_contiguous and min(values.strides) < 0
    dense, rows = pn.array(values, copy=False), shape[0]
    offsets, ones = [0, rows, rows], [1] * rows
    for view, expected in (
        (pn.nested_array_from_jagged(values, [0, 0, shape[1]], [0, shape[1]], jagged_dim=2), [values[:, :0], values]),
        (pn.nested_array_from_jagged(values, offsets), [values, values[:0]]),
        (pn.narrow(dense, 1, [0] * rows, ones, layout=pn.strided), list(values[:, :1])),
        (pn.narrow(dense, 2, [0] * rows, ones, layout=pn.strided), list(values[:, :, :1])),
    ):
        view = view.to(layout=pn.strided)
        assert view.structure.strides.min() >= 0
        assert_same(pickle.loads(pickle.dumps(view)), expected)


def test_slices_of_structures() -> None:
    """No components, an empty component within the buffer, and steps beyond every component, which stay small."""
    for structure in (Jagged([0, 2, 5, 6]), Jagged([0, 2, 5, 6], [1, 1, 1]), Strided([[2], [3]], None, None, 5)):
        assert structure.select_components(slice(2, 1)).structure.count == 0
    structure = Strided([[3, 0], [1, 4]], [[4, 1], [4, 1]], [4, 0], 4)
    assert structure.slice_axis(0, slice(2, None)).structure.offsets.tolist() == [0, 0]
    assert structure.select_components(slice(0, 1)).structure.select_index(0, 2).structure.offsets.tolist() == [0]
    assert Jagged([0, 1, 2]).slice_axis(0, slice(None, None, 2**62)).values_index == slice(None)
    assert Strided([[3]], [[2]], [1], 9).slice_axis(0, slice(None, None, 2**62)).structure.strides.tolist() == [[6]]


def test_flattening_reads_no_stride_along_a_size_of_one() -> None:
    x = nest(batch([(1, 3), (1, 2)]), pn.strided)
    for view in (x, x.transpose(1, 2), x.unsqueeze(3).transpose(1, 3)):
        flat = view.flatten(1, view.ndim - 1)
        assert flat.data.storage is x.data.storage
        assert_same(flat, [component.reshape(-1) for component in batch([(1, 3), (1, 2)])])
    assert x.transpose(1, 2).reshape(2, -1).data.storage is x.data.storage
