"""Nested arrays over a buffer: no component leaves it, metadata is copied and checked, and windows take no memory.

Metadata is checked also when it is unpickled. Windows show few elements many times, and huge components have none; both
are written to where no element repeats.
"""

from __future__ import annotations

import itertools
import os
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError, DimensionError, DTypeError, GradientError, StructureError
from pynested.structure import Jagged, Strided

from ..nests import assert_same, distinct

ROWS, FLAT = distinct((6, 2)), distinct((8,))


class Unpickled:
    """Pickles as damaged or malicious bytes would: a class and any arguments."""

    def __init__(self, *parts: Any) -> None:
        self.parts = parts

    def __reduce__(self) -> Any:
        return self.parts[0], self.parts[1:]


def unpickled(*parts: Any) -> Any:
    return pickle.loads(pickle.dumps(Unpickled(*parts)))


JAGGED_ERRORS: list[tuple[Any, Any, type[Exception], str]] = [
    ([1, 6], None, StructureError, "run from 1"), ([0, 4, 2, 6], None, StructureError, "component 1"),
    ([0, 5], None, StructureError, "to 5"), ([0, 7], None, StructureError, "to 7"),
    ([], None, StructureError, "empty"), ([[0, 6]], None, StructureError, "1 dimension"),
    ([0, 3, 6], [3], StructureError, "2, lengths"), ([0, 3, 6], [3, -1], StructureError, "component 1"),
    ([0, 6], [7], StructureError, "component 0"), ([0, 2**63 - 1], [2**63 - 1], StructureError, "component 0"),
    ([-1, 3], [2], StructureError, "component 0"), ([5, 6], [2], StructureError, "component 0"),
    ([7, 7], [0], StructureError, "component 0"),
    *[(offsets, None, DTypeError, "integers") for offsets in ([0.0, 6.0], [False, True], ["0", "6"])],
    *[(pn.nested_array(nested), None, ArgumentError, "offsets must be dense") for nested in ([[0, 6]], [[0], [1, 6]])],
    ([0, 6], pn.nested_array([6]), ArgumentError, "lengths must be dense"),
]  # fmt: skip
STRIDED_ERRORS: list[tuple[Any, Any, Any, type[Exception], str]] = [
    ([[9]], None, None, StructureError, "component 0"), ([[2], [2]], [[1], [7]], [0, 2], StructureError, "component 1"),
    ([[2]], [[-1]], [3], StructureError, "component 0"), ([[2]], [[1]], [-1], StructureError, "component 0"),
    ([[2]], [[1]], [7], StructureError, "component 0"), ([[-2]], None, None, StructureError, "negative"),
    ([[1]], [[1, 1]], [0], StructureError, "(B, d)"), ([[1]], [[1]], [0, 0], StructureError, "(B, d)"),
    ([1], None, None, StructureError, "2 dimensions"), ([[1] * 64], None, None, StructureError, "64"),
    ([[3]], [[2**63 - 1]], [0], StructureError, "component 0"), ([[2**62]], [[4]], [0], StructureError, "component 0"),
    ([[2**32, 2**32]], [[0, 0]], [0], StructureError, "component 0"),
    ([[2]], [[1]], [2**63 - 1], StructureError, "component 0"),
    ([[5, 2**62]], [[0, 0]], [0], StructureError, "component 0"),
    ([[2**58]] * 4, [[0]] * 4, [0] * 4, StructureError, "the batch has too many elements"),
    ([[3]], [[-1]], [5], StructureError, "and offset 5 is invalid: strides and offsets must be 0 or more"),
    ([[3]], [[3]], [2], StructureError, "leaves the buffer of 8 elements: its last element would be at 8"),
    *[(sizes, None, None, DTypeError, "integers") for sizes in ([[2.0]], [[True]])],
]  # fmt: skip


@pytest.mark.parametrize(("offsets", "lengths", "error", "text"), JAGGED_ERRORS)
def test_jagged_metadata_that_does_not_fit(offsets: Any, lengths: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=re.escape(text)):
        pn.nested_array_from_jagged(ROWS, offsets, lengths)
    with pytest.raises(error):
        pn.NestedArray(pn.array(ROWS), unpickled(Jagged, offsets, lengths))


@pytest.mark.parametrize(("sizes", "strides", "offsets", "error", "text"), STRIDED_ERRORS)
def test_strided_metadata_that_does_not_fit(sizes: Any, strides: Any, offsets: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=re.escape(text)):
        pn.nested_array_from_strided(FLAT, sizes, strides, offsets)
    with pytest.raises(error, match=re.escape(text)):
        unpickled(Strided, sizes, strides, offsets, 8)


