"""`gradcheck`: six cheap tests that a wrong derivative does not pass. They run in this order.

*determinism*   the same call returns the same values and the same gradients twice
*gaps*          the gradient is zero in gaps (memory of no component), and for input elements that are not finite
*linearity*     vjp(2a - 3b) is 2 vjp(a) - 3 vjp(b)
*adjointness*   <w, jvp(v)> is <vjp(w), v>: forward and reverse mode agree
*differences*   the gradient agrees with central differences of the fourth order
*float32*       the gradient of float32 inputs is float32, and close to that of float64 inputs

The function is checked as a function of one vector ``x``: the elements of all varied arrays, one after the other. Its
result is the vector ``y`` of the elements of all floating point outputs. ``w``, ``a`` and ``b`` are cotangents of y,
and ``v`` is a tangent of x. All tests run on read-only arrays, so that a write into an input or a cotangent is the
error *read-only*. For the second order the same tests run on the function (x, w) -> vjp(w). Before them *recording*
checks that a vjp has the same values whether it is recorded or not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.random import Generator

from pynested.backends import transfer
from pynested.backends.dtypes import is_float
from pynested.backends.errors import ArgumentError, GradientError
from pynested.backends.host import from_host, to_host

from .arguments.scalars import value_text
from .array import Array, raw
from .call_errors import check_function
from .containers import flatten, flatten_like
from .decorators import operator
from .functional import jvp, vjp
from .modes import enable_grad, no_grad
from .primitives.unary import zeros_like

Vector = np.ndarray[Any, Any]
ROUNDING_ERROR = 1e-11  # relative to the scale of the numbers
DIFFERENCE_ERROR = 1e-8  # of differences of smooth functions, relative to the scale
FLOAT32_ERROR = 2e-3  # relative to the scale
STEP = 1e-3  # of a difference: times the absolute value of the element, itself clipped to [0.05, 1]
MOST_SINGLE_STEPS = 64  # the elements of a larger array are varied along random directions, and not one by one


@operator
def gradcheck(function: Callable[..., Any], *inputs: Any, order: int = 2, seed: int = 0) -> bool:
    """Return True if the derivatives of ``function`` at ``inputs`` are right in both directions.

    Parameters
    ----------
    function : callable
        Takes the inputs; returns an array, a nested array, or a container of them. Smooth near the inputs.
    *inputs : arrays, nested arrays, containers, anything
        If there is one tuple alone, it holds all inputs, as in torch. The arrays that require grad are varied, in
        float64; if none does, every floating point array is varied.
    order : int
        1 or 2; 2 also checks the derivatives of the derivatives.
    seed : int
        Seeds the random cotangents, tangents and directions.

    Raises
    ------
    GradientError
        For the first test that failed; it names the argument, the element, and the expected and the found number. Also
        for a value or a derivative that is not finite.
    ArgumentError
        For a function that is not callable, and another order.

    Examples
    --------
    >>> pn.gradcheck(lambda x, w: (x * w).tanh(), pn.array([1.0, 2.0]), pn.array(3.0))
    True
    """
    check_function("gradcheck", function)
    if isinstance(order, bool) or order not in (1, 2):
        raise ArgumentError(f"gradcheck: order must be 1 or 2, not {value_text(order)}.")
    if len(inputs) == 1 and isinstance(inputs[0], tuple):
        (inputs,) = inputs
    generator = np.random.default_rng(seed)
    try:
        first = VectorFunction("", function, inputs)
        _check(first, generator)
        if order > 1:
            _check(_vjp_as_function(first, generator), generator)
    except (ValueError, GradientError) as error:  # of NumPy, and of operators in place
        if not any(f"{written} is read-only" in str(error) for written in ("array", "destination", "memory")):
            raise
        raise GradientError(
            "gradcheck: read-only: the function or its derivative writes into an input or a cotangent."
        ) from error
    return True


def _vjp_as_function(f: VectorFunction, generator: Generator) -> VectorFunction:
    """Return the function (x, w) -> vjp(w), at a random w; raise if recording the vjp changes its values."""
    w = generator.standard_normal(f.outputs.is_element.size)
    unrecorded, recorded = f.vjp(f.start, w), f.vjp(f.start, w, create_graph=True)
    f.check_equal("recording", f.inputs, unrecorded, recorded, ROUNDING_ERROR * _largest(unrecorded, w))
    arrays = f.inputs.arrays_from(f.start, requires_grad=True)
    cotangents = f.outputs.arrays_from(w, zeros_like, requires_grad=True)
    return VectorFunction("second order: ", lambda x, w: vjp(f.call, x)[1](w), (arrays, cotangents))


def _check(f: VectorFunction, generator: Generator) -> None:
    """Run the six tests; raise GradientError for the first that fails."""
    x, y = f.start, f.values(f.start)
    if not np.isfinite(y).all():
        raise GradientError(f"gradcheck: {f.prefix}the function is not finite at the inputs; choose others.")
    a, b, v = (generator.standard_normal(size) for size in (y.size, y.size, x.size))
    gradient, tangent = f.vjp(x, a), f.jvp(x, v)
    for index in np.flatnonzero(f.is_varied & ~np.isfinite(gradient))[:1]:
        raise GradientError(
            f"gradcheck: {f.prefix}the gradient of {f.inputs.name_of(index)} is {gradient[index]}; choose other inputs."
        )
    scale = _largest(gradient, a)
    f.check_equal("determinism", f.outputs, y, f.values(x), 0)
    f.check_equal("determinism", f.inputs, gradient, f.vjp(x, a), 0)
    f.check_equal("gaps", f.inputs, np.zeros(x.size), np.where(f.is_varied, 0, gradient), 0)
    combined = 2 * gradient - 3 * f.vjp(x, b)
    f.check_equal("linearity", f.inputs, combined, f.vjp(x, 2 * a - 3 * b), 10 * ROUNDING_ERROR * scale)
    forward, reverse = a * tangent, gradient * v
    tolerance = ROUNDING_ERROR * (np.abs(forward).sum() + np.abs(reverse).sum() + scale)
    if not abs(forward.sum() - reverse.sum()) <= tolerance:
        forward_text, reverse_text = str(forward.sum()), f"<vjp(w), v> = {reverse.sum()}"
        raise f.failure("adjointness", "<w, jvp(v)>", reverse_text, forward_text)
    _check_differences(f, y, a, gradient, generator)
    gradient32 = f.vjp(x.astype(np.float32), a.astype(np.float32))
    f.check_equal("float32", f.inputs, gradient.astype(np.float32), gradient32, FLOAT32_ERROR * scale)


def _check_differences(f: VectorFunction, y: Vector, w: Vector, gradient: Vector, generator: Generator) -> None:
    """Compare the gradient along each element, or along random directions, with central differences."""
    noise = np.finfo(np.float64).eps * float(np.abs(w * y).sum())  # rounding error of a difference
    steps = np.where(f.is_varied, STEP * np.clip(np.abs(f.start), 0.05, 1), 0)
    for i, array_slice in f.inputs.slices.items():
        largest = float(np.abs(gradient[array_slice]).max(initial=0)) * np.sqrt(array_slice.stop - array_slice.start)
        for location, direction in _directions(f.inputs, i, steps, generator):
            expected = _difference(f, w, direction)
            actual = float((gradient * direction).sum())
            step = float(np.abs(direction).max())
            if abs(expected - actual) <= DIFFERENCE_ERROR * (abs(expected) + largest * step) + 20 * noise:
                continue
            halved, error = 2 * _difference(f, w, direction / 2), abs(expected - actual)
            # The change of the slope: a half step makes it a quarter if the function is smooth, but a half at a kink.
            changes = [w * (f.values(f.start + d) - 2 * y + f.values(f.start - d)) for d in (direction, direction / 2)]
            has_kink = abs((changes[0] - 4 * changes[1]).sum()) > error
            looks_smooth = abs(expected - halved) <= 1e-4 * error and not has_kink
            hint = "" if looks_smooth else " The function does not look smooth there; check a point away from kinks."
            raise f.failure("differences", location, repr(expected / step), repr(actual / step), hint)


def _directions(inputs: VectorLayout, i: int, steps: Vector, generator: Generator) -> Iterator[tuple[str, Vector]]:
    """Yield the name and the direction of each difference for array ``i``: one element, or all with random signs."""
    array_slice = inputs.slices[i]
    size = array_slice.stop - array_slice.start
    if size > MOST_SINGLE_STEPS:
        for number in range(8):
            direction = np.zeros_like(steps)
            direction[array_slice] = steps[array_slice] * generator.choice([-1.0, 1.0], size)
            yield f"{inputs.names[i]}, direction {number}", direction
        return
    for index in array_slice.start + np.flatnonzero(steps[array_slice]):
        yield inputs.name_of(index), np.where(np.arange(steps.size) == index, steps, 0)


def _difference(f: VectorFunction, w: Vector, direction: Vector) -> float:
    """Return the derivative of <w, outputs> along ``direction``, by central differences."""
    far_before, before, after, far_after = (w * f.values(f.start + step * direction) for step in (-2, -1, 1, 2))
    return float((8 * (after - before) - (far_after - far_before)).sum() / 12)


def _largest(*vectors: Vector) -> float:
    """Return the greatest absolute value, and at least 0.001."""
    return float(np.abs(np.concatenate([[1e-3], *vectors])).max())


class VectorLayout:
    """The layout of a vector: the elements of all floating point arrays in a container, or of those that require grad.

    Attributes
    ----------
    arrays, names : list
        All arrays in the container, and their names.
    slices : dict
        The slice of the vector for each of its arrays, by the position of the array in ``arrays``.
    is_element : array of bool
        False for an element in a gap.
    """

    def __init__(self, names: Sequence[str], value: Any) -> None:
        self.names = names
        self.arrays, self.rebuild = flatten(value)
        ones = self.rebuild([Array(from_host(np.ones(x.shape), x.device), x.device) for x in self.arrays])
        masks = [to_host(raw(x)) != 0 for x in flatten_like("gradcheck", value, ones)]  # fitting puts 0 into gaps
        floats = [i for i, array in enumerate(self.arrays) if is_float(array.dtype)]
        positions = [i for i in floats if self.arrays[i].requires_grad] or floats
        if not positions:
            raise GradientError("gradcheck: there is no floating point input, or no such output, to check.")
        ends = np.cumsum([0, *[self.arrays[i].numel() for i in positions]]).tolist()
        self.slices = {i: slice(*start_and_end) for i, start_and_end in zip(positions, pairwise(ends), strict=True)}
        self.is_element = np.concatenate([masks[i].reshape(-1) for i in positions])

    def vector(self, arrays: Sequence[Array]) -> Vector:
        """Return the elements of those of ``arrays`` that belong to the vector."""
        return np.concatenate([to_host(raw(arrays[i])).reshape(-1) for i in self.slices])

    def arrays_from(
        self, vector: Vector, map_other: Callable[[Array], Array] = Array.detach, requires_grad: bool = False
    ) -> list[Array]:
        """Return read-only arrays with the elements of ``vector``, and ``map_other(array)`` for each other array."""
        arrays = [map_other(array) for array in self.arrays]
        for i, array_slice in self.slices.items():
            values = transfer(vector[array_slice].reshape(arrays[i].shape), arrays[i].device)
            if isinstance(values, np.ndarray):
                values.flags.writeable = False
            arrays[i] = Array(values, arrays[i].device).requires_grad_(requires_grad)
        return arrays

    def name_of(self, index: int) -> str:
        """Return the name of an element of the vector."""
        i, array_slice = next((i, array_slice) for i, array_slice in self.slices.items() if index < array_slice.stop)
        element = tuple(map(int, np.unravel_index(index - array_slice.start, self.arrays[i].shape)))
        return f"{self.names[i]}, element {element}"


class VectorFunction:
    """A function from a vector to a vector, computed on read-only copies: values, vjp and jvp.

    Attributes
    ----------
    prefix : str
        The beginning of its error messages.
    inputs, outputs : VectorLayout
        The layouts of the vectors of the inputs and of the outputs.
    start : vector
        The point at which derivatives are checked.
    is_varied : array of bool
        False for elements in gaps, and for elements that are not finite. Their gradient must be zero, and differences
        leave them out.
    """

    def __init__(self, prefix: str, function: Callable[..., Any], inputs: tuple[Any, ...]) -> None:
        self.prefix, self.function = prefix, function
        names = [
            f"argument {i}" if type(value) is Array else f"argument {i}, array {j}"
            for i, value in enumerate(inputs)
            for j in range(len(flatten(value)[0]))
        ]
        self.inputs = VectorLayout(names, inputs)
        self.start = self.inputs.vector(self.inputs.arrays).astype(np.float64)
        self.is_varied = self.inputs.is_element & np.isfinite(self.start)
        with no_grad():
            outputs = function(*self.inputs.rebuild(self.inputs.arrays_from(self.start)))
        self.outputs = VectorLayout([f"output {i}" for i in range(len(flatten(outputs)[0]))], outputs)

    def call(self, arrays: list[Array]) -> list[Array]:
        """Return the arrays in the outputs of the function, given the arrays in its inputs."""
        return flatten(self.function(*self.inputs.rebuild(arrays)))[0]

    def values(self, x: Vector) -> Vector:
        """Return the floating point outputs, with zeros in gaps."""
        with no_grad():
            return self._without_gaps(self.call(self.inputs.arrays_from(x)))

    def vjp(self, x: Vector, w: Vector, create_graph: bool = False) -> Vector:
        """Return the cotangent of ``x`` for the cotangent ``w`` of the outputs."""
        cotangents = self.outputs.arrays_from(w * self.outputs.is_element, zeros_like, requires_grad=create_graph)
        with enable_grad():
            return self.inputs.vector(vjp(self.call, self.inputs.arrays_from(x))[1](cotangents))

    def jvp(self, x: Vector, v: Vector) -> Vector:
        """Return the tangent of the floating point outputs for the tangent ``v``, with zeros in gaps."""
        tangents = self.inputs.arrays_from(v, zeros_like)
        return self._without_gaps(jvp(self.call, (self.inputs.arrays_from(x),), (tangents,))[1])

    def _without_gaps(self, outputs: Sequence[Array]) -> Vector:
        return np.where(self.outputs.is_element, self.outputs.vector(outputs), 0)

    def check_equal(self, test: str, layout: VectorLayout, expected: Vector, actual: Vector, tolerance: float) -> None:
        """Raise unless ``actual`` is within ``tolerance`` of ``expected``. If it is 0, NaN is equal to NaN."""
        if expected.dtype != actual.dtype:
            raise self.failure(test, layout.names[min(layout.slices)], str(expected.dtype), str(actual.dtype))
        is_close = np.abs(expected - actual) <= tolerance
        is_equal = (expected == actual) | ((tolerance == 0) & (expected != expected) & (actual != actual))
        for index in np.flatnonzero(~(is_close | is_equal))[:1]:
            raise self.failure(test, layout.name_of(index), repr(expected[index].item()), repr(actual[index].item()))

    def failure(self, test: str, location: str, expected: str, actual: str, hint: str = "") -> GradientError:
        """Return the error of a test that failed."""
        return GradientError(f"gradcheck: {self.prefix}{test}: {location}: expected {expected}, found {actual}.{hint}")
