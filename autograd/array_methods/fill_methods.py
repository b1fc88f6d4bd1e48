"""Methods that write values of the caller or random numbers into the array."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from ..dispatch import method


class FillMethods:
    """Methods that overwrite every element, and return the array."""

    __slots__ = ()
    _ops: ClassVar[Any]  # the module `pynested.method_functions`

    @method
    def copy_(self, source: Any) -> Self:
        """Write the values of ``source``, which broadcasts, into this array."""
        return self._ops.write(self, "copy_", source)

    @method
    def fill_(self, value: Any) -> Self:
        """Write ``value`` to every element."""
        return self._ops.write(self, "fill_", value)

    def zero_(self) -> Self:
        """Write 0 to every element."""
        return self._ops.write(self, "zero_", 0)

    @method
    def uniform_(self, low: float = 0.0, high: float = 1.0, generator: np.random.Generator | None = None) -> Self:
        """See `pynested.uniform_`."""
        return self._ops.uniform_(self, low, high, generator)

    @method
    def normal_(self, mean: float = 0.0, std: float = 1.0, generator: np.random.Generator | None = None) -> Self:
        """See `pynested.normal_`."""
        return self._ops.normal_(self, mean, std, generator)
