"""`cat` and `stack`: batches, regular and ragged dimensions, and a new one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ShapeError

from ..nests import assert_same, batch, distinct, nest

X = batch([(2, 2), (0, 2), (3, 2)])
SAME = batch([(2, 2), (0, 2), (3, 2)], 1)
LONGER = batch([(1, 2), (2, 2), (0, 2)], 2)
WIDER = batch([(2, 3), (0, 3), (3, 3)], 3)


def joined(*groups: Any, axis: int) -> list[Any]:
    return [np.concatenate(parts, axis) for parts in zip(*groups, strict=True)]


class TestCat:
    def test_what_jagged_cannot_express_is_strided(self) -> None:
        assert_same(pn.cat([nest(X), nest(WIDER)]), [*X, *WIDER])
        assert pn.cat([nest(X), nest(WIDER)]).layout is pn.strided
        turned = nest([x.T for x in X], pn.jagged, "packed", 2)
        assert pn.cat([nest(X), turned]).layout is pn.strided
        assert pn.cat([nest(X), nest(SAME, pn.strided)], 1).layout is pn.strided
        assert_same(pn.cat([nest(X), nest(LONGER, pn.strided)], 1), joined(X, LONGER, axis=0))
        mixed = nest([x.T for x in SAME], pn.jagged, "holes", 2).transpose(1, 2)
        assert_same(pn.cat([nest(X), mixed], 2), joined(X, SAME, axis=1))


def test_dense_arrays_are_joined_as_ever() -> None:
    x = distinct((2, 3))
    assert pn.cat([pn.array(x), x], 1).tolist() == np.concatenate([x, x], 1).tolist()
    assert pn.stack([pn.array(x), x]).tolist() == np.stack([x, x]).tolist()
    with pytest.raises(ShapeError):
        pn.cat([x, x[:1]], 1)
