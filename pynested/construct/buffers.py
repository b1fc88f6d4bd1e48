"""Nested arrays as views of buffers that are there already.

What a caller hands over is checked here, once: offsets, lengths, sizes and strides are copied and frozen, and every
component lies inside its buffer, so that no kernel can read outside. The memory is shared: a write into it is seen. A
buffer of NumPy goes to the device of `set_default_device`, and its memory is shared if that is the CPU.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.autograd.arguments.shapes import canonical_int
from pynested.autograd.default_device import placed
from pynested.autograd.dispatch import operator
from pynested.autograd.rules import movement as moves
from pynested.backends.errors import ArgumentError, DimensionError, StructureError
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import Dense, IntsLike
from pynested.structure import Jagged, Strided
from pynested.structure.validation import as_integers, check_lengths


@operator
def nested_array_from_jagged(
    values: Dense,
    offsets: IntsLike | None = None,
    lengths: IntsLike | None = None,
    jagged_dim: int | None = None,
    min_seqlen: int | None = None,
    max_seqlen: int | None = None,
) -> NestedArray:
    """A jagged view of ``values``, cut along dimension ``jagged_dim - 1``: ``(N, D) -> (B, *, D)``.

    Parameters
    ----------
    values : Array
        Of any dtype; the memory is shared. NumPy's own writes into it are not noticed where a gradient needs it.
    offsets : int array (B + 1,), optional
        Component ``i`` begins at ``offsets[i]`` and, without lengths, ends before ``offsets[i + 1]``.
    lengths : int array (B,), optional
        With offsets, component ``i`` has ``lengths[i]`` elements; holes, overlaps and any order are allowed. Alone, the
        components follow each other from 0, and what is left at the end is a hole.
    jagged_dim : int, optional
        Counts the batch as dimension 0; 1 by default.
    min_seqlen, max_seqlen : int, optional
        Bounds that the lengths must keep; nothing else depends on them.

    Raises
    ------
    StructureError
        Without lengths, for offsets that do not begin at 0, decrease, or do not end at the size of ``values``. With
        them, for a component that is not inside ``values``. For neither of the two, other than one dimension, numbers
        of them that do not fit, and bounds that do not hold. For values of as many dimensions as an array can have.
    DimensionError
        For a ``jagged_dim`` below 1 or above the number of dimensions of ``values``.
    DTypeError
        For offsets or lengths that are not integers.

    Notes
    -----
    Equal neighbouring offsets make an empty component, the offsets [0] no components. Gradient: an element of
    ``values`` gets the sum of the cotangents of every component that holds it, +0 in a hole.

    Clauses: NESTED_ARRAY_FROM_JAGGED-1 to NESTED_ARRAY_FROM_JAGGED-13. After `torch.nested.nested_tensor_from_jagged`.

    Examples
    --------
    >>> values = pn.array([1, 2, 3, 4])
    >>> pn.nested_array_from_jagged(values, offsets=[0, 1, 1, 4]).unbind()
    (array([1]), array([]), array([2, 3, 4]))
    """
    name = "nested_array_from_jagged"
    if isinstance(values, NestedArray):
        raise ArgumentError(f"{name}: values must be dense, this array is nested.")
    data = placed(name, values)
    if offsets is None and lengths is None:
        raise StructureError(f"{name}: At least one of offsets or lengths is required.")
    at = 1 if jagged_dim is None else canonical_int(name, "jagged_dim", jagged_dim)
    if at < 1 or at > data.ndim:
        raise DimensionError(
            f"{name}: Expected jagged_dim >=1 and <={data.ndim}, but got {at}: it counts the batch as dimension 0, and "
            f"values with {data.ndim} dimension{'s' if data.ndim > 1 else ''} make a nested array with {data.ndim + 1}."
        )
    if offsets is None:
        structure = _one_after_the_other(name, lengths, at, data.shape[at - 1])
    else:
        structure = Jagged(offsets, lengths, at, name=name)
    if not structure.fits(data.data):
        raise structure.misfit_error(name, data)
    _check_limits(name, structure, min_seqlen, max_seqlen)
    return NestedArray(moves.alias(data), structure)


def _one_after_the_other(name: str, lengths: Any, at: int, rows: int) -> Jagged:
    """Components that follow each other from 0; what they leave of the rows is a hole."""
    counted = as_integers(name, "lengths", lengths, 1)
    check_lengths(name, counted)
    packed = Jagged.from_lengths(counted, at)
    if packed.rows > rows:
        raise StructureError(
            f"{name}: lengths add up to {packed.rows}, and values have {rows} rows. Give offsets too where components "
            "overlap."
        )
    return packed if packed.rows == rows else Jagged.from_valid(packed.offsets, counted, at)


def _check_limits(name: str, structure: Jagged, shortest: Any, longest: Any) -> None:
    """What a caller says of the shortest and longest component must hold."""
    lengths = structure.component_lengths
    least, most = int(lengths.min(initial=np.iinfo(np.int64).max)), int(lengths.max(initial=0))
    low = least if shortest is None else canonical_int(name, "min_seqlen", shortest)
    high = most if longest is None else canonical_int(name, "max_seqlen", longest)
    if lengths.size and (low > least or high < most):
        what = f"min_seqlen={low}" if low > least else f"max_seqlen={high}"
        raise StructureError(f"{name}: {what} does not hold: lengths are {least} to {most}.")


@operator
def nested_array_from_strided(
    values: Dense, sizes: IntsLike, strides: IntsLike | None = None, offsets: IntsLike | None = None
) -> NestedArray:
    """A strided view of the flat ``values``: ``(N,) -> (B, *, *)``, one dimension for each column of ``sizes``.

    Element ``k`` of component ``i`` is ``values[offsets[i] + sum(k * strides[i])]``.

    Parameters
    ----------
    values : Array
        One-dimensional, of any dtype; the memory is shared.
    sizes : int array (B, d)
        The shape of each component.
    strides : int array (B, d), optional
        In elements, 0 or more; by default those of C order.
    offsets : int array (B,), optional
        Where each component begins; by default they follow each other from 0. Gaps and overlaps are allowed.

    Raises
    ------
    StructureError
        For a component that reaches below 0 or beyond ``values``, naming it; ``values`` of more dimensions; negative
        sizes or strides; and other shapes of sizes, strides and offsets.
    DTypeError
        For sizes, strides or offsets that are not integers.

    Notes
    -----
    A component without elements reaches nowhere, and a stride is not taken where a size is 0 or 1; such numbers may be
    anything. A component has at most 2**59 - 1 elements, sizes of 0 counted as 1. Gradient: an element of ``values``
    gets the sum of the cotangents of every place that shows it, +0 where none does.

    Clauses: NESTED_ARRAY_FROM_STRIDED-1 to NESTED_ARRAY_FROM_STRIDED-7. After `torch._nested_view_from_buffer`.

    Examples
    --------
    >>> pn.nested_array_from_strided(pn.arange(6), [[2, 2], [2, 1]], strides=[[1, 2], [1, 1]], offsets=[0, 4]).unbind()
    (array([[0, 2],
           [1, 3]]), array([[4],
           [5]]))
    """
    name = "nested_array_from_strided"
    data = placed(name, values)
    if data.ndim != 1 or not data.is_contiguous():
        raise StructureError(f"{name}: the buffer must be flat and contiguous, this one has shape {data.shape}.")
    structure = Strided(sizes, strides, offsets, data.numel(), name=name)
    return NestedArray(moves.alias(data), structure)
