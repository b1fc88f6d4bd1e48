"""NumPy's functions and ufuncs for arrays of pynested: the operator that computes each function.

If a function of NumPy has no such operator, NumPy's implementation gets the dense arrays, whose methods it may call. A
nested array raises ArgumentError: NumPy would convert it to one dense array, which is possible only if all lengths are
equal. A call with a parameter that the operator lacks is treated in the same way.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from pynested import operators as ops
from pynested.autograd import Array
from pynested.backends.errors import ArgumentError
from pynested.construct import like
from pynested.nested.nested_array import NestedArray


def _clip(a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    if (a_min is not None and min is not None) or (a_max is not None and max is not None):
        raise ArgumentError("numpy.clip: a bound is given twice; a_min and min are the same, and so are a_max and max.")
    return ops.clamp(a, a_min if min is None else min, a_max if max is None else max)


def _reduction(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, axis=None, *, keepdims=False: function(a, axis, keepdims)


def _reduction_with_dtype(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, axis=None, dtype=None, *, keepdims=False: function(a, axis, keepdims, dtype=dtype)


def _reduction_with_ddof(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, axis=None, *, ddof=0, keepdims=False, correction=0: function(
        a, axis, keepdims, correction=correction or ddof
    )


# Each entry has the parameters of NumPy's function that pynested supports.
_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.sum: _reduction_with_dtype(ops.sum),
    np.nansum: _reduction_with_dtype(ops.nansum),
    np.mean: _reduction_with_dtype(ops.mean),
    np.nanmean: _reduction_with_dtype(ops.nanmean),
    np.prod: _reduction_with_dtype(ops.prod),
    np.var: _reduction_with_ddof(ops.var),
    np.std: _reduction_with_ddof(ops.std),
    np.max: _reduction(ops.amax),
    np.amax: _reduction(ops.amax),
    np.min: _reduction(ops.amin),
    np.amin: _reduction(ops.amin),
    np.any: _reduction(ops.any),
    np.all: _reduction(ops.all),
    np.argmax: _reduction(ops.argmax),
    np.argmin: _reduction(ops.argmin),
    np.cumsum: lambda a, axis, dtype=None: ops.cumsum(a, axis, dtype=dtype),
    np.round: lambda a: ops.round(a),
    np.around: lambda a: ops.round(a),
    np.clip: _clip,
    np.concatenate: lambda arrays, /, axis=0: ops.cat(arrays, axis),
    np.stack: lambda arrays, axis=0: ops.stack(arrays, axis),
    np.where: lambda condition, x, y, /: ops.where(condition, x, y),
    np.array_equal: lambda a1, a2: ops.equal(a1, a2),
    np.allclose: lambda a, b, rtol=1e-5, atol=1e-8, equal_nan=False: ops.allclose(a, b, rtol, atol, equal_nan),
    np.squeeze: lambda a, axis=None: ops.squeeze(a) if axis is None else ops.squeeze(a, axis),
    np.copy: lambda a: ops.clone(a),
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.size: lambda a, axis=None: a.numel() if axis is None else a.size(axis),
    np.zeros_like: lambda a, dtype=None: like.zeros_like(a, dtype=dtype),
    np.ones_like: lambda a, dtype=None: like.ones_like(a, dtype=dtype),
    np.full_like: lambda a, fill_value, dtype=None: like.full_like(a, fill_value, dtype=dtype),
}
_REPLACEMENTS = {
    np.dot: "pn.matmul(a, b)", np.vstack: "pn.cat([a, b], 0)", np.hstack: "pn.cat([a, b], 1)",
    np.expand_dims: "pn.unsqueeze(x, dim)", np.reshape: "pn.reshape(x, shape)",
    np.transpose: "pn.permute(x, dims)", np.swapaxes: "pn.transpose(x, dim0, dim1)",
    np.split: "pn.split(x, sizes, dim)", np.array_split: "pn.chunk(x, chunks, dim)",
    np.ravel: "pn.flatten(x, 1), or nt.values()",
}  # fmt: skip
_SIGNATURES = {function: inspect.signature(adapter) for function, adapter in _FUNCTIONS.items()}
_DENSE_TYPES = {Array, np.ndarray}


def call_function(function: Any, types: Any, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Compute NumPy's ``function``; ``types`` are the classes of the arrays among the inputs."""
    if NestedArray not in types and not {*types} <= _DENSE_TYPES:
        return NotImplemented  # the other class computes the function
    options = {name: option for name, option in options.items() if name != "out" or option is not None}
    problem = _call_problem(function, inputs, options)
    if not problem:
        return _FUNCTIONS[function](*inputs, **options)
    if NestedArray in types:
        raise ArgumentError(f"numpy.{function.__name__}: {problem}")
    return function._implementation(*inputs, **options)


