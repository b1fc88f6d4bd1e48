"""Comparison of whole arrays: `equal` and `allclose`, which return one bool.

The chapter *comparison* of the specification also has the comparisons of elements (`elementwise.relational`),
`logical_not` (`elementwise.logical`), and the selection of elements by a condition (`selection`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.operands import as_arrays_on_one_device
from pynested.autograd.arguments.scalars import canonical_real, nearest_float
from pynested.autograd.arguments.shapes import broadcast_shape
from pynested.autograd.call_errors import check_flags
from pynested.autograd.dispatch import operator
from pynested.autograd.primitives.movement import to_dtype
from pynested.backends import get_backend
from pynested.backends.dtypes import is_float
from pynested.lifting.mapping import map_elementwise
from pynested.nested.layout_conversion import elements
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import Operand, check_devices
from pynested.nested.shape_comparison import first_difference, same_shape

from .elementwise.logical import logical_not
from .elementwise.relational import eq, ge, gt, le, lt, ne
from .selection import masked_fill, where

__all__ = ["allclose", "eq", "equal", "ge", "gt", "le", "logical_not", "lt", "masked_fill", "ne", "where"]

_INT64 = np.dtype(np.int64)


@operator
def equal(self: Operand, other: Operand) -> bool:
    """Return whether two arrays have the same shape and equal elements: ``(B, *, D), (B, *, D) -> bool``.

    If one operand is dense, its slices along dimension 0 are compared with the components of the other operand. Layout,
    placement and dtype are not compared; numbers of different dtypes are compared exactly. The operands do not
    broadcast; different shapes give False. NaN equals nothing, and +0 equals -0. Two batches of no components are equal
    if their component shapes are equal. No gradient. Clauses: EQUAL-1 to EQUAL-6. After `torch.equal`.

    >>> nt = pn.nested_array([[1, 2], [3]], layout=pn.jagged)
    >>> pn.equal(nt, pn.nested_array([[1.0, 2.0], [3.0]])), pn.equal(nt, nt[:1])
    (True, False)
    """
    if type(self) is not NestedArray and type(other) is not NestedArray:
        a, b = as_arrays_on_one_device("equal", self, other)
        return a.shape == b.shape and _have_equal_elements(a.device, a.data, b.data)
    if isinstance(self, NestedArray) and isinstance(other, NestedArray):
        check_devices("equal", (self, other))
        return same_shape(self, other) and _have_equal_elements(self.device, _raw_elements(self), _raw_elements(other))
    nested, dense = (self, other) if isinstance(self, NestedArray) else (other, self)
    assert isinstance(nested, NestedArray)
    _, batch = as_arrays_on_one_device("equal", nested.data, dense)
    if nested.ndim != batch.ndim or len(nested) != batch.shape[0]:
        return False
    component_shape = np.array([batch.shape[1:]], np.int64)
    if first_difference(nested.extents, component_shape) is not None:
        return False
    return _have_equal_elements(nested.device, _raw_elements(nested), batch.data.reshape(-1))


def _have_equal_elements(device: str, a: Any, b: Any) -> bool:
    """Return whether raw arrays of equal shape have equal elements. Floats and int64 are compared exactly."""
    is_equal = a == b
    # NumPy compares a float and an int64 as float64s, which cannot represent every int64.
    if a.dtype != b.dtype and _INT64 in (a.dtype, b.dtype):
        floats, integers = (b, a) if a.dtype == _INT64 else (a, b)
        if is_float(floats.dtype):
            backend = get_backend(device)
            wide = backend.cast(floats, np.dtype(np.float64))
            is_equal = is_equal & (wide < 2.0**63) & (backend.cast(wide, _INT64) == integers)
    return bool(is_equal.all())


def _raw_elements(x: NestedArray) -> Any:
    """Return the raw elements, component by component, each in C order."""
    return elements(NestedArray(x.data.detach(), x.structure)).data


@operator
def allclose(self: Operand, other: Operand, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Return whether ``|self - other| <= atol + rtol * |other|`` everywhere: ``(B, *, D), (B, *, D) -> bool``.

    The operands are compared as the nearest float64s. Two empty components are close; without any elements the result
    is True. An infinity is close to itself only. No gradient. Clauses: ALLCLOSE-1 to ALLCLOSE-7. After
    `torch.allclose`.

    Parameters
    ----------
    rtol, atol : float
        The tolerance relative to ``other``, and the absolute tolerance.
    equal_nan : bool
        Whether NaN is close to NaN.

    Raises
    ------
    StructureError
        For nested operands that differ in lengths or numbers of components; `equal` returns False instead.
    ArgumentError
        For a tolerance that is below 0 or NaN.

    Examples
    --------
    >>> nt = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged)
    >>> pn.allclose(nt, nt + 1e-9), pn.allclose(nt, nt + 0.1), pn.allclose(nt, nt + 0.1, atol=0.2)
    (True, False, True)
    """
    check_flags("allclose", equal_nan=equal_nan)
    relative, absolute = canonical_real("allclose", "rtol", rtol, 0), canonical_real("allclose", "atol", atol, 0)

    def are_close(a: Any, b: Any) -> Array:
        return _are_close(a, b, relative, absolute, equal_nan)

    is_nested = NestedArray in (type(self), type(other))
    result = map_elementwise("allclose", are_close, self, other).data if is_nested else are_close(self, other)
    return bool(result.data.all())


def _are_close(self: Any, other: Any, rtol: float, atol: float, equal_nan: bool) -> Array:
    """Return for each element whether ``|a - b| <= atol + rtol * |b|``; a and b are the nearest float64s."""
    operands = [nearest_float(x) if type(x) is int else x for x in (self, other)]
    a, b = [to_dtype(x.detach(), np.dtype(np.float64)) for x in as_arrays_on_one_device("allclose", *operands)]
    broadcast_shape("allclose", a.shape, b.shape)
    magnitude = abs(b)
    are_finite = (abs(a) < math.inf) & (magnitude < math.inf)
    is_close = (abs(a - b) <= magnitude * rtol + atol) & are_finite | (a == b)
    return is_close | (a != a) & (b != b) if equal_nan else is_close
