"""Pickles, deep copies and files hold the elements of components alone, and damaged files are refused."""

from __future__ import annotations

import contextlib
import copy
import json
import pickle
from collections.abc import Callable
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import pynested as pn
from pynested.backends.errors import ArgumentError, DTypeError, ExchangeError, GradientError, StructureError

from ..nests import LAYOUTS, assert_same, nest, place
from .drawn import GAP, Drawn, arrays

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
EACH_WAY = pytest.mark.parametrize("way", WAYS)


def check_stored(way: str, x: Any, components: Any, folder: Path) -> None:
    """Check that the elements of the components come back, contiguous and in the same layout, and no others leave."""
    stored, again = WAYS[way](x, folder)
    assert type(again) is type(x)
    assert_same(again, components)
    if x.dtype == np.float64:
        assert np.float64(GAP).tobytes() not in stored
    if isinstance(again, pn.Array):
        assert again.is_contiguous()
    else:
        assert again.regular_sizes == x.regular_sizes  # of an empty batch, too
        assert again.layout is x.layout and again.offsets().tolist() == x.contiguous().offsets().tolist()
        assert again.lengths() is None if again.layout is pn.jagged else again.numel() == again.data.numel()
    if way != "deepcopy":
        assert len(stored) < 5_000, "a number of metadata, and a few elements"


@EACH_WAY
def test_arrays_come_back(way: str, tmp_path: Path) -> None:
    @settings(max_examples=60)
    @given(arrays())
    def holds(drawn: Drawn) -> None:
        check_stored(way, drawn.array, drawn.components, tmp_path)

    holds()


ROWS = [np.arange(6.0).reshape(3, 2), np.zeros((0, 2)), 10 + np.arange(4.0).reshape(2, 2)]
VIEWS: dict[str, tuple[Callable[[Any], Any], list[Any]]] = {
    "slices": (lambda x: x[:, :1], [row[:1] for row in ROWS]),
    "first components": (lambda x: x[:2], ROWS[:2]),
    "columns": (lambda x: x[:, :, 1:], [row[:, 1:] for row in ROWS]),
    "transposed": (lambda x: x.transpose(1, 2), [row.T for row in ROWS]),
    "no components": (lambda x: x[:0], []),
}
# Rows that repeat one element 50,000 times, with stride 0.
COLUMN = np.array([[0.0], [1.0], [2.0], [10.0], [11.0]])
WIDE = np.broadcast_to(COLUMN, (5, 50_000))
WIDE_BEHIND_GAPS = np.broadcast_to(np.concatenate([np.full((9, 1), GAP), COLUMN]), (14, 50_000))
EXPANDED: dict[str, tuple[Callable[[], Any], Any]] = {
    "jagged": (lambda: pn.nested_array_from_jagged(WIDE, [0, 3, 5]), [WIDE[:3], WIDE[3:]]),
    "jagged, with gaps": (
        lambda: pn.nested_array_from_jagged(WIDE_BEHIND_GAPS, [9, 12, 14], [3, 2]), [WIDE[:3], WIDE[3:]]),
    "strided": (
        lambda: pn.nested_array_from_strided(COLUMN[:, 0], [[3, 50_000], [2, 50_000]], [[1, 0], [1, 0]], [0, 3]),
        [WIDE[:3], WIDE[3:]]),
    "dense": (lambda: pn.from_numpy(WIDE), WIDE),
    "dense, a slice": (lambda: pn.array(np.full((9_000, 9), float(GAP)))[:2, :0], np.zeros((2, 0))),
}  # fmt: skip


@EACH_WAY
@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_only_elements_of_a_view_leave(layout: Any, way: str, tmp_path: Path) -> None:
    whole = place(ROWS, layout, "holes", gap=GAP).array
    for view, components in VIEWS.values():
        check_stored(way, view(whole), components, tmp_path)


@EACH_WAY
@pytest.mark.parametrize("name", EXPANDED)
def test_repeated_elements_leave_once(name: str, way: str, tmp_path: Path) -> None:
    make, components = EXPANDED[name]
    check_stored(way, make(), components, tmp_path)


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_a_leaf_with_gaps_stays_a_leaf(layout: Any) -> None:
    x = nest(ROWS, layout, "holes").requires_grad_()
    for again in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert again.requires_grad and again.is_leaf
    copied = copy.copy(x)
    assert copied.data.storage is x.data.storage and copied.requires_grad and copied.is_leaf
    assert pickle.loads(pickle.dumps(x * 2)).is_leaf and not pickle.loads(pickle.dumps(x * 2)).requires_grad
    with pytest.raises(GradientError, match=r"deepcopy: only a leaf .*x\.detach\(\)\.clone\(\)"):
        copy.deepcopy((x * 2)[:, :1])


@pytest.mark.parametrize("ending", [".npz", ".arrow"])
def test_named_arrays_come_back(ending: str, tmp_path: Path) -> None:
    if ending == ".arrow":
        pytest.importorskip("pyarrow")
    named: dict[str, Any] = {"one": nest(ROWS), "two": pn.array([[1, 2]]), "a/b": pn.array(1.5)}
    path = tmp_path / f"x{ending}"
    pn.save(str(path), named)
    again = pn.load(path)
    assert isinstance(again, dict) and list(again) == ["one", "two", "a/b"]
    assert_same(again["one"], ROWS)
    assert again["two"].tolist() == [[1, 2]] and again["a/b"].tolist() == 1.5


