"""`gradcheck`: six cheap tests that a wrong derivative does not pass, in this order.

*determinism*   the same call gives the same values and the same gradients twice
*holes*         what no component shows, and what is not finite, has the gradient zero
*linearity*     vjp(2a - 3b) is 2 vjp(a) - 3 vjp(b)
*adjointness*   <w, jvp(v)> is <vjp(w), v>: the two directions agree, without any differencing
*differences*   the gradient agrees with central differences of the fourth order
*float32*       the gradient of float32 inputs is float32, and close to that of float64 inputs

All of them run on read-only arrays, so that a write into an input or a cotangent is an error. Then they are run on
(x, w) -> vjp, which is second order; there *composite* says that a vjp is the same when it is recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from pynested.backends import transfer
from pynested.backends.dtypes import is_float
from pynested.backends.errors import GradientError

from .array import Array
from .containers import flatten
from .dispatch import operator
from .functional import vjp
from .probe import Arrays, Probe

EXACT = 1e-11  # of the scale: what is equal but for rounding
SMOOTH = 1e-8  # of the scale: what differences can tell
SINGLE = 2e-3  # of the scale: what float32 can tell
STEP = 1e-3  # of an element's size, taken to be 0.05 to 1
FEW = 64  # so many elements are varied one by one; more than that, along random directions


@operator
def gradcheck(function: Callable[..., Any], *inputs: Any, order: int = 2, seed: int = 0) -> bool:
    """True if the derivatives of ``function`` at ``inputs`` are right in both directions; an error says what is wrong.

    Parameters
    ----------
    function : callable
        Takes the inputs; returns an array, a nested array, or a container of them. Smooth near the inputs.
    *inputs : arrays, nested arrays, containers, anything
        One tuple alone holds all of them, as in torch.
        Those that require grad are varied, in float64; if none does, every floating point array is.
    order : int
        2 also checks the derivatives of the derivatives.
    seed : int
        For the random directions.

    Raises
    ------
    GradientError
        Naming the first test that failed, the argument, the element, and what was expected and found.

    Examples
    --------
    >>> import pynested as pn
    >>> pn.gradcheck(lambda x, w: (x * w).tanh(), pn.array([1.0, 2.0]), pn.array(3.0))
    True
    """
    if len(inputs) == 1 and isinstance(inputs[0], tuple):
        (inputs,) = inputs
    generator = np.random.default_rng(seed)
    probe = Probe("", function, inputs)
    _check(probe, generator)
    if order > 1:
        weights = _drawn(generator, probe.values(probe.start))
        outputs, rebuild = flatten(function(*probe.filled(probe.start)))
        _check_composite(probe, weights)

        def second(arguments: Any, cotangents: Any) -> Any:
            return vjp(function, *arguments)[1](rebuild(cotangents))

        floats = [output for output in outputs if is_float(output.dtype)]
        moved = [Array(transfer(w, y.device), y.device) for w, y in zip(weights, floats, strict=True)]
        given = probe.filled(probe.start, tracked=True), [one.requires_grad_() for one in moved]
        _check(Probe("second order: ", second, given), generator)
    return True


def _check(probe: Probe, generator: np.random.Generator) -> None:
    """Run the six tests."""
    start = probe.start
    values = probe.values(start)
    if not values or not start:
        raise GradientError(f"gradcheck: {probe.prefix}there is no floating point input, or no such output, to check.")
    if not all(np.isfinite(value).all() for value in values):
        raise GradientError(f"gradcheck: {probe.prefix}the function is not finite at the inputs; choose others.")
    w, other, v = _drawn(generator, values), _drawn(generator, values), _drawn(generator, start)
    names = [probe.names[i] for i in probe.varied]
    pulled = probe.vjp(start, w)
    scale = _size(*pulled, *w)
    outputs = [f"output {i}" for i in range(len(values))]
    probe.equal("determinism", outputs, values, probe.values(start), 0)
    probe.equal("determinism", names, pulled, probe.vjp(start, w), 0)
    probe.equal("signature", names, [np.zeros_like(x) for x in start], [np.zeros_like(one) for one in pulled], 0)
    in_holes = [np.where(shown, 0, one) for shown, one in zip(probe.shown, pulled, strict=True)]
    probe.equal("holes", names, [np.zeros_like(x) for x in start], in_holes, 0)
    mixed = probe.vjp(start, [2 * a - 3 * b for a, b in zip(w, other, strict=True)])
    parts = zip(pulled, probe.vjp(start, other), strict=True)
    probe.equal("linearity", names, [2 * a - 3 * b for a, b in parts], mixed, 10 * EXACT * scale)
    pushed = probe.jvp(start, v)
    probe.equal("signature", outputs, [np.zeros_like(y) for y in values], [np.zeros_like(one) for one in pushed], 0)
    forth, back = _dots(w, pushed), _dots(pulled, v)
    if not abs(forth.sum() - back.sum()) <= EXACT * (np.abs(forth).sum() + np.abs(back).sum() + scale):
        raise probe.failure("adjointness", "<w, jvp(v)>", f"<vjp(w), v> = {back.sum()!r}", repr(forth.sum()))
    _check_differences(probe, names, values, w, pulled)
    _check_float32(probe, names, w, pulled, scale)


def _check_differences(probe: Probe, names: list[str], values: Arrays, w: Arrays, pulled: Arrays) -> None:
    """The gradient along each element, or along random directions, against central differences."""
    start = probe.start
    noise = np.finfo(np.float64).eps * float(np.abs(_dots(w, values)).sum())  # of a difference of values
    for number in range(len(start)):
        steps = np.where(probe.shown[number], STEP * np.clip(np.abs(start[number]), 0.05, 1), 0)
        largest = float(np.abs(pulled[number]).max(initial=0))
        for where, direction in _directions(steps):
            expected = _along(probe, w, number, direction)
            found = float((pulled[number] * direction).sum())
            size = float(np.abs(direction).max())
            near = abs(expected) + largest * size * np.sqrt(direction.size)
            if abs(expected - found) <= SMOOTH * near + 20 * noise:
                continue
            halved = 2 * _along(probe, w, number, direction / 2)
            hint = ""
            if not abs(expected - halved) <= 1e-4 * abs(expected - found):
                hint = " The function does not look smooth there; check another point, away from kinks."
            expected, found = expected / size, found / size
            raise probe.failure("differences", f"{names[number]}, {where}", repr(expected), repr(found), hint)


def _directions(steps: np.ndarray[Any, Any]) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    """Yield the directions of finite differences: each element by its step, or all at once with random signs."""
    if steps.size > FEW:
        generator = np.random.default_rng(steps.size)
        for number in range(8):
            yield f"direction {number}", steps * generator.choice([-1.0, 1.0], steps.shape)
        return
    for place in np.argwhere(steps):
        at = tuple(place.tolist())
        direction = np.zeros_like(steps)
        direction[at] = steps[at]
        yield f"element {at}", direction


def _along(probe: Probe, w: Arrays, number: int, direction: np.ndarray[Any, Any]) -> float:
    """The derivative of <w, outputs> along ``direction`` of one argument: central differences of the fourth order."""

    def value(times: int) -> np.ndarray[Any, Any]:
        moved = [x + times * direction if i == number else x for i, x in enumerate(probe.start)]
        return _dots(w, probe.values(moved))

    return float((8 * (value(1) - value(-1)) - (value(2) - value(-2))).sum() / 12)


def _check_float32(probe: Probe, names: list[str], w: Arrays, pulled: Arrays, scale: float) -> None:
    """Cotangents of float32 inputs: their dtype, and roughly their values."""
    single = probe.vjp([x.astype(np.float32) for x in probe.start], [one.astype(np.float32) for one in w])
    probe.equal("float32", names, [one.astype(np.float32) for one in pulled], single, SINGLE * scale)


def _check_composite(probe: Probe, w: Arrays) -> None:
    """A recorded vjp computes what one that is not recorded does."""
    names = [probe.names[i] for i in probe.varied]
    fused, composite = probe.vjp(probe.start, w), probe.vjp(probe.start, w, graph=True)
    probe.equal("composite", names, fused, composite, EXACT * _size(*fused, *w))


def _drawn(generator: np.random.Generator, like: Arrays) -> Arrays:
    """Random arrays of the same shapes."""
    return [np.asarray(generator.standard_normal(one.shape)) for one in like]


def _size(*arrays: np.ndarray[Any, Any]) -> float:
    """The greatest absolute value, and at least 0.001."""
    return max([1e-3, *[float(np.abs(one).max(initial=0)) for one in arrays]])


def _dots(a: Arrays, b: Arrays) -> np.ndarray[Any, Any]:
    """The products of all elements of two lists of arrays, flat."""
    products = [(x * y).reshape(-1) for x, y in zip(a, b, strict=True)]
    return np.concatenate(products) if products else np.zeros(0)
