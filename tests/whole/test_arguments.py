"""Arguments of constructors and methods that can be spelled in more than one way."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import DTypeError

from ..nests import LAYOUTS, assert_same

X = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged)
ROWS = pn.nested_array([[[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]]], layout=pn.jagged)


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("function", [pn.nested_array, pn.as_nested_array])
@pytest.mark.parametrize(
    "values",
    [[300], [3], [-1], [0, 1], [1e6], [1.5], [True], [2**40], np.array([7], np.uint64), np.array([1.0], np.float32)],
    ids=str,
)
def test_an_explicit_dtype_converts_each_entry_as_array_does(
    layout: Any, function: Callable[..., Any], values: Any
) -> None:
    for dtype in (pn.bool, pn.int8, pn.uint8, pn.int64, pn.float16, pn.float64):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                wanted = pn.array(values, dtype=dtype)
            except (OverflowError, DTypeError) as error:
                with pytest.raises(type(error)) as caught:
                    function([np.zeros(2, np.int8) != 0, values], dtype=dtype, layout=layout)
                assert "Give dtype=" not in str(caught.value)
            else:
                made = function([np.zeros(2, np.int8) != 0, values], dtype=dtype, layout=layout)
                assert_same(made, [np.zeros(2, dtype), wanted.numpy()])


def test_nested_and_dense_arrays_convert_by_value_too() -> None:
    for given in (np.array([[1, 300]]), pn.nested_array([[1, 300]]), pn.nested_array([[1, 300]], layout=pn.jagged)):
        with pytest.raises(OverflowError):
            pn.as_nested_array(given, dtype=pn.int8)
        assert pn.as_nested_array(given, dtype=pn.int16).dtype == np.int16


def test_numbers_that_are_larger_than_any_size_are_clamped_in_slices() -> None:
    for huge in (2**62, 2**63, 2**70):
        assert_same(X[:, ::huge], [[1.0], [3.0]])
        assert_same(X[:, ::-huge], [[2.0], [3.0]])
        assert_same(X[:, -huge:huge], [[1.0, 2.0], [3.0]])
        assert_same(ROWS[-huge:huge:huge, ..., ::huge], [[[1.0]]])
        assert pn.ones(3)[-huge:huge:huge].tolist() == [1.0]


def test_what_is_accepted() -> None:
    assert X.reshape(2, X.size(1), 1).shape == (2, X.size(1), 1)
    assert pn.equal(pn.reshape(X, X.shape), X) and pn.equal(X.view(X.shape), X)
    assert pn.equal(X.narrow(0, 1, 1), X[1:])
    assert X.to(dtype=pn.float32, device="cpu").dtype == pn.ones(2).to(dtype=pn.float32).dtype == np.float32
    assert pn.equal(X.clone().add_(1, alpha=2), X + 2) and pn.equal(X.clone().sub_(1, alpha=2), X - 2)
    assert pn.equal(pn.add(X, X, alpha=np.float32(2)), X * 3) and pn.equal(pn.sub(X, X, alpha=np.int64(2)), -X)
    assert pn.randint(5, (3,)).shape == pn.randint(2, 5, (3,)).shape == (3,)


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_likeness_in_another_layout(layout: Any) -> None:
    for made in (pn.zeros_like, pn.ones_like, pn.empty_like, lambda x, **options: pn.full_like(x, 3, **options)):
        result = made(X, layout=layout, requires_grad=True)
        assert (result.layout, result.is_leaf, result.requires_grad) == (layout, True, True)
        assert result.component_sizes().tolist() == [[2], [1]]