@pytest.mark.parametrize("ending", [".npz", ".arrow"])
def test_a_file_is_replaced_by_a_complete_one(ending: str, tmp_path: Path) -> None:
    """Loaded arrays, which can lie in the file, stay valid, also as the arrays that are saved."""
    if ending == ".arrow":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"x{ending}"
    pn.save(path, {"w": pn.ones(9_000), "b": pn.ones(9_000)})
    first: Any = pn.load(path)
    for _ in range(2):
        loaded: Any = pn.load(path)
        pn.save(path, {"w": loaded["w"] + 1, "b": loaded["b"]})
    pn.save(path, pn.zeros(1))
    for named, total in ((first, 2.0), (loaded, 3.0)):
        assert pn.equal(named["w"] + named["b"], pn.full(9_000, total))
    with pytest.raises(ValueError, match="surrogates"):
        pn.save(path, {"\ud800": pn.ones(1)})
    assert pn.load(path).tolist() == [0.0] and list(tmp_path.iterdir()) == [path]  # type: ignore[union-attr]


def test_numpy_reads_a_file_alone_and_a_file_that_is_cut_short_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    pn.save(path, {"x": pn.nested_array([[1.0], [2.0, 3.0]], layout=pn.jagged)})
    with np.load(path) as file:
        assert file["x/values"].tolist() == [1, 2, 3] and file["x/offsets"].tolist() == [0, 1, 3]
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ExchangeError, match="or it is damaged"):
        pn.load(path)


def test_parameters_are_saved_as_they_are_and_results_are_not(tmp_path: Path) -> None:
    w = pn.array([1.0], requires_grad=True)
    pn.save(tmp_path / "w.npz", {"w": w})
    assert pn.load(tmp_path / "w.npz")["w"].tolist() == [1.0]  # type: ignore[index]
    with pytest.raises(GradientError, match="save"):
        pn.save(tmp_path / "w.npz", w * 2)


JAGGED = {"version": 1, "arrays": {"x": {"kind": "jagged", "ragged_dim": 1}}}
DENSE = {"version": 1, "arrays": {"x": {"kind": "dense"}}}
NO_FILE = r"was not written by pynested\.save"
DAMAGED: list[tuple[Any, dict[str, Any], type[Exception], str]] = [  # bytes or a head, and entries
    (None, {"x": np.ones(2)}, ExchangeError, NO_FILE),
    ({"version": 2, "arrays": {}}, {}, ExchangeError, "has version 2, and this pynested reads version 1"),
    (DENSE, {}, ExchangeError, "the entry 'x/values' of .* is missing"),
    (JAGGED, {"x/values": np.ones(2), "x/offsets": np.array([0, 5])}, StructureError, ""),
    *((text, {}, ExchangeError, NO_FILE + ", or it is damaged") for text in (b"", b"hello")),
    *(({"version": 1, "arrays": arrays}, {"x/values": np.ones(2)}, ExchangeError, NO_FILE + ", or it is damaged")
      for arrays in (["x"], {"x": 3}, *({"x": {"kind": "dense", "shape": shape}} for shape in ("ab", [3], [-1])))),
]  # fmt: skip


@pytest.mark.parametrize(("head", "entries", "error", "text"), DAMAGED)
def test_damaged_files(tmp_path: Path, head: Any, entries: Any, error: type[Exception], text: str) -> None:
    path = tmp_path / "x.npz"
    if isinstance(head, bytes):
        path.write_bytes(head)
    else:
        written = {} if head is None else {"pynested": np.frombuffer(json.dumps(head).encode(), np.uint8)}
        np.savez(path, **written, **entries)
    with pytest.raises(error, match=text or None):
        pn.load(path)


@pytest.mark.parametrize("ending", [".npz", ".arrow"])
def test_files_that_are_cut_short_or_have_a_wrong_byte(ending: str, tmp_path: Path) -> None:
    if ending == ".arrow":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"x{ending}"
    pn.save(path, {"x": pn.nested_array([[1.0], [2.0, 3.0]], layout=pn.jagged)})
    written = path.read_bytes()
    for i in range(0, len(written), 3):
        path.unlink()
        path.write_bytes(written[:i] + bytes([255 - written[i]]) + written[i + 1 :])
        with contextlib.suppress(ExchangeError, StructureError, DTypeError):  # or another number in an array
            pn.load(path)
    path.write_bytes(written[:-9])
    with pytest.raises(ExchangeError, match="or it is damaged"):
        pn.load(path)


NOT_SAVED = [
    (pn.ones(1), "x.npz", "the first argument must be a path, a str or a Path, not an Array"),
    (b"x.npz", pn.ones(1), "must be a path, a str or a Path, not a bytes"),
    (3, pn.ones(1), "must be a path, a str or a Path, not an int"),
    ("x.pt", pn.ones(1), r"ends in '\.pt'\. Use one of \.npz, \.arrow"),
    *(("x.npz", value, "save: takes an array, or a mapping")
      for value in ({1: pn.ones(1)}, {"": pn.ones(1)}, {"a\0b": pn.ones(1)}, {"x": np.ones(1)}, [1])),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "text"), NOT_SAVED)
def test_other_values_cannot_be_saved(path: Any, value: Any, text: str) -> None:
    with pytest.raises(ArgumentError, match=text):
        pn.save(path, value)
