"""Out to another library and back: components, dtypes and holes are what they were, and memory is shared."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import pynested as pn
from pynested.backends.errors import ExchangeError

from .drawn import Drawn, arrays, assert_same


@dataclass(frozen=True)
class Bridge:
    """The way to a library and back, and which arrays keep their memory on it."""

    package: str
    out: Callable[..., Any]
    back: Callable[..., Any]
    shares: Callable[[Drawn], bool]

    def __str__(self) -> str:
        return self.package


def leading(drawn: Drawn) -> bool:
    """Whether an array is jagged along dimension 1, or its elements lie one after another."""
    structure = drawn.array.structure
    if drawn.array.layout == pn.jagged:
        return structure.ragged_dim == 1  # type: ignore[union-attr]
    return drawn.placement == "packed"


def without_bools(drawn: Drawn) -> bool:
    return leading(drawn) and drawn.array.dtype != np.bool_


def aligned(drawn: Drawn) -> bool:
    return drawn.array.data.data.ctypes.data % 64 == 0  # type: ignore[no-any-return]


def without_holes(drawn: Drawn) -> bool:
    return leading(drawn) and drawn.placement == "packed"


BRIDGES = [
    Bridge("awkward", pn.to_awkward, pn.from_awkward, leading),
    Bridge("pyarrow", pn.to_arrow, pn.from_arrow, without_bools),
    Bridge("pandas", pn.to_pandas, pn.from_pandas, without_bools),
    Bridge("tensorflow", pn.to_tensorflow, pn.from_tensorflow, lambda drawn: without_holes(drawn) and aligned(drawn)),
    Bridge("torch", pn.to_torch, pn.from_torch, lambda drawn: True),
]


def through_lists(drawn: Drawn) -> list[Any]:
    """The components, as lists hold them: where there is no list, nothing says how long it would be, so it is 0."""
    if drawn.array.layout == pn.jagged:
        irregular = {drawn.array.structure.ragged_dim - 1}  # type: ignore[union-attr]
    else:
        irregular = {dim for dim in (0, 1) if len({one.shape[dim] for one in drawn.components}) > 1}
    shapes = [
        [0 if dim in irregular and 0 in one.shape[:dim] else size for dim, size in enumerate(one.shape)]
        for one in drawn.components
    ]
    return [one.reshape(shape) for one, shape in zip(drawn.components, shapes, strict=True)]


def known_to_torch(drawn: Drawn) -> bool:
    return drawn.array.layout == pn.jagged or bool(len(drawn.array))


@pytest.mark.parametrize("bridge", BRIDGES, ids=str)
@pytest.mark.filterwarnings("ignore")
def test_out_and_back(bridge: Bridge) -> None:
    pytest.importorskip(bridge.package)

    @settings(deadline=None, max_examples=60)
    @given(arrays())
    def holds(drawn: Drawn) -> None:
        if bridge.package == "torch" and not known_to_torch(drawn):
            return
        out = bridge.out(drawn.array)
        back = bridge.back(out)
        assert_same(back, drawn.components if bridge.package == "torch" else through_lists(drawn))
        if bridge.shares(drawn) and drawn.array.numel():
            assert np.shares_memory(back.data.data, drawn.array.data.data)
            bridge.back(bridge.out(drawn.array, copy=False), copy=False)
        assert not np.shares_memory(bridge.back(bridge.out(drawn.array, copy=True)).data.data, drawn.array.data.data)
        assert not np.shares_memory(bridge.back(out, copy=True).data.data, drawn.array.data.data)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        holds()


@pytest.mark.parametrize("bridge", BRIDGES[:4], ids=str)
def test_what_needs_a_copy_is_refused_where_none_may_be_made(bridge: Bridge) -> None:
    pytest.importorskip(bridge.package)

    @settings(deadline=None, max_examples=60)
    @given(arrays())
    def holds(drawn: Drawn) -> None:
        if not bridge.shares(drawn) and drawn.array.numel():
            with pytest.raises(ExchangeError, match="copy=False"):
                bridge.back(bridge.out(drawn.array, copy=False), copy=False)

    holds()


def test_values_of_a_row_are_a_regular_dimension() -> None:
    ak, pa = pytest.importorskip("awkward"), pytest.importorskip("pyarrow")
    x = pn.nested_array([np.ones((2, 3), np.float32), np.ones((1, 3), np.float32)], layout=pn.jagged)
    assert str(ak.type(pn.to_awkward(x))) == "2 * var * 3 * float32"
    assert pn.to_arrow(x).type == pa.large_list(pa.list_(pa.float32(), 3))
    assert pn.from_arrow(pn.to_arrow(x)).shape[2] == 3  # type: ignore[misc]


@settings(deadline=None, max_examples=60)
@given(arrays())
def test_numpy_has_a_view_of_each_component(drawn: Drawn) -> None:
    out = pn.to_numpy(drawn.array)
    assert out.dtype == object and out.shape == (len(drawn.components),)
    for one, expected in zip(out, drawn.components, strict=True):
        assert one.tobytes() == np.ascontiguousarray(expected).tobytes() and one.shape == expected.shape
        assert not one.size or np.shares_memory(one, drawn.array.data.data)
    if len(out):
        assert_same(pn.from_numpy(out), drawn.components)


@settings(deadline=None, max_examples=60)
@given(arrays(ragged=(1,)))
def test_sparse_rows(drawn: Drawn) -> None:
    pytest.importorskip("scipy")
    flat = drawn.array if drawn.array.ndim == 2 else None
    if flat is None or drawn.array.dtype == np.float16:
        return
    out = pn.to_csr(flat)
    for row, expected in enumerate(drawn.components):
        assert np.array_equal(out.toarray()[row, : len(expected)], expected)
    assert_same(pn.from_csr(out), drawn.components)


@settings(deadline=None, max_examples=60)
@given(arrays(ragged=(1,)))
def test_parts_for_jax(drawn: Drawn) -> None:
    pytest.importorskip("jax")
    if drawn.array.layout == pn.strided or drawn.array.dtype.itemsize == 8:  # which JAX has only when it is asked to
        return
    out = pn.to_jax(drawn.array)
    assert_same(pn.from_jax(*out), drawn.components)
