"""Elementwise functions: ufuncs on all threads, and kernels that run block by block."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..caching_allocator import LARGE, empty
from ..dtypes import is_half
from ..plain.widening import RawArray
from .blocks import compute_rows, run_shares

FEW_ELEMENTS = 4096  # up to this number, relu is computed in one step


def blockwise(function: Callable[..., None]) -> Callable[..., RawArray]:
    """Turn a function of flat blocks, ``function(*blocks, out=block)``, into a kernel of arrays of one shape and dtype.

    The kernel calls `compute_rows`. Its result is a new array, or ``out``, which must be contiguous.
    """

    @wraps(function)
    def kernel(*arrays: RawArray, out: RawArray | None = None) -> RawArray:
        result = empty(arrays[0].shape, arrays[0].dtype) if out is None else out
        compute_rows(function, result.reshape(-1), *[np.ascontiguousarray(x).reshape(-1) for x in arrays])
        return result

    return kernel


def keep_where(condition: NDArray[np.bool_], x: RawArray, out: RawArray) -> None:
    """Write x where the condition holds and +0 elsewhere, by bits, because `numpy.where` branches at each element."""
    mask = np.negative(condition.view(np.int8))  # all bits set where the condition holds, no bit elsewhere
    words = f"i{x.itemsize}"
    np.bitwise_and(mask, x.view(words), out=out.view(words))


def threaded_ufunc(ufunc: np.ufunc) -> Callable[..., Any]:
    """Return a function that computes the ufunc on all threads if operands are large and contiguous.

    The operands are cut into a piece for each thread. The memory of the result comes from the caching allocator.
    """
    if ufunc.nout > 1 or ufunc.nin > 2 or ufunc.signature is not None:
        return ufunc

    @wraps(ufunc)
    def call(*operands: Any) -> Any:
        for x in operands:
            if getattr(x, "nbytes", 0) >= LARGE:
                return _in_pieces(ufunc, *operands)
        return ufunc(*operands)

    return call


def _in_pieces(ufunc: np.ufunc, *operands: Any) -> Any:
    """Return ``ufunc(*operands)``, computed in one piece of the first dimension for each thread."""
    arrays = [x for x in operands if isinstance(x, np.ndarray)]
    shape = np.broadcast_shapes(*[x.shape for x in arrays])
    if not shape or not all(x.flags.c_contiguous for x in arrays):
        return ufunc(*operands)
    dtypes = [np.dtype(bool) if type(x) is bool else getattr(x, "dtype", type(x)) for x in operands]
    out = empty(shape, ufunc.resolve_dtypes((*dtypes, None))[-1])
    is_cut = [isinstance(x, np.ndarray) and x.ndim == len(shape) and len(x) == shape[0] for x in operands]

    def work(start: int, stop: int) -> None:
        ufunc(*[x[start:stop] if cut else x for x, cut in zip(operands, is_cut, strict=True)], out=out[start:stop])

    run_shares(work, shape[0], out.nbytes)
    return out


def relu(x: RawArray, /) -> RawArray:
    """Compute the formula of the plain kernel; many elements are compared with an array of zeros, which is quicker."""
    is_quick = x.size < FEW_ELEMENTS and not is_half(x.dtype)
    return np.maximum(x, x.dtype.type(0), order="C") if is_quick else _relu_of_blocks(x)


@blockwise
def _relu_of_blocks(x: RawArray, /, *, out: RawArray) -> None:
    out.fill(0)
    # The result for -0 is +0: of two zeros NumPy returns the first one in float16, and the second one in other dtypes.
    np.maximum(*((out, x) if is_half(x.dtype) else (x, out)), out=out)


@blockwise
def relu_backward(cotangent: RawArray, y: RawArray, /, *, out: RawArray) -> None:
    """The cotangent where y = relu(x) is above 0 or NaN, +0 elsewhere whatever the cotangent is."""
    keep_where(~(y <= 0), cotangent, out)
