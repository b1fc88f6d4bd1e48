"""Parts of a training loop as pure functions: optimiser steps, clipping, and batches of similar lengths.

    state = None
    for chosen in pn.training.batches(lengths, most_elements=4096, seed=0):
        gradients = pn.grad(loss(parameters, data[chosen]), parameters)
        gradients, norm = pn.training.clip_by_norm(gradients, 1.0)
        parameters, state = pn.training.adamw(parameters, gradients, state, learning_rate=1e-3)

Parameters are a tree: an array, dense or nested, or dicts, lists and tuples of them. A step takes a tree and returns
another, whose arrays are new leaves; nothing is written in place, and nothing is recorded. The formulas are PyTorch's,
in the dtype of each parameter. `pn.save` and `pn.load` keep a dict of parameters in a file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pynested import operators as ops
from pynested.autograd import Array, no_grad
from pynested.autograd.arguments.shapes import canonical_int
from pynested.autograd.array import check_gradient
from pynested.autograd.call_errors import check_flags
from pynested.autograd.containers import flatten, flatten_like
from pynested.autograd.decorators import method, operator
from pynested.backends.dtypes import is_float
from pynested.backends.errors import ArgumentError, DTypeError, ShapeError, named_type
from pynested.backends.host import to_host
from pynested.interchange import from_torch
from pynested.structure.validation import as_integers, check_lengths

__all__ = ["adam", "adamw", "batches", "clip_by_norm", "from_state_dict", "sgd"]


class SGDState(NamedTuple):
    """State of `sgd`: a velocity for each parameter, an array of the same structure."""

    velocities: list[Any]


class AdamState(NamedTuple):
    """State of `adam`: the number of steps, and running averages of each gradient and of its square."""

    steps: int
    means: list[Any]
    squares: list[Any]


@operator
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
        The gradients have the shapes of the parameters, as those from `pynested.grad`.
    state : SGDState, optional
        The state that the previous step returned; None for the first step.
    learning_rate, momentum, weight_decay : float
        The factors of the formula, 0 or above. ``weight_decay * p`` is added to ``g`` first.
    nesterov : bool
        Look ahead along the velocity: subtract ``learning_rate * (g + momentum * v)`` instead.

    Raises
    ------
    ArgumentError
        For a negative or infinite number, gradients in another tree, and a state of another function or other shapes.
    ShapeError, StructureError
        For a gradient of another shape or dtype, and for a state of components of other shapes.
    DTypeError
        For a parameter that is not floating point.

    Examples
    --------
    >>> w = pn.array([1.0, 2.0], requires_grad=True)
    >>> slope = pn.grad((w * w).sum(), w)
    >>> w, state = pn.training.sgd(w, slope, learning_rate=0.25)
    >>> w
    array([0.5, 1. ], requires_grad=True)
    """
    check_flags("sgd", nesterov=nesterov)
    learning_rate, momentum, weight_decay = _as_floats(
        "sgd", learning_rate=learning_rate, momentum=momentum, weight_decay=weight_decay
    )
    if nesterov and not momentum:
        raise ArgumentError("sgd: nesterov looks ahead along the velocity, so momentum must be above 0.")

    def step(p: Array, g: Array, velocity: Any = 0.0) -> tuple[Array, ...]:
        g = g + p * weight_decay if weight_decay else g
        velocity = velocity * momentum + g
        return p - (g + velocity * momentum if nesterov else velocity) * learning_rate, velocity

    stepped, columns = _step("sgd", parameters, gradients, state, SGDState, step)
    return stepped, SGDState(*columns)


@operator
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
    """Return new parameters and the new state: ``p - learning_rate * m / (sqrt(v) + eps)``.

    ``m`` and ``v`` are running averages of the gradient and of its square: ``beta * m + (1 - beta) * g``, with
    ``betas`` from 0 to below 1, divided by ``1 - beta**steps``. The other parameters, results and errors are those of
    `sgd`. After `torch.optim.Adam`, and Kingma and Ba, "Adam: a method for stochastic optimization", 2015.

    Examples
    --------
    >>> w = {"scale": pn.array([1.0, 2.0], requires_grad=True)}
    >>> w, state = pn.training.adam(w, {"scale": pn.array([3.0, -4.0])}, learning_rate=0.5)
    >>> w["scale"], state.steps
    (array([0.5, 2.5], requires_grad=True), 1)
    """
    return _adam("adam", parameters, gradients, state, learning_rate, betas, eps, weight_decay)


@operator
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
    """Return the step of `adam`, applied to parameters multiplied by ``1 - learning_rate * weight_decay``.

    After `torch.optim.AdamW`, and Loshchilov and Hutter, "Decoupled weight decay regularization", 2019.

    Examples
    --------
    >>> w, state = pn.training.adamw(pn.array([1.0]), pn.array([0.0]), learning_rate=0.5, weight_decay=0.5)
    >>> w
    array([0.75])
    """
    return _adam("adamw", parameters, gradients, state, learning_rate, betas, eps, weight_decay)


