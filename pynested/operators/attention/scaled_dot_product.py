"""`scaled_dot_product_attention`, and the function that it shares with `multi_head_attention`."""

from __future__ import annotations

from functools import partial
from typing import Any, overload

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.scalars import canonical_real
from pynested.autograd.call_errors import check_flags
from pynested.autograd.decorators import operator
from pynested.autograd.primitives import attention as attention_primitives
from pynested.autograd.random import canonical_generator
from pynested.backends.errors import ArgumentError
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import Dense, Operand

from ..normalization import dropout
from .head_alignment import align_heads

NAME = "scaled_dot_product_attention"


@overload
def scaled_dot_product_attention(
    query: Dense, key: Dense, value: Dense, attn_mask: Dense | None = None, dropout_p: float = 0.0,
    is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False, *,
    generator: np.random.Generator | None = None,
) -> Array: ...  # fmt: skip
@overload
def scaled_dot_product_attention(
    query: NestedArray, key: Operand, value: Operand, attn_mask: Operand | None = None, dropout_p: float = 0.0,
    is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False, *,
    generator: np.random.Generator | None = None,
) -> NestedArray: ...  # fmt: skip
@overload
def scaled_dot_product_attention(
    query: Operand, key: Operand, value: Operand, attn_mask: Operand | None = None, dropout_p: float = 0.0,
    is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False, *,
    generator: np.random.Generator | None = None,
) -> NestedArray | Array: ...  # fmt: skip
@operator
def scaled_dot_product_attention(
    query: Operand,
    key: Operand,
    value: Operand,
    attn_mask: Operand | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    *,
    generator: np.random.Generator | None = None,
) -> NestedArray | Array:
    """``softmax(scale * query @ key.T + attn_mask) @ value``: ``(B, H, *, E), 2 x (B, H, *, E) -> (B, H, *, E)``.

    Parameters
    ----------
    query, key, value : NestedArray or Array
        Components are matrices: queries (L, E), keys (S, E) and values (S, V). They make a result (L, V). Components
        can have other dimensions before these two. There the sizes of the operands must be equal; a regular size of 1
        broadcasts. The lengths of queries and keys may differ. A dense operand with as many dimensions as the nested
        ones has a slice for each component. A dense operand with fewer dimensions is the same for all components.
    attn_mask : NestedArray or Array, optional
        Bools, true where a key takes part, or floats, which are added to the scores; -inf leaves a key out as False
        does. The mask broadcasts against the scores ``(B, H, L, S)``. A nested mask has the same number of dimensions
        as the scores. The dimensions of a dense mask are aligned with the last ones of the scores.
    dropout_p : float
        Each weight is multiplied by 0 with this probability, and divided by ``1 - dropout_p`` otherwise.
    is_causal : bool
        Query ``i`` of a component meets its keys ``0`` to ``i``. There can be more or fewer keys than queries.
    scale : float, optional
        Any finite number; by default ``1 / sqrt(E)``.
    enable_gqa : bool
        ``query`` can have ``g`` times as many heads as ``key`` and ``value``, in the dimension before the matrices.
        Head ``h`` of the queries meets head ``h // g`` of the keys.
    generator : numpy.random.Generator, optional
        The source of the random numbers that drop weights; by default the generator of `manual_seed`.

    Raises
    ------
    StructureError, ShapeError
        For operands or a mask that do not fit each other; the message names the component and both sizes. For
        components with fewer than two dimensions, and for rows of several sizes. ShapeError if a dense operand does not
        fit.
    ArgumentError
        For a mask together with ``is_causal``, a ``scale`` that is not finite, and a ``dropout_p`` outside 0..1.
    DTypeError
        For bools and integers, and a mask of integers.

    Notes
    -----
    A query without keys, or whose keys are all left out, becomes +0, and passes no gradient. A key that is left out has
    no effect, even if it holds NaN or infinities. With E = 0 all scores are 0. The result has the promoted dtype;
    float16 is computed in float32 and rounded once. The result is jagged if all nested operands are jagged, and exactly
    one of its dimensions is ragged in an operand. It is dense if no operand is nested, and strided otherwise.

    Only the scores of one block of queries and keys are in memory at a time; the gradient computes them again. All
    scores are in memory at once if ``dropout_p`` is above 0, and in derivatives of the gradient.

    Clauses: SCALED_DOT_PRODUCT_ATTENTION-1 to SCALED_DOT_PRODUCT_ATTENTION-22.
    After `torch.nn.functional.scaled_dot_product_attention`.

    Examples
    --------
    >>> q = pn.nested_array([[[0.0], [0.0]], [[0.0]]], layout=pn.jagged)
    >>> v = pn.nested_array([[[1.0], [3.0]], [[5.0]]], layout=pn.jagged)
    >>> pn.scaled_dot_product_attention(q, q, v).unbind()
    (array([[2.],
           [2.]]), array([[5.]]))
    >>> pn.scaled_dot_product_attention(q, q, v, is_causal=True).unbind()
    (array([[1.],
           [2.]]), array([[5.]]))
    """
    check_flags(NAME, is_causal=is_causal, enable_gqa=enable_gqa)
    options = is_causal, scale, enable_gqa, generator
    return attention_and_weights(NAME, query, key, value, attn_mask, dropout_p, *options)[0]


def attention_and_weights(
    op: str, query: Any, key: Any, value: Any, mask: Any, dropout_p: float, is_causal: bool, scale: float | None = None,
    enable_gqa: bool = False, generator: np.random.Generator | None = None, need_weights: bool = False,
) -> tuple[NestedArray | Array, Any]:  # fmt: skip
    """Return the result, and the weights of all heads after dropout if they are needed, otherwise None."""
    dropout_p = canonical_real(op, "dropout_p", dropout_p, 0, 1)
    canonical_generator(op, generator)
    if mask is not None and is_causal:
        raise ArgumentError(f"{op}: is_causal=True is a mask, and attn_mask another one; give one of them.")
    aligned = align_heads(op, query, key, value, mask, is_causal=is_causal, scale=scale, enable_gqa=enable_gqa)
    buffers, layout = aligned.buffers, aligned.layout
    if not dropout_p and not need_weights:
        return aligned.wrap_result(attention_primitives.attention_by_kernel(*buffers, layout)), None
    drop = partial(dropout, p=dropout_p, generator=generator) if dropout_p else None
    result, weights = attention_primitives.attention_by_formula(*buffers, layout, drop, need_weights)
    return aligned.wrap_result(result), aligned.wrap_scores(weights) if need_weights else None
