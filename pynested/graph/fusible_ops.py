"""Operators that a fused chain can compute: which calls they are, how they are computed, and their derivatives.

A call becomes one `FusibleOp`, or two: `clamp` with both bounds is a maximum and a minimum. `lower_call` says which.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pynested.autograd.arguments.canonical import canonical_dtype
from pynested.autograd.rules import elementwise as rules
from pynested.autograd.rules.functions import FUNCTIONS
from pynested.autograd.rules.functions import RULES as UNARY_RULES
from pynested.autograd.rules.kinds.elementwise import Elementwise
from pynested.autograd.rules.pairs import PAIRS
from pynested.autograd.rules.pairs import RULES as BINARY_RULES
from pynested.autograd.rules.rule import Verb
from pynested.backends import get_backend
from pynested.backends.cuda.backend import KernelBackend
from pynested.backends.cuda.naming import FLOATS
from pynested.backends.dtypes import is_float, is_half
from pynested.backends.errors import DTypeError
from pynested.backends.numpy.activations import gelu_backward_of, normal_distribution
from pynested.backends.numpy.elementwise import cast

from .lazy_array import LazyArray
from .nodes import FUNCTION, METHOD, Fact, Node, Recording
from .value_trees import Value

PREVIOUS = object()  # an operand: the result of the operation before
# The backward pass computes results of these functions again: that is faster than to keep and read them.
RECOMPUTED = frozenset({
    np.add, np.subtract, np.multiply, np.negative, np.absolute, np.maximum, np.minimum, np.sign, np.where, cast,
    np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal, np.logical_not, np.logical_and,
    np.logical_or, np.bitwise_and, np.bitwise_or,
})  # fmt: skip


class FusibleOp(NamedTuple):
    """One elementwise operation.

    Attributes
    ----------
    kernel : str or callable
        The kernel of a backend, or a function of the backend and the operands.
    vjps : tuple
        For each operand: 1 if the cotangent passes, 0 if it becomes zeros, None if there is no gradient, otherwise
        ``vjp(backend, cotangent, result, *operands)``.
    may_return_bool : bool
        True for comparisons, logical operators and `where`.
    """

    kernel: Verb
    vjps: tuple[Callable[..., Any] | int | None, ...]
    may_return_bool: bool = False


Call = tuple[FusibleOp, tuple[Any, ...]]  # an operation and its operands: values, numbers, PREVIOUS


def _from_rule(rule: Elementwise) -> FusibleOp:
    if rule.fused is not None:
        return FusibleOp(rule.verb, (rule.fused,))
    return FusibleOp(rule.verb, tuple([_without_backend(partial) for partial in rule.partials]))


def _without_backend(partial: Any) -> Any:
    return partial if isinstance(partial, int) else lambda backend, *operands: partial(*operands)


_RULES = {
    **UNARY_RULES, **BINARY_RULES, "add": rules.add, "sub": rules.sub, "neg": rules.neg, "abs": rules.abs_,
    "sgn": rules.sgn, "relu": rules.relu, "silu": rules.silu, "gelu": rules.gelu,
}  # fmt: skip
_WHERE = FusibleOp(
    lambda backend, condition, a, b: backend.where(condition, a, b),
    (None, lambda backend, g, y, condition, a, b: backend.where(condition, g, g.dtype.type(0)),
     lambda backend, g, y, condition, a, b: backend.where(~condition, g, g.dtype.type(0))), may_return_bool=True,
)  # fmt: skip
OPERATIONS: dict[str, FusibleOp] = {
    **{name: _from_rule(rule) for name, rule in _RULES.items()},
    **{name: FusibleOp(pair.computed, (None, None), True) for name, pair in PAIRS.items() if name not in BINARY_RULES},
    **{name: FusibleOp(name, (None,), True) for name in FUNCTIONS if name not in UNARY_RULES},
    "logical_not": FusibleOp("logical_not", (None,), True),
    "where": _WHERE,
}
_CLAMP_MIN, _CLAMP_MAX, _GELU_TANH = map(_from_rule, (rules.clamp_min, rules.clamp_max, rules.gelu_tanh))
# On the CPU gelu is two operations: the distribution is slow, and the forward and the backward pass both read it.
_DISTRIBUTION = FusibleOp(lambda backend, x: LazyArray(x.dtype, normal_distribution, (x,)), (None,))
_TIMES_DISTRIBUTION = FusibleOp(
    lambda backend, distribution, x: distribution * x,
    (None, lambda backend, g, y, distribution, x: LazyArray(g.dtype, gelu_backward_of, (g, x, distribution))),
)


def _lower_clamp(made: Fact, self: Any, min: Any = None, max: Any = None) -> list[Call]:
    bounds = [(op, bound) for op, bound in ((_CLAMP_MIN, min), (_CLAMP_MAX, max)) if bound is not None]
    return [(op, (PREVIOUS if i else self, bound)) for i, (op, bound) in enumerate(bounds)]


def _lower_gelu(made: Fact, self: Any, approximate: str = "none") -> list[Call]:
    if approximate == "tanh":
        return [(_GELU_TANH, (self,))]
    if approximate != "none" or made.device != "cpu" or is_half(np.dtype(made.dtype)):
        return [(OPERATIONS["gelu"], (self,))]
    return [(_DISTRIBUTION, (self,)), (_TIMES_DISTRIBUTION, (PREVIOUS, self))]


def _lower_where(made: Fact, condition: Any, self: Any, other: Any) -> list[Call]:
    # If both are numbers, the first one says the dtype.
    return [(_WHERE, (condition, self, other))] if Value in (type(self), type(other)) else []


def _lower_masked_fill(made: Fact, self: Any, mask: Any, value: Any) -> list[Call]:
    # A dense mask may enlarge a dense array, which is an error.
    return [(_WHERE, (mask, value, self))] if made.kind == "nested" and made.dtype != "bool" else []


def _lower_cast(made: Fact, self: Any, *targets: Any, **named: Any) -> list[Call]:
    """To another dtype of floats; not to another device or layout."""
    try:
        (dtype,) = [canonical_dtype(target, "cuda") for target in (*targets, *named.values())]  # "cuda": has all dtypes
    except (DTypeError, ValueError):
        return []
    return [(FusibleOp(lambda backend, x: backend.cast(x, dtype), (1,)), (self,))] if is_float(dtype) else []


_LOWERINGS: dict[str, Callable[..., list[Call]]] = {
    "clamp": _lower_clamp, "gelu": _lower_gelu, "where": _lower_where, "masked_fill": _lower_masked_fill,
    "to": _lower_cast, "astype": _lower_cast,
}  # fmt: skip
FUSIBLE_NAMES = frozenset({*OPERATIONS, *_LOWERINGS})


def lower_call(node: Node, made: Fact) -> list[Call]:
    """Return the operations of a call whose result is ``made``; none if a chain cannot compute the call."""
    if node.name in _LOWERINGS:
        return _LOWERINGS[node.name](made, *node.args, **node.kwargs)
    op = OPERATIONS.get(node.name)
    return [] if op is None or node.kwargs or len(node.args) != len(op.vjps) else [(op, node.args)]


def is_fusible(node: Node, recording: Recording) -> bool:
    """Whether a chain can compute a call: arrays of one device and numbers go in, and floats or bools come out."""
    if node.kind not in (FUNCTION, METHOD) or node.mode is not None or node.effect or type(node.results) is not Value:
        return False
    made = recording.facts[node.results.number]
    calls = lower_call(node, made)
    operands = [operand for _, operands in calls for operand in operands if operand is not PREVIOUS]
    facts = [recording.facts[operand.number] for operand in operands if type(operand) is Value]
    if not facts or {fact.device for fact in facts} != {made.device} or not has_chains(made.device):
        return False
    if node.name in ("to", "astype") and made.dtype == facts[0].dtype:  # returns its operand, or a copy
        return False
    if made.dtype not in FLOATS and not (made.dtype == "bool" and all(op.may_return_bool for op, _ in calls)):
        return False
    return all(type(operand) is Value or _is_representable(operand, facts) for operand in operands)


def has_chains(device: str) -> bool:
    """Whether chains are fused on a device: on the CPU, and where there are raw kernels."""
    return device == "cpu" or isinstance(get_backend(device), KernelBackend)


def _is_representable(number: Any, facts: list[Fact]) -> bool:
    """Whether arrays of these dtypes can represent a number; a ufunc cannot compare them with other numbers."""
    if type(number) is not int:
        return isinstance(number, float)
    return 0 <= number < 128 or (abs(number) <= 2**53 and all(fact.dtype in FLOATS for fact in facts))