def _adam(
    name: str, parameters: Any, gradients: Any, state: AdamState | None, learning_rate: float,
    betas: tuple[float, float], eps: float, weight_decay: float,
) -> tuple[Any, AdamState]:  # fmt: skip
    learning_rate, eps, weight_decay = _as_floats(name, learning_rate=learning_rate, eps=eps, weight_decay=weight_decay)
    is_pair = isinstance(betas, list | tuple) and len(betas) == 2
    if not is_pair or not all(isinstance(beta, Real) and 0 <= beta < 1 for beta in betas):
        raise ArgumentError(f"{name}: betas are two numbers from 0 to below 1, not {betas!r}.")
    (first, second), steps = map(float, betas), getattr(state, "steps", 0) + 1

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
) -> tuple[Any, list[list[Any]]]:
    """Return the new parameters, which require grad if the old ones did, and the arrays of the new state.

    ``step(parameter, gradient, *arrays)`` returns the new parameter and the new arrays; at first there are no arrays.
    """
    array_by_path, (arrays, rebuild) = _arrays_by_path(f"{name}: parameters", parameters), flatten(parameters)
    if not arrays:
        raise ArgumentError(f"{name}: there is no array among the parameters.")
    slopes: list[Any] = flatten_like(f"{name}: the gradients", parameters, gradients, is_tangent=True)
    for path, array, slope in zip(array_by_path, arrays, slopes, strict=True):
        if slope is None:
            raise ArgumentError(f"{path} has no gradient. Differentiate the same tree: pn.grad(loss, parameters).")
        if not is_float(array.dtype):
            raise DTypeError(f"{path} has dtype {array.dtype}. Leave it out, or convert it: x.to(dtype=pn.float32).")
        check_gradient(f"{path} has", slope, array.shape, array.dtype, array.device, error=ShapeError)
    kinds, listed = [f"{x.dtype} {x.shape}" for x in arrays], list(array_by_path.values())
    is_state = isinstance(state, kind) and [f"{x.dtype} {x.shape}" for x in flatten(state[-1])[0]] == kinds
    if state is not None and not is_state:
        raise ArgumentError(
            f"{name}: the state must be None, for the first step, or the {kind.__name__} that the previous step "
            f"returned for the same parameters, here {', '.join(kinds)}; not this {type(state).__name__}."
        )
    columns = [flatten_like(f"{name}: the state", listed, x, True) for x in state or () if not isinstance(x, int)]
    with no_grad():
        rows = [step(p.detach(), g.detach(), *old) for p, g, *old in zip(arrays, slopes, *columns, strict=True)]
    leaves, *new_columns = map(list, zip(*rows, strict=True))
    leaves = [new.requires_grad_(old.requires_grad) for new, old in zip(leaves, arrays, strict=True)]
    return rebuild(leaves), [flatten(listed)[1](column) for column in new_columns]


def _arrays_by_path(path: str, tree: Any) -> dict[str, Any]:
    """Return the arrays of a tree by ``path``, continued to each array, as in ``path['layers'][0]``."""
    if isinstance(tree, np.ndarray):
        raise ArgumentError(f"{path} is an array of NumPy. Convert it: pn.array(x).")
    if not isinstance(tree, dict | list | tuple):
        return {path: tree} if flatten(tree)[0] else {}
    entries = tree.items() if isinstance(tree, dict) else enumerate(tree)
    return {p: x for key, entry in entries for p, x in _arrays_by_path(f"{path}[{key!r}]", entry).items()}


def _as_floats(name: str, **numbers: float) -> list[float]:
    """Return numbers as Python floats, which do not widen the dtype of an array, as floats of NumPy would."""
    for parameter, number in numbers.items():
        if not isinstance(number, Real) or not 0 <= float(number) < math.inf:
            raise ArgumentError(f"{name}: {parameter} must be a number, 0 or above and finite, not {number!r}.")
    return [float(number) for number in numbers.values()]


