"""Nested arrays from lists and arrays: dtypes and ranks must agree, memory is copied, and gradients are kept or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError, DTypeError, LayoutError, StructureError

from ..nests import assert_same, batch, distinct, nest

X = batch([(2, 2), (0, 2), (3, 2)])
BOTH = batch([(2, 1), (0, 3)])
BOTH_FUNCTIONS = pytest.mark.parametrize("make", [pn.nested_array, pn.as_nested_array])

LISTS: dict[str, tuple[Any, list[Any]]] = {
    "of many kinds": ([[1, 2], (3,), range(2), pn.array([5])], [np.array(n) for n in ([1, 2], [3], [0, 1], [5])]),
    "memory in other orders": ([np.asfortranarray(X[0]), X[2][::-1]], [X[0], X[2][::-1]]),
    "a view of one row": ([np.broadcast_to(X[0][:1], (4, 2))], [np.stack([X[0][0]] * 4)]),
    "lists without elements": ([[], [1, 2], []], [np.array(n, np.int64) for n in ([], [1, 2], [])]),
}
ERRORS: dict[str, tuple[Any, type[Exception], str]] = {
    "an int64 and a float64": ([np.ones(2, np.int64), np.ones(1)], DTypeError, "array 1 .*float64.*int64"),
    "an int32 and an int64": ([np.ones(2, np.int32), np.ones(1, np.int64)], DTypeError, "array 1 .*int64.*int32"),
    **{f"a float64 and {n}": ([np.ones(1), np.array([0, n])], DTypeError, "array 1 .*int64, which float64 cannot")
       for n in (2**53 + 1, -(2**53) - 1, 2**63 - 1)},
    "a list of floats and one of a large int": ([[0.5], [2**53 + 1]], DTypeError, "array 1 .*int64.*float64"),
    "a bool and an int8": ([np.ones(2, np.bool_), np.ones(1, np.int8)], DTypeError, "array 1 .*int8.*bool"),
    "an array without elements": ([np.array([1, 2]), np.array([])], DTypeError, "array 1 has dtype float64"),
    "two ranks": ([X[0], np.ones(2)], StructureError, "dimension 1 for the array at index 1 and dimension 2"),
    "a nested component": ([X[0], nest(X)], StructureError, "nested"),
    "a ragged list": ([[[1, 2], [3]]], ArgumentError, "entry 0 is not an array.*There is one level of nesting"),
    "a ragged tuple": ([([1, 2], [3])], ArgumentError, "entry 0 is not an array.*There is one level of nesting"),
    "a dense vector": (np.ones(3), StructureError, "needs 2 dimensions or more to be a batch; this array has 1"),
    **{repr(wrong): (wrong, ArgumentError, f"not {type(wrong).__name__}")
       for wrong in (1, None, "ab", {"a": 1}, {1, 2}, frozenset(), np.float64(2))},
}  # fmt: skip


@BOTH_FUNCTIONS
def test_lists_and_arrays_stand_for_components(layout: Any, make: Callable[..., Any]) -> None:
    for components, expected in LISTS.values():
        assert_same(make(components, layout=layout), expected)
    assert_same(make((x for x in X), layout=layout), X)
    assert make([[], []], dtype=pn.int8, layout=layout).dtype == pn.int8
    exact = [-(2**63), -(2**53), 2**53, 2**53 + 2, 2**62]  # int64 that float64 can represent
    assert_same(make([np.ones(1), np.array(exact)], layout=layout), [np.ones(1), np.array(exact, np.float64)])
    assert_same(make([[0.5], [2**53 + 1]], dtype=pn.float64, layout=layout), [np.array([0.5]), np.array([2.0**53])])


@BOTH_FUNCTIONS
@pytest.mark.parametrize(("components", "error", "text"), ERRORS.values(), ids=ERRORS)
def test_components_that_do_not_fit(components: Any, error: Any, text: str, layout: Any, make: Any) -> None:
    with pytest.raises(error, match=text):
        make(components, layout=layout)


def test_nested_array_copies_and_only_as_nested_array_keeps_gradients(layout: Any) -> None:
    for count in (1, 3):
        arrays = [x.copy() for x in X[:count]]
        result = pn.nested_array(arrays, layout=layout)
        for x in arrays:
            x[:] = 9
        assert_same(result, X[:count])
    leaves = [pn.array(x, requires_grad=True) for x in X]
    assert not pn.nested_array(leaves, layout=layout).requires_grad
    pn.as_nested_array(leaves, layout=layout).backward(nest([x + 1 for x in X], layout))
    assert_same([leaf.grad for leaf in leaves], [x + 1 for x in X])


def test_layouts() -> None:
    assert pn.nested_array([x.T for x in X], layout=pn.jagged).structure.ragged_dim == 2
    assert pn.nested_array([X[0], X[0]], layout=pn.jagged).structure.ragged_dim == 1
    assert_same(pn.nested_array(BOTH), BOTH)
    for make in (pn.nested_array, pn.as_nested_array):
        with pytest.raises(LayoutError, match="1 and 2"):
            make(BOTH, layout=pn.jagged)
        for numbers in ([], [1.0, 2.0]):
            with pytest.raises(StructureError):
                make(numbers, layout=pn.jagged)
    empty = pn.nested_array([])
    assert (len(empty), empty.ndim, empty.dtype, empty.layout) == (0, 1, np.float64, pn.strided)
    assert_same(pn.nested_array([1.0, 2.0]), [np.float64(1), np.float64(2)])
    with pytest.raises(DTypeError):
        pn.nested_array([np.ones(2, np.int8)], requires_grad=True)


@pytest.mark.parametrize("view", [
    lambda x: x, lambda x: x[:, :, :1], lambda x: x[:, :1, :], lambda x: x[:, :1, :1], lambda x: x[::2],
    lambda x: x[::-1], lambda x: x[:, ::-1], lambda x: x[..., ::-2], lambda x: x.T, lambda x: x[:1, ::2],
], ids=range(10))  # fmt: skip
def test_the_slices_of_a_dense_array_of_any_strides(view: Any, layout: Any) -> None:
    numbers = distinct((4, 3, 2))
    expected, dense = list(view(numbers)), pn.array(numbers, requires_grad=True)
    for x in (pn.as_nested_array(view(numbers), layout=layout), pn.as_nested_array(view(dense), layout=layout)):
        assert_same(x, expected)
        assert_same(x + 1.0, [component + 1 for component in expected])
        assert x[0].tolist() == expected[0].tolist() and x.layout is layout
    lengths = [(i + 1) % 2 for i in range(len(expected))]
    narrowed = pn.narrow(view(numbers), 1, 0, lengths, layout)
    assert_same(narrowed, [component[:n] for component, n in zip(expected, lengths, strict=True)])
    (x * x).sum().backward()
    gradient = np.zeros((4, 3, 2))
    view(gradient)[...] = 2 * view(numbers)
    assert dense.grad.numpy().tolist() == gradient.tolist()
