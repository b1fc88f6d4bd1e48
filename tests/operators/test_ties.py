"""Equal maxima share their cotangent evenly, over all reduced dimensions at once; the runs are found by loops."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import pynested as pn

from ..nests import place, plain

RANK = 4
EVERY_DIMS = [dims for count in range(1, RANK + 1) for dims in itertools.combinations(range(RANK), count)]

# How the components differ: the layout, the ragged dimension, and their shapes.
KINDS: dict[str, tuple[Any, int, list[tuple[int, ...]]]] = {
    "jagged, ragged first": (pn.jagged, 1, [(2, 2, 3), (1, 2, 3), (3, 2, 3)]),
    "jagged, ragged in the middle": (pn.jagged, 2, [(2, 2, 3), (2, 1, 3), (2, 3, 3)]),
    "jagged, ragged last": (pn.jagged, 3, [(2, 3, 2), (2, 3, 1), (2, 3, 3)]),
    "strided, rows": (pn.strided, 1, [(2, 2, 3), (1, 2, 3), (3, 2, 3)]),
    "strided, irregular": (pn.strided, 1, [(3, 2, 3), (1, 2, 3), (2, 2, 1)]),
}
ON_DEVICES = [
    "cpu",
    "plain",
    pytest.param("emulated", marks=pytest.mark.skipif(shutil.which("g++") is None, reason="the emulation needs g++")),
]


def zeros_and_ones(shapes: list[tuple[int, ...]], seed: int) -> list[np.ndarray]:
    generator = np.random.default_rng(seed)
    return [generator.integers(0, 2, shape).astype(np.float64) for shape in shapes]


def elements(components: list[np.ndarray]) -> Iterator[tuple[int, ...]]:
    for i, x in enumerate(components):
        yield from ((i, *place) for place in np.ndindex(x.shape))


def runs(components: list[np.ndarray], dims: tuple[int, ...]) -> dict[tuple[int, ...], list[tuple[int, ...]]]:
    """The elements of each run, by the place of its maximum in the result."""
    found: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for index in elements(components):
        found.setdefault(tuple(k for d, k in enumerate(index) if d not in dims), []).append(index)
    return found


def shares(components: list[np.ndarray], dims: tuple[int, ...]) -> dict[tuple[int, ...], tuple[Any, float]]:
    """For each element the place of its maximum, and its part of it: 1 / ties, or 0."""
    found = {}
    for place_, run in runs(components, dims).items():
        numbers = [components[i][tuple(rest)] for i, *rest in run]
        ties = numbers.count(max(numbers))
        found |= {index: (place_, (n == max(numbers)) / ties) for index, n in zip(run, numbers, strict=True)}
    return found


def at(tree: Any, place_: tuple[int, ...]) -> Any:
    """The element of a dense result or of a list of components."""
    return tree[place_[0]][place_[1:]] if isinstance(tree, list) else tree[place_]


def waves(tree: Any) -> Any:
    """Numbers that differ from place to place, in the form of ``tree``."""
    if isinstance(tree, list):
        return [waves(one) + 10.0 * i for i, one in enumerate(tree)]
    return 2.0 + np.arange(np.size(tree)).reshape(np.shape(tree))


def nested_like(result: Any, numbers: Any) -> Any:
    if isinstance(result, pn.NestedArray):
        ragged = getattr(result.structure, "ragged_dim", 1)
        return place(numbers, result.layout, "packed", ragged).array.to(device=result.device)
    return pn.array(numbers, device=result.device)


def covered(components: list[np.ndarray], dims: tuple[int, ...]) -> bool:
    """Whether each place of a dense result has an element; a place without one is refused."""
    kept = [d - 1 for d in range(1, RANK) if d not in dims]
    sizes = [max(x.shape[d] for x in components) for d in kept]
    return 0 not in dims or len(runs(components, dims)) == np.prod(sizes, dtype=int)


@pytest.mark.parametrize("dims", EVERY_DIMS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_every_run_is_shared_at_once(kind: str, placement: str, dims: tuple[int, ...]) -> None:
    """In reverse, recorded and not, and in forward mode."""
    layout, ragged, shapes = KINDS[kind]
    components = zeros_and_ones(shapes, len(dims))
    if not covered(components, dims):
        pytest.skip("a place without an element")
    made = place(components, layout, placement, ragged, True)
    check(made, components, dims)


@pytest.mark.parametrize("device", ON_DEVICES)
@pytest.mark.parametrize("dtype", [np.float16, np.float32], ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("kind", ["jagged, ragged first", "strided, irregular"])
def test_on_devices_and_in_half_precision(kind: str, dtype: Any, device: str) -> None:
    layout, ragged, shapes = KINDS[kind]
    components = [x.astype(dtype) for x in zeros_and_ones(shapes, 5)]
    for dims in ((1, 2), (2, 3), (1, 2, 3), (0, 1, 2, 3)):
        x = place(components, layout, "holes", ragged).array.to(device=device).requires_grad_()
        result = pn.amax(x, dims)
        numbers = waves(plain(result.to(device="cpu")))
        (found,) = pn.grad(result, (x,), nested_like(result, numbers).to(dtype))
        for index, (place_, share) in shares(components, dims).items():
            got = at(plain(found.to(device="cpu")), index)
            assert got == pytest.approx(at(numbers, place_) * share, rel=2.0 ** -np.finfo(dtype).nmant)


@pytest.mark.parametrize("dims", EVERY_DIMS, ids=str)
def test_dense_arrays_share_alike(dims: tuple[int, ...]) -> None:
    (x,) = zeros_and_ones([(2, 3, 2, 2)], 8)
    leaf = pn.array(x, requires_grad=True)
    result = pn.amax(leaf, dims)
    (found,) = pn.grad(result, (leaf,), pn.array(waves(plain(result))))
    for index, (place_, share) in shares(list(x), dims).items():
        assert found.numpy()[index] == pytest.approx(waves(plain(result))[place_] * share, rel=1e-15)


def check(made: Any, components: list[np.ndarray], dims: tuple[int, ...]) -> None:
    result = pn.amax(made.array, dims)
    cotangent = waves(plain(result))
    expected = shares(components, dims)
    for recorded in (False, True):
        given = nested_like(result, cotangent)
        (found,) = pn.grad(result, (made.buffer,), given, retain_graph=True, create_graph=recorded)
        parts = made.components_of(found.detach().numpy())
        for index, (place_, share) in expected.items():
            assert at(parts, index) == pytest.approx(at(cotangent, place_) * share, rel=1e-15), index
        assert (made.holes_of(found.detach().numpy()) == 0).all()
    direction = waves(components)
    buffer = np.full(made.buffer.shape, 3.0)
    for one, where in zip(direction, made.places, strict=True):
        buffer.reshape(-1)[where] = one
    pushed = pn.jvp(
        lambda values: pn.amax(pn.NestedArray(values, made.array.structure), dims),
        (made.buffer.detach(),),
        (pn.array(buffer),),
    )[1]
    sums: dict[Any, float] = {}
    for index, (place_, share) in expected.items():
        sums[place_] = sums.get(place_, 0.0) + share * at(direction, index)
    for place_, total in sums.items():
        assert at(plain(pushed), place_) == pytest.approx(total, rel=1e-14), place_
