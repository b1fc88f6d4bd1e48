"""`AnyArray`: what a dense array and a nested one have in common."""

from __future__ import annotations


class AnyArray:
    """The base of `Array` and `NestedArray`, into which `pynested.surface` puts the operators, as methods of both."""

    __slots__ = ()
