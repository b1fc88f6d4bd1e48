"""The allocators of memory, one for each device: ``pn.allocators``.

>>> import pynested as pn
>>> with pn.allocators.filled(0):
...     pn.empty(2)
array([0., 0.])
"""

from pynested.backends.allocators import allocator, filled, register_allocator

__all__ = ["allocator", "filled", "register_allocator"]
