"""Input values that any language can draw again: splitmix64 on the FNV-1a hash of a key.

h(key)     = FNV-1a, 64 bits, of the UTF-8 bytes of the key
word(k, i) = mix(h(key) + (i + 1) * 0x9e3779b97f4a7c15)      all modulo 2**64
mix(z)     : z ^= z >> 30; z *= 0xbf58476d1ce4e5b9; z ^= z >> 27; z *= 0x94d049bb133111eb; z ^= z >> 31

integer in low..high      low + word % (high - low + 1)
float of p bits           ((word >> (64 - p)) - 2**(p - 1)) * 2**(3 - p), in [-4, 4), exact in its dtype
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..encoding import Components
from ..numerics import NDArray

__all__ = ["dense", "distinct", "floats", "integers", "nest", "word"]

_MASK = 2**64 - 1
_BITS = {"float16": 11, "float32": 24, "float64": 53}
Shapes = Sequence[tuple[int, ...]]


@functools.lru_cache(64)
def _hash(key: str) -> int:
    state = 0xCBF29CE484222325
    for byte in key.encode():
        state = ((state ^ byte) * 0x100000001B3) & _MASK
    return state


def word(key: str, index: int) -> int:
    """Return word number `index` of the stream of `key`."""
    z = (_hash(key) + (index + 1) * 0x9E3779B97F4A7C15) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


def nest(dtype: str, components: Sequence[Any], ragged: int | None = 1, shape: Any = None) -> Components:
    """Return components of literal numbers; `ragged` names the ragged dimension where all lengths are equal."""
    arrays = [np.array(component, dtype=dtype) for component in components]
    return named(arrays, dtype, ragged, shape)


def named(arrays: Sequence[NDArray], dtype: str, ragged: int | None, shape: Any = None) -> Components:
    """Return the components with a logical shape in which the ragged dimension is None."""
    if shape is None:
        sizes: list[int | None] = list(Components(arrays, dtype=dtype).shape)
        if ragged is not None and ragged < len(sizes):
            sizes[ragged] = None
        shape = sizes
    return Components(arrays, shape, dtype)


def integers(
    dtype: str, shapes: Shapes, key: str, low: int = -8, high: int = 8, ragged: int | None = 1, shape: Any = None
) -> Components:
    """Return components of small integers in `dtype`; unsigned dtypes take absolute values, bool their parity."""
    return named(_cut([low + w % (high - low + 1) for w in _words(key, shapes)], dtype, shapes), dtype, ragged, shape)


def floats(dtype: str, shapes: Shapes, key: str, ragged: int | None = 1, scale: float = 1.0) -> Components:
    """Return components of floats that use every bit of `dtype`, in [-4, 4) times the power of two `scale`."""
    bits = _BITS[dtype]
    numbers = [((w >> (64 - bits)) - 2 ** (bits - 1)) * 2.0 ** (3 - bits) * scale for w in _words(key, shapes)]
    return named(_cut(numbers, dtype, shapes), dtype, ragged)


def distinct(dtype: str, shapes: Shapes, key: str, ragged: int | None = 1) -> Components:
    """Return components of integers around 0 that are all different, in an order drawn from `key`."""
    words = _words(key, shapes)
    order = sorted(range(len(words)), key=words.__getitem__)
    return named(_cut([rank - len(words) // 2 for rank in order], dtype, shapes), dtype, ragged)


def dense(values: Components) -> NDArray:
    """Return the only component of `values`: any of the draws above as one dense array."""
    (array,) = values
    return array


def _words(key: str, shapes: Shapes) -> list[int]:
    return [word(key, index) for index in range(sum(math.prod(shape) for shape in shapes))]


def _cut(numbers: list[Any], dtype: str, shapes: Shapes) -> list[NDArray]:
    kind = np.dtype(dtype).kind
    flat = np.array([n % 2 if kind == "b" else abs(n) if kind == "u" else n for n in numbers], dtype=dtype)
    starts = np.cumsum([0, *(math.prod(shape) for shape in shapes)])
    return [flat[start : start + math.prod(shape)].reshape(shape) for start, shape in zip(starts, shapes, strict=False)]
