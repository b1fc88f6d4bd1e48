"""Drawing: plain data from a seed and a number, the same on every machine. `chain` draws calls of all operators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from pynested.fuzzing.chance import Chance

from ..oracle import FUNCTIONS, PAIRS, Nest
from ..plan import Call, Chain
from . import attention, conversion, elements, moves, products
from .draft import Draft

DRAWS = {**elements.DRAWS, **moves.DRAWS, **products.DRAWS, **conversion.DRAWS, **attention.DRAWS}
OPERATORS = tuple(DRAWS)
CHAIN = 1  # the first number of a key: what is drawn

INFIX = ("add", "sub", "mul", "div", "eq", "ne", "lt", "le", "gt", "ge", "matmul", "neg", "abs", "pow", "floor_divide",
         "remainder", "bitwise_and", "bitwise_or", "bitwise_xor")  # fmt: skip
NUMPY: dict[str, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "maximum": np.maximum,
    "minimum": np.minimum, "neg": np.negative, "abs": np.absolute, "sgn": np.sign, "eq": np.equal, "ne": np.not_equal,
    "lt": np.less, "gt": np.greater, "le": np.less_equal, "ge": np.greater_equal, "matmul": np.matmul,
    "logical_not": np.logical_not, "cumsum": np.cumsum, "where": np.where,
    "cat": np.concatenate, "stack": np.stack, "clone": np.copy, "clamp": np.clip, "equal": np.array_equal,
    "allclose": np.allclose,
    **{name: getattr(np, name) for name in (*FUNCTIONS, *PAIRS) if hasattr(np, name)},
    **{name: getattr(np, name) for name, given in elements.OF_RUNS.items()
       if hasattr(np, name) and "correction" not in given},  # which NumPy has under another name, and is 0 there
}  # fmt: skip
FUNCTIONS_ONLY = ("where", "cat", "stack", "embedding", "cross_entropy", "nested_array", "as_nested_array",
                  "nested_array_from_jagged", "nested_array_from_strided", "masked_select", "narrow",
                  "scaled_dot_product_attention", "flex_attention", "multi_head_attention")  # fmt: skip
NESTED_METHODS = ("to_padded_array",)  # which a dense array lacks


def chain(seed: int, number: int) -> Chain:
    """Chain ``number``: one to six calls, each of anything that is there by then."""
    d = Draft(Chance(CHAIN, seed, number))
    for _ in range(d.chance.one((1, 1, 1, 2, 2, 3, 4, 6))):
        d.call(spelled(d, DRAWS[d.chance.one(OPERATORS)](d)))
    return d.chain()


def spelled(d: Draft, call: Call) -> Call:
    """The same call as a method, with Python's sign, or by NumPy's function."""
    ours = [d.ours(one) for one in call.args]
    if call.op == "getitem":
        return replace(call, spelling="infix" if ours[0] else "function")
    nested = any(not array.dense for array in _arrays(d, call))
    ways = ["function"] * 4
    if call.op not in FUNCTIONS_ONLY and ours and ours[0] and _has_method(d, call, nested):
        ways += ["method", "method"]
    if call.op in INFIX and not call.kwargs and any(ours) and not d.masked(call.args[0]):
        ways += ["infix", "infix"]
    if call.op in NUMPY and nested and _fits_numpy(call):
        ways.append("numpy")
    return replace(call, spelling=d.chance.one(ways))


def _has_method(d: Draft, call: Call, nested: bool) -> bool:
    """A dense array has fewer methods, and none that takes nested ones."""
    lacking = nested or call.op in NESTED_METHODS or "layout" in call.kwargs
    return not (d.value(call.args[0]).dense and lacking)


def _arrays(d: Draft, call: Call) -> list[Nest]:
    return [d.value(ref) for ref in call.refs]


def _fits_numpy(call: Call) -> bool:
    """Whether NumPy hands all arguments over: axes that are no integers, and what is no list, it judges itself."""
    plain = all(type(one) is not float for one in (*call.args[1:], *call.kwargs.values()))
    listed = call.op not in ("cat", "stack") or type(call.args[0]) is list
    return plain and listed and not set(call.kwargs) & {"alpha", "dtype"}
