"""Whether nested and dense arrays are near each other."""

from __future__ import annotations

from pynested.autograd import Array, dense
from pynested.autograd.dense.closeness import close, tolerances
from pynested.components.mapping import elementwise
from pynested.nested.array import NestedArray
from pynested.nested.operands import Operand


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
    if NestedArray not in (type(self), type(other)):
        return dense.allclose(self, other, rtol, atol, equal_nan)
    relative, absolute = tolerances(rtol, atol)

    def near(a: Array, b: Array) -> Array:
        return close(a, b, relative, absolute, equal_nan)

    return bool(dense.all(elementwise("allclose", near, self, other).data))
