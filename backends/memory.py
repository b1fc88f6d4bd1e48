"""Large pieces of memory on the CPU, used again as soon as nobody holds them.

Memory fresh from the operating system is cleared page by page when it is first touched, which takes about as long as
copying as much. A piece that comes back is kept and handed out again, its old contents still in it.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from math import prod
from typing import Any, ParamSpec, TypeAlias, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .environment import whole_number
from .gpu_errors import device_error, is_of_gpu

Allocator: TypeAlias = Callable[[tuple[int, ...], DTypeLike], Any]
P = ParamSpec("P")
Result = TypeVar("Result")

ALIGNMENT = 64  # bytes: a cache line, and the widest vector register
LARGE = 1024 * 1024  # bytes; malloc keeps what is smaller itself
EIGHTHS = 8  # sizes are rounded up to so many steps between powers of two, so that similar arrays share pieces

MOST_KEPT = whole_number("PYNESTED_KEPT_MIB", 512) * 1024 * 1024  # bytes

# By size. Pieces come back on any thread and at any moment, as garbage is collected, in the middle of every function
# here too. So there is no lock: each step on its own is whole, and a size that was met stays.
_waiting: dict[int, list[NDArray[np.uint8]]] = {}


INSTEAD: dict[str, Allocator] = {}  # by device, what allocates in place of its own; `allocator.replaced` enters it


class Tally:
    """Large pieces so far: how many were fresh and how many used again, the bytes that are out now, and the most."""

    __slots__ = ("fresh", "out", "peak", "reused")

    def __init__(self) -> None:
        self.fresh = self.reused = self.out = self.peak = 0

    def took(self, nbytes: int) -> None:
        """Count a piece that is handed out."""
        self.out += nbytes
        self.peak = max(self.peak, self.out)


tally = Tally()


class Piece:
    """The owner of a large array's memory: when no array refers to it any more, the memory returns to the pool."""

    __slots__ = ("__array_interface__", "memory")

    def __init__(self, memory: NDArray[np.uint8]) -> None:
        tally.took(memory.nbytes)
        self.memory = memory
        self.__array_interface__ = memory.__array_interface__

    def __del__(self) -> None:
        _keep(self.memory)


def _keep(memory: NDArray[np.uint8]) -> None:
    tally.out -= memory.nbytes
    if memory.nbytes > MOST_KEPT:
        return
    alike = _waiting.setdefault(memory.nbytes, [])
    alike.append(memory)
    if kept_bytes() > MOST_KEPT:
        forget_kept(but=memory.nbytes)  # this size is asked for now
        while alike and kept_bytes() > MOST_KEPT:
            with suppress(IndexError):  # where another thread has taken it
                alike.pop()


def kept_bytes() -> int:
    """How much memory waits to be used again."""
    return sum(size * len(_waiting[size]) for size in list(_waiting))


def forget_kept(but: int | None = None) -> None:
    """Give the memory that waits back to the operating system, but for pieces of one size."""
    for size in list(_waiting):
        if size != but:
            _waiting[size].clear()


def once_more(error: Exception, compute: Callable[..., Result], *args: Any, **kwargs: Any) -> Result:
    """Repeat ``compute(...)``, which raised a MemoryError, after the memory that waits has been given back.

    Any other error is raised again, one of the GPU as a DeviceError.
    """
    if is_of_gpu(error):
        raise device_error("an operation", error) from error
    if not isinstance(error, MemoryError) or not kept_bytes():
        try:
            raise error
        finally:
            del error  # its traceback holds this frame, and so they would form a cycle
    traceback.clear_frames(error.__traceback__)  # what the failed call still holds
    forget_kept()
    return compute(*args, **kwargs)


def with_room(compute: Callable[P, Result]) -> Callable[P, Result]:
    """Return ``compute``, repeated if memory is short and some waits; an error of the GPU is a DeviceError."""

    @wraps(compute)
    def call(*args: P.args, **kwargs: P.kwargs) -> Result:
        try:
            return compute(*args, **kwargs)
        except Exception as error:
            return once_more(error, compute, *args, **kwargs)

    return call


def empty(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """A new C-contiguous array, its contents arbitrary."""
    instead = INSTEAD.get("cpu")
    if instead is not None:
        return instead(shape, dtype)  # type: ignore[no-any-return]
    kind = np.dtype(dtype)
    return np.empty(shape, kind) if prod(shape) * kind.itemsize < LARGE else allocate_cpu(shape, kind)


def allocate_cpu(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """As `empty`, and its first element lies on a multiple of 64 bytes; the memory is a little more than asked for."""
    kind = np.dtype(dtype)
    nbytes = prod(shape) * kind.itemsize + ALIGNMENT
    try:
        memory = _new(nbytes) if nbytes < LARGE else np.asarray(Piece(_kept_or_new(nbytes)))
    except MemoryError:
        needs = f"an array of shape {shape} and dtype {kind} takes {nbytes - ALIGNMENT:,} bytes"
        raise MemoryError(f"{needs}, more memory than there is.") from None
    address: int = memory.__array_interface__["data"][0]
    return np.ndarray(shape, kind, memory, -address % ALIGNMENT)


def _kept_or_new(nbytes: int) -> NDArray[np.uint8]:
    step = max(1, (1 << nbytes.bit_length() - 1) // EIGHTHS)
    size = -(-nbytes // step) * step
    with suppress(KeyError, IndexError):  # none of this size so far, or no more
        memory = _waiting[size].pop()
        tally.reused += 1
        return memory
    tally.fresh += 1
    return _new(size)


@with_room
def _new(nbytes: int) -> NDArray[np.uint8]:
    return np.empty(nbytes, np.uint8)
