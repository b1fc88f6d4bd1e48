"""`expand`: dimensions of size 1 repeated in a view, sizes kept by -1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import GradientError, PynestedError, ShapeError

from ..nests import assert_same, batch, nest

X = batch([(2, 1, 3), (0, 1, 3), (4, 1, 3)])


def test_components_are_repeated(lay: Any) -> None:
    x = lay(X)
    for shape in ((-1, -1, 5, -1), (3, -1, 5, 3), (3, x.shape[1], 5, 3)):
        for result in (x.expand(*shape), x.expand(shape)):
            assert_same(result, [np.repeat(one, 5, axis=1) for one in X])
            assert result.layout is x.layout and result.data.storage is x.data.storage
    assert_same(x.expand(-1, -1, 0, -1), [one[:, :0] for one in X])
    assert_same(x.expand(x.shape), X)
    assert_same(x.expand(-1, -1, 5, -1) * 2.0, [np.repeat(one, 5, axis=1) * 2.0 for one in X])


def test_another_ragged_dimension(layout: Any) -> None:
    turned = [one.transpose(1, 0, 2) for one in X]
    assert_same(nest(turned, layout, "packed", 2).expand(-1, 4, -1, -1), [np.repeat(one, 4, axis=0) for one in turned])


def test_the_gradient_is_added_up(lay: Any) -> None:
    leaf = lay(X).detach().requires_grad_()
    (leaf.expand(-1, -1, 5, -1) * 2.0).sum().backward()
    assert all((one.numpy() == 10.0).all() for one in leaf.grad)


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
