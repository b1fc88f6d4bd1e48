"""The driver of operators that keep the shape and work along one dimension, and how short the way through it is."""

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


def test_the_way_through_the_house_is_short(root: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.calls"]
    table = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    calls = {name.strip(): int(count) for name, count in re.findall(r"^(.+?) +(\d+) forward", table, re.MULTILINE)}
    most = {"softmax(x, 1)": 44, "x + y": 20, "x.transpose(1, 2) @ y": 100}
    assert calls.keys() == most.keys() and all(10 < calls[name] <= most[name] for name in most), table
