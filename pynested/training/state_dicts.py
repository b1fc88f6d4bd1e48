"""Parameters of PyTorch's modules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pynested.autograd import Array
from pynested.autograd.call_errors import check_flags
from pynested.autograd.dispatch import method
from pynested.backends.errors import ArgumentError, named_type
from pynested.interchange import from_torch


@method
def from_state_dict(state: Mapping[str, Any], *, requires_grad: bool = True) -> dict[str, Array]:
    """The parameters of a module of PyTorch by their names, copied: ``from_state_dict(module.state_dict())``.

    Parameters
    ----------
    state : mapping of names to tensors
        As ``state_dict()`` gives it, or ``torch.load``. `pynested.transformer_encoder_layer` takes its weights by the
        same names.
    requires_grad : bool
        Whether those of floating dtypes do; integers never do.

    Raises
    ------
    ArgumentError
        For a value that is no tensor, naming it, and what is no mapping.
    DTypeError
        For a dtype that pynested does not have, as bfloat16 on the CPU.
    MissingDependency
        Where PyTorch is not installed.

    Examples
    --------
    >>> import torch  # doctest: +SKIP
    >>> weights = pn.training.from_state_dict(torch.nn.Linear(2, 1).state_dict())  # doctest: +SKIP
    >>> sorted(weights)  # doctest: +SKIP
    ['bias', 'weight']
    """
    check_flags("from_state_dict", requires_grad=requires_grad)
    if not isinstance(state, Mapping):
        raise ArgumentError(f"from_state_dict: takes what module.state_dict() gives, not {named_type(state)}.")
    found: dict[str, Array] = {}
    for name, tensor in state.items():
        if not hasattr(tensor, "detach"):
            raise ArgumentError(f"from_state_dict: {name!r} is {type(tensor).__name__}, not a tensor.")
        array = from_torch(tensor.detach(), copy=True)
        found[name] = array.requires_grad_(requires_grad and array.dtype.kind == "f")  # type: ignore[assignment]
    return found
