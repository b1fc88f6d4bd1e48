"""The methods of an array: operators, which are functions of `pynested.autograd.dense`, and what is made of them.

A function whose first parameter is ``self`` is a method as it is. This module holds the special methods, those that
write in place, and those that the tape needs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

from . import api, dense
from .dense.comparison import inverted
from .dense.indexing import assign
from .dense.shapes import canonical_dim
from .dense.writing import write
from .hooks import registered
from .tape import Hook

if TYPE_CHECKING:
    from .array import Array
    from .operator_methods import OperatorMethods
else:
    OperatorMethods = object  # the functions of `dense`; a stub lists them


class Methods(OperatorMethods):
    """What is written in terms of `Array`."""

    __slots__ = ()

    # fmt: off
    def __neg__(self) -> Array: return dense.neg(self)
    def __pos__(self) -> Array: return dense.clone(self)
    def __abs__(self) -> Array: return dense.abs(self)
    def __invert__(self) -> Any: return inverted(self, dense.logical_not)
    # fmt: on

    def astype(self, dtype: Any) -> Array:
        """A copy in another dtype: NumPy's name for ``to(dtype=dtype)``, which copies only where something changes."""
        made = dense.to(self, dtype=dtype)
        return dense.clone(made) if made is self else made

    def __getitem__(self, index: Any) -> Array:
        return dense.getitem(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        assign(self, index, value)

    def permute(self, *dims: Any) -> Array:
        """A view with the dimensions in another order, given as one tuple or one by one."""
        return dense.permute(self, dims[0] if len(dims) == 1 else dims)

    @property
    def T(self) -> Array:
        """The transposed array: all dimensions in reverse."""
        return dense.permute(self, range(self.ndim)[::-1])  # type: ignore[attr-defined]

    def copy_(self, source: Any) -> Self:
        """Write the values of ``source``, which broadcasts, into the array."""
        return write(self, "copy", source)

    def fill_(self, value: Any) -> Self:
        """Write ``value`` everywhere."""
        return write(self, "fill", value)

    def zero_(self) -> Self:
        """Write zeros everywhere."""
        return write(self, "zero", 0)

    # ---- what it is, and gradients ------------------------------------------------------------------------------

    def size(self: Any, dim: int | None = None) -> Any:
        """The sizes as a tuple, or the size of one dimension."""
        return self.shape if dim is None else self.shape[canonical_dim("size", dim, self.ndim)]

    def stride(self: Any, dim: int | None = None) -> Any:
        """The strides, in elements, as a tuple, or that of one dimension."""
        strides = tuple(s // self.dtype.itemsize for s in self.data.strides)
        return strides if dim is None else strides[canonical_dim("stride", dim, self.ndim)]

    def backward(
        self: Any, gradient: Any = None, *, retain_graph: bool | None = None, create_graph: bool = False
    ) -> None:
        """Accumulate into the ``grad`` of every leaf the gradient of this array, weighted by ``gradient``."""
        api.backward(self, gradient, retain_graph=retain_graph, create_graph=create_graph)

    def register_hook(self: Any, hook: Hook) -> Callable[[], None]:
        """Call ``hook`` with the gradient of this array; what it returns, if anything, is used instead.

        The gradient it is given can be kept, but not written to. Returns a function that takes the hook off again.
        """
        return registered(self, hook)
