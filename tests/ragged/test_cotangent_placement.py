"""Nested arrays in the functions of autograd: where cotangents and tangents lie, and that they may lie anywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.autograd.containers import flatten, shown_in
from pynested.backends.errors import GradientError, StructureError

NAN = float("nan")
LAYOUTS = pytest.mark.parametrize("layout", [pn.jagged, pn.strided], ids=["jagged", "strided"])


def overlapping(layout: Any, values: Any) -> Any:
    """The components (a, b) and (b, c) of the buffer a, b, c."""
    if layout is pn.jagged:
        return pn.nested_array_from_jagged(pn.array(values), [0, 1, 3], [2, 2])
    return pn.nested_array_from_strided(pn.array(values), [[2], [2]], None, [0, 1])


def holed(layout: Any, values: Any) -> Any:
    """The components (a) and (c) of the buffer a, b, c."""
    if layout is pn.jagged:
        return pn.nested_array_from_jagged(pn.array(values), [0, 2, 3], [1, 1])
    return pn.nested_array_from_strided(pn.array(values), [[1], [1]], None, [0, 2])


@LAYOUTS
def test_a_tangent_moves_a_place_once_and_a_cotangent_is_the_sum(layout: Any) -> None:
    """Of f = a a + b b + b b + c c at (1, 2, 3): along (10, 20, 30) and by its gradient (2, 8, 6)."""
    x, v = overlapping(layout, [1.0, 2.0, 3.0]), overlapping(layout, [10.0, 20.0, 30.0])
    assert pn.jvp(lambda x: (x * x).sum(), x, v)[1].item() == 2 * 10 + 8 * 20 + 6 * 30
    y, pull = pn.vjp(lambda x: x * x, x)
    assert pull(pn.ones_like(y)).data.tolist() == [2, 8, 6]
    assert pn.hvp(lambda x: (x * x).sum(), x, v)[1].data.tolist() == [20, 80, 60]
    assert pn.gradcheck(lambda x: (x * x).sum(1), x)


@LAYOUTS
def test_a_tangent_of_places_that_repeat_lies_as_the_primal_does(layout: Any) -> None:
    x = overlapping(layout, [1.0, 2.0, 3.0])
    for other in (pn.ones_like(x), pn.nested_array([[1.0, 1.0], [1.0, 1.0]])):
        with pytest.raises(StructureError, match="jvp: components of the primal overlap"):
            pn.jvp(lambda x: x.sum(1), x, other)
    with pytest.raises(GradientError, match="jvp: the gradient of a nested array is nested"):
        pn.jvp(lambda x: x.sum(1), x, pn.ones(3))
    with pytest.raises(StructureError, match="jvp"):
        pn.jvp(lambda x: x.sum(1), x, pn.nested_array([[1.0], [1.0]]))


@LAYOUTS
def test_what_lies_in_the_holes_of_tangents_and_cotangents_does_not_move(layout: Any) -> None:
    x, v = holed(layout, [1.0, NAN, 3.0]), holed(layout, [10.0, NAN, 30.0])
    assert pn.jvp(lambda x: x.values() * 2, x, v)[1].tolist() == [20, 0, 60]
    assert pn.jvp(lambda x: x.values() * 2, x, pn.nested_array([[10.0], [30.0]]))[1].tolist() == [20, 0, 60]

    def both(values: Any) -> Any:
        """A hole, and two components that share a place."""
        return pn.nested_array_from_strided(pn.array(values), [[2], [2]], None, [1, 2])

    pushed = pn.jvp(lambda x: x.values() * 2, both([NAN, 1.0, 2.0, 3.0]), both([NAN, 10.0, 20.0, 30.0]))[1]
    assert pushed.tolist() == [0, 20, 40, 60]
    _, pull = pn.vjp(lambda x: x, x)
    assert pull(v).data.tolist() == [10, 0, 30]


def test_which_values_belong_to_a_nested_array() -> None:
    for layout in (pn.jagged, pn.strided):
        assert shown_in(overlapping(layout, [1.0, 2.0, 3.0])) == [None]
        assert [mask.tolist() for mask in shown_in(holed(layout, [1.0, 2.0, 3.0]))] == [[True, False, True]]
    whole = pn.nested_array([[1.0], [2.0]])
    value = {"a": (whole, 3), "b": [holed(pn.jagged, [1.0, 2.0, 3.0]), pn.array(1.0)]}
    masks = shown_in(value)
    assert [None if mask is None else mask.tolist() for mask in masks] == [None, [True, False, True], None]
    assert len(masks) == len(flatten(value)[0])


# A dense operand that goes to all components has a tangent that is the same everywhere: a view of one number.
FUNCTIONS: dict[str, Any] = {
    "a component": lambda x, b: (x + b)[0],
    "all components": lambda x, b: list((x + b).unbind()),
    "one by one": lambda x, b: pn.map_components(lambda c: c * 1.0, x + b),
    "again": lambda x, b: pn.checkpoint(lambda b: (x + b)[1] * 1.0, b),
    "transposed": lambda x, b: (x.unsqueeze(1) + b).transpose(1, 2)[0],
    "a slice": lambda x, b: (x + b)[:, :1],
    "in the other layout": lambda x, b: (x + b).to(layout=pn.jagged if x.layout is pn.strided else pn.strided)[1],
}


@LAYOUTS
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_tangents_of_what_went_to_all_components(layout: Any, name: str, device: str) -> None:
    """Every result is b plus a constant, so along v every element moves by v."""
    x = pn.nested_array([[1.0, 2.0], [3.0]], layout=layout, device=device)
    b, v = pn.array(1.0, device=device), pn.array(5.0, device=device)
    pushed = pn.jvp(lambda b: FUNCTIONS[name](x, b), (b,), (v,))[1]
    elements = [one.tolist() for one in flatten(pushed)[0]]
    assert np.concatenate([np.ravel(one) for one in elements]).tolist() == [5.0] * sum(map(np.size, elements))
    if device == "cpu":
        assert pn.gradcheck(lambda b: FUNCTIONS[name](x, b), b)
