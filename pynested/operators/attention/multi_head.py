"""`multi_head_attention`: attention between projected rows, and checks of rows and parameters for layers."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.operands import as_operand
from pynested.autograd.arguments.scalars import value_text
from pynested.autograd.arguments.shapes import canonical_int
from pynested.autograd.call_errors import check_flags
from pynested.autograd.decorators import operator
from pynested.backends.errors import ArgumentError, ShapeError, StructureError
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import Dense, Operand, check_devices

from ..movement import chunk, flatten, transpose, unflatten
from ..products import linear
from ..reduction import mean
from .attention_operands import as_arrays
from .scaled_dot_product import attention_and_weights

NAME = "multi_head_attention"


@operator
def multi_head_attention(
    query: Operand,
    key: Operand,
    value: Operand,
    num_heads: int,
    in_proj_weight: Dense | None,
    in_proj_bias: Dense | None,
    out_proj_weight: Dense,
    out_proj_bias: Dense | None = None,
    attn_mask: Operand | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    need_weights: bool = False,
    average_attn_weights: bool = True,
    *,
    q_proj_weight: Dense | None = None,
    k_proj_weight: Dense | None = None,
    v_proj_weight: Dense | None = None,
    generator: np.random.Generator | None = None,
) -> Any:
    """Return attention between projected rows, split into several heads: ``3 x (B, *, E) -> (B, *, E)``.

    It is a composition of `linear`, `unflatten`, `transpose` and `scaled_dot_product_attention`.

    Parameters
    ----------
    query, key, value : NestedArray or Array
        Rows of E, K and V elements: nested ``(B, *, E)``, or dense ``(B, L, E)`` or ``(L, E)``. The queries of a
        component meet the keys of the same component; there can be more or fewer keys than queries.
    num_heads : int
        A divisor of E. Each head has ``E / num_heads`` elements of a projected row.
    in_proj_weight, in_proj_bias : Array or None
        ``(3 * E, E)`` and ``(3 * E,)``: the projections of queries, keys and values, one below the other.
    out_proj_weight, out_proj_bias : Array
        ``(E, E)`` and ``(E,)``: the projection of the heads of a row, side by side. The bias can be None.
    attn_mask, dropout_p, is_causal
        As in `scaled_dot_product_attention`: a mask of bools is true where a key takes part. (The mask of
        `torch.nn.MultiheadAttention` is false there.)
    need_weights, average_attn_weights : bool
        Return a pair: the result, and the weights. The weights are the mean of all heads, ``(B, *, *)``, or those of
        each head, ``(B, num_heads, *, *)``. All weights are then in memory at once.
    q_proj_weight, k_proj_weight, v_proj_weight : Array, optional
        ``(E, E)``, ``(E, K)`` and ``(E, V)``, instead of ``in_proj_weight``.
    generator
        As in `scaled_dot_product_attention`.

    Raises
    ------
    ArgumentError
        If ``num_heads`` does not divide E. If neither ``in_proj_weight`` nor all of the three other weights are given,
        and for ``in_proj_weight`` together with any of the three.
    ShapeError, StructureError
        For weights that do not fit E, for rows of irregular size, and as `scaled_dot_product_attention`.

    Notes
    -----
    A query that meets no key has weights of 0, and becomes ``out_proj_bias``. Gradients are those of the operators.

    Clauses: MULTI_HEAD_ATTENTION-1 to MULTI_HEAD_ATTENTION-9.
    After `torch.nn.functional.multi_head_attention_forward`, with the batch first.

    Examples
    --------
    >>> x = pn.nested_array([[[1.0, 0.0], [0.0, 1.0]], [[2.0, 3.0]]], layout=pn.jagged)
    >>> eye = np.eye(2)
    >>> same = np.concatenate([0 * eye, eye, eye])  # queries of zeros meet all keys alike
    >>> pn.multi_head_attention(x, x, x, 2, same, None, eye).unbind()
    (array([[0.5, 0.5],
           [0.5, 0.5]]), array([[2., 3.]]))
    >>> _, weights = pn.multi_head_attention(x, x, x, 2, same, None, eye, need_weights=True, is_causal=True)
    >>> weights.unbind()
    (array([[1. , 0. ],
           [0.5, 0.5]]), array([[1.]]))
    """
    check_flags(NAME, is_causal=is_causal, need_weights=need_weights, average_attn_weights=average_attn_weights)
    operands: list[Any] = checked_rows(NAME, query=query, key=key, value=value)
    num_heads, width = canonical_int(NAME, "num_heads", num_heads), row_width(operands[0])
    if num_heads < 1 or width % num_heads:
        raise ArgumentError(
            f"{NAME}: num_heads is {value_text(num_heads)}; it must divide the {width} elements of a row of query."
        )
    projections: tuple[Any, ...] = q_proj_weight, k_proj_weight, v_proj_weight
    if sum(weight is not None for weight in projections) != (3 if in_proj_weight is None else 0):
        raise ArgumentError(
            f"{NAME}: give either in_proj_weight, or all of q_proj_weight, k_proj_weight and v_proj_weight."
        )
    parameters = in_proj_weight, in_proj_bias, *projections, out_proj_weight, out_proj_bias
    check_devices(NAME, [*operands, attn_mask, *[as_operand(NAME, x) for x in parameters if x is not None]])
    for name, parameter, shape in (
        ("in_proj_weight", in_proj_weight, (3 * width, width)),
        ("in_proj_bias", in_proj_bias, (3 * width,)),
        ("out_proj_weight", out_proj_weight, (width, width)),
        ("out_proj_bias", out_proj_bias, (width,)),
    ):
        if parameter is not None or name == "out_proj_weight":
            check_shape(NAME, name, parameter, shape)
    # Three products, even if query, key and value are one array: one product would have to be cut, which copies it.
    projections = projections if in_proj_weight is None else chunk(as_operand(NAME, in_proj_weight), 3)
    biases: Any = (None,) * 3 if in_proj_bias is None else chunk(as_operand(NAME, in_proj_bias), 3)
    projected: list[Any] = []  # queries, keys and values of all heads, each (B, num_heads, *, E / num_heads)
    for name, x, weight, bias in zip("qkv", operands, projections, biases, strict=True):
        check_shape(NAME, f"{name}_proj_weight", weight, (width, row_width(x)))
        projected.append(transpose(unflatten(linear(x, weight, bias), -1, (num_heads, width // num_heads)), -3, -2))
    q, k, v = projected
    result_and_weights: Any = attention_and_weights(
        NAME, q, k, v, attn_mask, dropout_p, is_causal, generator=generator, need_weights=need_weights
    )
    head_results, attention_weights = result_and_weights
    result = linear(flatten(transpose(head_results, -3, -2), -2, -1), out_proj_weight, out_proj_bias)
    if not need_weights:
        return result
    return result, mean(attention_weights, -3) if average_attn_weights else attention_weights


def checked_rows(op: str, **operands: Any) -> list[NestedArray | Array]:
    """Return operands as arrays; raise unless each is nested, (B, *, E), or dense, (B, L, E) or (L, E)."""
    arrays = as_arrays(op, [*operands.values()])
    for name, x in zip(operands, arrays, strict=True):
        if type(x) is NestedArray:
            if x.ndim != 3 or x.regular_size(2) is None:
                raise StructureError(
                    f"{op}: {name} has the shape {x.shape}; it must be (B, *, E), with rows of one size."
                )
        elif type(x) is not Array or x.ndim not in (2, 3):
            raise ShapeError(f"{op}: {name} must be an array (B, L, E) or (L, E), not {value_text(x)}.")
    return arrays


def row_width(x: NestedArray | Array) -> int:
    """Return the number of elements of a row."""
    return x.regular_size(2) or 0 if isinstance(x, NestedArray) else x.shape[-1]


def check_shape(op: str, name: str, weight: Any, expected: tuple[int, ...]) -> None:
    """Raise unless a parameter has the expected shape."""
    shape = np.shape(weight)
    if shape != expected:
        raise ShapeError(f"{op}: {name} has the shape {shape}; with these rows it must be {expected}.")
