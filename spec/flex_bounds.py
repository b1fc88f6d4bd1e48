"""How far flex attention may be off: as attention is whose mask adds what the function adds to the scores.

That is all the functions of scores that cases with a bound name: those that add, or leave out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from . import attention_bounds
from .components import Components, each, matched, stacked
from .definitions.flex_attention import numbered
from .mods import added as added_by
from .numerics import NDArray

__all__ = ["added", "error", "gradient_added", "gradient_error", "gradient_lost", "lost"]

Arguments = Mapping[str, Any]


def _as_attention(arguments: Arguments) -> dict[str, Any]:
    """Return the arguments of `scaled_dot_product_attention` that say the same."""
    names = ("query", "key", "value", "scale", "enable_gqa")
    given = {name: arguments[name] for name in names if name in arguments}
    operands = [given[name] for name in names[:3]]
    components = numbered(*operands)
    if not isinstance(components[0], Components):
        return given | {"attn_mask": _mask(arguments, *components)}
    masks = [_mask(arguments, *parts) for parts in matched(*components)]
    rank = masks[0].ndim if masks else 2
    nested = Components(masks, (len(masks), *[None] * rank), float)
    return given | {"attn_mask": nested if any(isinstance(x, Components) for x in operands) else stacked(nested)}


def _mask(arguments: Arguments, b: Any, q: NDArray, k: NDArray, v: NDArray) -> NDArray:
    """Return what is added to the scores of one component."""
    if arguments.get("enable_gqa"):
        lead = *np.broadcast_shapes(q.shape[:-3], k.shape[:-3], v.shape[:-3]), q.shape[-3]
    else:
        lead = np.broadcast_shapes(q.shape[:-2], k.shape[:-2], v.shape[:-2])
    pairs = q.shape[-2], k.shape[-2]
    given = arguments.get("score_mod"), arguments.get("block_mask"), int(b)
    return np.array([added_by(*given, h, pairs) for h in range(math.prod(lead))]).reshape(*lead, *pairs)


def _of_results(function: Callable[..., Any]) -> Callable[..., Any]:
    def of_call(define: Any, arguments: Arguments, result: Any = None) -> Any:
        made = define(**arguments) if result is None else result
        return function(define, _as_attention(arguments), made)

    return of_call


def _of_gradients(function: Callable[..., Any]) -> Callable[..., dict[str, Any]]:
    def of_call(arguments: Arguments, cotangent: Any) -> dict[str, Any]:
        found = function(_as_attention(arguments), cotangent)
        return {name: found[name] for name in ("query", "key", "value")}

    return of_call


error = _of_results(attention_bounds.error)
lost = _of_results(attention_bounds.lost)
gradient_error = _of_gradients(attention_bounds.gradient_error)
gradient_lost = _of_gradients(attention_bounds.gradient_lost)


def added(define: Any, arguments: Arguments, result: Any = None) -> Any:
    """What `scaled_dot_product_attention` adds up, and the scores that the function leaves out, for it sees them."""
    of_call = _of_results(attention_bounds.added)
    return each(np.add, *[of_call(define, one, result) for one in _with_all_scores(arguments)])


def gradient_added(arguments: Arguments, cotangent: Any) -> dict[str, Any]:
    """The same of the gradients."""
    of_call = _of_gradients(attention_bounds.gradient_added)
    found = [of_call(one, cotangent) for one in _with_all_scores(arguments)]
    return {name: each(np.add, *[one[name] for one in found]) for name in found[0]}


def _with_all_scores(arguments: Arguments) -> list[Arguments]:
    """The arguments, and those without a function of scores."""
    return [arguments, {**arguments, "score_mod": None}]
