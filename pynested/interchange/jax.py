"""Exchange with JAX, which has no jagged arrays: values, offsets and lengths are separate arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pynested.autograd import Array
from pynested.autograd.call_errors import check_optional_flags
from pynested.autograd.decorators import operator
from pynested.autograd.dlpack import from_dlpack
from pynested.backends.errors import ArgumentError, DTypeError, LayoutError, named_type
from pynested.construct.from_buffers import nested_array_from_jagged
from pynested.nested.nested_array import NestedArray
from pynested.structure import Jagged
from pynested.structure.validation import as_integers

from .exchange_checks import (
    TO_JAX_32_BIT,
    TO_JAX_64_BIT,
    check_exportable,
    check_known_dtype,
    import_optional,
    values_for_export,
)


class JaxParts(NamedTuple):
    """The values, offsets and lengths of a jagged array as JAX arrays; lengths are None without gaps."""

    values: Any
    offsets: Any
    lengths: Any


@operator
def from_jax(values: Any, offsets: Any = None, lengths: Any = None, *, copy: bool | None = None) -> NestedArray:
    """Make a jagged array of values and offsets of JAX, in shared, read-only memory: ``(N, D) -> (B, *, D)``.

    Parameters
    ----------
    offsets, lengths : integer arrays, optional
        As for `pynested.nested_array_from_jagged`: one of them, or both if there are gaps.

    Examples
    --------
    >>> import jax.numpy as jnp  # doctest: +SKIP
    >>> pn.from_jax(jnp.arange(3.0), lengths=[2, 1]).shape  # doctest: +SKIP
    (2, j1)
    """
    check_optional_flags("from_jax", copy=copy)
    if not hasattr(values, "__dlpack__"):
        raise ArgumentError(
            f"from_jax: values must be an array of JAX, not {named_type(values)}. The parts that to_jax returns are "
            "separate arguments: pn.from_jax(*parts)."
        )
    check_known_dtype("from_jax", str(getattr(values, "dtype", "float64")))
    host_offsets, host_lengths = [
        None if integers is None else as_integers("from_jax", argument, integers)
        for argument, integers in (("offsets", offsets), ("lengths", lengths))
    ]
    return nested_array_from_jagged(from_dlpack(values, copy=copy), host_offsets, host_lengths)


@operator
def to_jax(x: NestedArray, *, copy: bool | None = None) -> JaxParts:
    """Return the values, offsets and lengths of a jagged array as JAX arrays: ``(B, *, D) -> (N, D), (B + 1,), (B,)``.

    The ragged dimension must be 1. Values keep their dtype. Offsets and lengths have JAX's default integer dtype:
    int32, or int64 with ``jax_enable_x64``. Without gaps ``lengths`` is None, and ``jnp.diff(offsets)`` are the
    ``group_sizes`` of `jax.lax.ragged_dot`.

    JAX shares memory that is aligned to 64 bytes, in C order and writable. Do not write to shared memory, as JAX
    assumes that it does not change. Unless ``jax_enable_x64`` is set, JAX would narrow int64, float64 and offsets
    beyond int32, so they raise DTypeError. LayoutError unless the array is jagged along dimension 1.

    >>> x = pn.nested_array([[1, 2], [3]], layout=pn.jagged, dtype=pn.int32)
    >>> pn.to_jax(x).offsets  # doctest: +SKIP
    Array([0, 2, 3], dtype=int32)
    """
    check_exportable("to_jax", x, copy)
    jnp = import_optional("to_jax", "jax.numpy", "jax")
    if isinstance(x, Array):
        raise ArgumentError("to_jax: takes a nested array, not a dense array. Use jax.numpy.from_dlpack(x).")
    structure = x.structure
    if not isinstance(structure, Jagged) or structure.ragged_dim != 1:
        raise LayoutError("to_jax: x is not jagged along dimension 1. Transpose it, or take x.to(layout=pn.jagged).")
    is_x64_enabled = jnp.arange(0).dtype == np.int64
    if not is_x64_enabled and structure.offsets.max() > np.iinfo(np.int32).max:
        raise DTypeError(
            f"to_jax: offset {structure.offsets.max()} is beyond int32, the integers of JAX without "
            "jax_enable_x64. Enable 64 bits: jax.config.update('jax_enable_x64', True)."
        )
    values = values_for_export(TO_JAX_64_BIT if is_x64_enabled else TO_JAX_32_BIT, x.data, copy)
    lengths = None if structure.lengths is None else jnp.array(structure.lengths)
    return JaxParts(jnp.from_dlpack(values), jnp.array(structure.offsets), lengths)
