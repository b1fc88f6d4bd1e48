"""The seed's examples of compiled functions, of tensors read as arrays: usage with compile, and troubleshooting."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import StructureError


@pytest.mark.shows("COMPILE-3")
def test_usage() -> None:
    a, b = pn.randn(2, 3), pn.randn(4, 3)
    nt = pn.nested_array([a, b], layout=pn.jagged)

    def f(x: Any) -> Any:
        return x.sin() + 1

    output = pn.compile(f)(nt)
    assert output.shape[0] == 2 and output.shape[1] == nt.shape[1] and output.shape[2] == 3
    for one, other in zip(output.unbind(), (a, b), strict=True):
        np.testing.assert_array_equal(one.numpy(), np.sin(other.numpy()) + 1)

    def g(values: Any, offsets: Any) -> Any:
        return pn.nested_array_from_jagged(values, offsets) * 2.0

    compiled = pn.compile(g)
    output = compiled(nt.values(), nt.offsets())
    assert output.shape == nt.shape
    for one, other in zip(output.unbind(), (a, b), strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy() * 2)
    more = compiled(pn.ones(7, 3), pn.array([0, 1, 1, 7]))
    assert [len(one) for one in more.unbind()] == [1, 0, 6] and len(compiled.graphs) == 1


@pytest.mark.shows("COMPILE-2")
def test_no_recompile_where_the_ragged_structure_differs() -> None:
    a, b, c, d = (pn.randn(rows, 3) for rows in (2, 4, 5, 6))
    compiled = pn.compile(lambda x: x.sin() + 1)
    for parts in ((a, b), (c, d), (a, b, c, d)):
        output = compiled(pn.nested_array(list(parts), layout=pn.jagged))
        for one, other in zip(output.unbind(), parts, strict=True):
            np.testing.assert_array_equal(one.numpy(), np.sin(other.numpy()) + 1)
    assert len(compiled.graphs) == 1


def test_ragged_structures_that_do_not_fit() -> None:
    a, b = pn.randn(50, 128), pn.randn(32, 128)
    nt1 = pn.nested_array([a, b], layout=pn.jagged, dtype=pn.float32)
    nt2 = pn.nested_array_from_jagged(values=pn.randn(82, 128), offsets=nt1.offsets())
    add = pn.compile(lambda x, y: x + y)
    assert add(nt1, nt2).shape == nt1.shape
    with pytest.raises(StructureError, match="component 0: lengths 50 and 32"):
        add(nt1, pn.nested_array([b, a], layout=pn.jagged))


def test_chunks_of_the_batch() -> None:
    a, b = pn.randn(50, 128), pn.randn(32, 128)
    compiled = pn.compile(lambda nt: nt.chunk(2, dim=0)[0])
    (one,) = compiled(pn.nested_array([a, b], layout=pn.jagged, dtype=pn.float64)).unbind()
    np.testing.assert_array_equal(one.numpy(), a.numpy())
    one, other = compiled(pn.nested_array([b, b, a], layout=pn.jagged, dtype=pn.float64)).unbind()
    np.testing.assert_array_equal(other.numpy(), b.numpy())
    assert len(compiled.graphs) == 1
