"""Two arrays over one memory: a write through one is noticed where it would make a gradient of the other wrong."""

from __future__ import annotations

import copy
import pickle
import shutil
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends import sharing
from pynested.backends.errors import GradientError

Maker = Callable[[np.ndarray[Any, Any]], Any]
needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="the emulation needs g++")


@pytest.fixture(autouse=True, params=["owners", "addresses"])
def book(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is known of memory begins anew, by owners or by addresses."""
    monkeypatch.setattr(sharing, "_book", sharing._Book())
    if request.param == "addresses":
        sharing._book.look_at_addresses()


def pickled(x: Any) -> Any:
    """``x`` from the outside and back in the same memory."""
    buffers: list[Any] = []
    data = pickle.dumps(x, protocol=5, buffer_callback=buffers.append)
    return pickle.loads(data, buffers=buffers)


def windows(c: Any) -> Any:
    """All stretches of three numbers: places repeat, so only parts can be written."""
    return pn.array(c, copy=False).as_strided((4, 3), (1, 1))


def strided(c: Any) -> Any:
    return pn.nested_array_from_strided(c, [[4], [1]])


# Every way in: what is made of the six numbers of a NumPy array, in the same memory.
WAYS_IN: dict[str, Maker] = {
    "array": lambda c: pn.array(c, copy=False),
    "array of a part": lambda c: pn.array(c[1:5], copy=False),
    "array of a transposed view": lambda c: pn.array(c.reshape(2, 3).T, copy=False),
    "array of bytes": lambda c: pn.array(np.frombuffer(memoryview(c).cast("B"), np.float64), copy=False),
    "from_dlpack": lambda c: pn.from_dlpack(c),
    "from_dlpack of a part": lambda c: pn.from_dlpack(c[:3]),
    "from_dlpack of an array": lambda c: pn.from_dlpack(pn.array(c, copy=False)),
    "array of an array's values": lambda c: pn.array(pn.array(c, copy=False).numpy(), copy=False),
    "array of an asarray": lambda c: pn.array(np.asarray(pn.from_dlpack(c)), copy=False),
    "a pickle with buffers": lambda c: pickled(pn.array(c, copy=False)),
    "a shallow copy": lambda c: copy.copy(pn.from_dlpack(c)),
    "an operator": lambda c: pn.reshape(c, (3, 2)),
    "a view of a view": lambda c: pn.array(c, copy=False)[1:][2:],
    "jagged": lambda c: pn.nested_array_from_jagged(c, [0, 2, 6]),
    "jagged with holes": lambda c: pn.nested_array_from_jagged(c, [0, 3, 6], [2, 1]),
    "jagged around an array": lambda c: pn.nested_array_from_jagged(pn.from_dlpack(c), [0, 6]),
    "jagged of two dimensions": lambda c: pn.nested_array_from_jagged(c.reshape(3, 2), [0, 1, 3]),
    "strided": strided,
    "as_nested_array": lambda c: pn.as_nested_array(c.reshape(2, 3)),
    "as_nested_array, jagged": lambda c: pn.as_nested_array(c.reshape(2, 3), layout=pn.jagged),
    "narrow": lambda c: pn.narrow(c.reshape(2, 3), 1, 0, [1, 2], layout=pn.jagged),
    "values": lambda c: pn.nested_array_from_jagged(c, [0, 2, 6]).values(),
    "a part of windows": lambda c: windows(c)[:, 1],
    "a part of windows that come back": lambda c: pn.array(windows(c).numpy()[1:, 0], copy=False),
    "a component": lambda c: strided(c).unbind()[0],
    "a nested pickle with buffers": lambda c: pickled(pn.nested_array_from_jagged(c, [0, 2, 6])),
}


def noticed(saved: Any, write: Callable[[], Any]) -> None:
    """After ``write`` a gradient that needs the old values of ``saved`` is refused; right, where it has a copy."""
    x = pn.ones_like(saved).requires_grad_()
    needed = saved.clone() if isinstance(saved, pn.Array | pn.NestedArray) else pn.array(saved)
    y = (x * saved).sum()
    write()
    try:
        found = pn.grad(y, x)
    except GradientError as error:
        assert "overwritten in place" in str(error)
    else:
        assert pn.equal(found, needed)
        assert needed.is_nested
        assert not saved.structure.is_packed


@pytest.mark.parametrize("first", WAYS_IN)
@pytest.mark.parametrize("second", WAYS_IN)
def test_two_ways_to_one_memory(first: str, second: str) -> None:
    numbers = np.arange(1.0, 7.0)
    saved, other = WAYS_IN[first](numbers), WAYS_IN[second](numbers)
    bare = [x.data.data if x.is_nested else x.data for x in (saved, other)]
    assert np.shares_memory(bare[0], bare[1]) or "part" in first + second
    noticed(saved, lambda: other.mul_(100))
    assert 100 in numbers / np.arange(1.0, 7.0)


WRITES: dict[str, Callable[[Any], Any]] = {
    "mul_": lambda x: x.mul_(2),
    "add_": lambda x: x.add_(1),
    "copy_": lambda x: x.copy_(7.0),
    "fill_": lambda x: x.fill_(7.0),
    "zero_": lambda x: x.zero_(),
    "masked_fill_": lambda x: x.masked_fill_(x > 2, 0.0),
    "assignment": lambda x: x.__setitem__(0, 5.0),
    "assignment to a view": lambda x: x[0:1].__setitem__(slice(None), 5.0),
    "augmented": lambda x: x.__iadd__(1),
}


@pytest.mark.parametrize("way", ["from_dlpack", "jagged", "strided"])
@pytest.mark.parametrize("name", WRITES)
def test_every_write_is_noticed(name: str, way: str) -> None:
    numbers = np.arange(1.0, 7.0)
    source = numbers.reshape(3, 2) if way == "from_dlpack" else numbers
    noticed(pn.array(numbers, copy=False), lambda: WRITES[name](WAYS_IN[way](source)))
    noticed(numbers, lambda: WRITES[name](WAYS_IN[way](source)))  # as an operand of NumPy
    for theirs in (pn.jagged, pn.strided):  # memory of ours, handed out
        ours = pn.nested_array([[1.0, 2.0], [3.0, 4.0, 5.0, 6.0]], layout=theirs)
        out = np.asarray(ours.values())
        noticed(ours, lambda: WRITES[name](WAYS_IN[way](out.reshape(source.shape))))  # noqa: B023


def test_what_is_filled_in_place_of_a_result_is_noticed() -> None:
    numbers = np.zeros((2, 2))
    noticed(numbers, lambda: pn.to_padded_array(strided(np.ones(5))[:, :2], 0.0, (2, 2), pn.from_dlpack(numbers)))


def test_what_does_not_overlap_is_not_disturbed() -> None:
    numbers = np.frombuffer(bytearray(80), np.float64)
    first, second = np.frombuffer(numbers.data, count=4), np.frombuffer(numbers.data, offset=32)
    x = pn.array([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    y = (x * first).sum()
    pn.array(second, copy=False).fill_(9.0)
    assert pn.grad(y, x).tolist() == [0, 0, 0, 0]


@needs_compiler
@pytest.mark.parametrize("nested", [False, True])
def test_memory_of_a_device_that_goes_out_as_that_of_the_cpu(nested: bool) -> None:
    ours = pn.array([1.0, 2.0, 3.0], device="emulated")
    saved = pn.nested_array_from_jagged(ours, [0, 1, 3]) if nested else ours
    noticed(saved, lambda: pn.from_dlpack(ours).mul_(2))
    noticed(saved, lambda: pn.array(ours.numpy(), copy=False, device="cpu").mul_(2))
    there = pn.from_dlpack(ours)
    noticed(there, lambda: saved.mul_(2))
    assert (there.device, there.tolist()) == ("cpu", [8, 16, 24])


@pytest.mark.parametrize("layout", [None, pn.jagged, pn.strided], ids=["dense", "jagged", "strided"])
def test_memory_that_is_pickled_with_its_buffers(layout: Any) -> None:
    ours = pn.array([[1.0, 2.0]]) if layout is None else pn.nested_array([[1.0], [2.0, 3.0]], layout=layout)
    noticed(ours, lambda: pickled(ours).mul_(2))
    again = pickled(ours)
    noticed(again, lambda: ours.mul_(2))


def test_memory_of_the_leaf_itself() -> None:
    for x in (pn.array([1.0, 2.0], requires_grad=True), pn.nested_array([[1.0], [2.0]], requires_grad=True)):
        values = x.data if x.is_nested else x
        for out in (pn.from_dlpack(values.detach()), pn.array(values.detach().numpy(), copy=False)):
            y = (x * x).sum()
            out.mul_(100)
            with pytest.raises(GradientError, match="overwritten in place"):
                pn.grad(y, x)


# ---- views that were made where nothing is recorded ---------------------------------------------------------------
