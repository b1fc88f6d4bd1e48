"""`layer_norm` where eps is 0, or next to nothing: of elements of any size, and of equal ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn

from ..nests import nest
from .test_normalization import DEVICES

DTYPES = (np.float16, np.float32, np.float64)


def read(x: Any) -> np.ndarray:
    """The rows of all components, on the CPU."""
    return np.concatenate([one.numpy() for one in x.detach().to(device="cpu").unbind()])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.__name__)
def test_the_size_of_elements_is_of_no_matter(layout: Any, dtype: Any, device: str) -> None:
    kind = np.finfo(dtype)
    signs = np.array([[1, -1], [0, 0], [0, 0], [0, 0], [-1, 1]])
    for exponent in (kind.minexp, kind.minexp // 2, 0, kind.maxexp - 1):
        size = 2.0**exponent
        rows = np.array([[size, -size], [size, size], [0, 0], [-size, -size], [-size, size]], dtype)
        x = nest([rows[:2], rows[2:]], layout).to(device=device)
        for eps in (0.0, 5e-324, 2.0**-200, 2.0**-40):
            due = signs * (size / np.hypot(size, eps**0.5))
            found = read(pn.layer_norm(x, 2, eps=eps))
            np.testing.assert_allclose(found, due, rtol=4 * float(kind.eps), atol=float(kind.tiny))


@pytest.mark.parametrize("device", DEVICES)
def test_equal_elements_have_no_gradient(layout: Any, device: str) -> None:
    rows = np.array([[5, 5, 5], [1e30, 1e30, 1e30], [0, 0, 0], [1, 2, 4]], np.float32)
    cotangents = np.array([[1, 2, 4], [3, 1, 2], [3, 1, 2], [3, 1, 2]], np.float32)
    x = nest([rows[:1], rows[1:]], layout).to(device=device).requires_grad_()
    weight = pn.ones(3, dtype=pn.float32, device=device, requires_grad=True)
    g = nest([cotangents[:1], cotangents[1:]], layout).to(device=device)
    alone = rows[3].astype(np.float64) - 7 / 3
    alone /= np.sqrt((alone**2).mean())
    for recorded in (False, True):
        to_x, to_weight = pn.grad(pn.layer_norm(x, 3, weight, eps=0.0), (x, weight), g, create_graph=recorded)
        assert not read(to_x)[:3].any() and read(to_x)[3].all()
        np.testing.assert_allclose(to_weight.detach().to(device="cpu").numpy(), [3, 1, 2] * alone, rtol=1e-6)
    tangent = read(pn.jvp(lambda x: pn.layer_norm(x, 3, eps=0.0), (x.detach(),), (g,))[1])
    assert not tangent[:3].any() and tangent[3].all()


@pytest.mark.parametrize("device", DEVICES)
def test_equal_elements_are_divided_by_the_root_of_an_eps_beyond_float32(layout: Any, device: str) -> None:
    """With eps = 1e-60 the gradient is (g - mean(g)) * 1e30."""
    x = nest([np.full((1, 2), 3, np.float32)], layout).to(device=device).requires_grad_()
    g = nest([np.array([[1, 3]], np.float32)], layout).to(device=device)
    for recorded in (False, True):
        found = pn.grad(pn.layer_norm(x, 2, eps=1e-60), (x,), g, create_graph=recorded)[0]
        np.testing.assert_allclose(read(found), [[-1e30, 1e30]], rtol=1e-6)
