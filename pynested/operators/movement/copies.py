"""A copy of an array, `clone`, and the same memory without the history, `detach`."""

from __future__ import annotations

from pynested.autograd.arguments.operands import as_array
from pynested.autograd.decorators import operator
from pynested.autograd.primitives import movement
from pynested.nested.layout_conversion import packed
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import ArrayT


@operator
def clone(self: ArrayT) -> ArrayT:
    """Copy an array, in the same layout: ``(B, *, D) -> (B, *, D)``.

    The components have the same bits, NaN payloads included. The copy has no gaps, and keeps empty components.
    Gradient: the cotangent. Clauses: CLONE-1 to CLONE-2. After `torch.clone`.

    >>> nt = pn.nested_array([[1, 2], [3]])
    >>> pn.clone(nt)[0].fill_(0)
    array([0, 0])
    >>> nt[0]
    array([1, 2])
    """
    if not isinstance(self, NestedArray):
        return movement.copy(as_array("clone", self))
    packed_self = packed(self)
    return NestedArray(movement.copy(packed_self.data), packed_self.structure)


@operator
def detach(self: ArrayT) -> ArrayT:
    """Return the same values, in the same memory, without history: ``(B, *, D) -> (B, *, D)``.

    No gradient flows through the result. Clauses: DETACH-1 to DETACH-2. After `torch.Tensor.detach`.

    >>> nt = pn.nested_array([[1.0, 2.0], [3.0]], requires_grad=True)
    >>> pn.detach(nt * 2).requires_grad
    False
    """
    if not isinstance(self, NestedArray):
        return as_array("detach", self).detach()
    return NestedArray(self.data.detach(), self.structure)
