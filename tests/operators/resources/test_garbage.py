"""Reference counts alone free arrays and the tape of operators."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from pynested.backends.errors import PynestedError

from ...batches import Batch, Call
from ...nests import DENSE, Kind
from ...support.samples import EVERY, recorded, sample_arguments, samples


@pytest.fixture(autouse=True)
def _no_collection() -> Iterator[None]:
    gc.collect()
    gc.freeze()  # so that a collection looks at new objects only
    gc.disable()
    yield
    gc.enable()


def garbage_of(*calls: Callable[[], object]) -> int:
    """Return the number of objects that the collector frees after second calls; the first ones fill caches."""
    for _ in range(2):
        gc.collect()
        for call in calls:
            call()
    return gc.collect()


def run(call: Call, kind: Kind, lengths: tuple[int, ...], placement: str) -> None:
    arguments, keywords, _ = sample_arguments(call, Batch(kind, lengths), placement, grad=True)
    try:
        for part in recorded(call.function(*arguments, **keywords)):
            part.sum().backward()
    except PynestedError:
        return  # a refusal leaves no garbage either


@EVERY
def test_operators_and_their_gradients(every: bool) -> None:
    calls = {}
    for number, (call, kind) in enumerate(samples(every)):
        for placement in ("packed", "holes") if every else [("packed", "holes")[number % 2]]:
            for lengths in [(2, 2)] if kind is DENSE else [(2, 3), ()]:
                calls[f"{call} {kind} {lengths}, {placement}"] = partial(run, call, kind, lengths, placement)
    if garbage_of(*calls.values()):
        pytest.fail(str({name: count for name, call in calls.items() if (count := garbage_of(call))}))
