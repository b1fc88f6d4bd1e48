"""The chapter *elementwise*: arithmetic, and functions of one element."""

from . import pairs, smooth
from .arithmetic import abs, add, neg, sgn, sub
from .functions import clamp, gelu, relu, silu
from .pairs import *  # noqa: F403
from .smooth import *  # noqa: F403

__all__ = ["abs", "add", "clamp", "gelu", "neg", "relu", "sgn", "silu", "sub"]
__all__ += pairs.__all__
__all__ += smooth.__all__
