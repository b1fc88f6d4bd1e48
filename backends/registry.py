"""Which backend computes for a device. An array alone does not tell: those of ``"emulated"`` are NumPy's too."""

from __future__ import annotations

from collections.abc import Callable

from . import numpy as cpu
from .errors import DeviceError
from .interface import Backend

_by_device: dict[str, Backend] = {}
_loaders: dict[str, Callable[[], Backend]] = {}


def register_backend(backend: Backend) -> None:
    """Let ``backend`` compute for its device."""
    _by_device[backend.device] = backend


def register_loader(device: str, load: Callable[[], Backend]) -> None:
    """Let ``load`` return the backend of ``device`` when it is first asked for."""
    _loaders[device] = load


def get_backend(device: str) -> Backend:
    """The backend of a device; DeviceError where there is none."""
    try:
        return _by_device[device]
    except (KeyError, TypeError):  # not asked for yet, unknown, or nothing that could be known
        load = _loaders.get(device) if isinstance(device, str) else None
    if load is None:
        known = ", ".join(sorted({*_by_device, *_loaders}))
        raise DeviceError(f"no backend for device {device!r}: devices with one are {known}.")
    backend = _by_device[device] = load()
    return backend


register_backend(cpu)