NONE, VALUES = np.zeros((0, 2), int), pn.array(np.arange(6.0).reshape(3, 2))
ERRORS: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: pn.nested_array_from_jagged(ROWS), StructureError, "At least one"),
    (lambda: pn.nested_array_from_jagged(ROWS, lengths=[1, 6]), StructureError, "add up to 7"),
    (lambda: pn.nested_array_from_jagged(ROWS, lengths=[-1, 7]), StructureError, "component 0"),
    (lambda: pn.nested_array_from_jagged(ROWS, lengths=[2**62] * 4), StructureError, "component 0"),
    (lambda: pn.nested_array_from_jagged(ROWS, [0, 2, 6], max_seqlen=3), StructureError, "max_seqlen"),
    (lambda: pn.nested_array_from_jagged(ROWS, [0, 2, 6], min_seqlen=3), StructureError, "min_seqlen"),
    *[(lambda dim=dim: pn.nested_array_from_jagged(ROWS, [0, 6], jagged_dim=dim), DimensionError, "jagged_dim")
      for dim in (0, 3, -1)],
    (lambda: pn.nested_array_from_jagged(np.array(1.0), [0, 1]), DimensionError, "values without dimensions"),
    (lambda: pn.narrow(ROWS, 1, pn.nested_array([[1]]), 1), ArgumentError, "narrow: start must be dense"),
    (lambda: pn.nested_array_from_strided(ROWS, [[2]]), StructureError, "flat"),
    (lambda: unpickled(Jagged, [0, 3], None, 0), DimensionError, "Jagged"),
    (lambda: unpickled(Jagged, [0, 3], None, 1.0), ArgumentError, "Jagged"),
    (lambda: unpickled(Strided, [[2]], [[1]], [0], "3"), ArgumentError, "Strided"),
    *[(lambda regular=regular: unpickled(Strided, NONE, None, None, 0, regular), StructureError, "Strided")
      for regular in ((1, 2, 3), (1, -2), (2**40, 2**40))],
    *[(lambda values=values, structure=structure: pn.NestedArray(values, structure), error, "NestedArray: ")
      for values, structure, error in (
          (VALUES, Jagged([0, 2]), StructureError), (VALUES, Jagged([0, 4]), StructureError),
          (VALUES, Jagged([0, 3], None, 2), StructureError), (VALUES, Jagged([0, 3], None, 3), StructureError),
          (VALUES, Jagged([1, 0], [3]), StructureError), (pn.zeros((1,) * 64), Jagged([0, 1]), StructureError),
          (VALUES, Strided([[3, 2]], None, None, 6), StructureError),
          (VALUES[0], Strided([[1, 2]], None, None, 3), StructureError),
          (VALUES[:, 0], Strided([[1, 3]], None, None, 3), StructureError),
          (np.zeros(3), Jagged([0, 3]), ArgumentError), (VALUES, None, ArgumentError), (VALUES, Jagged, ArgumentError),
      )],
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "text"), ERRORS, ids=itertools.count())
def test_other_arguments_that_do_not_fit(call: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


def test_read_only_views_of_memory_that_changes_later_are_copied() -> None:
    offsets, sizes = np.array([0, 6]), np.array([[2], [1]])
    views = [array[:] for array in (offsets, sizes)]
    for view in views:
        view.setflags(write=False)
    jagged, strided = pn.nested_array_from_jagged(ROWS, views[0]), pn.nested_array_from_strided(FLAT[:3], views[1])
    offsets[1] = sizes[0] = 99
    assert_same(jagged, [ROWS])
    assert_same(strided, [FLAT[:2], FLAT[2:3]])


def test_lengths_that_leave_a_tail() -> None:
    values = pn.array(np.append(ROWS, [[np.nan, np.nan]], axis=0), requires_grad=True)
    x = pn.nested_array_from_jagged(values, lengths=[2, 0, 4])
    assert x.lengths().tolist() == [2, 0, 4] and x.offsets().tolist() == [0, 2, 2, 6] and x.is_contiguous()
    assert pn.nested_array_from_jagged(values, lengths=[3, 4]).lengths() is None
    (x * x).sum().backward()
    assert values.grad.tolist() == [*(2 * ROWS).tolist(), [0.0, 0.0]]


def test_a_contiguous_array_has_packed_offsets_and_strides_even_if_no_element_depends_on_them() -> None:
    row = pn.nested_array([np.ones((1, 3)), np.ones((1, 2))])
    arrays = [
        (pn.nested_array_from_strided(pn.arange(3), [[2], [0], [1]], offsets=[0, 0, 2]), [0, 2, 2], [[1], [1], [1]]),
        (pn.nested_array_from_jagged(pn.ones(5, 0), [0, 2, 5]).to(layout=pn.strided), [0, 0], [[1, 1], [1, 1]]),
        (pn.nested_array([[1, 2], [3]])[:, :0], [0, 0], [[1], [1]]),
        (row.transpose(1, 2), [0, 3], [[1, 1], [1, 1]]),
    ]
    for x, offsets, strides in arrays:
        packed = x.contiguous()
        assert packed.offsets().tolist() == offsets and packed.component_strides().tolist() == strides
        assert packed.data.storage is x.data.storage and packed.contiguous() is packed


# The program runs with 3 GiB of memory; each of its arrays shows 2 GiB of elements or more, up to 8 TiB.
LIMITED = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (3 * 2**30,) * 2)
import numpy as np
import pynested as pn
from pynested.backends.errors import StructureError

