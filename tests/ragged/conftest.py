"""Fixtures of layouts and placements."""

from ..operators.conftest import lay, layout, placement

__all__ = ["lay", "layout", "placement"]
