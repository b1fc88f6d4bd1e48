"""Nothing but the result and its history stays in memory."""

from __future__ import annotations

from typing import Any

import pytest

import pynested as pn

from ...support.leaks import storages_left


@pytest.mark.parametrize(("layout", "device"), [(pn.jagged, "cpu"), (pn.strided, "emulated")])
def test_forward_and_backward_leave_the_result_and_the_gradient(layout: pn.Layout, device: str) -> None:
    x = pn.nested_array([[1.0, 2.0], [], [3.0]], layout=layout, device=device, requires_grad=True)
    with storages_left(2):
        y = (x.softmax(-1) * x + 1).sum()
        y.backward()
    assert y.shape == () and x.grad is not None


def test_what_a_function_saves_lives_as_long_as_the_result() -> None:
    class Cube(pn.Function):
        @staticmethod
        def forward(context: Any, x: Any) -> Any:
            context.save_for_backward(x * 1)
            return x * x * x

        @staticmethod
        def backward(context: Any, g: Any) -> Any:
            (x,) = context.saved
            return g * 3 * x * x

    x = pn.ones(3, requires_grad=True)
    with storages_left(2):
        y = Cube.apply(x)
    with storages_left(0):
        del y


def test_a_storage_that_is_held_or_in_a_cycle_is_counted() -> None:
    with pytest.raises(AssertionError, match="2 storages are alive, not 0: .*56 bytes on cpu"), storages_left(0):
        kept = pn.zeros(5)
        cycle: list[Any] = [pn.zeros(7)]
        cycle.append(cycle)
        del cycle
    assert kept.shape == (5,)
