"""A function as something that can be tested: its values and both directions, on bare read-only arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from pynested.backends import transfer
from pynested.backends.dtypes import is_float
from pynested.backends.errors import GradientError
from pynested.backends.host import to_host

from .array import Array
from .backward import grad
from .containers import Mask, flatten, shown_in
from .functional import jvp
from .modes import enable_grad, no_grad
from .primitives.unary import zeros_like

Arrays = list[np.ndarray[Any, Any]]


class Probe:
    """A function of bare float64 arrays; ``prefix`` begins what its failures say."""

    def __init__(self, prefix: str, function: Callable[..., Any], inputs: tuple[Any, ...]) -> None:
        self.prefix, self.function = prefix, function
        self.arrays, self.rebuild = flatten(inputs)
        self.names = [
            f"argument {i}" if type(one) is Array else f"argument {i}, array {j}"
            for i, one in enumerate(inputs)
            for j in range(len(flatten(one)[0]))
        ]
        floats = [i for i, array in enumerate(self.arrays) if is_float(array.dtype)]
        self.varied = [i for i in floats if self.arrays[i].requires_grad] or floats
        self.start = [to_host(self.arrays[i].data).astype(np.float64) for i in self.varied]
        masks = [shown_in(inputs)[i] for i in self.varied]
        # What is not finite has no influence on outputs that are: it becomes a hole of them, or is masked away.
        finite = [np.isfinite(x) for x in self.start]
        self.shown = [one if mask is None else one & mask for one, mask in zip(finite, masks, strict=True)]

    def filled(self, xs: Arrays, tracked: bool = False) -> Any:
        """The arguments with ``xs`` in place of what is varied."""
        full = [array.detach() for array in self.arrays]
        for i, x in zip(self.varied, xs, strict=True):
            full[i] = _read_only(x, self.arrays[i].device)
            full[i].requires_grad = tracked
        return self.rebuild(full)

    def values(self, xs: Arrays) -> Arrays:
        """The floating point outputs, zero where there is a hole in them."""
        with no_grad(), _told(self.prefix):
            return [_without_holes(*one) for one in _floats(self.function(*self.filled(xs)))]

    def vjp(self, xs: Arrays, ws: Arrays, graph: bool = False) -> Arrays:
        """The cotangents of ``xs``; those of the outputs are read-only."""
        arguments = self.filled(xs, tracked=True)
        flat = flatten(arguments)[0]
        leaves = [flat[i] for i in self.varied]
        with enable_grad(), _told(self.prefix):
            pairs = [
                (y, _read_only(w if mask is None else np.where(mask, w, w.dtype.type(0)), y.device))
                for (y, mask), w in zip(_floats(self.function(*arguments)), ws, strict=True)
                if y.requires_grad
            ]
            tracked, given = [y for y, _ in pairs], [w for _, w in pairs]
            found = grad(tracked, leaves, given, create_graph=graph, allow_unused=True) if pairs else [None] * len(xs)
        return [np.zeros_like(x) if one is None else to_host(one.data) for one, x in zip(found, xs, strict=True)]

    def jvp(self, xs: Arrays, vs: Arrays) -> Arrays:
        """The tangents of the floating point outputs, zero where there is a hole in them."""
        full: list[Any] = [zeros_like(array) for array in self.arrays]
        for i, v in zip(self.varied, vs, strict=True):
            full[i] = _read_only(v, self.arrays[i].device)
        with _told(self.prefix):
            pushed = jvp(self.function, self.filled(xs), self.rebuild(full))[1]
        return [_without_holes(*one) for one in _floats(pushed)]

    def equal(self, test: str, names: Sequence[str], expected: Arrays, found: Arrays, tolerance: float) -> None:
        """Raise where ``found`` is further than ``tolerance`` from ``expected``; without one NaN is the same as NaN."""
        for name, e, f in zip(names, expected, found, strict=True):
            if e.shape != f.shape or e.dtype != f.dtype:
                raise self.failure(test, name, f"shape {e.shape}, {e.dtype}", f"shape {f.shape}, {f.dtype}")
            same = (e == f) | (np.abs(e - f) <= tolerance) | ((tolerance == 0) & (e != e) & (f != f))
            wrong = np.argwhere(~same)
            if len(wrong):
                at = tuple(wrong[0].tolist())
                raise self.failure(test, f"{name}, element {at}", repr(e[at].item()), repr(f[at].item()))

    def failure(self, test: str, where: str, expected: str, found: str, hint: str = "") -> GradientError:
        """What is raised."""
        return GradientError(f"gradcheck: {self.prefix}{test}: {where}: expected {expected}, found {found}.{hint}")


def _floats(outputs: Any) -> list[tuple[Array, Mask]]:
    """The floating point arrays among outputs, and which elements of each belong to them."""
    pairs = zip(flatten(outputs)[0], shown_in(outputs), strict=True)
    return [(array, mask) for array, mask in pairs if is_float(array.dtype)]


def _without_holes(array: Array, mask: Mask) -> np.ndarray[Any, Any]:
    """The values on the host, zero in holes."""
    values = to_host(array.data)
    return values.copy() if mask is None else np.where(mask, values, values.dtype.type(0))


def _read_only(values: np.ndarray[Any, Any], device: str) -> Array:
    """A copy on ``device``, read-only where memory can be."""
    copy = transfer(values, device)
    if isinstance(copy, np.ndarray):
        copy.flags.writeable = False
    return Array(copy, device)


@contextmanager
def _told(prefix: str) -> Iterator[None]:
    """Say of a write into a read-only array what it means."""
    try:
        yield
    except ValueError as error:
        if "read-only" not in str(error):
            raise
        raise GradientError(
            f"gradcheck: {prefix}read-only: the function or its derivative writes into an input or a cotangent."
        ) from error
