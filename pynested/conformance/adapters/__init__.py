"""Adapters: what translates the calls of the vectors for a target, and what comes back from it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from ..child import Child
from ..forks import POSSIBLE
from ..problems import UsageError, unknown
from ..session import InProcess, Session
from ..wire import Wire
from .base import PythonAdapter

TARGETS = ("pynested", "compiled", "torch", "awkward", "tensorflow", "law")
OURS = ("pynested", "compiled")  # in this process, or on a device that is emulated
EMULATED = "emulated"
# What crashes often, takes seconds to import, and has started nothing by then that a fork would lack.
_IN_FORKS = {("torch", "cpu")}


def open_session(
    target: str,
    command: Sequence[str] | None = None,
    device: str = "cpu",
    timeout: float | None = None,
    emulation: Mapping[str, str | int] | None = None,
    wire: Wire | None = None,
) -> Session:
    """Start the adapter of a known target, or any program that speaks the protocol.

    ``timeout`` is for each answer. ``emulation`` says how kernels are run: what is given there for pynested on the
    device ``"emulated"`` is wrong usage with anything else. ``wire`` hears the session.
    """
    if emulation and (target not in OURS or (command, device) != (None, EMULATED)):
        raise UsageError(f"--{next(iter(emulation))} is for pynested with --device {EMULATED}")
    if command is not None:
        return _child(command, device, None, timeout, wire)
    if target not in TARGETS:
        raise unknown("target", target, TARGETS)
    if target in OURS and device == EMULATED:
        return _child(_python(target), device, emulated_environment(emulation or {}), timeout, wire)
    if target == "compiled":
        from .compiled_adapter import CompiledTarget

        return InProcess(PythonAdapter(CompiledTarget()), device, wire)
    if target == "pynested":
        from .pynested_adapter import PynestedTarget

        return InProcess(PythonAdapter(PynestedTarget()), device, wire)
    return _child(_python(target), device, None, timeout, wire, forks=(target, device) in _IN_FORKS and POSSIBLE)


def _child(
    command: Sequence[str],
    device: str,
    environment: Mapping[str, str] | None,
    timeout: float | None,
    wire: Wire | None,
    forks: bool = False,
) -> Child:
    times = {} if timeout is None else {"timeout": timeout, "patience": timeout}
    return Child(command, device, environment, wire=wire, forks=forks, **times)


def emulated_environment(emulation: Mapping[str, str | int]) -> dict[str, str]:
    """Compile what the emulation lacks, and return the environment of a process that runs it.

    It is a process of its own because a wrong kernel may write anywhere, and because a sanitizer has to be in a process
    from its start, and ends it. Compiling here keeps it out of the time that an answer may take.
    """
    from pynested.backends.cuda.emulated_launcher import Emulator  # of no use to the other devices

    settings = {"sanitizer" if name == "sanitize" else name: value for name, value in emulation.items()}
    launcher = Emulator.from_environment(**settings)
    environment = launcher.environment()
    launcher.compile_all()
    return environment


def _python(target: str) -> list[str]:
    return [sys.executable, "-W", "ignore", "-m", f"{__name__}.{target}_adapter"]
