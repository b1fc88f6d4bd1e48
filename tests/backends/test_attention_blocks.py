"""Blockwise attention (online softmax) equals attention over all keys at once, for any block size."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pynested.backends import Heads, plain
from pynested.backends import numpy as cpu
from pynested.backends.numpy import (
    attending,
    attending_backward,
    attending_blocks,
    attending_parts,
    attending_places,
    attending_products,
)
from pynested.backends.numpy.attending_places import PIECE, Place

from .kernel_checks_attention import places

MASKS = None, "causal", "bool", "float"


def drawn(rng: np.random.Generator, mask: str | None, gaps: float) -> tuple[list[Any], Heads]:
    """Buffers of components, some of them alike, in which a NaN is now and then, and the cotangent; and the heads."""
    width, value_width = int(rng.integers(0, 4)), int(rng.integers(1, 4))
    sizes = np.stack([rng.integers(low, high, 3) for low, high in ((1, 3), (1, 3), (0, 7), (0, 9))], axis=1)
    sizes = sizes[[0, 1, 0, 2, 0, 1]]
    counts = sizes[:, 0] * sizes[:, 1]
    columns = ((counts, sizes[:, 2], width), (sizes[:, 0], sizes[:, 3], width), (sizes[:, 0], sizes[:, 3], value_width))
    placed = [places(*one, gap=2 * int(rng.integers(2)), by_rows=bool(rng.integers(2))) for one in columns]
    made, size = places(counts, sizes[:, 2], value_width, 0, bool(rng.integers(2)))
    buffers: list[Any] = [rng.standard_normal(n) for _, n in placed]
    for buffer in buffers:
        buffer[rng.random(buffer.size) < gaps] = np.nan
    where = added = None
    if mask in ("bool", "float"):
        steps = np.stack([sizes[:, 2] * sizes[:, 3], sizes[:, 3], np.ones(6, np.int64)], axis=1)
        elements = counts * sizes[:, 2] * sizes[:, 3]
        where = np.concatenate([(np.cumsum(elements) - elements)[:, None], steps * rng.integers(0, 2, 3)], axis=1)
        seen = rng.random(int(elements.sum()) + 1) < 0.6
        added = seen if mask == "bool" else np.where(seen, rng.standard_normal(seen.size), -np.inf)
    at = [where_ for where_, _ in placed]
    heads = Heads(sizes, *at, made, where, width, value_width, 0.7, mask == "causal")  # type: ignore[call-arg]
    return [*buffers, added, rng.standard_normal(size)], heads


def computed(backend: Any, buffers: list[Any], heads: Heads) -> list[Any]:
    """Return the output and all gradients; None is for that of no mask."""
    *operands, g = buffers
    mask = operands[3]
    out, saved = backend.attention(*operands, heads)
    return [out, *backend.attention_backward(g, *operands, out, saved, heads, mask is not None and mask.dtype != bool)]


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize(("scores", "keys"), [(4, 2), (30, 3), (1 << 18, 1024)])
def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch, mask: Any, scores: int, keys: int) -> None:
    """Neither does what new memory holds: all of it is written before it is read."""
    for module, name, value in (
        (attending_parts, "BLOCK_SCORES", scores),
        (attending_parts, "TOGETHER", scores),
        (attending_blocks, "BLOCK_KEYS", keys),
        (attending_blocks, "STRIP", keys),
    ):
        monkeypatch.setattr(module, name, value)
    for module in (attending, attending_backward):
        monkeypatch.setattr(module, "empty", lambda shape, dtype: np.full(shape, np.nan, dtype))
    for module in (attending_backward, attending_blocks, attending_places, attending_products):
        monkeypatch.setattr(module, "scratch", lambda slot, shape, dtype: np.full(shape, np.nan, dtype))
    rng = np.random.default_rng([scores, keys, MASKS.index(mask)])
    for number in range(9):
        buffers, heads = drawn(rng, mask, gaps=0.1 * (number % 3))
        expected = computed(plain, buffers, heads)
        for kept in (0, 1 << 20):
            monkeypatch.setattr(attending, "KEPT_WEIGHTS", kept)
            for got, due in zip(computed(cpu, buffers, heads), expected, strict=True):
                assert (got is None) == (due is None)
                if due is not None:
                    np.testing.assert_allclose(got, due, rtol=1e-9, atol=1e-11)


def test_small_components_that_are_alike_are_taken_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many at a time as their rows, or their scores if there are more of these, may take."""
    sizes = np.tile([[2, 1, 3, 3], [2, 1, 4, 4], [0, 1, 3, 3], [2, 1, 0, 3]], (50, 1))
    rows = sizes[:, 2] * 8
    at = np.stack([np.cumsum(rows) - rows, np.full(200, 4), np.full(200, 8)], axis=1)
    jobs = attending_parts.jobs(Heads(sizes, at, at, at, at, None, 4, 4, 0.5, False))
    assert [part.components.tolist() for (part,) in jobs] == [[*range(0, 200, 4)], [*range(1, 200, 4)]]
    apart = at + np.arange(200)[:, None] // 4 * np.array([0, 0, 4])  # no two of a size have rows equally far apart
    assert len(attending_parts.jobs(Heads(sizes, apart, at, at, at, None, 4, 4, 0.5, False))) == 100
    monkeypatch.setattr(attending_parts, "TOGETHER", 1000)
    # A component of two heads: 2 * (3 * 4 + 3 * 4) = 48 elements, and 2 * 6 * 6 = 72 scores.
    for length, width, due in [(3, 4, [20, 20, 20]), (6, 1, [13, 13, 13, 13, 8])]:
        sizes = np.tile([2, 1, length, length], (60, 1))
        at = np.arange(60)[:, None] * [2 * length * width, 0, 0] + [0, width, 2 * width]
        jobs = attending_parts.jobs(Heads(sizes, at, at, at, at, None, width, width, 1.0, False))
        assert [len(part.components) for (part,) in jobs] == due


