"""A picture of a nested array: an SVG document that a notebook shows and that can be saved."""

from __future__ import annotations

from base64 import b64encode
from html import escape
from os import PathLike
from pathlib import Path

import numpy as np

from pynested.backends.errors import ArgumentError
from pynested.nested.array import NestedArray
from pynested.structure import Jagged

from .jagged import draw_jagged
from .strided import draw_strided
from .svg import Sheet


class Picture:
    """An SVG document; the last line of a notebook cell shows it, `save` writes it into a file.

    Notebooks get it as an ``<img>`` with the document inside, the one form that is shown in an untrusted notebook too,
    scales to the width of the page and follows its light or dark theme.
    """

    def __init__(self, sheet: Sheet) -> None:
        self.alt = sheet.alt
        self.svg = sheet.finish()

    def __repr__(self) -> str:
        return f"<Picture: {self.alt}>"

    def _repr_html_(self) -> str:
        data = b64encode(self.svg.encode()).decode()
        return f'<img alt="{escape(self.alt)}" src="data:image/svg+xml;base64,{data}" style="max-width:100%"/>'

    def save(self, path: str | PathLike[str]) -> None:
        """Write the SVG document to `path`, whose suffix is .svg."""
        if Path(path).suffix.lower() != ".svg":
            raise ArgumentError(f"save: {str(path)!r} does not end in .svg, and a picture is an SVG document.")
        Path(path).write_text(self.svg, encoding="utf-8", newline="\n")


def picture(array: NestedArray) -> Picture:
    """Draw a nested array twice: as its components, and as the buffer and the integers that say where they lie.

    Long arrays are shown by their ends, with how much is left out. Cells that no component uses are hatched; cells
    that several components share have the colours of all.

    >>> import pynested as pn
    >>> picture(pn.nested_array([[1.5, 2.0], [], [7.0]], layout=pn.jagged))
    <Picture: A jagged array: 3 components of lengths 2, 0, 1 in one buffer of 3 values; offsets 0, 2, 2, 3>
    """
    if type(array) is not NestedArray:
        raise ArgumentError(f"picture: only nested arrays are drawn, not {type(array).__name__}. Use pn.nested_array.")
    values, structure = array.values().detach().numpy(), array.structure
    if isinstance(structure, Jagged):
        rows = np.moveaxis(values, structure.ragged_dim - 1, 0)
        return Picture(draw_jagged(rows, structure.offsets, structure.lengths))
    return Picture(draw_strided(values, structure.sizes, structure.strides, structure.offsets))
