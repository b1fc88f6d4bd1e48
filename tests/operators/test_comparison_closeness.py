"""`allclose`, and what NumPy calls conversions: `astype` and `tolist`."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

import pynested as pn

from ..nests import assert_same, batch, nest

X = batch([(2, 3), (0, 3), (4, 3)])


class TestAllclose:
    def test_one_element_is_enough(self, lay: Any) -> None:
        for i, j in ((0, 0), (2, 3)):
            other = [one.copy() for one in X]
            other[i][j, 2] += 0.5
            assert not lay(X).allclose(lay(other))

    def test_the_tolerance_is_of_the_second(self, lay: Any) -> None:
        a, b = lay([np.array([10.0])]), lay([np.array([16.0])])
        assert a.allclose(b, 0.5, 0.0) and not b.allclose(a, 0.5, 0.0)

    def test_numpy_says_the_same_of_special_numbers(self, lay: Any) -> None:
        numbers = np.array([0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, 1e308, -1e308])
        for a in numbers:
            for b in numbers:
                for equal_nan in (False, True):
                    with np.errstate(all="ignore"):
                        expected = np.allclose(a, b, equal_nan=equal_nan)
                    assert lay([np.array([a])]).allclose(lay([np.array([b])]), equal_nan=equal_nan) is expected
                    assert pn.array(a).allclose(b, equal_nan=equal_nan) is expected

    def test_numbers_and_dense_arrays(self, lay: Any) -> None:
        ones = [np.ones((2, 3)), np.ones((1, 3))]
        assert lay(ones).allclose(1) and pn.allclose(1.0, lay(ones)) and lay(ones).allclose(np.ones(3))
        assert pn.allclose(np.array([1.0, 2.0]), pn.array([1.0, 2.0])) and not pn.array([1.0]).allclose(2)
        assert lay([one.astype(np.int8) for one in ones]).allclose(lay(ones))
        assert lay([np.zeros(1)]).allclose(0, rtol=np.inf)
        assert lay([np.array([2.0**70])]).allclose(2**70) and not lay(ones).allclose(-(2**2000))

    def test_of_nothing(self, lay: Any) -> None:
        assert lay(X)[:0].allclose(lay(X)[:0]) and lay(X)[1:2].allclose(7.0) and pn.zeros(0).allclose(1)

    def test_tracked_arrays(self) -> None:
        x = nest(X).requires_grad_()
        assert x.allclose(x * 1.0) and x.grad is None


class TestAstype:
    def test_values_and_dtype(self, lay: Any) -> None:
        for kind in ("float32", np.int64, pn.bool, float):
            assert_same(lay(X).astype(kind), [x.astype(kind) for x in X])
            assert pn.array(X[0]).astype(kind).dtype == np.dtype(kind)

    def test_it_is_a_copy_as_in_numpy(self, lay: Any) -> None:
        for x in (lay(X), pn.array(X[0])):
            before = x.clone()
            x.astype(x.dtype).fill_(7.0)
            assert pn.equal(x, before)

    def test_gradient(self, lay: Any) -> None:
        x = lay(X).requires_grad_()
        x.astype("float32").sum().backward()
        assert x.grad is not None
        assert_same(x.grad, [np.ones(one.shape) for one in X])


def test_tolist(lay: Any) -> None:
    assert lay(X).tolist() == [x.tolist() for x in X]
    assert lay(X)[:0].tolist() == []
    made = nest([np.array([1, 2]), np.array([3])]).tolist()
    assert made == [[1, 2], [3]] and type(made[0][0]) is int
    assert pn.equal(pn.nested_array(made), nest([np.array([1, 2]), np.array([3])]))
    assert nest(X).requires_grad_().tolist() == [x.tolist() for x in X]
    assert re.match("The components as lists", pn.NestedArray.tolist.__doc__ or "")
