"""A picture: an SVG document that a notebook shows and that can be saved."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Collection, Mapping
from html import escape
from os import PathLike
from pathlib import Path

from pynested.autograd import Array
from pynested.autograd.decorators import method
from pynested.autograd.tape_text import Tape
from pynested.backends import get_backend
from pynested.backends.errors import ArgumentError, MissingDependency, named_type
from pynested.nested.nested_array import NestedArray
from pynested.operators.block_masks.block_mask import BlockMask
from pynested.structure import Jagged

from .block_mask_picture import draw_block_mask
from .jagged_picture import draw_jagged
from .side_by_side_picture import draw_side_by_side
from .strided_picture import draw_dense, draw_strided
from .svg import Sheet
from .tape_picture import draw_tape

# Attributes and classes of pages that say that they are dark or light; without one a picture follows the system.
_STYLE = """
[data-jp-theme-light=false] .pynested-picture,html[theme=dark] .pynested-picture,
[data-theme=dark] .pynested-picture,.vscode-dark .pynested-picture{color-scheme:dark}
[data-jp-theme-light=true] .pynested-picture,html[theme=light] .pynested-picture,
[data-theme=light] .pynested-picture,.vscode-light .pynested-picture{color-scheme:light}
"""
_SMALLEST = 0.7  # of its size; letters of 11 pixels are then as high as those of a footnote


class Picture:
    """An SVG document; the last line of a notebook cell shows it, `save` writes it into a file.

    Notebooks get an ``<img>`` that contains the document, since an untrusted notebook shows this form too. The image
    scales to the width of the page, down to a readable size; a narrower page scrolls. A style sheet selects the theme
    of the page; if a notebook removes the style sheet, the picture follows the theme of the system.
    """

    def __init__(self, sheet: Sheet) -> None:
        self.alt = sheet.alt
        self.svg = sheet.finish()
        self.width = sheet.width

    def __repr__(self) -> str:
        return f"<Picture: {self.alt}>"

    def _repr_html_(self) -> str:
        data = b64encode(self.svg.encode()).decode()
        return (
            f'<div style="overflow-x:auto"><style>{_STYLE}</style><img class="pynested-picture" '
            f'alt="{escape(self.alt)}" src="data:image/svg+xml;base64,{data}" '
            f'style="max-width:100%;min-width:{_SMALLEST * self.width:.0f}px"/></div>'
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the picture into a file whose name ends in .svg, or in .png where CairoSVG is installed.

        A PNG is on white, and twice as large, so that it is sharp on any screen.
        """
        suffix = Path(path).suffix.lower()
        if suffix == ".svg":
            Path(path).write_text(self.svg, encoding="utf-8", newline="\n")
        elif suffix == ".png":
            try:
                from cairosvg import svg2png
            except (ImportError, OSError) as error:  # OSError: the package is there, but not the library cairo
                raise MissingDependency(
                    f"save: PNG needs CairoSVG and cairo: pip install cairosvg ({error}). Or save a .svg, which needs "
                    "neither."
                ) from error
            svg2png(bytestring=self.svg.encode(), write_to=str(path), scale=2, background_color="white")
        else:
            raise ArgumentError(f"save: {str(path)!r} ends neither in .svg nor in .png. Choose one of them.")


@method
def picture(x: NestedArray | Array | BlockMask | Tape, name: str | None = None) -> Picture:
    """Draw the memory of an array, the blocks of a mask, or the nodes of a tape.

    A nested array is drawn twice: as its components, and as the buffer and the integers that say where they lie. Cells
    that no component uses are hatched; cells that several share have the colours of all. A dense array is drawn as its
    matrices and as the memory behind them. Only the ends of long arrays are drawn, and the number of hidden elements.

    Parameters
    ----------
    x : NestedArray, Array, BlockMask or Tape
        What to draw.
    name : str, optional
        The name in the picture: by default "x" for arrays, "mask" or "tape".

    Examples
    --------
    >>> import pynested as pn
    >>> picture(pn.nested_array([[1.5, 2.0], [], [7.0]], layout=pn.jagged))
    <Picture: A jagged array: 3 components of lengths 2, 0, 1 in one buffer of 3 values; offsets 0, 2, 2, 3>
    >>> picture(pn.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]).transpose(0, 1), name="w")
    <Picture: A dense array: shape (3, 2), strides (1, 3), in 6 values of memory>
    """
    if not isinstance(name, str | None):
        raise ArgumentError(f"picture: name is text, not {named_type(name)}.")
    named = {} if name is None else {"name": name}
    for kind, draw in _DRAWN.items():
        if isinstance(x, kind):
            return Picture(draw(x, **named))
    raise ArgumentError(
        f"picture: nested and dense arrays, block masks and tapes are drawn, not {type(x).__name__}. Use "
        "pn.nested_array or pn.array."
    )


@method
def beside(
    arrays: Mapping[str, NestedArray | Array], *, padded: Collection[str] = (), stretched: Collection[str] = ()
) -> Picture:
    """Draw arrays side by side, component beside component: an array and its gradient, an operator step by step.

    Parameters
    ----------
    arrays : mapping
        Nested arrays, at least one, and dense arrays with a row for each component, by their names in the
        picture. Along the first dimension of a component each element is a cell.
    padded : collection of str
        The dense arrays that are padded: cells beyond the length of a component of the first nested array are
        hatched.
    stretched : collection of str
        The arrays that are broadcast: the element of a row is drawn again, dashed, for each use.

    Examples
    --------
    >>> import pynested as pn
    >>> x = pn.nested_array([[1.5, 2.0], [], [7.0]], layout=pn.jagged)
    >>> beside({"x": x, "padded": x.to_padded_array(0.0)}, padded=["padded"])
    <Picture: Side by side, 3 components of each: x, padded>
    """
    return Picture(draw_side_by_side(arrays, padded, stretched))


def _draw_nested(array: NestedArray, name: str = "x") -> Sheet:
    values, structure = array.data.data, array.structure
    if isinstance(structure, Jagged):
        rows = get_backend(array.device).xp.moveaxis(values, structure.ragged_dim - 1, 0)
        return draw_jagged(rows, structure.offsets, structure.lengths, name)
    return draw_strided(values, structure.sizes, structure.strides, structure.offsets, name)


_DRAWN: dict[type, Callable[..., Sheet]] = {
    NestedArray: _draw_nested, Array: draw_dense, BlockMask: draw_block_mask, Tape: draw_tape,
}  # fmt: skip
