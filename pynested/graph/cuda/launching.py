"""A kernel on its operands: which of them are spread, the instantiation, and the launch."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from pynested.backends import get_backend
from pynested.backends.cuda.backend import KernelBackend
from pynested.backends.cuda.elementwise import ELEMENTS_OF_A_BLOCK, MOST_BLOCKS
from pynested.backends.cuda.generated import entered
from pynested.backends.cuda.naming import instance
from pynested.backends.cuda.segment import BLOCK
from pynested.backends.registry import registered_kernels

from ..chains.registers import Register, in_order
from .functors import computes
from .text import text_of_kernel

_POSITIONS = ("unsigned int", "long long")  # in which places are worked out; the first is quick, the second is enough


def can_fuse(device: str) -> bool:
    """Whether chains are one call on a device: on the CPU, and where there are kernels."""
    return device == "cpu" or isinstance(get_backend(device), KernelBackend)


def has_others(device: str) -> bool:
    """Whether somebody has put a function of theirs in the place of one that kernels of chains compute themselves."""
    return any(computes(verb) for verb in registered_kernels(device))


class Kernel:
    """A kernel that makes ``results`` of those ``parameters`` that they need, on one device, of whatever dtypes.

    Attributes
    ----------
    takes : tuple of int
        The parameters that it needs.
    files : dict
        The names of its texts, one for each way in which operands are spread.
    """

    def __init__(self, title: str, parameters: Sequence[Register], results: Sequence[Register], device: str) -> None:
        needed = frozenset(in_order(results))
        self.takes = tuple(k for k, one in enumerate(parameters) if one in needed)
        self.files: dict[tuple[tuple[int, ...], int], str] = {}
        self._title, self._results = title, results
        self._parameters = [parameters[k] for k in self.takes]
        self.device = device

    def __call__(self, shape: tuple[int, ...], given: Sequence[Any]) -> list[Any]:
        """The results, which have ``shape``, of something for each parameter; what it does not need may be None."""
        backend: Any = get_backend(self.device)
        operands = [given[k] for k in self.takes]
        results = [backend.empty(shape, one.dtype) for one in self._results]
        count = prod(shape)
        if not count:
            return results
        spread = tuple(k for k, x in enumerate(operands) if x.shape != shape)
        sizes, steps = merged(shape, [operands[k].shape for k in spread])
        numbers = [*[step for each in steps for step in each], *(sizes[1:] if spread else ()), count]
        name = instance("chain", _POSITIONS[bool(spread) and count >= 2**32])
        grid = (min(MOST_BLOCKS, -(-count // ELEMENTS_OF_A_BLOCK)),)
        args = [*map(backend.own, operands), *map(np.int64, numbers), *results]
        backend.launch(self._file(spread, len(sizes)), name, grid, (BLOCK,), args)
        return results

    def _file(self, spread: tuple[int, ...], dims: int) -> str:
        key = spread, dims if spread else 0
        if key not in self.files:
            text = text_of_kernel(self._title, self._parameters, spread, dims, self._results)
            self.files[key] = entered("chain", text)
        return self.files[key]


def merged(shape: tuple[int, ...], small: Sequence[tuple[int, ...]]) -> tuple[tuple[int, ...], list[tuple[int, ...]]]:
    """The dimensions of ``shape``, those through which all ``small`` shapes go alike as one, and the steps of these.

    ``(5, 4, 3)`` with ``(4, 3)`` and ``()`` has the sizes ``(5, 12)``, and the steps ``(0, 1)`` and ``(0, 0)``. How
    many there are does not depend on the first size, the rows of all components together.
    """
    steps = [_steps(one, shape) for one in small]
    sizes: list[int] = []
    kept: list[list[int]] = []
    for d, size in enumerate(shape):
        now = [one[d] for one in steps]
        if d and size == 1:
            continue
        if sizes and kept[-1] == [step * size for step in now]:
            sizes[-1], kept[-1] = sizes[-1] * size, now
        else:
            sizes.append(size)
            kept.append(now)
    columns = kept or [[0] * len(small)]
    return tuple(sizes or (1,)), [tuple(column[k] for column in columns) for k in range(len(small))]


def _steps(small: tuple[int, ...], shape: tuple[int, ...]) -> list[int]:
    """How far the next element lies along each dimension of ``shape``; 0 where it is the same again."""
    sizes = (1,) * (len(shape) - len(small)) + small
    return [0 if size == 1 else prod(sizes[d + 1 :]) for d, size in enumerate(sizes)]
