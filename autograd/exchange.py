"""Memory shared with other libraries: NumPy, PyTorch, CuPy, and whoever speaks DLPack or the CUDA array interface.

The way out is in `Array.__dlpack__` and `Array.__cuda_array_interface__`, so that the functions of the other library
take an array as it is: ``torch.from_dlpack(x)``, ``cupy.asarray(x)``.
"""

from __future__ import annotations

from typing import Any

from pynested.backends import get_backend
from pynested.backends.errors import ArgumentError, DeviceError, DTypeError, ExchangeError, PynestedError
from pynested.backends.host import refuse_masked

from .arguments.operands import canonical_dtype
from .array import Array
from .call_errors import check_optional_flags
from .creation import array
from .dispatch import operator

# DLPack's types of device: memory of the CPU, also pinned, and of CUDA, also managed.
_DEVICES = {1: "cpu", 3: "cpu", 2: "cuda", 13: "cuda"}


@operator
def from_dlpack(x: Any, /, *, device: str | None = None, copy: bool | None = None) -> Array:
    """An array in the memory of ``x``, an array of another library; a write on one side is seen on the other.

    Parameters
    ----------
    x : array
        Of NumPy, PyTorch, CuPy or any other library, with ``__dlpack__``; on a GPU, ``__cuda_array_interface__`` will
        do. Strides stay as they are.
    device : str, optional
        By default where ``x`` is, whatever the default device: ``"cpu"`` or ``"cuda"``. To any other it is copied.
    copy : bool, optional
        True copies always, False never.

    Raises
    ------
    ExchangeError
        Where the other library refuses, as PyTorch does for a tensor that requires grad.
    DTypeError
        For an unsupported dtype.
    DeviceError
        For memory on other devices than the CPU and CUDA, and on a GPU without CuPy.
    ArgumentError
        For what speaks neither protocol, and another device with ``copy=False``.

    Notes
    -----
    Nothing is recorded: the result is a leaf without gradient; ``requires_grad_`` asks for one. pynested counts its own
    writes, through whichever array that shares the memory, to notice one that would make a gradient wrong. It does not
    see those of the other side: let it write before the memory is used, or after the backward pass. pynested does not
    write to memory that the other side declares to be read-only; other libraries may, as PyTorch does.

    After `torch.from_dlpack`, and ``from_dlpack`` of the Python array API standard.

    Examples
    --------
    >>> import numpy as np
    >>> theirs = np.zeros(3)
    >>> ours = pn.from_dlpack(theirs)
    >>> ours[0] = 7
    >>> theirs
    array([7., 0., 0.])
    """
    check_optional_flags("from_dlpack", copy=copy)
    home = _home(x)
    target = home if device is None else device
    get_backend(target)
    if copy is False and target != home:
        raise ArgumentError(
            f"from_dlpack: the memory is on {home!r}; copy=False keeps it there, device={target!r} does not."
        )
    shared = Array.over(_shared(x, home), home)
    return shared if target == home and not copy else array(shared, device=target)


def _home(x: Any) -> str:
    """The device on which the memory of ``x`` is."""
    if hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__"):
        try:
            kind = int(x.__dlpack_device__()[0])
        except (BufferError, ValueError) as error:
            raise ExchangeError(f"from_dlpack: {error}") from error
        if kind not in _DEVICES:
            raise DeviceError(
                f"from_dlpack: the memory is on a device of DLPack's type {kind}; pynested takes that of the CPU (1) "
                "and of CUDA (2)."
            )
        return _DEVICES[kind]
    if hasattr(x, "__cuda_array_interface__"):
        return "cuda"
    if getattr(x, "is_nested", False):
        raise ArgumentError("from_dlpack: a nested array is shared in parts: take its values() and its offsets().")
    raise ArgumentError(
        f"from_dlpack: {type(x).__name__} has neither __dlpack__ nor __cuda_array_interface__, so there is no memory "
        "to share. Copy it: pn.array(x)."
    )


def _shared(x: Any, home: str) -> Any:
    """``x`` as a bare array of the device's array module."""
    xp = get_backend(home).xp
    refuse_masked("from_dlpack", x)
    try:
        shared = xp.from_dlpack(x) if hasattr(x, "__dlpack__") else xp.asarray(x)
    except PynestedError:
        raise
    except BufferError as error:
        raise ExchangeError(f"from_dlpack: {error}") from error
    except (RuntimeError, TypeError) as error:  # what NumPy, or CuPy, has no dtype for
        raise DTypeError(f"from_dlpack: {getattr(x, 'dtype', type(x).__name__)}: {error}") from error
    canonical_dtype(shared.dtype, home)
    return shared
