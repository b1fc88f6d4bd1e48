"""Protocols of Python and NumPy for arrays: numbers, lists, lengths, printing, pickling, shared memory."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from pynested.backends import transfer
from pynested.backends.errors import ArgumentError, DeviceError, DTypeError, ExchangeError, GradientError
from pynested.backends.host import to_host
from pynested.backends.repeating_views import unbroadcast_view
from pynested.backends.storage import register_exported

from .decorators import method
from .default_device_and_dtype import is_dtype_of_python_numbers


def refuse_numpy_ma(self: Any) -> NoReturn:
    """Raise for ``masked + x``: `numpy.ma` reads ``_data`` of the other operand, and this is its getter."""
    raise ArgumentError(
        "numpy.ma: masked elements have no value, so a masked array is no operand of pynested. Give them a value, "
        "m.filled(0), or select the other elements: pn.masked_select(m.data, ~np.ma.getmaskarray(m)). To compute with "
        "NumPy, use x.numpy()."
    )


class ArrayProtocols:
    """Conversions of the values, and the special methods that are not operators."""

    __slots__ = ()
    _data = property(refuse_numpy_ma)

    @method
    def numpy(self: Any) -> np.ndarray[Any, Any]:
        """Return a NumPy array in the same memory. DeviceError on a GPU, GradientError if the array requires grad.

        pynested notices its own writes that would make a gradient wrong, such as writes to `pn.from_numpy` of the
        result. It does not notice writes of NumPy: write before an operation reads it, or after the backward pass.
        """
        if self.requires_grad:
            raise GradientError(
                "numpy: this array requires grad, and NumPy would not record what you do with it. Use x.detach()."
            )
        if not isinstance(self.data, np.ndarray):
            raise DeviceError(
                f"numpy: this array lies on {self.device!r}, where NumPy cannot reach. Copy it: x.to('cpu').numpy()."
            )
        register_exported(self.storage, self.data)
        return self.data

    @method
    def item(self: Any) -> Any:
        """Return the only element as a Python number."""
        return self._only_element("item")

    def _only_element(self: Any, name: str) -> Any:
        """Return the only element as a Python number; ``name``, the function that needs it, begins the error."""
        if self.numel() != 1:
            hint = " Use x.any() or x.all(); for each element use &, | and pn.where." if name == "bool" else ""
            raise ArgumentError(f"{name}: an array of shape {self.shape} has {self.numel()} elements, not one.{hint}")
        return to_host(self.data).item()

    @method
    def tolist(self: Any) -> Any:
        """Return the values as nested lists of Python numbers."""
        return to_host(self.data).tolist()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self.numpy(), dtype=dtype, copy=copy)

    def __dlpack__(self: Any, **options: Any) -> Any:
        data = self._exported("dlpack")
        is_reversed = any(stride < 0 and size > 1 for stride, size in zip(data.strides, data.shape, strict=True))
        if is_reversed and not options.get("copy"):
            raise ExchangeError(
                f"dlpack: this array has a negative stride, {self.stride()}, with which PyTorch would abort the "
                "process. Copy it first: x.contiguous()."
            )
        return data.__dlpack__(**options)

    def __dlpack_device__(self: Any) -> tuple[int, int]:
        device: tuple[int, int] = self.data.__dlpack_device__()
        return device

    @property
    def __cuda_array_interface__(self: Any) -> dict[str, Any]:
        if isinstance(self.data, np.ndarray):
            raise AttributeError(f"__cuda_array_interface__: this array lies on {self.device!r}, not on a GPU.")
        interface: dict[str, Any] = self._exported("__cuda_array_interface__").__cuda_array_interface__
        return interface

    def _exported(self: Any, name: str) -> Any:
        """Return the raw array for another library, which may write to its memory."""
        if self.requires_grad:
            raise ExchangeError(
                f"{name}: this array requires grad, and the other library would not record what it does with it. "
                "Use x.detach()."
            )
        register_exported(self.storage, self.data)
        return self.data

    def __len__(self: Any) -> int:
        if self.ndim == 0:
            raise ArgumentError("len: an array without dimensions has no length.")
        return self.shape[0]  # type: ignore[no-any-return]

    def __bool__(self) -> bool:
        return bool(self._only_element("bool"))

    def __float__(self) -> float:
        return float(self._only_element("float"))

    def __int__(self) -> int:
        return int(self._only_element("int"))

    def __format__(self, spec: str) -> str:
        return format(self._only_element("format"), spec) if spec else str(self)

    def __round__(self: Any, ndigits: int | None = None) -> Any:
        if not self.ndim or (ndigits is not None and self.numel() == 1):
            return round(self._only_element("round"), ndigits)
        return self.round() if ndigits is None else self.round(ndigits)  # raises for digits

    def __index__(self: Any) -> int:
        if self.dtype.kind not in "iu":
            raise DTypeError(f"index: only an integer can be an index, this array is {self.dtype}.")
        return int(self._only_element("index"))

    def __repr__(self: Any) -> str:
        facts = f", shape={self.shape}" if not self.numel() and self.ndim > 1 else ""
        facts += "" if is_dtype_of_python_numbers(self.dtype, self.numel()) else f", dtype={self.dtype}"
        if self.node is not None:
            facts += f", made by {self.node.name}"
        elif self.requires_grad:
            facts += ", requires_grad=True"
        if self.device != "cpu":
            facts += f", device={self.device!r}"
        return f"array({np.array2string(to_host(self.data), separator=', ', prefix='array(')}{facts})"

    def __reduce__(self: Any) -> Any:
        register_exported(self.storage, self.data)  # a pickle may share its buffers
        values = unbroadcast_view(self.data)
        data = np.ascontiguousarray(to_host(values)).reshape(values.shape)  # NumPy adds a dimension if there is none
        return _unpickled, (type(self), data, self.device, self.requires_grad and self.is_leaf, self.shape)

    def __deepcopy__(self: Any, memo: dict[int, Any]) -> Any:
        if self.node is not None:
            raise GradientError("deepcopy: it works for leaves only; use x.detach().clone() for the values.")
        copy = type(self)(transfer(self.data, self.device), self.device).requires_grad_(self.requires_grad)
        memo[id(self)] = copy
        return copy

    def __copy__(self: Any) -> Any:
        copy = self.detach()
        copy.node, copy.write_guard = self.node, self.write_guard
        return copy.requires_grad_(self.requires_grad)


def _unpickled(array_class: Any, data: Any, device: str, requires_grad: bool, shape: tuple[int, ...]) -> Any:
    """Return the array of a pickle. ``data`` has size 1 in repeated dimensions, which are repeated to ``shape``."""
    if data.shape != shape:
        data = np.ascontiguousarray(np.broadcast_to(data, shape))
    array = array_class.from_memory(data) if device == "cpu" else array_class(transfer(data, device), device)
    return array.requires_grad_(requires_grad)
