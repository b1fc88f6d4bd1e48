"""`Array`: a dense strided view of a storage on a device. A recorded result also refers to its node on the tape.

`pynested.operators` has the operators, which check arguments. Methods call them through ``_functions``, which the
package `array_methods` explains. `pynested.autograd.primitives` has the differentiable functions that the operators
call.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from threading import RLock
from typing import Any

import numpy as np

from pynested.backends import get_backend
from pynested.backends.dtypes import is_float
from pynested.backends.errors import DeviceError, DTypeError, GradientError, named_type
from pynested.backends.events import LISTENERS, emit
from pynested.backends.host import as_raw_array
from pynested.backends.repeating_views import is_writable
from pynested.backends.storage import Storage, share_base, storage_of_imported

from .arguments.shapes import canonical_dim
from .array_methods import ArrayMethods
from .array_protocols import ArrayProtocols
from .call_errors import check_flags
from .decorators import method
from .tape import Hooks, Leaf, Node, grad_mode

Hook = Callable[["Array"], "Array | None"]  # gets a gradient, and can return another one in its place
OPEN, NO_GRAD_ONLY, READ_ONLY = 0, 1, 2  # writes are allowed; allowed if nothing is recorded; never allowed
_grad_lock = RLock()  # held while a gradient is accumulated


class Array(ArrayMethods, ArrayProtocols):
    """A dense differentiable array. Make one with `pynested.array`; `numpy` returns the values.

    The constructor wraps ``data``. If ``data`` is a view of one of ``sources``, the array gets the storage and the
    write guard of this source. Inside `no_grad`, a view of a source that requires grad gets NO_GRAD_ONLY.

    Attributes
    ----------
    data : ndarray
        The values, in the class of the device's array module; it cannot be set. ``storage`` counts no writes into
        ``data``, nor into ``pn.from_numpy(x.data)``. It counts those into ``pn.from_numpy(x.numpy())``.
    storage : Storage
        The memory of the values, shared by all views, with a counter of writes.
    node : Node or None
        The node of the tape that made this array; None for a leaf.
    leaf : Leaf or None
        The `Leaf` of a leaf that requires grad, or did so earlier; otherwise None.
    tracked : bool
        The same as ``requires_grad``, which is slower to read.
    write_guard : int
        OPEN if writes are allowed, or else NO_GRAD_ONLY or READ_ONLY.

    Examples
    --------
    >>> x = pn.array([1.0, 2.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> x.grad
    array([2., 4.])
    """

    __slots__ = ("__weakref__", "_grad", "_hooks", "_raw", "leaf", "node", "storage", "tracked", "write_guard")

    storage: Storage
    node: Node | None
    leaf: Any  # Leaf or None
    tracked: bool
    write_guard: int
    _raw: Any

    def __init__(
        self, data: Any, device: str = "cpu", storage: Storage | None = None, sources: Sequence[Any] = ()
    ) -> None:
        if data.__class__ is not np.ndarray:
            data = as_raw_array("Array", data)
        write_guard = OPEN
        for source in sources:
            if type(source) is Array and share_base(data, source._raw):
                storage = source.storage
                write_guard = source.write_guard or (NO_GRAD_ONLY if source.tracked and not grad_mode.value else OPEN)
                break
        self._raw = data
        self.storage = storage if storage is not None else Storage(data, device)
        self.node = self.leaf = None
        self.tracked = False
        self.write_guard = write_guard
        self._grad: Array | None = None
        self._hooks: Hooks | None = None

    @classmethod
    def from_memory(cls, data: Any, device: str = "cpu") -> Array:
        """Wrap memory of another library; if an `Array` exported this memory, the two arrays share a storage."""
        return cls(data, device, storage_of_imported(data, device))

    def as_output_of(self, node: Node) -> Array:
        """Return this array as the output of ``node``: the same memory, with history."""
        output = Array(self._raw, self.storage.device, self.storage)
        output.node, output.tracked = node, True
        return output

    @property
    def data(self) -> Any:
        """The values, in the class of the device's array module."""
        return self._raw

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes, outermost first."""
        return self._raw.shape  # type: ignore[no-any-return]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the elements."""
        return self._raw.dtype  # type: ignore[no-any-return]

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._raw.ndim  # type: ignore[no-any-return]

    @property
    def device(self) -> str:
        """The device of the values."""
        return self.storage.device

    @property
    def is_leaf(self) -> bool:
        """Whether no recorded operation made this array."""
        return self.node is None

    @property
    def is_nested(self) -> bool:
        """False: a nested array is another class."""
        return False

    def dim(self) -> int:
        """Return the number of dimensions."""
        return self.ndim

    def numel(self) -> int:
        """Return the number of elements."""
        return int(self.data.size)

    def is_contiguous(self) -> bool:
        """Return whether the elements lie one after another in row-major order."""
        return self._raw.flags.c_contiguous  # type: ignore[no-any-return]

    def is_writable(self) -> bool:
        """Return False if no write is ever allowed; True does not mean that one is allowed in the present mode."""
        return self.write_guard != READ_ONLY and is_writable(self._raw)

    @property
    def T(self) -> Array:
        """The transposed array: all dimensions in reverse."""
        return self.permute(range(self.ndim)[::-1])

    @method
    def size(self, dim: int | None = None) -> Any:
        """Return the sizes as a tuple, or the size of one dimension."""
        return self.shape if dim is None else self.shape[canonical_dim("size", dim, self.ndim)]

    @method
    def stride(self, dim: int | None = None) -> Any:
        """Return the strides, in elements, as a tuple, or the stride of one dimension."""
        strides = tuple(s // self.dtype.itemsize for s in self.data.strides)
        return strides if dim is None else strides[canonical_dim("stride", dim, self.ndim)]

    @method
    def narrow(self, dim: int, start: int, length: int) -> Array:
        """Return a view of ``length`` entries of dimension ``dim``, from ``start`` on."""
        return self._functions.narrowed(self, dim, start, length)  # type: ignore[no-any-return]

    @method
    def as_strided(self, size: Sequence[int], stride: Sequence[int], storage_offset: int = 0) -> Array:
        """Return a view of a contiguous array with these sizes and strides, in elements; read-only with repeats."""
        return self._functions.as_strided(self, size, stride, storage_offset)  # type: ignore[no-any-return]

    @method
    def broadcast_to(self, shape: Sequence[int]) -> Array:
        """Return a view repeated to ``shape``; it is read-only if elements repeat."""
        return self._functions.broadcast_to(self, shape)  # type: ignore[no-any-return]

    @property
    def grad(self) -> Array | None:
        """The sum of the gradients of all backward passes since it was last set."""
        return self._grad

    @grad.setter
    def grad(self, value: Array | None) -> None:
        if value is not None:
            if type(value) is not Array:
                raise GradientError(
                    f"grad: a gradient is a pn.Array, not {named_type(value)}. Make one: pn.array(value)."
                )
            check_gradient("grad: got", value, self.shape, self.dtype, self.device)
        self._grad = value

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow to the array or through it. An assignment calls `requires_grad_`."""
        return self.tracked

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    @method
    def requires_grad_(self, requires_grad: bool = True) -> Array:
        """Make a leaf require grad, or stop requiring it; return the array itself."""
        check_flags("requires_grad_", requires_grad=requires_grad)
        if requires_grad and not is_float(self.dtype):
            raise DTypeError(
                f"requires_grad: only floating point arrays can require gradients, this one is {self.dtype}. "
                "Convert it first: x.to(pn.float64)."
            )
        if self.node is not None and not requires_grad:
            raise GradientError("requires_grad: only a leaf can stop requiring gradients. Use x.detach().")
        if requires_grad and self.node is None and self.leaf is None:
            self.leaf = Leaf(self)
        self.tracked = bool(requires_grad)
        return self

    @method
    def backward(self, gradient: Any = None, *, retain_graph: bool | None = None, create_graph: bool = False) -> None:
        """Add the gradient of this array, weighted by ``gradient``, to the ``grad`` of each leaf."""
        self._functions.backward(self, gradient, retain_graph=retain_graph, create_graph=create_graph)

    @method
    def register_hook(self, hook: Hook) -> Callable[[], None]:
        """Call ``hook`` with the gradient of this array in every backward pass; return a function that removes it.

        An array that the hook returns replaces the gradient. The hook can keep the gradient, but not write to it.
        """
        return self._functions.register_hook(self, hook)  # type: ignore[no-any-return]

    def accumulate(self, cotangent: Array) -> None:
        """Add ``cotangent`` to ``grad``: in place, unless the sum can be differentiated or ``grad`` is read-only."""
        if LISTENERS:
            emit("accumulate", self.device, leaf=self, cotangent=cotangent)
        with _grad_lock:
            if self._grad is None:
                self._grad = cotangent
            elif cotangent.requires_grad or self._grad.requires_grad or not self._grad.is_writable():
                self._grad = self._grad + cotangent
            else:
                with np.errstate(all="ignore"):
                    get_backend(self.device).xp.add(self._grad.data, cotangent.data, out=self._grad.data)
                self._grad.storage.count_write()

    def retain_grad(self) -> None:
        """Let backward passes accumulate into the ``grad`` of this array even if it is not a leaf."""
        if not self.requires_grad:
            raise GradientError("retain_grad: this array requires no gradient, so there would be none to keep.")
        if self.node is not None and all(reference() is not self for reference in self.node.retaining_arrays):
            self.node.retaining_arrays = (*self.node.retaining_arrays, weakref.ref(self))

    def detach(self) -> Array:
        """Return the same values without history, in the same memory; a backward pass notices writes through either."""
        detached = Array(self._raw, self.storage.device, self.storage)
        detached.write_guard = READ_ONLY if self.write_guard == READ_ONLY else OPEN
        return detached

    def as_saved(self) -> Array:
        """Return the array that a node saves: for a leaf, a view with the same `Leaf`; for any other array, itself.

        The ``grad`` of a leaf can refer to nodes. If these nodes referred to the leaf, there would be a cycle.
        """
        if self.node is not None or not self.tracked:
            return self
        view = self.detach()
        view.tracked, view.leaf = True, self.leaf
        return view


def raw(value: Any) -> Any:
    """Return the raw array of an `Array`, and any other value as it is."""
    return value._raw if type(value) is Array else value


def check_gradient(
    origin: str,
    gradient: Array,
    shape: Any,
    dtype: Any,
    device: str,
    kind: str = "gradient",
    error: type[Exception] = GradientError,
) -> None:
    """Raise unless a gradient has the shape, dtype and device of its array. ``origin`` begins the error message.

    A tangent is checked in the same way; ``kind`` says which of the two it is.
    """
    if gradient.shape != shape or gradient.dtype != dtype:
        raise error(
            f"{origin} a {kind} of shape {gradient.shape} and dtype {gradient.dtype} for an array of shape {shape} "
            f"and dtype {dtype}."
        )
    if gradient.device != device:
        raise DeviceError(
            f"{origin} a {kind} on {gradient.device!r} for an array on {device!r}. Move the {kind}: "
            f"{kind}.to({device!r})."
        )


def new_zeros(shape: tuple[int, ...], dtype: np.dtype[Any], device: str) -> Array:
    """Return zeros that require no gradient."""
    return Array(get_backend(device).xp.zeros(shape, dtype), device)
