"""`gradcheck` accepts the derivatives of primitives, and rejects every wrong one of `tests/mutation/gradients.toml`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pynested.autograd import Array, Function, gradcheck
from pynested.autograd.rules import elementwise, segment
from pynested.backends import Segments
from pynested.backends.errors import GradientError
from tests.mutation.plant import load, planted

X = np.array([[0.3, -1.2, 0.7, 1.1], [2.0, 0.4, -0.6, -1.7]])
SEGMENTS = Segments(np.array([0, 1, 4]))
FAULTS = load("gradients")
FUNCTIONS: dict[str, tuple[Callable[[Array], Array], tuple[int, ...]]] = {
    "tanh": (lambda x: elementwise.tanh(x), (2, 4)),
    "sin": (lambda x: elementwise.sin(x), (2, 4)),
    "mul": (lambda x: elementwise.mul(x, x), (2, 4)),
    "gelu": (lambda x: elementwise.gelu(x), (2, 4)),
    "segment_softmax": (lambda x: segment.segment_softmax(x.reshape((4, 2)), SEGMENTS).reshape((2, 4)), (4, 2)),
}


def check(primitive: str) -> bool:
    function, shape = FUNCTIONS[primitive]
    return gradcheck(function, Array(X.reshape(shape)))


@pytest.mark.parametrize("primitive", FUNCTIONS)
def test_right_derivatives_pass(primitive: str) -> None:
    assert check(primitive)


@pytest.mark.parametrize("primitive", FUNCTIONS)
@pytest.mark.parametrize("fault", FAULTS)
def test_wrong_derivatives_are_rejected(primitive: str, fault: str) -> None:
    assert primitive in FAULTS[fault]["primitive"]
    with planted({**FAULTS[fault], "primitive": primitive}), pytest.raises(GradientError):
        check(primitive)


def test_a_wrong_value_is_rejected() -> None:
    """Right derivatives of another function."""

    class Off(Function):
        @staticmethod
        def forward(context: Any, x: Any) -> Any:
            context.save_for_backward(x)
            return x.sin() + 1e-5 * x

        @staticmethod
        def backward(context: Any, cotangent: Any) -> Any:
            return context.saved[0].cos() * cotangent

    with pytest.raises(GradientError, match="differences"):
        gradcheck(lambda x: Off.apply(x), Array(X))