def _call_problem(function: Any, inputs: tuple[Any, ...], options: dict[str, Any]) -> str:
    """Return the reason why pynested does not compute this call; "" if it does."""
    signature = _SIGNATURES.get(function)
    if signature is None:
        replacement = _REPLACEMENTS.get(
            function, "pn.map_components(function, nt), nt.values(), or pn.to_padded_array(nt, padding)"
        )
        return f"NumPy's function does not take nested arrays. Use {replacement}."
    try:
        signature.bind(*inputs, **options)
    except TypeError as error:
        return f"for nested arrays its parameters are {', '.join(signature.parameters)}; {error}."
    return ""


# Operators of the same name as a ufunc, then operators of another name. `pn.equal` compares whole arrays.
OPERATOR_NAMES: dict[np.ufunc, str] = {
    **{getattr(np, name): name for name in ops.__all__ if isinstance(getattr(np, name, None), np.ufunc)},
    np.subtract: "sub", np.multiply: "mul", np.divide: "div", np.negative: "neg", np.sign: "sgn",
    np.equal: "eq", np.not_equal: "ne", np.less: "lt", np.less_equal: "le", np.greater: "gt", np.greater_equal: "ge",
}  # fmt: skip
_OPTION_REPLACEMENTS = {
    "where": "pn.where(condition, result, x)", "out": "x.copy_(result), or x[...] = result", "dtype": "x.to(dtype)",
}  # fmt: skip


def call_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Compute a ufunc of NumPy; at least one of the inputs is an array of pynested."""
    name = OPERATOR_NAMES.get(ufunc)
    if name is None or method != "__call__" or options:
        raise _unsupported_ufunc_error(ufunc, method, options, any(type(x) is NestedArray for x in inputs))
    # NumPy turns a scalar, as in np.int64(3) < x, into an array without dimensions, which would lie on the CPU. As a
    # scalar again, it fits operands on every device.
    operands = [x[()] if type(x) is np.ndarray and not x.ndim else x for x in inputs]
    return getattr(ops, name)(*operands)


def _unsupported_ufunc_error(ufunc: np.ufunc, method: str, options: dict[str, Any], is_nested: bool) -> ArgumentError:
    """Return the error for a ufunc, a method of a ufunc, or an option that pynested does not support."""
    name = f"numpy.{ufunc.__name__}"
    if method != "__call__":
        return ArgumentError(f"{name}.{method}: only calls of ufuncs are supported. Use pn.sum, pn.mean or pn.amax.")
    if options:
        advice = "; ".join(
            f"instead of {option}= use {_OPTION_REPLACEMENTS.get(option, 'an operator of pynested')}"
            for option in options
        )
        return ArgumentError(f"{name}: the options {', '.join(options)} are not supported; {advice}.")
    operands = ", ".join("xy"[: ufunc.nin])
    values = ", ".join(f"np.asarray({operand})" for operand in "xy"[: ufunc.nin])
    numpy_call = f"pn.array(np.{ufunc.__name__}({values}))"
    if is_nested:
        numpy_call = f"pn.map_components(lambda {operands}: {numpy_call}, {operands})"
    return ArgumentError(
        f"{name}: pynested has no such function. Compute it with operators of pynested, through which gradients flow, "
        f"or with NumPy: {numpy_call}."
    )
