"""One function for each operator: the method of both classes is the public function, and what Python's signs call."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.surface.derived import COMPARING, IN_PLACE, SIGNS, methods

from ..nests import assert_same, nest

FUNCTIONS = methods({name: getattr(pn, name) for name in pn.__all__ if callable(getattr(pn, name))})
TAKES_SIZES_ONE_BY_ONE = {"permute", "reshape", "view"}
WRITTEN = {"normal_", "uniform_"}  # functions too, beside the methods
OWN = {pn.Array: TAKES_SIZES_ONE_BY_ONE | WRITTEN | {"detach"}, pn.NestedArray: TAKES_SIZES_ONE_BY_ONE | WRITTEN}


@pytest.mark.parametrize("kind", [pn.Array, pn.NestedArray])
def test_methods_are_the_functions(kind: Any) -> None:
    assert len(FUNCTIONS) > 80
    assert {name for name, one in FUNCTIONS.items() if getattr(kind, name) is not one} == OWN[kind]


@pytest.mark.parametrize("nested", [True, False])
@pytest.mark.parametrize("sign", [*SIGNS, *COMPARING])
def test_signs_call_the_functions(sign: str, nested: bool) -> None:
    a, b = np.array([[3, 2], [5, 1]]), np.array([[1, 2], [2, 3]])
    x, y = (nest([one], pn.jagged) if nested else pn.array(one) for one in (a, b))
    function = getattr(pn, SIGNS.get(sign, sign))
    by_sign = getattr(operator, {"and": "and_", "or": "or_"}.get(sign, sign))
    assert_same(by_sign(x, y), [function(pn.array(a), pn.array(b)).numpy()] if nested else by_sign(a, b))
    if sign in SIGNS and sign != "matmul":
        assert_same(by_sign(7, y), [by_sign(7, b)] if nested else by_sign(7, b))
    if SIGNS.get(sign) in IN_PLACE and sign != "truediv":
        written = x.clone()
        again = getattr(operator, f"i{sign}")(written, y)
        assert again is written
        assert_same(written, [by_sign(a, b)] if nested else by_sign(a, b))
