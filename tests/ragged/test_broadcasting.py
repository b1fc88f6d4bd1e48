"""Broadcasting of nested operands: regular dimensions of size 1 stretch, irregular dimensions of lengths 1 do not."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

import pynested as pn
from pynested.backends.errors import ShapeError, StructureError

from ..nests import LAYOUTS, PLACEMENTS, assert_same, batch, distinct, nest

ONES = batch([(1, 2), (1, 2)])  # ragged, and every length happens to be 1
OTHERS = [
    *[nest(batch(shapes, 1), pn.strided) for shapes in ([(3, 2), (3, 2)], [(3, 2), (2, 2)], [(1, 2), (2, 2)])],
    *[nest(batch([(3, 2), (3, 2)], 1), pn.jagged, "packed", ragged) for ragged in (1, 2)],
]
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: x + y,
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


@pytest.mark.parametrize("name", CALLS)
def test_an_irregular_dimension_never_stretches(name: str) -> None:
    errors = (StructureError, ShapeError) if "larger dense" in name else StructureError
    for other, placement in product(OTHERS, PLACEMENTS):
        x = nest(ONES, pn.jagged, placement)
        for operands in ((x, other), (other.clone(), x)):
            with pytest.raises(errors, match="dimension 1|enlarge"):
                CALLS[name](*operands)


def test_products_stretch_regular_dimensions_only() -> None:
    x = nest(batch([(1, 2, 3), (1, 2, 3)]), pn.jagged)
    for y in (nest(batch([(4, 3, 2)] * 2), pn.strided), nest(batch([(4, 3, 2), (1, 3, 2)]), pn.strided)):
        for call in (lambda a, b: a @ b, lambda a, b: b.transpose(2, 3) @ a.transpose(2, 3)):
            with pytest.raises(StructureError, match="regular and 1"):
                call(x, y)
    with pytest.raises(ShapeError, match="regular and 1"):
        x @ distinct((2, 4, 3, 2))
    thin, tall = nest(batch([(1, 3, 2), (1, 3, 2)], 1), pn.strided), batch([(2, 2, 3), (3, 2, 3)])
    assert_same(nest(tall, pn.jagged) @ thin, [a @ b.numpy() for a, b in zip(tall, thin, strict=True)])
    dense = distinct((1, 1, 3, 2))
    assert_same(nest(tall, pn.jagged) @ dense, [a @ dense[0] for a in tall])


def test_the_first_operand_decides_the_layout_unless_two_dimensions_are_irregular() -> None:
    thin, wide = batch([(1, 2), (1, 2)], 1), batch([(1, 2), (3, 2)])
    x, y = nest(wide, pn.jagged), nest(thin, pn.strided)
    assert ((x + y).layout, (y + x).layout) == (pn.jagged, pn.strided)
    assert (x + y).structure.ragged_dim == 1 and (x + y).regular_size(1) is None
    components = batch([(3, 2), (3, 2)])
    products = nest(components, pn.jagged) * nest(components, pn.jagged, "packed", 2)
    assert_same(products, [x * x for x in components])
    assert products.layout is pn.strided


@pytest.mark.parametrize("layout", LAYOUTS, ids=repr)
def test_the_message_names_the_operands_that_differ(layout: Any) -> None:
    one, four = nest(batch([(2, 1), (3, 1)]), layout), nest(batch([(2, 4), (3, 4)]), layout)
    for call, error, text in (
        (lambda: one + nest(batch([(2, 4), (2, 4)]), layout), StructureError,
         "component 1: lengths 3 and 2 along dimension 1 (shapes (3, 1)"),
        (lambda: pn.where(one > 0, four, distinct((2, 1, 5))), ShapeError, "size 5 for length 4"),
        (lambda: pn.where(one > 0, four, nest(batch([(2, 5), (3, 5)]), layout)), StructureError,
         "lengths 4 and 5 along dimension 2"),
        (lambda: pn.where(one > 0, distinct((2, 1, 4)), distinct((5,))), ShapeError, "(2, 1, 4) and (5,)"),
    ):  # fmt: skip
        with pytest.raises(error, match=re.escape(text)):
            call()
