"""A forked child finds every lock free, whatever other threads of its parent were doing, and starts threads anew."""

from __future__ import annotations

import functools
import os
import queue
import threading
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends import memory
from pynested.backends.cached import cached_property
from pynested.backends.forking import Lock
from pynested.backends.numpy import running
from pynested.structure import sizes

from ..forked import in_child

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]

# What a thread may hold, or wait for: Python 3.11's cached_property has a lock as well.
HELD = (
    type(threading.Lock()), type(threading.RLock()), threading.Condition, threading.Semaphore, threading.Event,
    threading.Barrier, Executor, queue.Queue, queue.SimpleQueue, functools.cached_property,
)  # fmt: skip


def attributes(value: Any) -> dict[str, Any]:
    """Those of an instance, slots too, or of a class."""
    slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    return {**getattr(value, "__dict__", {}), **{name: getattr(value, name, None) for name in slots}}


def held_by_modules(names: list[str]) -> dict[str, Any]:
    """Everything of the kinds in HELD that a module has, or a class of its own, or an object of a class of ours."""
    found = {}
    for module in names:
        for name, value in list(vars(import_module(module)).items()):
            owner = value.__module__ == module if isinstance(value, type) else "pynested" in type(value).__module__
            inner = attributes(value) if owner else {}
            paths = {"": value, **{f".{attribute}": one for attribute, one in inner.items()}}
            found |= {f"{module}.{name}{path}": one for path, one in paths.items() if isinstance(one, HELD)}
    return found


@pytest.fixture
def names(modules: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The modules that can be imported without optional packages; the pool of threads is at work."""
    monkeypatch.setattr(running, "THREADS", 2)
    running.run(lambda job: None, [(0,), (1,)], running.THREAD_BYTES)
    return [name for name in modules if ".adapters." not in name and not name.endswith("__main__")]


def survivors(names: list[str]) -> list[str]:
    """What a forked child shares with its parent."""
    before = held_by_modules(names)

    def same() -> str:
        after = held_by_modules(names)
        return " ".join(path for path, one in before.items() if after.get(path) is one)

    return in_child(same).split()


def test_every_lock_and_pool_is_renewed(names: list[str]) -> None:
    found = set(held_by_modules(names))
    assert {"pynested.structure.sizes._lock._lock", "pynested.backends.numpy.running._pool"} <= found
    assert survivors(names) == [], "use backends.forking.Lock or in_forked_children, and backends.cached"


@pytest.mark.parametrize("new", [threading.Lock, threading.Event, queue.SimpleQueue], ids=lambda new: new.__name__)
def test_one_that_is_not_renewed_is_found(names: list[str], new: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sizes, "_new", new(), raising=False)
    assert survivors(names) == ["pynested.structure.sizes._new"]


def test_pythons_cached_property_is_found(names: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sizes.RaggedSize, "new", functools.cached_property(str), raising=False)
    assert survivors(names) == ["pynested.structure.sizes.RaggedSize.new"]


@contextmanager
def held_elsewhere(locks: list[Any]) -> Iterator[None]:
    """Another thread holds the locks."""
    holds, ends = threading.Event(), threading.Event()

    def hold() -> None:
        with ExitStack() as stack:
            for lock in locks:
                stack.enter_context(lock)
            holds.set()
            ends.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    holds.wait()
    try:
        yield
    finally:
        ends.set()
        thread.join()


def worked() -> str:
    """A gradient, a name of a ragged size, an operand of NumPy, and large results on threads."""
    x = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged, requires_grad=True)
    for _ in range(2):
        (x * x).sum().backward()
    large = pn.array(np.ones(memory.LARGE)) + 1
    numbers = (pn.ones(2) + np.arange(2.0)).tolist()
    return f"{x.grad.values().tolist()} {str(x.shape[1])[0]} {numbers} {(large + large).sum().item()}"


def test_a_child_works_while_another_thread_holds_every_lock(names: list[str]) -> None:
    owners = [import_module(name) for name in names]
    locks = {id(one): one for module in owners for one in vars(module).values() if isinstance(one, Lock)}
    assert len(locks) == 6
    with held_elsewhere(list(locks.values())):
        assert in_child(worked) == f"[4.0, 8.0, 12.0] j [1.0, 2.0] {4.0 * memory.LARGE}"


def test_a_child_works_while_another_thread_works_out_a_property() -> None:
    begun, ends = threading.Event(), threading.Event()

    class Fact:
        @cached_property
        def known(self) -> str:
            begun.set()
            ends.wait()
            return "known"

    thread = threading.Thread(target=lambda: Fact().known)
    thread.start()
    begun.wait()
    said = in_child(lambda: (ends.set(), Fact().known)[1])
    ends.set()
    thread.join()
    assert said == "known"


def test_a_property_is_worked_out_once_and_can_be_set() -> None:
    class Fact:
        count = 0

        @cached_property
        def known(self) -> int:
            """It is known."""
            self.count += 1
            return 7

    fact, other = Fact(), Fact()
    other.known = 8
    assert [fact.known, fact.known, fact.count, other.known, other.count] == [7, 7, 1, 8, 0]
    assert Fact.known.__doc__ == "It is known."


def test_a_lock_lets_its_own_thread_in_again_and_no_other() -> None:
    lock, entered = Lock(), []
    with lock, lock:
        other = threading.Thread(target=lambda: entered.append(lock._lock.acquire(blocking=False)))
        other.start()
        other.join()
    assert entered == [False]