def test_only_an_infinite_score_makes_nan() -> None:
    """The first query sees one key, and their product is beyond -inf: NaN for this query, for no other."""
    rows = np.array([[0, 4, 1]])
    heads = Heads(np.array([[1, 1, 2, 2]]), rows, rows, rows, rows, np.array([[0, 0, 2, 1]]), 1, 1, 1.0, False)
    q, k, v, g = np.array([1e200, 1.0]), np.array([-1e200, 2.0]), np.array([3.0, 5.0]), np.ones(2)
    seen = np.array([True, False, False, True])
    found = computed(cpu, [q, k, v, seen, g], heads)[:4]
    assert [[str(y) for y in x] for x in found] == [["nan", "5.0"], ["nan", "0.0"], ["nan", "0.0"], ["nan", "1.0"]]
    nothing, none = np.zeros(0), np.zeros((1, 3), np.int64)
    heads = replace(heads, value=none, made=none, value_width=0)
    found = computed(cpu, [q, k, nothing, seen, nothing], heads)[1:3]
    assert [[str(y) for y in x] for x in found] == [["nan", "0.0"], ["nan", "0.0"]]


def test_scores_are_never_in_memory_as_a_whole() -> None:
    """The scores of 2,048 queries and keys would take 16 MiB for a head."""
    rows = np.array([[0, 64, 64]])
    heads = Heads(np.array([[1, 1, 2048, 2048]]), rows, rows, rows, rows, None, 64, 64, 0.125, False)
    x = np.random.default_rng(0).standard_normal(2048 * 64).astype(np.float32)
    tracemalloc.start()
    computed(cpu, [x, x, x, None, x], heads)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 12 * 1024 * 1024


