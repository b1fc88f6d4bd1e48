"""A case as code that can be pasted: in the dialect of its target, with the operands in the placement that was run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from pynested.spec.encoding import Components, Index, decode_value
from pynested.spec.table import Operator

from . import literals
from .placements import PACKED, TRANSPOSED, Array, place_jagged, place_strided


class Dialect(Protocol):
    """How one library spells arrays, layouts and calls."""

    head: str
    from_list: str
    from_jagged: str
    from_strided: str
    lists_of_nothing: tuple[str, ...]  # layouts in which a batch of no components is made from an empty list
    nothing_to_strided: str  # makes a strided batch of no components of a jagged one, which says what is regular

    def array(self, array: Array) -> str:
        """Return a dense array."""

    def dense(self, text: str, tracked: bool) -> str:
        """Return a dense array as an operand."""

    def transposed(self, text: str, dims: int) -> str:
        """Return a dense array stored with its strides reversed."""

    def name(self, word: str) -> str:
        """Return a dtype or a layout."""

    def function(self, operator: Operator) -> str:
        """Return what is called; a leading dot calls a method of the first argument."""

    def backward(self, cotangent: Any) -> str:
        """Return the line that pulls a cotangent back from `out`."""


class PynestedDialect:
    """pynested itself: dense operands are `pn.array`."""

    head = "import numpy as np\nfrom numpy import inf, nan\nimport pynested as pn\n"
    from_list, from_jagged, from_strided = (
        "pn.nested_array",
        "pn.nested_array_from_jagged",
        "pn.nested_array_from_strided",
    )
    lists_of_nothing: tuple[str, ...] = ()
    nothing_to_strided = ".to(layout=pn.strided)"

    def array(self, array: Array) -> str:
        """Return a NumPy array."""
        name = f"np.{array.dtype.name}".replace("np.bool", "np.bool_")
        return f"np.zeros({array.shape}, {name})" if array.size == 0 else f"np.array({_list(array)}, {name})"

    def dense(self, text: str, tracked: bool) -> str:
        """Return a `pn.array`."""
        return f"pn.array({text}{', requires_grad=True' if tracked else ''})"

    def transposed(self, text: str, dims: int) -> str:
        """Return a NumPy array in Fortran order."""
        return f"np.asfortranarray({text})"

    def name(self, word: str) -> str:
        """Return a dtype or a layout."""
        return f"pn.{word}"

    def function(self, operator: Operator) -> str:
        """Return the function of that name."""
        return f"pn.{operator.name}"

    def backward(self, cotangent: Any) -> str:
        """Return a call of `backward`, which takes a nested or dense cotangent."""
        if isinstance(cotangent, Components):
            return f"out.backward(pn.nested_array([{', '.join(map(self.array, cotangent))}], layout=out.layout))"
        return f"out.backward({self.array(cotangent)})"


class TorchDialect:
    """PyTorch: names of the operators are those in the operator table."""

    head = "import torch\nfrom torch import inf, nan\n"
    from_list, from_jagged, from_strided = (
        "torch.nested.nested_tensor",
        "torch.nested.nested_tensor_from_jagged",
        "torch._nested_view_from_buffer",
    )
    lists_of_nothing: tuple[str, ...] = ("strided",)
    nothing_to_strided = ""
    _implied = ("float32", "int64", "bool")

    def array(self, array: Array) -> str:
        """Return a tensor; the dtype is left out where the numbers imply it."""
        dtype = "" if array.dtype.name in self._implied else f", dtype=torch.{array.dtype.name}"
        if array.size == 0:
            return f"torch.zeros({array.shape}, dtype=torch.{array.dtype.name})"
        return f"torch.tensor({_list(array)}{dtype})"

    def dense(self, text: str, tracked: bool) -> str:
        """Return a tensor, a leaf where tracked."""
        return f"{text}.requires_grad_()" if tracked else text

    def transposed(self, text: str, dims: int) -> str:
        """Return a tensor whose memory is in the opposite order."""
        order = ", ".join(map(str, reversed(range(dims))))
        return f"{text}.permute({order}).contiguous().permute({order})"

    def name(self, word: str) -> str:
        """Return a dtype or a layout."""
        return f"torch.{word}"

    def function(self, operator: Operator) -> str:
        """Return the function, or the method, that the table names."""
        return operator.torch.removeprefix("torch.Tensor") if "torch.Tensor." in operator.torch else operator.torch

    def backward(self, cotangent: Any) -> str:
        """Return a call of `backward`, component by component where the cotangent is nested."""
        if isinstance(cotangent, Components):
            return f"torch.autograd.backward(out.unbind(), [{', '.join(map(self.array, cotangent))}])"
        return f"out.backward({self.array(cotangent)})"


DIALECTS: Mapping[str, Dialect] = {"pynested": PynestedDialect(), "torch": TorchDialect()}


def snippet(request: Mapping[str, Any], operator: Operator, dialect: str, gradient: bool = False) -> str:
    """Return the request as code: operands, call, and the gradients where they are what differs."""
    speak = DIALECTS.get(dialect, DIALECTS["pynested"])
    names = literals.Names()
    call = _call(request, operator, speak, names)
    tracked = _tracked(request) if gradient else [False] * len(names.found)
    lines = [speak.head]
    for (name, value), track in zip(names.found, tracked, strict=True):
        lines.append(f"{name} = {_operand(value, request, speak, track)}")
    lines += [f"out = {call}", "print(out)"]
    if gradient:
        lines += _backward(decode_value(request["cotangent"]), call, speak)
        lines += [f"print({name}.grad)" for (name, _), track in zip(names.found, tracked, strict=True) if track]
    return "\n".join(lines)


def _backward(cotangent: Any, call: str, speak: Dialect) -> list[str]:
    """Return the lines that pull back: from the first of several results, and none where there is no result."""
    if isinstance(cotangent, Components) or not isinstance(cotangent, list):
        return [speak.backward(cotangent)]
    return [f"out = {call}[0]", speak.backward(cotangent[0])] if cotangent else []


def _list(array: Array) -> str:
    return literals.nested_list(array)


def _tracked(request: Mapping[str, Any]) -> list[bool]:
    """Return for each array of the call, in order, whether its gradient is asked for."""
    wrt = set(request["wrt"])
    places = [*enumerate(request["args"]), *request["kwargs"].items()]
    return [place in wrt and one.dtype.kind == "f" for place, value in places for one in _arrays(decode_value(value))]


def _arrays(value: Any) -> list[Any]:
    if isinstance(value, (Components, np.ndarray)):
        return [value]
    return [array for one in value for array in _arrays(one)] if isinstance(value, (list, tuple)) else []


def _call(request: Mapping[str, Any], operator: Operator, speak: Dialect, names: literals.Names) -> str:
    texts = literals.arguments(request, names, speak.name)
    if operator.name == "getitem":
        where = decode_value(request["args"][1])
        return f"{texts[0]}[{literals.index(where.items) if isinstance(where, Index) else texts[1]}]"
    function = speak.function(operator)
    if function.startswith("."):
        return f"{texts[0]}{function}({', '.join(texts[1:])})"
    return f"{function}({', '.join(texts)})"


def _operand(value: Any, request: Mapping[str, Any], speak: Dialect, tracked: bool) -> str:
    """Return one operand in the placement of the request."""
    if not isinstance(value, Components):
        return speak.dense(speak.array(value), tracked)
    layout, placement = request["layout"], request["placement"]
    if (placement == PACKED and value) or (not value and layout in speak.lists_of_nothing):
        grad = ", requires_grad=True" if tracked else ""
        return f"{speak.from_list}([{', '.join(map(speak.array, value))}], layout={speak.name(layout)}{grad})"
    if layout == "strided" and not value and value.shape.count(None) == 1 and speak.nothing_to_strided:
        built = _jagged(value, placement, speak) + speak.nothing_to_strided
    else:
        built = _strided(value, placement, speak) if layout == "strided" else _jagged(value, placement, speak)
    return built + (".requires_grad_()" if tracked else "")


def _strided(value: Components, placement: str, speak: Dialect) -> str:
    placed = place_strided(value, placement)
    parts = [speak.array(one) for one in (placed.buffer, placed.sizes, placed.strides, placed.offsets)]
    return f"{speak.from_strided}({', '.join(parts)})"


def _jagged(value: Components, placement: str, speak: Dialect) -> str:
    placed = place_jagged(value, placement)
    values = speak.array(np.ascontiguousarray(placed.values))
    parts = [speak.transposed(values, placed.values.ndim) if placement == TRANSPOSED else values]
    parts += [speak.array(placed.offsets)]
    parts += [] if placed.lengths is None else [speak.array(placed.lengths)]
    parts += [] if placed.ragged_dim == 1 else [f"jagged_dim={placed.ragged_dim}"]
    return f"{speak.from_jagged}({', '.join(parts)})"
