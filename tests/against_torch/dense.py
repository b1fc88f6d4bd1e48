"""Every operator on a list of components in dense PyTorch: one component at a time, and PyTorch's own gradients.

A list stands for a nested array; dims count the batch as dimension 0, as in pynested.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch.nn import functional

from pynested.spec.functions import FUNCTIONS
from pynested.spec.pairs import PAIRS
from pynested.spec.reductions import REDUCTIONS
from pynested.spec.table import run_wise

from .components import Operator, each
from .reductions import (
    aligned,
    batch_mean,
    batch_prod,
    batch_sum,
    extreme,
    over_present,
    places,
    quiet,
    reduction,
    torch_prod,
)


def elementwise(function: Operator) -> Operator:
    """An operator that is ``function`` of each component."""
    return lambda *operands: each(function, *operands)


def of_two(function: Operator) -> Operator:
    """A function that PyTorch has of two tensors only, or of a number behind a tensor: of numbers on either side."""
    return lambda a, b: function(*tensors(a, b))


def cbrt(x: Any) -> Any:
    """PyTorch has none, and powers of fractions above 0 only."""
    return x.sign() * x.abs().pow(1 / 3)


def gelu(x: Any, approximate: str = "none") -> Any:
    return each(lambda c: functional.gelu(c, approximate=approximate), x)


def add(x: Any, y: Any, alpha: Any = 1) -> Any:
    return each(lambda a, b: a + alpha * b, x, y)


def sub(x: Any, y: Any, alpha: Any = 1) -> Any:
    return each(lambda a, b: a - alpha * b, x, y)


def equal(x: Any, y: Any) -> bool:
    return all(each(torch.equal, x, y))


def masked_fill(x: Any, mask: Any, value: Any) -> Any:
    return each(lambda c, m: c.masked_fill(m, value), x, mask)


def run_wise_as(name: str) -> Operator:
    function = getattr(functional if hasattr(functional, name) else torch, name)
    return lambda x, dim: each(lambda c: function(c, dim - 1), x)


def layer_norm(x: Any, shape: Any, weight: Any = None, bias: Any = None) -> Any:
    return each(lambda c: functional.layer_norm(c, shape, weight, bias), x)


def dropout(x: Any, p: float, training: bool) -> Any:
    return each(lambda c: functional.dropout(c, p, training), x)


def linear(x: Any, weight: Any, bias: Any = None) -> Any:
    return each(lambda c: functional.linear(c, weight, bias), x)


def attention(query: Any, key: Any, value: Any, mask: Any = None, **options: Any) -> Any:
    """Of each component; what has as many dimensions as the batch is taken apart, or given to all where it is one."""
    given = [query, key, value, *([] if mask is None else [mask])]
    return each(lambda *one: functional.scaled_dot_product_attention(*one, **options), *given)


def heads(query: Any, key: Any, value: Any, count: int, packed: Any, bias: Any, out: Any, shift: Any = None) -> Any:
    """Each component without a batch; where weights are asked for, PyTorch has second derivatives."""

    def one(q: Any, k: Any, v: Any) -> Any:
        given = packed, bias, None, None, False, 0.0, out, shift
        return functional.multi_head_attention_forward(q, k, v, len(out), count, *given)[0]

    return each(one, query, key, value)


def dense_flex_attention(q: Any, k: Any, v: Any, score_mod: Any = None, scale: Any = None) -> Any:
    """In a few products: PyTorch's own has no gradient on the CPU, and wants four dimensions."""
    scores = q @ k.transpose(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    changed = scores if score_mod is None else score_mod(scores, None, None, None, None)
    return changed.softmax(-1) @ v


def flex_attention(query: Any, key: Any, value: Any, **options: Any) -> Any:
    return each(lambda *one: dense_flex_attention(*one, **options), query, key, value)


def embedding(indices: Any, weight: Any, padding_idx: int | None = None) -> Any:
    return each(lambda c: functional.embedding(c, weight, padding_idx), indices)


def cross_entropy(x: Any, target: Any, reduction: str = "mean", **options: Any) -> Any:
    if reduction == "none":
        return each(lambda c, t: functional.cross_entropy(c, t, reduction="none", **options), x, target)
    return functional.cross_entropy(torch.cat(x), torch.cat(target), reduction=reduction, **options)


def clamped(x: Any, low: Any = None, high: Any = None) -> Any:
    """With tensors for bounds, beside which PyTorch takes no numbers."""
    bounds = {name: tensors(x, bound)[1] for name, bound in (("min", low), ("max", high)) if bound is not None}
    return torch.clamp(x, **bounds) if bounds else x.clone()


def tensors(*operands: Any) -> list[Any]:
    """The operands, numbers as tensors of the dtype of the others."""
    dtype = next(one.dtype for one in operands if torch.is_tensor(one))
    return [one if torch.is_tensor(one) else torch.as_tensor(one, dtype=dtype) for one in operands]


# ---- movement and conversion --------------------------------------------------------------------------------------


def transpose(x: Any, dim0: int, dim1: int) -> Any:
    return each(lambda c: c.transpose(dim0 - 1, dim1 - 1), x)


def split(x: Any, sizes: Any, dim: int = 0) -> Any:
    if not dim:
        return tuple(x[start : start + sizes] for start in range(0, len(x), sizes))
    return tuple(map(list, zip(*each(lambda c: c.split(sizes, dim - 1), x), strict=True)))


def reshape(x: Any, shape: Any) -> Any:
    return each(lambda c: c.reshape([c.shape[i] if size == -1 else size for i, size in enumerate(shape[1:])]), x)


def unsqueeze(x: Any, dim: int) -> Any:
    return each(lambda c: c.unsqueeze(dim - 1), x)


def unflatten(x: Any, dim: int, sizes: Any) -> Any:
    return each(lambda c: c.unflatten(dim - 1, sizes), x)


def select(x: Any, dim: int, index: int) -> Any:
    return each(lambda c: c.select(dim - 1, index), x) if dim else x[index]


def narrow(x: Any, dim: int, start: int, length: int) -> Any:
    return each(lambda c: c.narrow(dim - 1, start, length), x) if dim else x[start : start + length]


def joined(function: Operator) -> Operator:
    def join(arrays: Any, dim: int) -> Any:
        if not dim:
            return [component for array in arrays for component in array]
        return [function(parts, dim - 1) for parts in zip(*arrays, strict=True)]

    return join


def chunk(x: Any, chunks: int, dim: int = 0) -> Any:
    if not dim:
        size = -(-len(x) // chunks)
        return tuple(x[start : start + size] for start in range(0, len(x), size))
    return tuple(map(list, zip(*each(lambda c: c.chunk(chunks, dim - 1), x), strict=True)))


def to_padded_array(x: Any, value: float, size: Any = None) -> Any:
    padded = aligned(x, value)
    ends = [] if size is None else [n for a, b in zip(size[::-1], padded.shape[::-1], strict=True) for n in (0, a - b)]
    return functional.pad(padded, ends, value=value)


def getitem(x: Any, index: Any) -> Any:
    if isinstance(index, list):
        return each(lambda c, mask: c[mask], x, index)
    first, *rest = index
    if isinstance(first, int):
        return getitem([x[first]], (slice(None), *rest))[0]
    picked = [x[i] for i in first] if isinstance(first, list) else x[first]
    for dim, part in enumerate(rest):
        if isinstance(part, slice):  # PyTorch refuses steps below 0
            places = [torch.tensor(range(*part.indices(c.shape[dim])), dtype=torch.int64) for c in picked]
            picked = [c.index_select(dim, at) for c, at in zip(picked, places, strict=True)]
    plain = tuple(slice(None) if isinstance(part, slice) else part for part in rest)
    return [c[plain] for c in picked]


OWN = ("abs", "clone", "detach", "logical_not", "matmul", "neg", "relu", "sgn", "where")
OWN_OF_TWO = ("div", "eq", "lt", "maximum", "minimum", "mul")
OPERATORS: dict[str, Operator] = {
    **{name: elementwise(getattr(torch, name)) for name in (*FUNCTIONS, *OWN) if hasattr(torch, name)},
    **{name: elementwise(of_two(getattr(torch, name))) for name in (*PAIRS, *OWN_OF_TWO)},
    "floor_divide": elementwise(of_two(partial(torch.div, rounding_mode="floor"))),  # the one with a gradient
    **{one: reduction(quiet(getattr(torch, one)), over_present(quiet(getattr(torch, one)))) for one in REDUCTIONS},
    "add": add,
    "allclose": lambda x, y, **tolerances: all(each(lambda c, d: torch.allclose(c, d, **tolerances), x, y)),
    "amax": extreme(torch.amax, -torch.inf),
    "amin": extreme(torch.amin, torch.inf),
    "argmax": places(torch.argmax, -torch.inf),
    "argmin": places(torch.argmin, torch.inf),
    "bmm": elementwise(torch.matmul),
    "cat": joined(torch.cat),
    "cbrt": elementwise(cbrt),
    "chunk": chunk,
    "clamp": elementwise(clamped),
    **dict.fromkeys(("as_nested_array", "contiguous"), lambda x: x),
    "cross_entropy": cross_entropy,
    **{name: run_wise_as(name) for name in run_wise()},
    "dropout": dropout,
    "embedding": embedding,
    "equal": equal,
    "flex_attention": flex_attention,
    "flatten": lambda x, start, end=-1: each(lambda c: c.flatten(start - 1, end if end < 0 else end - 1), x),
    "gelu": gelu,
    "getitem": getitem,
    "layer_norm": layer_norm,
    "linear": linear,
    "masked_fill": masked_fill,
    "mean": reduction(torch.mean, batch_mean),
    "narrow": narrow,
    "nested_array": elementwise(torch.detach),
    "permute": lambda x, dims: each(lambda c: c.permute([dim - 1 for dim in dims[1:]]), x),
    "prod": reduction(torch_prod, batch_prod),
    "reshape": reshape,
    "reshape_as": elementwise(lambda c, d: c.reshape(d.shape)),
    "multi_head_attention": heads,
    "scaled_dot_product_attention": attention,
    "select": select,
    "silu": elementwise(functional.silu),
    "split": split,
    "squeeze": lambda x, dim: each(lambda c: c.squeeze(dim - 1), x),
    "stack": joined(torch.stack),
    "sub": sub,
    "sum": reduction(torch.sum, batch_sum),
    "to": elementwise(lambda c, dtype: c.to(getattr(torch, dtype.name))),
    "to_padded_array": to_padded_array,
    "transpose": transpose,
    "unbind": lambda x: tuple(x),
    "unflatten": unflatten,
    "unsqueeze": unsqueeze,
    "view": reshape,
}
