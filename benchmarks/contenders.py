"""The same operators in pynested, PyTorch (nested jagged, nested strided, padded and masked), NumPy and awkward.

Each contender is a table: the name of an operator and what calls it on a namespace of operands. A contender that has no
such operator has no entry; one whose entry raises does not support it, and the benchmark shows a dash.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.special

import pynested as pn

Call = Callable[[SimpleNamespace], Any]
VOCABULARY = 1000

# What a gradient is taken of, where it is not x alone; () where there is nothing to pull.
LEAVES: dict[str, tuple[str, ...]] = {
    "add": ("x", "y"),
    "mul (D,)": ("x", "row"),
    "layer_norm": ("x", "scale", "shift"),
    "linear": ("x", "weight", "shift"),
    "embedding": ("table",),
    "sum of numbers": ("numbers",),
    "amax of numbers": ("numbers",),
    "unbind": (),
    "nested_array": (),
}
LAYER_SIZES: dict[str, tuple[int, ...]] = {  # of a transformer's layer, by PyTorch's names and in widths of a row
    "self_attn.in_proj_weight": (3, 1), "self_attn.in_proj_bias": (3,),
    "self_attn.out_proj.weight": (1, 1), "self_attn.out_proj.bias": (1,),
    "linear1.weight": (2, 1), "linear1.bias": (2,), "linear2.weight": (1, 2), "linear2.bias": (1,),
    "norm1.weight": (1,), "norm1.bias": (1,), "norm2.weight": (1,), "norm2.bias": (1,),
}  # fmt: skip
LEAVES |= dict.fromkeys(["attention", "causal attention", "flex causal"], ("x", "y"))
LEAVES["two layers"] = ("x", *LAYER_SIZES)
# Rows of `benchmarks.attention`, which `benchmarks.operators` times if they are named.
ATTENTION = ("attention", "causal attention", "flex causal", "two layers")
HEADS = 4
# Operators that compute each element by itself.
ELEMENTWISE = frozenset({"add", "mul (D,)", "relu", "gelu", "tanh", "exp"})


@dataclass(frozen=True)
class Workload:
    """Components of certain lengths and one width, as plain arrays."""

    name: str
    lengths: np.ndarray[Any, Any]
    width: int

    def operands(self) -> dict[str, Any]:
        """Lists are nested operands, arrays dense ones."""
        generator = np.random.default_rng(0)
        size = int(self.lengths.sum())
        cuts = np.cumsum(self.lengths)[:-1]

        def nested(flat: Any) -> list[Any]:
            return np.split(flat, cuts)

        def numbers(*shape: int) -> Any:
            return generator.standard_normal(shape, np.float32)

        return {
            "x": nested(numbers(size, self.width)),
            "y": nested(numbers(size, self.width)),
            "numbers": nested(numbers(size)),
            "row": numbers(self.width),
            "scale": numbers(self.width),
            "shift": numbers(self.width),
            "weight": numbers(self.width, self.width),
            "table": numbers(VOCABULARY, self.width),
            "indices": nested(generator.integers(0, VOCABULARY, size)),
            "labels": nested(generator.integers(0, self.width, size)),
            **{
                name: numbers(*(size * self.width for size in sizes)) / np.float32(self.width**0.5)
                for name, sizes in LAYER_SIZES.items()
            },
        }

    def dense_operands(self) -> dict[str, Any]:
        """Dense arrays of about as many elements, in which each component has the mean length."""
        mean = round(float(self.lengths.mean()))
        equal = replace(self, lengths=np.full(len(self.lengths), mean)).operands()
        return {name: np.stack(value) if isinstance(value, list) else value for name, value in equal.items()}


@dataclass
class Contender:
    """A library: its operands, with and without gradients, and its operators."""

    name: str
    operators: dict[str, Call]
    operands: SimpleNamespace
    tracked: SimpleNamespace | None = None
    pull: Callable[[Any, list[Any], Any], Any] = lambda out, leaves, cotangent: None
    ones_like: Callable[[Any], Any] = lambda out: None


def pynested(given: dict[str, Any], layout: Any, name: str, device: str) -> Contender:
    def convert(value: Any, grad: bool) -> Any:
        kind = value[0].dtype if isinstance(value, list) else value.dtype
        wanted = grad and kind.kind == "f"
        if isinstance(value, list):
            return pn.nested_array(value, layout=layout, device=device, requires_grad=wanted)
        return pn.array(value, device=device, requires_grad=wanted)

    def namespace(grad: bool) -> SimpleNamespace:
        made = SimpleNamespace(**{name: convert(value, grad) for name, value in given.items()})
        made.build, made.components = partial(pn.nested_array, layout=layout, device=device), list(given["x"])
        queries = heads(made.x.detach())
        made.block_mask = cache(lambda: pn.create_nested_block_mask(lambda b, h, i, j: i >= j, queries))
        return made

    return Contender(name, PYNESTED, namespace(False), namespace(True), pn.grad, pn.ones_like)


def operators(of: Any) -> dict[str, Call]:
    """Return the operators by the functions of ``of``: pynested, or PyTorch's of the same names."""
    return {
        "add": lambda n: n.x + n.y,
        "mul (D,)": lambda n: n.x * n.row,
        "relu": lambda n: of.relu(n.x),
        "gelu": lambda n: of.gelu(n.x),
        "tanh": lambda n: of.tanh(n.x),
        "exp": lambda n: of.exp(n.x),
        "sum ragged": lambda n: n.x.sum(1),
        "mean ragged": lambda n: n.x.mean(1),
        "amax ragged": lambda n: n.x.amax(1),
        "sum of numbers": lambda n: n.numbers.sum(1),
        "amax of numbers": lambda n: n.numbers.amax(1),
        "sum last": lambda n: n.x.sum(2),
        "softmax ragged": lambda n: of.softmax(n.x, 1),
        "softmax last": lambda n: of.softmax(n.x, 2),
        "layer_norm": lambda n: of.layer_norm(n.x, (n.scale.shape[0],), n.scale, n.shift),
        "linear": lambda n: of.linear(n.x, n.weight, n.shift),
        "matmul x xT": lambda n: n.x @ n.x.transpose(1, 2),
        "transpose": lambda n: n.x.transpose(1, 2),
        "unbind": lambda n: n.x.unbind(),
        "embedding": lambda n: of.embedding(n.indices, n.table),
        "cross_entropy": lambda n: of.cross_entropy(n.x, n.labels),
        "cat last": lambda n: of.cat([n.x, n.y], 2),
        "attention": lambda n: of.scaled_dot_product_attention(heads(n.x), heads(n.y), heads(n.x)),
        "causal attention": lambda n: of.scaled_dot_product_attention(
            heads(n.x), heads(n.y), heads(n.x), is_causal=True
        ),
    }


