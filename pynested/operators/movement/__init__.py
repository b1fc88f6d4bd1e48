"""The chapter *movement*: the same elements, in other places."""

from .axes import transpose, unflatten, unsqueeze
from .copies import clone, detach
from .joining import cat, stack
from .picking import chunk, select, unbind
from .reshaping import reshape, reshape_as, view

__all__ = [
    "cat", "chunk", "clone", "detach", "reshape", "reshape_as", "select", "stack", "transpose", "unbind", "unflatten",
    "unsqueeze", "view",
]  # fmt: skip
