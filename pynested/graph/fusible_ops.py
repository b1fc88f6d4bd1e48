"""Operators that a fused chain can compute, as expressions of lazy arrays, and their derivatives.

The primitives compute with arrays and with the kernels of a backend. Given a `LazyArray` and a `LazyBackend` they run
unchanged, and each call leaves a lazy array: ``1 - x * x`` is np.subtract of 1 and of np.multiply of x and x.

A call becomes one `FusibleOp`, or two: `clamp` with both bounds is a maximum and a minimum. `lower_call` returns them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pynested import operators
from pynested.autograd.arguments.operands import canonical_dtype
from pynested.autograd.primitives import binary, unary
from pynested.autograd.primitives.primitive import Primitive
from pynested.backends import get_backend
from pynested.backends.dtypes import is_bfloat16, is_float, is_half
from pynested.backends.errors import DTypeError
from pynested.backends.numpy import activations
from pynested.backends.numpy.elementwise import relu, relu_backward
from pynested.backends.numpy.movement import copy
from pynested.backends.plain.elementwise import cast, sgn

from .inputs import Value
from .nodes import Fact, Node

# ---- lazy arrays ----------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class LazyArray(np.lib.mixins.NDArrayOperatorsMixin):
    """The result of ``function(*operands)``; an input of the program if there is no function.

    The function is a ufunc, `numpy.where`, or a kernel of the CPU's backend. Operands are lazy arrays, numbers, and for
    a cast the dtype.
    """

    dtype: np.dtype[Any]
    function: Callable[..., Any] | None = None
    operands: tuple[Any, ...] = ()

    __hash__ = object.__hash__

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *operands: Any, **options: Any) -> Any:
        if method != "__call__" or options.keys() - {"order"}:  # a block has one dimension, and so one order
            return NotImplemented
        return LazyArray(resolve_dtypes(ufunc, operands)[-1], ufunc, operands)

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        if function is np.zeros_like:
            return LazyArray(self.dtype, function, (self,))
        if function is not np.where or len(args) != 3 or kwargs:
            return NotImplemented
        dtype = resolve_dtypes(np.maximum, args[1:])[-1]
        a, b = (x.astype(dtype) if type(x) is LazyArray else dtype.type(x) for x in args[1:])
        return LazyArray(dtype, function, (args[0], a, b))

    def astype(self, dtype: np.dtype[Any], **options: Any) -> LazyArray:
        """Return the same numbers in another dtype."""
        return self if dtype == self.dtype else LazyArray(dtype, cast, (self, dtype))

    to = astype  # derivatives are written for dense arrays

    @property
    def reads(self) -> list[LazyArray]:
        """The lazy arrays among the operands."""
        return [operand for operand in self.operands if type(operand) is LazyArray]


def resolve_dtypes(ufunc: np.ufunc, operands: Iterable[Any]) -> tuple[np.dtype[Any], ...]:
    """Return the dtypes in which a ufunc takes its operands, and that of its result."""
    kinds = [x.dtype if hasattr(x, "dtype") else np.dtype(bool) if type(x) is bool else type(x) for x in operands]
    half = next((kind for kind in kinds if isinstance(kind, np.dtype) and is_bfloat16(kind)), None)
    if half is not None:  # NumPy does not know that bfloat16 is wide enough for a Python number
        kinds = [half if kind in (int, float) else kind for kind in kinds]
    return ufunc.resolve_dtypes((*kinds, *[None] * ufunc.nout))


class LazyBackend:
    """A backend whose kernels return lazy arrays, if possible of NumPy's functions, which can write into a buffer."""

    device = "cpu"  # whose kernels are looked up

    def __init__(self, device: str) -> None:
        self._kernels: dict[Any, Any] = {np.where: np.where, cast: LazyArray.astype, copy: lambda x: x}
        if device == "cpu":  # where relu and sgn of floats are functions of NumPy
            self._kernels |= {relu: lambda x: np.maximum(0, x) if is_half(x.dtype) else np.maximum(x, 0), sgn: np.sign}

    def __getattr__(self, kernel: str) -> Callable[..., Any]:
        function: Any = getattr(get_backend("cpu"), kernel)
        wrapped: Any = getattr(function, "__wrapped__", None)
        if isinstance(wrapped, np.ufunc):
            return wrapped
        return self._kernels.get(function) or partial(call_lazily, function)


def call_lazily(function: Callable[..., Any], *operands: Any) -> LazyArray:
    """Return the result of a call, which has the dtype of the first operand, as a lazy array."""
    return LazyArray(operands[0].dtype, function, operands)


