"""What is live and what was used again; and that nothing but a result stays."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import pynested as pn
from pynested.backends import memory as pieces


def ragged(**options: object) -> pn.NestedArray:
    return pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged, **options)  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_memory_counts_living_storages_by_device(device: str) -> None:
    before = pn.memory().live.get(device, (0, 0))
    x = pn.zeros(10, device=device)
    view = x[2:]
    count, size = pn.memory().live[device]
    assert (count - before[0], size - before[1]) == (1, 80) and view.storage is x.storage
    assert f"live on {device}: {count:,} storages" in str(pn.memory())
    del x, view
    assert pn.memory().live.get(device, (0, 0)) == before


def test_large_pieces_are_counted_fresh_reused_kept_and_at_their_peak() -> None:
    pieces.release_kept()
    start = pn.memory()
    x = pn.empty(pieces.LARGE)
    held = pn.memory()
    size = held.large - start.large
    assert size >= 8 * pieces.LARGE and held.peak >= held.large
    assert (held.fresh - start.fresh, held.reused - start.reused) == (1, 0)
    del x
    assert (pn.memory().large, pn.memory().kept) == (start.large, size)
    x = pn.empty(pieces.LARGE)
    assert (pn.memory().reused - start.reused, pn.memory().kept) == (1, 0)
    assert pn.memory().peak >= held.large
    del x
    pieces.release_kept()


@pytest.mark.parametrize(("layout", "device"), [(pn.jagged, "cpu"), (pn.strided, "emulated")])
def test_forward_and_backward_leave_nothing_but_the_result(layout: pn.Layout, device: str) -> None:
    x = pn.nested_array([[1.0, 2.0], [], [3.0]], layout=layout, device=device, requires_grad=True)
    with pn.leak_check() as check:
        y = check.result((x.softmax(-1) * x + 1).sum())
        y.backward()
        check.result(x.grad)
    with pn.leak_check() as check:
        check.result([pn.exp(x)])


def test_what_else_stays_is_told() -> None:
    kept = []
    with pytest.raises(AssertionError, match="leak_check: 3 storages") as caught, pn.leak_check():
        tmp = pn.zeros(3)
        kept.append(pn.zeros(5))
        cycle = [pn.zeros(7)]
        cycle.append(cycle)  # type: ignore[arg-type]
        assert not gc.isenabled()
        del cycle
    text = str(caught.value)
    assert "24 bytes on cpu, held by tmp;" in text and tmp.shape == (3,)
    assert "40 bytes on cpu, held by no variable of this block;" in text
    assert "56 bytes on cpu, in a cycle." in text
    assert gc.isenabled()


def test_a_cycle_is_told_however_much_was_made_in_the_block() -> None:
    """Python collects garbage after some hundreds of new objects, as soon as it may."""
    with pytest.raises(AssertionError, match="56 bytes on cpu, in a cycle"), pn.leak_check():
        cycle = [pn.zeros(7)]
        cycle.append(cycle)  # type: ignore[arg-type]
        del cycle
        many = [[i] for i in range(10_000)]
    assert len(many) == 10_000 and gc.isenabled()


def test_an_error_inside_a_leak_check_comes_through() -> None:
    kept = []
    with pytest.raises(ZeroDivisionError), pn.leak_check():
        kept.append(ragged())
        raise ZeroDivisionError
    assert gc.isenabled()


def test_the_history_of_a_result_may_stay() -> None:
    class Cube(pn.Function):
        @staticmethod
        def forward(context, x):  # type: ignore[no-untyped-def]
            context.save_for_backward(x * 1)
            return x * x * x

        @staticmethod
        def backward(context, g):  # type: ignore[no-untyped-def]
            (x,) = context.saved
            return g * 3 * x * x

    x = pn.array(np.ones(3), requires_grad=True)
    with pn.leak_check() as check:
        y = check.result(Cube.apply(pn.exp(x)))
    assert y.requires_grad