def heads(x: Any) -> Any:
    """Split rows into heads: (B, *, W) -> (B, H, *, W / H)."""
    return x.unflatten(-1, (HEADS, -1)).transpose(-3, -2)


def _layer(x: Any, n: SimpleNamespace) -> Any:
    weights = {name: getattr(n, name) for name in LAYER_SIZES}
    return pn.transformer_encoder_layer(x, weights, HEADS, activation="gelu")


PYNESTED = operators(pn) | {
    "to_padded": lambda n: pn.to_padded_array(n.x, 0.0),
    "nested_array": lambda n: n.build(n.components),
    "flex causal": lambda n: pn.flex_attention(heads(n.x), heads(n.y), heads(n.x), block_mask=n.block_mask()),
    "two layers": lambda n: _layer(_layer(n.x, n), n),
}


def _exp_shifted(x: Any) -> Any:
    return np.exp(x - x.max(axis=-1, keepdims=True))


NUMPY: dict[str, Call] = {
    "add": lambda n: np.add(n.x, n.y),
    "mul (D,)": lambda n: np.multiply(n.x, n.row),
    "relu": lambda n: np.maximum(n.x, 0),
    "gelu": lambda n: n.x * scipy.special.ndtr(n.x),
    "tanh": lambda n: np.tanh(n.x),
    "exp": lambda n: np.exp(n.x),
    "sum ragged": lambda n: np.add.reduceat(n.x, n.starts),
    "mean ragged": lambda n: np.add.reduceat(n.x, n.starts) / n.lengths,
    "amax ragged": lambda n: np.maximum.reduceat(n.x, n.starts),
    "sum of numbers": lambda n: np.add.reduceat(n.numbers, n.starts),
    "amax of numbers": lambda n: np.maximum.reduceat(n.numbers, n.starts),
    "sum last": lambda n: n.x.sum(axis=-1),
    "softmax last": lambda n: (e := _exp_shifted(n.x)) / e.sum(axis=-1, keepdims=True),
    "linear": lambda n: n.x @ n.weight.T + n.shift,
    "matmul x xT": lambda n: [component @ component.T for component in np.split(n.x, n.starts[1:])],
    "transpose": lambda n: n.x.T,
    "unbind": lambda n: np.split(n.x, n.starts[1:]),
    "embedding": lambda n: n.table[n.indices],
    "cat last": lambda n: np.concatenate([n.x, n.y], axis=-1),
    "nested_array": lambda n: np.concatenate(n.components),
}


