"""Operators of dense arrays lifted to nested ones: broadcasting, and operators along one dimension.

Regular dimensions of size 1 broadcast; irregular dimensions never do, also if every length is 1.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ShapeError, StructureError

from ..nests import assert_same, batch, distinct, nest

# ---- broadcasting ---------------------------------------------------------------------------------------------------


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


def test_a_result_with_two_irregular_dimensions_is_strided() -> None:
    components = batch([(3, 2), (3, 2)])
    products = nest(components, pn.jagged) * nest(components, pn.jagged, "packed", 2)
    assert_same(products, [x * x for x in components])
    assert products.layout is pn.strided


# ---- along one dimension --------------------------------------------------------------------------------------------


def test_segments_without_elements_take_no_memory_however_many_they_are() -> None:
    x = pn.nested_array_from_strided(pn.ones(6), np.array([[2**40, 0], [3, 2]]))
    for dim in (1, 2):
        assert_same([pn.cumsum(x, dim).unbind()[1]], [np.ones((3, 2)).cumsum(dim - 1)])


def test_a_buffer_with_steps_becomes_one_without() -> None:
    """A strided array has a flat contiguous buffer, also if its elements came from a jagged array of other memory."""
    x = pn.nested_array_from_jagged(np.arange(8.0)[::-2], [0, 1, 4])
    shaped = pn.reshape_as(x, nest([np.zeros((1, 1)), np.ones((3, 1))], pn.strided))
    assert shaped.layout is pn.strided and shaped.values().is_contiguous()
    assert_same(shaped, [np.array([[7.0]]), np.array([[5.0], [3.0], [1.0]])])


def test_an_operator_enters_few_functions(root: Path) -> None:
    """Both operands are nested and have one structure; the first number is without gradients, the second with them."""
    command = [sys.executable, "-m", "benchmarks.calls"]
    table = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    rows = re.findall(r"^(.+?)  .* (\d+) plain .* (\d+) recorded", table, re.MULTILINE)
    limits = {"softmax(x, 1)": (13, 18), "log1p(x)": (10, 17), "x + y": (10, 14), "x.transpose(1, 2) @ y": (78, 93)}
    assert [name.strip() for name, *_ in rows] == list(limits), table
    for name, plain, recorded in rows:
        limit_plain, limit_recorded = limits[name.strip()]
        assert 5 < int(plain) <= limit_plain, table
        assert int(plain) < int(recorded) <= limit_recorded, table
