"""Errors name the operator that was called, not one that it is made of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import PynestedError
from pynested.spec.pairs import PAIRS

COMPONENTS = [np.ones((2, 4)), np.ones((3, 4))]
ARRAYS = {
    "jagged": lambda: pn.nested_array(COMPONENTS, layout=pn.jagged),
    "strided": lambda: pn.nested_array(COMPONENTS),
    "dense": lambda: pn.ones(2, 3, 4),
}
# No operand of any operator: no array, an array of another library's dtype, complex numbers, and lists of two lengths.
WRONG: list[Any] = ["a", None, object(), np.array(["a"]), np.array([1j]), {"a": 1}]
PAIRED = ["add", "sub", "mul", "div", "maximum", "minimum", "lt", "matmul", "bmm", *PAIRS]
OTHERS = ["linear", "masked_fill", "where", "embedding", "layer_norm", "copy_", "fill_", "add_", "mul_"]


@pytest.mark.parametrize("layout", ARRAYS)
@pytest.mark.parametrize("name", [*PAIRED, *OTHERS])
def test_a_second_operand_of_no_dtype(name: str, layout: str) -> None:
    for wrong in WRONG:
        x = ARRAYS[layout]()
        with pytest.raises((PynestedError, OverflowError)) as refused:
            getattr(x, name)(wrong) if name.endswith("_") else getattr(pn, name)(x, wrong)
        assert str(refused.value).startswith(name.rstrip("_")), refused.value


@pytest.mark.parametrize("name", ["bmm", "matmul", "add", "mul", "maximum", "lt", "copy_", "add_", *PAIRS])
@pytest.mark.parametrize("layout", ARRAYS)
def test_a_second_operand_of_another_shape(name: str, layout: str) -> None:
    for other in (pn.ones(2, 7, 5), pn.nested_array([np.ones((7, 5)), np.ones((2, 5))], layout=pn.jagged)):
        with pytest.raises(PynestedError) as refused:
            x = ARRAYS[layout]()
            getattr(x, name)(other) if name.endswith("_") else getattr(pn, name)(x, other)
        wanted = f"{name}:" if name in ("copy_", "bmm") else name.rstrip("_")
        assert str(refused.value).startswith(wanted), refused.value
