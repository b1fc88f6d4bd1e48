"""Block masks of `flex_attention`: the pairs of queries and keys that are active, and the functions that say so."""

from .block_mask import BlockMask
from .block_mask_creation import create_block_mask, create_mask, create_nested_block_mask
from .mask_functions import and_masks, noop_mask, or_masks

__all__ = [
    "BlockMask",
    "and_masks",
    "create_block_mask",
    "create_mask",
    "create_nested_block_mask",
    "noop_mask",
    "or_masks",
]
