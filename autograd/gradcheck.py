"""`gradcheck`: six cheap tests that a wrong derivative does not pass, in this order.

*determinism*   the same call returns the same values and the same gradients twice
*holes*         gap elements, and elements that are not finite, have the gradient zero
*linearity*     vjp(2a - 3b) is 2 vjp(a) - 3 vjp(b)
*adjointness*   <w, jvp(v)> is <vjp(w), v>: the two directions agree, without any differencing
*differences*   the gradient agrees with central differences of the fourth order
*float32*       the gradient of float32 inputs is float32, and close to that of float64 inputs

All tests run on read-only arrays, so that a write into an input or a cotangent is an error. For the second order the
tests run on the function (x, w) -> vjp; *composite* checks that a recorded vjp has the same values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from pynested.backends import transfer
from pynested.backends.dtypes import is_float
from pynested.backends.errors import GradientError
from pynested.backends.host import from_host, to_host

from .array import Array, raw
from .backward import grad
from .containers import flatten, flatten_like
from .decorators import operator
from .functional import jvp, vjp
from .modes import enable_grad, no_grad
from .primitives.unary import zeros_like

Arrays = list[np.ndarray[Any, Any]]
EXACT = 1e-11  # of the scale: rounding alone
SMOOTH = 1e-8  # of the scale: the accuracy of the differences
SINGLE = 2e-3  # of the scale: the accuracy of float32
STEP = 1e-3  # of the size of an element, which counts as 0.05 to 1
FEW = 64  # elements that are varied one by one; more than that are varied along random directions


@operator
def gradcheck(function: Callable[..., Any], *inputs: Any, order: int = 2, seed: int = 0) -> bool:
    """Return True if the derivatives of ``function`` at ``inputs`` are right in both directions.

    Parameters
    ----------
    function : callable
        Takes the inputs; returns an array, a nested array, or a container of them. Smooth near the inputs.
    *inputs : arrays, nested arrays, containers, anything
        One tuple alone holds all of them, as in torch.
        The arrays that require grad are varied, in float64; if none does, every floating point array is.
    order : int
        2 also checks the derivatives of the derivatives.
    seed : int
        For the random directions.

    Raises
    ------
    GradientError
        For the first test that failed; it names the argument, the element, and the expected and the found number.

    Examples
    --------
    >>> import pynested as pn
    >>> pn.gradcheck(lambda x, w: (x * w).tanh(), pn.array([1.0, 2.0]), pn.array(3.0))
    True
    """
    if len(inputs) == 1 and isinstance(inputs[0], tuple):
        (inputs,) = inputs
    generator = np.random.default_rng(seed)
    first = NumericFunction("", function, inputs)
    _check(first, generator)
    if order > 1:
        weights = _normal_arrays(generator, first.values(first.start))
        outputs, rebuild = flatten(function(*first.arguments(first.start)))
        unrecorded, recorded = first.vjp(first.start, weights), first.vjp(first.start, weights, create_graph=True)
        first.check_equal("composite", first.names, unrecorded, recorded, EXACT * _largest(*unrecorded, *weights))

        def second_order(arguments: Any, cotangents: Any) -> Any:
            return vjp(function, *arguments)[1](rebuild(cotangents))

        floats = [output for output in outputs if is_float(output.dtype)]
        cotangents = [
            Array(transfer(w, y.device), y.device).requires_grad_() for w, y in zip(weights, floats, strict=True)
        ]
        arguments = first.arguments(first.start, requires_grad=True)
        _check(NumericFunction("second order: ", second_order, (arguments, cotangents)), generator)
    return True


# ---- the tests ------------------------------------------------------------------------------------------------------


def _check(f: NumericFunction, generator: np.random.Generator) -> None:
    """Run the six tests."""
    start, names = f.start, f.names
    values = f.values(start)
    if not values or not start:
        raise GradientError(f"gradcheck: {f.prefix}there is no floating point input, or no such output, to check.")
    if not all(np.isfinite(value).all() for value in values):
        raise GradientError(f"gradcheck: {f.prefix}the function is not finite at the inputs; choose others.")
    w, other, v = (_normal_arrays(generator, like) for like in (values, values, start))
    gradients = f.vjp(start, w)
    scale = _largest(*gradients, *w)
    outputs = [f"output {i}" for i in range(len(values))]
    zeros = [np.zeros_like(x) for x in start]
    f.check_equal("determinism", outputs, values, f.values(start), 0)
    f.check_equal("determinism", names, gradients, f.vjp(start, w), 0)
    f.check_equal("signature", names, zeros, [np.zeros_like(g) for g in gradients], 0)
    in_holes = [np.where(is_varied, 0, g) for is_varied, g in zip(f.is_varied, gradients, strict=True)]
    f.check_equal("holes", names, zeros, in_holes, 0)
    combined = f.vjp(start, [2 * a - 3 * b for a, b in zip(w, other, strict=True)])
    pairs = zip(gradients, f.vjp(start, other), strict=True)
    f.check_equal("linearity", names, [2 * a - 3 * b for a, b in pairs], combined, 10 * EXACT * scale)
    tangents = f.jvp(start, v)
    f.check_equal("signature", outputs, [np.zeros_like(y) for y in values], [np.zeros_like(t) for t in tangents], 0)
    forth, back = _products(w, tangents), _products(gradients, v)
    if not abs(forth.sum() - back.sum()) <= EXACT * (np.abs(forth).sum() + np.abs(back).sum() + scale):
        raise f.failure("adjointness", "<w, jvp(v)>", f"<vjp(w), v> = {back.sum()!r}", repr(forth.sum()))
    _check_differences(f, values, w, gradients)
    single = f.vjp([x.astype(np.float32) for x in start], [x.astype(np.float32) for x in w])
    f.check_equal("float32", names, [g.astype(np.float32) for g in gradients], single, SINGLE * scale)


def _check_differences(f: NumericFunction, values: Arrays, w: Arrays, gradients: Arrays) -> None:
    """Compare the gradient along each element, or along random directions, with central differences."""
    noise = np.finfo(np.float64).eps * float(np.abs(_products(w, values)).sum())  # of a difference of values
    for number, (x, gradient) in enumerate(zip(f.start, gradients, strict=True)):
        steps = np.where(f.is_varied[number], STEP * np.clip(np.abs(x), 0.05, 1), 0)
        largest = float(np.abs(gradient).max(initial=0))
        for place, direction in _directions(steps):
            expected = _difference(f, w, number, direction)
            found = float((gradient * direction).sum())
            size = float(np.abs(direction).max())
            near = abs(expected) + largest * size * np.sqrt(direction.size)
            if abs(expected - found) <= SMOOTH * near + 20 * noise:
                continue
            halved = 2 * _difference(f, w, number, direction / 2)
            hint = ""
            if not abs(expected - halved) <= 1e-4 * abs(expected - found):
                hint = " The function does not look smooth there; check another point, away from kinks."
            expected, found = expected / size, found / size
            raise f.failure("differences", f"{f.names[number]}, {place}", repr(expected), repr(found), hint)


def _directions(steps: np.ndarray[Any, Any]) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    """Yield the directions of finite differences: each element by its step, or all at once with random signs."""
    if steps.size > FEW:
        generator = np.random.default_rng(steps.size)
        for number in range(8):
            yield f"direction {number}", steps * generator.choice([-1.0, 1.0], steps.shape)
        return
    for index in map(tuple, np.argwhere(steps).tolist()):
        direction = np.zeros_like(steps)
        direction[index] = steps[index]
        yield f"element {index}", direction


def _difference(f: NumericFunction, w: Arrays, number: int, direction: np.ndarray[Any, Any]) -> float:
    """Return the derivative of <w, outputs> along ``direction`` of one argument, by central differences."""

    def products(steps: int) -> np.ndarray[Any, Any]:
        moved = [x + steps * direction if i == number else x for i, x in enumerate(f.start)]
        return _products(w, f.values(moved))

    return float((8 * (products(1) - products(-1)) - (products(2) - products(-2))).sum() / 12)


def _normal_arrays(generator: np.random.Generator, like: Arrays) -> Arrays:
    """Return random arrays of the same shapes."""
    return [np.asarray(generator.standard_normal(x.shape)) for x in like]


def _largest(*arrays: np.ndarray[Any, Any]) -> float:
    """Return the greatest absolute value, and at least 0.001."""
    return max([1e-3, *[float(np.abs(x).max(initial=0)) for x in arrays]])


def _products(a: Arrays, b: Arrays) -> np.ndarray[Any, Any]:
    """Return the products of the elements of two lists of arrays, flat."""
    products = [(x * y).reshape(-1) for x, y in zip(a, b, strict=True)]
    return np.concatenate(products) if products else np.zeros(0)


# ---- the function under test ----------------------------------------------------------------------------------------


class NumericFunction:
    """A function of raw float64 arrays, computed on read-only copies: values, vjp and jvp.

    Attributes
    ----------
    prefix : str
        The beginning of its failures.
    start, names : list
        The arrays that are varied, and how failures name them.
    is_varied : list of arrays of bool
        False for elements that are not varied: gaps, and what is not finite, which cannot have influence on outputs
        that are finite.
    """

    def __init__(self, prefix: str, function: Callable[..., Any], inputs: tuple[Any, ...]) -> None:
        self.prefix, self.function = prefix, function
        self.arrays, self.rebuild = flatten(inputs)
        names = [
            f"argument {i}" if type(value) is Array else f"argument {i}, array {j}"
            for i, value in enumerate(inputs)
            for j in range(len(flatten(value)[0]))
        ]
        floats = [i for i, array in enumerate(self.arrays) if is_float(array.dtype)]
        self.positions = [i for i in floats if self.arrays[i].requires_grad] or floats
        self.names = [names[i] for i in self.positions]
        self.start = [to_host(self.arrays[i].data).astype(np.float64) for i in self.positions]
        masks = _element_masks(inputs)
        self.is_varied = [np.isfinite(x) & masks[i] for x, i in zip(self.start, self.positions, strict=True)]

    def arguments(self, xs: Arrays, requires_grad: bool = False) -> Any:
        """Return the arguments with ``xs`` in place of the varied arrays."""
        arrays = [array.detach() for array in self.arrays]
        for i, x in zip(self.positions, xs, strict=True):
            arrays[i] = _read_only(x, self.arrays[i].device).requires_grad_(requires_grad)
        return self.rebuild(arrays)

    def values(self, xs: Arrays) -> Arrays:
        """Return the floating point outputs, with zeros in gaps."""
        with no_grad(), _explain_readonly_write(self.prefix):
            return [_without_gaps(y, mask) for y, mask in _floats(self.function(*self.arguments(xs)))]

    def vjp(self, xs: Arrays, ws: Arrays, create_graph: bool = False) -> Arrays:
        """Return the cotangents of ``xs`` for the cotangents ``ws`` of the outputs."""
        arguments = self.arguments(xs, requires_grad=True)
        arrays = flatten(arguments)[0]
        leaves = [arrays[i] for i in self.positions]
        with enable_grad(), _explain_readonly_write(self.prefix):
            pairs = [
                (y, _read_only(np.where(mask, w, w.dtype.type(0)), y.device))
                for (y, mask), w in zip(_floats(self.function(*arguments)), ws, strict=True)
                if y.requires_grad
            ]
            if not pairs:
                return [np.zeros_like(x) for x in xs]
            outputs, weights = zip(*pairs, strict=True)
            gradients = grad(outputs, leaves, weights, create_graph=create_graph, allow_unused=True)
        return [np.zeros_like(x) if g is None else to_host(g.data) for g, x in zip(gradients, xs, strict=True)]

    def jvp(self, xs: Arrays, vs: Arrays) -> Arrays:
        """Return the tangents of the floating point outputs, with zeros in gaps."""
        tangents: list[Any] = [zeros_like(array) for array in self.arrays]
        for i, v in zip(self.positions, vs, strict=True):
            tangents[i] = _read_only(v, self.arrays[i].device)
        with _explain_readonly_write(self.prefix):
            results = jvp(self.function, self.arguments(xs), self.rebuild(tangents))[1]
        return [_without_gaps(t, mask) for t, mask in _floats(results)]

    def check_equal(self, test: str, names: Sequence[str], expected: Arrays, found: Arrays, tolerance: float) -> None:
        """Raise if the distance of ``found`` is above ``tolerance``; for a tolerance of 0, NaN is equal to NaN."""
        for name, e, f in zip(names, expected, found, strict=True):
            if e.shape != f.shape or e.dtype != f.dtype:
                raise self.failure(test, name, f"shape {e.shape}, {e.dtype}", f"shape {f.shape}, {f.dtype}")
            same = (e == f) | (np.abs(e - f) <= tolerance) | ((tolerance == 0) & (e != e) & (f != f))
            for index in map(tuple, np.argwhere(~same)[:1].tolist()):
                raise self.failure(test, f"{name}, element {index}", repr(e[index].item()), repr(f[index].item()))

    def failure(self, test: str, place: str, expected: str, found: str, hint: str = "") -> GradientError:
        """Return the error of a test that failed."""
        return GradientError(f"gradcheck: {self.prefix}{test}: {place}: expected {expected}, found {found}.{hint}")


def _element_masks(value: Any) -> Arrays:
    """Return for each array in ``value`` a mask of the elements that are not in gaps: the cotangent of ones there."""
    arrays, rebuild = flatten(value)
    ones = rebuild([Array(from_host(np.ones(x.shape), x.device), x.device) for x in arrays])
    return [to_host(raw(cotangent)) != 0 for cotangent in flatten_like("gradcheck", value, ones)]


def _floats(outputs: Any) -> list[tuple[Array, np.ndarray[Any, Any]]]:
    """Return the floating point arrays among outputs, each with a mask of the elements that belong to it."""
    pairs = zip(flatten(outputs)[0], _element_masks(outputs), strict=True)
    return [(array, mask) for array, mask in pairs if is_float(array.dtype)]


def _without_gaps(array: Array, mask: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the values on the host, zero in gaps."""
    values = to_host(array.data)
    return np.where(mask, values, values.dtype.type(0))


def _read_only(values: np.ndarray[Any, Any], device: str) -> Array:
    """Return a copy on ``device``, which is read-only if it is an array of NumPy."""
    copy = transfer(values, device)
    if isinstance(copy, np.ndarray):
        copy.flags.writeable = False
    return Array(copy, device)


@contextmanager
def _explain_readonly_write(prefix: str) -> Iterator[None]:
    """Explain the error of a write into a read-only array."""
    try:
        yield
    except ValueError as error:
        if "read-only" not in str(error):
            raise
        raise GradientError(
            f"gradcheck: {prefix}read-only: the function or its derivative writes into an input or a cotangent."
        ) from error
