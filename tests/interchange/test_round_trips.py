"""Arrays that go to another library and come back have their components, dtypes and gaps, and share memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import pynested as pn
from pynested.backends.errors import ExchangeError

from ..nests import assert_same
from .drawn import Drawn, arrays
from .libraries import LIBRARIES


def through_lists(drawn: Drawn) -> list[Any]:
    """Return the components as lists hold them: a size that no list shows is 0."""
    if drawn.array.layout == pn.jagged:
        irregular = {drawn.array.structure.ragged_dim - 1}  # type: ignore[union-attr]
    else:
        irregular = {dim for dim in (0, 1) if len({component.shape[dim] for component in drawn.components}) > 1}

    def shown(shape: tuple[int, ...]) -> list[int]:
        return [0 if dim in irregular and 0 in shape[:dim] else size for dim, size in enumerate(shape)]

    return [component.reshape(shown(component.shape)) for component in drawn.components]


@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.filterwarnings("ignore")
def test_out_and_back(name: str) -> None:
    pytest.importorskip(name)
    library = LIBRARIES[name]

    @settings(deadline=None, max_examples=60)
    @given(arrays())
    def holds(drawn: Drawn) -> None:
        if not library.takes(drawn):
            return
        out = library.out(drawn.array)
        back = library.back(out)
        assert_same(back, through_lists(drawn) if library.has_lists else drawn.components)
        if library.shares(drawn) and drawn.array.numel():
            assert np.may_share_memory(back.data.data, drawn.array.data.data)
            library.back(library.out(drawn.array, copy=False), copy=False)
        elif library.has_lists and drawn.array.numel():
            with pytest.raises(ExchangeError, match="copy=False"):
                library.back(library.out(drawn.array, copy=False), copy=False)
        for copied in (library.back(library.out(drawn.array, copy=True)), library.back(out, copy=True)):
            assert not np.may_share_memory(copied.data.data, drawn.array.data.data)

    holds()


@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.filterwarnings("ignore")
def test_memory_is_shared_whatever_the_default_device(name: str) -> None:
    pytest.importorskip(name)
    library, x = LIBRARIES[name], pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged, dtype=pn.float32)
    with pn.set_default_device("plain"):
        back = library.back(library.out(x))
        dense = pn.from_numpy(np.ones(2))
    assert dense.device == "cpu"
    if name != "numpy":  # whose components are packed into a new buffer
        assert back.device == "cpu" and back.tolist() == x.tolist()


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
    for view, component in zip(out, drawn.components, strict=True):
        np.testing.assert_array_equal(view, component, strict=True)
        assert not view.size or np.may_share_memory(view, drawn.array.data.data)
