"""Elementwise functions: ufuncs on all threads, and kernels that run block by block."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..caching_allocator import LARGE, empty
from ..dtypes import computing_dtype
from .parallel import blocks, run, run_shares

RawArray = NDArray[Any]


def blockwise(function: Callable[..., RawArray]) -> Callable[..., RawArray]:
    """Let ``function``, of flat arrays of one size and dtype, compute blocks that stay in the cache.

    The arrays can have any shape. Halves are computed in float32 and rounded once.
    """

    @wraps(function)
    def kernel(*arrays: RawArray) -> RawArray:
        flat = [np.ascontiguousarray(x).reshape(-1) for x in arrays]
        return _compute_blocks(function, flat).reshape(arrays[0].shape)

    return kernel


def rowwise(function: Callable[..., RawArray]) -> Callable[..., RawArray]:
    """Let ``function``, of matrices of one shape and dtype, compute blocks of rows that stay in the cache.

    The arrays have the shape (..., D). Halves are computed in float32 and rounded once.
    """

    @wraps(function)
    def kernel(*arrays: RawArray) -> RawArray:
        shape = arrays[0].shape
        matrices = [np.ascontiguousarray(x).reshape(prod(shape[:-1]), shape[-1]) for x in arrays]
        return _compute_blocks(function, matrices).reshape(shape)

    return kernel


def _compute_blocks(function: Callable[..., RawArray], arrays: list[RawArray]) -> RawArray:
    """Return ``function(*arrays)``, computed in blocks of the first dimension."""
    shape, dtype = arrays[0].shape, arrays[0].dtype
    wide_dtype = computing_dtype(dtype)
    cuts = blocks(shape[0], wide_dtype.itemsize * prod(shape[1:]))
    if len(cuts) == 1:
        return function(*[x.astype(wide_dtype, copy=False) for x in arrays]).astype(dtype, copy=False)
    out = empty(shape, dtype)

    def work(start: int, stop: int) -> None:
        out[start:stop] = function(*[x[start:stop].astype(wide_dtype, copy=False) for x in arrays])

    run(work, cuts, out.nbytes)
    return out


def keep_where(condition: NDArray[np.bool_], x: RawArray, out: RawArray) -> None:
    """``out <- x`` where the condition holds, +0 elsewhere: by bits, as `numpy.where` takes a branch, which is slow."""
    mask = np.negative(condition.view(np.int8))  # all bits set where the condition holds, no bit elsewhere
    words = f"i{x.itemsize}"
    np.bitwise_and(mask, x.view(words), out=out.view(words))


def threaded_ufunc(ufunc: np.ufunc) -> Callable[..., Any]:
    """Return a function that computes the ufunc on all threads if operands are large and contiguous.

    The operands are cut into a piece for each thread. The memory of the result comes from the caching allocator. With
    ``out``, the ufunc runs on one thread.
    """
    if ufunc.nout > 1 or ufunc.nin > 2 or ufunc.signature is not None:
        return ufunc

    def call(*operands: Any, out: Any = None) -> Any:
        for x in operands:
            if out is None and getattr(x, "nbytes", 0) >= LARGE:
                return _in_pieces(ufunc, *operands)
        return ufunc(*operands, out=out)

    call.__name__ = call.__qualname__ = ufunc.__name__
    call.__doc__ = f"numpy.{ufunc.__name__}, on all threads if operands are large."
    call.wrapped_ufunc = ufunc  # type: ignore[attr-defined]
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


maximum = threaded_ufunc(np.maximum)


def relu(x: NDArray[Any], /) -> NDArray[Any]:
    """Compute the formula of the plain kernel on all threads."""
    return maximum(np.asarray(x, order="C"), x.dtype.type(0))  # type: ignore[no-any-return]


def where(condition: Any, x: Any, y: Any, /) -> Any:
    """Return `numpy.where`; MemoryError in place of the SystemError that it can raise if it finds no memory."""
    try:
        return np.where(condition, x, y)
    except SystemError as error:
        raise MemoryError("numpy.where found no memory for its result") from error
