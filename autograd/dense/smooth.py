"""The entries of `pynested.autograd.rules.functions` as functions of dense arrays; `smooth.pyi` lists them."""

from __future__ import annotations

from ..rules.functions import FUNCTIONS
from .elementwise import BOOLS, unary

__all__ = list(FUNCTIONS)

for _name, _entry in FUNCTIONS.items():
    globals()[_name] = _function = unary(_name, _entry.computed, BOOLS if _entry.dtypes in ("wrap", "stay") else "")
    _function.__doc__ = _entry.documentation
