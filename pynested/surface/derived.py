"""Methods that follow from the operators: the functions themselves, Python's signs, and what writes in place."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from pynested.autograd.rules.functions import FUNCTIONS
from pynested.autograd.rules.pairs import PAIRS
from pynested.backends.errors import PynestedError

# Python's signs, by the name of the special method, and the operator of each.
COMPARING = ("eq", "ne", "lt", "gt", "le", "ge")
SIGNS = {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "matmul": "matmul", "pow": "pow",
    "floordiv": "floor_divide", "mod": "remainder", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
}  # fmt: skip

Binary = Callable[[Callable[[Any, Any], Any], Any, Any], Any]  # a function and its operands -> result, NotImplemented
_FUNCTIONS_ONLY = frozenset({"getitem", "cross_entropy"})  # written x[index]; a function in PyTorch too
IN_PLACE = (  # what has a method that writes in place, as add_
    "add", "sub", "clamp", "neg", "abs", "sgn", "relu", "gelu", "silu", "logical_not", "masked_fill",
    "cumsum", "dropout",
    *(name for name, one in FUNCTIONS.items() if one.dtypes != "bool"),
    *(name for name, one in PAIRS.items() if one.in_place),
)  # fmt: skip


def methods(functions: Mapping[str, Any]) -> dict[str, Callable[..., Any]]:
    """Those of ``functions`` whose first parameter is ``self``."""
    return {
        name: function
        for name, function in functions.items()
        if name not in _FUNCTIONS_ONLY and next(iter(inspect.signature(function).parameters), "") == "self"
    }


def signs(
    functions: Mapping[str, Any], binary: Binary, written: Mapping[str, Callable[..., Any]]
) -> dict[str, Callable[..., Any]]:
    """The special methods of Python's signs: in order, reflected, in place. Those that compare reflect each other."""
    found: dict[str, Callable[..., Any]] = {}
    for sign, name in (SIGNS | {name: name for name in COMPARING}).items():
        function = functions[name]
        found[f"__{sign}__"] = _sign(function, binary)
        if sign in SIGNS:
            found[f"__r{sign}__"] = _reflected_sign(function, binary)
            if f"{name}_" in written:
                found[f"__i{sign}__"] = written[f"{name}_"]
    return found


def _sign(function: Any, binary: Binary) -> Callable[..., Any]:
    return lambda self, other: binary(function, self, other)


def _reflected_sign(function: Any, binary: Binary) -> Callable[..., Any]:
    return lambda self, other: binary(function, other, self)


def in_place(functions: Mapping[str, Any], overwrite: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """For those `IN_PLACE`, as ``add``, a method ``add_``: it writes the result by ``overwrite(self, add, ...)``."""
    return {f"{name}_": _in_place(name, functions[name], overwrite) for name in IN_PLACE}


def _in_place(name: str, function: Any, overwrite: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Any, *arguments: Any, **options: Any) -> Any:
        try:
            return overwrite(self, function, *arguments, **options)
        except (PynestedError, OverflowError) as error:
            _name_method(error, name)
            raise

    method.__name__ = f"{name}_"
    method.__doc__ = f"Write what `{name}` gives into the array itself, whose shape and dtype stay."
    method.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return method


def _name_method(error: Exception, name: str) -> None:
    """Let a message that begins with the name of an operator begin with that of its method that writes in place."""
    text = str(error)
    if text.startswith(f"{name}:"):
        error.args = (f"{name}_{text.removeprefix(name)}",)
