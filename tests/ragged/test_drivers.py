"""The driver of operators along one dimension, the packing of elements, and the number of calls that both take."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.autograd.rules import segment
from pynested.components.packing import in_buffer, packed
from pynested.components.runs import along

from ..nests import KINDS, PLACEMENTS, Kind, assert_same, batch, nest
from ..slopes import check_gradients

LENGTHS = [lengths for count in (1, 2, 3) for lengths in product((0, 1, 3), repeat=count)]


def shares(x: Any, dim: int) -> Any:
    """Each element less the sum of its run; rows must be those of the segments, and an axis one of the values."""

    def over_runs(rows: Any, segments: Any) -> Any:
        assert len(rows.data) == segments.rows
        return rows - segment.spread(segment.segment_sum(rows, segments), segments)

    return along("shares", x, dim, over_runs, lambda values, axis: values - values.sum(axis, keepdim=True))


@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("dim", [1, 2])
def test_every_run_is_met_once_and_alone(kind: Kind, dim: int, placement: str) -> None:
    for lengths in LENGTHS:
        components = batch(kind.shapes(lengths))
        result = shares(nest(components, kind.layout, placement, kind.ragged), dim)
        assert_same(result, [x - x.sum(dim - 1, keepdims=True) for x in components])
        assert result.layout is kind.layout and result.structure.tiles


@pytest.mark.parametrize("layout", [pn.jagged, pn.strided], ids=str)
def test_any_of_three_dimensions(layout: Any) -> None:
    for ragged, dim in product((1, 2, 3), repeat=2):
        components = [np.moveaxis(x, 0, ragged - 1) for x in batch([(2, 2, 3), (0, 2, 3), (1, 2, 3)])]
        result = shares(nest(components, layout, "packed", ragged), dim)
        assert_same(result, [x - x.sum(dim - 1, keepdims=True) for x in components])


def test_runs_without_elements_take_no_memory_however_many_they_are() -> None:
    x = pn.nested_array_from_strided(pn.ones(6), np.array([[2**40, 0], [3, 2]]))
    for dim in (1, 2):
        assert_same([shares(x, dim).unbind()[1]], [np.full((3, 2), -2.0 if dim == 1 else -1.0)])


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_no_components_keep_what_is_known_of_them(kind: Kind) -> None:
    x = nest(batch(kind.shapes((2, 3))), kind.layout, "packed", kind.ragged)[:0]
    for dim in (1, 2):
        assert shares(x, dim).regular == x.regular


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_gradients_pass(kind: Kind) -> None:
    components = batch(kind.shapes((2, 0, 1)))
    structure = nest(components, kind.layout, "packed", kind.ragged).structure
    values = nest(components, kind.layout, "packed", kind.ragged).values().numpy()
    for dim in (1, 2):
        check_gradients(lambda v, dim=dim: shares(pn.NestedArray(v, structure), dim), values)


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


def test_calls_within_an_operator_are_few(root: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.calls"]
    table = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    calls = {name.strip(): int(count) for name, count in re.findall(r"^(.+?)  .* (\d+) recorded", table, re.MULTILINE)}
    most = {"softmax(x, 1)": 44, "log1p(x)": 13, "x + y": 20, "x.transpose(1, 2) @ y": 100}
    assert calls.keys() == most.keys() and all(10 < calls[name] <= most[name] for name in most), table
