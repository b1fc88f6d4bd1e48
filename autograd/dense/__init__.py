"""Operators on dense arrays: arguments are checked and made canonical here, values and derivatives come from the rules.

One module per chapter of the specification, with the names that `pynested.operators` has for nested arrays.
"""

from . import (
    along,
    closeness,
    comparison,
    elementwise,
    indexing,
    losses,
    movement,
    normalization,
    pairs,
    pieces,
    products,
    smooth,
)
from .along import *  # noqa: F403
from .closeness import *  # noqa: F403
from .comparison import *  # noqa: F403
from .elementwise import *  # noqa: F403
from .indexing import *  # noqa: F403
from .losses import *  # noqa: F403
from .movement import *  # noqa: F403
from .normalization import *  # noqa: F403
from .pairs import *  # noqa: F403
from .pieces import *  # noqa: F403
from .products import *  # noqa: F403
from .smooth import *  # noqa: F403

__all__: list[str] = []
__all__ += along.__all__
__all__ += closeness.__all__
__all__ += comparison.__all__
__all__ += elementwise.__all__
__all__ += indexing.__all__
__all__ += losses.__all__
__all__ += movement.__all__
__all__ += normalization.__all__
__all__ += pairs.__all__
__all__ += pieces.__all__
__all__ += products.__all__
__all__ += smooth.__all__
