"""What operators make is freed as soon as nobody holds it: nothing is left that only the garbage collector frees."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import PynestedError

from ..batches import Batch, Call
from ..calls import CALLS
from ..nests import DENSE, KINDS, Kind, place
from ..support.samples import sample_arguments


@pytest.fixture(autouse=True)
def _nothing_collected() -> Iterator[None]:
    gc.collect()
    gc.freeze()  # so that a collection looks at new objects only
    gc.disable()
    yield
    gc.enable()


def left_by(call: Callable[..., object], *arguments: Any) -> int:
    """How many objects the collector finds after a call; what is made once and kept is not among them."""
    call(*arguments)
    gc.collect()
    call(*arguments)
    return gc.collect()


def pulled(result: Any) -> None:
    """The backward pass of a result, or of each of several."""
    for one in result if isinstance(result, tuple) else (result,):
        if isinstance(one, pn.Array | pn.NestedArray) and one.requires_grad:
            one.sum().backward()


def one_call(call: Call, kind: Kind, lengths: tuple[int, ...], placement: str) -> None:
    arguments, keywords = sample_arguments(call, Batch(kind, lengths), placement, grad=True)
    try:
        pulled(call.function(*arguments, **keywords))
    except PynestedError:
        return  # which calls are refused is looked at elsewhere


@pytest.mark.parametrize("placement", ["packed", "holes"])
def test_operators_and_their_gradients(placement: str) -> None:
    found = {
        f"{call} {kind}": count
        for call in CALLS
        for kind in call.forms
        for lengths in [(2, 3) if kind is not DENSE else (2, 2)]
        if (count := left_by(lambda *one: one_call(*one, placement), call, kind, lengths))
    }
    assert found == {}


def test_no_components() -> None:
    found = {
        f"{call} {kind}": count
        for call in CALLS
        for kind in call.kinds
        if (count := left_by(one_call, call, kind, (), "packed"))
    }
    assert found == {}


HOOKS: dict[str, Callable[[Any], Any]] = {
    "that looks": lambda gradient: None,
    "that answers": lambda gradient: gradient * 2,
}


@pytest.mark.parametrize("hook", HOOKS)
@pytest.mark.parametrize("placement", ["packed", "holes"])
def test_hooks(placement: str, hook: str) -> None:
    def call(kind: Kind | None, recorded: bool, passes: int, removed: bool) -> None:
        x: Any = pn.ones(3, 2, requires_grad=True)
        if kind is not None:
            components = [np.ones(shape) for shape in kind.shapes((2, 0, 3))]
            x = place(components, kind.layout, placement, kind.ragged, True).array
        x = x * 2 if recorded else x
        remove = x.register_hook(HOOKS[hook])
        for _ in range(passes):
            (x * x).sum().backward()
        if removed:
            remove()

    every = product((*KINDS, None), (False, True), (0, 1), (False, True))
    found = {
        f"{kind}, recorded {recorded}, passes {passes}, removed {removed}": count
        for kind, recorded, passes, removed in every
        if (count := left_by(lambda: call(kind, recorded, passes, removed)))  # noqa: B023
    }
    assert found == {}


def test_that_a_cycle_would_be_found() -> None:
    def cycle() -> None:
        one: list[Any] = []
        one.append(one)

    assert left_by(cycle) == 1
