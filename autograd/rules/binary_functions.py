"""Functions of two elements: how each is computed, and its derivatives.

``y`` is the result, ``a`` and ``b`` are the operands. ``saves="ab|yab"`` says what is kept for the derivative of the
first operand, and behind the bar for that of the second.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .binary_kernels import (
    comparing,
    floor_divide,
    in_floats,
    logaddexp,
    logical,
    of_base,
    of_exponent,
    refuse_negative,
    refuse_zeros,
    remainder,
)
from .elementwise import div, maximum, minimum, mul
from .kinds.elementwise import Elementwise, Partial, Vjp
from .rule import Verb
from .unary_functions import RULES as FUNCTIONS

__all__ = ["PAIRS", "RULES", "Pair"]

Check = Callable[[str, Any, Any], None]


@dataclass(frozen=True)
class Pair:
    """A function of two elements: its kernel and its derivatives. Without ``partials`` it has no derivative."""

    name: str
    refused: str = ""  # kinds of dtype
    check: Check | None = None  # of operands that are integers
    verb: Verb = ""  # by default the kernel of this name
    saves: str = ""
    partials: tuple[Partial, ...] = ()
    numpy: str = ""  # the name of NumPy's ufunc if it differs
    rule: Elementwise | None = None  # a rule that is defined elsewhere
    in_place: bool = True  # whether there is a method that writes the result into its array

    @property
    def ufunc(self) -> np.ufunc:
        """NumPy's function."""
        function: np.ufunc = getattr(np, self.numpy or self.name)
        return function

    @property
    def computed(self) -> Verb:
        """The kernel."""
        return self.verb or self.numpy or self.name


# fmt: off
PAIRS = {pair.name: pair for pair in (
    Pair("mul", numpy="multiply", rule=mul),
    Pair("div", numpy="divide", rule=div),
    Pair("maximum", rule=maximum, in_place=False),
    Pair("minimum", rule=minimum, in_place=False),
    Pair(
        "pow", refused="b", check=refuse_negative, saves="ab|yab",
        partials=(in_floats(of_base), in_floats(of_exponent)), numpy="power",
    ),
    Pair("floor_divide", refused="b", check=refuse_zeros, verb=floor_divide, partials=(0, 0)),
    Pair(
        "remainder", refused="b", check=refuse_zeros, verb=remainder, saves="|ab",
        partials=(1, Vjp(lambda g, y, a, b: -(g * RULES["floor_divide"](a, b)))),
    ),
    Pair(
        "logaddexp", refused="biu", verb=logaddexp, saves="ab|ab",
        partials=(
            in_floats(lambda y, a, b: FUNCTIONS["sigmoid"](a - b)),
            in_floats(lambda y, a, b: FUNCTIONS["sigmoid"](b - a)),
        ),
    ),
    Pair("eq", verb=comparing("equal"), numpy="equal"),
    Pair("ne", verb=comparing("not_equal"), numpy="not_equal"),
    Pair("lt", verb=comparing("less"), numpy="less"),
    Pair("le", verb=comparing("less_equal"), numpy="less_equal"),
    Pair("gt", verb=comparing("less", True), numpy="greater"),
    Pair("ge", verb=comparing("less_equal", True), numpy="greater_equal"),
    Pair("bitwise_and", refused="f"),
    Pair("bitwise_or", refused="f"),
    Pair("bitwise_xor", refused="f"),
    Pair("logical_and", verb=logical("logical_and")),
    Pair("logical_or", verb=logical("logical_or")),
    Pair("logical_xor", verb=logical("logical_xor")),
)}
# fmt: on

RULES: dict[str, Elementwise] = {
    name: pair.rule or Elementwise(name, pair.computed, pair.saves, *pair.partials)
    for name, pair in PAIRS.items()
    if pair.rule or pair.partials
}
