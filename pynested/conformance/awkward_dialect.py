"""awkward in snippets, and how it says each operator: NumPy's ufuncs, and functions of its own along an axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pynested.spec.components import Components
from pynested.spec.table import Operator

from . import literals
from .pasting import Common, Operand, Place
from .placements import TRANSPOSED, Array, place_jagged, ragged_dim
from .spelling import Spelling

# The ufuncs of NumPy, by the names of operators where these are others.
_OF_ONE = ["exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "sqrt", "log1p", "expm1", "log2", "log10"]
_OF_ONE += ["square", "floor", "ceil", "trunc", "isnan", "isinf", "isfinite", "logical_not"]
_OF_ONE += ["neg", "abs", "sgn", "asin", "acos", "atanh", "atan", "asinh", "acosh", "exp2"]
_OF_TWO = ["add", "sub", "mul", "div", "maximum", "minimum", "pow", "floor_divide", "remainder", "bitwise_and"]
_OF_TWO += ["bitwise_or", "bitwise_xor", "logical_and", "logical_or", "logical_xor", "eq", "ne", "lt", "le", "gt", "ge"]
_RENAMED = {"neg": "negative", "abs": "absolute", "sgn": "sign", "atan": "arctan", "asinh": "arcsinh"}
_RENAMED |= {"acosh": "arccosh", "asin": "arcsin", "acos": "arccos", "atanh": "arctanh"}
_RENAMED |= {"sub": "subtract", "mul": "multiply", "div": "true_divide", "pow": "power", "eq": "equal"}
_RENAMED |= {"ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}

_REDUCTIONS = {"sum": "sum", "mean": "mean", "prod": "prod", "amax": "max", "amin": "min", "argmax": "argmax"}
_REDUCTIONS |= {"argmin": "argmin", "any": "any", "all": "all", "nansum": "nansum", "nanmean": "nanmean"}

AWKWARD = Spelling(
    "awkward",
    {
        **{op: f"np.{_RENAMED.get(op, op)}(self)" for op in _OF_ONE},
        **{op: f"np.{_RENAMED.get(op, op)}(self, other)" for op in _OF_TWO},
        **{op: f"ak.{name}(self, axis=dim, keepdims=keepdim)" for op, name in _REDUCTIONS.items()},
        "var": "ak.var(self, ddof=correction, axis=dim, keepdims=keepdim)",
        "std": "ak.std(self, ddof=correction, axis=dim, keepdims=keepdim)",
        "softmax": "ak.softmax(self, axis=dim if dim < 0 else dim - self.ndim)",
        "reciprocal": "np.true_divide(1, self)",
        "round": "ak.round(self)",
        "equal": "ak.array_equal(self, other, dtype_exact=False, check_regular=False)",
        "where": "ak.where(condition, self, other)",
        "cat": "ak.concatenate(arrays, axis=dim)",
        "clone": "ak.copy(self)",
        "contiguous": "ak.to_packed(self)",
        "to": "ak.values_astype(self, *targets)",
        "getitem": "self[index]",
        "nested_array_from_jagged": (
            "ak.Array(ak.contents.ListOffsetArray(ak.index.Index(offsets), ak.contents.NumpyArray(values)))"
        ),
    },
)


def lists(components: Components) -> tuple[Array, Array, list[int]]:
    """Return rows, the offsets of the lists of them, and the regular sizes between these lists and the batch."""
    dim = ragged_dim(components)
    regular = [size or 0 for size in components.shape[1:dim]]
    inner = [size or 0 for size in components.shape[dim + 1 :]]
    lengths = [one.shape[dim - 1] for one in components for _ in range(int(np.prod(regular)))]
    shaped = (one.reshape([int(np.prod(one.shape[:dim])), *inner]) for one in components)
    rows = [np.zeros([0, *inner], components.dtype), *shaped]
    return np.concatenate(rows), np.cumsum([0, *lengths]), regular


class AwkwardDialect(Common):
    """awkward arrays, from the parts that they are made of."""

    head = "import awkward as ak\nimport numpy as np\nfrom numpy import inf, nan\n"

    def operand(self, name: str, value: Any, place: Place, tracked: bool) -> Operand:
        """Return the line of an array of NumPy, or of lists of rows."""
        if not isinstance(value, Components):
            return Operand([f"{name} = {_array(value)}"], "")
        if ragged_dim(value) == 1:
            return Operand([f"{name} = ak.Array({self._outer(value, place.placement)})"], "")
        rows, offsets, regular = lists(value)
        text = f"ak.contents.ListOffsetArray(ak.index.Index({_array(offsets)}), ak.contents.NumpyArray({_array(rows)}))"
        for number in reversed(range(len(regular))):
            count = len(value) * int(np.prod(regular[:number]))
            text = f"ak.contents.RegularArray({text}, {regular[number]}, {count})"
        return Operand([f"{name} = ak.Array({text})"], "")

    def _outer(self, value: Components, placement: str) -> str:
        placed = place_jagged(value, placement)
        values = _array(np.ascontiguousarray(placed.values))
        content = f"ak.contents.NumpyArray({f'np.asfortranarray({values})' if placement == TRANSPOSED else values})"
        if placed.lengths is None:
            return f"ak.contents.ListOffsetArray(ak.index.Index({_array(placed.offsets)}), {content})"
        starts = placed.offsets[: len(placed.lengths)]
        bounds = ", ".join(f"ak.index.Index({_array(one)})" for one in (starts, starts + placed.lengths))
        return f"ak.contents.ListArray({bounds}, {content})"

    def name(self, word: str) -> str:
        """Return a dtype."""
        return f"np.{word}"

    def call(self, operator: Operator, texts: Sequence[str]) -> str:
        """Return the expression of the operator."""
        return AWKWARD.text(operator, texts)

    def shown(self, name: str, is_nested: bool = True) -> str:
        """Return a line that prints all digits of all elements; awkward itself prints three, and cuts long arrays."""
        return f"print(ak.to_list({name}))"

    def described(self, name: str) -> str:
        """Return lines that print the type of an array, and, if one dimension is irregular, the component shapes."""
        text = f"str(ak.type({name}))"
        dense = f'if "var" not in {text}: print("dense", {text}.split()[-1].lstrip("?"), np.shape({name}))'
        shapes = f"*(np.shape(one) for one in {name})"
        nested = f'if {text}.count("var") == 1: print("nested", {text}.split()[-1].lstrip("?"), {shapes})'
        return f"print(f'{{ak.type({name})}}: {{ak.to_list({name})}}')\n{dense}\n{nested}"

    def backward(self, cotangents: Mapping[str, Any]) -> str:
        """Return nothing: no gradient is asked for."""
        return ""


def _array(array: Array) -> str:
    name = f"np.{array.dtype.name}".replace("np.bool", "np.bool_")
    return f"np.zeros({array.shape}, {name})" if array.size == 0 else f"np.array({literals.nested_list(array)}, {name})"
