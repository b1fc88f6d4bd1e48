"""Functions of the stand-in: those of NumPy, with CuPy's parameters, for numbers and arrays of the device."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from .array import FUNCTIONS, closed, computed, ndarray, quietly, synchronized, use_driver

PARAMETERS = {
    **dict.fromkeys(("empty", "ones", "zeros"), "shape, dtype=float, order='C'"),
    **dict.fromkeys(("flatnonzero", "shape"), "a"),
    **dict.fromkeys(("max", "min"), "a, axis=None, out=None, keepdims=False"),
    "arange": "start, stop=None, step=1, dtype=None",
    "argsort": "a, axis=-1, kind=None",
    "array_equal": "a1, a2, equal_nan=False",
    "broadcast_to": "array, shape",
    "concatenate": "tup, axis=0, out=None, *, dtype=None, casting='same_kind'",
    "full": "shape, fill_value, dtype=None, order='C'",
    "searchsorted": "a, v, side='left', sorter=None",
    "sum": "a, axis=None, dtype=None, out=None, keepdims=False",
    "unique": ("ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True"),
    "unravel_index": "indices, dims, order='C'",
    "where": "condition, x=None, y=None",
    "zeros_like": "a, dtype=None, order='K', subok=None, shape=None",
}
WAITING = ("flatnonzero", "unique")  # for the number of elements of their results
LACKING = ("bitwise_count", "isnat", "matmul", "matvec", "spacing", "vecdot", "vecmat")
UFUNCS = [
    name
    for name, function in vars(np).items()
    if isinstance(function, np.ufunc) and function.nout == 1 and function.__name__ == name and name not in LACKING
]


def signature_of(parameters: str) -> inspect.Signature:
    """Return the signature of a list of parameters."""
    return inspect.signature(eval(f"lambda {parameters}: None"))


def _function(name: str, parameters: str) -> Callable[..., Any]:
    signature, function = signature_of(parameters), getattr(np, name)

    def call(*args: Any, **options: Any) -> Any:
        bound = signature.bind(*args, **options)
        if bound.arguments.get("kind") not in (None, "stable"):
            raise ValueError("kind can only be None or 'stable'")
        synchronized[name] += name in WAITING
        return quietly(function, *bound.args, **bound.kwargs)

    return call


class ufunc:
    """A function of elements."""

    def __init__(self, name: str) -> None:
        self.__name__ = name
        self._function = getattr(np, name)

    def __call__(self, *args: Any, out: Any = None, casting: str = "same_kind", dtype: Any = None) -> Any:
        if isinstance(out, tuple):  # as NumPy hands it on
            (out,) = out
        if out is not None and not isinstance(out, ndarray):
            raise TypeError(f"out must be an array of CuPy, not {type(out)}")
        if out is not None:
            use_driver()
        made = computed(self._function, *args, **{} if out is None else {"out": out}, casting=casting, dtype=dtype)
        return made if out is None else out


def matmul(a: Any, b: Any, out: Any = None) -> Any:
    """Return the product of matrices."""
    return quietly(np.matmul, a, b) if out is None else quietly(np.matmul, a, b, out)


def array(obj: Any, dtype: Any = None, copy: bool | None = True, order: str = "K") -> Any:
    """Return an array in new memory, from the device or from the host."""
    memory = obj._memory if isinstance(obj, ndarray) else obj
    return closed(np.array(memory, dtype=dtype, copy=copy, order=order), obj)  # type: ignore[call-overload]


def asarray(a: Any, dtype: Any = None, order: str | None = None) -> Any:
    """Return the array itself if it lies on the device, otherwise a copy on the device."""
    if isinstance(a, ndarray) and dtype in (None, a.dtype) and order is None:
        return a
    return array(a, dtype=dtype, copy=None if isinstance(a, ndarray) else True, order=order or "K")


def ascontiguousarray(a: Any, dtype: Any = None) -> Any:
    """Return the array in row-major order, with at least one dimension, as NumPy does."""
    if not isinstance(a, ndarray):
        return array(np.ascontiguousarray(a, dtype))
    same = a.flags.c_contiguous and a.ndim and dtype in (None, a.dtype)
    return a if same else quietly(np.ascontiguousarray, a, dtype)


def as_strided(x: Any, shape: Any = None, strides: Any = None) -> Any:
    """Return a view with any sizes and strides, unchecked."""
    return quietly(np.lib.stride_tricks.as_strided, x, shape, strides)


FUNCTIONS.update({name: _function(name, parameters) for name, parameters in PARAMETERS.items()})
FUNCTIONS.update({name: ufunc(name) for name in UFUNCS})
FUNCTIONS["matmul"] = matmul
