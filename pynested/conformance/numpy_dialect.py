"""Functions of somebody else in snippets: called by name, with plain NumPy arrays and lists of components."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pynested.spec.components import Components
from pynested.spec.table import Operator

from . import literals
from .pasting import Common, Operand, Place
from .placements import APART, LAYOUTS, PACKED, Array, place_strided


@dataclass(frozen=True)
class Own:
    """The names of somebody's own functions; by default a function has the name of the operator.

    ``make`` and ``read`` convert NumPy components to own arrays and back; without names nothing is converted.
    """

    function: str = ""
    vjp: str = "vjp"
    make: str = ""
    read: str = ""


class NumpyDialect(Common):
    """Own functions of NumPy components. An instance writes one snippet, since `backward` repeats the arguments."""

    precise = "np.set_printoptions(precision=17)"

    def __init__(self, own: Own) -> None:
        self._own = own
        self._texts: Sequence[str] = ()
        self._operands = 0
        names = ", ".join(filter(None, [own.function or "your implementation", own.make, own.read]))
        self.head = f"import numpy as np\nfrom numpy import inf, nan\n# Import {names} here.\n"

    def operand(self, name: str, value: Any, place: Place, tracked: bool) -> Operand:
        """Return the lines of an array, of a list of arrays, or of a list of views into the buffer that was run."""
        self._operands += 1
        gradient = self._called(self._own.read, f"gradients[{self._operands - 1}]")
        if not isinstance(value, Components) or place.placement in (PACKED, APART) or not value:
            return Operand([f"{name} = {self._made(value)}"], gradient)
        placed = place_strided(value, place.placement)
        parts = (
            f"as_strided({name}_buffer[{start}:], {sizes}, {strides})"
            for start, sizes, strides in zip(
                placed.offsets.tolist(),
                map(tuple, placed.sizes.tolist()),
                map(tuple, (placed.strides * placed.buffer.itemsize).tolist()),
                strict=True,
            )
        )
        lines = ["from numpy.lib.stride_tricks import as_strided", f"{name}_buffer = {_array(placed.buffer)}"]
        return Operand([*lines, f"{name} = {self._called(self._own.make, '[' + ', '.join(parts) + ']')}"], gradient)

    def name(self, word: str) -> str:
        """Return a dtype or a layout."""
        return repr(word) if word in LAYOUTS else f'np.dtype("{word}")'

    def call(self, operator: Operator, texts: Sequence[str]) -> str:
        """Return a call of the own function."""
        self._texts = texts
        return self._called(self._own.read, f"{self._own.function or operator.name}({', '.join(texts)})")

    def backward(self, cotangents: Mapping[str, Any]) -> str:
        """Return a call of the own vjp."""
        made = [self._made(one) for one in cotangents.values()]
        seed = made[0] if list(cotangents) == ["out"] else f"[{', '.join(made)}]"
        return f"gradients = {self._own.vjp}({', '.join([seed, *self._texts])})"

    def described(self, name: str) -> str:
        """Return a line that prints the dtype and the shape of an array, or of each component."""
        parts = f"({name} if isinstance({name}, list) else [{name}])"
        each = f"*((str(one.dtype), one.shape) for one in map(np.asarray, {parts}))"
        return f'print("nested" if isinstance({name}, list) else "dense", {each})'

    def pull(self, texts: Sequence[str]) -> str:
        """Return a backward pass of a program."""
        return f"backward({', '.join(texts)})"

    def pull_to(self, result: str, array: str, cotangent: str) -> str:
        """Return the gradient of a pass that is recorded."""
        return f"vjp({result}, {array}, {cotangent})"

    def push(self, function: str, array: str, tangent: str) -> str:
        """Return a tangent of forward mode."""
        return f"jvp({function}, {array}, {tangent})"

    def _made(self, value: Any) -> str:
        nested = isinstance(value, Components)
        return self._called(self._own.make, f"[{', '.join(map(_array, value))}]" if nested else _array(value))

    @staticmethod
    def _called(function: str, text: str) -> str:
        return f"{function}({text})" if function else text


def _array(array: Array) -> str:
    name = f"np.{array.dtype.name}".replace("np.bool", "np.bool_")
    return f"np.zeros({array.shape}, {name})" if array.size == 0 else f"np.array({literals.nested_list(array)}, {name})"
