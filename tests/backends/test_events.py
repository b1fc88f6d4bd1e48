"""Events of kernels, launches and storages reach the listeners of their thread, and nobody else."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

import pynested as pn
from pynested.backends import get_backend
from pynested.backends.events import ObservedBackend, emit, emit_around, listened_by, listening


class Log:
    """A listener that keeps what it receives."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def note(self, kind: str, name: str, facts: dict[str, Any]) -> None:
        self.lines.append(f"{kind} {name}")

    def begin(self, kind: str, name: str, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self.lines.append(f"{kind} {name} begins")

    def end(self, result: Any, error: BaseException | None) -> None:
        self.lines.append("ends" if error is None else f"ends with {type(error).__name__}")


def test_an_operator_emits_events_while_somebody_listens() -> None:
    x = pn.array([1.0, 2.0], requires_grad=True)
    log = Log()
    with listened_by(log):
        y = (x * x).sum()
    assert log.lines == [
        "primitive mul begins", "kernel multiply begins", "ends", "allocate cpu", "ends",
        "primitive sum begins", "kernel sum_all begins", "ends", "allocate cpu", "ends",
    ]  # fmt: skip
    y.backward()
    assert len(log.lines) == 10 and not listening.count


def test_events_reach_every_listener_of_the_thread_and_no_other_thread() -> None:
    outer, inner, other = Log(), Log(), Log()
    with listened_by(outer):
        with listened_by(inner):
            emit("write", "cpu")
        emit("allocate", "cpu")
        thread = threading.Thread(target=lambda: emit("write", "cpu"))
        thread.start()
        thread.join()
        assert listening.count == 1
    assert (outer.lines, inner.lines, other.lines) == (["write cpu", "allocate cpu"], ["write cpu"], [])


def test_an_error_ends_the_event_and_comes_through() -> None:
    log = Log()
    with listened_by(log), pytest.raises(ZeroDivisionError):
        emit_around("kernel", "divide", lambda: 1 / 0)
    assert log.lines == ["kernel divide begins", "ends with ZeroDivisionError"] and not listening.count


def test_an_observed_backend_computes_the_same_and_is_otherwise_the_backend() -> None:
    backend, log = get_backend("cpu"), Log()
    observed = ObservedBackend(backend)
    with listened_by(log):
        assert observed.add(1, 2) == backend.add(1, 2) == 3
    assert log.lines == ["kernel add begins", "ends"]
    assert observed.xp is backend.xp and observed.device == "cpu"