@operator
def clip_by_norm(gradients: Any, most: float) -> tuple[Any, float]:
    """Scale gradients together so that their norm is at most ``most``; return them and the norm before scaling.

    If the norm is not above ``most``, the tree itself is returned. The norm is the square root of the sum of all
    squares, in float64, and no square overflows. If a gradient is NaN or infinite, so is the norm, and nothing is
    scaled. Errors: ArgumentError for ``most`` not above 0, and for a tree without an array.

    Examples
    --------
    >>> pn.training.clip_by_norm({"w": pn.array([3.0, 4.0])}, 1.0)
    ({'w': array([0.6, 0.8])}, 5.0)
    """
    if not (isinstance(most, Real) and most > 0):
        raise ArgumentError(f"clip_by_norm: most must be above 0, not {most!r}.")
    arrays, rebuild = flatten(gradients)
    if not _arrays_by_path("clip_by_norm: gradients", gradients):
        raise ArgumentError("clip_by_norm: there is no array among the gradients.")
    measured: list[Any] = flatten_like("clip_by_norm", gradients, gradients, is_tangent=True)  # with zeros in gaps
    values = np.concatenate([to_host(array.data).astype(np.float64).reshape(-1) for array in measured])
    norm = largest = float(np.abs(values).max(initial=0.0))
    if 0 < largest < math.inf:
        norm *= float(np.linalg.norm(values / largest))  # so that no square overflows or vanishes
    if not most < norm < math.inf:
        return gradients, norm
    with no_grad():  # in float64, as other dtypes round a small factor, even to 0
        scaled = [(x.detach().to(np.float64) * float(most / norm), x.dtype) for x in arrays]
        return rebuild([y.to(dtype) if is_float(dtype) else y for y, dtype in scaled]), norm


@method
def batches(
    lengths: Sequence[int] | NDArray[np.int64],
    *,
    most_elements: int | None = None,
    most_components: int | None = None,
    seed: int | None = None,
) -> Iterator[NDArray[np.int64]]:
    """Yield the indices of the sequences of each batch: every sequence once, sequences of similar lengths together.

    ``most_elements`` keeps the memory and the time of a step even, and operators are faster on components of similar
    lengths.

    Parameters
    ----------
    lengths : integers (N,)
        The lengths of the sequences, 0 or more.
    most_elements, most_components : int, optional
        The largest sum of the lengths of a batch, and the largest number of sequences. A sequence longer than
        ``most_elements`` is a batch of its own. At least one limit must be given, 1 or above.
    seed : int, optional
        Shuffles the batches, and sequences of equal length among each other. Without a seed, the shortest come first.

    Raises
    ------
    ArgumentError
        For a limit below 1, a negative seed, and a nested array instead of its lengths.
    StructureError, DTypeError
        For negative lengths, and for lengths that are not integers.

    Examples
    --------
    >>> lengths = [5, 1, 4, 1, 9]
    >>> [chosen.tolist() for chosen in pn.training.batches(lengths, most_elements=9)]
    [[1, 3, 2], [0], [4]]
    """
    sizes = as_integers("batches", "lengths", lengths, 1)
    check_lengths("batches", sizes)
    limits = {"most_elements": most_elements, "most_components": most_components}
    given = [canonical_int("batches", name, limit) for name, limit in limits.items() if limit is not None]
    if not given or min(given) < 1:
        raise ArgumentError(f"batches: give most_elements or most_components, or both, 1 or above, not {limits}.")
    if seed is not None and canonical_int("batches", "seed", seed) < 0:
        raise ArgumentError(f"batches: seed must be 0 or above, not {seed}.")
    generator = None if seed is None else np.random.default_rng(seed)
    order = np.arange(len(sizes)) if generator is None else generator.permutation(len(sizes))
    order = order[np.argsort(sizes[order], kind="stable")]
    cuts, elements = [0], 0
    for i, length in enumerate(sizes[order].tolist()):
        elements += length
        is_full = most_elements is not None and elements > most_elements
        if i > cuts[-1] and (is_full or i - cuts[-1] == most_components):
            cuts.append(i)
            elements = length
    parts = [part for part in np.split(order, cuts[1:]) if part.size]
    return iter(parts if generator is None else [parts[i] for i in generator.permutation(len(parts))])


@method
def from_state_dict(state: Mapping[str, Any], *, requires_grad: bool = True) -> dict[str, Array]:
    """Copy the parameters of a PyTorch module by name: ``from_state_dict(module.state_dict())``.

    `pynested.transformer_encoder_layer` has the same names. A `state_dict` has buffers as well, and tied weights
    twice; ``dict(module.named_parameters())`` has neither. Floats require grad if ``requires_grad`` is true, integers
    never. ArgumentError unless ``state`` maps names to tensors. DTypeError and MissingDependency as for `from_torch`.

    Examples
    --------
    >>> import torch  # doctest: +SKIP
    >>> weights = pn.training.from_state_dict(torch.nn.Linear(2, 1).state_dict())  # doctest: +SKIP
    >>> sorted(weights)  # doctest: +SKIP
    ['bias', 'weight']
    """
    check_flags("from_state_dict", requires_grad=requires_grad)
    if not isinstance(state, Mapping):
        raise ArgumentError(f"from_state_dict: takes a mapping, such as module.state_dict(), not {named_type(state)}.")
    arrays: dict[str, Array] = {}
    for name, tensor in state.items():
        if not hasattr(tensor, "detach"):
            raise ArgumentError(f"from_state_dict: {name!r} is {type(tensor).__name__}, not a tensor.")
        array = from_torch(tensor.detach(), copy=True)
        arrays[name] = array.requires_grad_(requires_grad and array.dtype.kind == "f")  # type: ignore[assignment]
    return arrays
