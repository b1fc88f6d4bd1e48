"""Operators along one dimension: huge empty segments, buffers with steps, and the number of calls they take."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np

import pynested as pn

from ..nests import assert_same, nest


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
    limits = {"softmax(x, 1)": (13, 22), "log1p(x)": (9, 24), "x + y": (10, 16), "x.transpose(1, 2) @ y": (80, 105)}
    assert [name.strip() for name, *_ in rows] == list(limits), table
    for name, plain, recorded in rows:
        limit_plain, limit_recorded = limits[name.strip()]
        assert 5 < int(plain) <= limit_plain, table
        assert int(plain) < int(recorded) <= limit_recorded, table
