"""What computes a register of a block: a ufunc, or a kernel ``kernel(out, *operands, *scratch)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pynested.backends.dtypes import is_half
from pynested.backends.numpy import activations
from pynested.backends.numpy.activations import WORDS
from pynested.backends.numpy.elementwise import cast

from .registers import Register


def _choose(out: NDArray[Any], condition: Any, a: Any, b: Any, apart: NDArray[Any]) -> None:
    """`numpy.where` by bits; that one guesses at each element which way the next one goes, wrong half of the time."""
    words = WORDS[out.itemsize]
    mask, ours, theirs = out.view(words), _bits(a, out.dtype, words), _bits(b, out.dtype, words)
    np.copyto(mask, np.negative(condition.view(np.int8)))  # all bits where it holds
    if type(theirs) is not np.ndarray and not theirs:
        np.bitwise_and(mask, ours, mask)
        return
    difference = apart.view(words)
    np.bitwise_xor(ours, theirs, difference)
    np.bitwise_and(mask, difference, mask)
    np.bitwise_xor(mask, theirs, mask)


def _bits(x: Any, dtype: np.dtype[Any], words: np.dtype[Any]) -> Any:
    """The bits of an array, or of a number in ``dtype``."""
    return (x if isinstance(x, np.ndarray) else dtype.type(x)).view(words)


def _nothing(out: NDArray[Any], like: Any) -> None:
    out.fill(0)


def _cast(out: NDArray[Any], x: Any, dtype: np.dtype[Any]) -> None:
    np.copyto(out, x, casting="unsafe")  # of floats, or into floats, where all processors agree


KERNELS: dict[Any, tuple[Callable[..., None], int]] = {
    **activations.KERNELS,
    np.where: (_choose, 1),
    np.zeros_like: (_nothing, 0),
    cast: (_cast, 0),
}


def kernel_of(register: Register) -> Callable[..., None]:
    """The kernel of what is no ufunc; for halves those of the backend, which compute in float32, take whole arrays."""
    function: Any = register.function
    if _has_kernel(register):
        return KERNELS[function][0]

    def copied(out: NDArray[Any], *operands: Any) -> None:
        out[...] = function(*operands)

    return copied


def scratch_of(register: Register) -> int:
    """How many scratch arrays what computes a register takes."""
    return KERNELS[register.function][1] if _has_kernel(register) else 0


def _has_kernel(register: Register) -> bool:
    function = register.function
    return function in KERNELS and not (function in activations.KERNELS and is_half(register.dtype))
