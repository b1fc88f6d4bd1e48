"""Files: what is saved is loaded, without its gaps; damaged files are refused."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import pynested as pn
from pynested.backends.errors import ArgumentError, ExchangeError, GradientError

from ..nests import assert_same
from .drawn import Drawn, arrays


@pytest.fixture(params=[".npz", ".arrow"])
def ending(request: Any) -> str:
    if request.param == ".arrow":
        pytest.importorskip("pyarrow")
    return request.param  # type: ignore[no-any-return]


def test_arrays_come_back(ending: str) -> None:
    @settings(deadline=None, max_examples=60)
    @given(arrays())
    def holds(drawn: Drawn) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"x{ending}"
            pn.save(path, drawn.array)
            back = pn.load(path)
            assert isinstance(back, pn.NestedArray) and back.layout == drawn.array.layout
            assert_same(back, drawn.components)
            assert np.array_equal(back.offsets().numpy(), drawn.array.contiguous().offsets().numpy())
            named: dict[str, Any] = {"one": drawn.array, "two": pn.array([[1, 2]]), "a/b": pn.array(1.5)}
            pn.save(str(path), named)
            again = pn.load(path)
            assert isinstance(again, dict) and list(again) == ["one", "two", "a/b"]
            assert_same(again["one"], drawn.components)
            assert again["two"].tolist() == [[1, 2]] and again["a/b"].tolist() == 1.5

    holds()


def test_numpy_reads_it_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    pn.save(path, {"x": pn.nested_array([[1.0], [2.0, 3.0]], layout=pn.jagged)})
    with np.load(path) as file:
        assert file["x/values"].tolist() == [1, 2, 3] and file["x/offsets"].tolist() == [0, 1, 3]


def test_parameters_are_saved_as_they_are_and_results_are_not(tmp_path: Path) -> None:
    w = pn.array([1.0], requires_grad=True)
    pn.save(tmp_path / "w.npz", {"w": w})
    assert pn.load(tmp_path / "w.npz")["w"].tolist() == [1.0]  # type: ignore[index]
    with pytest.raises(GradientError, match="save"):
        pn.save(tmp_path / "w.npz", w * 2)


JAGGED = {"version": 1, "arrays": {"x": {"kind": "jagged", "ragged_dim": 1}}}
CUT = {"version": 1, "arrays": {"x": {"kind": "dense"}}}
NO_FILE = r"was not written by pynested\.save"
DAMAGED: list[tuple[Any, dict[str, Any], type[Exception], str]] = [  # bytes or a head, and entries
    (None, {"x": np.ones(2)}, ExchangeError, NO_FILE),
    ({"version": 2, "arrays": {}}, {}, ExchangeError, "has version 2, and this pynested reads version 1"),
    (CUT, {}, ExchangeError, "the entry 'x/values' of .* is missing"),
    (JAGGED, {"x/values": np.ones(2), "x/offsets": np.array([0, 5])}, pn.errors.StructureError, ""),
    *((text, {}, ExchangeError, NO_FILE + ", or it is damaged") for text in (b"", b"hello")),
]


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


def test_files_that_are_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    pn.save(path, pn.ones(2))
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ExchangeError, match="or it is damaged"):
        pn.load(path)


NOT_SAVED = [
    (pn.ones(1), "x.npz", "the first argument must be a path, a str or a Path, not an Array"),
    ("x.pt", pn.ones(1), r"ends in '\.pt'\. Use one of \.npz, \.arrow"),
    *(("x.npz", given, "save: takes an array, or a mapping") for given in ({1: pn.ones(1)}, {"x": np.ones(1)}, [1])),
]


@pytest.mark.parametrize(("path", "given", "text"), NOT_SAVED)
def test_what_cannot_be_saved(path: Any, given: Any, text: str) -> None:
    with pytest.raises(ArgumentError, match=text):
        pn.save(path, given)
