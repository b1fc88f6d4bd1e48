"""Chains of elementwise operators as one call: a block of the values goes through all of them while it is in cache.

The way from a chain to its numbers, a file for each step::

    chain       `Chain`, which looks whether its operands line up, and calls the operators themselves where they do not
    parted      `Parted`, what is made of dense arrays alone before a chain of nested ones
    operations  what operators come to: a rule, or a verb and what it pulls to each operand
    steps       the operators of a chain, as operations of numbered registers
    registers   what the operations compute, call by call, as they write it down themselves
    forward     what is made of the inputs
    backward    what is pulled from the outputs to the inputs
    program     either of them as a function of Python that goes through blocks
    places      where the registers of a block lie
    kernels     what computes a register that no ufunc computes
    rule        the one line of the tape that a chain writes

On devices `pynested.graph.cuda` takes the place of program, places and kernels.
"""

from .chain import Chain
from .parted import Parted

__all__ = ["Chain", "Parted"]
