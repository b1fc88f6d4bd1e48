"""The methods of both classes that are no operator as it is: those that Python's signs call, and other spellings.

A public function whose first parameter is ``self`` is a method of both as it is.
"""

# mypy: disable-error-code="misc, no-any-return, type-var"

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

import numpy as np

from pynested import operators as ops
from pynested.autograd import Array
from pynested.autograd.arguments.shapes import several
from pynested.autograd.dispatch import method
from pynested.backends.errors import ArgumentError, DTypeError, named_type
from pynested.nested.array import NestedArray
from pynested.nested.operands import DType, Index, IntsLike
from pynested.operators.movement import views
from pynested.operators.movement.reshaping import expanded
from pynested.operators.writing import assign, random_numbers, write

_OPERANDS = frozenset((Array, NestedArray, int, float, bool, complex, np.ndarray))
_OPERANDS_TOO = (np.generic, np.ndarray, int, float, complex)  # and what is derived from them


def binary(function: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """``function`` as Python's signs need it: NotImplemented for operands of another class."""
    for x in (a, b):
        if type(x) not in _OPERANDS and not isinstance(x, _OPERANDS_TOO):
            _refuse_list(function.__name__, x)
            return NotImplemented
    return function(a, b)


def _refuse_list(name: str, value: Any) -> None:
    """Refuse to compare with a list, of which Python would say that it is another object."""
    if name in ("eq", "ne") and isinstance(value, list | tuple):
        raise ArgumentError(
            f"{name}: {named_type(value)} is no array. Make one of it: pn.array(values), or pn.nested_array(values)."
        )


def _shape(given: tuple[Any, ...]) -> Any:
    """A shape that is given as ``(2, 3)`` or as ``2, 3``."""
    return given[0] if len(given) == 1 and several(given[0]) else given


def _memory(x: Any) -> Any:
    return x.data.storage if isinstance(x, NestedArray) else x.storage


class Methods:
    """What is a method of both classes."""

    __slots__ = ()

    # fmt: off
    def __neg__(self: Any) -> Self: return ops.neg(self)
    def __pos__(self: Any) -> Self: return ops.clone(self)
    def __abs__(self: Any) -> Self: return ops.abs(self)
    def __getitem__(self: Any, index: Index) -> NestedArray | Array: return ops.getitem(self, index)
    def __setitem__(self: Any, index: Index, value: Any) -> None: assign(self, index, value)
    # fmt: on

    def __invert__(self: Any) -> Self:
        """Where an array of bools is False; other dtypes are refused."""
        if self.dtype != np.bool_:
            raise DTypeError(
                f"~: only bool arrays can be inverted, not {self.dtype}. Use logical_not(x), which is x == 0."
            )
        return ops.logical_not(self)

    def permute(self: Any, *dims: Any) -> Self:
        """The dimensions in another order, given as one tuple or one by one; see `pynested.permute`."""
        return ops.permute(self, _shape(dims))

    def reshape(self: Any, *shape: Any) -> Self:
        """The elements in another shape, given as one tuple or size by size; see `pynested.reshape`."""
        return ops.reshape(self, _shape(shape))

    def view(self: Any, *shape: Any) -> Self:
        """The memory in another shape, given as one tuple or size by size; see `pynested.view`."""
        return ops.view(self, _shape(shape))

    def expand(self: Any, *shape: Any) -> Self:
        """A view with dimensions of size 1 repeated to a shape, given as one tuple or size by size; -1 keeps a size.

        Of a nested array the batch and irregular dimensions stay. The view cannot be written to.
        """
        sizes = _shape(shape)
        made: Any = expanded(self, sizes) if isinstance(self, NestedArray) else views.broadcast_to(self, sizes)
        return made

    @method
    def astype(self: Any, dtype: DType) -> Self:
        """A copy in another dtype: NumPy's name for ``to(dtype=dtype)``, which copies only where something changes."""
        made = ops.to(self, dtype=dtype)
        return ops.clone(made) if _memory(made) is _memory(self) else made

    @method
    def copy_(self: Any, source: Any) -> Self:
        """Write the values of ``source``, which broadcasts, into the array."""
        return write(self, "copy", source)

    @method
    def fill_(self: Any, value: Any) -> Self:
        """Write ``value`` everywhere."""
        return write(self, "fill", value)

    def zero_(self: Any) -> Self:
        """Write zeros everywhere."""
        return write(self, "zero", 0)

    @method
    def uniform_(self: Any, low: float = 0.0, high: float = 1.0, generator: np.random.Generator | None = None) -> Self:
        """Write uniform random numbers from [low, high); see `pynested.uniform_`."""
        return random_numbers.uniform_(self, low, high, generator)

    @method
    def normal_(self: Any, mean: float = 0.0, std: float = 1.0, generator: np.random.Generator | None = None) -> Self:
        """Write random numbers with a normal distribution; see `pynested.normal_`."""
        return random_numbers.normal_(self, mean, std, generator)

    def __contains__(self: Any, value: Any) -> bool:
        return bool(self.eq(value).any())

    def __iter__(self: Any) -> Iterator[Array]:
        return iter(self.unbind())


class NestedMethods:
    """What only a nested array has."""

    __slots__ = ()

    @method
    def narrow(self: Any, dim: int, start: IntsLike = 0, length: IntsLike | None = None) -> NestedArray:
        """Of each component that ``start`` and ``length`` name; see `pynested.narrow`."""
        return ops.narrow(self, dim, start, length)

    @method
    def to_padded_array(
        self: Any, padding: float, output_size: Sequence[int] | None = None, out: Array | None = None
    ) -> Array:
        """Every component in the leading corner of its row; see `pynested.to_padded_array`."""
        return ops.to_padded_array(self, padding, output_size, out)

    def tolist(self: Any) -> list[Any]:
        """The components as lists of Python's numbers, one list for each; `pn.nested_array` takes them back."""
        return [component.tolist() for component in self.detach().unbind()]


class DenseMethods:
    """What only a dense array has: views that PyTorch has as methods."""

    __slots__ = ()

    @method
    def narrow(self: Any, dim: int, start: int, length: int) -> Array:
        """A view of ``length`` entries of dimension ``dim``, from ``start`` on."""
        return views.narrowed(self, dim, start, length)

    @method
    def as_strided(self: Any, size: Sequence[int], stride: Sequence[int], storage_offset: int = 0) -> Array:
        """A view with other sizes and strides, in elements, of a contiguous array; read-only where places repeat."""
        return views.as_strided(self, size, stride, storage_offset)

    @method
    def broadcast_to(self: Any, shape: Sequence[int]) -> Array:
        """A read-only view repeated to ``shape``."""
        return views.broadcast_to(self, shape)
