"""Dtypes of results of the dense operators, and answers that are known without a definition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn

NAN = float("nan")
I8, U8, I64 = pn.array([1, 2], dtype="int8"), pn.array([3, 0], dtype="uint8"), pn.array([5, -6])
F32 = pn.array([0.5, 2.0], dtype="float32")
BOOL = pn.array([True, False])


def test_integers_wrap_and_divide_by_zero_quietly() -> None:
    assert (U8 - pn.array([4, 1], dtype="uint8")).tolist() == [255, 255]
    assert (-U8).tolist() == [253, 0]
    assert (I64 / 0).tolist() == [float("inf"), float("-inf")]
    assert np.isnan((U8 / pn.array([1, 0], dtype="uint8")).numpy()[1])


def test_chunks() -> None:
    x = pn.arange(7)
    assert [piece.tolist() for piece in x.chunk(3)] == [[0, 1, 2], [3, 4, 5], [6]]
    assert [piece.tolist() for piece in x.chunk(5)] == [[0, 1], [2, 3], [4, 5], [6]]
    assert [piece.shape for piece in pn.zeros(0, 2).chunk(3)] == [(0, 2)] * 3


def test_unbind_of_nothing() -> None:
    assert pn.zeros(0, 2).unbind() == ()
    assert len(pn.zeros(2, 0).unbind()) == 2


def test_dropout() -> None:
    x = pn.array(np.array([1.0, NAN, 3.0], np.float32))
    np.testing.assert_array_equal(x.dropout(1.0), [0, NAN, 0])
    assert x.dropout(0.5, training=False).storage is x.storage
    kept = pn.ones(10_000, dtype="float32").dropout(0.1, generator=np.random.default_rng(0)).numpy()
    assert set(kept.tolist()) == {0.0, float(np.float32(1 / 0.9))}
    assert 8800 < np.count_nonzero(kept) < 9200
    assert pn.array(2.0).dropout(0.5).shape == ()


def test_means_of_half_precision_count_beyond_its_range() -> None:
    assert pn.ones(70_000, dtype="float16").mean().item() == 1
    x = pn.array(np.ones(70_000, np.float16), requires_grad=True)
    x.mean().backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), 1 / 70_000, rtol=5e-3)


def test_a_sum_in_integers_converts_every_element_first() -> None:
    x = pn.array([-0.75, -100.25, -100.5])  # 0 - 100 - 100
    assert [x.sum(dtype=kind).item() for kind in ("int64", "int8", "bool")] == [-200, 56, True]
