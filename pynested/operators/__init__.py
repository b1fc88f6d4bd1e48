"""The operators on nested and dense arrays, one module per chapter of the specification."""

from . import attention, comparison, conversion, elementwise, losses, movement, normalization, products, reduction, scan
from .attention import *
from .comparison import *
from .conversion import *
from .elementwise import *
from .losses import *
from .movement import *
from .normalization import *
from .products import *
from .reduction import *
from .scan import *

__all__ = attention.__all__ + comparison.__all__ + conversion.__all__ + elementwise.__all__ + losses.__all__
__all__ += movement.__all__ + normalization.__all__ + products.__all__ + reduction.__all__ + scan.__all__
