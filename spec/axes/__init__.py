"""What can vary in a call, as data: axes with their levels, and families of operators with the axes that apply.

A level is a word for one way to be, and the sentence beside it says which. Levels are written smallest first: where it
makes no difference the generator takes the first. A family names its axes, for some of them only a few levels, and what
can never be together: `{"rank": "2 3", "ragged": "middle"}` is no call, since a component of one or two dimensions has
no middle. From a family a covering array is computed (`generator/covering.py`): every two levels that can be
together are together in some call, and every three of the axes that the family lists in `triples`.

Vectors do not change once they are out, and another operator among those of a family would change its array: operators
that come later are a family of their own, and so are axes that come later. A new level is none of a family that was
there before.

`placement` is not drawn: it is asked of every case by whoever runs it. And edges of value are positions, which are
written by hand in `generator/cases`.
"""

from __future__ import annotations

from collections.abc import Mapping

from .family import Family
from .first import FIRST
from .later import LATER
from .levels import AXES, SILENT, Axis
from .varied import VARIED

__all__ = ["AXES", "FAMILIES", "SILENT", "UNDRAWN", "Axis", "Family"]

FAMILIES: Mapping[str, Family] = {**FIRST, **LATER, **VARIED}

# Operators that no family has, and why.
UNDRAWN: Mapping[str, str] = {
    "scaled_dot_product_attention": "all masks of up to six pairs are asked by the tests; the cases are positions",
    "multi_head_attention": "it is made of operators that are drawn, or asked of all masks",
    "transformer_encoder_layer": "it is made of operators that are drawn, or asked of all masks",
    "transformer_decoder_layer": "it is made of operators that are drawn, or asked of all masks",
    "flex_attention": "all masks of up to six pairs are asked by the tests; functions have names in the cases only",
    "create_nested_block_mask": "its functions have names in the cases only",
}
