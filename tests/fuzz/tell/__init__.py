"""Telling: a plan as a program that can be pasted into a Python session and shows the difference."""

from __future__ import annotations

from ..judge import Difference

HEAD = ["import numpy as np", "from numpy import inf, nan", "import pynested as pn"]
MOST = 600  # characters of a difference


def program(lines: list[str], difference: Difference) -> str:
    """The lines with what they need before them, and the difference as a comment."""
    text = str(difference).replace("\n", " ")
    return "\n".join([*HEAD, *lines, f"# {text[:MOST]}"])
