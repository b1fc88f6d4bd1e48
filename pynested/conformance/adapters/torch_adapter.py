"""PyTorch's nested tensors as a target; runs as a child process, the only place where torch is imported.

The operands are built as a careful user would build them: the nested operands of one call that have equal offsets share
one tensor of them, since PyTorch compares structures by identity, and the longest and shortest length are passed on,
since it does not compute them. Placements ask for operands that are not built like this, too. An operator is the
function that the operator table names for it.
"""

from __future__ import annotations

import functools
import logging
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from pynested.spec.encoding import Components, Index
from pynested.spec.programs import CREATION, DENSE
from pynested.spec.table import load_table

from ..contradictions import Contradiction
from ..messages import Message
from ..placements import (
    APART,
    BARE,
    OVERLAPPING,
    PACKED,
    REVERSED,
    Array,
    only_components,
    place_jagged,
    place_strided,
    view,
)
from ..torch_dialect import NAMES
from .base import Operand, Place, PythonAdapter, Target
from .functions_by_name import BY_NAME
from .serve import Absent, serve
from .torch_dense import DenseTorch
from .torch_layers import LAYERS
from .values import Plain, in_brackets

_SYMBOLS: Mapping[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "eq": operator.eq,
    "lt": operator.lt,
}

# What it does not document for its jagged layout.
_OUT_OF_ORDER = (REVERSED, OVERLAPPING)

# What PyTorch wants otherwise than it is written here; tests/against_torch asks it about these.
_OF_OTHER_ARGUMENTS = {
    "multi_head_attention": "the batch second",
    "cross_entropy": "the classes second",
    "to_dense": "a sparse tensor",
}

# What says of a strided nested tensor what others say by these names.
_OF_STRIDED = {
    "offsets": "_nested_tensor_storage_offsets",
    "component_sizes": "_nested_tensor_size",
    "component_strides": "_nested_tensor_strides",
}

# How PyTorch says that it has no kernel, where it does not raise NotImplementedError.
_NO_KERNEL = (
    "is not implemented",
    "not implemented for",
    "Could not run 'aten::",
)


