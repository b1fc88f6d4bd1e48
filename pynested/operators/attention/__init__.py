"""Operators of attention: a result for each query, the average of values weighted by the scores of query and keys."""

from ..block_masks.block_mask import BlockMask
from ..block_masks.block_mask_creation import create_block_mask, create_nested_block_mask
from ..block_masks.mask_functions import and_masks, create_mask, noop_mask, or_masks
from .flex_attention import AuxOutput, AuxRequest, flex_attention
from .multi_head import multi_head_attention
from .scaled_dot_product import scaled_dot_product_attention
from .transformer_layers import transformer_decoder_layer, transformer_encoder_layer

__all__ = [
    "AuxOutput",
    "AuxRequest",
    "BlockMask",
    "and_masks",
    "create_block_mask",
    "create_mask",
    "create_nested_block_mask",
    "flex_attention",
    "multi_head_attention",
    "noop_mask",
    "or_masks",
    "scaled_dot_product_attention",
    "transformer_decoder_layer",
    "transformer_encoder_layer",
]
