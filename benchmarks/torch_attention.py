"""Attention and two layers of a transformer in PyTorch: nested jagged, padded with a mask, component by component.

Its flex attention takes padded operands alone, has no gradient on the CPU, and is compiled where a C++ compiler is at
hand: without one it takes several times as long.
"""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.nn import functional
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

warnings.filterwarnings("ignore", message=".*nested tensors is in prototype stage.*")

Calls = dict[str, Callable[[], Any]]
Attend = Callable[[Any, Any, Any, bool], Any]


def calls(parts: list[Any], attend: Attend, layers: list[dict[str, Any]], heads: int, backward: bool) -> Calls:
    """Return the calls on queries, keys and values (B, *, W), or lists of them; the first goes through the layers."""
    sets = [list(one) for one in zip(*parts, strict=True)] if isinstance(parts[0], list) else [parts]
    split = [[_heads(x, heads).requires_grad_() for x in one] for one in sets]
    weights = [{name: torch.tensor(one, requires_grad=True) for name, one in layer.items()} for layer in layers]
    rows = [one[0].detach().requires_grad_() for one in sets]
    every = [*rows, *(one for layer in weights for one in layer.values())]

    def attention(causal: bool) -> list[Any]:
        return [attend(*one, causal) for one in split]

    def two_layers() -> list[Any]:
        found = rows
        for p in weights:
            found = [_layer(x, p, heads, attend) for x in found]
        return found

    made = {
        "attention": _pulled(lambda: attention(False), [x for one in split for x in one], backward),
        "causal attention": _pulled(lambda: attention(True), [x for one in split for x in one], backward),
        "two layers": _pulled(two_layers, every, backward),
    }
    return {name: call for name, call in made.items() if call is not None}


def _pulled(forward: Callable[[], list[Any]], leaves: list[Any], backward: bool) -> Callable[[], Any] | None:
    """Return the call, with gradients or without; None if PyTorch does not support it."""
    try:
        cotangents = [torch.ones_like(one.detach()) for one in forward()]
    except RuntimeError:
        return None
    if not backward:
        return torch.no_grad()(forward)
    return lambda: torch.autograd.grad(forward(), leaves, cotangents)


def _heads(x: Any, heads: int) -> Any:
    return x.unflatten(-1, (heads, -1)).transpose(-3, -2)


def _layer(x: Any, p: dict[str, Any], heads: int, attend: Attend) -> Any:
    """Return the result of `pynested.transformer_encoder_layer`."""

    def linear(name: str, x: Any) -> Any:
        return functional.linear(x, p[f"{name}weight"], p[f"{name}bias"])

    def normed(name: str, x: Any) -> Any:
        return functional.layer_norm(x, p[f"{name}.weight"].shape, p[f"{name}.weight"], p[f"{name}.bias"])

    parts = linear("self_attn.in_proj_", x).chunk(3, -1)
    q, k, v = (_heads(one.contiguous() if one.is_nested else one, heads) for one in parts)  # or it has no kernel
    taken = attend(q, k, v, False).transpose(-3, -2).flatten(-2)
    x = normed("norm1", x + linear("self_attn.out_proj.", taken))
    return normed("norm2", x + linear("linear2.", functional.gelu(linear("linear1.", x))))


def _plain(q: Any, k: Any, v: Any, causal: bool) -> Any:
    return functional.scaled_dot_product_attention(q, k, v, is_causal=causal)


def contenders(given: list[list[Any]], layers: list[dict[str, Any]], heads: int, backward: bool) -> dict[str, Calls]:
    """Return the calls of each contender; ``given`` are the components of queries, keys and values."""
    tensors = [[torch.tensor(one) for one in parts] for parts in given]
    lengths = torch.tensor([len(one) for one in given[0]])
    offsets = torch.tensor(np.concatenate([[0], np.cumsum(lengths)]))
    nested = [torch.nested.nested_tensor_from_jagged(torch.cat(parts), offsets) for parts in tensors]
    padded = [torch.nn.utils.rnn.pad_sequence(parts, True) for parts in tensors]
    longest = int(lengths.max())
    inside = (torch.arange(longest) < lengths[:, None])[:, None, None, :]
    both = inside & torch.ones(longest, longest, dtype=torch.bool).tril()

    def masked(q: Any, k: Any, v: Any, causal: bool) -> Any:
        return functional.scaled_dot_product_attention(q, k, v, attn_mask=both if causal else inside)

    found = {
        "torch jagged": calls(nested, _plain, layers, heads, backward),
        "torch padded": calls(padded, masked, layers, heads, backward),
        "torch dense": calls([[one[None] for one in parts] for parts in tensors], _plain, layers, heads, backward),
    }
    if not backward:
        found["torch padded"]["flex causal"] = _flex([_heads(x, heads) for x in padded], lengths)
    return found


def _flex(operands: list[Any], lengths: Any) -> Callable[[], Any]:
    """Flex attention of padded operands, each query of which meets no key after it, and none of the padding."""

    def seen(b: Any, h: Any, i: Any, j: Any) -> Any:
        return (i >= j) & (j < lengths[b])

    longest = operands[0].shape[-2]
    blocks = create_block_mask(seen, len(lengths), None, longest, longest, device="cpu")
    flex = torch.compile(flex_attention, dynamic=False) if shutil.which("g++") else flex_attention
    return torch.no_grad()(lambda: flex(*operands, block_mask=blocks))
