"""What a chain can compute: the operators that it has, each as the operations that it comes to.

An operation is a rule, or a verb without one, in the form that all steps of a chain have.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.canonical import as_array, canonical_dtype
from pynested.autograd.array import raw
from pynested.autograd.numbers import dtype_of
from pynested.autograd.rules import elementwise as rules
from pynested.autograd.rules.functions import FUNCTIONS
from pynested.autograd.rules.functions import RULES as OF_ONE
from pynested.autograd.rules.kinds.elementwise import Elementwise
from pynested.autograd.rules.movement import to_dtype
from pynested.autograd.rules.pair_verbs import met
from pynested.autograd.rules.pairs import PAIRS
from pynested.autograd.rules.pairs import RULES as OF_TWO
from pynested.autograd.rules.rule import Verb, bound, same_device
from pynested.backends.dtypes import is_float, is_half
from pynested.backends.errors import DTypeError
from pynested.backends.numpy import activations

from ..forms import Value
from ..nodes import Fact, Node

BEFORE = object()  # in the place of an operand: what the operation before has made
MASK = object()  # in the place of an operand: which elements a dropout keeps, drawn for each call
_WIDE = np.dtype(np.float64)
Part = tuple["Operation", tuple[Any, ...]]  # an operation, and what it takes


@dataclass(frozen=True, eq=False)
class Operation:
    """What one step of a chain does.

    Attributes
    ----------
    name : str
        What texts call it.
    call : callable
        It, of dense arrays and of numbers; writes a line of its own.
    verb : str or callable
        What computes it, as that of a rule.
    pulls : tuple
        For each operand what becomes of a cotangent: 1 for itself, 0 for zeros, None where nothing flows, or
        ``pull(k, g, y, *operands)``, with the backend k and the result y.
    judges : bool
        Whether it is made for bools, or makes them.
    share : float
        Which share of the elements a dropout drops; 0 of everything else.
    generator : Value or None
        By whose random numbers, where that is not the default one.
    """

    name: str
    call: Callable[..., Any]
    verb: Verb
    pulls: tuple[Callable[..., Any] | int | None, ...]
    judges: bool = False
    share: float = 0.0
    generator: Value | None = None


def _of_rule(rule: Elementwise) -> Operation:
    fused = rule.fused
    pulls = rule.partials if fused is None else [fused]
    return Operation(rule.name, rule, rule.verb, tuple([_pulled(one, fused is not None) for one in pulls]))


def _pulled(pull: Any, fused: bool) -> Any:
    return pull if fused or isinstance(pull, int) else lambda k, *given: pull(*given)


def _judging(name: str, verb: Verb, arity: int) -> Operation:
    """What has no gradient."""

    def call(*operands: Any) -> Array:
        device = same_device(name, operands)
        return Array(bound(verb, device)(*map(raw, operands)), device)

    return Operation(name, call, verb, (None,) * arity, judges=True)


def _choose(condition: Any, a: Any, b: Any) -> Array:
    """`where` of dense arrays and numbers."""
    if type(a) is not Array and type(b) is not Array:
        a = as_array("where", a, condition.device)
    dtype = met(a, b)
    a, b = (to_dtype(x, dtype) if type(x) is Array else dtype.type(x) for x in (a, b))
    chosen: Array = rules.where(a, b, raw(condition))
    return chosen


def _cast_to(dtype: np.dtype[Any]) -> Operation:
    return Operation(f"to {dtype}", lambda x: to_dtype(x, dtype), lambda k, x: k.cast(x, dtype), (1,))


def _dropping(share: float, generator: Value | None) -> Operation:
    def dropped(k: Any, x: Any, mask: Any) -> Any:
        if share == 1:
            return x * x.dtype.type(0)
        return k.cast(k.multiply(k.cast(x, _WIDE), mask) / (1 - share), x.dtype)

    return Operation(
        "dropout", lambda x, mask: rules.dropout(x, raw(mask), share), dropped,
        (lambda k, g, y, x, mask: dropped(k, g, mask), None), share=share, generator=generator,
    )  # fmt: skip


# What an operator computes, by its name; and the names under which methods come to some of them.
OPERATIONS: dict[str, Operation] = {
    **{name: _of_rule(rule) for name, rule in (*OF_ONE.items(), *OF_TWO.items())},
    **{
        name: _of_rule(rule)
        for name, rule in (
            ("add", rules.add), ("sub", rules.sub), ("neg", rules.neg), ("abs", rules.abs_), ("sgn", rules.sgn),
            ("relu", rules.relu), ("silu", rules.silu), ("gelu", rules.gelu),
        )
    },
    **{name: _judging(name, one.computed, 2) for name, one in PAIRS.items() if name not in OF_TWO},
    **{name: _judging(name, name, 1) for name in ("logical_not", *[n for n in FUNCTIONS if n not in OF_ONE])},
    "where": Operation(
        "where", _choose, lambda k, condition, a, b: k.where(condition, a, b),
        (None, lambda k, g, y, condition, a, b: k.where(condition, g, g.dtype.type(0)),
         lambda k, g, y, condition, a, b: k.where(~condition, g, g.dtype.type(0))), judges=True,
    ),
}  # fmt: skip
_METHODS = {"__neg__": "neg", "__abs__": "abs", "__invert__": "logical_not"}
_FILL = replace(OPERATIONS["where"], name="masked_fill", judges=False)
_CLAMP_MIN, _CLAMP_MAX, _GELU_TANH = map(_of_rule, (rules.clamp_min, rules.clamp_max, rules.gelu_tanh))


_DISTRIBUTION = Operation(
    "normal distribution", lambda x: x, lambda k, x: k.made_by(activations.normal_distribution, x), (None,)
)
_OF_DISTRIBUTION = Operation(
    "mul", lambda distribution, x: rules.gelu(x), lambda k, distribution, x: distribution * x,
    (None, lambda k, g, y, distribution, x: k.made_by(activations.gelu_backward_of, g, x, distribution)),
)  # fmt: skip


def apart(parts: list[Part], made: Fact) -> list[Part]:
    """The operations of a call, `gelu` on the CPU as two of them: the first takes long, and both passes look at it."""
    if (
        len(parts) != 1
        or parts[0][0] is not OPERATIONS["gelu"]
        or made.device != "cpu"
        or is_half(np.dtype(made.dtype))
    ):
        return parts
    ((_, (x,)),) = parts
    return [(_DISTRIBUTION, (x,)), (_OF_DISTRIBUTION, (BEFORE, x))]


def _clamp(self: Any, min: Any = None, max: Any = None) -> list[Part]:
    bounds = [(each, one) for each, one in ((_CLAMP_MIN, min), (_CLAMP_MAX, max)) if one is not None]
    return [(each, (BEFORE if i else self, one)) for i, (each, one) in enumerate(bounds)]


def _gelu(self: Any, approximate: str = "none") -> list[Part]:
    return [({"none": OPERATIONS["gelu"], "tanh": _GELU_TANH}[approximate], (self,))]


def _where(condition: Any, self: Any, other: Any) -> list[Part]:
    if type(self) in (int, float) and type(other) is not Value:
        self = dtype_of(self).type(self)  # where no array says which dtype there is, the first number does
    return [(OPERATIONS["where"], (condition, self, other))]


def _masked_fill(self: Any, mask: Any, value: Any) -> list[Part]:
    return [(_FILL, (mask, value, self))]


def _to(self: Any, *targets: Any, **named: Any) -> list[Part]:
    """To another dtype of floats; not to other devices and layouts."""
    try:
        (found,) = [canonical_dtype(one, "cuda") for one in (*targets, *named.values())]  # any dtype that there is
    except (DTypeError, ValueError):
        return []
    return [(_cast_to(found), (self,))] if is_float(found) else []


def _dropout(self: Any, p: Any = 0.5, training: Any = True, *, generator: Any = None) -> list[Part]:
    """By a generator, or the default stream of random numbers; where nothing is dropped there is nothing to do."""
    known = generator is None or type(generator) is Value
    if not known or type(p) not in (int, float) or type(training) is not bool or not p * training:
        return []
    return [(_dropping(float(p), generator), (self, MASK))]


_PARTS: dict[str, Callable[..., list[Part]]] = {
    "clamp": _clamp, "gelu": _gelu, "where": _where, "masked_fill": _masked_fill, "to": _to, "astype": _to,
    "dropout": _dropout,
}  # fmt: skip
IN_CHAINS = frozenset({*OPERATIONS, *_PARTS})


def parts_of(node: Node) -> list[Part]:
    """The operations that a call comes to, one after the other; none where chains do not have it."""
    name = _METHODS.get(node.name, node.name)
    if name in _PARTS:
        return _PARTS[name](*node.args, **node.kwargs)
    found = OPERATIONS.get(name)
    return [] if found is None or node.kwargs or len(node.args) != len(found.pulls) else [(found, node.args)]


def values_of(parts: list[Part]) -> list[Value]:
    """The values that operations take."""
    return [one for _, given in parts for one in given if type(one) is Value]


def numbers_of(parts: list[Part]) -> list[Any]:
    """What they take besides."""
    return [
        one for _, given in parts for one in given if type(one) is not Value and one is not BEFORE and one is not MASK
    ]
