"""New arrays of the shape, dtype and device of another one; results are packed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pynested.autograd import Array, create
from pynested.autograd.dense.canonical import as_array, canonical_dtype

from .nested_array import NestedArray


def _like(x: Any, dtype: Any, requires_grad: bool, make: Callable[[tuple[int, ...], np.dtype[Any], str], Array]) -> Any:
    """``make(shape, dtype, device)`` for the values that packed components of ``x`` have."""
    given = x if type(x) is NestedArray else as_array("like", x)
    kind = given.dtype if dtype is None else canonical_dtype(dtype)
    if type(given) is NestedArray:
        shape = list(given.data.shape)
        structure = given.structure.packed
        if not given.structure.tiles or given.structure is not structure:
            shape = _packed_shape(given)
        made: Any = NestedArray(make(tuple(shape), kind, given.device), structure)
    else:
        made = make(given.shape, kind, given.device)
    return made.requires_grad_() if requires_grad else made


def _packed_shape(x: NestedArray) -> list[int]:
    from .structure import Jagged

    if not isinstance(x.structure, Jagged):
        return [x.structure.packed.buffer_size]
    shape = list(x.data.shape)
    shape[x.structure.ragged_dim - 1] = x.structure.segments.rows
    return shape


def empty_like(x: Any, *, dtype: Any = None, requires_grad: bool = False) -> Any:
    """An array like ``x`` with arbitrary values."""
    return _like(x, dtype, requires_grad, lambda s, k, d: create.empty(s, dtype=k, device=d))


def zeros_like(x: Any, *, dtype: Any = None, requires_grad: bool = False) -> Any:
    """An array like ``x`` of zeros."""
    return _like(x, dtype, requires_grad, lambda s, k, d: create.zeros(s, dtype=k, device=d))


def ones_like(x: Any, *, dtype: Any = None, requires_grad: bool = False) -> Any:
    """An array like ``x`` of ones."""
    return _like(x, dtype, requires_grad, lambda s, k, d: create.ones(s, dtype=k, device=d))


def full_like(x: Any, fill_value: Any, *, dtype: Any = None, requires_grad: bool = False) -> Any:
    """An array like ``x`` with ``fill_value`` everywhere."""
    return _like(x, dtype, requires_grad, lambda s, k, d: create.full(s, fill_value, dtype=k, device=d))


def rand_like(x: Any, *, dtype: Any = None, requires_grad: bool = False, generator: Any = None) -> Any:
    """An array like ``x`` of uniform random numbers from [0, 1)."""
    return _like(x, dtype, requires_grad, lambda s, k, d: create.rand(s, dtype=k, device=d, generator=generator))


def randn_like(x: Any, *, dtype: Any = None, requires_grad: bool = False, generator: Any = None) -> Any:
    """An array like ``x`` of random numbers with the standard normal distribution."""
    return _like(x, dtype, requires_grad, lambda s, k, d: create.randn(s, dtype=k, device=d, generator=generator))


def randint_like(x: Any, low: int, high: int | None = None, *, dtype: Any = None, generator: Any = None) -> Any:
    """An array like ``x`` of random integers from ``low`` (0 if only one limit is given) to ``high`` - 1."""
    return _like(x, dtype, False, lambda s, k, d: create.randint(low, high, s, dtype=k, device=d, generator=generator))
