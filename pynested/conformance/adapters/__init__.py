"""Adapters: what translates the calls of the vectors for a target, and what comes back from it."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from ..child import Child
from ..problems import unknown
from ..session import InProcess, Session
from .base import PythonAdapter

TARGETS = ("pynested", "torch")


def open_session(target: str, command: Sequence[str] = (), device: str = "cpu", timeout: float = 20.0) -> Session:
    """Start the adapter of a known target, or any program that speaks the protocol."""
    if command:
        return Child(command, device, timeout)
    if target not in TARGETS:
        raise unknown("target", target, TARGETS)
    if target == "pynested":
        from .pynested_adapter import PynestedTarget

        return InProcess(PythonAdapter(PynestedTarget()), device)
    return Child([sys.executable, "-W", "ignore", "-m", f"{__name__}.{target}_adapter"], device, timeout)
