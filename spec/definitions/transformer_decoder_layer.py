"""The definition of `transformer_decoder_layer`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .transformer_encoder_layer import Layer


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

    return layer.run(tgt, [met, recalled, layer.onwards], norm_first)
