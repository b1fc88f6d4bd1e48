"""Gradients of functions that nest dense arrays inside, in both directions and up to the second order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pynested as pn


def check_gradients(function: Callable[..., Any], *points: Any, order: int = 2) -> None:
    """Compare reverse and forward mode with differences of ``function`` around ``points``, and again its gradient."""
    leaves = [pn.array(point, dtype=pn.float64, requires_grad=True) for point in points]
    assert pn.gradcheck(function, *leaves, order=order)
