"""Steps of optimisers, and the clipping of gradients."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from pynested import operators as ops
from pynested.autograd import Array, no_grad
from pynested.autograd.call_errors import check_flags
from pynested.autograd.containers import flatten
from pynested.autograd.decorators import method
from pynested.backends.errors import ArgumentError, named_type
from pynested.backends.host import to_host

from .parameter_trees import matching_leaves, tree_leaves


class SGDState(NamedTuple):
    """State of `sgd`: a velocity for each parameter."""

    velocities: list[Array]


class AdamState(NamedTuple):
    """State of `adam`: the number of steps, and running averages of each gradient and of its square."""

    steps: int
    means: list[Array]
    squares: list[Array]


@method
def sgd(
    parameters: Any,
    gradients: Any,
    state: SGDState | None = None,
    *,
    learning_rate: float,
    momentum: float = 0.0,
    nesterov: bool = False,
    weight_decay: float = 0.0,
) -> tuple[Any, SGDState]:
    """Return new parameters and the new state: ``p - learning_rate * v``, where ``v = momentum * v + g``.

    After `torch.optim.SGD`.

    Parameters
    ----------
    parameters, gradients : trees of arrays
        Of the same shapes, as `pynested.grad` gives them.
    state : SGDState, optional
        The state that the step before returned; None for the first one.
    learning_rate, momentum : float
        The size of the step, and the part of the last velocity that stays, from 0 to 1.
    nesterov : bool
        Look ahead along the velocity: ``g + momentum * v`` takes the place of ``v``.
    weight_decay : float
        This part of each parameter is added to its gradient.

    Raises
    ------
    ArgumentError
        For numbers that make no sense, trees of another form, and the state of another step or of other parameters.
    ShapeError, StructureError
        For a gradient of another shape; a nested one must lie in memory as its parameter does.
    DTypeError
        For a parameter that is not of floats.

    Examples
    --------
    >>> w = pn.array([1.0, 2.0], requires_grad=True)
    >>> slope = pn.grad((w * w).sum(), w)
    >>> w, state = pn.training.sgd(w, slope, learning_rate=0.25)
    >>> w
    array([0.5, 1. ], requires_grad=True)
    """
    check_flags("sgd", nesterov=nesterov)
    _check_numbers("sgd", learning_rate=learning_rate, momentum=momentum, weight_decay=weight_decay)
    if nesterov and not momentum:
        raise ArgumentError("sgd: nesterov looks ahead along the velocity, so momentum must be above 0.")

    def step(p: Array, g: Array, velocity: Any = 0.0) -> tuple[Array, ...]:
        g = g + p * weight_decay if weight_decay else g
        velocity = velocity * momentum + g
        return p - (g + velocity * momentum if nesterov else velocity) * learning_rate, velocity

    stepped, columns = _step("sgd", parameters, gradients, state, SGDState, step)
    return stepped, SGDState(*columns)


@method
def adam(
    parameters: Any,
    gradients: Any,
    state: AdamState | None = None,
    *,
    learning_rate: float = 1e-3,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
) -> tuple[Any, AdamState]:
    """Make one step along the mean gradient, divided by its size: ``p - learning_rate * m / (sqrt(v) + eps)``.

    ``m`` and ``v`` are running averages of the gradient and of its square, of which the parts ``betas``, from 0 to
    below 1, stay; they are corrected for their beginning at 0. The other parameters, results and errors are those of
    `sgd`. After `torch.optim.Adam`, and Kingma and Ba, "Adam: a method for stochastic optimization", 2015.

    Examples
    --------
    >>> w = {"scale": pn.array([1.0, 2.0], requires_grad=True)}
    >>> w, state = pn.training.adam(w, {"scale": pn.array([3.0, -4.0])}, learning_rate=0.5)
    >>> w["scale"], state.steps
    (array([0.5, 2.5], requires_grad=True), 1)
    """
    return _adam("adam", parameters, gradients, state, learning_rate, betas, eps, weight_decay)


@method
def adamw(
    parameters: Any,
    gradients: Any,
    state: AdamState | None = None,
    *,
    learning_rate: float = 1e-3,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 1e-2,
) -> tuple[Any, AdamState]:
    """Make a step of `adam`, after each parameter has lost the part ``learning_rate * weight_decay`` of itself.

    After `torch.optim.AdamW`, and Loshchilov and Hutter, "Decoupled weight decay regularization", 2019.

    Examples
    --------
    >>> w, state = pn.training.adamw(pn.array([1.0]), pn.array([0.0]), learning_rate=0.5, weight_decay=0.5)
    >>> w
    array([0.75])
    """
    return _adam("adamw", parameters, gradients, state, learning_rate, betas, eps, weight_decay)


def _adam(
    name: str,
    parameters: Any,
    gradients: Any,
    state: AdamState | None,
    learning_rate: float,
    betas: tuple[float, float],
    eps: float,
    weight_decay: float,
) -> tuple[Any, AdamState]:
    _check_numbers(name, learning_rate=learning_rate, eps=eps, weight_decay=weight_decay)
    is_pair = isinstance(betas, list | tuple) and len(betas) == 2 and all(isinstance(beta, Real) for beta in betas)
    if not is_pair or not all(0 <= beta < 1 for beta in betas):
        raise ArgumentError(f"{name}: betas are two numbers from 0 to below 1, not {betas!r}.")
    (first, second), steps = betas, getattr(state, "steps", 0) + 1

    def step(p: Array, g: Array, mean: Any = 0.0, square: Any = 0.0) -> tuple[Array, ...]:
        if name == "adamw":
            p = p * (1 - learning_rate * weight_decay)
        elif weight_decay:
            g = g + p * weight_decay
        mean = mean * first + g * (1 - first)
        square = square * second + g * g * (1 - second)
        size = ops.sqrt(square) / math.sqrt(1 - second**steps) + eps
        return p - mean / size * (learning_rate / (1 - first**steps)), mean, square

    stepped, columns = _step(name, parameters, gradients, state, AdamState, step)
    return stepped, AdamState(steps, *columns)


def _step(
    name: str, parameters: Any, gradients: Any, state: Any, kind: type[Any], step: Callable[..., tuple[Array, ...]]
) -> tuple[Any, list[list[Array]]]:
    """Return the new parameters, which require grad if the old ones did, and the arrays of the new state.

    ``step(parameter, gradient, *arrays)`` returns the new parameter and the new arrays; at first there are no arrays.
    """
    arrays, slopes, rebuild = matching_leaves(name, parameters, gradients)
    if not isinstance(state, kind | None):
        raise ArgumentError(
            f"{name}: the state is {kind.__name__}, which the step before gave, or None for the first step; not "
            f"{named_type(state)}."
        )
    columns = [column for column in state or () if not isinstance(column, int)]
    shapes, before = [array.shape for array in arrays], [array.shape for array in columns[0]] if columns else None
    if before not in (None, shapes):
        raise ArgumentError(
            f"{name}: the state is that of parameters of shapes {before}, and these have {shapes}. Begin anew with "
            "None, or take the state that belongs to them."
        )
    with no_grad():
        rows = [step(p.detach(), g.detach(), *old) for p, g, *old in zip(arrays, slopes, *columns, strict=True)]
    leaves, *new_columns = map(list, zip(*rows, strict=True))
    for new, old in zip(leaves, arrays, strict=True):
        new.requires_grad_(old.requires_grad)
    return rebuild(leaves), new_columns


def _check_numbers(name: str, **numbers: Any) -> None:
    for parameter, number in numbers.items():
        if not isinstance(number, Real):
            raise ArgumentError(f"{name}: {parameter} is a number, not {named_type(number)}.")
        if not 0 <= float(number) < math.inf:
            raise ArgumentError(f"{name}: {parameter} must be 0 or above, and finite, not {number!r}.")


@method
def clip_by_norm(gradients: Any, most: float) -> tuple[Any, float]:
    """Return gradients whose norm, over all of them together, is at most ``most``, and the norm that it was.

    The tree is returned as it is if its norm is not above ``most``. The norm is the square root of the sum of all
    squares, in float64, without overflow on the way. It is NaN or infinite if a gradient is; then nothing is scaled, so
    that it can be looked at. Errors: ArgumentError for ``most`` not above 0, and for a tree without an array.

    Examples
    --------
    >>> pn.training.clip_by_norm({"w": pn.array([3.0, 4.0])}, 1.0)
    ({'w': array([0.6, 0.8])}, 5.0)
    """
    if not (isinstance(most, Real) and most > 0):
        raise ArgumentError(f"clip_by_norm: most must be above 0, not {most!r}.")
    tree_leaves("clip_by_norm", "gradients", gradients)  # refuses what holds no array, or one of NumPy
    arrays, rebuild = flatten(gradients)
    values = np.concatenate([to_host(array.data).astype(np.float64).reshape(-1) for array in arrays])
    norm = largest = float(np.abs(values).max(initial=0.0))
    if 0 < largest < math.inf:
        norm *= float(np.linalg.norm(values / largest))  # so that no square overflows or vanishes
    if not most < norm < math.inf:
        return gradients, norm
    with no_grad():
        return rebuild([array.detach() * (most / norm) for array in arrays]), norm
