"""What arrays look like in memory and side by side, what a tape and a mask hold, as SVG drawn by plain Python."""

from .jagged import draw_jagged
from .picture import Picture, beside, picture
from .strided import draw_strided

__all__ = ["Picture", "beside", "draw_jagged", "draw_strided", "picture"]
