"""Adapters: what translates the calls of the vectors for a target, and what comes back from it."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from ..child import Child
from ..problems import unknown
from ..session import InProcess, Session
from .base import PythonAdapter

TARGETS = ("pynested", "torch")


def open_session(
    target: str, command: Sequence[str] | None = None, device: str = "cpu", timeout: float | None = None
) -> Session:
    """Start the adapter of a known target, or any program that speaks the protocol; ``timeout`` is for each answer."""
    times = () if timeout is None else (timeout, timeout)
    if command is not None:
        return Child(command, device, *times)
    if target not in TARGETS:
        raise unknown("target", target, TARGETS)
    if target == "pynested":
        from .pynested_adapter import PynestedTarget

        return InProcess(PythonAdapter(PynestedTarget()), device)
    return Child([sys.executable, "-W", "ignore", "-m", f"{__name__}.{target}_adapter"], device, *times)
