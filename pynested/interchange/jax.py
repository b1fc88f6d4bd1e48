"""JAX, which has no ragged array: its parts go out and come in."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pynested.autograd.exchange import from_dlpack
from pynested.backends.errors import LayoutError
from pynested.construct.buffers import nested_array_from_jagged
from pynested.nested.array import NestedArray
from pynested.structure import Jagged

from .lists import bare, library, untracked


class JaxParts(NamedTuple):
    """A jagged array as arrays of JAX."""

    values: Any
    offsets: Any
    lengths: Any


def from_jax(values: Any, offsets: Any = None, lengths: Any = None, *, copy: bool | None = None) -> NestedArray:
    """A jagged array ``(B, *, D)`` in the memory of ``values``, which is read-only.

    Parameters
    ----------
    values : jax.Array (N, D)
    offsets, lengths : integer arrays, optional
        As for `pynested.nested_array_from_jagged`: one of them, or both where there are holes.
    copy : bool, optional
        True copies always; nothing else needs one.

    Examples
    --------
    >>> import jax.numpy as jnp  # doctest: +SKIP
    >>> pn.from_jax(jnp.arange(3.0), lengths=[2, 1]).shape  # doctest: +SKIP
    (2, j1)
    """
    starts, counted = (None if part is None else np.asarray(part) for part in (offsets, lengths))
    return nested_array_from_jagged(from_dlpack(values, copy=copy), starts, counted)


def to_jax(x: NestedArray, *, copy: bool | None = None) -> JaxParts:
    """The values, offsets and lengths (None without holes) of a jagged array, as arrays of JAX.

    ``lengths`` of a packed array are ``jnp.diff(offsets)``, the ``group_sizes`` of `jax.lax.ragged_dot`.

    Parameters
    ----------
    x : NestedArray
        In the jagged layout, ragged along dimension 1.
    copy : bool, optional
        True copies always. JAX shares memory that is aligned to 64 bytes, and copies any other.

    Raises
    ------
    LayoutError
        For the strided layout, and another ragged dimension.
    GradientError
        For an array that requires grad; ``detach`` it.

    Examples
    --------
    >>> pn.to_jax(pn.nested_array([[1, 2], [3]], layout=pn.jagged)).offsets  # doctest: +SKIP
    Array([0, 2, 3], dtype=int32)
    """
    jnp = library("to_jax", "jax.numpy", "jax")
    untracked("to_jax", x)
    structure = x.structure
    if not isinstance(structure, Jagged) or structure.ragged_dim != 1:
        raise LayoutError("to_jax: this array is not jagged along dimension 1. Convert it: x.to(layout=pn.jagged).")
    values = bare("to_jax", x.data, copy)
    lengths = None if structure.lengths is None else jnp.array(structure.lengths)
    return JaxParts(jnp.array(values) if copy else jnp.from_dlpack(values), jnp.array(structure.offsets), lengths)
