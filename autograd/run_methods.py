"""The entries of `pynested.autograd.dense.reduction` and `runwise` as methods; `run_methods.pyi` lists them."""

from __future__ import annotations


class RunMethods:
    """For each function of the tables a method, which is that function."""

    __slots__ = ()
