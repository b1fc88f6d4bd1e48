"""Contiguous arrays: what `is_contiguous` means, and that operators which compute keep it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn

DENSE = pn.array(np.arange(60.0).reshape(3, 10, 2))
JAGGED = pn.nested_array([np.ones((2, 3)), np.ones((0, 3)), np.ones((4, 3))], layout=pn.jagged)
TURNED = JAGGED.transpose(1, 2)  # its values have shape (3, 6) and strides (1, 3)
STRIDED = JAGGED.to(layout=pn.strided)

# Each array, and whether its elements lie in C order, each component beginning where the one before it ends.
ARRAYS = {
    "jagged": (JAGGED, True),
    "rows that begin at 1": (pn.narrow(DENSE, 1, [1, 0, 0], [9, 10, 10], layout=pn.jagged), True),
    "rows that end at 28": (pn.narrow(DENSE, 1, [0, 0, 0], [10, 10, 8], layout=pn.jagged), True),
    "an empty component elsewhere": (pn.narrow(DENSE, 1, [5, 7, 0], [5, 0, 10], layout=pn.jagged), False),
    "an empty component between": (pn.nested_array_from_jagged(DENSE[0], [4, 0, 6, 0], [2, 0, 3]), True),
    "rows of no component between": (pn.narrow(DENSE, 1, [0, 1, 0], [10, 9, 10], layout=pn.jagged), False),
    "jagged, the last two": (JAGGED[1:], True),
    "jagged, every second": (JAGGED[::2], True),
    "jagged, of all components the end": (JAGGED[:, 1:], False),
    "jagged, of one column": (JAGGED[:, :, :1], False),
    "jagged, only empty components": (JAGGED[:, 9:], True),
    "jagged, backwards": (pn.nested_array_from_jagged(DENSE[0], [5, 0, 10], [5, 5]), False),
    "jagged, overlapping": (pn.nested_array_from_jagged(DENSE[0], [0, 4, 10], [5, 5]), False),
    "turned": (TURNED, False),
    "turned, in C order": (TURNED.contiguous(), True),
    "turned, a part of each row of values": (TURNED.contiguous()[:1], False),
    "strided": (STRIDED, True),
    "strided, the first two": (STRIDED[:2], True),
    "strided, the last": (STRIDED[2:], True),
    "strided, none": (STRIDED[:0], True),
    "strided, of all components the end": (STRIDED[:, 1:], False),
    "strided, turned": (STRIDED.transpose(1, 2), False),
    "strided, only empty components": (STRIDED[:, 9:], True),
    "strided, backwards": (pn.nested_array_from_strided(DENSE[0, :, 0].contiguous(), [[5], [5]], None, [5, 0]), False),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_what_is_contiguous(name: str) -> None:
    x, expected = ARRAYS[name]
    assert x.is_contiguous() is expected
    made = x.contiguous()
    assert made.is_contiguous() and made.numel() == made.values().numel()  # nothing lies before, between or behind
    shares = made.data.storage is x.data.storage
    assert shares is expected or not x.numel(), "what is contiguous is not copied"
    assert all(np.array_equal(a.numpy(), b.numpy()) for a, b in zip(made, x, strict=True))


@pytest.mark.parametrize("name", [name for name, (_, expected) in ARRAYS.items() if expected])
def test_the_gradient_of_what_is_contiguous(name: str) -> None:
    """Elements that are shown receive what is due to them, and memory around them receives 0."""
    x, _ = ARRAYS[name]
    values = x.values().detach().requires_grad_()
    again: Any = pn.NestedArray(values, x.structure)
    (again.contiguous() * 3.0).values().sum().backward()
    assert float(values.grad.sum()) == 3.0 * x.numel() if x.numel() else values.grad is None or not values.grad.any()
