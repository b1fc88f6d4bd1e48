"""What a launch must satisfy; checked for both launchers, before anything runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import DeviceError, DTypeError
from .signatures import Parameter

MAX_BLOCKS = (2**31 - 1, 65535, 65535)
MOST_THREADS = (1024, 1024, 64)
THREADS_OF_A_BLOCK = 1024
SHARED_BYTES = 227 * 1024

Triple = tuple[int, int, int]


def checked_shape(name: str, grid: Sequence[int], block: Sequence[int], shared: int) -> tuple[Triple, Triple]:
    """Grid and block as three numbers each; DeviceError where the hardware has a lower limit, or one is empty."""
    blocks, threads = _triple(name, "grid", grid, MAX_BLOCKS), _triple(name, "block", block, MOST_THREADS)
    total = threads[0] * threads[1] * threads[2]
    if total > THREADS_OF_A_BLOCK:
        raise DeviceError(f"{name}: a block of {threads} is {total} threads, more than {THREADS_OF_A_BLOCK}.")
    if not 0 <= shared <= SHARED_BYTES:
        raise DeviceError(f"{name}: {shared} bytes of shared memory were asked for; a block has {SHARED_BYTES}.")
    return blocks, threads


def _triple(name: str, what: str, numbers: Sequence[int], most: Triple) -> Triple:
    if not 1 <= len(numbers) <= 3:
        raise DeviceError(f"{name}: a {what} has 1 to 3 dimensions, not {len(numbers)}.")
    x, y, z = (*numbers, 1, 1)[:3]
    for axis, number, limit in zip("xyz", (x, y, z), most, strict=True):
        if not 1 <= number <= limit:
            raise DeviceError(f"{name}: the {what} is {number} along {axis}; it must be from 1 to {limit}.")
    return x, y, z


def check_arguments(name: str, parameters: Sequence[Parameter], args: Sequence[Any], array_type: Any) -> None:
    """Number and types of a kernel's arguments; DeviceError or DTypeError naming the first that is wrong."""
    if len(args) != len(parameters):
        raise DeviceError(f"{name} takes {len(parameters)} arguments, not {len(args)}.")
    for place, (given, parameter) in enumerate(zip(args, parameters, strict=True)):
        where = f"{name}: argument {place} ({parameter.name})"
        if parameter.pointer:
            _check_array(where, parameter, given, array_type)
        elif not isinstance(given, np.generic) or given.dtype != (parameter.dtype or np.uint64):
            raise DTypeError(f"{where} must be a NumPy scalar of {parameter.dtype or 'uint64'}, not {given!r}.")


def _check_array(where: str, parameter: Parameter, given: Any, array_type: Any) -> None:
    if given is None:
        return
    if not isinstance(given, array_type):
        kind = f"{type(given).__module__}.{type(given).__qualname__}"
        raise DeviceError(
            f"{where} must lie on the device, as a {array_type.__module__}.{array_type.__qualname__}, not a {kind}. "
            "Move all operands to one device first."
        )
    if not given.flags.c_contiguous:
        raise DeviceError(f"{where} must be contiguous; its strides are {given.strides}.")
    if parameter.dtype is None:
        if given.nbytes % parameter.word:
            raise DTypeError(f"{where}: {given.nbytes} bytes are no whole words of {parameter.word} bytes.")
    elif given.dtype != parameter.dtype:
        raise DTypeError(f"{where} must have the dtype {parameter.dtype}, not {given.dtype}.")
