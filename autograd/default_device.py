"""Where new arrays go when nobody says it. Operators do not look here: their results lie where their operands do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pynested.backends import canonical_device, get_backend

from .arguments.operands import as_array
from .array import Array
from .dispatch import operator
from .primitives.devices import to_device
from .thread_defaults import DefaultBlock, ThreadDefault

_default = ThreadDefault("cpu")


@operator
def set_default_device(device: str | None) -> DefaultBlock[str]:
    """Let new arrays lie on ``device`` where nothing else is said, from now on or for the length of a ``with`` block.

    Parameters
    ----------
    device : str or None
        ``"cpu"``, ``"plain"``, ``"cuda"`` or ``"emulated"``; None stands for ``"cpu"``, which it is at first.

    Returns
    -------
    DefaultBlock
        For a ``with`` block, at whose end the device before the call is the default again.

    Raises
    ------
    DeviceError
        For a device that is not there: without CuPy, a driver or a GPU.
    MissingDependency
        For the emulation without a compiler.

    Notes
    -----
    It is as if ``device=`` were given to every constructor: to those of lists and of NumPy arrays, to filled and to
    random arrays. Arrays have a place already, so what is made of them, or like them, lies where they do, and so does
    what `from_dlpack` shares. Operators do not look at it: a number, NumPy's too, goes where the other operand is, and
    a NumPy array among operands is on the CPU. Every thread has a default of its own, as in PyTorch.

    After `torch.set_default_device`, and, as a block, ``with torch.device(...)``.

    Examples
    --------
    >>> with pn.set_default_device("cpu"):  # "cuda" where there is a GPU
    ...     pn.zeros(2).device
    'cpu'
    """
    place = "cpu" if device is None else canonical_device(device)
    get_backend(place)
    return DefaultBlock(_default, place)


@operator
def get_default_device() -> str:
    """The device on which the current thread makes new arrays.

    Examples
    --------
    >>> pn.get_default_device()
    'cpu'
    """
    return _default.value


def chosen_device(device: str | None, given: Iterable[Any] = ()) -> str:
    """``device`` where it is named, else that of the first array among those ``given``, else the default one."""
    if device is not None:
        return canonical_device(device)
    for one in given:
        if type(one) is Array:
            return one.device
    return _default.value


def as_device_array(name: str, value: Any, device: str | None = None) -> Array:
    """Return ``value`` as an array on ``device``, by default the device of an `Array`, else the default device.

    An `Array` on this device is returned as it is. A NumPy array shares its memory on the CPU.
    """
    place = chosen_device(device, (value,))
    x = as_array(name, value, place)
    return x if x.device == place else to_device(x, place, x.device)
