"""The same elements in memory of their own, or without history."""

from __future__ import annotations

from pynested.autograd.arguments.canonical import as_array
from pynested.autograd.dispatch import operator
from pynested.autograd.rules import movement as moves
from pynested.nested.layout_conversion import packed
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import ArrayT


@operator
def clone(self: ArrayT) -> ArrayT:
    """A copy in memory of its own: ``(B, *, D) -> (B, *, D)``, in the same layout.

    Bit by bit the same components, of any dtype, NaN payloads included; holes are gone, empty components stay.
    Gradient: the cotangent, unchanged.

    Clauses: CLONE-1 to CLONE-2. After `torch.clone`.

    Examples
    --------
    >>> nt = pn.nested_array([[1, 2], [3]])
    >>> pn.clone(nt)[0].fill_(0)
    array([0, 0])
    >>> nt[0]
    array([1, 2])
    """
    if not isinstance(self, NestedArray):
        return moves.copy(as_array("clone", self))
    tight = packed(self)
    return NestedArray(moves.copy(tight.data), tight.structure)


@operator
def detach(self: ArrayT) -> ArrayT:
    """The same values, in the same memory, cut off from the gradient: ``(B, *, D) -> (B, *, D)``.

    Bit by bit the same components, of any dtype and layout. No gradient passes.

    Clauses: DETACH-1 to DETACH-2. After `torch.Tensor.detach`.

    Examples
    --------
    >>> nt = pn.nested_array([[1.0, 2.0], [3.0]], requires_grad=True)
    >>> pn.detach(nt * 2).requires_grad
    False
    """
    if not isinstance(self, NestedArray):
        return as_array("detach", self).detach()
    return NestedArray(self.data.detach(), self.structure)
