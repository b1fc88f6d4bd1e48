"""Functions of one element: quiet ones, threads for large arrays, and kernels that run block by block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import running
from .running import blocks, computing_dtype, quiet, run, scratch

Kernel = Callable[..., None]

ROW_OF_ZEROS = 4096  # elements; relu's second operand


def blockwise(kernel: Kernel, *inputs: NDArray[Any], extra: int = 0) -> NDArray[Any]:
    """Call ``kernel(out, *inputs, *scratch)`` on flat blocks that stay in cache.

    The inputs share one shape and dtype; ``extra`` scratch arrays come with each block.
    """
    first = inputs[0]
    out = np.empty(first.shape, first.dtype)
    flat_out = out.reshape(-1)
    flat = [np.ascontiguousarray(x).reshape(-1) for x in inputs]
    dtype = computing_dtype(first.dtype)

    def work(start: int, stop: int) -> None:
        own = scratch("blockwise", (extra, stop - start), dtype)
        taken = [x[start:stop].astype(dtype, copy=False) for x in flat]
        if dtype == out.dtype:
            kernel(flat_out[start:stop], *taken, *own)
        else:
            wide = np.empty(stop - start, dtype)
            kernel(wide, *taken, *own)
            flat_out[start:stop] = wide

    run(work, blocks(first.size, dtype.itemsize), first.nbytes)
    return out


def quiet_ufunc(ufunc: np.ufunc) -> Callable[..., Any]:
    """The ufunc without warnings, for positional operands and ``out``; hardly slower than itself on tiny arrays."""

    def unary(x: Any, /, out: Any = None) -> Any:
        return enter().run(ufunc, x) if out is None else enter().run(ufunc, x, out)

    def binary(x: Any, y: Any, /, out: Any = None) -> Any:
        return enter().run(ufunc, x, y) if out is None else enter().run(ufunc, x, y, out)

    enter = running.another_quiet_context
    if ufunc.nout > 1 or ufunc.nin > 2:
        return quiet(ufunc)
    return _named(unary if ufunc.nin == 1 else binary, ufunc, "without warnings.")


def threaded_ufunc(ufunc: np.ufunc) -> Callable[..., Any]:
    """A quiet ufunc of one argument that cuts large contiguous float arrays into one piece per thread."""
    enter = running.another_quiet_context

    def unary(x: Any, /, out: Any = None) -> Any:
        if x.nbytes < running.THREAD_BYTES or out is not None or x.dtype.kind != "f" or not x.flags.c_contiguous:
            return enter().run(ufunc, x) if out is None else enter().run(ufunc, x, out)
        result = np.empty(x.shape, x.dtype)
        flat, flat_result = x.reshape(-1), result.reshape(-1)

        def work(start: int, stop: int) -> None:
            ufunc(flat[start:stop], flat_result[start:stop])

        step = max(1, -(-x.size // running.THREADS))
        enter().run(run, work, [(start, min(start + step, x.size)) for start in range(0, x.size, step)], x.nbytes)
        return result

    return _named(unary, ufunc, "without warnings; on all threads where x is large.")


def _named(function: Callable[..., Any], ufunc: np.ufunc, what: str) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = ufunc.__name__
    function.__doc__ = f"numpy.{ufunc.__name__}, {what}"
    return function


exp, log, sin, tanh = map(threaded_ufunc, (np.exp, np.log, np.sin, np.tanh))


def relu(x: NDArray[Any], /) -> NDArray[Any]:
    """max(x, 0), any real dtype; NaN stays NaN."""
    if x.dtype.kind == "b":
        return x.copy()
    if x.size < ROW_OF_ZEROS or not x.flags.c_contiguous:
        result: NDArray[Any] = np.maximum(x, 0)
        return result
    # np.maximum is vectorised for two contiguous operands, not for a scalar one.
    out = np.empty(x.shape, x.dtype)
    whole = x.size - x.size % ROW_OF_ZEROS
    flat, flat_out = x.reshape(-1), out.reshape(-1)
    rows, out_rows = flat[:whole].reshape(-1, ROW_OF_ZEROS), flat_out[:whole].reshape(-1, ROW_OF_ZEROS)
    np.maximum(rows, np.zeros(ROW_OF_ZEROS, x.dtype), out=out_rows)
    np.maximum(flat[whole:], 0, out=flat_out[whole:])
    return out


def sgn(x: NDArray[Any], /) -> NDArray[Any]:
    """-1, 0 or 1 by the sign; NaN stays NaN; a bool is its own sign."""
    result: NDArray[Any] = x.copy() if x.dtype.kind == "b" else np.sign(x)
    return result
