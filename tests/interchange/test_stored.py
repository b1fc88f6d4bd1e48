"""Pickles, deep copies and files of a view contain its elements alone, not the rest of its buffer."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import GradientError

SECRET = 77.25  # the elements of the buffer that belong to no component
ROWS = [np.arange(6.0).reshape(3, 2), np.zeros((0, 2)), 10 + np.arange(4.0).reshape(2, 2)]


def hidden(layout: Any) -> Any:
    """Return ``ROWS`` in a buffer with large gaps."""
    fence = np.full((20_000, 2), SECRET)
    values = np.concatenate([fence, ROWS[0], fence, ROWS[2], fence])
    if layout is pn.jagged:
        return pn.nested_array_from_jagged(values, [20_000, 1, 40_003, 40_005], [3, 0, 2])
    sizes, strides = [one.shape for one in ROWS], [[2, 1]] * 3
    return pn.nested_array_from_strided(values.reshape(-1), sizes, strides, [40_000, 0, 80_006])


def expanded(layout: Any) -> Any:
    """Return rows that repeat one element 50,000 times, with stride 0."""
    numbers = np.array([0.0, 1.0, 2.0, 10.0, 11.0])
    if layout is pn.jagged:
        return pn.nested_array_from_jagged(np.broadcast_to(numbers[:, None], (5, 50_000)), [0, 3, 5])
    return pn.nested_array_from_strided(numbers, [[3, 50_000], [2, 50_000]], [[1, 0], [1, 0]], [0, 3])


WIDE = [np.repeat(np.arange(3.0)[:, None], 50_000, 1), np.repeat(10 + np.arange(2.0)[:, None], 50_000, 1)]
JAGGED_BEHIND_GAPS = np.concatenate([np.full((9, 1), SECRET), np.arange(3.0)[:, None], 10 + np.arange(2.0)[:, None]])

SHOWN: dict[str, tuple[Callable[[], Any], list[Any]]] = {
    "jagged, with gaps": (lambda: hidden(pn.jagged), ROWS),
    "strided, with gaps": (lambda: hidden(pn.strided), ROWS),
    "jagged, slice": (lambda: hidden(pn.jagged)[:, :1], [one[:1] for one in ROWS]),
    "strided, slice": (lambda: hidden(pn.strided)[:, :1], [one[:1] for one in ROWS]),
    "jagged, first components": (lambda: hidden(pn.jagged)[:2], ROWS[:2]),
    "strided, first components": (lambda: hidden(pn.strided)[:2], ROWS[:2]),
    "jagged, columns": (lambda: hidden(pn.jagged)[:, :, 1:], [one[:, 1:] for one in ROWS]),
    "transposed": (lambda: hidden(pn.strided).transpose(1, 2), [one.T for one in ROWS]),
    "jagged along dimension 2": (lambda: hidden(pn.jagged).transpose(1, 2), [one.T for one in ROWS]),
    "no components": (lambda: hidden(pn.strided)[:0], []),
    "jagged, stride 0": (lambda: expanded(pn.jagged), WIDE),
    "strided, stride 0": (lambda: expanded(pn.strided), WIDE),
    "jagged, stride 0 and gaps": (
        lambda: pn.nested_array_from_jagged(np.broadcast_to(JAGGED_BEHIND_GAPS, (14, 50_000)), [9, 12, 14], [3, 2]),
        WIDE,
    ),
    "dense, slice": (lambda: pn.array(np.full((9_000, 9), SECRET))[:2, :0], np.zeros((2, 0))),
    "dense, stride 0": (
        lambda: pn.from_numpy(np.broadcast_to(np.array([[1.0], [2.0]]), (2, 50_000))),
        np.ones(50_000) * [[1], [2]],
    ),
}


Way = Callable[[Any, Path], tuple[bytes, Any]]  # from an array to the bytes that leave, and the array that comes back


def saved(ending: str) -> Way:
    def way(x: Any, folder: Path) -> tuple[bytes, Any]:
        if ending == ".arrow":
            pytest.importorskip("pyarrow")
        path = folder / f"x{ending}"
        pn.save(path, x)
        return path.read_bytes(), pn.load(path)

    return way


def pickled(dumps: Callable[[Any], Any]) -> Way:
    return lambda x, folder: (bytes(dumps(x)), pickle.loads(dumps(x)))


def deeply_copied(x: Any, folder: Path) -> tuple[bytes, Any]:
    made = copy.deepcopy(x)
    buffer = made.data if isinstance(made, pn.Array) else made.data.data
    return b"" if buffer.size > 200_000 else np.ascontiguousarray(buffer).tobytes(), made


WAYS: dict[str, Way] = {
    "pickle 2": pickled(lambda x: pickle.dumps(x, protocol=2)),
    "pickle 5": pickled(lambda x: pickle.dumps(x, protocol=5)),
    "multiprocessing": pickled(ForkingPickler.dumps),
    "deepcopy": deeply_copied,
    "npz": saved(".npz"),
    "arrow": saved(".arrow"),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", SHOWN)
def test_only_elements_of_components_leave(name: str, way: str, tmp_path: Path) -> None:
    make, expected = SHOWN[name]
    x = make()
    text, again = WAYS[way](x, tmp_path)
    assert np.float64(SECRET).tobytes() not in text
    assert type(again) is type(x) and again.dtype == x.dtype
    if isinstance(again, pn.Array):
        assert again.is_contiguous() and np.array_equal(again.numpy(), expected)
    else:
        assert len(again) == len(expected)
        assert all(np.array_equal(a.numpy(), b) for a, b in zip(again.unbind(), expected, strict=True))
        tight = x.contiguous()
        assert again.layout is x.layout and np.array_equal(again.offsets().numpy(), tight.offsets().numpy())
        assert again.lengths() is None if again.layout is pn.jagged else again.numel() == again.data.numel()
    if way != "deepcopy":
        assert len(text) < 5_000, "a number of metadata, and at most 10 elements"


@pytest.mark.parametrize("layout", [pn.jagged, pn.strided], ids=str)
def test_a_leaf_with_gaps_stays_a_leaf(layout: Any) -> None:
    x = hidden(layout).requires_grad_()
    for again in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert again.requires_grad and again.is_leaf
    assert copy.copy(x).data is x.data
    assert pickle.loads(pickle.dumps(x * 2)).is_leaf and not pickle.loads(pickle.dumps(x * 2)).requires_grad
    with pytest.raises(GradientError, match=r"deepcopy: only a leaf .*x\.detach\(\)\.clone\(\)"):
        copy.deepcopy((x * 2)[:, :1])
