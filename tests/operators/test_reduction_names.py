"""NumPy's names of dim and keepdim, of everything in the tables of reductions and of run-wise operators."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError
from pynested.tables.reductions import REDUCTIONS
from pynested.tables.runwise import RUNWISE

from ..nests import JAGGED, STRIDED, assert_same, batch, nest, plain

NESTED = [nest(batch(kind.shapes((2, 1, 3))), kind.layout) for kind in (JAGGED, STRIDED)]
OPERANDS = [*NESTED, pn.array(batch([(2, 3)])[0])]


def ways(name: str, x: Any) -> list[Callable[..., Any]]:
    """The function, which is the method of both classes too."""
    assert getattr(type(x), name) is getattr(pn, name)
    return [getattr(pn, name)]


@pytest.mark.parametrize("x", OPERANDS, ids=["jagged", "strided", "dense"])
@pytest.mark.parametrize("name", [*REDUCTIONS, *RUNWISE])
class TestNames:
    def test_axis_is_dim(self, name: str, x: Any) -> None:
        for call in ways(name, x):
            assert_same(call(x, axis=1), plain(call(x, 1)))
            with pytest.raises(ArgumentError, match=rf"^{name}: dim=1 and axis=1 say the same thing. Give one"):
                call(x, 1, axis=1)

    def test_keepdims_is_keepdim(self, name: str, x: Any) -> None:
        if name in RUNWISE:
            return
        for call in ways(name, x):
            for kept in (True, False):
                assert_same(call(x, axis=1, keepdims=kept), plain(call(x, 1, kept)))
                with pytest.raises(ArgumentError, match=rf"^{name}: keepdim={kept} and keepdims=True say the same"):
                    call(x, 1, kept, keepdims=True)

    def test_none_is_all_dimensions_or_none_of_them(self, name: str, x: Any) -> None:
        entry = REDUCTIONS.get(name)
        for call in ways(name, x):
            if entry is not None and (not entry.is_place or type(x) is pn.Array):
                np.testing.assert_array_equal(call(x, axis=None).numpy(), call(x).numpy())
                with pytest.raises(ArgumentError, match="dim=None and axis=None"):
                    call(x, None, axis=None)
                continue
            for given in ({"axis": None}, {"dim": None}, {}):
                with pytest.raises(ArgumentError, match=f"^{name}"):
                    call(x, **given)


def test_the_defaults_are_those_that_count() -> None:
    assert str(inspect.signature(pn.sum)) == (
        "(self: 'Operand', dim: 'Dims' = None, keepdim: 'bool' = False, *, dtype: 'DType | None' = None, "
        "axis: 'Dims' = <no value>, keepdims: 'bool' = <no value>) -> 'NestedArray | Array'"
    )


def test_an_axis_goes_to_numpys_functions_too() -> None:
    for x in NESTED:
        np.testing.assert_array_equal(np.sum(x, axis=0).numpy(), pn.sum(x, 0).numpy())