def numpy(given: dict[str, Any]) -> Contender:
    flat = {name: np.concatenate(value) if isinstance(value, list) else value for name, value in given.items()}
    lengths = np.array([len(component) for component in given["x"]])
    starts = np.cumsum(lengths) - lengths
    counts = lengths[:, None].astype(np.float32)
    operands = SimpleNamespace(**flat, starts=starts, lengths=counts, components=given["x"])
    return Contender("numpy", NUMPY, operands)


DENSE_NUMPY: dict[str, Call] = {
    **NUMPY,
    "sum ragged": lambda n: n.x.sum(axis=1),
    "mean ragged": lambda n: n.x.mean(axis=1),
    "amax ragged": lambda n: n.x.max(axis=1),
    "sum of numbers": lambda n: n.numbers.sum(axis=1),
    "amax of numbers": lambda n: n.numbers.max(axis=1),
    "matmul x xT": lambda n: n.x @ n.x.swapaxes(1, 2),
    "transpose": lambda n: n.x.swapaxes(1, 2),
    "unbind": lambda n: list(n.x),
}


def dense_numpy(given: dict[str, Any]) -> Contender:
    return Contender("numpy", DENSE_NUMPY, SimpleNamespace(**given, components=list(given["x"])))


AWKWARD: dict[str, Call] = {
    "add": lambda n: n.x + n.y,
    "exp": lambda n: np.exp(n.x),
    "tanh": lambda n: np.tanh(n.x),
    "sum ragged": lambda n: n.awkward.sum(n.x, axis=1),
    "mean ragged": lambda n: n.awkward.mean(n.x, axis=1),
    "amax ragged": lambda n: n.awkward.max(n.x, axis=1),
    "sum of numbers": lambda n: n.awkward.sum(n.numbers, axis=1),
    "amax of numbers": lambda n: n.awkward.max(n.numbers, axis=1),
    "sum last": lambda n: n.awkward.sum(n.x, axis=2),
}


def awkward(given: dict[str, Any]) -> Contender:
    import awkward as ak

    lengths = [len(component) for component in given["x"]]
    nested = {name: np.concatenate(value) for name, value in given.items() if isinstance(value, list)}
    operands = {name: ak.unflatten(ak.from_numpy(rows), lengths) for name, rows in nested.items()}
    return Contender("awkward", AWKWARD, SimpleNamespace(**operands, awkward=ak))
