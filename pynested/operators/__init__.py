"""The operators on nested and dense arrays, one module per chapter of the specification."""

from . import comparison, conversion, elementwise, indexing, losses, movement, normalization, products, reduction, scan
from .comparison import *  # noqa: F403
from .conversion import *  # noqa: F403
from .elementwise import *  # noqa: F403
from .indexing import *  # noqa: F403
from .losses import *  # noqa: F403
from .movement import *  # noqa: F403
from .normalization import *  # noqa: F403
from .products import *  # noqa: F403
from .reduction import *  # noqa: F403
from .scan import *  # noqa: F403

__all__ = [
    *comparison.__all__, *conversion.__all__, *elementwise.__all__, *indexing.__all__, *losses.__all__,
    *movement.__all__, *normalization.__all__, *products.__all__, *reduction.__all__, *scan.__all__,
]  # fmt: skip
