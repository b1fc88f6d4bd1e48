"""One program on every device: with another default device it gives the same answers, gradients included."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.autograd import flatten
from pynested.backends.host import to_host

TOKENS = [[0, 2, 1], [3], [], [2, 2]]


def sentences(dtype: Any) -> pn.NestedArray:
    words = pn.nested_array(TOKENS, dtype=pn.int64, layout=pn.jagged)
    return pn.embedding(words, pn.randn(4, 8, dtype=dtype))


def training() -> Any:
    words, labels = pn.nested_array([[0, 2, 1], [3], [2, 2]], layout=pn.jagged), pn.array([0, 1, 0])
    table, weight = pn.randn(4, 8, requires_grad=True), pn.randn(2, 8, requires_grad=True)
    for _ in range(3):
        loss = pn.cross_entropy(pn.linear(pn.embedding(words, table).mean(1), weight), labels)
        with pn.no_grad():
            for parameter, slope in zip((table, weight), pn.grad(loss, (table, weight)), strict=True):
                parameter -= 0.5 * slope
    return loss, table, weight


def layers() -> Any:
    x = sentences(pn.float32).detach().requires_grad_()
    weight, bias = pn.ones(8, dtype=pn.float32, requires_grad=True), pn.zeros(8, dtype=pn.float32, requires_grad=True)
    y = pn.gelu(pn.layer_norm(2 * x + 1, (8,), weight, bias))
    scores = pn.softmax(pn.matmul(y, pn.transpose(y, 1, 2)), 2)
    pn.matmul(scores, y).sum().backward()
    return y, x.grad, weight.grad, bias.grad


def structure() -> Any:
    x = pn.narrow(pn.arange(12.0).reshape(3, 4), 1, [0, 1, 2], [4, 0, 2], layout=pn.jagged)
    lengths = pn.array([len(one) for one in x.unbind()])
    picked = pn.masked_select(pn.arange(6.0).reshape(2, 3), pn.array([[True, False, True], [False, True, False]]))
    batch = pn.as_nested_array([pn.ones(2), [3.0]], layout=pn.jagged)
    copied = pn.nested_array([pn.ones(2), [3.0]], layout=pn.jagged)
    return x.sum(1) / lengths, pn.to_padded_array(x, -1.0), picked, pn.zeros_like(x) + 1, batch, copied, x.offsets()[1:]


def second_order() -> Any:
    x = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged, requires_grad=True)
    slope = pn.grad((x * x * x).sum(), x, create_graph=True)
    tangent = pn.jvp(lambda y: y.sin(), x.detach(), pn.ones_like(x))
    return slope, pn.grad(slope.sum(), x), tangent


PROGRAMS: dict[str, Callable[[], Any]] = {
    "training": training,
    "layers": layers,
    "structure": structure,
    "second order": second_order,
}


def answers(program: Callable[[], Any], device: str) -> list[Any]:
    with pn.set_default_device(device):
        pn.manual_seed(1)
        arrays, _ = flatten(program())
    assert {one.device for one in arrays} == {device}
    return [to_host(one.data) for one in arrays]


def test_components_are_collected_from_and_on_any_device(device: str) -> None:
    here, there = pn.ones(2), pn.zeros(1, device=device)
    for where in ("cpu", device):
        for layout in (pn.jagged, pn.strided):
            nested = pn.nested_array([here, there, [7.0]], layout=layout, device=where)
            moved = pn.as_nested_array([here, there, [7.0]], layout=layout, device=where)
            assert nested.device == moved.device == where
            assert nested.values().tolist() == moved.values().tolist() == [1, 1, 0, 7]


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_same_program_gives_the_same_answers(program: str, device: str) -> None:
    here, there = answers(PROGRAMS[program], "cpu"), answers(PROGRAMS[program], device)
    assert len(here) == len(there) > 2
    for expected, got in zip(here, there, strict=True):
        assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6, equal_nan=True)
