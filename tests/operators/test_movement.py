"""Views and copies: elements stay what they are, views share the memory and stand on the tape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import DimensionError, ShapeError

from ..nests import JAGGED_2, LAYOUTS, assert_same, batch, nest, place

X = batch([(2, 4), (0, 4), (3, 4)])
TURNED = [x.T for x in X]

VIEWS: dict[str, Callable[[Any], Any]] = {
    "transpose": lambda x: x.transpose(1, 2),
    "unsqueeze": lambda x: x.unsqueeze(1),
    "permute": lambda x: x.permute(0, 2, 1),
    "squeeze": lambda x: x.unsqueeze(1).squeeze(1),
    "flatten": lambda x: x.flatten(1),
    "unflatten": lambda x: x.unflatten(2, (2, 2)),
    "reshape": lambda x: x.reshape(-1, -1, 2, 2),
    "view": lambda x: x.view(-1, -1, 2, 2),
    "select regular": lambda x: x.select(2, 1),
    "select component": lambda x: x.select(0, 2),
    "chunk batch": lambda x: x.chunk(2)[0],
    "chunk regular": lambda x: x.chunk(2, 2)[1],
    "split batch": lambda x: x.split([1, 2])[1],
    "split regular": lambda x: x.split(3, 2)[0],
    "unbind": lambda x: x.unbind()[2],
    "narrow": lambda x: pn.narrow(x, 0, 1, 2),
    "slice batch": lambda x: x[1:],
    "every other component": lambda x: x[::2],
    "slice ragged": lambda x: x[:, 1:],
    "slice regular": lambda x: x[..., 1:3],
    "none": lambda x: x[:, None],
    "component": lambda x: x[2],
    "values": lambda x: x.values(),
}


class TestTranspose:
    def test_every_dtype(self, lay: Any) -> None:
        for kind in (np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.float16, np.float32):
            assert_same(lay([x.astype(kind) for x in X]).transpose(1, 2), [x.astype(kind) for x in TURNED])


class TestReshape:
    def test_reshape_as(self, lay: Any) -> None:
        for layout in LAYOUTS:
            for other in (nest([x.ravel() for x in X], layout), nest([x.reshape(-1, 2, 2) for x in X], layout)):
                result = pn.reshape_as(lay(X), other)
                assert_same(result, [x.reshape(one.shape) for x, one in zip(X, other.unbind(), strict=True)])
                assert result.layout is layout
        with pytest.raises(ShapeError, match="component 2"):
            pn.reshape_as(lay(X), nest([X[0], X[1], X[2][:1]]))
        with pytest.raises(ShapeError, match="components"):
            pn.reshape_as(lay(X), nest(X[:2]))


class TestUnbindCloneDetach:
    def test_unbind(self, lay: Any) -> None:
        for components in (pn.unbind(lay(X)), lay(X).unbind(dim=-3), tuple(lay(X))):
            assert_same(components, X)
        assert list(pn.unbind(lay(X)[:0])) == []
        for dim in (1, -1):
            with pytest.raises(DimensionError, match="dimension 0"):
                pn.unbind(lay(X), dim)

    def test_clone(self, lay: Any, layout: Any) -> None:
        x = lay([np.array([-0.0, np.nan]), np.array([])])
        result = pn.clone(x)
        assert_same(result, [np.array([-0.0, np.nan]), np.array([])])
        assert result.layout is layout and not np.shares_memory(result.data.data, x.data.data)
        assert result.structure.tiles

    def test_detach(self, lay: Any, layout: Any) -> None:
        made = place(X, layout, grad=True)
        result = pn.detach(made.array)
        assert_same(result, X)
        assert (result.requires_grad, result.layout) == (False, layout)
        assert np.shares_memory(result.data.data, made.array.data.data)


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda one: one.name)
class TestViews:
    def test_they_share_memory(self, name: str, layout: Any) -> None:
        for placement in ("packed", "holes"):
            x = nest(X, layout, placement)
            result = VIEWS[name](x)
            memory = result.data.data if isinstance(result, pn.NestedArray) else result.data
            assert np.shares_memory(memory, x.data.data)
            before = x.data.storage.version
            result.fill_(7.0)
            assert x.data.storage.version > before
            seen = sum(int((one.numpy() == 7).sum()) for one in x.unbind())
            assert seen == (20 if name == "values" else result.numel())

    def test_they_have_a_gradient_of_their_own(self, name: str, layout: Any) -> None:
        made = place(X, layout, grad=True)
        view = VIEWS[name](made.array)
        assert not view.is_leaf and view.requires_grad
        view.retain_grad()
        (view * view).sum().backward()
        own = [view] if isinstance(view, pn.Array) else view.unbind()
        grads = [view.grad] if isinstance(view, pn.Array) else view.grad.unbind()
        assert_same(grads, [2 * one.detach().numpy() for one in own])
        touched = sum(int((one != 0).sum()) for one in made.gradient())
        assert touched == sum(one.numel() for one in own)


def test_jagged_by_the_second_dimension() -> None:
    x = nest(TURNED, JAGGED_2.layout, "holes", 2)
    assert_same(x[:, 1:3], [one[1:3] for one in TURNED])
    assert_same(x[:, :, ::-1], [one[:, ::-1] for one in TURNED])
    assert_same(x.unsqueeze(2), [one[:, None] for one in TURNED])
    with pytest.raises(DimensionError):
        x.chunk(2, 2)


def test_copies_take_what_numpy_has() -> None:
    for copy in (pn.clone, pn.contiguous, pn.detach):
        made: Any = copy(np.array([1.0, 2.0]))  # type: ignore[type-var]
        assert type(made) is pn.Array and made.tolist() == [1.0, 2.0]
