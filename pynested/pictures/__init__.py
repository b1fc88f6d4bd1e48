"""What a nested array looks like in memory, as SVG drawn by plain Python."""

from .jagged import draw_jagged
from .picture import Picture, picture
from .strided import draw_strided

__all__ = ["Picture", "draw_jagged", "draw_strided", "picture"]
