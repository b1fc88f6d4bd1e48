"""HTML of an array, a tape or a block mask in a notebook: its text and, folded away, its picture.

The HTML has neither scripts nor identifiers, so that a notebook that is not trusted shows it too. The modules that draw
are imported for the first picture, because most programs draw none.
"""

from __future__ import annotations

from typing import Any

from pynested.autograd import Array
from pynested.autograd.tape_text import Tape
from pynested.nested.nested_array import NestedArray
from pynested.operators.block_masks.block_mask import BlockMask


def html_repr(shown: Any) -> str:
    """Return the text of an array, a tape or a block mask, with its picture folded away."""
    from html import escape

    from .pictures import picture

    return (
        f'<div><pre style="margin:0;font-family:var(--jp-code-font-family,monospace)">{escape(repr(shown))}</pre>'
        '<details><summary style="cursor:pointer;opacity:0.7;font-size:90%">picture</summary>'
        f"{picture(shown)._repr_html_()}</details></div>"
    )


for shown_class in (Array, NestedArray, Tape, BlockMask):
    shown_class._repr_html_ = html_repr  # type: ignore[union-attr]
