"""Arrays for tests: the same components in every layout and placement, and the buffer index of each element.

Buffers are built with NumPy alone, and arrays with the public constructors that take a buffer, so that a test knows
the elements of each component independently of the code under test.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

import pynested as pn
from pynested.spec.components import Components, stacked

Numbers = np.ndarray[Any, Any]

PLACEMENTS = ("packed", "holes", "transposed")


@dataclass(frozen=True)
class Kind:
    """A layout, and the dimensions along which components differ."""

    name: str
    layout: Any
    ragged: int = 1
    both: bool = False

    def __str__(self) -> str:
        return self.name

    @property
    def regular(self) -> int | None:
        """The other of the two dimensions of components if it is regular."""
        return None if self.both else 3 - self.ragged

    def shapes(self, lengths: Sequence[int], width: int = 2) -> list[tuple[int, ...]]:
        """Return the shapes of components of these lengths."""
        if self.both:
            return [(length, (2 * length + i) % 4) for i, length in enumerate(lengths)]
        return [(length, width) if self.ragged == 1 else (width, length) for length in lengths]


JAGGED = Kind("jagged", pn.jagged)
JAGGED_2 = Kind("jagged_2", pn.jagged, 2)
STRIDED = Kind("strided", pn.strided)
STRIDED_2 = Kind("strided_2", pn.strided, 2)
BOTH = Kind("both", pn.strided, both=True)
DENSE = Kind("dense", None)  # components of one shape, stacked
KINDS = (JAGGED, JAGGED_2, STRIDED, STRIDED_2, BOTH)
LAYOUTS = (pn.jagged, pn.strided)


@dataclass
class Placed:
    """An array, its buffer, the buffer index of each element, and the function that makes the array of a buffer."""

    array: Any
    buffer: Any
    places: list[Numbers]
    view: Callable[[Any], Any]

    def components_of(self, numbers: Numbers) -> list[Numbers]:
        """Return the elements of each component in an array of the buffer's shape."""
        return [numbers.reshape(-1)[places] for places in self.places]

    def holes_of(self, numbers: Numbers) -> Numbers:
        """Return all other elements of an array of the buffer's shape."""
        elsewhere = np.ones(numbers.size, np.bool_)
        for places in self.places:
            elsewhere[places] = False
        return numbers.reshape(-1)[elsewhere]

    def gradient(self) -> list[Numbers]:
        """Return the gradient of the buffer by components, and +0 if there is no gradient; in gaps it must be +0."""
        grad = self.buffer.grad
        values = np.zeros(self.buffer.shape, self.buffer.dtype) if grad is None else grad.detach().numpy()
        holes = self.holes_of(values)
        assert (holes == 0).all() and not np.signbit(holes).any(), f"a gradient of {holes} in holes"
        return self.components_of(values)


def poison(dtype: Any) -> Any:
    """Return the element that fills gaps: NaN, True, or the least integer."""
    kind = np.dtype(dtype)
    return np.nan if kind.kind == "f" else True if kind.kind == "b" else np.iinfo(kind).min


def place(
    components: Sequence[Any],
    layout: Any = pn.jagged,
    placement: str = "packed",
    ragged: int = 1,
    grad: bool = False,
    gap: float | None = None,
) -> Placed:
    """Place components, at least one or with a logical shape, in an array of this layout, None if dense.

    Gaps contain ``gap``, or `poison`.
    """
    parts = Components(list(map(np.asarray, components)), getattr(components, "shape", None), _dtype(components))
    make = _jagged if layout is pn.jagged else _dense if layout is None else _strided
    buffer, places, nest = make(parts, placement, ragged)
    if gap is not None:
        buffer[...] = gap
    for component, where in zip(parts, places, strict=True):
        buffer.reshape(-1)[where] = component
    leaf = pn.array(np.asfortranarray(buffer) if placement == "transposed" else buffer, requires_grad=grad)
    return Placed(nest(leaf), leaf, places, nest)


def nest(components: Sequence[Any], layout: Any = pn.jagged, placement: str = "packed", ragged: int = 1) -> Any:
    """Return the array of `place` alone."""
    return place(components, layout, placement, ragged).array


def _dtype(components: Sequence[Any]) -> Any:
    return components.dtype if isinstance(components, Components) else np.asarray(components[0]).dtype


def _starts(lengths: Sequence[int], placement: str) -> tuple[list[int], int]:
    """Return where components of these lengths begin, and the length of the buffer; with gaps the last is first."""
    if placement != "holes":
        ends = np.cumsum([0, *lengths])
        return ends[:-1].tolist(), int(ends[-1])
    starts, at = [0] * len(lengths), 2
    for i in reversed(range(len(lengths))):
        starts[i] = at
        at += lengths[i] + 1
    return starts, at + 1


def _dense(components: Components, placement: str, ragged: int) -> Any:
    """Stack components; gaps are every other element of the last dimension."""
    *sizes, last = stacked(components).shape
    step = 2 if placement == "holes" else 1
    buffer = np.full((*sizes, step * last), poison(components.dtype), components.dtype)
    places = np.arange(buffer.size).reshape(buffer.shape)[..., ::step]
    return buffer, list(places), lambda leaf: leaf[..., ::2] if step == 2 else leaf


