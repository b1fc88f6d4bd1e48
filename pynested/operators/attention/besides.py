"""What `flex_attention` gives besides its result: asked for, and found."""

from __future__ import annotations

from typing import Any, NamedTuple


class AuxRequest(NamedTuple):
    """What `flex_attention` is to return besides its result.

    Attributes
    ----------
    lse : bool
        For each query the logarithm of the sum of the exponentials of its scores.
    max_scores : bool
        For each query the greatest of its scores.

    Notes
    -----
    After `torch.nn.attention.flex_attention.AuxRequest`.

    Examples
    --------
    >>> x = pn.nested_array([[[[1.0], [2.0]]], [[[3.0]]]], layout=pn.jagged)
    >>> out, found = pn.flex_attention(x, x, x, return_aux=pn.AuxRequest(max_scores=True))
    >>> found.lse is None, found.max_scores.tolist()
    (True, [[[2.0, 4.0]], [[9.0]]])
    """

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """What `flex_attention` found besides its result: None for what was not asked for.

    Attributes
    ----------
    lse : NestedArray, Array or None
        The logarithms of the sums of exponentials of scores, ``(B, H, *)``; -inf for a query that meets no key.
    max_scores : NestedArray, Array or None
        The greatest scores, ``(B, H, *)``; -inf for a query that meets no key. No gradient flows through them.

    Notes
    -----
    After `torch.nn.attention.flex_attention.AuxOutput`.

    Examples
    --------
    >>> x = pn.array([[[[0.0], [0.0]]]])
    >>> causal = pn.create_block_mask(lambda b, h, i, j: i > j, None, None, 2, 2)
    >>> out, found = pn.flex_attention(x, x, x, block_mask=causal, return_aux=pn.AuxRequest(True, True))
    >>> found
    AuxOutput(lse=array([[[-inf,   0.]]]), max_scores=array([[[-inf,   0.]]]))
    """

    lse: Any = None
    max_scores: Any = None
