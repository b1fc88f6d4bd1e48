"""Masks without dimensions in the index of a dense array, as NumPy has them: for reading, writing and gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn

VALUES = np.arange(6.0).reshape(2, 3)
REST = ((), (1,), (slice(1, None),), (..., 2), (None,), (slice(None), slice(None, None, -1)))
MASKS = pytest.mark.parametrize("mask", [True, False])


@MASKS
@pytest.mark.parametrize("rest", REST, ids=str)
@pytest.mark.parametrize("kind", [pn.array, np.array, np.bool_], ids=["ours", "numpy", "scalar"])
def test_a_mask_without_dimensions_indexes_as_in_numpy(mask: bool, rest: Any, kind: Any) -> None:
    x, numpy_index = pn.array(VALUES), (np.array(mask), *rest)
    index = (kind(mask), *rest)
    assert x[index].shape == VALUES[numpy_index].shape and x[index].tolist() == VALUES[numpy_index].tolist()
    expected = VALUES.copy()
    expected[numpy_index] = -1
    x[index] = -1
    assert x.tolist() == expected.tolist()
    if not rest:
        assert pn.array(VALUES)[kind(mask)].tolist() == VALUES[mask].tolist()


def test_a_comparison_of_an_array_without_dimensions_indexes_it() -> None:
    x = pn.array(3.0, requires_grad=True)
    assert x[x > 0].tolist() == [3.0] and x[x < 0].tolist() == []
    (x[x > 0] * 2).sum().backward()
    assert x.grad is not None and x.grad.item() == 2.0
    y = pn.array(3.0)
    y[y < 0] = 5
    assert y.item() == 3.0
    y[y > 0] = 5
    assert y.item() == 5.0
    y[y > 0] = pn.array([7.0])
    assert y.item() == 7.0


@MASKS
def test_values_that_do_not_fit_are_refused(mask: bool) -> None:
    x = pn.array(VALUES)
    with pytest.raises(ValueError, match="shape"):
        x[pn.array(mask)] = pn.ones(4)
    assert x.tolist() == VALUES.tolist()


def test_a_component_of_a_nested_array_is_indexed_behind_an_integer() -> None:
    nt = pn.nested_array([[1.0, 2.0], [3.0]])
    assert nt[0, np.array(True)].tolist() == [[1.0, 2.0]]
    assert nt[0, pn.array(True), 1:].tolist() == [[2.0]]
