"""Steps of optimizers, and the clipping of gradients."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from pynested import operators as ops
from pynested.autograd import Array, no_grad
from pynested.autograd.call_errors import check_flags
from pynested.autograd.dispatch import method
from pynested.backends.errors import ArgumentError
from pynested.backends.host import to_host

from .checks import check_betas, check_numbers, check_state
from .trees import arrays_of, opened, stepped


class Momentum(NamedTuple):
    """What `sgd` remembers: how each parameter moves."""

    velocities: list[Array]


class Moments(NamedTuple):
    """What `adam` remembers: how many steps were made, and averages of each gradient and of its square."""

    steps: int
    means: list[Array]
    squares: list[Array]


@method
def sgd(
    parameters: Any,
    gradients: Any,
    state: Momentum | None = None,
    *,
    learning_rate: float,
    momentum: float = 0.0,
    nesterov: bool = False,
    weight_decay: float = 0.0,
) -> tuple[Any, Momentum]:
    """One step down the gradients: ``p - learning_rate * v``, where ``v = momentum * v + g``.

    Parameters
    ----------
    parameters : tree of arrays
    gradients : tree of arrays
        Of the same shapes, as `pynested.grad` gives them.
    state : Momentum, optional
        What the step before gave; None for the first one.
    learning_rate : float
        How far it goes.
    momentum : float
        The part of the last velocity that stays, from 0 to 1.
    nesterov : bool
        Look ahead along the velocity: ``g + momentum * v`` takes the place of ``v``.
    weight_decay : float
        This part of each parameter is added to its gradient.

    Returns
    -------
    parameters, state
        New ones; the old ones stay as they are.

    Raises
    ------
    ArgumentError
        For numbers that make no sense, trees of another form, and the state of another step or of other parameters.
    ShapeError, StructureError
        For a gradient of another shape; a nested one lies in memory as its parameter does.
    DTypeError
        For a parameter that is not of floats.

    Notes
    -----
    After `torch.optim.SGD`.

    Examples
    --------
    >>> w = pn.array([1.0, 2.0], requires_grad=True)
    >>> slope = pn.grad((w * w).sum(), w)
    >>> w, state = pn.training.sgd(w, slope, learning_rate=0.25)
    >>> w
    array([0.5, 1. ], requires_grad=True)
    """
    check_flags("sgd", nesterov=nesterov)
    check_numbers("sgd", learning_rate=learning_rate, momentum=momentum, weight_decay=weight_decay)
    if nesterov and not momentum:
        raise ArgumentError("sgd: nesterov looks ahead along the velocity, so momentum must be above 0.")
    arrays, slopes, rebuild = opened("sgd", parameters, gradients)
    check_state("sgd", state, Momentum, arrays)
    velocities: list[Array] = []

    def step(i: int, p: Array) -> Array:
        g = slopes[i].detach()
        g = g + p * weight_decay if weight_decay else g
        velocities.append(g if state is None else state.velocities[i] * momentum + g)
        return p - (g + velocities[i] * momentum if nesterov else velocities[i]) * learning_rate

    return rebuild(stepped(arrays, step)), Momentum(velocities)


@method
def adam(
    parameters: Any,
    gradients: Any,
    state: Moments | None = None,
    *,
    learning_rate: float = 1e-3,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
) -> tuple[Any, Moments]:
    """One step along the mean gradient, divided by its size: ``p - learning_rate * m / (sqrt(v) + eps)``.

    ``m`` and ``v`` are running averages of the gradient and of its square, corrected for their beginning at 0.

    Parameters
    ----------
    parameters, gradients, state, learning_rate
        As for `sgd`; the state is of another kind.
    betas : tuple of two floats
        The part of each average that stays, from 0 to below 1.
    eps : float
        Keeps the divisor above 0.
    weight_decay : float
        This part of each parameter is added to its gradient; `adamw` takes it off the parameter itself.

    Returns
    -------
    parameters, state
        New ones; the old ones stay as they are.

    Raises
    ------
    ArgumentError
        For numbers that make no sense, trees of another form, and the state of another step or of other parameters.
    ShapeError, StructureError
        For a gradient of another shape; a nested one lies in memory as its parameter does.
    DTypeError
        For a parameter that is not of floats.

    Notes
    -----
    After `torch.optim.Adam`, and Kingma and Ba, "Adam: a method for stochastic optimization", 2015.

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
    state: Moments | None = None,
    *,
    learning_rate: float = 1e-3,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 1e-2,
) -> tuple[Any, Moments]:
    """A step of `adam`, after each parameter has been made smaller by ``learning_rate * weight_decay`` of itself.

    Parameters and errors are those of `adam`.

    Notes
    -----
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
    state: Moments | None,
    learning_rate: float,
    betas: tuple[float, float],
    eps: float,
    weight_decay: float,
) -> tuple[Any, Moments]:
    check_numbers(name, learning_rate=learning_rate, eps=eps, weight_decay=weight_decay)
    check_betas(name, betas)
    arrays, slopes, rebuild = opened(name, parameters, gradients)
    check_state(name, state, Moments, arrays)
    (first, second), steps = betas, 1 if state is None else state.steps + 1
    means: list[Array] = []
    squares: list[Array] = []

    def step(i: int, p: Array) -> Array:
        g = slopes[i].detach()
        if name == "adamw":
            p = p * (1 - learning_rate * weight_decay)
        elif weight_decay:
            g = g + p * weight_decay
        means.append(g * (1 - first) if state is None else state.means[i] * first + g * (1 - first))
        squares.append(g * g * (1 - second) if state is None else state.squares[i] * second + g * g * (1 - second))
        size = ops.sqrt(squares[i]) / math.sqrt(1 - second**steps) + eps
        return p - means[i] / size * (learning_rate / (1 - first**steps))

    return rebuild(stepped(arrays, step)), Moments(steps, means, squares)


@method
def clip_by_norm(gradients: Any, most: float) -> tuple[Any, float]:
    """Gradients scaled so that their norm, over all of them together, is at most ``most``; and what it was.

    Parameters
    ----------
    gradients : tree of arrays
    most : float
        Above 0.

    Returns
    -------
    gradients : tree of arrays
        As they are, where the norm is not above ``most``.
    norm : float
        The square root of the sum of all squares, in float64, without overflow on the way. It is NaN or infinite where
        a gradient is; then nothing is scaled, so that it can be looked at.

    Raises
    ------
    ArgumentError
        For ``most`` not above 0, and where there is no array.

    Examples
    --------
    >>> pn.training.clip_by_norm({"w": pn.array([3.0, 4.0])}, 1.0)
    ({'w': array([0.6, 0.8])}, 5.0)
    """
    if not (isinstance(most, Real) and most > 0):
        raise ArgumentError(f"clip_by_norm: most must be above 0, not {most!r}.")
    arrays, rebuild = arrays_of("clip_by_norm", "gradients", gradients)
    norm = math.hypot(*[_norm(array) for array in arrays])
    if not most < norm < math.inf:
        return gradients, norm
    with no_grad():
        return rebuild([array.detach() * (most / norm) for array in arrays]), norm


def _norm(array: Array) -> float:
    """The norm of one array, of numbers that are first divided by the largest."""
    values = np.abs(to_host(array.data).astype(np.float64))
    largest = float(values.max(initial=0.0))
    if not 0 < largest < math.inf:
        return largest
    return largest * math.sqrt(float(np.square(values / largest).sum()))
