"""`NestedArray`: a differentiable buffer, and a structure that says where each component lies in the buffer.

Methods that are operators are in the base class `ArrayMethods`. The modules of operators import this class, so methods
call them through `_functions`, the module `pynested.method_functions`. A dimension is *regular* if the structure gives
it one size for all components, and *canonical* if it is counted from the front. *Clauses* are in the specification.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.operands import as_device_array
from pynested.autograd.arguments.shapes import canonical_dim, canonical_index
from pynested.autograd.array_methods import ArrayMethods
from pynested.autograd.array_protocols import refuse_numpy_ma
from pynested.autograd.call_errors import check_flags, check_optional_flags
from pynested.autograd.decorators import explain_wrong_calls
from pynested.autograd.primitives.movement import alias
from pynested.backends.errors import ArgumentError, DimensionError, GradientError, LayoutError, StructureError
from pynested.structure import STRUCTURES, Ints, Jagged, Strided, Structure, readonly_copy
from pynested.structure.layout import Layout
from pynested.structure.ragged_size import RaggedSize

if TYPE_CHECKING:
    from .operands import IntsLike


@explain_wrong_calls
class NestedArray(ArrayMethods):
    """Components of equal rank and any sizes, in one buffer. `pynested.nested_array` makes one from a list.

    Attributes
    ----------
    data : Array
        The buffer: the values of all components, and the only differentiable part. It is flat and contiguous in the
        strided layout. In the jagged layout, components are slices along axis ``structure.ragged_dim - 1``.
    structure : Jagged or Strided
        The placement of each component in ``data``, as integers. A structure is immutable.

    Examples
    --------
    >>> nt = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged)
    >>> nt.shape, nt.values(), nt.offsets()
    ((2, j1), array([1., 2., 3.]), array([0, 2, 3]))
    >>> (nt * 2).sum(dim=1)
    array([6., 6.])
    """

    __slots__ = ("_buffer", "_structure")

    def __init__(self, data: Array, structure: Structure) -> None:
        if type(data) is not Array or type(structure) not in STRUCTURES:
            raise ArgumentError(
                f"NestedArray: a nested array is made of an Array and a structure, not of {type(data).__name__} and "
                f"{type(structure).__name__}. Use pn.nested_array([...]), or pn.nested_array_from_jagged(values, "
                "offsets)."
            )
        if not structure.fits(data.data):
            raise structure.misfit_error("NestedArray", data)
        self._buffer = data
        self._structure = structure

    @property
    def layout(self) -> Layout:
        """The layout, `pynested.strided` or `pynested.jagged`."""
        return self.structure.layout

    @property
    def data(self) -> Array:
        """The buffer."""
        return self._buffer

    @property
    def structure(self) -> Structure:
        """The placement of each component in the buffer."""
        return self._structure

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the elements."""
        return self._buffer._raw.dtype  # type: ignore[no-any-return]

    @property
    def device(self) -> str:
        """The device of the values."""
        return self._buffer.storage.device

    @property
    def is_nested(self) -> bool:
        """Whether the array is nested: True here, False for an `Array`."""
        return True

    @property
    def ndim(self) -> int:
        """The number of dimensions, including the batch."""
        structure = self._structure
        if isinstance(structure, Jagged):
            return self._buffer._raw.ndim + 1  # type: ignore[no-any-return]
        return int(structure.sizes.shape[1]) + 1

    def dim(self) -> int:
        """Return the number of dimensions, including the batch."""
        return self.ndim

    def component_sizes(self) -> Ints:
        """Return the shape of each component: int64 (B, d). Clauses: PARTS-8, PARTS-9."""
        return readonly_copy(self.extents[: self.structure.count])

    @property
    def extents(self) -> Ints:
        """The shape of each component, int64 (max(B, 1), d); see `pynested/structure/extents.py` for empty batches."""
        structure = self._structure
        return structure.extents if isinstance(structure, Strided) else structure.extents(self._buffer._raw.shape)

    @property
    def regular_sizes(self) -> tuple[int | None, ...]:
        """The size of all components along each of their dimensions, None for an irregular dimension."""
        structure = self._structure
        if isinstance(structure, Strided):
            return structure.regular_sizes
        shape: tuple[int | None, ...] = self._buffer._raw.shape
        return (*shape[: structure.ragged_dim - 1], None, *shape[structure.ragged_dim :])

    regular = regular_sizes  # the former name

    def component_shape(self, i: int) -> tuple[int, ...]:
        """Return the shape of component ``i``, which is counted as in an index: -1 is the last component."""
        return tuple(self.extents[canonical_index("component_shape", i, self.structure.count, 0)].tolist())

    def lengths_along(self, dim: int) -> Ints:
        """Return the size of each component along ``dim``, which is not the batch: int64 (B,)."""
        dim = canonical_dim("lengths_along", dim, self.ndim)
        if not dim:
            raise DimensionError("lengths_along: components have no size along dimension 0, the batch; see len(x).")
        return readonly_copy(self.extents[: self.structure.count, dim - 1])

    def regular_size(self, dim: int) -> int | None:
        """Return the size of all components along ``dim``, of the batch for 0; None if the dimension is irregular.

        The ragged dimension, and a dimension of unknown size, are irregular even if all lengths are equal.
        """
        dim = canonical_dim("regular_size", dim, self.ndim)
        return self.regular_sizes[dim - 1] if dim else self.structure.count

    @property
    def shape(self) -> tuple[int | RaggedSize, ...]:
        """The size of each dimension. The size of an irregular dimension is a `RaggedSize`, which prints as ``j1``."""
        sizes = enumerate(self.regular_sizes, 1)
        return (
            self.structure.count,
            *[RaggedSize(self.lengths_along(dim)) if size is None else size for dim, size in sizes],
        )

    def size(self, dim: int | None = None) -> Any:
        """Return the shape, or the size along ``dim``. A strided array raises for an irregular dimension."""
        if dim is None:
            return self.shape
        dim = canonical_dim("size", dim, self.ndim)
        size = self.regular_size(dim)
        if size is not None:
            return size
        if isinstance(self.structure, Jagged):
            return RaggedSize(self.lengths_along(dim))
        raise StructureError(f"size: Given dimension {dim} is irregular and does not have a size. See lengths_along().")

    def stride(self, dim: int | None = None) -> Any:
        """Return strides in elements: of the values of a jagged array; of each component of a strided one, (B, d).

        With ``dim``, return only the strides along ``dim``. For dimension 0, the batch, a strided array returns the
        offsets of its components, and a jagged array raises StructureError.
        """
        if isinstance(self.structure, Strided):
            if dim is None:
                return readonly_copy(self.structure.strides)
            dim = canonical_dim("stride", dim, self.ndim)
            return readonly_copy(self.structure.strides[:, dim - 1] if dim else self.structure.offsets)
        strides = self.data.stride()
        if dim is None:
            return strides
        dim = canonical_dim("stride", dim, self.ndim)
        if not dim:
            raise StructureError("stride: the batch dimension of a jagged array has no stride; see offsets().")
        return strides[dim - 1]

    def numel(self) -> int:
        """Return the number of elements of all components together."""
        return int(self.component_sizes().prod(axis=1).sum())

    def __len__(self) -> int:
        return self.structure.count

    def is_contiguous(self) -> bool:
        """Return whether the components are in C order and follow each other without gaps between them.

        The values of a jagged array must be in C order as one array, as clause PARTS-16 says.
        """
        structure = self._structure
        if isinstance(structure, Strided):
            return structure.span is not None
        if structure.span is None:
            return not self.data.numel()
        rows = self._buffer._raw[(slice(None),) * (structure.ragged_dim - 1) + (structure.span,)]
        return bool(rows.flags.c_contiguous)

    def values(self) -> Array:
        """Return a view of `data`, flat in the strided layout; in the jagged layout, one axis holds the rows."""
        return alias(self.data)

    def offsets(self) -> Array:
        """Return a copy of the offsets: int64 (B + 1,) in the jagged layout, (B,) in the strided layout."""
        return as_device_array("offsets", Array(readonly_copy(self.structure.offsets)), self.device)

    def lengths(self) -> Array | None:
        """Return a copy of the lengths of a jagged array, int64 (B,); None if the structure has no lengths."""
        if isinstance(self.structure, Strided):
            raise LayoutError("lengths: only the jagged layout has lengths; see component_sizes().")
        lengths = self.structure.lengths
        return None if lengths is None else as_device_array("lengths", Array(readonly_copy(lengths)), self.device)

    def component_strides(self) -> Ints:
        """Return the strides of each component, in elements: int64 (B, d). Clauses: PARTS-12 to PARTS-15."""
        if isinstance(self.structure, Jagged):
            raise LayoutError("component_strides: only the strided layout has them; see stride().")
        return readonly_copy(self.structure.strides)

    def component_offsets(self) -> Ints:
        """Return the position at which each component begins in the buffer: int64 (B,)."""
        return readonly_copy(self.structure.offsets[: self.structure.count])

    def narrow(self, dim: int, start: IntsLike = 0, length: IntsLike | None = None) -> NestedArray:
        """Narrow each component, see `pynested.narrow`."""
        return self._functions.narrow(self, dim, start, length)  # type: ignore[no-any-return]

    def to_padded_array(
        self, padding: float, output_size: Sequence[int] | None = None, out: Array | None = None
    ) -> Array:
        """Pad the components to one shape, see `pynested.to_padded_array`."""
        return self._functions.to_padded_array(self, padding, output_size, out)  # type: ignore[no-any-return]

    def tolist(self) -> list[Any]:
        """Return a list of Python numbers for each component."""
        return [component.tolist() for component in self.detach().unbind()]

    def __bool__(self) -> bool:
        raise ArgumentError("bool: the truth of a nested array is ambiguous. Use one element, or pn.equal(a, b).")

    def __round__(self: Any, ndigits: int | None = None) -> Any:
        return self.round() if ndigits is None else self.round(ndigits)  # raises for digits

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return self._functions.as_ndarray(self, dtype, copy)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return self._functions.as_text(self)  # type: ignore[no-any-return]

    def __reduce__(self) -> Any:
        return self._functions.pickle_parts(self)

    def __copy__(self) -> NestedArray:
        return type(self)(self.data.__copy__(), self.structure)

    def __deepcopy__(self, memo: dict[int, Any]) -> NestedArray:
        return self._functions.deep_copy(self, memo)  # type: ignore[no-any-return]

    _data = property(refuse_numpy_ma)  # numpy.ma reads this attribute of its operands

    # ---- gradients --------------------------------------------------------------------------------------------------

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow to or through this array. It can be set on a leaf."""
        return self._buffer.tracked

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    def requires_grad_(self, requires_grad: bool = True) -> NestedArray:
        """Enable or disable the gradient of a leaf; return the array itself."""
        check_flags("requires_grad_", requires_grad=requires_grad)
        self.data.requires_grad_(requires_grad)
        return self

    @property
    def is_leaf(self) -> bool:
        """Whether the array is not the result of a recorded operation."""
        return self.data.is_leaf

    @property
    def grad(self) -> NestedArray | None:
        """The gradient that backward passes have accumulated, with the structure of this array, or None."""
        return None if self.data.grad is None else wrap_values(self.data.grad, self.structure)

    @grad.setter
    def grad(self, value: NestedArray | None) -> None:
        self.data.grad = None if value is None else self._functions.tangent_values("grad", self, value)[0]

    def backward(self, gradient: Any = None, *, retain_graph: bool | None = None, create_graph: bool = False) -> None:
        """Add the gradients of this array, weighted by ``gradient`` (nested, of equal shape), to the leaves."""
        check_flags("backward", create_graph=create_graph)
        check_optional_flags("backward", retain_graph=retain_graph)
        if gradient is None:
            raise GradientError(
                "backward: a gradient can be created implicitly only for a dense output of one element. Give one of "
                "this array's shape: nt.backward(pn.ones_like(nt)), or reduce the array: nt.sum().backward()."
            )
        seed = self._functions.as_gradient("backward", gradient, self)
        self.data.backward(seed, retain_graph=retain_graph, create_graph=create_graph)

    def retain_grad(self) -> None:
        """Keep the gradient of this array in `grad`, although it is not a leaf."""
        self.data.retain_grad()

    def register_hook(self, hook: Callable[[NestedArray], NestedArray | None]) -> Callable[[], None]:
        """Call ``hook`` with the nested gradient of this array; return a function that removes the hook."""
        structure = self.structure  # the hook must not refer to the array, whose values refer to the hook

        def on_values(gradient: Array) -> Array | None:
            nested_gradient = wrap_values(gradient, structure)
            replacement = hook(nested_gradient)
            if replacement is None:
                return None
            return NestedArray._functions.tangent_values("hook", nested_gradient, replacement)[0]  # type: ignore[no-any-return]

        on_values.__name__ = getattr(hook, "__name__", repr(hook))  # in errors
        return self.data.register_hook(on_values if callable(hook) else hook)


def wrap_unchecked(data: Array, structure: Structure) -> NestedArray:
    """Return a nested array without the check of the constructor; the values must fit the structure."""
    nested = NestedArray.__new__(NestedArray)
    nested._buffer = data
    nested._structure = structure
    return nested


def wrap_values(values: Array, structure: Structure) -> NestedArray:
    """Return a nested array of values, such as a gradient; strided values that are not contiguous are copied."""
    if isinstance(structure, Strided) and not values.is_contiguous():
        write_guard, values = values.write_guard, values.contiguous()
        values.write_guard = write_guard
    return NestedArray(values, structure)
