"""Which backend computes for a device, and for an array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import numpy as cpu
from .errors import DeviceError
from .interface import Backend

_by_device: dict[str, Backend] = {}
_by_type: dict[type, Backend] = {}
_loaders: dict[str, Callable[[], Backend]] = {}


def register_backend(backend: Backend, *array_types: type) -> None:
    """Let ``backend`` compute for its device and for arrays of these types."""
    _by_device[backend.device] = backend
    _by_type.update(dict.fromkeys(array_types, backend))


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


def backend_of(array: Any) -> Backend:
    """The backend that computes for an array: that of its type, or of the nearest type it inherits from."""
    kind = type(array)
    try:
        return _by_type[kind]
    except KeyError:
        found = next((_by_type[base] for base in kind.__mro__ if base in _by_type), None)
    if found is None:
        known = ", ".join(sorted(f"{known.__module__}.{known.__qualname__}" for known in _by_type))
        raise DeviceError(f"no backend computes for {kind.__module__}.{kind.__qualname__}: known arrays are {known}.")
    _by_type[kind] = found
    return found


register_backend(cpu, np.ndarray, np.generic)
