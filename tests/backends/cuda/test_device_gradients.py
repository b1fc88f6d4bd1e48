"""Gradients on devices: by the kernels of adjoints, through graphs that cross devices, and in second derivatives.

`test_device_law` compares the gradients of all sample inputs with those on the CPU.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import pytest

import pynested as pn
from pynested.backends import get_backend

from .test_device_law import compare, computed, on_host, samples

Operator = Callable[[pn.NestedArray], Any]


def leaf(device: str, dtype: Any = np.float64) -> pn.NestedArray:
    """Return components of 2, 0 and 3 rows of 4, with a tie."""
    components = [np.linspace(-2, 2, n * 4).reshape(n, 4).round(2).astype(dtype) for n in (2, 0, 3)]
    components[2][1] = components[2][0]
    return pn.nested_array(components, layout=pn.jagged, device=device, requires_grad=True)


def host(x: pn.NestedArray) -> Any:
    return x.values().detach().to("cpu").numpy()


def cubed(result: Any) -> Any:
    return pn.sum(result * result * result)


# Beginnings of the names of adjoint kernels, by operator.
ADJOINTS = {
    "relu": "binary<ReluBackward", "gelu": "binary<GeluBackward", "silu": "binary<SiluBackward",
    "softmax": "segment_softmax_backward", "layer_norm": "layer_norm_backward",
    "cross_entropy": "cross_entropy_backward", "amax": "segment_max_backward",
}  # fmt: skip


@pytest.mark.parametrize("op", ADJOINTS)
def test_a_pass_runs_kernels_of_adjoints_and_can_be_differentiated(
    op: str, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    launcher = get_backend(device).launcher
    run = mock.Mock(side_effect=launcher.run)
    monkeypatch.setattr(launcher, "run", run)
    for sample in samples():
        if sample.values[0].op == op:
            results, expected = (on_host(computed(*sample.values, place, again=True)) for place in (device, "cpu"))
            compare(results, expected, 1e-11)
    assert any(call.args[1].startswith(ADJOINTS[op]) for call in run.call_args_list)


ROUTES = {
    "there and back": ("cpu", "device", "cpu"),
    "ends there": ("cpu", "cpu", "device"),
    "starts there": ("device", "device", "cpu", "cpu"),
    "twice": ("device", "cpu", "device", "cpu"),
    "between devices": ("emulated", "cuda", "emulated", "cpu"),
}
STAGES: list[Operator] = [lambda x: pn.softmax(x, 1), pn.gelu, lambda x: x * x, lambda x: pn.layer_norm(x, (4,))]


@pytest.mark.usefixtures("cupy")
@pytest.mark.parametrize("start", ["cpu", "device"])
@pytest.mark.parametrize("route", ROUTES)
def test_a_graph_that_crosses_devices(device: str, route: str, start: str) -> None:
    def gradients(first: str, *others: str) -> Any:
        x = y = leaf(first)
        for place, stage in zip(others, STAGES, strict=False):
            y = stage(y.to(place))
        loss = cubed(y) + 0 * cubed(x.to(others[-1]))
        plain = pn.grad(loss, x, retain_graph=True)
        recorded = pn.grad(loss, x, create_graph=True)
        assert [(g.device, g.requires_grad) for g in (plain, recorded)] == [(first, False), (first, True)]
        cubed(recorded).backward()
        return host(plain), host(recorded), host(x.grad)

    places = [device if place == "device" else place for place in (start, *ROUTES[route])]
    for results, expected in zip(gradients(*places), gradients(*["cpu"] * len(places)), strict=True):
        np.testing.assert_allclose(results, expected, atol=1e-12)


def test_hooks_and_checkpoints_see_cotangents_where_they_lie(device: str) -> None:
    x, plain = leaf(device), leaf("cpu")
    seen = []
    middle = pn.relu(x).to("cpu")
    middle.data.register_hook(lambda g: seen.append(("hook", g.device)))
    middle.data.retain_grad()
    again = pn.checkpoint(lambda y: pn.softmax(y.to(device), 1), middle)
    again.data.register_hook(lambda g: seen.append(("hook", g.device)))
    with pn.anomaly():
        cubed(again).backward()
    assert seen == [("hook", device), ("hook", "cpu")]
    assert (middle.data.grad.device, x.grad.device) == ("cpu", device)
    cubed(pn.softmax(pn.relu(plain), 1)).backward()
    np.testing.assert_allclose(host(x.grad), host(plain.grad), atol=1e-12)


def test_tangents_cross_devices(device: str) -> None:
    x = pn.array([1.0, 2.0], device=device)
    value, tangent = pn.jvp(lambda x: (x * x).to("cpu") * 3, (x,), (pn.ones_like(x),))
    assert tangent.device == value.device == "cpu" and tangent.tolist() == [6.0, 12.0]
    assert pn.jacobian(lambda x: x * x, x).device == device


def test_gradcheck_on_the_device_of_its_arrays(device: str) -> None:
    seen = set()

    def function(x: Any) -> Any:
        seen.add(x.device)
        return pn.softmax(x, 0) * x, (x * 0).to(dtype="bfloat16")

    assert pn.gradcheck(function, pn.array([1.0, 2.0], device=device), order=2)
    assert seen == {device}
