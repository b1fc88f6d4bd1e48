"""The backend of each device, and the functions that take the place of its kernels.

An array's class does not determine its device: ``"cpu"``, ``"plain"`` and ``"emulated"`` all have NumPy's arrays.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from .errors import ArgumentError, DeviceError, named_type
from .interface import Backend
from .numpy import NumpyBackend
from .plain import PlainBackend

NUMPY_KERNEL_DEVICES = "cpu", "plain"  # their kernels are NumPy calls, so they have no bfloat16


def _emulated_backend() -> Backend:
    from .cuda.emulated_launcher import emulated_backend

    return emulated_backend()


def _cuda_backend() -> Backend:
    from .cuda.cupy_launcher import cuda_backend

    return cuda_backend()


BACKEND_FACTORIES: dict[str, Callable[[], Backend]] = {  # by device
    "cpu": NumpyBackend,
    "plain": PlainBackend,
    "emulated": _emulated_backend,
    "cuda": _cuda_backend,
}
_made: dict[str, Backend] = {}  # by device, only of devices that were used
REPLACEMENT_KERNELS: defaultdict[str, dict[str, Callable[..., Any]]] = defaultdict(dict)  # by device and name


def register_backend(backend: Backend) -> None:
    """Let ``backend`` compute for its device. Kernels of the device that were replaced stay replaced."""
    device = backend.device.removesuffix(":0")
    vars(backend).update(REPLACEMENT_KERNELS[device])
    _made[device] = backend


def canonical_device(device: str) -> str:
    """Return ``device`` without the number 0: ``"cuda:0"`` is ``"cuda"``. DeviceError if it has no backend."""
    name, _, number = device.partition(":") if isinstance(device, str) else ("", "", "")
    if number not in ("", "0"):
        raise DeviceError(
            f"device {device!r}: only number 0 of a kind of device is used. Write {name!r} or '{name}:0'; of several "
            "GPUs the environment variable CUDA_VISIBLE_DEVICES chooses the one that is number 0."
        )
    if name not in devices():
        raise DeviceError(f"no backend for device {device!r}: the devices are {', '.join(devices())}.")
    return name


def get_backend(device: str) -> Backend:
    """Return the backend of a device; DeviceError if there is none."""
    try:
        return _made[device]
    except (KeyError, TypeError):  # not used before, unknown, or no string
        name = canonical_device(device)
    if name not in _made:
        register_backend(BACKEND_FACTORIES[name]())
    return _made[name]


def devices() -> list[str]:
    """Return the devices that have a backend, used before or not."""
    return sorted({*BACKEND_FACTORIES, *_made})


def register_kernel(name: str, device: str, function: Callable[..., Any]) -> None:
    """Let ``function`` replace a kernel of ``device``, from now on or from when the device is first used."""
    if not callable(function):
        raise ArgumentError(f"kernel: the decorated object must be a function, not {named_type(function)}.")
    is_kernel = isinstance(name, str) and not name.startswith("_") and callable(getattr(get_backend("cpu"), name, None))
    if not is_kernel:
        raise ArgumentError(
            f"kernel: there is no kernel {name!r}. A kernel is a method of pynested.backends.PlainBackend, or a "
            "function of NumPy."
        )
    device = canonical_device(device)
    REPLACEMENT_KERNELS[device][name] = function
    if device in _made:
        setattr(_made[device], name, function)
