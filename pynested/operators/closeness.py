"""Whether nested and dense arrays are near each other."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.canonical import together
from pynested.autograd.arguments.shapes import broadcast_shape
from pynested.autograd.call_errors import check_flags
from pynested.autograd.dispatch import operator
from pynested.autograd.numbers import canonical_real, nearest_float
from pynested.autograd.rules.movement import to_dtype
from pynested.lifting.mapping import map_elementwise
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import Operand


@operator
def allclose(self: Operand, other: Operand, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """One Python bool: ``|self - other| <= atol + rtol * |other|`` everywhere: ``(B, *, D), (B, *, D) -> bool``.

    Parameters
    ----------
    self, other : NestedArray, Array or number
        They broadcast, and are compared as the nearest float64s.
    rtol, atol : float
        The relative and the absolute tolerance; the relative one is of ``other``.
    equal_nan : bool
        Whether NaN is near NaN.

    Raises
    ------
    StructureError
        For nested operands that differ in lengths or numbers of components; `equal` answers False instead.
    ArgumentError
        For a tolerance below 0, or one that is NaN.

    Notes
    -----
    Where there is nothing to compare, as in an empty component, the answer is True. An infinity is near itself only.
    No gradient.

    Clauses: ALLCLOSE-1 to ALLCLOSE-7. After `torch.allclose`.

    Examples
    --------
    >>> nt = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged)
    >>> pn.allclose(nt, nt + 1e-9), pn.allclose(nt, nt + 0.1), pn.allclose(nt, nt + 0.1, atol=0.2)
    (True, False, True)
    """
    check_flags("allclose", equal_nan=equal_nan)
    relative, absolute = canonical_real("allclose", "rtol", rtol, 0), canonical_real("allclose", "atol", atol, 0)

    def near(a: Any, b: Any) -> Array:
        return _near(a, b, relative, absolute, equal_nan)

    nested = NestedArray in (type(self), type(other))
    found = map_elementwise("allclose", near, self, other).data if nested else near(self, other)
    return bool(found.data.all())


def _near(self: Any, other: Any, rtol: float, atol: float, equal_nan: bool) -> Array:
    """Where ``|a - b| <= atol + rtol * |b|`` for the nearest float64s; an infinity is near itself only."""
    given = [nearest_float(x) if type(x) is int else x for x in (self, other)]
    a, b = [to_dtype(x.detach(), np.dtype(np.float64)) for x in together("allclose", *given)]
    broadcast_shape("allclose", a.shape, b.shape)
    size = abs(b)
    near = (abs(a - b) <= size * rtol + atol) & (abs(a) < math.inf) & (size < math.inf) | (a == b)
    return near | (a != a) & (b != b) if equal_nan else near
