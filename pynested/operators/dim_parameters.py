"""The parameters ``dim`` and ``keepdim`` of PyTorch, and their names in NumPy, ``axis`` and ``keepdims``."""

from __future__ import annotations

from pynested.autograd.call_errors import check_flags
from pynested.backends.errors import ArgumentError
from pynested.nested.operands import Dims


def dim_or_axis(name: str, dim: int | None, axis: int | None) -> int:
    """Return the dimension, which must be given under exactly one of its two names."""
    if dim is not None and axis is not None:
        raise _both_names_error(name, "dim", dim, "axis", axis)
    dimension = axis if dim is None else dim
    if dimension is None:
        raise ArgumentError(
            f"{name}: the dimension is missing. Give 'dim', or 'axis', NumPy's name of it: pn.{name}(x, dim=1)."
        )
    return dimension


def dims_or_axis(name: str, dim: Dims, keepdim: bool, axis: Dims, keepdims: bool | None) -> tuple[Dims, bool]:
    """Return the dimensions to reduce, None for all, and whether they stay with size 1."""
    check_flags(name, keepdim=keepdim, keepdims=keepdims is not None and keepdims)  # None counts as False
    if axis is not None and dim is not None:
        raise _both_names_error(name, "dim", dim, "axis", axis)
    if keepdims is not None and keepdim:
        raise _both_names_error(name, "keepdim", keepdim, "keepdims", keepdims)
    return axis if dim is None else dim, keepdim if keepdims is None else keepdims


def _both_names_error(
    name: str, torch_name: str, torch_value: object, numpy_name: str, numpy_value: object
) -> ArgumentError:
    return ArgumentError(
        f"{name}: {torch_name}={torch_value!r} and {numpy_name}={numpy_value!r} are the same parameter. Give only one."
    )
