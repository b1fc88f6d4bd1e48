"""Public functions, and the methods of arrays: those of functions, of Python's operators, and those in place."""

from __future__ import annotations

import inspect
from typing import Any

import pynested as pn
from pynested.autograd.array_methods import ArrayMethods
from pynested.autograd.array_methods.in_place import InPlaceMethods

# Python's operators by the name of their special method, and the public function of each.
ARITHMETIC = {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "matmul": "matmul", "pow": "pow",
    "floordiv": "floor_divide", "mod": "remainder", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
}  # fmt: skip
COMPARISONS = ("eq", "ne", "lt", "gt", "le", "ge")
PUBLIC: dict[str, Any] = {name: getattr(pn, name) for name in pn.__all__ if inspect.isfunction(getattr(pn, name))}
METHODS: dict[str, Any] = {name: getattr(pn, name) for name in pn.__all__ if hasattr(ArrayMethods, name)}
IN_PLACE = [name[:-1] for name in vars(InPlaceMethods) if not name.startswith("_") and hasattr(pn, name[:-1])]
