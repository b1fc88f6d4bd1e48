"""Calls without floating-point warnings."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from functools import wraps
from typing import ParamSpec, TypeVar

import numpy as np

P = ParamSpec("P")
Result = TypeVar("Result")

# NumPy keeps its error state in a context variable. A call inside a context in which warnings are off takes a tenth of
# the time of np.errstate, and the caller's state stays as it is. A context can be entered only once at a time, a copy
# (which takes constant time) at any time, so every call gets its own.
_quiet = Context()
_quiet.run(np.seterr, all="ignore")
quiet_context = _quiet.copy  # returns a context of the call's own


def quietly(function: Callable[P, Result], *args: P.args, **kwargs: P.kwargs) -> Result:
    """Call ``function`` without floating-point warnings, whatever the caller's np.errstate says."""
    return quiet_context().run(function, *args, **kwargs)


def without_warnings(function: Callable[P, Result]) -> Callable[P, Result]:
    """Make every call of ``function`` quiet."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> Result:
        return quietly(function, *args, **kwargs)

    return call
