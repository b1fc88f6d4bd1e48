"""`expand`: dimensions of size 1 repeated in a view, sizes kept by -1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import GradientError, PynestedError, ShapeError

from ..nests import assert_same, batch

X = batch([(2, 1, 3), (0, 1, 3), (4, 1, 3)])


def test_dense() -> None:
    x = np.arange(3.0).reshape(3, 1)
    assert_same(
        [pn.array(x).expand(2, -1, 4), pn.array(x).broadcast_to((2, -1, 4))], [np.broadcast_to(x, (2, 3, 4))] * 2
    )
    for shape in ((-1, 3, 4), (3, -2), (2, 1), (3,)):
        with pytest.raises(ShapeError, match="broadcast_to"):
            pn.array(x).expand(*shape)


def test_refused(lay: Any) -> None:
    x = lay(X)
    for shape in ((-1, -1, 5), (2, -1, 5, 3), (-1, 4, 5, 3), (-1, -1, 5, 6), (-1, -1, -2, -1), (6, -1, 1, 3)):
        with pytest.raises(ShapeError, match="expand"):
            x.expand(*shape)
    for write in (lambda view: view.fill_(0.0), lambda view: view.add_(1.0)):
        with pytest.raises(PynestedError) as refused:
            write(x.expand(-1, -1, 5, -1))
        assert "overlap" in str(refused.value) or isinstance(refused.value, GradientError)