def test_few_weights_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Saved arrays change no result, and the adjoint does not change them, so that it can be called again."""
    (q, k, v, _, g), heads = drawn(np.random.default_rng(5), "causal", gaps=0)
    assert heads.pairs > heads.rows > 0
    results = []
    for kept, keys, size in [
        (8 * heads.pairs, 8, heads.pairs),
        (8 * heads.pairs - 1, 8, heads.rows),
        (1 << 20, 2, heads.rows),
    ]:
        monkeypatch.setattr(attending, "KEPT_WEIGHTS", kept)
        monkeypatch.setattr(attending_blocks, "BLOCK_KEYS", keys)
        out, saved = cpu.attention(q, k, v, None, heads)
        bare, nothing = cpu.attention(q, k, v, None, heads, False)
        assert nothing is None and saved is not None and saved.shape == (size,)
        before = saved.copy()
        first, again = (cpu.attention_backward(g, q, k, v, None, out, saved, heads, False) for _ in range(2))
        np.testing.assert_array_equal(saved, before)
        np.testing.assert_array_equal(np.concatenate(first[:3]), np.concatenate(again[:3]))
        np.testing.assert_array_equal(out, bare)
        results.append(out)
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_allclose(results[0], results[2], rtol=1e-12)


@pytest.mark.parametrize("kept", [0, 1 << 20], ids=["log sums", "weights"])
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("ends", [[-1.0, 1.0], [1.0], [-1.0]], ids=["both", "great", "low"])
@pytest.mark.parametrize("most", [1, 59, 61, 400])
def test_scores_of_any_size(
    monkeypatch: pytest.MonkeyPatch, kept: int, mask: Any, ends: list[float], most: float
) -> None:
    """Small ones need no greatest to begin with, e^89 is beyond float32; all may lie at one end."""
    monkeypatch.setattr(attending, "KEPT_WEIGHTS", kept)
    rng = np.random.default_rng([int(most), MASKS.index(mask)])
    sizes = np.array([[1, 2, 5, 6]])
    (query, n), (key, m) = (places(sizes[:, 0] * group, sizes[:, at], 1, 0, True) for group, at in ((2, 2), (1, 3)))
    seen = rng.random(60) < 0.7
    given = {"bool": seen, "float": np.where(seen, 0, -np.inf)}.get(mask or "")
    where = None if given is None else np.array([[0, 30, 6, 1]])
    heads = Heads(sizes, query, key, key, query, where, 1, 1, 1.0, mask == "causal")
    q, k = rng.choice(ends, n) * rng.choice([0.25, 1.0], n), np.sort(rng.uniform(0.9, 1, m)) * most
    buffers = [q, k, rng.standard_normal(m), given, rng.standard_normal(n)]
    expected = computed(plain, buffers, heads)
    for dtype in (np.float64, np.float32):
        narrow = [x if x is None or x.dtype == bool else x.astype(dtype) for x in buffers]
        for got, due in zip(computed(cpu, narrow, heads)[:4], expected[:4], strict=True):
            assert got.dtype == dtype
            largest = max(1.0, np.abs(due).max())  # of what may cancel in a sum
            np.testing.assert_allclose(got, due, rtol=0, atol=32 * most * np.finfo(dtype).eps * largest)


# ---- copies of equally strided arrays of a flat buffer ---------------------------------------------------------------


def drawn_place(rng: np.random.Generator, unit: int) -> tuple[Place, np.ndarray[Any, Any]]:
    """Arrays whose axes lie in any order, perhaps with gaps; and where each of their elements is, (K, ...)."""
    shape = tuple(rng.integers(0 if rng.random() < 0.1 else 1, 4, 3).tolist())
    steps, apart = [0, 0, 0], unit
    for axis in rng.permutation(3).tolist():
        steps[axis] = apart
        apart *= max(shape[axis], 1) + int(rng.random() < 0.3)
    starts = rng.permutation(7)[: int(rng.integers(2, 5))] * apart
    place = Place(starts, (*shape, unit), (*steps, 1))
    inner = np.indices((*shape, unit)).reshape(4, *shape, unit)
    offsets = sum(index * step for index, step in zip(inner, (*steps, 1), strict=True))
    return place, starts.reshape(-1, 1, 1, 1, 1) + np.asarray(offsets)


@pytest.mark.parametrize("unit", [1, 3, PIECE, 12])
def test_copies_hold_what_is_there_and_go_back(unit: int) -> None:
    rng = np.random.default_rng(unit)
    for _ in range(40):
        place, where = drawn_place(rng, unit)
        buffer = rng.standard_normal(int(where.max(initial=0)) + 1 + int(rng.integers(3)))
        copies = place.copy(buffer, "here")
        np.testing.assert_array_equal(copies, buffer[where])
        other, due = rng.standard_normal(buffer.size), buffer.copy()
        room = place.room(buffer.dtype, "there")
        room[...] = other[where]
        place.put(room, buffer)
        due[where] = other[where]
        np.testing.assert_array_equal(buffer, due)


def test_a_single_array_is_a_view() -> None:
    buffer = np.arange(20.0)
    view = Place(3, (2, 3), (1, 5)).view(buffer)
    assert view.tolist() == [[[3, 8, 13], [4, 9, 14]]]
    assert np.shares_memory(view, buffer)
    assert Place(40, (0, 3), (3, 1)).view(buffer).shape == (1, 0, 3)
