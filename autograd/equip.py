"""Methods that are written in terms of the class that has them: they come after it, and are put into it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from .dense.writing import IN_PLACE
from .missing import say_what_is_missing
from .ufuncs import ufuncs

# Python's signs, by the name of the special method, and the operator of each.
COMPARING = ("eq", "ne", "lt", "gt", "le", "ge")
SIGNS = {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "matmul": "matmul", "pow": "pow",
    "floordiv": "floor_divide", "mod": "remainder", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
}  # fmt: skip

Binary = Callable[[Callable[[Any, Any], Any], Any, Any], Any]  # a function and its operands -> result, NotImplemented
_OF_EVERY_CLASS = frozenset(vars(type("", (), {"__slots__": ()})))
_FUNCTIONS_ONLY = frozenset({"getitem", "cross_entropy"})  # written x[index]; a function in PyTorch too


def complete(
    kind: type, package: ModuleType, binary: Binary, overwrite: Callable[..., Any], *classes: type
) -> dict[Any, Callable[..., Any]]:
    """Put all methods into ``kind``, those of ``classes`` last; return what NumPy calls by its ufuncs.

    The functions of ``package`` that begin with ``self`` are methods; ``binary`` carries Python's signs out, and
    ``overwrite(self, function, ...)`` what is written in place.
    """
    functions = {name: getattr(package, name) for name in package.__all__}
    written = in_place({name: functions[name] for name in IN_PLACE}, overwrite)
    equip(kind, methods(functions), signs(functions, binary, written), written, *map(vars, classes))
    say_what_is_missing(kind)
    return ufuncs(functions)


def equip(kind: type, *sources: Mapping[str, Any]) -> None:
    """Put into the class ``kind`` what mappings hold: functions by name, or the contents of other classes."""
    for source in sources:
        for name, value in source.items():
            if name in _OF_EVERY_CLASS:
                continue
            if inspect.isfunction(value) and "." in value.__qualname__:  # of no module, so it is a method only
                value.__qualname__ = f"{kind.__name__}.{name}"  # what Python calls it where an argument is missing
            setattr(kind, name, value)


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
        found[f"__{sign}__"] = _sign(functions[name], binary)
        if sign in SIGNS:
            found[f"__r{sign}__"] = _reflected_sign(functions[name], binary)
            if f"{name}_" in written:
                found[f"__i{sign}__"] = written[f"{name}_"]
    return found


def _sign(function: Any, binary: Binary) -> Callable[..., Any]:
    return lambda self, other: binary(function, self, other)


def _reflected_sign(function: Any, binary: Binary) -> Callable[..., Any]:
    return lambda self, other: binary(function, other, self)


def in_place(functions: Mapping[str, Any], overwrite: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """For each function, as ``add``, a method ``add_`` that writes its result by ``overwrite(self, add, ...)``."""
    return {f"{name}_": _in_place(name, function, overwrite) for name, function in functions.items()}


def _in_place(name: str, function: Any, overwrite: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Any, *arguments: Any, **options: Any) -> Any:
        return overwrite(self, function, *arguments, **options)

    method.__name__ = f"{name}_"
    method.__doc__ = f"Write what `{name}` gives into the array itself, whose shape and dtype stay."
    method.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return method
