"""Two arrays over one memory: a write through one is noticed if it would make a gradient of the other wrong.

`tests/backends/test_sharing.py` checks which memory is one, and `tests/operators/test_in_place.py` every way to write.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import GradientError

Maker = Callable[[np.ndarray[Any, Any]], Any]


def pickled(x: Any) -> Any:
    """Return an array in the same memory, by a pickle with buffers outside of it."""
    buffers: list[Any] = []
    data = pickle.dumps(x, protocol=5, buffer_callback=buffers.append)
    return pickle.loads(data, buffers=buffers)


def windows(c: Any) -> Any:
    """Return all stretches of three numbers, which overlap, so only parts of them can be written."""
    return pn.array(c, copy=False).as_strided((4, 3), (1, 1))


def strided(c: Any) -> Any:
    return pn.nested_array_from_strided(c, [[4], [1]])


# Every way in: arrays of the six numbers of a NumPy array, in the same memory.
WAYS_IN: dict[str, Maker] = {
    "array": lambda c: pn.array(c, copy=False),
    "array of a part": lambda c: pn.array(c[1:5], copy=False),
    "array of bytes": lambda c: pn.array(np.frombuffer(memoryview(c).cast("B"), np.float64), copy=False),
    "from_dlpack": lambda c: pn.from_dlpack(c),
    "from_dlpack of a part": lambda c: pn.from_dlpack(c[:3]),
    "array of an array's values": lambda c: pn.array(pn.array(c, copy=False).numpy(), copy=False),
    "a pickle with buffers": lambda c: pickled(pn.array(c, copy=False)),
    "a shallow copy": lambda c: copy.copy(pn.from_dlpack(c)),
    "an operator": lambda c: pn.reshape(c, (3, 2)),
    "jagged with holes": lambda c: pn.nested_array_from_jagged(c, [0, 3, 6], [2, 1]),
    "jagged around an array": lambda c: pn.nested_array_from_jagged(pn.from_dlpack(c), [0, 6]),
    "strided": strided,
    "as_nested_array": lambda c: pn.as_nested_array(c.reshape(2, 3)),
    "narrow": lambda c: pn.narrow(c.reshape(2, 3), 1, 0, [1, 2], layout=pn.jagged),
    "a part of windows": lambda c: windows(c)[:, 1],
    "a part of windows that come back": lambda c: pn.array(windows(c).numpy()[1:, 0], copy=False),
    "a nested pickle with buffers": lambda c: pickled(pn.nested_array_from_jagged(c, [0, 2, 6])),
}


def check_noticed(saved: Any, write: Callable[[], Any]) -> None:
    """Check that ``write`` makes a gradient that needs ``saved`` an error, or that the tape has a copy."""
    x = pn.ones_like(saved).requires_grad_()
    needed = saved.clone() if isinstance(saved, pn.Array | pn.NestedArray) else pn.array(saved)
    y = (x * saved).sum()
    write()
    try:
        gradient = pn.grad(y, x)
    except GradientError as error:
        assert "overwritten in place" in str(error)
    else:
        assert pn.equal(gradient, needed)
        assert needed.is_nested
        assert not saved.structure.is_packed


@pytest.mark.parametrize("other", ["array", "from_dlpack of a part", "jagged with holes"])
@pytest.mark.parametrize("way", WAYS_IN)
def test_two_ways_into_one_memory(way: str, other: str) -> None:
    for first, second in ((way, other), (other, way)):
        numbers = np.arange(1.0, 7.0)
        saved, written = WAYS_IN[first](numbers), WAYS_IN[second](numbers)
        buffers = [x.data.data if x.is_nested else x.data for x in (saved, written)]
        assert np.shares_memory(*buffers) or "part" in first + second
        check_noticed(saved, lambda written=written: written.mul_(100))
        assert 100 in numbers / np.arange(1.0, 7.0)


def test_operands_of_numpy_and_results_that_are_filled() -> None:
    numbers = np.ones((2, 2))
    check_noticed(numbers, lambda: pn.from_dlpack(numbers).mul_(2))
    nested = strided(np.ones(5))[:, :2]
    check_noticed(numbers, lambda: pn.to_padded_array(nested, 0.0, (2, 2), pn.from_dlpack(numbers)))


OURS: dict[str, Callable[[], Any]] = {
    "dense": lambda: pn.array([1.0, 2.0, 3.0]),
    "jagged": lambda: pn.nested_array([[1.0], [2.0, 3.0]], layout=pn.jagged),
    "strided": lambda: pn.nested_array([[1.0], [2.0, 3.0]], layout=pn.strided),
}
WAYS_OUT: dict[str, Maker] = {
    "from_dlpack": lambda x: pn.from_dlpack(x.data if x.is_nested else x),
    "numpy": lambda x: pn.array((x.data if x.is_nested else x).numpy(), copy=False, device="cpu"),
    "a pickle with buffers": pickled,
}


@pytest.mark.parametrize("way", WAYS_OUT)
@pytest.mark.parametrize("name", OURS)
def test_memory_of_ours_that_goes_out_and_comes_back(name: str, way: str) -> None:
    ours = OURS[name]()
    back = WAYS_OUT[way](ours)
    assert back.device == "cpu"
    check_noticed(ours, lambda: back.mul_(2))
    check_noticed(back, lambda: ours.mul_(2))
    values = back.data if back.is_nested else back
    assert values.tolist() == [4, 8, 12]


def test_memory_of_the_leaf_itself() -> None:
    for x in (pn.array([1.0, 2.0], requires_grad=True), pn.nested_array([[1.0], [2.0]], requires_grad=True)):
        values = x.data if x.is_nested else x
        for out in (pn.from_dlpack(values.detach()), pn.array(values.detach().numpy(), copy=False)):
            y = (x * x).sum()
            out.mul_(100)
            with pytest.raises(GradientError, match="overwritten in place"):
                pn.grad(y, x)
