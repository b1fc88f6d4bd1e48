"""The definition of `transformer_decoder_layer`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .transformer_encoder_layer import Layer, plus


def transformer_decoder_layer(
    tgt: Any,
    memory: Any,
    parameters: Mapping[str, Any],
    num_heads: int,
    tgt_mask: Any = None,
    memory_mask: Any = None,
    tgt_is_causal: bool = False,
    memory_is_causal: bool = False,
    norm_first: bool = False,
    activation: str = "relu",
    dropout_p: float = 0.0,
    layer_norm_eps: float = 1e-5,
    generator: Any = None,
) -> Any:
    """TRANSFORMER_DECODER_LAYER: rows take from those of their component, then from the memory, and then go on."""
    layer = Layer(parameters, num_heads, activation, dropout_p, layer_norm_eps, generator)

    def met(x: Any) -> Any:
        return layer.attended("self_attn", x, x, tgt_mask, tgt_is_causal)

    def recalled(x: Any) -> Any:
        return layer.attended("multihead_attn", x, memory, memory_mask, memory_is_causal)

    if norm_first:
        x = plus(tgt, met(layer.normed(1, tgt)))
        x = plus(x, recalled(layer.normed(2, x)))
        return plus(x, layer.onwards(layer.normed(3, x)))
    x = layer.normed(1, plus(tgt, met(tgt)))
    x = layer.normed(2, plus(x, recalled(x)))
    return layer.normed(3, plus(x, layer.onwards(x)))
