"""What a notebook shows of an array, a tape or a block mask: its text and, folded away, its picture.

Nothing but HTML and an image, with neither script nor identifier, so that a notebook that is not trusted shows it too.
What draws is imported when the first picture is asked for: most programs draw none.
"""

from __future__ import annotations

from typing import Any

from pynested.autograd import Array
from pynested.autograd.equip import equip
from pynested.autograd.show import Tape
from pynested.nested.array import NestedArray
from pynested.operators.attention.block_mask import BlockMask


class Shown:
    """The method that notebooks ask for."""

    __slots__ = ()

    def _repr_html_(self: Any) -> str:
        from html import escape

        from .pictures import picture

        return (
            f'<div><pre style="margin:0;font-family:var(--jp-code-font-family,monospace)">{escape(repr(self))}</pre>'
            '<details><summary style="cursor:pointer;opacity:0.7;font-size:90%">picture</summary>'
            f"{picture(self)._repr_html_()}</details></div>"
        )


for _kind in (Array, NestedArray, Tape, BlockMask):
    equip(_kind, vars(Shown))
