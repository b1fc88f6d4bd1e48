"""`multi_head_attention`: attention between projected rows, the layer that transformers are made of."""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.operands import as_operand, device_of
from pynested.autograd.arguments.scalars import number_text
from pynested.autograd.arguments.shapes import canonical_int
from pynested.autograd.call_errors import check_flags
from pynested.autograd.dispatch import operator
from pynested.backends.errors import ArgumentError
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import Dense, Operand, check_devices

from ..movement import chunk, flatten, transpose, unflatten
from ..products import linear
from ..reduction import mean
from .attention_operands import check_shape, checked_rows, row_width
from .scaled_dot_product import SdpaOptions, sdpa

NAME = "multi_head_attention"


@overload
def multi_head_attention(
    query: Operand, key: Operand, value: Operand, num_heads: int, in_proj_weight: Dense | None,
    in_proj_bias: Dense | None, out_proj_weight: Dense, out_proj_bias: Dense | None = None,
    attn_mask: Operand | None = None, dropout_p: float = 0.0, is_causal: bool = False,
    need_weights: Literal[False] = False, average_attn_weights: bool = True, *, q_proj_weight: Dense | None = None,
    k_proj_weight: Dense | None = None, v_proj_weight: Dense | None = None,
    generator: np.random.Generator | None = None,
) -> NestedArray | Array: ...  # fmt: skip
@overload
def multi_head_attention(
    query: Operand, key: Operand, value: Operand, num_heads: int, in_proj_weight: Dense | None,
    in_proj_bias: Dense | None, out_proj_weight: Dense, out_proj_bias: Dense | None = None,
    attn_mask: Operand | None = None, dropout_p: float = 0.0, is_causal: bool = False,
    need_weights: bool = False, average_attn_weights: bool = True, *, q_proj_weight: Dense | None = None,
    k_proj_weight: Dense | None = None, v_proj_weight: Dense | None = None,
    generator: np.random.Generator | None = None,
) -> Any: ...  # fmt: skip
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
    """Attention between projected rows, in several heads side by side: ``3 x (B, *, E) -> (B, *, E)``.

    It is a composition of `linear`, `unflatten`, `transpose` and `scaled_dot_product_attention`.

    Parameters
    ----------
    query, key, value : NestedArray or Array
        Rows of E, K and V numbers: nested ``(B, *, E)``, or dense ``(B, L, E)`` or ``(L, E)``. Each component's queries
        meet its own keys, of which there may be more or fewer.
    num_heads : int
        It divides E: each head has ``E / num_heads`` of the numbers that a projection makes.
    in_proj_weight, in_proj_bias : Array or None
        ``(3 * E, E)`` and ``(3 * E,)``: the projections of queries, keys and values below each other.
    out_proj_weight, out_proj_bias : Array
        ``(E, E)`` and ``(E,)``, or None for no bias: what heads are put together with.
    attn_mask, dropout_p, is_causal
        As in `scaled_dot_product_attention`: a mask of bools is true where a key takes part. (That of
        `torch.nn.MultiheadAttention` is true where it does not.)
    need_weights, average_attn_weights : bool
        Return the weights too: ``(B, *, *)``, the mean of all heads, or ``(B, num_heads, *, *)``. All of them are there
        at once then.
    q_proj_weight, k_proj_weight, v_proj_weight : Array, optional
        ``(E, E)``, ``(E, K)`` and ``(E, V)``, instead of ``in_proj_weight``.
    generator : numpy.random.Generator, optional
        Which weights are dropped follows from its state; by default the one of `manual_seed`.

    Raises
    ------
    ArgumentError
        For ``num_heads`` that do not divide E, and other than either ``in_proj_weight`` or the three apart.
    ShapeError
        For weights that do not fit E.
    StructureError
        For rows whose size is irregular, and whatever `scaled_dot_product_attention` refuses.

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
    rows = checked_rows(NAME, query=query, key=key, value=value)
    heads, width = canonical_int(NAME, "num_heads", num_heads), row_width(rows[0])
    if heads < 1 or width % heads:
        raise ArgumentError(
            f"{NAME}: num_heads is {number_text(heads)}; it must divide the {width} elements of a row of query."
        )
    apart = q_proj_weight, k_proj_weight, v_proj_weight
    weights = in_proj_weight, in_proj_bias, *apart, out_proj_weight, out_proj_bias
    check_devices(NAME, [*rows, attn_mask, *(_as_dense(x) for x in weights if x is not None)])
    check_shape(NAME, "out_proj_weight", out_proj_weight, (width, width))
    projected = _project(rows, in_proj_weight, apart, in_proj_bias, width)
    q, k, v = (transpose(unflatten(x, -1, (heads, width // heads)), -3, -2) for x in projected)
    options = SdpaOptions(dropout_p, is_causal, generator=generator)
    attended, attention_weights = sdpa(q, k, v, attn_mask, options, need_weights)
    result = linear(flatten(transpose(attended, -3, -2), -2, -1), out_proj_weight, out_proj_bias)
    if not need_weights:
        return result
    return result, mean(attention_weights, -3) if average_attn_weights else attention_weights


def _project(rows: list[Any], packed: Any, apart: tuple[Any, Any, Any], bias: Any, width: int) -> list[Any]:
    """Return queries, keys and values, all heads of a row side by side.

    ``packed`` has the weights of all three, one below the other; otherwise they are ``apart``.
    """
    if sum(weight is not None for weight in apart) != (3 if packed is None else 0):
        raise ArgumentError(
            f"{NAME}: give either in_proj_weight, or all of q_proj_weight, k_proj_weight and v_proj_weight."
        )
    if bias is not None:
        check_shape(NAME, "in_proj_bias", bias, (3 * width,))
    if packed is not None:
        check_shape(NAME, "in_proj_weight", packed, (3 * width, width))
        # Three products, also of the same rows: parts of one product would be copied, and their gradients added.
        apart = chunk(_as_dense(packed), 3)
    biases = (None,) * 3 if bias is None else chunk(_as_dense(bias), 3)
    for name, x, weight in zip("qkv", rows, apart, strict=True):
        check_shape(NAME, f"{name}_proj_weight", weight, (width, row_width(x)))
    return [linear(x, weight, shift) for x, weight, shift in zip(rows, apart, biases, strict=True)]


def _as_dense(x: Any) -> Any:
    return as_operand(NAME, x, device_of(x))