def topological_order(results: Iterable[LazyArray], leaves: frozenset[LazyArray] = frozenset()) -> Iterator[LazyArray]:
    """Yield each array that results need once, after its operands; the operands of ``leaves`` are not visited."""
    seen: set[LazyArray] = set()
    stack = [*results][::-1]
    while stack:
        array = stack[-1]
        missing = [] if array in leaves or array in seen else [x for x in array.reads if x not in seen]
        stack += missing[::-1]
        if not missing:
            stack.pop()
            if array not in seen:
                seen.add(array)
                yield array


# ---- operators ------------------------------------------------------------------------------------------------------
PREVIOUS = object()  # an operand: the result of the operation before
# The backward pass computes results of these functions again: that is faster than to keep and read them.
RECOMPUTED = frozenset({
    np.add, np.subtract, np.multiply, np.negative, np.absolute, np.maximum, np.minimum, np.sign, np.where, cast,
    np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal, np.logical_not, np.logical_and,
    np.logical_or, np.bitwise_and, np.bitwise_or,
})  # fmt: skip


class FusibleOp(NamedTuple):
    """An elementwise operation, with a ``vjp(cotangent, result, *operands)`` or None for each operand."""

    compute: Callable[..., Any]  # of the backend and the operands
    vjps: tuple[Callable[..., Any] | None, ...]
    may_return_bool: bool = False


Call = tuple[FusibleOp, tuple[Any, ...]]  # an operation and its operands: values, numbers, PREVIOUS


class ChainStep(NamedTuple):
    """``result = op(*operands)``; an operand is a lazy array or a number."""

    op: FusibleOp
    operands: tuple[Any, ...]
    result: LazyArray


def _from_primitive(primitive: Primitive) -> FusibleOp:
    return FusibleOp(primitive.compute, tuple(primitive.vjps), not any(primitive.vjps))


_PRIMITIVES = [x for x in (*vars(unary).values(), *vars(binary).values()) if type(x) is Primitive]
_OPERATORS = [x for x in _PRIMITIVES if x.name == x.public and x.name != "dropout" and hasattr(operators, x.name)]
_WHERE = FusibleOp(
    lambda backend, condition, a, b: np.where(condition, a, b),
    (None, lambda g, y, condition, a, b: np.where(condition, g, g.dtype.type(0)),
     lambda g, y, condition, a, b: np.where(~condition, g, g.dtype.type(0))), may_return_bool=True,
)  # fmt: skip
OPERATIONS: dict[str, FusibleOp] = {
    **{x.name: _from_primitive(x) for x in _OPERATORS},
    "relu": FusibleOp(unary.relu.compute, (lambda g, y, x: call_lazily(relu_backward, g, y),)),
    "silu": FusibleOp(unary.silu.compute, (lambda g, y, x: call_lazily(activations.silu_backward, g, x),)),
    "gelu": FusibleOp(unary.gelu.compute, (lambda g, y, x: call_lazily(activations.gelu_backward, g, x),)),
    "where": _WHERE,
}
_CLAMP_MIN, _CLAMP_MAX = map(_from_primitive, (binary.clamp_min, binary.clamp_max))
_GELU_TANH = FusibleOp(
    lambda backend, x: call_lazily(activations.gelu_tanh, x),
    (lambda g, y, x: call_lazily(activations.gelu_tanh_backward, g, x),),
)
# On the CPU gelu is two operations: the distribution is slow, and the forward and the backward pass both read it.
_DISTRIBUTION = FusibleOp(lambda backend, x: call_lazily(activations.normal_distribution, x), (None,))
_TIMES_DISTRIBUTION = FusibleOp(
    lambda backend, distribution, x: distribution * x,
    (None, lambda g, y, normal, x: call_lazily(activations.gelu_backward_from_distribution, g, x, normal)),
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
        (target,) = (*targets, *named.values())
        dtype = canonical_dtype("to", target, "cuda")  # which has all dtypes
    except (DTypeError, ValueError):
        return []
    op = FusibleOp(lambda backend, x: backend.cast(x, dtype), (lambda g, y, x: g,))
    return [(op, (self,))] if is_float(dtype) else []


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


def lower_steps(
    nodes: Iterable[Node], facts: Mapping[int, Fact], lazy: dict[Any, LazyArray], backend: LazyBackend
) -> Iterator[ChainStep]:
    """Yield the steps of nodes, and enter the lazy array of each result into ``lazy``, by its value."""
    for node in nodes:
        for op, operands in lower_call(node, facts[node.results.number]):
            taken = tuple([lazy[x] if type(x) is Value or x is PREVIOUS else x for x in operands])
            lazy[PREVIOUS] = lazy[node.results] = op.compute(backend, *taken)
            yield ChainStep(op, taken, lazy[PREVIOUS])