def check(x):
    assert not x.is_contiguous() and x.numel() >= 2**28 and len(x.unbind()) == len(x) == len(list(x))
    assert "..." in repr(x) and x.shape
    try:
        x.mul_(2.0)
        raise AssertionError("a write into elements that repeat is not refused")
    except StructureError:
        pass
    first = x[0]
    assert first.shape == x.component_shape(0) and first[(-1,) * first.ndim].item() == 1
    assert x[:, :2].numel() < 2**40 and x[:, ::2**62].numel() >= 1
    first[(0,) * first.ndim] = 1.0

for device in ("cpu", "emulated"):
    buffer = pn.array(np.ones(4), device=device)
    for sizes, strides in (
        ([[2**28]], [[0]]), ([[2**40]], [[0]]), ([[2**28, 2]], [[0, 3]]), ([[2, 2**30]], [[1, 0]]),
        ([[2**30, 2], [2**31, 2]], [[0, 1], [0, 2]]), ([[2**20, 2, 2**20]], [[0, 1, 0]]),
    ):
        check(pn.nested_array_from_strided(buffer, sizes, strides, [0] * len(sizes)))
    windows = buffer.as_strided((2**40,), (0,))
    windows[5] = 1.0
    for layout in (pn.jagged, pn.strided):
        for sizes, dims in (((0, 2**31), (1, 2)), ((2**31, 0), (1, 2)), ((0, 2**20, 2**11), (1, 3))):
            data = pn.array(np.zeros(sizes, np.float32), device=device)
            x = pn.as_nested_array(data[None], layout=layout).requires_grad_()
            for dim in dims:
                for dense, y in ((False, pn.softmax(x, dim)), (True, pn.softmax(data.requires_grad_(), dim - 1))):
                    assert y.shape[dim - dense:] == (data if dense else x).shape[dim - dense:]
                    y.backward(pn.zeros_like(y) if not dense else data.detach())
            if layout is pn.jagged or 0 not in sizes[:1]:
                y = pn.layer_norm(x, sizes[-1])
                y.backward(pn.zeros_like(y))
        scores = pn.as_nested_array(pn.array(np.zeros((1, 0, 2**31), np.float32), device=device), layout=layout)
        labels = pn.as_nested_array(pn.array(np.zeros((1, 0), np.int64), device=device), layout=layout)
        pn.cross_entropy(scores.requires_grad_(), labels, label_smoothing=0.5).backward()
    for sizes in ([[0, 2**31], [0, 3]], [[2**31, 0], [3, 0]]):
        x = pn.nested_array_from_strided(pn.array(np.zeros(0), device=device), sizes).requires_grad_()
        turned = x.transpose(1, 2).contiguous()
        for y in (pn.softmax(x, 1), pn.softmax(x, 2), x + 1.0, x * x, turned, pn.cat([x, x], 2)):
            y.backward(pn.zeros_like(y))
print("held")
"""


def test_they_take_no_memory(root: Path) -> None:
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(root)}
    command = [sys.executable, "-W", "error", "-c", LIMITED]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)
    assert (done.stdout, done.stderr) == ("held\n", "")


def test_parts_in_which_no_element_repeats_are_written() -> None:
    memory = np.arange(6.0)
    x = pn.nested_array_from_strided(memory, [[2, 3], [1, 2]], [[0, 1], [2, 1]], [0, 3])
    before = x.data.storage.version
    x[0][1] = 7.0
    x[0][0, ::2] = pn.array([8.0, 9.0])
    x[0, 1, 1] = 6.0
    x[0][0][2:].mul_(10.0)
    x[1:2].add_(1.0)
    assert memory.tolist() == [8.0, 6.0, 90.0, 4.0, 5.0, 5.0] and x.data.storage.version == before + 5
    for write in (lambda: x[0][:, 1].zero_(), lambda: x[0].__setitem__((slice(None), 0), 1.0)):
        with pytest.raises(GradientError, match="elements repeat"):
            write()


def test_views_of_dense_arrays_in_which_elements_repeat() -> None:
    x = pn.arange(4.0)
    view = x.as_strided((3, 2), (1, 1))
    nested = pn.nested_array_from_jagged(view, [0, 1, 3])
    for write, text in ((view.fill_, "elements repeat"), (nested.fill_, "read-only")):
        with pytest.raises(GradientError, match=text):
            write(1.0)
    view[1] = pn.array([5.0, 6.0])
    x.as_strided((2, 2), (2, 1))[:, 0] = 9.0
    assert x.tolist() == [9.0, 5.0, 9.0, 3.0]
    nested[0][0, 1] = 7.0
    assert x.tolist() == [9.0, 7.0, 9.0, 3.0]
