"""Trees of arrays: parameters, their gradients, and what a step remembers of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pynested.autograd import Array, no_grad
from pynested.autograd.containers import flatten
from pynested.backends.errors import ArgumentError, ShapeError

Rebuild = Callable[[Sequence[Any]], Any]


def opened(name: str, parameters: Any, gradients: Any) -> tuple[list[Array], list[Array], Rebuild]:
    """The arrays of parameters and of their gradients, one for one, and the way back to a tree."""
    arrays, rebuild = flatten(parameters)
    slopes = flatten(gradients)[0]
    if not arrays:
        raise ArgumentError(f"{name}: there is no array among the parameters.")
    if len(slopes) != len(arrays):
        raise ArgumentError(
            f"{name}: there are {len(arrays)} parameters and {len(slopes)} gradients. Take the gradients of the same "
            "tree: pn.grad(loss, parameters)."
        )
    for i, (array, slope) in enumerate(zip(arrays, slopes, strict=True)):
        if array.shape != slope.shape:
            raise ShapeError(f"{name}: parameter {i} has shape {array.shape}, and its gradient {slope.shape}.")
    return arrays, slopes, rebuild


def stepped(arrays: Sequence[Array], step: Callable[[int, Array], Array]) -> list[Array]:
    """What ``step`` makes of each parameter: new leaves that require grad where the old ones did."""
    with no_grad():
        made = [step(i, array.detach()) for i, array in enumerate(arrays)]
    for new, old in zip(made, arrays, strict=True):
        new.requires_grad_(old.requires_grad)
    return made
