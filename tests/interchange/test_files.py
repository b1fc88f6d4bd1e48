"""Files: what is saved comes back, without its holes; what is no such file is refused."""

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

from .drawn import Drawn, arrays, assert_same


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


def test_what_is_no_such_file_is_refused(tmp_path: Path) -> None:
    other, newer, cut, changed = (tmp_path / f"{name}.npz" for name in ("other", "newer", "cut", "changed"))
    np.savez(other, x=np.ones(2))
    with pytest.raises(ExchangeError, match=r"was not written by pynested\.save"):
        pn.load(other)
    head = {"version": 2, "arrays": {}}
    np.savez(newer, pynested=np.frombuffer(json.dumps(head).encode(), np.uint8))
    with pytest.raises(ExchangeError, match="has version 2, and this pynested reads 1"):
        pn.load(newer)
    head = {"version": 1, "arrays": {"x": {"kind": "dense"}}}
    np.savez(cut, pynested=np.frombuffer(json.dumps(head).encode(), np.uint8))
    with pytest.raises(ExchangeError, match="lacks its entry 'x/values'"):
        pn.load(cut)
    head = {"version": 1, "arrays": {"x": {"kind": "jagged", "ragged_dim": 1}}}
    parts = {"x/values": np.ones(2), "x/offsets": np.array([0, 5])}
    np.savez(changed, pynested=np.frombuffer(json.dumps(head).encode(), np.uint8), **parts)  # type: ignore[arg-type]
    with pytest.raises(pn.errors.StructureError):
        pn.load(changed)
    for damage, text in (("empty", b""), ("text", b"hello"), ("cut short", newer.read_bytes()[:-9])):
        (tmp_path / f"{damage}.npz").write_bytes(text)
        with pytest.raises(ExchangeError, match=r"was not written by pynested\.save, or it is damaged"):
            pn.load(tmp_path / f"{damage}.npz")
    with pytest.raises(ArgumentError, match="the path comes first, and is text or a Path, not an Array"):
        pn.save(pn.ones(1), "x.npz")  # type: ignore[arg-type]
    for wrong in ({1: pn.ones(1)}, {"x": np.ones(1)}, [pn.ones(1)]):
        with pytest.raises(ArgumentError, match="save: takes an array, or a mapping"):
            pn.save(tmp_path / "x.npz", wrong)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"ends in '\.pt'\. Take one of \.npz, \.arrow"):
        pn.save("x.pt", pn.ones(1))
