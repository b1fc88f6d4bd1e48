"""`from_dlpack`: arrays in memory of other libraries that have DLPack or the CUDA array interface.

In the other direction libraries read `Array.__dlpack__` and `Array.__cuda_array_interface__`:
``torch.from_dlpack(x)``, ``cupy.asarray(x)``.
"""

from __future__ import annotations

from typing import Any

from pynested.backends import get_backend
from pynested.backends.errors import ArgumentError, DeviceError, DTypeError, ExchangeError, PynestedError
from pynested.backends.host import refuse_masked
from pynested.backends.repeating_views import without_repeated_writes

from .arguments.operands import canonical_dtype
from .array import Array
from .call_errors import check_optional_flags
from .creation import array
from .decorators import operator
from .default_device_and_dtype import checked_device

# The keys are DLPack's numbers for memory of the CPU (1), pinned memory (3), memory of CUDA (2), managed memory (13).
_DEVICE_BY_TYPE = {1: "cpu", 3: "cpu", 2: "cuda", 13: "cuda"}


@operator
def from_dlpack(x: Any, /, *, device: str | None = None, copy: bool | None = None) -> Array:
    """Return an array in the memory of ``x``, an array of another library. Each side sees the writes of the other.

    Parameters
    ----------
    x : array
        An array of NumPy, PyTorch, CuPy or any other library, with ``__dlpack__``, or on a GPU with
        ``__cuda_array_interface__``. Strides stay as they are.
    device : str, optional
        The device of the result. By default it is the device of ``x``, ``"cpu"`` or ``"cuda"``, and memory is shared;
        `set_default_device` has no influence. For any other device the values are copied.
    copy : bool, optional
        True copies always, False never.

    Raises
    ------
    ExchangeError
        If the other library refuses, as PyTorch does for a tensor that requires grad.
    DTypeError
        For an unsupported dtype.
    DeviceError
        For memory on other devices than the CPU and CUDA, and on a GPU without CuPy.
    ArgumentError
        For an object without either protocol, and for another device with ``copy=False``.

    Notes
    -----
    The result is a leaf that does not require grad; call ``requires_grad_`` on it if it should. pynested counts its own
    writes, through every array that shares the memory, and notices a write that would make a gradient wrong. It does
    not notice writes of the other side: let it write before the memory is used, or after the backward pass. pynested
    does not write to memory that the other side declares read-only, or that repeats elements; PyTorch may.

    After `torch.from_dlpack`, and ``from_dlpack`` of the Python array API standard.

    Examples
    --------
    >>> import numpy as np
    >>> source = np.zeros(3)
    >>> x = pn.from_dlpack(source)
    >>> x[0] = 7
    >>> source
    array([7., 0., 0.])
    """
    check_optional_flags("from_dlpack", copy=copy)
    memory_device = _device_of_memory(x)
    device = checked_device("from_dlpack", memory_device if device is None else device)
    if copy is False and device != memory_device:
        raise ArgumentError(
            f"from_dlpack: the memory is on {memory_device!r}; copy=False keeps it there, device={device!r} does not."
        )
    result = Array.from_memory(_raw_array(x, memory_device), memory_device)
    return result if device == memory_device and not copy else array(result, device=device)


def _device_of_memory(x: Any) -> str:
    """Return the device on which the memory of ``x`` is."""
    if hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__"):
        try:
            device_type = int(x.__dlpack_device__()[0])
        except (BufferError, ValueError) as error:
            raise ExchangeError(f"from_dlpack: {error}") from error
        if device_type not in _DEVICE_BY_TYPE:
            raise DeviceError(
                f"from_dlpack: the memory is on a device of DLPack's type {device_type}; pynested takes memory of the "
                "CPU (1, 3) and of CUDA (2, 13)."
            )
        return _DEVICE_BY_TYPE[device_type]
    if hasattr(x, "__cuda_array_interface__"):
        return "cuda"
    if getattr(x, "is_nested", False):
        raise ArgumentError("from_dlpack: a nested array is shared in parts: take its values() and its offsets().")
    raise ArgumentError(
        f"from_dlpack: {type(x).__name__} has neither __dlpack__ with __dlpack_device__ nor "
        "__cuda_array_interface__, so there is no memory to share. Copy it: pn.array(x)."
    )


def _raw_array(x: Any, device: str) -> Any:
    """Return ``x`` as a raw array of the device's array module."""
    xp = get_backend(device).xp
    refuse_masked("from_dlpack", x)
    if hasattr(x, "is_neg") and x.is_neg():  # PyTorch exports the memory without its sign
        raise ExchangeError("from_dlpack: this tensor is a negative view of its memory. Copy it: x.resolve_neg().")
    try:
        values = xp.from_dlpack(x) if hasattr(x, "__dlpack__") else xp.asarray(x)
    except PynestedError:
        raise
    except BufferError as error:
        raise ExchangeError(f"from_dlpack: {error}") from error
    except (RuntimeError, TypeError) as error:  # NumPy, or CuPy, does not have the dtype
        raise DTypeError(f"from_dlpack: {getattr(x, 'dtype', type(x).__name__)}: {error}") from error
    canonical_dtype("from_dlpack", values.dtype, device)
    return without_repeated_writes(values)
