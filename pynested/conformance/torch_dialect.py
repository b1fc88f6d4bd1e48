"""PyTorch in snippets: operands are made as the adapter makes them, and operators go by the names of the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from pynested.spec.encoding import Components
from pynested.spec.table import Operator

from . import literals
from .adapters.torch_layers import LAYERS
from .pasting import Common, Operand, Place, steps
from .placements import APART, BARE, PACKED, TRANSPOSED, Array, place_jagged, place_strided

SYMBOLS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "eq": "==", "lt": "<"}  # where a number comes first
# Parameters that PyTorch calls by another name than the table.
NAMES: Mapping[str, Mapping[str, str]] = {"split": {"sizes": "split_size_or_sections"}}
_IMPLIED = ("float32", "int64", "bool")
_VIEW = "# components that are views into a larger buffer, as transpose() and select() return them"
_PACK = "torch._nested_compute_contiguous_strides_offsets"


class TorchDialect(Common):
    """PyTorch: jagged operands of equal lengths share their offsets, which PyTorch compares by identity."""

    head = "import torch\nfrom torch import inf, nan\n"
    precise = "torch.set_printoptions(precision=17)"
    uses: Mapping[str, str] = MappingProxyType({"to_padded_tensor": "torch.nested.to_padded_tensor(out, 0.0)"})

    def operand(self, name: str, value: Any, place: Place, tracked: bool) -> Operand:
        """Return the lines of a tensor or a nested tensor; where tracked its leaves have names."""
        grad = ".requires_grad_()" if tracked else ""
        if not isinstance(value, Components):
            return Operand([f"{name} = {_array(value)}{grad}"], f"{name}.grad")
        if place.layout == "jagged":
            return self._jagged(name, value, place, grad)
        if not value:
            one = _array(np.zeros([size or 0 for size in value.shape[1:]], value.dtype))
            return Operand([f"{name} = torch.nested.nested_tensor([{one}]).narrow(0, 0, 0){grad}"], f"{name}.grad")
        if place.placement not in (PACKED, BARE, APART):
            placed = place_strided(value, place.placement)
            described = map(_array, (placed.sizes, placed.strides, placed.offsets))
            parts = ", ".join([_array(placed.whole) + steps(placed.steps), *described])
            code = f"{name} = torch._nested_view_from_buffer({parts}){grad}"
            return Operand([_VIEW, code], f"{name}.grad")
        leaves = f"[{', '.join(_array(one) + grad for one in value)}]"
        if not tracked:
            return Operand([f"{name} = torch.nested.as_nested_tensor({leaves}, layout=torch.strided)"], "")
        lines = [
            f"{name}_parts = {leaves}",
            f"{name} = torch.nested.as_nested_tensor({name}_parts, layout=torch.strided)",
        ]
        return Operand(lines, f"[one.grad for one in {name}_parts]")

    def _jagged(self, name: str, value: Components, place: Place, grad: str) -> Operand:
        placed = place_jagged(value, place.placement)
        lengths = placed.counts().tolist()
        values = _array(np.ascontiguousarray(placed.whole))
        if place.placement == TRANSPOSED:
            order = ", ".join(map(str, reversed(range(placed.values.ndim))))
            values += f".permute({order}).contiguous().permute({order})"
        lines = []
        key = (tuple(placed.offsets), placed.lengths is None, name if place.placement == APART else "")
        if key not in place.shared:
            number = len(place.shared) or ""
            place.shared[key] = f"offsets{number}" + ("" if placed.lengths is None else f", lengths{number}")
            lines.append(f"offsets{number} = {_array(placed.offsets)}")
            lines += [] if placed.lengths is None else [f"lengths{number} = {_array(placed.lengths)}"]
        if grad:
            lines.append(f"{name}_values = {values}{grad}")
        parts = [(f"{name}_values" if grad else values) + steps(placed.steps), place.shared[key]]
        parts += [] if placed.ragged_dim == 1 else [f"jagged_dim={placed.ragged_dim}"]
        known = [f"min_seqlen={min(lengths, default=0)}", f"max_seqlen={max(lengths, default=0)}"]
        parts += [] if place.placement == BARE else known
        lines.append(f"{name} = torch.nested.nested_tensor_from_jagged({', '.join(parts)})")
        return Operand(lines, f"{name}_values.grad")

    def name(self, word: str) -> str:
        """Return a dtype or a layout."""
        return f"torch.{word}"

    def call(self, operator: Operator, texts: Sequence[str]) -> str:
        """Return a call of the function, or the method, that the table names, or the symbol after a number."""
        if operator.name == "nested_array_from_strided":
            return _from_strided(texts)
        for name, theirs in NAMES.get(operator.name, {}).items():
            texts = [
                text.replace(f"{name}=", f"{theirs}=", 1) if text.startswith(f"{name}=") else text for text in texts
            ]
        if operator.name in SYMBOLS and len(texts) == 2 and not texts[0].isidentifier() and "=" not in texts[1]:
            return f"{texts[0]} {SYMBOLS[operator.name]} {texts[1]}"
        if operator.name in LAYERS:
            return f"torch_layers.{operator.name}({', '.join(texts)})"
        if "torch.Tensor." in operator.torch:
            return f"{texts[0]}{operator.torch.removeprefix('torch.Tensor')}({', '.join(texts[1:])})"
        return f"{operator.torch}({', '.join(texts)})"

    def backward(self, cotangents: Mapping[str, Any]) -> str:
        """Return a call of `backward`, component by component where a cotangent is nested."""
        if len(cotangents) == 1:
            ((name, one),) = cotangents.items()
            if isinstance(one, Components):
                return f"torch.autograd.backward({name}.unbind(), [{', '.join(map(_array, one))}])"
            return f"{name}.backward({_array(one)})"
        results = [f"*{name}.unbind()" if isinstance(one, Components) else name for name, one in cotangents.items()]
        parts = [part for one in cotangents.values() for part in (one if isinstance(one, Components) else [one])]
        return f"torch.autograd.backward([{', '.join(results)}], [{', '.join(map(_array, parts))}])"

    def pull(self, texts: Sequence[str]) -> str:
        """Return a backward pass, component by component where there are any; a dense array has rows."""
        parts = [f"{text}.unbind()" for text in texts[:2]]
        return f"torch.autograd.backward({', '.join([*parts, *texts[2:]])})"

    def pull_to(self, result: str, array: str, cotangent: str) -> str:
        """Return the gradient of a pass that is recorded."""
        return f"torch.autograd.grad({result}, {array}, {cotangent}, create_graph=True, allow_unused=True)[0]"

    def push(self, function: str, array: str, tangent: str) -> str:
        """Return a call of PyTorch's forward mode."""
        return f"torch.func.jvp({function}, ({array},), ({tangent},))[1]"

    def shown(self, name: str, is_nested: bool = True) -> str:
        """Return a line that prints a tensor, or each component: a jagged tensor prints without its numbers."""
        return f"print(*{name}.unbind())" if is_nested else f"print({name})"

    def described(self, name: str) -> str:
        """Return a line that prints the dtype and the sizes of a tensor, or of each component."""
        sizes = f"*(tuple(one.shape) for one in ({name}.unbind() if {name}.is_nested else [{name}]))"
        return f'print("nested" if {name}.is_nested else "dense", {name}.dtype, {sizes})'


def _array(array: Array) -> str:
    """Return a tensor; the dtype is left out where the numbers imply it."""
    if array.size == 0:
        return f"torch.zeros({array.shape}, dtype=torch.{array.dtype.name})"
    dtype = "" if array.dtype.name in _IMPLIED else f", dtype=torch.{array.dtype.name}"
    return f"torch.tensor({literals.nested_list(array)}{dtype})"


def _from_strided(texts: Sequence[str]) -> str:
    """Return a call of the private function, which wants all four arguments, and int64."""
    names = ("values", "sizes", "strides", "offsets")
    given = dict(zip(names, [one for one in texts if "=" not in one], strict=False))
    given |= {name: value for name, _, value in (one.partition("=") for one in texts if "=" in one)}
    known = {name: f"{given[name]}.long()" for name in names[1:] if given.get(name, "None") != "None"}
    if "strides" not in known and "offsets" not in known:
        rest = f"*{_PACK}({known['sizes']})"
    else:
        packed = f"{_PACK}({known['sizes']})"
        rest = f"{known.get('strides', packed + '[0]')}, {known.get('offsets', packed + '[1]')}"
    return f"torch._nested_view_from_buffer({given['values']}, {known['sizes']}, {rest})"
