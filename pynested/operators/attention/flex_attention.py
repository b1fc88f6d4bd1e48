"""`flex_attention`: attention whose scores a function changes, and whose pairs a block mask leaves out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, NamedTuple, overload

from pynested.autograd import Array
from pynested.autograd.arguments.scalars import value_text
from pynested.autograd.call_errors import check_flags
from pynested.autograd.decorators import operator
from pynested.autograd.primitives import attention as attention_primitives
from pynested.backends.errors import ArgumentError
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import Dense, Operand

from ..block_masks.active_pairs import check_operands, dense_masks
from ..block_masks.block_mask import BlockMask
from ..block_masks.mask_functions import SCORE_PARAMETERS, ScoreMod, check_mod
from .flex_strips import NAME, FlexCall
from .head_alignment import align_heads


class AuxRequest(NamedTuple):
    """The choice of results that `flex_attention` returns beside its output, in an `AuxOutput`.

    After `torch.nn.attention.flex_attention.AuxRequest`.

    Examples
    --------
    >>> x = pn.nested_array([[[[1.0], [2.0]]], [[[3.0]]]], layout=pn.jagged)
    >>> out, aux = pn.flex_attention(x, x, x, return_aux=pn.AuxRequest(max_scores=True))
    >>> aux.lse is None, aux.max_scores.tolist()
    (True, [[[2.0, 4.0]], [[9.0]]])
    """

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """Results of `flex_attention` beside its output: None for each that was not requested.

    After `torch.nn.attention.flex_attention.AuxOutput`.

    Attributes
    ----------
    lse : NestedArray, Array or None
        The logarithms of the sums of exponentials of scores, ``(B, H, *)``; -inf for a query that meets no key.
    max_scores : NestedArray, Array or None
        The greatest scores, ``(B, H, *)``; -inf for a query that meets no key. No gradient flows through them.

    Examples
    --------
    >>> x = pn.array([[[[0.0], [0.0]]]])
    >>> causal = pn.create_block_mask(lambda b, h, i, j: i > j, None, None, 2, 2)
    >>> out, aux = pn.flex_attention(x, x, x, block_mask=causal, return_aux=pn.AuxRequest(True, True))
    >>> aux
    AuxOutput(lse=array([[[-inf,   0.]]]), max_scores=array([[[-inf,   0.]]]))
    """

    lse: Any = None
    max_scores: Any = None


@overload
def flex_attention(
    query: Dense, key: Dense, value: Dense, score_mod: ScoreMod | None = None,
    block_mask: BlockMask | None = None, scale: float | None = None, enable_gqa: bool = False,
    return_lse: Literal[False] = False, *, return_aux: None = None,
) -> Array: ...  # fmt: skip
@overload
def flex_attention(
    query: NestedArray, key: Operand, value: Operand, score_mod: ScoreMod | None = None,
    block_mask: BlockMask | None = None, scale: float | None = None, enable_gqa: bool = False,
    return_lse: Literal[False] = False, *, return_aux: None = None,
) -> NestedArray: ...  # fmt: skip
@overload
def flex_attention(
    query: Operand, key: Operand, value: Operand, score_mod: ScoreMod | None = None,
    block_mask: BlockMask | None = None, scale: float | None = None, enable_gqa: bool = False,
    return_lse: Literal[False] = False, *, return_aux: AuxRequest,
) -> tuple[Any, AuxOutput]: ...  # fmt: skip
@overload
def flex_attention(
    query: Operand, key: Operand, value: Operand, score_mod: ScoreMod | None = None,
    block_mask: BlockMask | None = None, scale: float | None = None, enable_gqa: bool = False,
    return_lse: bool = False, *, return_aux: None = None,
) -> Any: ...  # fmt: skip
@operator
def flex_attention(
    query: Operand,
    key: Operand,
    value: Operand,
    score_mod: ScoreMod | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    *,
    return_aux: AuxRequest | None = None,
) -> Any:
    """`scaled_dot_product_attention` with scores that a function changes: ``3 x (B, H, *, E) -> (B, H, *, E)``.

    Parameters
    ----------
    query, key, value : NestedArray or Array
        As in `scaled_dot_product_attention`. The first of four or more dimensions of dense operands is the batch.
    score_mod : callable, optional
        ``score_mod(score, b, h, q_idx, kv_idx)`` is called on a block of scores (heads, queries, keys), and returns an
        array of their shape and dtype, made of pynested's operators. The indices are int64 and broadcast against the
        scores. ``b`` is the index of the component, and ``q_idx`` and ``kv_idx`` count within it. ``h`` is the index of
        the head; if components have the shape ``(H1, H2, *, E)``, it is that of (H1, H2) in C order.
    block_mask : BlockMask, optional
        The active pairs, by `create_nested_block_mask` or `create_block_mask`. Its function is called again. Without
        ``score_mod`` and results beside the output, the masks of all components are in memory, one bool for each pair.
        Otherwise some queries are computed at a time, with the keys from the first to the last block that is not empty
        for any of them.
    scale, enable_gqa
        As in `scaled_dot_product_attention`. The function sees scores that are scaled.
    return_lse : bool
        Return a pair: the output, and the logarithms of the sums of the exponentials of the scores, ``(B, H, *)``.
    return_aux : AuxRequest, optional
        Return a pair: the output, and an `AuxOutput` with the requested results.

    Raises
    ------
    StructureError, ShapeError
        For operands that do not fit each other, a block mask made for other operands, and scores of another shape.
    DTypeError, DeviceError
        For bools and integers, and for a function that returns another dtype, or an array on another device.
    ArgumentError
        For a ``score_mod`` that is not a function or returns no array, a ``block_mask`` or a ``return_aux`` of another
        class, a ``scale`` that is not finite, or both ``return_aux`` and ``return_lse``.

    Notes
    -----
    A pair takes no part if the function makes its score -inf, or if the mask leaves it out: its key and value reach
    neither the result nor the gradient. The result of a query that meets no key is +0; its log-sum and its greatest
    score are -inf. Scores, log-sums and greatest scores of half precision are float32. Log-sums are differentiable.

    The function is called on every block that is computed, and again in the backward pass, where it must return the
    same. Gradients of every order flow to all arrays that it uses. Each score must not depend on other scores, since
    the sizes of the blocks may change. The function can index arrays by its indices: ``bias[h]``,
    ``table[q_idx - kv_idx + n]``, ``pairs[b, h, q_idx, kv_idx]``, and a nested array: ``documents[b, q_idx]``. Write
    all indices in one pair of brackets: ``pairs[b][h]`` indexes the first dimension twice.

    Clauses: FLEX_ATTENTION-1 to FLEX_ATTENTION-19. After `torch.nn.attention.flex_attention.flex_attention`.

    Examples
    --------
    Each query sees itself and the key before it; the score decreases with the distance:

    >>> x = pn.nested_array([np.zeros((1, 3, 2)), np.zeros((1, 1, 2))], layout=pn.jagged)
    >>> v = pn.nested_array([[[[0.0], [1.0], [2.0]]], [[[3.0]]]], layout=pn.jagged)
    >>> near = pn.create_nested_block_mask(lambda b, h, i, j: (i >= j) & (i - j < 2), x)
    >>> slope = pn.array([np.log(3.0)], requires_grad=True)
    >>> out = pn.flex_attention(x, x, v, lambda score, b, h, i, j: score - slope[h] * (i - j), near)
    >>> [one.tolist() for one in out.unbind()]
    [[[[0.0], [0.75], [1.75]]], [[[3.0]]]]
    >>> out.sum().backward()
    >>> slope.grad
    array([0.375])
    """
    check_flags(NAME, enable_gqa=enable_gqa, return_lse=return_lse)
    if score_mod is not None:
        check_mod(NAME, "score_mod", score_mod, SCORE_PARAMETERS)
    if block_mask is not None and not isinstance(block_mask, BlockMask):
        raise ArgumentError(
            f"{NAME}: block_mask must be a BlockMask, not {value_text(block_mask)}. Make one of a function: "
            "pn.create_nested_block_mask(mask_mod, query, key), or pn.create_block_mask for dense operands."
        )
    request = _checked_request(return_lse, return_aux)
    aligned = align_heads(NAME, query, key, value, scale=scale, enable_gqa=enable_gqa)
    (q, k, v, _), layout = aligned.buffers, aligned.layout
    if block_mask is not None:
        check_operands(NAME, block_mask, layout, aligned.is_nested)
    if score_mod is None and not any(request):
        mask_buffer = None
        if block_mask is not None:
            raw_mask, mask_places = dense_masks(NAME, block_mask, layout, q.device)
            mask_buffer, layout = Array(raw_mask, q.device), replace(layout, mask_places=mask_places)
        output, aux = attention_primitives.attention_by_kernel(q, k, v, mask_buffer, layout), AuxOutput()
    else:
        output, *aux_buffers = FlexCall(score_mod, block_mask, *request).attend(q, k, v, layout)
        aux = AuxOutput(*[None if buffer is None else aligned.wrap_query_numbers(buffer) for buffer in aux_buffers])
    result = aligned.wrap_result(output)
    return (result, aux) if return_aux is not None else (result, aux.lse) if return_lse else result


def _checked_request(return_lse: bool, return_aux: Any) -> AuxRequest:
    """Return what a call requests beside its output."""
    if return_aux is None:
        return AuxRequest(lse=return_lse)
    if not isinstance(return_aux, AuxRequest):
        raise ArgumentError(
            f"{NAME}: return_aux must be an AuxRequest, not {value_text(return_aux)}. Make one: "
            "pn.AuxRequest(lse=True, max_scores=True)."
        )
    check_flags(NAME, **{f"return_aux.{name}": flag for name, flag in return_aux._asdict().items()})
    if return_lse:
        raise ArgumentError(
            f"{NAME}: return_lse=True returns a pair with the log-sums, and return_aux one with an AuxOutput; give one "
            "of them, such as return_aux=pn.AuxRequest(lse=True)."
        )
    return return_aux
