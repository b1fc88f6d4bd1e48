"""The backend of each device.

The class of an array does not tell its device: the arrays of ``"cpu"``, ``"plain"`` and ``"emulated"`` are NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from . import numpy as cpu
from .errors import ArgumentError, DeviceError, named_type
from .interface import Backend

NUMPY_DEVICES = "cpu", "plain"  # they have the semantics of NumPy, and no bfloat16

_by_device: dict[str, Backend] = {}
_loaders: dict[str, Callable[[], Backend]] = {}
_kernels: dict[str, dict[str, Callable[..., Any]]] = {}  # by device and verb, those that came later


def register_backend(backend: Backend) -> None:
    """Let ``backend`` compute for its device."""
    _by_device[backend.device] = backend


def register_loader(device: str, load: Callable[[], Backend]) -> None:
    """Let ``load`` return the backend of ``device`` when it is first asked for."""
    _loaders[device] = load


def canonical_device(device: str) -> str:
    """``device`` without the number 0: ``"cuda:0"`` is ``"cuda"``. DeviceError for any other number."""
    if not isinstance(device, str) or ":" not in device:
        return device
    name, _, number = device.partition(":")
    if number == "0":
        return name
    raise DeviceError(
        f"device {device!r}: only number 0 of a kind of device is used. Write {name!r} or '{name}:0'; of several GPUs "
        "the environment variable CUDA_VISIBLE_DEVICES chooses the one that is number 0."
    )


def get_backend(device: str) -> Backend:
    """The backend of a device; DeviceError where there is none."""
    try:
        return _by_device[device]
    except (KeyError, TypeError):  # not asked for yet, unknown, or nothing that could be known
        place = canonical_device(device)
        if place != device:
            return get_backend(place)
        load = _loaders.get(device) if isinstance(device, str) else None
    if load is None:
        raise DeviceError(f"no backend for device {device!r}: devices with one are {', '.join(devices())}.")
    backend = _by_device[device] = load()
    for verb, function in _kernels.get(device, {}).items():
        setattr(backend, verb, function)
    return backend


def devices() -> list[str]:
    """The devices that have a backend, loaded or not."""
    return sorted({*_by_device, *_loaders})


def is_loaded(device: str) -> bool:
    """Whether the backend of a device has been asked for."""
    return device in _by_device


def register_kernel(verb: str, device: str, function: Callable[..., Any]) -> None:
    """Let ``function`` compute ``verb`` on ``device``, from now on or from when the device is first used."""
    if not callable(function):
        raise ArgumentError(f"kernel: a function is decorated, not {named_type(function)}.")
    if not isinstance(verb, str) or not hasattr(cpu, verb):
        raise ArgumentError(
            f"no verb {verb!r}: the verbs are those of pynested.backends.Backend, and NumPy's functions."
        )
    if device not in devices():
        raise DeviceError(f"no backend for device {device!r}: devices with one are {', '.join(devices())}.")
    _kernels.setdefault(device, {})[verb] = function
    if device in _by_device:
        setattr(_by_device[device], verb, function)


def _load_plain() -> Backend:
    from . import plain  # needs SciPy, which an import of pynested does not wait for

    return plain


def registered_kernels(device: str) -> Mapping[str, Callable[..., Any]]:
    """The functions that came later for a device, by verb."""
    return _kernels.get(device, {})


register_backend(cpu)
register_loader("plain", _load_plain)
