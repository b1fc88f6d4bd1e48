"""Errors name the operator that was called, not one that it is made of."""

from __future__ import annotations

import operator
import re
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import PynestedError
from pynested.spec.pairs import PAIRS
from pynested.surface.derived import IN_PLACE, SIGNS

COMPONENTS = [np.ones((2, 4)), np.ones((3, 4))]
ARRAYS = {
    "jagged": lambda: pn.nested_array(COMPONENTS, layout=pn.jagged),
    "strided": lambda: pn.nested_array(COMPONENTS),
    "dense": lambda: pn.ones(2, 3, 4),
}
# No operand of any operator: no array, an array of another library's dtype, complex numbers, and lists of two lengths.
WRONG: list[Any] = ["a", None, object(), np.array(["a"]), np.array([1j]), {"a": 1}]
PAIRED = ["add", "sub", "mul", "div", "maximum", "minimum", "lt", "matmul", "bmm", *PAIRS]
OTHERS = ["linear", "masked_fill", "where", "embedding", "layer_norm", "copy_", "fill_"]
WRITING = [f"{name}_" for name in IN_PLACE]
OF_TWO = [f"{name}_" for name in IN_PLACE if name in PAIRED]
# A wrong parameter of an operator that has any beside its operands.
PARAMETERS: dict[str, tuple[Any, ...]] = {
    "clamp": ("a", "b"), "gelu": ("none at all",), "masked_fill": (1, 2), "cumsum": (7,), "dropout": (2.0,),
    "add": (1, 2), "sub": (1, 2), "softmax": (7,), "sum": (7,), "transpose": (1, 7), "squeeze": (7,), "select": (1, 99),
    "argmax": (7,), "var": (7,), "flatten": (2, 1), "unsqueeze": (9,), "layer_norm": ("a",), "embedding": (1, 2),
    "narrow": (7, 0, 1), "chunk": (0,), "split": (-1, 1), "permute": ((0, 0, 1),), "unflatten": (2, (3, 3)),
    "cross_entropy": (1,), "linear": (pn.ones(3, 5),), "where": (1, 2), "to": ("nowhere",),
}  # fmt: skip


def is_named(error: BaseException, name: str) -> bool:
    """Whether a message begins with a name, and not with a longer one."""
    return re.match(rf"{name}(?![a-z_])", str(error)) is not None


@pytest.mark.parametrize("layout", ARRAYS)
@pytest.mark.parametrize("name", [*PAIRED, *OTHERS, *OF_TWO])
def test_a_second_operand_of_no_dtype(name: str, layout: str) -> None:
    for wrong in WRONG:
        x = ARRAYS[layout]()
        with pytest.raises((PynestedError, OverflowError)) as refused:
            getattr(x, name)(wrong) if name.endswith("_") else getattr(pn, name)(x, wrong)
        assert is_named(refused.value, name), refused.value


@pytest.mark.parametrize("name", ["bmm", "matmul", "add", "mul", "maximum", "lt", "copy_", *OF_TWO, *PAIRS])
@pytest.mark.parametrize("layout", ARRAYS)
def test_a_second_operand_of_another_shape(name: str, layout: str) -> None:
    for other in (pn.ones(2, 7, 5), pn.nested_array([np.ones((7, 5)), np.ones((2, 5))], layout=pn.jagged)):
        with pytest.raises(PynestedError) as refused:
            x = ARRAYS[layout]()
            getattr(x, name)(other) if name.endswith("_") else getattr(pn, name)(x, other)
        assert is_named(refused.value, name), refused.value


@pytest.mark.parametrize("name", [*PAIRED, "linear", "masked_fill", "layer_norm", "relu", "exp", "sum", "softmax"])
def test_a_first_operand_of_no_dtype(name: str) -> None:
    more = {"linear": (pn.ones(3, 4),), "masked_fill": (True, 0), "layer_norm": (4,), "softmax": (1,)}
    for wrong in WRONG:
        arguments = more.get(name, (pn.ones(2, 4),) if name in PAIRED else ())
        with pytest.raises((PynestedError, OverflowError)) as refused:
            getattr(pn, name)(wrong, *arguments)
        assert is_named(refused.value, name), refused.value


@pytest.mark.parametrize("layout", ARRAYS)
@pytest.mark.parametrize("name", [*PARAMETERS, *(f"{name}_" for name in PARAMETERS if name in IN_PLACE)])
def test_a_wrong_parameter(name: str, layout: str) -> None:
    x, arguments = ARRAYS[layout](), PARAMETERS[name.rstrip("_")]
    if name.rstrip("_") in ("add", "sub"):
        arguments = (pn.ones(4), "a")  # alpha
    with pytest.raises((PynestedError, OverflowError)) as refused:
        getattr(x, name)(*arguments) if name.endswith("_") else getattr(pn, name)(x, *arguments)
    assert is_named(refused.value, name), refused.value


@pytest.mark.parametrize("layout", ARRAYS)
@pytest.mark.parametrize("name", WRITING)
def test_a_method_in_place_names_itself(name: str, layout: str) -> None:
    x = ARRAYS[layout]()
    with pytest.raises(PynestedError) as refused:
        getattr(x, name)(no_such_argument=1)
    assert is_named(refused.value, name), refused.value
    leaf = ARRAYS[layout]().requires_grad_()
    arguments: tuple[Any, ...] = (1.0,) if name in OF_TWO or name == "clamp_" else ()
    arguments = {"masked_fill_": (x > 0, 1.0), "cumsum_": (1,)}.get(name, arguments)
    with pytest.raises(PynestedError, match="requires grad") as refused:
        getattr(leaf, name)(*arguments)
    assert is_named(refused.value, name), refused.value


@pytest.mark.parametrize("layout", ARRAYS)
def test_a_sign_in_place_names_its_method(layout: str) -> None:
    for sign, name in SIGNS.items():
        if name in IN_PLACE:
            with pytest.raises(PynestedError) as refused:
                getattr(operator, f"i{sign}")(ARRAYS[layout](), pn.ones(2, 7, 5))
            assert is_named(refused.value, f"{name}_"), refused.value
