"""permute, view, squeeze, flatten and split: dimensions reordered, shaped anew, left out, joined and cut."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import DimensionError, ShapeError

from ..nests import assert_same, batch, nest

X = batch([(2, 4), (0, 4), (3, 4)])
DEEP = batch([(2, 3, 4), (0, 3, 4), (1, 3, 4)])


class TestSqueeze:
    def test_lengths_of_one_stay(self) -> None:
        ones = batch([(1, 1), (1, 1)])
        assert_same(nest(ones).squeeze(2), [x[:, 0] for x in ones])
        with pytest.raises(DimensionError, match="irregular, and stays whatever the lengths"):
            nest(ones).squeeze(1)
        assert_same(nest(ones, pn.strided).squeeze((1, 2)), [x[0, 0] for x in ones])

    def test_dense(self) -> None:
        x = np.arange(3.0).reshape(1, 3, 1)
        assert [pn.array(x).squeeze(dim).shape for dim in (None, 0, -1, (0, 2), ())] == [
            (3,), (3, 1), (1, 3), (3,), (1, 3, 1),
        ]  # fmt: skip
        with pytest.raises(ShapeError, match="dimension 1 has size 3"):
            pn.squeeze(x, 1)


class TestFlatten:
    def test_dense(self) -> None:
        x = np.arange(24.0).reshape(2, 3, 4)
        for args, shape in (((), (24,)), ((1,), (2, 12)), ((0, 1), (6, 4)), ((-2, 2), (2, 12)), ((1, 1), (2, 3, 4))):
            assert pn.array(x).flatten(*args).shape == shape
        assert pn.array(5.0).flatten().shape == (1,)

    def test_refused(self, lay: Any) -> None:
        for dims in ((), (0, 1), (-3, 0)):
            with pytest.raises(DimensionError, match=re.escape("x.flatten(1)")):
                lay(X).flatten(*dims)
        with pytest.raises(DimensionError, match="start_dim 2 comes after end_dim 1"):
            lay(X).flatten(2, 1)
        with pytest.raises(DimensionError, match=re.escape("[-3, 2]")):
            lay(X).flatten(1, 3)
        assert_same([pn.cat(lay(X).flatten(1).unbind())], [np.concatenate([x.reshape(-1) for x in X])])


class TestSplit:
    def test_the_ragged_dimension_where_all_components_have_the_sum(self, lay: Any) -> None:
        level = batch([(3, 2), (3, 2)])
        for piece, part in zip(lay(level).split((1, 2), 1), (slice(1), slice(1, 3)), strict=True):
            assert_same(piece, [x[part] for x in level])
        with pytest.raises(ShapeError, match=re.escape("[1, 1] add up to 2")):
            lay(level).split((1, 1), 1)
        with pytest.raises(ShapeError, match="of component 1 has size 0"):
            lay(X).split((1, 1), 1)
        with pytest.raises(DimensionError, match="dimension 1 is irregular; pieces of one size"):
            lay(X).split(2, 1)

    def test_dense(self) -> None:
        x = np.arange(10.0).reshape(5, 2)
        assert [one.shape for one in pn.split(x, 2)] == [(2, 2), (2, 2), (1, 2)]
        assert [one.shape for one in pn.array(x).split((4, 1))] == [(4, 2), (1, 2)]
        assert [one.shape for one in pn.zeros(0, 2).split(3)] == [(0, 2)]
        with pytest.raises(ShapeError, match="dimension 0 has size 5"):
            pn.array(x).split((2, 2))
