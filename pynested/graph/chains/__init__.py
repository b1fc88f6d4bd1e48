"""Chains of elementwise operators as one call: a block of the values goes through all of them while it is in cache.

chain       `Chain`, which looks whether its operands line up, and calls the operators themselves where they do not
steps       the operators of a chain, as rules of numbered registers
forward     the function of one block that computes a chain, as text
backward    the function of one block that pulls cotangents through it, as text
rule        the one line of the tape that a chain writes
"""

from .chain import Chain

__all__ = ["Chain"]
