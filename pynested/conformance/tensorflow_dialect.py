"""TensorFlow in snippets, and how it says each operator: functions that dispatch on a RaggedTensor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pynested.spec.components import Components
from pynested.spec.table import Operator

from . import literals
from .awkward_dialect import lists
from .pasting import Common, Operand, Place
from .placements import Array
from .spelling import Spelling

_OF_ONE = ["negative", "abs", "sign", "exp", "sin", "cos", "tan", "sinh", "cosh", "tanh", "sqrt", "atan", "asinh"]
_OF_ONE += ["acosh", "asin", "acos", "atanh"]
_OF_ONE += ["sigmoid", "square", "floor", "round", "identity", "stop_gradient", "logical_not"]
_OF_ONE += ["math.log", "math.erf", "math.log1p", "math.expm1", "math.rsqrt", "math.reciprocal", "math.ceil"]
_OF_ONE += ["math.is_nan", "math.is_inf", "math.is_finite", "nn.relu", "nn.silu"]
_OF_TWO = ["add", "subtract", "multiply", "divide", "maximum", "minimum", "pow", "math.floordiv", "math.floormod"]
_OF_TWO += ["bitwise.bitwise_and", "bitwise.bitwise_or", "bitwise.bitwise_xor", "logical_and", "logical_or"]
_OF_TWO += ["math.logical_xor", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "matmul"]
_RENAMED = {"negative": "neg", "sign": "sgn", "identity": "clone", "stop_gradient": "detach", "subtract": "sub"}
_RENAMED |= {"multiply": "mul", "divide": "div", "floordiv": "floor_divide", "floormod": "remainder", "equal": "eq"}
_RENAMED |= {"not_equal": "ne", "less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge"}
_RENAMED |= {"is_nan": "isnan", "is_inf": "isinf", "is_finite": "isfinite"}
_REDUCTIONS = {"sum": "sum", "mean": "mean", "prod": "prod", "amax": "max", "amin": "min", "logsumexp": "logsumexp"}
_REDUCTIONS |= {"any": "any", "all": "all"}


def _named(functions: Sequence[str], arguments: str) -> dict[str, str]:
    last = {name: name.rpartition(".")[2] for name in functions}
    return {_RENAMED.get(end, end): f"tf.{name}({arguments})" for name, end in last.items()}


TENSORFLOW = Spelling(
    "TensorFlow",
    {
        **_named(_OF_ONE, "self"),
        **_named(_OF_TWO, "self, other"),
        **{op: f"tf.reduce_{name}(self, axis=dim, keepdims=keepdim)" for op, name in _REDUCTIONS.items()},
        "gelu": "tf.nn.gelu(self, approximate=approximate == 'tanh')",
        "softmax": "tf.nn.softmax(self, axis=dim)",
        "dropout": "tf.nn.dropout(self, p)",
        "where": "tf.where(condition, self, other)",
        "bmm": "tf.matmul(self, mat2)",
        "unsqueeze": "tf.expand_dims(self, dim)",
        "squeeze": "tf.squeeze(self, dim)",
        "cat": "tf.concat(arrays, axis=dim)",
        "stack": "tf.stack(arrays, axis=dim)",
        "cumsum": "tf.cumsum(self, axis=dim)",
        "embedding": "tf.nn.embedding_lookup(weight, indices)",
        "to": "tf.cast(self, *targets)",
        "to_padded_array": "input.to_tensor(padding, shape=output_size)",
        "getitem": "self[index]",
        "nested_array_from_jagged": "tf.RaggedTensor.from_row_splits(values, offsets)",
    },
)


class TensorflowDialect(Common):
    """Ragged tensors of row splits, with regular dimensions around these."""

    head = "import tensorflow as tf\nfrom numpy import inf, nan\n"

    def operand(self, name: str, value: Any, place: Place, tracked: bool) -> Operand:
        """Return the lines of a tensor, or of a ragged one around its values, which are what is tracked."""
        nested = isinstance(value, Components)
        rows, offsets, regular = lists(value) if nested else (value, np.zeros(0), [])
        values = f"{name}_values" if nested and tracked else name
        lines, text = [], _array(rows)
        if tracked:
            started = place.shared.setdefault((), "tape")
            lines += [] if place.shared.get((0,)) else ["tape = tf.GradientTape(persistent=True)", "tape.__enter__()"]
            place.shared[0,] = started
            lines += [f"{values} = {text}", f"tape.watch({values})"]
            text = values
        if nested:
            text = f"tf.RaggedTensor.from_row_splits({text}, {_array(offsets)})"
            for number in reversed(range(len(regular))):
                count = len(value) * int(np.prod(regular[:number]))
                text = f"tf.RaggedTensor.from_uniform_row_length({text}, {regular[number]}, nrows={count})"
        lines += [] if text == name else [f"{name} = {text}"]
        return Operand(lines, f"tape.gradient(result, {values}, pulled)")

    def name(self, word: str) -> str:
        """Return a dtype."""
        return f"tf.{word}"

    def call(self, operator: Operator, texts: Sequence[str]) -> str:
        """Return the expression of the operator."""
        return TENSORFLOW.text(operator, texts)

    def backward(self, cotangents: Mapping[str, Any]) -> str:
        """Return the lines that bring cotangents into the form of the values of the results."""
        found = [f'getattr({name}, "flat_values", {name})' for name in cotangents]
        flat = [_array(_flat(one)) for one in cotangents.values()]
        if len(flat) == 1:
            return f"result = {found[0]}\npulled = tf.reshape({flat[0]}, tf.shape(result))"
        shaped = [f"tf.reshape({one}, tf.shape(result[{number}]))" for number, one in enumerate(flat)]
        return f"result = [{', '.join(found)}]\npulled = [{', '.join(shaped)}]"

    def described(self, name: str) -> str:
        """Return a line that prints the dtype and the sizes of a tensor, or of each row of a ragged tensor."""
        row = "(one.bounding_shape() if isinstance(one, tf.RaggedTensor) else one.shape)"
        nested = f'print("nested", {name}.dtype.name, *(tuple(map(int, {row})) for one in {name}), {name}.to_list())'
        dense = f'print("dense", {name}.dtype.name, tuple({name}.shape))'
        return f"if isinstance({name}, tf.RaggedTensor):\n    {nested}\nelse:\n    {dense}"


def _flat(cotangent: Any) -> Array:
    parts = cotangent if isinstance(cotangent, Components) else [cotangent]
    return np.concatenate([np.zeros(0, cotangent.dtype), *(one.reshape(-1) for one in parts)])


def _array(array: Array) -> str:
    values = f"zeros({array.shape}" if array.size == 0 else f"constant({literals.nested_list(array)}"
    return f"tf.{values}, tf.{array.dtype.name})"
