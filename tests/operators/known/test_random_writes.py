"""`uniform_` and `normal_` write the numbers of `rand` and `randn`, which are those of a generator of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn

DTYPES = pytest.mark.parametrize("dtype", [pn.float16, pn.float32, pn.float64])


def generator() -> np.random.Generator:
    return np.random.default_rng(7)


@DTYPES
def test_dense_arrays(dtype: Any) -> None:
    uniform, normal = generator().random((3, 4)), generator().standard_normal((3, 4))
    x = pn.empty(3, 4, dtype=dtype)
    assert x.uniform_(0, 1, generator()) is x
    assert x.tolist() == pn.rand(3, 4, dtype=dtype, generator=generator()).tolist()
    assert pn.uniform_(x, -2, high=5, generator=generator()).tolist() == (-2 + uniform * 7).astype(dtype).tolist()
    assert pn.normal_(x, 3.0, std=2.0, generator=generator()) is x
    assert x.tolist() == (3 + normal * 2).astype(dtype).tolist()
    assert x.normal_(generator=generator()).tolist() == normal.astype(dtype).tolist()


def test_gaps_get_no_numbers(layout: Any) -> None:
    drawn = generator().random(3).tolist()
    x = pn.nested_array([[0.0, 0.0], [], [0.0]], layout=layout)
    assert x.uniform_(generator=generator()).tolist() == [drawn[:2], [], drawn[2:]]
    values = pn.full((6,), 9.0)
    pn.nested_array_from_jagged(values, [0, 3, 6], lengths=[2, 1]).uniform_(0, 1, generator())
    assert values.tolist() == [*drawn[:2], 9.0, drawn[2], 9.0, 9.0]
    assert pn.nested_array([[]]).normal_().tolist() == [[]]


@DTYPES
def test_the_upper_end_is_never_drawn(dtype: Any) -> None:
    x = pn.empty(20_000, dtype=dtype).uniform_(1, 1 + 2 * float(np.finfo(dtype).eps)).numpy()
    assert set(x.tolist()) == {1.0, 1.0 + float(np.finfo(dtype).eps)}
    assert pn.empty(2, dtype=dtype).uniform_(3, 3).tolist() == [3.0, 3.0]
    wide = pn.empty(1000, dtype=dtype).uniform_(-60_000, 60_000).numpy()
    assert np.isfinite(wide).all() and wide.min() < -50_000 and wide.max() > 50_000


def test_the_default_generator_is_that_of_manual_seed_in_a_graph_too() -> None:
    pn.manual_seed(3)
    first = pn.empty(3).uniform_().tolist(), pn.empty(3).normal_().tolist()
    pn.manual_seed(3)
    assert (pn.rand(3).tolist(), pn.randn(3).tolist()) == first
    graph = pn.trace(lambda x: pn.empty_like(x).uniform_() + x, pn.nested_array([[0.0], [0.0, 0.0]]))
    x = pn.nested_array([[5.0, 5.0, 5.0]])
    pn.manual_seed(1)
    traced, again = graph(x).tolist(), graph(x).tolist()
    pn.manual_seed(1)
    assert traced == (pn.rand(1, 3) + 5).tolist() and traced != again
