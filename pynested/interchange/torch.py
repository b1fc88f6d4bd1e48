"""PyTorch's tensors and nested tensors, of both layouts."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.call_errors import check_optional_flags
from pynested.autograd.dispatch import operator
from pynested.autograd.exchange import from_dlpack
from pynested.backends.errors import ExchangeError, GradientError
from pynested.construct.buffers import nested_array_from_jagged, nested_array_from_strided
from pynested.nested.nested_array import NestedArray
from pynested.structure import Jagged

from .lists import library, untracked
from .receivers import TORCH, accepted_values, check_known_dtype


@operator
def from_torch(tensor: Any, *, copy: bool | None = None) -> NestedArray | Array:
    """A tensor, or a nested tensor of either layout, in the same memory, with its holes.

    Parameters
    ----------
    tensor : torch.Tensor
        It may not require grad: ``detach()`` says that its history stays behind.
    copy : bool, optional
        True copies always; nothing else needs one.

    Raises
    ------
    GradientError
        For a tensor that requires grad.
    DTypeError
        For a dtype that pynested does not have, as bfloat16 on the CPU.
    MissingDependency
        Where PyTorch is not installed.

    Examples
    --------
    >>> import torch  # doctest: +SKIP
    >>> pn.from_torch(torch.ones(2))  # doctest: +SKIP
    array([1., 1.], dtype=float32)
    """
    check_optional_flags("from_torch", copy=copy)
    torch = library("from_torch", "torch", "torch")
    if not isinstance(tensor, torch.Tensor):
        raise ExchangeError(f"from_torch: {type(tensor).__name__} is no tensor of PyTorch. Take pn.array(value).")
    if tensor.requires_grad:
        raise GradientError(
            "from_torch: this tensor requires grad, and its history does not cross to pynested. Say so: "
            "from_torch(tensor.detach())."
        )
    if tensor.device.type == "cpu":
        check_known_dtype("from_torch", str(tensor.dtype).removeprefix("torch."))
    if not tensor.is_nested:
        return from_dlpack(tensor, copy=copy)
    values = from_dlpack(tensor.values(), copy=copy)
    if tensor.layout == torch.jagged:
        lengths = None if tensor.lengths() is None else _ints(tensor.lengths())
        return nested_array_from_jagged(values, _ints(tensor.offsets()), lengths, jagged_dim=tensor._ragged_idx)
    sizes, strides = tensor._nested_tensor_size(), tensor._nested_tensor_strides()
    return nested_array_from_strided(values, *map(_ints, (sizes, strides, tensor._nested_tensor_storage_offsets())))


def _ints(tensor: Any) -> Any:
    return tensor.cpu().numpy().astype(np.int64)


@operator
def to_torch(x: NestedArray | Array, *, copy: bool | None = None) -> Any:
    """A tensor, or a nested tensor of the same layout, in the memory of ``x``, with its holes.

    Parameters
    ----------
    x : NestedArray or Array
        On the CPU, or on a GPU, where the tensor is too. It may not require grad: ``detach()`` says so.
    copy : bool, optional
        None shares memory where it can, False refuses to copy, True copies always. Read-only memory is copied, for
        PyTorch has none.

    Raises
    ------
    GradientError
        For an array that requires grad.
    ExchangeError
        For an array of components without dimensions, and a batch of no components in the strided layout, which
        PyTorch does not have. For ``copy=False`` where memory is read-only, or strides are negative.
    MissingDependency
        Where PyTorch is not installed.

    Examples
    --------
    >>> pn.to_torch(pn.ones(2))  # doctest: +SKIP
    tensor([1., 1.], dtype=torch.float64)
    """
    check_optional_flags("to_torch", copy=copy)
    torch = library("to_torch", "torch", "torch")
    untracked("to_torch", x)
    if isinstance(x, Array):
        return _shared(torch, x, copy)
    structure, values = x.structure, _shared(torch, x.data, copy)
    if isinstance(structure, Jagged):
        counted = None if structure.lengths is None else torch.tensor(structure.lengths)
        known = _extremes(structure.component_lengths.tolist())
        return torch.nested.nested_tensor_from_jagged(
            values, torch.tensor(structure.offsets), counted, jagged_dim=structure.ragged_dim, **known
        )
    if not structure.count or not structure.sizes.shape[1]:
        what = "no components" if not structure.count else "components without dimensions"
        raise ExchangeError(f"to_torch: PyTorch has no strided nested tensor of {what}.")
    places = (structure.sizes, structure.strides, structure.offsets)
    return torch._nested_view_from_buffer(values, *map(torch.tensor, places))


def _extremes(lengths: list[int]) -> dict[str, int]:
    """The bounds of lengths that PyTorch would work out again and again."""
    return {"min_seqlen": min(lengths, default=0), "max_seqlen": max(lengths, default=0)}


def _shared(torch: Any, x: Array, copy: bool | None) -> Any:
    """The values of ``x`` as a tensor, which on a GPU is there too."""
    if x.device != "cuda":
        return torch.from_dlpack(accepted_values(TORCH, x, copy))
    made = torch.from_dlpack(x)
    return made.clone() if copy else made
