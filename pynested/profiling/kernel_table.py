"""`dispatch_table`: the function that computes each kernel of a call, for each device."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pynested.autograd.decorators import method
from pynested.backends import devices, get_backend
from pynested.backends.cuda import KernelBackend
from pynested.backends.errors import ArgumentError, named_type
from pynested.backends.registry import REPLACEMENT_KERNELS

from .function_location import FunctionLocation, function_location
from .timeline import timeline


def kernel_location(kernel: str, device: str) -> FunctionLocation:
    """Return the place of the function that computes ``kernel`` on ``device``, whether or not the device is present."""
    if device not in ("cuda", "emulated"):
        return function_location(getattr(get_backend(device), kernel))
    function = REPLACEMENT_KERNELS[device].get(kernel) or getattr(KernelBackend, kernel, None)
    if function is not None:
        return function_location(function)
    return FunctionLocation(f"cupy.{kernel}") if device == "cuda" else kernel_location(kernel, "cpu")


@dataclass(frozen=True, repr=False)
class DispatchTable:
    """The kernels of one call of an operator; print it."""

    operator: str
    kernels: dict[str, dict[str, FunctionLocation]]  # by the name of a kernel, and by the device

    def __str__(self) -> str:
        if not self.kernels:
            return f"{self.operator}: no kernel runs"
        rows = [[self.operator, *devices()]]
        rows += [[kernel, *map(str, places.values())] for kernel, places in self.kernels.items()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
        return "\n".join(line.rstrip() for line in lines)

    __repr__ = __str__


@method
def dispatch_table(operator: Callable[..., Any], *args: Any, **kwargs: Any) -> DispatchTable:
    """Call ``operator(*args, **kwargs)``, and return which function computes each of its kernels on each device.

    The operator runs on the device of its arguments. Which kernels it runs depends on the layout and the dtype.

    Examples
    --------
    >>> nt = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged)
    >>> table = pn.dispatch_table(pn.softmax, nt, dim=-1)
    >>> for device in ("cpu", "cuda", "plain"):
    ...     print(table.kernels["segment_softmax"][device].file)
    backends/numpy/segment.py
    backends/cuda/segment.py
    backends/plain/segment.py
    """
    if not callable(operator):
        raise ArgumentError(f"dispatch_table: an operator is called, not {named_type(operator)}: pn.softmax.")
    with timeline() as t:
        operator(*args, **kwargs)
    names = dict.fromkeys(event.name for event in t.events if event.kind == "kernel")
    table = {name: {device: kernel_location(name, device) for device in devices()} for name in names}
    return DispatchTable(getattr(operator, "__name__", str(operator)), table)
