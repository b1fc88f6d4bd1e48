"""Elements in order: the way there, and back into components."""

from __future__ import annotations

import numpy as np

import pynested as pn

from ..nests import assert_same, nest


def test_a_buffer_with_steps_becomes_one_without() -> None:
    """A strided array has a flat contiguous buffer, whatever its elements came from."""
    x = pn.nested_array_from_jagged(np.arange(8.0)[::-2], [0, 1, 4])
    shaped = pn.reshape_as(x, nest([np.zeros((1, 1)), np.ones((3, 1))], pn.strided))
    assert shaped.layout is pn.strided and shaped.values().is_contiguous()
    assert_same(shaped, [np.array([[7.0]]), np.array([[5.0], [3.0], [1.0]])])
