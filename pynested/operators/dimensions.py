"""Dimensions named in PyTorch's words, ``dim`` and ``keepdim``, or in NumPy's, ``axis`` and ``keepdims``."""

from __future__ import annotations

from pynested.autograd.call_errors import check_flags, check_optional_flags
from pynested.backends.errors import ArgumentError
from pynested.nested.operands import Dims

NUMPYS_NAMES = ("axis", "keepdims")  # of dim and keepdim


def either_dim(name: str, dim: int | None, axis: int | None) -> int:
    """Return the one dimension that must be given."""
    if dim is not None and axis is not None:
        raise _given_twice(name, "dim", dim, "axis", axis)
    named = axis if dim is None else dim
    if named is None:
        raise ArgumentError(
            f"{name}: 'dim', which dimension, is not given, and neither is 'axis', NumPy's name of it. Name one: "
            f"pn.{name}(x, dim=1)."
        )
    return named


def either_dims(name: str, dim: Dims, keepdim: bool, axis: Dims, keepdims: bool | None) -> tuple[Dims, bool]:
    """Return the dimensions to reduce, None for all of them, and whether they stay with size 1."""
    check_flags(name, keepdim=keepdim)
    check_optional_flags(name, keepdims=keepdims)
    if axis is not None and dim is not None:
        raise _given_twice(name, "dim", dim, "axis", axis)
    if keepdims is not None and keepdim:
        raise _given_twice(name, "keepdim", keepdim, "keepdims", keepdims)
    return axis if dim is None else dim, keepdim if keepdims is None else keepdims


def _given_twice(name: str, ours: str, value: object, numpys: str, other: object) -> ArgumentError:
    return ArgumentError(f"{name}: {ours}={value!r} and {numpys}={other!r} say the same thing. Give one of them.")
