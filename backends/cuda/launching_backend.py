"""`LaunchingBackend`: the base class of backends that launch CUDA kernels, with the methods that all kernels need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from math import prod
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..dtypes import is_bfloat16
from ..errors import DeviceError
from ..events import LISTENERS, emit_around
from ..interface import Backend
from ..segments import Segments
from ..storage import address
from .instantiations import WORD_BY_SIZE

RawArray = Any  # an array of the device's xp
BLOCK = 256  # threads in a block of most kernels
# Limits of every GPU that CUDA 12 supports: blocks and threads along x, y and z.
MAX_GRID = (2**31 - 1, 65535, 65535)
MAX_BLOCK = (1024, 1024, 64)
MAX_THREADS_PER_BLOCK = 1024

Dim3 = tuple[int, ...]  # numbers along x, y and z
NULL_POINTER = np.uint64(0)
POISON = 0xFF  # in every byte of a new array, so that uninitialised memory is noticed: NaN in floats, -1 in integers
PYTHON_NUMBERS = frozenset((int, float, bool))


class Launcher(Protocol):
    """Runs kernels on a device, and makes its arrays."""

    def new(self, shape: tuple[int, ...], dtype: DTypeLike) -> RawArray:
        """Return a new array whose contents are arbitrary."""

    def run(self, file: str, name: str, grid: Dim3, block: Dim3, args: Sequence[Any]) -> None:
        """Run ``name``, such as ``"spread<unsigned int, 32>"``, of ``file``.

        The grid and the block are within the limits of the hardware. ``args`` are arrays and scalars of NumPy;
        `NULL_POINTER` is one of them.
        """


class LaunchingBackend(Backend):
    """A backend whose kernels are CUDA kernels.

    Parameters
    ----------
    device : str
        The name of the device.
    xp : module
        NumPy, or a module that follows it.
    launcher : Launcher
        It makes arrays of ``xp``, and runs kernels on them, on a GPU or by emulation.
    matmul_threshold : float, optional
        Float matrices whose product takes at least this many multiplications are multiplied by `xp.matmul`.
    """

    def __init__(self, device: str, xp: Any, launcher: Launcher, matmul_threshold: float = np.inf) -> None:
        self.device = device
        self.xp = xp
        self.launcher = launcher
        self.matmul_threshold = matmul_threshold

    def default_allocator(self, shape: tuple[int, ...], dtype: DTypeLike) -> RawArray:
        """Return a new array whose contents are arbitrary."""
        return self.launcher.new(shape, dtype)

    def wrap_function(self, function: Any) -> Any:
        """Wrap ufuncs and `where` to take Python numbers beside bfloat16; return other functions unchanged."""
        takes_numbers = isinstance(function, self.xp.ufunc) or function is self.xp.where
        return with_bfloat16_numbers(function) if takes_numbers else function

    def launch(self, file: str, name: str, grid: Sequence[int], block: Sequence[int], args: Sequence[Any]) -> None:
        """Run the kernel ``name`` of ``file`` over a grid of blocks; an empty grid computes nothing.

        ``args`` are arrays, scalars of NumPy, an int for a ``long long``, and None for a null pointer.
        DeviceError if the grid or the block is beyond a limit of the hardware.
        """
        if 0 in grid:
            return
        blocks, threads = checked_grid_and_block(name, grid, block)
        arguments = tuple(NULL_POINTER if x is None else np.int64(x) if type(x) is int else x for x in args)
        run = self.launcher.run
        if LISTENERS:
            emit_around("launch", name, run, file, name, blocks, threads, arguments)
        else:
            run(file, name, blocks, threads, arguments)

    def launch_tiles(
        self,
        file: str,
        name: str,
        table: NDArray[np.int64],
        tiles: NDArray[np.int64],
        block: Sequence[int],
        args: Sequence[Any],
        rest_of_grid: Sequence[int] = (),
    ) -> None:
        """Launch a grid with a block for each tile along x, and with the sizes ``rest_of_grid`` along y and z.

        Component ``i`` of a nested array has ``tiles[i]`` tiles, and row ``i`` of ``table`` describes the component.
        """
        starts = Segments.from_lengths(tiles)
        table_args = self.upload(table), self.upload(starts.offsets), starts.count
        self.launch(file, name, (starts.rows, *rest_of_grid), block, (*table_args, *args))

    def as_contiguous(self, x: Any) -> RawArray:
        """Return ``x`` contiguous; DeviceError unless it lies on the device."""
        if isinstance(x, np.generic):
            x = np.asarray(x)
        if not isinstance(x, self.xp.ndarray):
            raise DeviceError(
                f"a {type(x).__module__}.{type(x).__qualname__} was given to the device {self.device!r}, whose arrays "
                f"are {self.xp.__name__}.ndarray. Move all operands to one device first."
            )
        return self.xp.ascontiguousarray(x)

    def flat(self, x: Any) -> RawArray:
        """Return the elements of ``x`` in row-major order: (...) -> (N,)."""
        return self.as_contiguous(x).reshape(x.size)

    def upload(self, numbers: Any) -> RawArray:
        """Return an array of the host, or of the device, as a contiguous array of the device."""
        return self.xp.ascontiguousarray(self.xp.asarray(numbers))

    def offsets(self, segments: Segments) -> RawArray:
        """Return the offsets of ``segments``, uploaded once."""
        uploaded: RawArray = segments.cached((self.device, "offsets"), lambda: self.upload(segments.offsets))
        return uploaded


def widest_word(rows: RawArray, copy: RawArray) -> tuple[str, int]:
    """Return the widest word type that divides a row and to which both arrays are aligned, and the words per row."""
    row_bytes = prod(rows.shape[1:]) * rows.dtype.itemsize
    numbers = row_bytes, address(rows), address(copy)
    size = next(size for size in WORD_BY_SIZE if not any(number % size for number in numbers))
    return WORD_BY_SIZE[size], row_bytes // size


def with_bfloat16_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``function``, with Python numbers cast to bfloat16 if another operand is bfloat16."""

    @wraps(function)
    def call(*operands: Any, **options: Any) -> Any:
        if not PYTHON_NUMBERS.isdisjoint(map(type, operands)):
            bfloat16 = next(filter(is_bfloat16, (x.dtype for x in operands if hasattr(x, "dtype"))), None)
            if bfloat16 is not None:
                operands = tuple(bfloat16.type(float(x)) if type(x) in PYTHON_NUMBERS else x for x in operands)
        return function(*operands, **options)

    return call


def checked_grid_and_block(name: str, grid: Sequence[int], block: Sequence[int]) -> tuple[Dim3, Dim3]:
    """Return grid and block as three numbers each; raise DeviceError if one is beyond a limit of the hardware."""
    for title, numbers, limits in (("grid", grid, MAX_GRID), ("block", block, MAX_BLOCK)):
        fits = all(1 <= number <= limit for number, limit in zip(numbers, limits, strict=False))
        if not fits or not 1 <= len(numbers) <= 3:
            advice = f"It must have 1 to 3 numbers, each at least 1 and at most {limits} along x, y and z."
            raise DeviceError(f"{name}: the {title} is {numbers}. {advice}")
    if prod(block) > MAX_THREADS_PER_BLOCK:
        raise DeviceError(f"{name}: a block of {block} is {prod(block)} threads, more than {MAX_THREADS_PER_BLOCK}.")
    return (*grid, 1, 1)[:3], (*block, 1, 1)[:3]
