"""Layer norm and dropout on dense arrays."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from pynested.backends import get_backend
from pynested.backends.errors import ShapeError
from pynested.backends.host import from_host
from pynested.backends.memory import with_room

from .. import random
from ..array import Array, raw
from ..numbers import canonical_real
from ..rules import elementwise as of_elements
from ..rules import movement as moves
from ..rules import rows as of_rows
from .canonical import as_array, together
from .entries import floating, to_dtype
from .shapes import canonical_shape

__all__ = ["dropout", "layer_norm"]


def layer_norm(
    self: Any, normalized_shape: Sequence[int] | int, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Array:
    """Each trailing block of ``normalized_shape`` less its mean, by its standard deviation, times weight, plus bias."""
    x = as_array("layer_norm", self)
    shape = canonical_shape("layer_norm", (normalized_shape,))
    if not shape or x.shape[max(x.ndim - len(shape), 0) :] != shape:
        raise ShapeError(f"layer_norm: normalized_shape {shape} must be the last sizes of an array of shape {x.shape}.")
    return norm_rows(floating("layer_norm", x), shape, weight, bias, eps)


def norm_rows(x: Array, shape: tuple[int, ...], weight: Any, bias: Any, eps: float) -> Array:
    """`layer_norm` with its arguments checked, but for weight, bias and eps."""
    eps = canonical_real("layer_norm", "eps", eps, 0)
    size = prod(shape)
    x, weight, bias = together("layer_norm", x, weight, bias)
    scale, shift = _parameter("weight", weight, shape, x.dtype), _parameter("bias", bias, shape, x.dtype)
    rows = _in_shape(x, (x.numel() // max(size, 1), size))  # rows without elements are none, however many
    kept = get_backend(x.device).layer_norm(rows.data, raw(scale), raw(shift), eps)
    return _in_shape(of_rows.layer_norm(rows, scale, shift, eps, kept), x.shape)


def _in_shape(x: Array, shape: tuple[int, ...]) -> Array:
    """``x`` in a shape that it mostly has already; then there is no line to write."""
    return x if x.shape == shape else moves.reshape(x, shape)


def _parameter(name: str, given: Array | None, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array | None:
    """A weight or a bias, if there is one, in ``dtype`` and without dimensions but one."""
    if given is None:
        return None
    if given.shape != shape:
        raise ShapeError(f"layer_norm: {name} must have shape {shape}, not {given.shape}.")
    return _in_shape(to_dtype(floating("layer_norm", given), dtype), (prod(shape),))


def dropout(self: Any, p: float = 0.5, training: bool = True, *, generator: Any = None) -> Array:
    """Each element times 0 with probability ``p``, and the others times 1 / (1 - p); nothing unless ``training``."""
    x = floating("dropout", as_array("dropout", self))
    share = canonical_real("dropout", "p", p, 0, 1)
    if not training or share == 0:
        return moves.alias(x)
    kept = from_host(with_room(random.default(generator).random)(x.shape) >= share, x.device)
    return of_elements.dropout(x, kept, share)
