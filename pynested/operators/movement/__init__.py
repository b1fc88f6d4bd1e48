"""The chapter *movement*: the same elements, in other places."""

from .axes import permute, squeeze, transpose, unsqueeze
from .copies import clone, detach
from .joining import cat, stack
from .merging import flatten, unflatten
from .picking import chunk, select, split, unbind
from .reshaping import reshape, reshape_as, view

__all__ = [
    "cat", "chunk", "clone", "detach", "flatten", "permute", "reshape", "reshape_as", "select", "split", "squeeze",
    "stack", "transpose", "unbind", "unflatten", "unsqueeze", "view",
]  # fmt: skip
