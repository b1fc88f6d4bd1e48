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

from ..nests import assert_same
from .drawn import Drawn, arrays


@dataclass(frozen=True)
class Bridge:
    """A way to a library and back."""

    package: str
    out: Callable[..., Any]
    back: Callable[..., Any]
    shares: Callable[[Drawn], bool] = lambda drawn: False  # whether an array keeps its memory both ways
    takes: Callable[[Drawn], bool] = lambda drawn: True
    has_lists: bool = True  # a list of no lists does not say how long these would be

    def __str__(self) -> str:
        return self.package


def leading(drawn: Drawn) -> bool:
    """Return whether an array is jagged along dimension 1, or its elements lie one after another."""
    structure = drawn.array.structure
    if drawn.array.layout == pn.jagged:
        return structure.ragged_dim == 1  # type: ignore[union-attr]
    return drawn.placement == "packed"


def without_bools(drawn: Drawn) -> bool:
    return leading(drawn) and drawn.array.dtype != np.bool_


def packed_and_aligned(drawn: Drawn) -> bool:
    return leading(drawn) and drawn.placement == "packed" and drawn.array.data.data.ctypes.data % 64 == 0


def jagged_first(drawn: Drawn) -> bool:
    return drawn.array.layout == pn.jagged and leading(drawn)


BRIDGES = [
    Bridge("awkward", pn.to_awkward, pn.from_awkward, leading),
    Bridge("pyarrow", pn.to_arrow, pn.from_arrow, without_bools),
    Bridge("pandas", pn.to_pandas, pn.from_pandas, without_bools),
    Bridge("tensorflow", pn.to_tensorflow, pn.from_tensorflow, packed_and_aligned),
    Bridge(
        "torch", pn.to_torch, pn.from_torch, lambda drawn: True,
        lambda drawn: drawn.array.layout == pn.jagged or bool(len(drawn.array)), has_lists=False,
    ),
    Bridge("numpy", pn.to_numpy, pn.from_numpy, takes=lambda drawn: bool(len(drawn.array)), has_lists=False),
    Bridge(
        "scipy", pn.to_csr, pn.from_csr, has_lists=False,
        takes=lambda drawn: jagged_first(drawn) and drawn.array.ndim == 2 and drawn.array.dtype != np.float16,
    ),
    Bridge(
        "jax", pn.to_jax, lambda parts, copy=None: pn.from_jax(*parts, copy=copy), has_lists=False,
        takes=lambda drawn: jagged_first(drawn) and drawn.array.dtype.itemsize < 8,  # more bits only with an option
    ),
]  # fmt: skip


def through_lists(drawn: Drawn) -> list[Any]:
    """Return the components as lists hold them: a size that no list shows is 0."""
    if drawn.array.layout == pn.jagged:
        irregular = {drawn.array.structure.ragged_dim - 1}  # type: ignore[union-attr]
    else:
        irregular = {dim for dim in (0, 1) if len({one.shape[dim] for one in drawn.components}) > 1}
    shapes = [
        [0 if dim in irregular and 0 in one.shape[:dim] else size for dim, size in enumerate(one.shape)]
        for one in drawn.components
    ]
    return [one.reshape(shape) for one, shape in zip(drawn.components, shapes, strict=True)]


@pytest.mark.parametrize("bridge", BRIDGES, ids=str)
@pytest.mark.filterwarnings("ignore")
def test_out_and_back(bridge: Bridge) -> None:
    pytest.importorskip(bridge.package)

    @settings(deadline=None, max_examples=60)
    @given(arrays())
    def holds(drawn: Drawn) -> None:
        if not bridge.takes(drawn):
            return
        out = bridge.out(drawn.array)
        back = bridge.back(out)
        assert_same(back, through_lists(drawn) if bridge.has_lists else drawn.components)
        if bridge.shares(drawn) and drawn.array.numel():
            assert np.shares_memory(back.data.data, drawn.array.data.data)
            bridge.back(bridge.out(drawn.array, copy=False), copy=False)
        elif bridge.has_lists and drawn.array.numel():
            with pytest.raises(ExchangeError, match="copy=False"):
                bridge.back(bridge.out(drawn.array, copy=False), copy=False)
        assert not np.shares_memory(bridge.back(bridge.out(drawn.array, copy=True)).data.data, drawn.array.data.data)
        assert not np.shares_memory(bridge.back(out, copy=True).data.data, drawn.array.data.data)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
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
    for one, due in zip(out, drawn.components, strict=True):
        np.testing.assert_array_equal(one, due, strict=True)
        assert not one.size or np.shares_memory(one, drawn.array.data.data)


def test_a_sparse_matrix_has_a_row_for_each_component() -> None:
    pytest.importorskip("scipy")
    x = pn.nested_array([[1.0, 0.0], [], [2.0, 3.0, 4.0]], layout=pn.jagged)
    assert pn.to_csr(x).toarray().tolist() == [[1, 0, 0], [0, 0, 0], [2, 3, 4]]
