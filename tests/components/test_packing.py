"""Elements in order: the way there, and back into components."""

from __future__ import annotations

import numpy as np

import pynested as pn
from pynested.components.packing import in_buffer, packed

from ..nests import assert_same, nest


def test_a_buffer_with_steps_becomes_one_without() -> None:
    """A strided array has a flat contiguous buffer, whatever its elements came from."""
    x = pn.nested_array_from_jagged(np.arange(8.0)[::-2], [0, 1, 4])
    shaped = pn.reshape_as(x, nest([np.zeros((1, 1)), np.ones((3, 1))], pn.strided))
    assert shaped.layout is pn.strided and shaped.values().is_contiguous()
    assert_same(shaped, [np.array([[7.0]]), np.array([[5.0], [3.0], [1.0]])])


def test_where_components_lie_is_worked_out_once() -> None:
    """Arrays of one structure and of the same steps share it, other steps and components with holes have their own."""
    x = pn.nested_array([np.ones((2, 3)), np.ones((1, 3))], layout=pn.jagged)
    wider, turned, holed = pn.cat([x, x], 2), x.transpose(1, 2), x[:, :1]
    placed = in_buffer(x)[1]
    assert in_buffer(x * 2)[1] is placed
    assert [one.tolist() for one in (placed.offsets, placed.strides)] == [[0, 6], [[3, 1]] * 2]
    found = {"wider": wider, "turned": turned, "copied": turned.contiguous(), "holed": holed, "tight": packed(holed)}
    offsets = {name: in_buffer(one)[1].offsets.tolist() for name, one in found.items()}
    assert offsets == {"wider": [0, 12], "turned": [0, 6], "copied": [0, 2], "holed": [0, 6], "tight": [0, 3]}
    assert in_buffer(turned)[1].strides.tolist() == [[1, 3]] * 2
    assert in_buffer(wider)[1].strides.tolist() == [[6, 1]] * 2
