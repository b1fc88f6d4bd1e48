"""How far flex attention may be off: as attention is whose mask adds what the function adds to the scores.

That is all the functions of scores that cases with a bound name: those that add, or leave out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from . import attention_bounds
from .components import Components, matched
from .mods import added as added_by

__all__ = ["added", "error", "gradient_added", "gradient_error", "gradient_lost", "lost"]

Arguments = Mapping[str, Any]


def _as_attention(arguments: Arguments) -> dict[str, Any]:
    """Return the arguments of `scaled_dot_product_attention` that say the same."""
    names = ("query", "key", "value", "scale", "enable_gqa")
    given = {name: arguments[name] for name in names if name in arguments}
    score, mask = arguments.get("score_mod"), arguments.get("block_mask")
    masks = []
    for b, (queries, keys) in enumerate(matched(given["query"], given["key"])):
        lead = queries.shape[:-2]
        heads = [added_by(score, mask, b, h, (queries.shape[-2], keys.shape[-2])) for h in range(math.prod(lead))]
        masks.append(np.array(heads).reshape(*lead, queries.shape[-2], keys.shape[-2]))
    return given | {"attn_mask": Components(masks, (len(masks), *given["query"].shape[1:-2], None, None), float)}


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
added = _of_results(attention_bounds.added)
gradient_error = _of_gradients(attention_bounds.gradient_error)
gradient_lost = _of_gradients(attention_bounds.gradient_lost)
gradient_added = _of_gradients(attention_bounds.gradient_added)
