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
# the time of np.errstate, and the state of the caller stays as it is. Only one call at a time can be inside a context.
# Therefore every call gets a copy of the context, which takes constant time.
_quiet = Context()
_quiet.run(np.seterr, all="ignore")
quiet_context = _quiet.copy  # a function that returns a context in which warnings are off


def quietly(function: Callable[P, Result], *args: P.args, **kwargs: P.kwargs) -> Result:
    """Call ``function`` without floating-point warnings, whatever the np.errstate of the caller is."""
    return quiet_context().run(function, *args, **kwargs)


def without_warnings(function: Callable[P, Result]) -> Callable[P, Result]:
    """Let every call of ``function`` run without floating-point warnings: a decorator."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> Result:
        return quietly(function, *args, **kwargs)

    return call