class TorchTarget(Target):
    """`torch.nested` in both layouts."""

    accumulates = True
    reads_operands = True

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._layouts = {"jagged": torch.jagged, "strided": torch.strided}
        self._device = "cpu"

    def identity(self, device: str) -> Message:
        """Return name and version, or why the device cannot be used."""
        try:
            self._torch.zeros(1, device=device)
        except (RuntimeError, AssertionError) as error:
            return {"unavailable": f"PyTorch cannot use device {device!r}: {str(error).splitlines()[0]}"}
        self._device = device
        version = str(self._torch.__version__)
        words = {
            "dialect": "torch",
            "errors": "builtin",
            "dense": "dense PyTorch",
            "conventions": "promotion signature identity",
            "capabilities": {"programs": True},
        }
        return {"name": "torch", "version": version, "device": device, **words}

    def operand(self, value: Plain, place: Place, tracked: bool) -> Operand:
        """Build a tensor, or a nested tensor in the wanted layout and placement."""
        if not isinstance(value, Components):
            return self._dense(value, tracked)
        if place.layout == "jagged":
            return self._jagged(value, place, tracked)
        if place.placement in (PACKED, BARE, APART) or not value:
            return self._packed(value, tracked)
        placed = place_strided(value, place.placement)
        parts = [self._tensor(one) for one in (placed.buffer, placed.sizes, placed.strides, placed.offsets)]
        nested = self._torch._nested_view_from_buffer(parts[0], *(part.cpu() for part in parts[1:]))
        nested = nested.requires_grad_() if tracked else nested
        return Operand(nested, lambda: None if nested.grad is None else self.read(nested.grad))

    def _tensor(self, array: Array) -> Any:
        """Return a tensor with the strides of the array, on the device."""
        return self._torch.from_numpy(array if array.flags.writeable else array.copy(order="K")).to(self._device)

    def _dense(self, value: Array, tracked: bool) -> Operand:
        tensor = self._tensor(np.asarray(value)).requires_grad_(tracked)
        return Operand(tensor, lambda: None if tensor.grad is None else self.read(tensor.grad))

    def _packed(self, value: Components, tracked: bool) -> Operand:
        leaves = [self._tensor(one).requires_grad_(tracked) for one in value]
        if not leaves:
            one = self._tensor(np.zeros([size or 0 for size in value.shape[1:]], value.dtype))
            empty = self._torch.nested.nested_tensor([one]).narrow(0, 0, 0)  # a list of nothing has one dimension
            return Operand(empty.requires_grad_(tracked), lambda: Components([], value.shape, value.dtype))
        nested = self._torch.nested.as_nested_tensor(leaves, layout=self._torch.strided)

        def gradient() -> Components | None:
            return (
                None if any(one.grad is None for one in leaves) else Components(self.read(one.grad) for one in leaves)
            )

        return Operand(nested, gradient)

    def _jagged(self, value: Components, place: Place, tracked: bool) -> Operand:
        if place.placement in _OUT_OF_ORDER:
            raise NotImplementedError("PyTorch has no jagged components out of order, or in each other")
        placed = place_jagged(value, place.placement)
        leaf, lengths = self._tensor(placed.whole).requires_grad_(tracked), placed.counts()
        parts = self._tensor(placed.offsets), None if placed.lengths is None else self._tensor(lengths)
        if place.placement != APART:
            parts = place.shared.setdefault((tuple(placed.offsets), placed.lengths is None), parts)
        least = int(lengths.min()) if lengths.size else 0
        known = {} if place.placement == BARE else {"min_seqlen": least, "max_seqlen": int(lengths.max(initial=0))}
        nested = self._torch.nested.nested_tensor_from_jagged(
            view(leaf, placed.steps), *parts, jagged_dim=placed.ragged_dim, **known
        )

        def gradient() -> Components | None:
            if leaf.grad is None:
                return None
            return Components(only_components(placed, self.read(leaf.grad)), value.shape, value.dtype)

        return Operand(nested, gradient)

    def other(self, value: Any) -> Any:
        """Translate dtypes, layouts and indices."""
        if isinstance(value, np.dtype):
            return getattr(self._torch, value.name)
        if isinstance(value, Index):
            return in_brackets(value)
        return self._layouts.get(value, value) if isinstance(value, str) else value

    def call(self, op: str, layout: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Call the function of the operator table, or the symbol where a number comes first."""
        if op == "getitem":
            return args[0][args[1]]
        if op == "nested_array_from_strided":
            return self._from_strided(*args, **kwargs)
        if op in _SYMBOLS and not isinstance(args[0], self._torch.Tensor) and not kwargs:
            return _SYMBOLS[op](*args)
        if op in DENSE:
            kwargs = {**kwargs, "device": self._device}
        names = NAMES.get(op, {})
        return self.function(op)(*args, **{names.get(name, name): value for name, value in kwargs.items()})

    def _from_strided(self, values: Any, sizes: Any, strides: Any = None, offsets: Any = None) -> Any:
        """Fill in what the function for it wants, which is private: everything, and integers in int64."""
        parts = [one if one is None or one.is_floating_point() else one.long() for one in (sizes, strides, offsets)]
        packed = self._torch._nested_compute_contiguous_strides_offsets(parts[0])
        filled = [own if given is None else given for given, own in zip(parts[1:], packed, strict=True)]
        return self._torch._nested_view_from_buffer(values, parts[0], *filled)

    def function(self, op: str) -> Callable[..., Any]:
        """Return the function of PyTorch that the operator table names."""
        if op in BY_NAME:
            raise NotImplementedError(f"PyTorch has {op} for dense tensors only; functions of pairs have no name here")
        if op in _OF_OTHER_ARGUMENTS:
            raise NotImplementedError(f"PyTorch's function for {op} wants {_OF_OTHER_ARGUMENTS[op]}")
        if op in LAYERS:
            return LAYERS[op]
        name = f"torch.{op}" if op in CREATION else getattr(load_table().get(op), "torch", "")
        if not name:
            raise NotImplementedError(f"PyTorch has no {op}")
        try:
            found: Callable[..., Any] = functools.reduce(getattr, name.split(".")[1:], self._torch)
        except AttributeError as error:
            raise NotImplementedError(f"this PyTorch has no {name}") from error
        return found

    def read(self, result: Any) -> Any:
        """Return a tensor as an array and a nested tensor as its components."""
        if isinstance(result, (list, tuple)):
            return [self.read(one) for one in result]
        if not isinstance(result, self._torch.Tensor):
            return result
        if not result.is_nested:
            return result.numpy(force=True)  # zeros of which no memory exists, too
        if result.layout == self._torch.jagged:
            return self._read_jagged(result)
        components = [self.read(one) for one in result.unbind()]
        if components:
            return Components(components)
        shape = [0, *[None] * (result.dim() - 1)]  # without components it knows how many dimensions, and no size
        return Components([], shape, np.dtype(str(result.dtype).removeprefix("torch.")))

    def _read_jagged(self, result: Any) -> Components:
        """Read components off the parts, which must agree with each other and with the shape that is shown."""
        dim = result._ragged_idx - 1
        values, offsets = self.read(result.values()), self.read(result.offsets())
        lengths = np.diff(offsets) if result.lengths() is None else self.read(result.lengths())
        shape = [size if type(size) is int else None for size in result.shape]
        regular = [size for number, size in enumerate(values.shape) if number != dim]
        if shape[0] != len(lengths) or [size for size in shape[1:] if size is not None] != regular:
            raise Contradiction(f"shape {shape} for {len(lengths)} lengths and values of shape {values.shape}")
        if offsets.dtype.kind != "i" or lengths.dtype.kind != "i":
            raise Contradiction(f"offsets of dtype {offsets.dtype} and lengths of dtype {lengths.dtype} are no places")
        starts = offsets[: len(lengths)]
        ends = starts + lengths
        if (lengths < 0).any() or (starts < 0).any() or (ends > values.shape[dim]).any():
            raise Contradiction(f"offsets {offsets} and lengths {lengths} do not lie in {values.shape[dim]} values")
        if result.lengths() is None and (offsets[0] != 0 or offsets[-1] != values.shape[dim]):
            raise Contradiction(f"offsets {offsets} without lengths do not run from 0 to {values.shape[dim]}")
        runs = [values.take(range(*pair), axis=dim) for pair in zip(starts, ends, strict=True)]
        return Components(runs, shape, values.dtype)

    def used(self, result: Any, read: Any) -> Iterator[tuple[str, Any]]:
        """Yield a nested result as padding shows it, where PyTorch can pad it.

        One that has not been told its longest length is padded by guess, which `to_padded_array` is asked about.
        """
        if not isinstance(read, Components) or not read:
            return
        if result.layout == self._torch.jagged and result._max_seqlen_tensor is None:
            return
        try:
            padded = self.read(self._torch.nested.to_padded_tensor(result, 0.0))
        except (RuntimeError, TypeError, AssertionError):  # that of `to_padded_array` is asked by its own cases
            return
        longest = tuple(map(max, zip(*(one.shape for one in read), strict=True)))
        rows = (row[tuple(map(slice, one.shape))] for row, one in zip(padded, read, strict=True))
        yield "to_padded_tensor", list(rows) if padded.shape[1:] == longest else padded

    def part(self, op: str, array: Any) -> Any:
        """Return what a tensor is made of; what only the other layout has is not there."""
        jagged_offsets = op == "offsets" and array.layout == self._torch.jagged
        return super().part(op if jagged_offsets else _OF_STRIDED.get(op, op), array)

    def backward(self, results: Sequence[Any], cotangents: Sequence[Plain]) -> None:
        """Pull back component by component wherever result or cotangent is nested, so that structures cannot clash."""
        outputs, pulls = [], []
        for result, cotangent in zip(results, cotangents, strict=True):
            split = result.is_nested or isinstance(cotangent, Components)
            outputs += list(result.unbind()) if split else [result]
            pulls += [self._tensor(np.asarray(one)) for one in (cotangent if split else [cotangent])]
        pairs = [pair for pair in zip(outputs, pulls, strict=True) if pair[0].requires_grad]
        if pairs:
            self._torch.autograd.backward(*zip(*pairs, strict=True), retain_graph=True)

    def pull_back(self, result: Any, cotangent: Any, retain: bool) -> None:
        """Pull a cotangent back by component, so that structures cannot clash; of a dense result by row."""
        self._torch.autograd.backward(result.unbind(), cotangent.unbind(), retain_graph=retain)

    def pull_to(self, array: Any, result: Any, cotangent: Any) -> Any:
        """Pull back with a graph of the pass, which PyTorch does not do component by component."""
        return self._torch.autograd.grad(result, array, cotangent, create_graph=True, allow_unused=True)[0]

    def missing(self, error: Exception) -> bool:
        """Return whether PyTorch says that it has no kernel for this."""
        return isinstance(error, NotImplementedError) or any(text in str(error) for text in _NO_KERNEL)


def main() -> None:
    """Answer on stdin and stdout."""
    try:
        import torch
    except ImportError as error:
        serve(Absent("PyTorch", "torch", str(error)))
        return
    torch.set_num_threads(1)
    torch.set_warn_always(True)  # what it works out for a warning can fail: in each call, as in the first of a process
    logging.getLogger("torch").setLevel(logging.ERROR)  # its warnings would come again with every process
    torch.nested.nested_tensor([torch.zeros(1)], layout=torch.jagged)  # with which it imports what takes a second
    target = TorchTarget(torch)
    serve(PythonAdapter(target, DenseTorch(torch, target.function, target.other)))


if __name__ == "__main__":
    main()