def _jagged(components: Components, placement: str, ragged: int) -> Any:
    axis = ragged - 1
    lengths = [component.shape[axis] for component in components]
    starts, total = _starts(lengths, placement)
    shape = list(components[0].shape if components else [size or 0 for size in components.shape[1:]])
    shape[axis] = total
    buffer = np.full(shape, poison(components.dtype), components.dtype)
    index = np.arange(buffer.size).reshape(shape)
    places = [index.take(range(s, s + n), axis) for s, n in zip(starts, lengths, strict=True)]
    offsets = np.array([*starts, total])
    kept = np.array(lengths, np.int64) if placement == "holes" else None
    return buffer, places, lambda leaf: pn.nested_array_from_jagged(leaf, offsets, kept, ragged)


def _strided(components: Components, placement: str, ragged: int) -> Any:
    if not components:
        return _nothing(components)
    shapes, rank = [component.shape for component in components], len(components.shape) - 1
    sizes = np.array(shapes, np.int64).reshape(len(components), rank)
    starts, total = _starts([component.size for component in components], placement)
    order: Any = "F" if placement == "transposed" else "C"
    places = [
        s + np.arange(math.prod(shape)).reshape(shape, order=order) for s, shape in zip(starts, shapes, strict=True)
    ]
    strides = np.array([_strides(shape, order) for shape in shapes], np.int64).reshape(len(components), rank)
    buffer = np.full(total, poison(components.dtype), components.dtype)
    return buffer, places, lambda leaf: pn.nested_array_from_strided(leaf, sizes, strides, starts)


def _nothing(components: Components) -> Any:
    """Cut no components out of a batch of two, whose regular sizes they keep."""
    sizes = np.array([[n if size is None else size for size in components.shape[1:]] for n in (0, 1)], np.int64)
    buffer = np.full(int(sizes.prod(axis=1).sum()), poison(components.dtype), components.dtype)
    return buffer, [], lambda leaf: pn.nested_array_from_strided(leaf, sizes)[:0]


def _strides(shape: tuple[int, ...], order: str) -> list[int]:
    sizes = list(shape) if order == "F" else list(shape[::-1])
    steps = np.cumprod([1, *[max(size, 1) for size in sizes]])[:-1].tolist()
    return steps if order == "F" else steps[::-1]


def everywhere(components: Sequence[Any]) -> Iterator[Any]:
    """Yield nested arrays of the components in both layouts and every placement."""
    for layout in LAYOUTS:
        for placement in PLACEMENTS:
            yield nest(components, layout, placement)


@lru_cache(1000)
def distinct(shape: tuple[int, ...], seed: int = 0, dtype: Any = np.float64) -> Numbers:
    """Return different numbers of both signs, none of them 0, whose sums are exact."""
    generator = np.random.default_rng([seed, *shape])
    count = int(np.prod(shape, dtype=np.int64))
    signs = generator.choice([-1.0, 1.0], count)
    return ((generator.permutation(count) + 0.5) * signs / 8).reshape(shape).astype(dtype)


def batch(shapes: Sequence[Sequence[int]], seed: int = 0, dtype: Any = np.float64) -> list[Numbers]:
    """Return components of these shapes, with different numbers in all of them."""
    sizes = [int(np.prod(shape, dtype=np.int64)) for shape in shapes]
    flat = distinct((sum(sizes),), seed, dtype)
    parts = np.split(flat, np.cumsum(sizes)[:-1]) if sizes else []
    return [part.reshape(tuple(shape)) for part, shape in zip(parts, shapes, strict=True)]


def plain(result: Any) -> Any:
    """Return a result as NumPy arrays: a list of components, one array, or a list of these."""
    if isinstance(result, pn.NestedArray):
        return [component.detach().numpy() for component in result.unbind()]
    if isinstance(result, pn.Array):
        return result.detach().numpy()
    return [plain(part) for part in result] if isinstance(result, tuple | list) else result


def assert_same(result: Any, expected: Sequence[Any] | Numbers, tol: Any = None) -> None:
    """Compare components (or entries) and dtypes of a result: bit for bit unless a tolerance is given."""
    components, expected_components = list(plain(result)), list(expected)
    assert [component.shape for component in components] == [np.shape(component) for component in expected_components]
    for i, (component, due) in enumerate(zip(components, expected_components, strict=True)):
        assert component.dtype == np.asarray(due).dtype, f"component {i}"
        if tol is None:
            np.testing.assert_array_equal(component, due, f"component {i}", strict=True)
            same = np.signbit(component) == np.signbit(due) if component.dtype.kind == "f" else np.array(True)
            assert (same | np.isnan(component)).all(), f"component {i}: the sign of zero"
        else:
            np.testing.assert_allclose(component, due, rtol=tol, atol=tol, err_msg=f"component {i}")


def cotangent_like(tree: Any, seed: int = 7) -> Any:
    """Return numbers for every array of a result, or of the components of an operand: a cotangent or a direction."""
    if isinstance(tree, list | tuple):
        return [cotangent_like(part, seed + 3 * i) for i, part in enumerate(tree)]
    return np.cos(np.arange(np.size(tree)) * 1.7 + seed).reshape(np.shape(tree))


def pull_back(result: Any, cotangent: Any) -> None:
    """Send the cotangent of a result, a list of components if it is nested, back into the leaves."""
    if isinstance(result, tuple | list):
        for part, of_part in zip(result, cotangent, strict=True):
            pull_back(part, of_part)
    elif result.requires_grad and isinstance(result, pn.NestedArray):
        ragged = getattr(result.structure, "ragged_dim", 1)
        shape = (len(result), *[result.regular_size(dim) for dim in range(1, result.ndim)])
        components = Components(cotangent, shape, np.float64)
        result.backward(place(components, result.layout, "packed", ragged).array, retain_graph=True)
    elif result.requires_grad:
        result.backward(pn.array(np.reshape(cotangent, result.shape)), retain_graph=True)
