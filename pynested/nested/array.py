"""`NestedArray`: a differentiable buffer plus an integer description of where each component lives in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.shapes import canonical_dim
from pynested.autograd.array_methods import ArrayMethods
from pynested.autograd.call_errors import check_flags, check_optional_flags
from pynested.autograd.default_device import placed
from pynested.autograd.dispatch import method
from pynested.autograd.fixed import fixed, shown
from pynested.autograd.protocols import refuse_numpy_ma
from pynested.autograd.rules.movement import alias
from pynested.backends.errors import ArgumentError, GradientError, LayoutError, StructureError
from pynested.structure import STRUCTURES, Ints, Jagged, Strided, Structure, handed_out, misfit
from pynested.structure.layouts import Layout
from pynested.structure.sizes import RaggedSize

if TYPE_CHECKING:
    from .operands import IntsLike


class NestedArray(ArrayMethods["NestedArray | Array"]):
    """Components of one rank and any size, held in one buffer. Make one with `pynested.nested_array`.

    Attributes
    ----------
    data : Array
        The buffer. Jagged: the components one after another along ``structure.ragged_dim - 1``. Strided: flat. Only
        this is on the tape.
    structure : Jagged or Strided
        Where each component lies; immutable, never differentiated. It fits ``data``, and neither can be set.

    Examples
    --------
    >>> nt = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged)
    >>> nt.shape, nt.values(), nt.offsets()
    ((2, j1), array([1., 2., 3.]), array([0, 2, 3]))
    >>> (nt * 2).sum(dim=1)
    array([6., 6.])
    """

    __slots__ = ("_buffer", "_structure")

    data: Array = fixed("data", "_buffer")
    structure: Structure = fixed("structure", "_structure")

    def __init__(self, data: Array, structure: Structure) -> None:
        if type(data) is not Array or type(structure) not in STRUCTURES or not structure.fits(data.data):
            raise misfit("NestedArray", data, structure)
        self._buffer = data
        self._structure = structure

    # ---- what it is ---------------------------------------------------------------------------------------------

    @property
    def layout(self) -> Layout:
        """`pynested.strided` or `pynested.jagged`."""
        return self.structure.layout

    dtype: np.dtype[Any] = shown("_buffer._bare.dtype", "The dtype of the elements.")
    device: str = shown("_buffer.storage.device", "Where the values lie.")

    @property
    def is_nested(self) -> bool:
        """True: the other class is `Array`."""
        return True

    @property
    def ndim(self) -> int:
        """The number of dimensions, the batch among them."""
        structure = self._structure
        if isinstance(structure, Jagged):
            return self._buffer._bare.ndim + 1  # type: ignore[no-any-return]
        return int(structure.sizes.shape[1]) + 1

    def dim(self) -> int:
        """The number of dimensions, the batch among them."""
        return self.ndim

    def component_sizes(self) -> Ints:
        """The shape of each component: int64 (B, d). Clauses: PARTS-8, PARTS-9."""
        if isinstance(self.structure, Strided):
            return handed_out(self.structure.sizes)
        return handed_out(self.outline if self.structure.count else self.outline[:0])

    @property
    def outline(self) -> Ints:
        """The shape of each component, or that which one would have, -1 where unknown: int64 (max(B, 1), d)."""
        structure = self._structure
        return structure.outline if isinstance(structure, Strided) else structure.outline(self._buffer._bare.shape)

    @property
    def regular(self) -> tuple[int | None, ...]:
        """The sizes of the dimensions of components, None where they are irregular, as `regular_size` says."""
        structure = self._structure
        if isinstance(structure, Strided):
            return structure.regular
        shape: tuple[int | None, ...] = self._buffer._bare.shape
        return (*shape[: structure.ragged_dim - 1], None, *shape[structure.ragged_dim :])

    def component_shape(self, i: int) -> tuple[int, ...]:
        """The shape of component ``i``."""
        if isinstance(self.structure, Strided):
            return tuple(self.structure.sizes[i].tolist())
        at = self.structure.ragged_dim - 1
        return (*self.data.shape[:at], int(self.structure.component_lengths[i]), *self.data.shape[at + 1 :])

    def lengths_along(self, dim: int) -> Ints:
        """The size of each component along ``dim`` (canonical, not the batch): int64 (B,)."""
        if isinstance(self.structure, Strided):
            return handed_out(self.structure.sizes[:, dim - 1])
        if dim == self.structure.ragged_dim:
            return handed_out(self.structure.component_lengths)
        return np.full(self.structure.count, self.data.shape[dim - 1], np.int64)

    def regular_size(self, dim: int) -> int | None:
        """The size along ``dim`` (canonical) if all components have the same there; None where it is ragged.

        The ragged dimension of the jagged layout is ragged whatever the lengths are. A batch of no components has the
        sizes of the batch that it is a part of; a dimension is irregular where nobody knows them.
        """
        return self.regular[dim - 1] if dim else self.structure.count

    @property
    def shape(self) -> tuple[int | RaggedSize, ...]:
        """The sizes; an irregular one is a `RaggedSize`, which prints as ``j1``."""
        sizes = enumerate(self.regular, 1)
        return (
            self.structure.count,
            *[RaggedSize(self.lengths_along(dim)) if size is None else size for dim, size in sizes],
        )

    def size(self, dim: int | None = None) -> Any:
        """The sizes as a tuple, or one of them; strided arrays have none along an irregular dimension."""
        if dim is None:
            return self.shape
        at = canonical_dim("size", dim, self.ndim)
        found = self.regular_size(at)
        if found is not None:
            return found
        if isinstance(self.structure, Jagged):
            return RaggedSize(self.lengths_along(at))
        raise StructureError(f"Given dimension {at} is irregular and does not have a size.")

    def stride(self, dim: int | None = None) -> Any:
        """The strides of the values, in elements; of a strided array those of all components: int64 (B, d)."""
        if isinstance(self.structure, Strided):
            if dim is None:
                return handed_out(self.structure.strides)
            at = canonical_dim("stride", dim, self.ndim)
            return handed_out(self.structure.strides[:, at - 1] if at else self.structure.offsets)
        strides = self.data.stride()
        if dim is None:
            return strides
        at = canonical_dim("stride", dim, self.ndim)
        if not at:
            raise StructureError("stride: the batch dimension of a jagged array has no stride; see offsets().")
        return strides[at - 1]

    def numel(self) -> int:
        """The number of elements of all components together."""
        return int(self.component_sizes().prod(axis=1).sum())

    def __len__(self) -> int:
        return self.structure.count

    def is_contiguous(self) -> bool:
        """Return whether the components lie in C order, each beginning where the one before it ends (PARTS-16).

        What lies before the first component and behind the last one does not count. Components whose ragged dimension
        is not the first lie in C order together, as the values do, not each on its own.
        """
        structure = self._structure
        if isinstance(structure, Strided) or structure.span is None:
            return structure.span is not None
        shown = self._buffer._bare[(slice(None),) * (structure.ragged_dim - 1) + (structure.span,)]
        return bool(shown.flags.c_contiguous)

    # ---- its parts ----------------------------------------------------------------------------------------------

    def values(self) -> Array:
        """The buffer, as a view: of the jagged layout with the ragged dimension packed, of the strided one flat."""
        return alias(self.data)

    def offsets(self) -> Array:
        """Where components begin: int64 (B + 1,) of the jagged layout, (B,) of the strided one; a copy."""
        return placed("offsets", Array(handed_out(self.structure.offsets)), self.device)

    def lengths(self) -> Array | None:
        """How long components are along the ragged dimension, where there may be holes; else None. Jagged only."""
        if isinstance(self.structure, Strided):
            raise LayoutError("lengths: only the jagged layout has lengths; see component_sizes().")
        lengths = self.structure.lengths
        return None if lengths is None else placed("lengths", Array(handed_out(lengths)), self.device)

    def component_strides(self) -> Ints:
        """The strides of each component, in elements: int64 (B, d). Strided only. Clauses: PARTS-12 to PARTS-15."""
        if isinstance(self.structure, Jagged):
            raise LayoutError("component_strides: only the strided layout has them; see stride().")
        return handed_out(self.structure.strides)

    def component_offsets(self) -> Ints:
        """Where each component begins in the buffer: int64 (B,)."""
        return handed_out(self.structure.offsets[: self.structure.count])

    # ---- conversions ----------------------------------------------------------------------------------------------

    @method
    def narrow(self, dim: int, start: IntsLike = 0, length: IntsLike | None = None) -> NestedArray:
        """See `pynested.narrow`."""
        return self._ops.narrow(self, dim, start, length)  # type: ignore[no-any-return]

    @method
    def to_padded_array(
        self, padding: float, output_size: Sequence[int] | None = None, out: Array | None = None
    ) -> Array:
        """See `pynested.to_padded_array`."""
        return self._ops.to_padded_array(self, padding, output_size, out)  # type: ignore[no-any-return]

    def tolist(self) -> list[Any]:
        """Return a list of Python's numbers for each component; `pn.nested_array` takes them back."""
        return [component.tolist() for component in self.detach().unbind()]

    def __bool__(self) -> bool:
        raise ArgumentError("bool: the truth of a nested array is ambiguous; ask of one element, or use pn.equal.")

    def __round__(self) -> NestedArray:
        return self.round()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return self._ops.as_ndarray(self, dtype, copy)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return self._ops.as_text(self)  # type: ignore[no-any-return]

    def __reduce__(self) -> Any:
        return self._ops.pickle_parts(self)

    def __copy__(self) -> NestedArray:
        return type(self)(self.data, self.structure)

    def __deepcopy__(self, memo: dict[int, Any]) -> NestedArray:
        return self._ops.deep_copy(self, memo)  # type: ignore[no-any-return]

    _data = property(refuse_numpy_ma)

    # ---- gradients ----------------------------------------------------------------------------------------------

    requires_grad: bool = shown(
        "_buffer.tracked",
        "Whether gradients are wanted of it, or flow through it; set it on leaves, as `requires_grad_` does.",
    ).setter(lambda self, value: self.requires_grad_(value))

    @method
    def requires_grad_(self, requires_grad: bool = True) -> NestedArray:
        """Ask for gradients of a leaf (or stop asking); returns the array itself."""
        check_flags("requires_grad_", requires_grad=requires_grad)
        self.data.requires_grad_(requires_grad)
        return self

    @property
    def is_leaf(self) -> bool:
        """Whether no recorded operation made it."""
        return self.data.is_leaf

    @property
    def grad(self) -> NestedArray | None:
        """The gradient that backward passes have accumulated: this structure around the gradient of the values."""
        return None if self.data.grad is None else laid_out(self.data.grad, self.structure)

    @grad.setter
    def grad(self, value: NestedArray | None) -> None:
        self.data.grad = None if value is None else self._ops.as_gradient("grad", value, self)

    @method
    def backward(self, gradient: Any = None, *, retain_graph: bool | None = None, create_graph: bool = False) -> None:
        """Accumulate the gradients of this array, weighted by ``gradient`` (nested, of equal shape)."""
        check_flags("backward", create_graph=create_graph)
        check_optional_flags("backward", retain_graph=retain_graph)
        if gradient is None:
            raise GradientError(
                "backward: a gradient can be created implicitly only for an output of one element; give one of this "
                "array's shape: nt.backward(pn.ones_like(nt)), or reduce it: nt.sum().backward()."
            )
        seed = self._ops.as_gradient("backward", gradient, self)
        self.data.backward(seed, retain_graph=retain_graph, create_graph=create_graph)

    def retain_grad(self) -> None:
        """Keep the gradient of this array too, although it is not a leaf."""
        self.data.retain_grad()

    @method
    def register_hook(self, hook: Callable[[NestedArray], NestedArray | None]) -> Callable[[], None]:
        """Call ``hook`` with the (nested) gradient of this array; returns a function that takes it off again."""
        structure = self.structure  # not the array: its values hold the hook, which would be a cycle

        def on_values(gradient: Array) -> Array | None:
            shown = laid_out(gradient, structure)
            answer = hook(shown)
            return None if answer is None else NestedArray._ops.as_gradient("hook", answer, shown)

        return self.data.register_hook(on_values if callable(hook) else hook)


def around(data: Array, structure: Structure) -> NestedArray:
    """A nested array of values that are known to fit the structure, for where every microsecond counts."""
    made = NestedArray.__new__(NestedArray)
    made._buffer = data
    made._structure = structure
    return made


def laid_out(values: Array, structure: Structure) -> NestedArray:
    """A nested array of these values; a flat buffer has to be contiguous, which a gradient need not be."""
    if isinstance(structure, Strided) and not values.is_contiguous():
        guard, values = values.guard, values.contiguous()
        values.guard = guard
    return NestedArray(values, structure)
