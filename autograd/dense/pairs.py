"""The entries of `pynested.autograd.rules.pairs` as functions of dense arrays; `pairs.pyi` lists them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pynested.backends.dtypes import is_float
from pynested.backends.errors import DTypeError

from ..array import Array, raw
from ..numbers import refused_operand, scalar
from ..rules.kinds import same_device
from ..rules.pair_verbs import met
from ..rules.pairs import PAIRS, RULES, Pair
from ..rules.rule import bound
from .elementwise import paired

__all__ = list(PAIRS)


def _checked(entry: Pair, a: Any, b: Any) -> None:
    """Refuse dtypes that the operator does not take, and integers that it has no value for."""
    dtype = met(a, b)
    if is_float(dtype):
        if "f" in entry.refused:
            raise DTypeError(
                f"{entry.name}: takes bools and integers, not {dtype}. Compare first, or convert: x.to(pn.int64)."
            )
    elif dtype.kind in entry.refused:
        raise DTypeError(f"{entry.name}: takes numbers, not bools. Convert one of them first: x.to(pn.int8).")
    elif entry.check is not None and 0 not in getattr(a, "shape", ()):
        for number in (x for x in (a, b) if type(x) is int):
            scalar(entry.name, number, dtype)  # which holds it: that comes first
        entry.check(entry.name, a, b)


def _function(entry: Pair) -> Callable[[Any, Any], Array]:
    name, checks = entry.name, bool(entry.refused)
    compute: Callable[[Any, Any], Array] = RULES[name] if name in RULES else _computed(entry)

    def function(self: Any, other: Any) -> Array:
        a, b = paired(name, self, other)
        if checks:
            _checked(entry, a, b)
        return compute(a, b)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = entry.documentation
    return function


def _computed(entry: Pair) -> Callable[[Any, Any], Array]:
    """What has no gradient."""

    def compute(a: Any, b: Any) -> Array:
        device = same_device(entry.name, (a, b))
        try:
            return Array(bound(entry.computed, device)(raw(a), raw(b)), device)
        except OverflowError:
            raise refused_operand(entry.name, a, b) from None

    return compute


for _name, _entry in PAIRS.items():
    globals()[_name] = _function(_entry)
