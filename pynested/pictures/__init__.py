"""Pictures of arrays in memory and side by side, of tapes and of block masks, as SVG drawn by plain Python."""

from .jagged_picture import draw_jagged
from .picture import Picture, beside, picture
from .strided_picture import draw_strided

__all__ = ["Picture", "beside", "draw_jagged", "draw_strided", "picture"]
