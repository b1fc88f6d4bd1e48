"""What passes know of the calls: which have no say but their result, and which cannot fail."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.autograd.rules.functions import FUNCTIONS
from pynested.autograd.rules.pairs import PAIRS
from pynested.backends.cuda.naming import FLOATS, INTEGERS

from ..chains import Chain, Parted
from ..chains.ends import end_of
from ..chains.operations import IN_CHAINS, numbers_of, parts_of, values_of
from ..cuda import can_fuse
from ..forms import CONTAINERS, Same, Value, values_in
from ..nodes import ATTRIBUTE, FUNCTION, METHOD, NUMBER, Fact, Node, Recording

# What follows from dtypes, layouts, ranks, devices and from who wants gradients.
_STATIC = frozenset({"dtype", "ndim", "device", "is_nested", "layout", "requires_grad", "dim"})
_HARMLESS = frozenset({"add", "sub", "mul", "neg", "pos", "abs", "eq", "ne", "lt", "le", "gt", "ge", "bool"})
_SIZES = frozenset({"shape", "size", "numel", "regular", "regular_size"})
_DERIVATIVES = frozenset({"grad", "vjp", "pull", "jvp", "hvp"})  # where there is none, there is none whatever the sizes
_VIEWS = frozenset({"NestedArray.values", "NestedArray.data"})
# Operators whose results lie in new memory, which nobody else sees.
FRESH = frozenset({
    *FUNCTIONS, *PAIRS, *IN_CHAINS, "softmax", "log_softmax", "logsumexp", "sum", "mean", "prod", "amax", "amin", "var",
    "std", "cumsum", "layer_norm", "matmul", "zeros_like", "ones_like",
})  # fmt: skip
_ENDS = {name: (int(np.iinfo(name).min), int(np.iinfo(name).max)) for name in INTEGERS if name != "bool"}
_CASTS = ("to", "astype")
_OF_FLOATS = _ENDS["int64"]


def _last(node: Node) -> str:
    return node.name.rpartition(".")[2]


def is_static(node: Node) -> bool:
    """Whether what it gives is the same in each replay of a graph that was made for one signature."""
    return _last(node) in _STATIC and "." in node.name and not any(node.makes)


def is_size(node: Node) -> bool:
    """Whether it reads a size of an array, or reckons with such."""
    return node.kind == NUMBER or (_last(node) in (*_SIZES, "__len__") and "." in node.name)


def may_raise(node: Node) -> bool:
    """Whether arithmetic with sizes may raise an error: a division by 0, or what is no number then."""
    return node.kind == NUMBER and node.name not in _HARMLESS


def can_differ(node: Node) -> bool:
    """Whether a replay may find another result than the recording, one that the function has acted on."""
    if is_static(node) or node.name in _DERIVATIVES or isinstance(node.function, Chain | Parted):
        return False
    if node.kind == ATTRIBUTE and _last(node) == "shape":  # ranks follow from the signature
        return not all(type(one) is Value for one in node.results)
    if node.effect:  # what it gives is looked at, unless it gives what it was given
        return type(node.results) not in (Value, Same) and node.results is not None
    return _has_constant(node.results)


def _has_constant(form: object) -> bool:
    if isinstance(form, CONTAINERS):
        return True  # as many, too, as there were
    return type(form) is not Value


def cannot_fail(node: Node) -> bool:
    """Whether nothing is missed where it is not called, or earlier: it neither acts, nor raises, nor differs."""
    if node.effect or can_differ(node):
        return False
    if node.kind == NUMBER:
        return not may_raise(node)
    return node.kind == ATTRIBUTE or node.name in _VIEWS or is_size(node)


def is_elementwise(node: Node, recording: Recording) -> bool:
    """Whether it is what chains have, of arrays on one device, and of numbers; what it makes are floats, or bools."""
    if node.kind not in (FUNCTION, METHOD) or node.mode is not None or type(node.results) is not Value:
        return False
    parts = parts_of(node)
    if node.effect and not any(part.share for part, _ in parts):  # a dropout draws, and does nothing else
        return False
    values = values_of(parts)
    if not values:
        return False
    made, given = recording.facts[node.results.number], [recording.facts[one.number] for one in values]
    if {one.device for one in given} != {made.device} or not can_fuse(made.device):
        return False
    if not (made.dtype in FLOATS or (made.dtype == "bool" and all(part.judges for part, _ in parts))):
        return False
    if node.name in _CASTS and made.dtype == given[0].dtype:  # which gives what it was given, or a copy
        return False
    if node.name == "masked_fill" and made.kind != "nested":  # a dense mask may be larger, which is refused
        return False
    return all(_meets(number, given) for number in numbers_of(parts))


def is_end(node: Node, recording: Recording) -> bool:
    """Whether it may end a chain: a reduction of the rows of an array of floats, on the CPU."""
    end = end_of(node) if node.kind == FUNCTION and node.mode is None and type(node.results) is Value else None
    if end is None:
        return False
    given, made = (recording.facts[value.number] for value in (end.operand, node.results))
    return given.rows and end.of_rows(given.ndim) and made.device == "cpu" and made.dtype == given.dtype in FLOATS


def changes_nothing(node: Node, recording: Recording) -> bool:
    """Whether it gives the array that it was given: `to` the dtype that this has."""
    if node.name != "to" or type(node.results) is not Value or type(node.args[0]) is not Value or not parts_of(node):
        return False
    made, given = (recording.facts[value.number] for value in (node.results, node.args[0]))
    return (made.kind, made.dtype) == (given.kind, given.dtype)


def _meets(number: Any, given: list[Fact]) -> bool:
    """Whether it is a number that arrays of these dtypes meet as one of theirs, however they are compared."""
    if type(number) is not int:
        return isinstance(number, float)
    return all(least <= number <= greatest for least, greatest in (_ENDS.get(one.dtype, _OF_FLOATS) for one in given))


def escaping(recording: Recording) -> set[Value]:
    """The values that somebody may hold or change: results, and what calls with effects are given, or functions."""
    found: set[Value] = set()
    for node in recording.nodes:
        if node.effect or node.kind != FUNCTION or node.name not in FRESH:
            found.update(node.reads)
    found.update(values_in(recording.outputs))
    return found
