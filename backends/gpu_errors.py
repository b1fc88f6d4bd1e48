"""Recognition of errors of CuPy and of the libraries that it loads, and the DeviceError in their place."""

from __future__ import annotations

from .errors import DeviceError

INSTALL = "pip install 'pynested[cuda12]' or 'pynested[cuda13]'"
_LIBRARIES = ("cupy", "cupy_backends", "cuda")


def comes_from_gpu_library(error: Exception) -> bool:
    """Return whether the class of ``error`` is CuPy's or NVIDIA's; a MemoryError of these libraries does not count."""
    return type(error).__module__.partition(".")[0] in _LIBRARIES and not isinstance(error, MemoryError)


def device_error(name: str, error: Exception) -> DeviceError:
    """Return the DeviceError that says what failed, and what to do."""
    return DeviceError(
        f"{name} failed on the GPU: {error}. If a library is missing, {INSTALL}. A launch may fail late, at a later "
        "call: set the environment variable PYNESTED_CHECK to 1 to find it."
    )
