"""The default device and the default dtype: nested blocks, blocks that are entered again, and threads."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

import pynested as pn


class Default(NamedTuple):
    """Functions that set and read a default, one that makes an array and reads it there, and two values."""

    set: Callable[[Any], Any]
    get: Callable[[], Any]
    of_new_array: Callable[[], Any]
    first: Any
    other: Any


DEVICE = Default(pn.set_default_device, pn.get_default_device, lambda: pn.zeros(1).device, "cpu", "emulated")
DTYPE = Default(pn.set_default_dtype, pn.get_default_dtype, lambda: pn.zeros(1).dtype, pn.float64, pn.float32)
needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="the emulation needs g++")


@pytest.fixture(params=[pytest.param(DEVICE, marks=needs_compiler, id="device"), pytest.param(DTYPE, id="dtype")])
def default(request: pytest.FixtureRequest) -> Iterator[Default]:
    yield request.param
    request.param.set(None)


def test_a_block_ends_and_a_call_without_one_lasts(default: Default) -> None:
    with default.set(default.other):
        for value in (default.first, None):
            with default.set(value):
                assert default.get() == default.of_new_array() == default.first
        assert default.get() == default.of_new_array() == default.other
    with pytest.raises(RuntimeError, match="inside"), default.set(default.other):
        raise RuntimeError("inside")
    assert default.get() == default.of_new_array() == default.first
    assert repr(default.set(default.other)).endswith(f" {str(default.other)!r}>")
    assert default.get() == default.of_new_array() == default.other


def test_a_block_can_be_entered_again(default: Default) -> None:
    first, other = default.first, default.other
    kept = default.set(other)
    default.set(first)
    for _ in range(2):
        with kept:
            assert default.get() == other
        assert default.get() == first
    with kept, default.set(first):
        with kept:
            with kept:
                assert default.get() == other
            assert default.get() == other
        assert default.get() == first
    assert default.get() == first
    made = default.set(other)
    with made:
        with made:
            assert default.get() == other
        assert default.get() == other
        latest = default.set(first)
    assert default.get() == first
    with latest:
        assert default.get() == first
    assert default.get() == first


def test_only_a_block_right_after_its_call_restores_what_was_before_the_call(default: Default) -> None:
    latest = default.set(default.first)
    default.set(default.other)
    with latest:
        assert default.get() == default.first
    assert default.get() == default.other
    with default.set(default.first):
        assert default.get() == default.first
    assert default.get() == default.other


def test_every_thread_has_its_own(default: Default) -> None:
    kept, seen = default.set(default.other), []
    default.set(default.first)

    def work() -> None:
        seen.extend([default.get(), default.of_new_array()])
        with kept:
            seen.append(default.get())
        seen.append(default.get())

    with kept:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert seen == [default.first, default.first, default.other, default.first]
        assert default.get() == default.of_new_array() == default.other
    assert default.get() == default.first
