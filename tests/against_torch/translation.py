"""Calls in dense PyTorch, component by component: the conformance kit's translation, and formulas beside it.

A formula stands where PyTorch has no function, none with these arguments, or none with a gradient.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

import torch
from torch.nn import functional

from pynested.conformance.adapters.torch_adapter import TorchTarget
from pynested.conformance.adapters.torch_batch import Parts, gathered
from pynested.conformance.adapters.torch_dense import DenseTorch
from pynested.spec.pairs import PAIRS
from pynested.spec.reductions import REDUCTIONS
from pynested.spec.table import load_table

Formula = Callable[..., Any]


def of_tensors(function: Formula) -> Formula:
    """Return a function of two tensors that takes a number on either side."""

    def call(*operands: Any, **options: Any) -> Any:
        dtype = next(x.dtype for x in operands if torch.is_tensor(x))
        tensors = (x if torch.is_tensor(x) else torch.as_tensor(x, dtype=dtype) for x in operands)
        return function(*tensors, **options)

    return call


def reduction(function: Formula) -> Formula:
    """Return a reduction that takes every spelling of `dim`, one dimension after another if ``function`` takes one."""

    def call(x: Any, dim: Any = None, keepdim: bool = False, **options: Any) -> Any:
        dims = tuple(range(x.ndim)) if dim is None else dim
        with warnings.catch_warnings(action="ignore"):  # of variances of one element
            if function is not torch.prod or isinstance(dims, int):
                return function(x, dim=dims, keepdim=keepdim, **options)
        for d in sorted(dims, reverse=True):
            x = torch.prod(x, d, keepdim)
        return x

    return call


def clamp(x: Any, min: Any = None, max: Any = None) -> Any:
    """Clamp to tensors, beside which PyTorch takes no numbers."""
    bounds = {"min": min, "max": max}.items()
    return torch.clamp(x, **{name: torch.as_tensor(y, dtype=x.dtype) for name, y in bounds if y is not None})


def multi_head_attention(
    query: Any, key: Any, value: Any, heads: int, packed: Any, bias: Any, out: Any, shift: Any = None
) -> Any:
    options = packed, bias, None, None, False, 0.0, out, shift
    return functional.multi_head_attention_forward(query, key, value, len(out), heads, *options)[0]


def flex_attention(query: Any, key: Any, value: Any, score_mod: Any = None, scale: Any = None) -> Any:
    """Compute attention from all scores at once: PyTorch's function has no gradient on the CPU."""
    scores = query @ key.transpose(-1, -2) * (query.shape[-1] ** -0.5 if scale is None else scale)
    if score_mod is not None:
        scores = score_mod(scores, None, None, None, None)
    return scores.softmax(-1) @ value


def cross_entropy(x: Any, target: Any, reduction: str = "mean", **options: Any) -> Any:
    """Compute the losses of the rows of all components at once, or of each component."""
    if reduction == "none":
        pairs = zip(x.tensors, target.tensors, strict=True)
        return Parts([functional.cross_entropy(*pair, reduction="none", **options) for pair in pairs], x.shape[:-1])
    rows, classes = torch.cat(x.tensors), torch.cat(target.tensors)
    return functional.cross_entropy(rows, classes, reduction=reduction, **options)


def select(x: Any, dim: int, index: int) -> Any:
    if dim in (0, -x.dims):
        return x.tensors[index]
    return gathered([component.select(dim - (dim > 0), index) for component in x.tensors], False)


TARGET = TorchTarget(torch)
OF_TENSORS = ("add", "sub", "mul", "div", "eq", "lt", "maximum", "minimum", *PAIRS)
EXTREMES = ("sum", "mean", "amax", "amin", "argmax", "argmin", "prod")
FORMULAS: Mapping[str, Formula] = {
    **{name: of_tensors(getattr(torch, name)) for name in OF_TENSORS},
    **{name: reduction(getattr(torch, name)) for name in (*REDUCTIONS, *EXTREMES)},
    "cbrt": lambda x: x.sign() * x.abs().pow(1 / 3),
    "clamp": clamp,
    "flex_attention": flex_attention,
    "floor_divide": of_tensors(partial(torch.div, rounding_mode="floor")),  # the one with a gradient
    "multi_head_attention": multi_head_attention,
}


OF_BATCH: Mapping[str, Formula] = {
    "cross_entropy": cross_entropy,
    "select": select,
    "unbind": lambda x, dim=0: list(x.tensors),
}


def function(op: str) -> Formula:
    """Return the formula of an operator, or PyTorch's function."""
    if load_table()[op].torch.startswith("torch.nested."):
        raise NotImplementedError(f"{op} has no dense tensors")
    return FORMULAS.get(op) or TARGET.function(op)


class Translation(DenseTorch):
    """Dense PyTorch with the formulas."""

    def call(self, op: str, layout: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Call the operator for each component, by a formula for all components, or for dense operands."""
        lists = [value if isinstance(value, list) else [value] for value in (*args, *kwargs.values())]
        if not any(isinstance(operand, Parts) for operand in chain.from_iterable(lists)):
            return self._called(op, load_table()[op].call.bind(*args, **kwargs).arguments)
        return OF_BATCH[op](*args, **kwargs) if op in OF_BATCH else super().call(op, layout, args, kwargs)


DENSE_TORCH = Translation(torch, function, TARGET.other)
