"""Dtypes of results of the dense operators, and answers that are known without a definition."""

from __future__ import annotations

import pynested as pn

NAN = float("nan")
I8, U8, I64 = pn.array([1, 2], dtype="int8"), pn.array([3, 0], dtype="uint8"), pn.array([5, -6])
F32 = pn.array([0.5, 2.0], dtype="float32")
BOOL = pn.array([True, False])


def test_chunks() -> None:
    x = pn.arange(7)
    assert [piece.tolist() for piece in x.chunk(3)] == [[0, 1, 2], [3, 4, 5], [6]]
    assert [piece.tolist() for piece in x.chunk(5)] == [[0, 1], [2, 3], [4, 5], [6]]
    assert [piece.shape for piece in pn.zeros(0, 2).chunk(3)] == [(0, 2)] * 3


def test_unbind_of_nothing() -> None:
    assert pn.zeros(0, 2).unbind() == ()
    assert len(pn.zeros(2, 0).unbind()) == 2
