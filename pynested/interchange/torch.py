"""Exchange with tensors of PyTorch, and with nested tensors of both layouts."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.call_errors import check_optional_flags
from pynested.autograd.decorators import operator
from pynested.autograd.dlpack import from_dlpack
from pynested.backends.errors import ExchangeError, GradientError
from pynested.construct.from_buffers import nested_array_from_jagged, nested_array_from_strided
from pynested.nested.nested_array import NestedArray
from pynested.structure import Jagged

from .exchange_checks import TO_TORCH, check_exportable, check_known_dtype, import_optional, values_for_export


@operator
def from_torch(tensor: Any, *, copy: bool | None = None) -> NestedArray | Array:
    """Convert a tensor, or a nested tensor of either layout, without a copy; gaps between components are kept.

    A negative view, as ``x.conj().imag`` is, is copied. DTypeError for a dtype that pynested does not have, such as
    bfloat16 on the CPU.

    >>> import torch  # doctest: +SKIP
    >>> pn.from_torch(torch.ones(2))  # doctest: +SKIP
    array([1., 1.], dtype=float32)
    """
    check_optional_flags("from_torch", copy=copy)
    torch = import_optional("from_torch", "torch")
    if not isinstance(tensor, torch.Tensor):
        raise ExchangeError(f"from_torch: takes a tensor of PyTorch, not {type(tensor).__name__}. Use pn.array(value).")
    if tensor.requires_grad:
        raise GradientError(
            "from_torch: this tensor requires grad, and its history does not cross to pynested. Detach it: "
            "from_torch(tensor.detach())."
        )
    if tensor.device.type == "cpu":
        check_known_dtype("from_torch", str(tensor.dtype).removeprefix("torch."))
    if not tensor.is_nested:
        return _dense_from_torch(tensor, copy)
    values = _dense_from_torch(tensor.values(), copy)
    if tensor.layout == torch.jagged:
        lengths = None if tensor.lengths() is None else _as_int64(tensor.lengths())
        return nested_array_from_jagged(values, _as_int64(tensor.offsets()), lengths, jagged_dim=tensor._ragged_idx)
    sizes, strides = tensor._nested_tensor_size(), tensor._nested_tensor_strides()
    if sizes.ndim != 2:
        raise ExchangeError(
            "from_torch: a strided nested tensor of no components has no number of dimensions. Use the layout "
            "torch.jagged."
        )
    return nested_array_from_strided(values, *map(_as_int64, (sizes, strides, tensor._nested_tensor_storage_offsets())))


def _dense_from_torch(tensor: Any, copy: bool | None) -> Array:
    return from_dlpack(tensor if copy is False else tensor.resolve_neg(), copy=copy)


def _as_int64(tensor: Any) -> Any:
    return tensor.cpu().numpy().astype(np.int64)


@operator
def to_torch(x: NestedArray | Array, *, copy: bool | None = None) -> Any:
    """Convert to a tensor, or to a nested tensor of the same layout, without a copy; gaps between components are kept.

    The tensor lies on the same device, the CPU or a GPU. Read-only memory and negative strides, which PyTorch does not
    support, are copied. ExchangeError for strided arrays that PyTorch does not support: components without dimensions,
    and a batch of no components.

    >>> pn.to_torch(pn.ones(2))  # doctest: +SKIP
    tensor([1., 1.], dtype=torch.float64)
    """
    check_exportable("to_torch", x, copy)
    torch = import_optional("to_torch", "torch")
    if isinstance(x, Array):
        return _dense_to_torch(torch, x, copy)
    structure, values = x.structure, _dense_to_torch(torch, x.data, copy)
    if isinstance(structure, Jagged):
        lengths = None if structure.lengths is None else torch.tensor(structure.lengths)
        all_lengths = structure.component_lengths.tolist()
        return torch.nested.nested_tensor_from_jagged(
            values,
            torch.tensor(structure.offsets),
            lengths,
            jagged_dim=structure.ragged_dim,
            min_seqlen=min(all_lengths, default=0),  # PyTorch would compute both bounds again in many calls
            max_seqlen=max(all_lengths, default=0),
        )
    if not structure.count or not structure.sizes.shape[1]:
        what = "no components" if not structure.count else "components without dimensions"
        raise ExchangeError(f"to_torch: PyTorch has no strided nested tensor of {what}.")
    metadata = (structure.sizes, structure.strides, structure.offsets)
    return torch._nested_view_from_buffer(values, *map(torch.tensor, metadata))


def _dense_to_torch(torch: Any, x: Array, copy: bool | None) -> Any:
    """Return a dense array as a tensor on the same device."""
    if x.device != "cuda":
        return torch.from_dlpack(values_for_export(TO_TORCH, x, copy))
    tensor = torch.from_dlpack(x)
    return tensor.clone() if copy else tensor
