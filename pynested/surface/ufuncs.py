"""Which operator a ufunc of NumPy is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pynested.autograd.rules.functions import FUNCTIONS
from pynested.autograd.rules.pairs import PAIRS
from pynested.backends.errors import ArgumentError

_NAMES: dict[np.ufunc, str] = {
    np.add: "add", np.subtract: "sub", np.matmul: "matmul", np.negative: "neg", np.absolute: "abs", np.sign: "sgn",
    np.logical_not: "logical_not",
    **{entry.ufunc: name for name, entry in FUNCTIONS.items() if entry.ufunc is not None},
    **{entry.ufunc: name for name, entry in PAIRS.items()},
}  # fmt: skip
_OPTIONS = {
    "where": "pn.where(condition, result, x)", "out": "x.copy_(result), or x[...] = result", "dtype": "x.to(dtype)",
}  # fmt: skip
_OF_DENSE = "pn.array(np.{}(x.numpy()))"
_OF_NESTED = "pn.map_components(lambda component: pn.array(np.{}(component.numpy())), x)"


def ufuncs(operators: Mapping[str, Any]) -> dict[np.ufunc, Callable[..., Any]]:
    """The operators that NumPy calls by a ufunc, by that ufunc."""
    return {ufunc: operators[name] for ufunc, name in _NAMES.items()}


def refused_ufunc(ufunc: np.ufunc, method: str, options: dict[str, Any], nested: bool) -> ArgumentError:
    """The error for a ufunc that pynested has not, or for a way to call it that is NumPy's alone."""
    name = f"numpy.{ufunc.__name__}"
    if method != "__call__":
        return ArgumentError(f"{name}.{method}: only calls of ufuncs are taken. Use pn.sum, pn.mean or pn.amax.")
    if options:
        advice = "; ".join(f"instead of {one}= use {_OPTIONS.get(one, 'an operator of pynested')}" for one in options)
        return ArgumentError(f"{name}: the options {', '.join(options)} are not taken; {advice}.")
    instead = (_OF_NESTED if nested else _OF_DENSE).format(ufunc.__name__)
    return ArgumentError(
        f"{name}: pynested has no such function. Make it of operators of pynested, through which gradients flow, or "
        f"take NumPy's: {instead}."
    )


def as_scalars(inputs: tuple[Any, ...]) -> list[Any]:
    """``inputs`` as NumPy's scalars where NumPy made arrays without dimensions of them, as for ``np.int64(3) < x``.

    An array lies on the CPU, a scalar goes where the other operand is.
    """
    return [x[()] if type(x) is np.ndarray and not x.ndim else x for x in inputs]
