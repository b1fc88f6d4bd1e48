"""The entries of `pynested.autograd.dense.reduction` and `runwise` as methods; see `run_methods.pyi`."""

from __future__ import annotations


class RunMethods:
    """For each function of the tables a method, which is that function."""

    __slots__ = ()
