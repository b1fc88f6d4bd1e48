"""On devices with kernels: what is handed out cannot be written to, and what is computed again is compared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import GradientError

from ...autograd import test_hooks as hooks


@hooks.KINDS
@hooks.PLACES
@pytest.mark.parametrize("name", hooks.WRITES)
def test_a_hook_does_not_write_into_what_it_is_given(device: str, kind: str, leaf: bool, name: str) -> None:
    hooks.check_refused(kind, leaf, name, device)


def test_a_hook_may_keep_what_it_is_given(device: str) -> None:
    kept: list[Any] = []
    x = pn.array([1.0, 2.0], requires_grad=True, device=device)
    x.register_hook(kept.append)
    for _ in range(2):
        (x * 3).sum().backward()
        x.grad.mul_(2)
    assert [gradient.tolist() for gradient in kept] == [[3, 3], [3, 3]]
    x.grad = kept[0]
    (x * 4).sum().backward()
    assert (x.grad.tolist(), kept[0].tolist()) == ([7, 7], [3, 3])


def test_a_function_does_not_write_into_its_cotangent(device: str) -> None:
    x, given = pn.array([1.0], requires_grad=True, device=device), pn.ones(1, device=device)
    with pytest.raises(GradientError, match="read-only"):
        pn.grad(hooks.Writes.apply(x), x, given)
    with pytest.raises(GradientError, match="read-only"):
        pn.jvp(hooks.Writes.apply, x.detach(), given)
    assert given.tolist() == [1]


def test_a_view_that_was_not_recorded_is_not_written_to(device: str) -> None:
    x = pn.array([1.0, 2.0], requires_grad=True, device=device)
    nested = pn.nested_array([[1.0], [2.0]], requires_grad=True, device=device)
    made, other = x * 3, nested * 3
    with pn.no_grad():
        views = x[0:1], made[0:1], nested[0], other.values(), nested[0:1]
    for view in views:
        with pytest.raises(GradientError, match="inside no_grad"):
            view.mul_(10)
        view.detach().mul_(10)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_what_is_computed_again_is_compared(device: str, dtype: str) -> None:
    """Rounding is let through, anything else is not: a NaN is itself, an integer has no rounding."""
    first = np.array([1, 8, np.nan, np.inf, 0], np.float32)
    for index, off, same in ((0, 1e-9, True), (0, 1.5, False), (2, 0, True), (4, np.inf, False)):
        second = first.copy()
        second[index] += off
        given = iter([pn.array(one, device=device).to(dtype=dtype) for one in (first, second)])
        x = pn.ones(5, dtype=dtype, device=device, requires_grad=True)
        y = pn.checkpoint(lambda x: x * next(given), x)  # noqa: B023
        if same:
            y.backward(pn.ones_like(y.detach()))
            assert x.grad is not None
        else:
            with pytest.raises(GradientError, match=rf"array 0: element \({index},\) is .* instead of"):
                y.backward(pn.ones_like(y.detach()))
    numbers = iter([1, 2])
    x = pn.ones(2, device=device, requires_grad=True)
    y = pn.checkpoint(lambda x: (x, pn.full((2,), next(numbers), device=device)), x)[0]
    with pytest.raises(GradientError, match=r"array 1: element \(0,\) is 2 instead of 1"):
        y.sum().backward()
