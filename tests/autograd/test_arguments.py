"""Arguments that make no sense are refused in words, by the class that the house has for them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError, DeviceError, DTypeError, GradientError

X = pn.array([1.0, 2.0])
N = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged, requires_grad=True)
INTS = pn.array([1, 2])

REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "gradient of ints": (lambda: setattr(INTS, "requires_grad", True), DTypeError, "only floating point"),
    "~ of ints": (lambda: ~INTS, DTypeError, "only bool"),
    "~ of nested floats": (lambda: ~N, DTypeError, "only bool"),
    "device 0": (lambda: pn.array(1, device=0), DeviceError, "no backend for device 0"),  # type: ignore[arg-type]
    "an empty device": (lambda: pn.nested_array([[1]], device=""), DeviceError, "no backend"),
    "a list as device": (lambda: pn.zeros(2, device=[]), DeviceError, "no allocator"),  # type: ignore[arg-type]
    "grad of a number": (lambda: pn.grad(N.sum(), 3), ArgumentError, "not an int"),
    "tape of a number": (lambda: pn.tape(3), ArgumentError, "not an int"),
    "a dtype that is none": (lambda: pn.zeros(2, dtype="float33"), DTypeError, "float16, float32"),
    "to nothing": (lambda: X.to("foo"), DTypeError, "'foo' is not a dtype"),
    "to a number": (lambda: X.to(5), DTypeError, "5 is not a dtype"),
    "to what is no device": (lambda: X.to("gpu"), DTypeError, "Devices are 'cpu', 'cuda', 'emulated', 'plain'"),
    "to two devices": (lambda: X.to("cpu", device="emulated"), ArgumentError, "two devices are given, 'cpu' and"),
    "to two dtypes": (lambda: N.to("int8", "int8"), ArgumentError, "two dtypes are given, 'int8' and"),
    "sum in a dtype that is none": (lambda: N.sum(dtype="foo"), DTypeError, "'foo' is not a dtype"),
    "no step": (lambda: pn.arange(0, 1, 0), ArgumentError, "the step not 0"),
    "a limit that is no number": (lambda: pn.arange("a"), ArgumentError, "a limit must be a number, not 'a'"),
    "no limit": (lambda: pn.arange(), ArgumentError, "'start' is not given"),
    "a seed in words": (lambda: pn.manual_seed("a"), ArgumentError, "'a'"),  # type: ignore[arg-type]
    "a negative seed": (lambda: pn.manual_seed(-1), ArgumentError, "-1"),
    "a hook that is none": (lambda: N.values().register_hook(3), ArgumentError, "not an int"),
    "a nested hook that is none": (lambda: N.register_hook(3), ArgumentError, "not an int"),  # type: ignore[arg-type]
    "truth of two": (lambda: bool(INTS), ArgumentError, "bool: "),
    "a format of two": (lambda: f"{X:.2f}", ArgumentError, "format: "),
    "grad of nested outputs": (lambda: pn.grad(N * N, N), GradientError, "nested, of 3 elements.*pn.grad"),
    "hessian of NumPy": (lambda: pn.hessian(pn.sum, np.ones(2)), ArgumentError, "hessian: x must"),  # type: ignore[arg-type]
    "hvp along another shape": (lambda: pn.hvp(pn.sum, X, pn.ones(3)), ArgumentError, "hvp: a tangent"),
    "too large a fill": (
        lambda: pn.zeros(1, dtype="float16").masked_fill(pn.array([True]), 1e6),
        OverflowError,
        "out of bounds for float16",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    call, error, text = REFUSED[name]
    with pytest.raises(error, match=text):
        call()


def test_a_bare_primal_stands_for_itself() -> None:
    value, slope = pn.jvp(lambda x: x * x, N.detach(), pn.ones_like(N.detach()))
    assert value.values().tolist() == [1.0, 4.0, 9.0] and slope.values().tolist() == [2.0, 4.0, 6.0]
    assert pn.gradcheck(lambda x: x * x, (X,))


def test_one_element_is_formatted_and_rounded_as_a_number() -> None:
    loss = pn.array(1.2345, requires_grad=True) * 1
    assert f"{loss:.3f}" == "1.234" and round(loss, 2) == 1.23
    assert type(round(loss)) is int and round(pn.array([0.5, 1.5])).tolist() == [0.0, 2.0]


def test_modes_decorate_without_parentheses() -> None:
    @pn.no_grad
    def doubled(x: Any) -> Any:
        return x * 2

    assert not doubled(N).requires_grad


def test_numpy_on_the_left() -> None:
    assert (np.ones((2, 2)) @ X).tolist() == [3.0, 3.0]
    assert (np.ones(2) < X).tolist() == [False, True] == np.greater(X, np.ones(2)).tolist()


def test_a_shallow_copy_shares_the_memory() -> None:
    x = pn.zeros(2)
    copy.copy(x)[0] = 5.0
    assert x.tolist() == [5.0, 0.0]


def test_forward_may_return_what_numpy_computes() -> None:
    class Twice(pn.Function):
        @staticmethod
        def forward(context: Any, x: Any) -> Any:
            return x.detach().numpy() * 2

        @staticmethod
        def backward(context: Any, cotangent: Any) -> Any:
            return cotangent * 2

    x = pn.array([1.0, 2.0], requires_grad=True)
    assert pn.grad(Twice.apply(x).sum(), x).tolist() == [2.0, 2.0]
