"""Memory: who may write where, who notices, and that what a caller keeps cannot change what we hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import GradientError, StructureError

LAYOUTS = pytest.mark.parametrize("layout", [pn.strided, pn.jagged], ids=["strided", "jagged"])


def leaf(layout: Any) -> Any:
    return pn.nested_array([[1.0, 2.0], [3.0]], layout=layout, requires_grad=True)


def test_offsets_are_int64_and_nobody_can_change_them() -> None:
    given = np.array([0, 2, 3], np.int32)
    nt = pn.nested_array_from_jagged(pn.arange(3.0), given)
    offsets = nt.offsets()
    assert offsets.dtype == np.int64
    given[1] = 1
    assert offsets.tolist() == [0, 2, 3]
    with pytest.raises(GradientError, match="read-only"):
        offsets.fill_(7)
    huge = 2**32
    with pytest.raises(StructureError, match=str(huge)):
        pn.nested_array_from_jagged(pn.arange(3.0), np.array([0, huge, 3]))


@LAYOUTS
def test_values_are_copied_from_a_list_and_shared_by_views(layout: Any) -> None:
    first = np.array([1.0, 2.0])
    nt = pn.nested_array([first, np.array([3.0])], layout=layout)
    copy = nt.clone()
    first[:] = 9.0
    nt.unbind()[1].fill_(4.0)
    assert nt.values().tolist() == [1.0, 2.0, 4.0]
    assert copy.values().tolist() == [1.0, 2.0, 3.0]
    nt.mul_(2)
    assert nt.unbind()[0].tolist() == [2.0, 4.0]


@LAYOUTS
def test_a_saved_value_that_is_overwritten_is_noticed(layout: Any) -> None:
    nt = leaf(layout)
    squares = nt * nt
    with pn.no_grad():
        nt.mul_(2)
    with pytest.raises(GradientError, match="overwritten"):
        squares.sum().backward()
    dense = pn.array([1.0, 2.0], requires_grad=True)
    powers = dense.exp()
    with pn.no_grad():
        powers.detach().mul_(2)
    with pytest.raises(GradientError, match="overwritten"):
        powers.sum().backward()


@LAYOUTS
def test_writes_that_would_not_be_recorded_are_refused(layout: Any) -> None:
    nt, dense = leaf(layout), pn.array([1.0], requires_grad=True)
    for write in (
        lambda: nt.mul_(2),
        lambda: nt.unbind()[0].fill_(0),
        lambda: dense.add_(1),
        lambda: dense.exp().neg_(),
    ):
        with pytest.raises(GradientError, match="functional form"):
            write()
    assert nt.values().detach().tolist() == [1.0, 2.0, 3.0]


@LAYOUTS
def test_gradients_add_up_in_memory_of_their_own(layout: Any) -> None:
    nt = leaf(layout)
    cotangent = pn.ones_like(nt)
    for _ in range(2):
        (nt * 3).backward(cotangent)
    assert nt.grad.values().tolist() == [6.0, 6.0, 6.0]
    (nt + 0).backward(cotangent)
    assert cotangent.values().tolist() == [1.0, 1.0, 1.0]


@LAYOUTS
def test_components_that_overlap_are_not_written(layout: Any) -> None:
    buffer = pn.arange(3.0)
    if layout is pn.jagged:
        nt = pn.nested_array_from_jagged(buffer, [0, 1, 3], [2, 2])
    else:
        nt = pn.nested_array_from_strided(buffer, [[2], [2]], None, [0, 1])
    with pytest.raises(StructureError, match="overlap"):
        nt.mul_(2)
    assert buffer.tolist() == [0.0, 1.0, 2.0]
