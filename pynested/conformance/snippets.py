"""A case as code that can be pasted: in the dialect of its target, with the operands in the placement that was run."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from pynested.spec.components import parts_of
from pynested.spec.encoding import Components, Index, decode_value
from pynested.spec.table import Operator

from . import literals
from .adapters.functions_by_name import BY_NAME
from .awkward_dialect import AwkwardDialect
from .contradictions import TWICE, is_second, used_by
from .numpy_dialect import NumpyDialect, Own
from .pasting import TIMES, USE, Common, Operand, Place, several, steps
from .placements import APART, BARE, PACKED, TRANSPOSED, Array, in_turn, place_jagged, place_strided
from .tensorflow_dialect import TensorflowDialect
from .torch_dialect import TorchDialect

RESULT, RESULT_PARTS, GRADIENTS = "result", "parts of the result", "gradients"  # that a snippet describes
_PART = 60  # characters of what is expected on one line

# What a call needs besides the head of its dialect, by how it begins.
_IMPORTS = {
    "by_name.": "from pynested.conformance.adapters import functions_by_name as by_name",
    "torch_layers.": "from pynested.conformance.adapters import torch_layers",
}


class Dialect(Protocol):
    """How one library spells arrays, layouts and calls."""

    head: str
    precise: str
    uses: Mapping[str, str]

    def operand(self, name: str, value: Any, place: Place, tracked: bool) -> Operand:
        """Return the lines that make an operand, as the adapter makes it, and what says its gradient."""

    def name(self, word: str) -> str:
        """Return a dtype or a layout."""

    def call(self, operator: Operator, texts: Sequence[str]) -> str:
        """Return the call, given its arguments as text."""

    def backward(self, cotangents: Mapping[str, Any]) -> str:
        """Return the lines that pull cotangents back, each from the result of that name."""

    def shown(self, name: str, is_nested: bool = True) -> str:
        """Return the line that prints an array, or the components of a nested one."""

    def described(self, name: str) -> str:
        """Return the line that prints dtype and sizes of an array."""


class PynestedDialect(Common):
    """pynested itself, or an own ``function`` of its arrays: dense operands are `pn.array`."""

    head = "import numpy as np\nfrom numpy import inf, nan\nimport pynested as pn\n"
    precise = "np.set_printoptions(precision=17)"
    uses: Mapping[str, str] = MappingProxyType({"to_padded_array": "pn.to_padded_array(out, 0)"})

    def __init__(self, function: str = "") -> None:
        self._function = function
        self.head += f"# Import {function} here.\n" if function else ""

    def operand(self, name: str, value: Any, place: Place, tracked: bool) -> Operand:
        """Return a line; packed components are written as a list, all others with the buffers they lie in."""
        grad = ", requires_grad=True" if tracked else ""
        if not isinstance(value, Components):
            text = f"pn.array({self._array(value)}{grad})"
        elif place.placement in (PACKED, APART) and value:
            components = ", ".join(map(self._array, value))
            text = f"pn.nested_array([{components}], layout=pn.{place.layout}{grad})"
        elif place.layout == "jagged" or not _sizes_are_known(value):  # a jagged one of nothing says what is regular
            return self._jagged(name, value, place, grad)
        else:
            return self._strided(name, value, place, grad)
        return Operand([f"{name} = {text}"], f"{name}.grad")

    def _strided(self, name: str, value: Components, place: Place, grad: str) -> Operand:
        placed = place_strided(value, place.placement)
        described = [placed.sizes] if place.placement == BARE else [placed.sizes, placed.strides, placed.offsets]
        parts = [f"{name}_buffer{steps(placed.steps)}", *map(self._array, described)]
        lines = [
            f"{name}_buffer = pn.array({self._array(placed.whole)}{grad})",
            f"{name} = pn.nested_array_from_strided({', '.join(parts)})",
        ]
        return Operand(lines, f"{name}_buffer.grad")

    def _jagged(self, name: str, value: Components, place: Place, grad: str) -> Operand:
        placed = place_jagged(value, place.placement)
        values = self._array(np.ascontiguousarray(placed.whole))
        values = f"np.asfortranarray({values})" if place.placement == TRANSPOSED else values
        parts = [f"{name}_values{steps(placed.steps)}", self._array(placed.offsets)]
        parts += [] if placed.lengths is None else [self._array(placed.lengths)]
        parts += [] if placed.ragged_dim == 1 else [f"jagged_dim={placed.ragged_dim}"]
        strided = "" if place.layout == "jagged" else ".to(layout=pn.strided)"
        lines = [
            f"{name}_values = pn.array({values}{grad})",
            f"{name} = pn.nested_array_from_jagged({', '.join(parts)}){strided}",
        ]
        return Operand(lines, f"{name}_values.grad")

    def _array(self, array: Array) -> str:
        name = f"np.{array.dtype.name}".replace("np.bool", "np.bool_")
        empty = f"np.zeros({array.shape}, {name})"
        return empty if array.size == 0 else f"np.array({literals.nested_list(array)}, {name})"

    def name(self, word: str) -> str:
        """Return a dtype or a layout."""
        return f"pn.{word}"

    def call(self, operator: Operator, texts: Sequence[str]) -> str:
        """Return a call of the function of that name, or of the one that takes functions by name."""
        name = f"{'by_name' if operator.name in BY_NAME else 'pn'}.{operator.name}"
        return f"{self._function or name}({', '.join(texts)})"

    def backward(self, cotangents: Mapping[str, Any]) -> str:
        """Return calls of `backward`, which takes a nested or dense cotangent; several keep the graph."""
        rest = ", retain_graph=True" if len(cotangents) > 1 else ""
        return "\n".join(f"{name}.backward({self._like(name, one)}{rest})" for name, one in cotangents.items())

    def _like(self, name: str, cotangent: Any) -> str:
        if isinstance(cotangent, Components):
            return f"pn.nested_array([{', '.join(map(self._array, cotangent))}], layout={name}.layout)"
        return self._array(cotangent)

    def described(self, name: str) -> str:
        """Return a line that prints the dtype and the sizes of an array, or of each component."""
        nested = f"isinstance({name}, pn.NestedArray)"
        sizes = f"*(tuple(one.shape) for one in ({name}.unbind() if {nested} else [{name}]))"
        return f'print("nested" if {nested} else "dense", {name}.dtype, {sizes})'

    def pull(self, texts: Sequence[str]) -> str:
        """Return a call of `backward`."""
        return f"{texts[0]}.backward({', '.join(texts[1:])})"

    def pull_to(self, result: str, array: str, cotangent: str) -> str:
        """Return a call of `grad`."""
        return f"pn.grad({result}, {array}, {cotangent}, create_graph=True)"

    def push(self, function: str, array: str, tangent: str) -> str:
        """Return a call of `jvp`."""
        return f"pn.jvp({function}, ({array},), ({tangent},))[1]"


_DIALECTS: Mapping[str, Dialect] = {
    "torch": TorchDialect(),
    "awkward": AwkwardDialect(),
    "tensorflow": TensorflowDialect(),
}
RUNNABLE = {"pynested", *_DIALECTS}  # by everybody who has the library; others call functions of their author


def dialect_of(name: str, own: Own | None) -> Dialect:
    """Return the dialect of a target; that of own functions where there is no other."""
    if name == "pynested":
        return PynestedDialect("" if own is None else own.function)
    return _DIALECTS.get(name) or NumpyDialect(own or Own())


def _sizes_are_known(value: Components) -> bool:
    """Return whether sizes say it all; those of no components do not, but jagged values have them."""
    return bool(value) or value.shape.count(None) != 1


def snippet(
    request: Mapping[str, Any],
    operator: Operator,
    dialect: str,
    gradient: bool = False,
    nested: bool = False,
    got: str = "",
    precise: bool = False,
    want: str = "",
    own: Own | None = None,
    described: str = "",
) -> str:
    """Return the request as code: operands, call, and the gradients where they are what differs.

    A ``nested`` result is printed by its components, and a ``precise`` one with all digits. Where what was ``got``
    contradicts itself, it is asked twice. A snippet of an ``own`` function prints what it should ``want``, too. Where
    dtype and sizes are what differs, the ``described`` arrays are described: the result, its parts, or the gradients.
    """
    speak = dialect_of(dialect, own)
    is_own = own is not None or dialect not in RUNNABLE
    names = literals.Names()
    call = _call(request, operator, speak, names, is_own)
    tracked = _tracked(request) if gradient else [False] * len(names.found)
    operands = laid(speak, request["layout"], request["placement"], dict(names.found), tracked)
    more = [line for start, line in _IMPORTS.items() if call.startswith(start)]
    digits = [speak.precise] if (precise or got == TWICE or used_by(got)) and speak.precise else []
    wanted = [f"print({word!r}, {part!r})" for word, part in _labelled(want)] if is_own else []
    lines = [*more, speak.head, *digits, *(line for one in operands for line in one.lines), *wanted, f"out = {call}"]
    lines.append("print('got:', out)" if is_own else speak.shown("out", nested or bool(used_by(got))))
    if described in (RESULT, RESULT_PARTS):
        lines.append(speak.described("out") if described == RESULT else several(speak.described("part"), "out"))
    if (use := used_by(got)) in speak.uses:
        lines.append(f"print({USE!r}, {speak.uses[use]})")
    if gradient:
        lines += _backward(decode_value(request["cotangent"]), speak)
        shown = [one.gradient for one, track in zip(operands, tracked, strict=True) if track]
        lines = _twice(lines, shown) if is_second(got) else [*lines, *(f"print({one})" for one in shown)]
        if described == GRADIENTS:
            arrays = [f"*{one}" if one.startswith("[") else one for one in shown]
            lines.append(several(speak.described("part"), f"[{', '.join(arrays)}]"))
    return "\n".join(lines)


def _labelled(want: str) -> list[tuple[str, str]]:
    """Return a sentence in parts that no report breaks, the first one after a label."""
    return [("" if number else "expected:", part) for number, part in enumerate(textwrap.wrap(want, _PART))]


def _twice(lines: Sequence[str], shown: Sequence[str]) -> list[str]:
    """Return the lines, of which the last pulls back, with that done twice, and the gradients shown after each."""
    kept = ", retain_graph=True)"
    pulls = [one.removesuffix(kept).removesuffix(")") + kept for one in lines[-1].splitlines()]
    prints = [f"print(time, {one})" for one in shown]
    return [*lines[:-1], f"for time in {TIMES}:", *(f"    {line}" for line in (*pulls, *prints))]


def laid(
    speak: Dialect, layout: str, placement: str, values: Mapping[str, Any], tracked: Sequence[bool]
) -> list[Operand]:
    """Return the lines of all operands, the nested ones where it is their turn to lie."""
    shared, turns = dict[Any, Any](), in_turn(placement)
    operands = []
    for (name, value), track in zip(values.items(), tracked, strict=True):
        word = next(turns) if isinstance(value, Components) else PACKED
        operands.append(speak.operand(name, value, Place(layout, word, shared), track))
    return operands


def _backward(cotangent: Any, speak: Dialect) -> list[str]:
    """Return the lines that pull back, from all results at once as the adapter does; none where there is no result."""
    if isinstance(cotangent, Components) or not isinstance(cotangent, list):
        return [speak.backward({"out": cotangent})]
    return [speak.backward({f"out[{number}]": one for number, one in enumerate(cotangent)})] if cotangent else []


def _tracked(request: Mapping[str, Any]) -> list[bool]:
    """Return for each array of the call, in order, whether its gradient is asked for."""
    wrt = set(request["wrt"])
    places = [*enumerate(request["args"]), *request["kwargs"].items()]
    return [place in wrt and one.dtype.kind == "f" for place, value in places for one in _arrays(decode_value(value))]


def _arrays(value: Any) -> list[Any]:
    if isinstance(value, (Components, np.ndarray)):
        return [value]
    parts = value if isinstance(value, tuple) else parts_of(value)
    return [array for one in parts for array in _arrays(one)]


def _call(
    request: Mapping[str, Any], operator: Operator, speak: Dialect, names: literals.Names, is_own: bool = False
) -> str:
    texts = literals.arguments(request, names, speak.name)
    if operator.name == "getitem":
        where = decode_value(request["args"][1])
        if is_own:
            return speak.call(operator, [texts[0], repr(tuple(where.items)) if isinstance(where, Index) else texts[1]])
        return f"{texts[0]}[{literals.index(where.items) if isinstance(where, Index) else texts[1]}]"
    return speak.call(operator, texts)
