"""Scans of nested and dense arrays: each element of a run becomes what the run holds up to it."""

from __future__ import annotations

from .runwise import cumsum

__all__ = ["cumsum"]
