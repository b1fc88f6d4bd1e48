"""How nested operands meet where lengths are 1: an irregular dimension never stretches, a regular one does."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import pynested as pn
from pynested.backends.errors import ShapeError, StructureError

from ..nests import LAYOUTS, PLACEMENTS, assert_same, batch, distinct, nest

ONES = batch([(1, 2), (1, 2)])  # ragged, and every length happens to be 1
OTHERS: dict[str, Any] = {
    "regular": nest(batch([(3, 2), (3, 2)], 1), pn.strided),
    "irregular": nest(batch([(3, 2), (2, 2)], 1), pn.strided),
    "some 1": nest(batch([(1, 2), (2, 2)], 1), pn.strided),
    "another ragged dimension": nest(batch([(3, 2), (3, 2)], 1), pn.jagged, "packed", 2),
    "jagged": nest(batch([(3, 2), (3, 2)], 1), pn.jagged),
}
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: x + y,
    "sub with alpha": lambda x, y: pn.sub(x, y, alpha=2),
    "lt": lambda x, y: x < y,
    "where": lambda x, y: pn.where(x > 0, x, y),
    "where with a dense operand": lambda x, y: pn.where(y > 0, x, distinct((2,))),
    "where with a larger dense operand": lambda x, y: pn.where(y > 0, x, distinct((3, 2))),
    "masked_fill": lambda x, y: pn.masked_fill(x, y > 0, 0.0),
    "elementwise": lambda x, y: pn.elementwise("f", pn.add, x, y),
    "copy_": lambda x, y: x.copy_(y),
    "assignment": lambda x, y: x.__setitem__(slice(None), y),
    "add_": lambda x, y: x.add_(y),
}


@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("name", CALLS)
def test_a_ragged_dimension_never_stretches(name: str, other: str, placement: str) -> None:
    x, y = nest(ONES, pn.jagged, placement), OTHERS[other]
    error = ShapeError if "larger dense" in name else StructureError  # which meets the first operand first
    for operands in ((x, y), (y.clone(), x)):
        with pytest.raises((StructureError, error), match="dimension 1|enlarge"):
            CALLS[name](*operands)


def test_nor_does_it_in_products() -> None:
    x = nest(batch([(1, 2, 3), (1, 2, 3)]), pn.jagged)
    for y in (nest(batch([(4, 3, 2)] * 2), pn.strided), nest(batch([(4, 3, 2), (1, 3, 2)]), pn.strided)):
        for call in (lambda a, b: a @ b, lambda a, b: b.transpose(2, 3) @ a.transpose(2, 3)):
            with pytest.raises(StructureError, match="regular and 1"):
                call(x, y)
    with pytest.raises(ShapeError, match="regular and 1"):
        x @ distinct((2, 4, 3, 2))
    thin = nest(batch([(1, 3, 2), (1, 3, 2)], 1), pn.strided)
    tall = batch([(2, 2, 3), (3, 2, 3)])
    expected = [a @ b.numpy() for a, b in zip(tall, thin, strict=True)]
    assert_same(nest(tall, pn.jagged) @ thin, expected)
    assert_same(nest(tall, pn.jagged) @ distinct((1, 1, 3, 2)), [a @ distinct((1, 1, 3, 2))[0] for a in tall])


@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("lengths", [(1, 1), (1, 2), (0, 3), (2, 2)])
@pytest.mark.parametrize("ragged", [1, 2])
def test_a_regular_one_stretches_and_the_layout_is_that_of_the_first(lengths: Any, ragged: int, placement: str) -> None:
    """Whatever the lengths are, so that the kind of a result does not depend on them."""
    shapes = [(n, 2) if ragged == 1 else (2, n) for n in lengths]
    components, thin = batch(shapes), batch([(1, 2) if ragged == 1 else (2, 1)] * 2, 1)
    expected = [a + b for a, b in zip(components, thin, strict=True)]
    x, y = nest(components, pn.jagged, placement, ragged), nest(thin, pn.strided, placement)
    assert_same(x + y, expected)
    assert_same(y + x, expected)
    assert ((x + y).layout, (y + x).layout) == (pn.jagged, pn.strided)
    assert (x + y).structure.ragged_dim == ragged and (x + y).regular_size(ragged) is None


def test_two_ragged_dimensions_are_strided() -> None:
    components = batch([(3, 2), (3, 2)])
    x, y = nest(components, pn.jagged), nest(components, pn.jagged, "packed", 2)
    assert_same(x * y, [one * one for one in components])
    assert (x * y).layout is pn.strided


@pytest.mark.parametrize("layout", LAYOUTS, ids=repr)
def test_the_message_names_what_does_not_meet(layout: Any) -> None:
    """And neither a dimension that stretches, nor an operand that fits."""
    thin, tall = nest(batch([(2, 1), (3, 1)]), layout), nest(batch([(2, 4), (2, 4)]), layout)
    with pytest.raises(
        StructureError, match=re.escape("component 1: lengths 3 and 2 along dimension 1 (shapes (3, 1)")
    ):
        thin + tall
    one, four = nest(batch([(2, 1), (3, 1)]), layout), nest(batch([(2, 4), (3, 4)]), layout)
    with pytest.raises(ShapeError, match=re.escape("size 5 where it meets length 4")):
        pn.where(one > 0, four, distinct((2, 1, 5)))
    with pytest.raises(StructureError, match="lengths 4 and 5 along dimension 2"):
        pn.where(one > 0, four, nest(batch([(2, 5), (3, 5)]), layout))
    with pytest.raises(ShapeError, match=re.escape("(2, 1, 4) and (5,)")):
        pn.where(one > 0, distinct((2, 1, 4)), distinct((5,)))
