"""The methods of an array that are no operators: what it is, and what the tape needs.

The operators are put into its base, `AnyArray`, by `pynested.surface`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import api
from .arguments.shapes import canonical_dim
from .call_errors import check_flags, check_optional_flags
from .dispatch import method
from .hooks import registered
from .tape import Hook

if TYPE_CHECKING:
    from .array import Array
    from .operator_methods import OperatorMethods
else:
    OperatorMethods = object  # what `AnyArray` has; a stub lists it


class Methods(OperatorMethods):
    """What is written in terms of `Array`."""

    __slots__ = ()

    @property
    def T(self: Any) -> Array:
        """The transposed array: all dimensions in reverse."""
        return self.permute(range(self.ndim)[::-1])  # type: ignore[no-any-return]

    def size(self: Any, dim: int | None = None) -> Any:
        """The sizes as a tuple, or the size of one dimension."""
        return self.shape if dim is None else self.shape[canonical_dim("size", dim, self.ndim)]

    def stride(self: Any, dim: int | None = None) -> Any:
        """The strides, in elements, as a tuple, or that of one dimension."""
        strides = tuple(s // self.dtype.itemsize for s in self.data.strides)
        return strides if dim is None else strides[canonical_dim("stride", dim, self.ndim)]

    @method
    def backward(
        self: Any, gradient: Any = None, *, retain_graph: bool | None = None, create_graph: bool = False
    ) -> None:
        """Accumulate into the ``grad`` of every leaf the gradient of this array, weighted by ``gradient``."""
        check_flags("backward", create_graph=create_graph)
        check_optional_flags("backward", retain_graph=retain_graph)
        api.backward(self, gradient, retain_graph=retain_graph, create_graph=create_graph)

    @method
    def register_hook(self: Any, hook: Hook) -> Callable[[], None]:
        """Call ``hook`` with the gradient of this array; what it returns, if anything, is used instead.

        The gradient it is given can be kept, but not written to. Returns a function that takes the hook off again.
        """
        return registered(self, hook)
