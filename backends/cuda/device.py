"""The seam: everything above calls `Device.launch`, everything below is one of two launchers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import unwrap
from math import prod
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..errors import DeviceError
from ..events import emit_around, listening
from ..interface import Backend
from ..memory import INSTEAD
from ..segments import Segments
from .checks import Triple, check_arguments, checked_shape
from .promotion import weakly
from .signatures import signature

Array = Any  # an array of the device's xp


class Launcher(Protocol):
    """Runs one instantiation of a kernel; what it gets has been checked."""

    kernels: Path

    def run(self, file: str, name: str, grid: Triple, block: Triple, args: Sequence[Any], shared: int) -> None:
        """Run ``name``, such as ``"spread<unsigned int, 32>"``, of ``file`` on the device."""


class Device(Backend):
    """An array module, memory, and CUDA kernels to launch.

    Parameters
    ----------
    device : str
        The name of the device.
    xp : module
        NumPy, or a module that follows it.
    launcher : Launcher
        What runs kernels on arrays of ``xp``.
    new : callable
        ``new(shape, dtype)``: a new array whose contents are arbitrary.
    blas_from : float, optional
        The number of multiplications from which a product of two float matrices is worth a call of ``xp.matmul``.
    """

    def __init__(
        self,
        device: str,
        xp: Any,
        launcher: Launcher,
        new: Callable[..., Array],
        blas_from: float | None = None,
    ) -> None:
        self.device = device
        self.xp = xp
        self.launcher = launcher
        self.blas_from = blas_from
        self.new: Callable[[tuple[int, ...], DTypeLike], Array] = new

    def adapted(self, function: Any) -> Any:
        """Return a function of ``xp``; Python numbers are weak operands of a ufunc beside bfloat16, too."""
        is_ufunc = isinstance(unwrap(function), self.xp.ufunc)
        return weakly(function) if is_ufunc or getattr(function, "__name__", "") == "where" else function

    def launch(
        self, file: str, name: str, grid: Sequence[int], block: Sequence[int], args: Sequence[Any], shared: int = 0
    ) -> None:
        """Run the kernel ``name`` of ``file`` over ``grid`` blocks of ``block`` threads, all of it checked first."""
        blocks, threads = checked_shape(name, grid, block, shared)
        check_arguments(name, signature(self.launcher.kernels, file, name), args, self.xp.ndarray)
        if listening.count:
            emit_around("launch", name, self.launcher.run, file, name, blocks, threads, args, shared)
        else:
            self.launcher.run(file, name, blocks, threads, args, shared)

    def empty(self, shape: tuple[int, ...], dtype: DTypeLike) -> Array:
        """A new array whose contents are arbitrary."""
        return INSTEAD.get(self.device, self.new)(shape, dtype)

    def as_contiguous(self, x: Any) -> Array:
        """``x``, which must lie on the device, contiguous."""
        if isinstance(x, np.generic):
            x = np.asarray(x)
        if not isinstance(x, self.xp.ndarray):
            raise DeviceError(
                f"a {type(x).__module__}.{type(x).__qualname__} was given to the device {self.device!r}, whose arrays "
                f"are {self.xp.__name__}.ndarray. Move all operands to one device first."
            )
        return self.xp.ascontiguousarray(x)

    def matrix(self, x: Any) -> Array:
        """(N, ...) -> (N, D), contiguous."""
        return self.as_contiguous(x).reshape(len(x), prod(x.shape[1:]))

    def upload(self, numbers: NDArray[Any]) -> Array:
        """A host array on the device."""
        return self.xp.asarray(np.ascontiguousarray(numbers))

    def index(self, numbers: Any) -> Array:
        """Numbers of rows on the device: uploaded where they were worked out on the host, from a structure."""
        return self.upload(numbers) if isinstance(numbers, np.ndarray) else self.as_contiguous(numbers)

    def offsets(self, segments: Segments) -> Array:
        """The offsets of a partition, uploaded once."""
        uploaded: Array = segments.cached((self.device, "offsets"), lambda: self.upload(segments.offsets))
        return uploaded
