"""Where new arrays go when nobody says it. Operators do not look here: their results lie where their operands do."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from types import TracebackType
from typing import Any

from pynested.backends import get_backend

from .arguments.canonical import as_array
from .array import Array
from .rules.devices import to_device


class _Thread(threading.local):
    """The default device of the current thread; every thread begins with the CPU.

    Attributes
    ----------
    device : str
        The default now.
    fresh : DefaultDevice or None
        What was set last, as long as no block has been entered or left since.
    before : list of str
        What is restored at the ends of the blocks that are open.
    """

    def __init__(self) -> None:
        self.device = "cpu"
        self.fresh: DefaultDevice | None = None
        self.before: list[str] = []


_thread = _Thread()


class DefaultDevice:
    """What `set_default_device` did, undone at the end of a ``with`` block; later blocks do, and undo, it again."""

    def __init__(self, device: str) -> None:
        self._device, self._before = device, _thread.device
        _thread.device, _thread.fresh = device, self

    def __enter__(self) -> None:
        """Set the device, unless the call has just done so."""
        _thread.before.append(self._before if _thread.fresh is self else _thread.device)
        _thread.device, _thread.fresh = self._device, None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _thread.device, _thread.fresh = _thread.before.pop(), None

    def __repr__(self) -> str:
        return f"<default device {self._device!r}>"


def set_default_device(device: str | None) -> DefaultDevice:
    """Let new arrays lie on ``device`` where nothing else is said, from now on or for the length of a ``with`` block.

    Parameters
    ----------
    device : str or None
        ``"cpu"``, ``"cuda"`` or ``"emulated"``; None stands for ``"cpu"``, which it is at first.

    Returns
    -------
    DefaultDevice
        For a ``with`` block, at whose end the device before it is the default again; it can be kept for more blocks.

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
    place = "cpu" if device is None else device
    get_backend(place)
    return DefaultDevice(place)


def get_default_device() -> str:
    """The device on which the current thread makes new arrays.

    Examples
    --------
    >>> pn.get_default_device()
    'cpu'
    """
    return _thread.device


def chosen_device(device: str | None, given: Iterable[Any] = ()) -> str:
    """``device`` where it is named, else that of the first array among those ``given``, else the default one."""
    if device is not None:
        return device
    for one in given:
        if type(one) is Array:
            return one.device
    return _thread.device


def placed(name: str, value: Any, device: str | None = None) -> Array:
    """``value`` as an array on its device: the one named, else where an `Array` is, else the default one.

    An array that is there already is returned as it is, a NumPy array shares its memory on the CPU.
    """
    place = chosen_device(device, (value,))
    x = as_array(name, value, place)
    return x if x.device == place else to_device(x, place, x.device)
