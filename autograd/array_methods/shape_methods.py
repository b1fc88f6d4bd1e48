"""Methods that change the shape, the layout, the dtype or the device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ..arguments.shapes import is_sequence
from ..decorators import explain_wrong_calls

if TYPE_CHECKING:
    from pynested.autograd.array import Array
    from pynested.nested.operands import Dims, DType, Operand
    from pynested.structure.layout import Layout


@explain_wrong_calls
class ShapeMethods:
    """Methods that call the public function of the same name. A shape is one tuple or several integers."""

    __slots__ = ()
    dtype: Any
    _functions: ClassVar[Any]  # the module `pynested.method_functions`

    def transpose(self, dim0: int, dim1: int) -> Self:
        """See `pynested.transpose`."""
        return self._functions.transpose(self, dim0, dim1)

    def squeeze(self, dim: Dims = None) -> Self:
        """See `pynested.squeeze`."""
        return self._functions.squeeze(self, dim)

    def unsqueeze(self, dim: int) -> Self:
        """See `pynested.unsqueeze`."""
        return self._functions.unsqueeze(self, dim)

    def flatten(self, start_dim: int = 0, end_dim: int = -1) -> Self:
        """See `pynested.flatten`."""
        return self._functions.flatten(self, start_dim, end_dim)

    def unflatten(self, dim: int, sizes: Sequence[int]) -> Self:
        """See `pynested.unflatten`."""
        return self._functions.unflatten(self, dim, sizes)

    def reshape_as(self, other: Operand) -> Self | Array:
        """See `pynested.reshape_as`."""
        return self._functions.reshape_as(self, other)

    def select(self, dim: int, index: int) -> Self | Array:
        """See `pynested.select`."""
        return self._functions.select(self, dim, index)

    def split(self, sizes: int | Sequence[int], dim: int = 0) -> tuple[Self, ...]:
        """See `pynested.split`."""
        return self._functions.split(self, sizes, dim)

    def chunk(self, chunks: int, dim: int = 0) -> tuple[Self, ...]:
        """See `pynested.chunk`."""
        return self._functions.chunk(self, chunks, dim)

    def unbind(self, dim: int = 0) -> tuple[Array, ...]:
        """See `pynested.unbind`."""
        return self._functions.unbind(self, dim)

    def to(
        self,
        *targets: DType | Layout,
        dtype: DType | None = None,
        device: str | None = None,
        layout: Layout | None = None,
    ) -> Self:
        """See `pynested.to`."""
        return self._functions.to(self, *targets, dtype=dtype, device=device, layout=layout)

    def to_dense(self) -> Array:
        """See `pynested.to_dense`."""
        return self._functions.to_dense(self)

    def clone(self) -> Self:
        """See `pynested.clone`."""
        return self._functions.clone(self)

    def contiguous(self) -> Self:
        """See `pynested.contiguous`."""
        return self._functions.contiguous(self)

    def detach(self) -> Self:
        """See `pynested.detach`."""
        return self._functions.detach(self)

    def pin_memory(self) -> Any:
        """See `pynested.pin_memory`."""
        return self._functions.pin_memory(self)

    def permute(self, *dims: Any) -> Self:
        """See `pynested.permute`."""
        return self._functions.permute(self, _as_sequence(dims))

    def reshape(self, *shape: Any) -> Self:
        """See `pynested.reshape`."""
        return self._functions.reshape(self, _as_sequence(shape))

    def view(self, *shape: Any) -> Self:
        """See `pynested.view`."""
        return self._functions.view(self, _as_sequence(shape))

    def expand(self, *shape: Any) -> Self:
        """Return a read-only view with dimensions of size 1 repeated to a shape; -1 keeps a size.

        The batch and the irregular dimensions of a nested array stay.
        """
        return self._functions.expand(self, _as_sequence(shape))

    def astype(self, dtype: DType) -> Self:
        """Return a copy in ``dtype``, even if the array has this dtype already; `to` would not copy it."""
        converted = self._functions.to(self, dtype=dtype)
        return self._functions.clone(converted) if converted.dtype == self.dtype else converted


def _as_sequence(sizes: tuple[Any, ...]) -> Any:
    """Return a shape or an order of dimensions as a sequence, from ``(2, 3)`` or from ``2, 3``."""
    return sizes[0] if len(sizes) == 1 and is_sequence(sizes[0]) else sizes
