"""Gradients on devices: by the kernels of adjoints, through graphs that cross devices, and in a step of training."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.autograd.graph import pull_back
from pynested.autograd.tape import source_of
from pynested.backends import get_backend
from pynested.backends.errors import GradientError

TARGETS = [np.array([1, 3]), np.array([], np.int64), np.array([0, -100, 2])]
DEVICES = "emulated", "cuda"

Operator = Callable[[pn.NestedArray], Any]

# Each operator, and how the kernels of its adjoint are called.
FUSED: dict[str, tuple[Operator, str]] = {
    "relu": (pn.relu, "binary<ReluBackward"),
    "gelu": (pn.gelu, "binary<GeluBackward"),
    "gelu by tanh": (lambda x: pn.gelu(x, approximate="tanh"), "binary<GeluTanhBackward"),
    "silu": (pn.silu, "binary<SiluBackward"),
    "softmax of components": (lambda x: pn.softmax(x, 1), "segment_softmax_backward"),
    "softmax of rows": (lambda x: pn.softmax(x, 2), "segment_softmax_backward"),
    "layer_norm": (lambda x: pn.layer_norm(x, (4,), weight_like(x), weight_like(x)), "layer_norm_backward"),
    "cross_entropy": (lambda x: pn.cross_entropy(x, targets(x.device), weight=weight_like(x)), "cross_entropy_backw"),
    "amax": (lambda x: pn.amax(x[::2], 1), "segment_max_backward"),
}


def weight_like(x: pn.NestedArray) -> pn.Array:
    return pn.array(np.linspace(0.5, 2, 4), dtype=x.dtype, device=x.device)


def targets(device: str) -> pn.NestedArray:
    return pn.nested_array(TARGETS, layout=pn.jagged, device=device)


def leaf(device: str, dtype: Any = np.float64) -> pn.NestedArray:
    """Components of 2, 0 and 3 rows of 4, with a tie."""
    components = [np.linspace(-2, 2, n * 4).reshape(n, 4).round(2).astype(dtype) for n in (2, 0, 3)]
    components[2][1] = components[2][0]
    return pn.nested_array(components, layout=pn.jagged, device=device, requires_grad=True)


def host(x: Any) -> Any:
    """The values, wherever they lie; of a nested array, those of its buffer."""
    return (x.values() if isinstance(x, pn.NestedArray) else x).detach().to("cpu").numpy()


def cubed(result: Any) -> Any:
    return pn.sum(result * result * result)


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest, cupy: ModuleType) -> str:
    return str(request.param)


@pytest.fixture
def launched(device: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the kernels that were launched since."""
    names: list[str] = []
    launcher = get_backend(device).launcher
    run = launcher.run

    def noted(file: str, name: str, *rest: Any) -> None:
        names.append(name)
        run(file, name, *rest)

    monkeypatch.setattr(launcher, "run", noted)
    return names


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("name", FUSED)
def test_a_pass_is_made_of_the_kernels_of_adjoints(device: str, launched: list[str], name: str, dtype: Any) -> None:
    operator, kernel = FUSED[name]

    def gradient(place: str) -> Any:
        x = leaf(place, dtype)
        cubed(operator(x)).backward()
        assert x.grad.device == place and x.grad.dtype == dtype
        return host(x.grad)

    found = gradient(device)
    assert any(one.startswith(kernel) for one in launched)
    np.testing.assert_allclose(found, gradient("cpu"), rtol=1e-5 if dtype == np.float32 else 1e-12, atol=1e-6)


@pytest.mark.parametrize("name", FUSED)
def test_a_recorded_pass_is_made_of_operations(device: str, launched: list[str], name: str) -> None:
    operator, kernel = FUSED[name]

    def second(place: str) -> tuple[Any, Any]:
        x = leaf(place)
        first = pn.grad(cubed(operator(x)), x, create_graph=True)
        assert place == "cpu" or not any(one.startswith(kernel) for one in launched)
        cubed(first).backward()
        return host(first), host(x.grad)

    for found, expected in zip(second(device), second("cpu"), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-12)


def crossing(x: Any, *places: str) -> Any:
    """A softmax, a gelu and so on, each on the next of ``places``."""
    stages: list[Operator] = [lambda x: pn.softmax(x, 1), pn.gelu, lambda x: x * x, lambda x: pn.layer_norm(x, (4,))]
    for place, stage in zip(places, stages, strict=False):
        x = stage(x.to(place))
    return x


ROUTES = {
    "there and back": ("cpu", "device", "cpu"),
    "ends there": ("cpu", "cpu", "device"),
    "starts there": ("device", "device", "cpu", "cpu"),
    "twice": ("device", "cpu", "device", "cpu"),
    "between devices": ("emulated", "cuda", "emulated", "cpu"),
}


@pytest.mark.parametrize("graph", [False, True], ids=["plain", "recorded"])
@pytest.mark.parametrize("start", ["cpu", "device"])
@pytest.mark.parametrize("route", ROUTES)
def test_a_graph_that_crosses_devices(device: str, route: str, start: str, graph: bool) -> None:
    def gradients(*places: str) -> Any:
        first, *others = [device if place == "device" else place for place in places]
        x = leaf(first)
        loss = cubed(crossing(x, *others)) + 0 * cubed(x.to(others[-1]))
        (found,) = pn.grad(loss, (x,), create_graph=graph)
        assert found.device == first and found.requires_grad == graph
        if graph:
            cubed(found).backward()
            return host(found), host(x.grad)
        return (host(found),)

    there, here = gradients(start, *ROUTES[route]), gradients("cpu", *["cpu"] * len(ROUTES[route]))
    for found, expected in zip(there, here, strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_a_pass_that_is_not_recorded_is_bare_on_the_cpu_only(device: str) -> None:
    for start, end in (("cpu", device), (device, "cpu")):
        x = pn.array([1.0, 2.0], device=start, requires_grad=True)
        y = x.to(end) * 2
        seed = pn.ones_like(y)
        with pn.no_grad():
            done = pull_back([(source_of(y), seed.data if end == "cpu" else seed)], graph=False, keep=True)
        (cotangent,) = done.cotangents.values()
        assert type(cotangent) is (np.ndarray if start == "cpu" else pn.Array)


class Doubled(pn.Function):
    """Twice its argument, on its device."""

    @staticmethod
    def forward(context: Any, x: Any) -> Any:
        return x * 2

    @staticmethod
    def backward(context: Any, cotangent: Any) -> Any:
        return cotangent * 2


def test_what_meets_cotangents_meets_them_where_they_lie(device: str) -> None:
    x = leaf(device)
    met = []
    middle = pn.relu(x).to("cpu")
    middle.data.register_hook(lambda g: met.append(("hook", g.device)))
    middle.data.retain_grad()
    again = pn.checkpoint(lambda y: pn.softmax(y.to(device), 1), middle)
    again.data.register_hook(lambda g: met.append(("hook", g.device)))
    with pn.anomaly():
        cubed(Doubled.apply(again)).backward()
    assert met == [("hook", device), ("hook", "cpu")]
    assert (middle.data.grad.device, x.grad.device) == ("cpu", device)
    plain = leaf("cpu")
    cubed(2 * pn.softmax(pn.relu(plain), 1)).backward()
    np.testing.assert_allclose(host(x.grad), host(plain.grad), atol=1e-12)


def test_tangents_cross_devices(device: str) -> None:
    x = pn.array([1.0, 2.0], device=device)
    value, tangent = pn.jvp(lambda x: (x * x).to("cpu") * 3, (x,), (pn.ones_like(x),))
    assert tangent.device == value.device == "cpu" and tangent.tolist() == [6.0, 12.0]
    assert pn.jacobian(lambda x: x * x, x).device == device


def test_a_step_of_training(device: str, launched: list[str]) -> None:
    def trained(place: str, steps: int = 3) -> list[Any]:
        generator = np.random.default_rng(0)
        words = pn.nested_array([np.array([1, 2, 1]), np.array([4])], layout=pn.jagged, device=place)
        labels = pn.nested_array([np.array([0, 2, 1]), np.array([2])], layout=pn.jagged, device=place)
        sizes = (5, 4), (4, 4), (3, 4), (3,)
        parameters = [
            pn.array(generator.standard_normal(size), dtype=np.float32, device=place, requires_grad=True)
            for size in sizes
        ]
        table, hidden, out, bias = parameters
        losses = []
        for _ in range(steps):
            attended = pn.softmax(pn.linear(pn.embedding(words, table), hidden), 1)
            loss = pn.cross_entropy(pn.linear(pn.relu(attended), out, bias), labels)
            loss.backward()
            losses.append(loss.item())
            with pn.no_grad():
                for parameter in parameters:
                    parameter.sub_(parameter.grad, alpha=0.5)
                    parameter.grad = None
        return [np.array(losses), *map(host, parameters)]

    there, here = trained(device), trained("cpu")
    for found, expected in zip(there, here, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    assert here[0][-1] < here[0][0]
    for kernel in ("take_rows", "add_rows", "segment_softmax_backward", "cross_entropy_backward", "binary<ReluBack"):
        assert any(one.startswith(kernel) for one in launched)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_what_is_computed_again_is_compared(device: str, dtype: str) -> None:
    """Rounding is let through, anything else is not: a NaN is itself, an integer has no rounding."""
    first = np.array([1, 8, np.nan, np.inf, 0], np.float32)
    for index, off, same in ((0, 1e-9, True), (0, 1.5, False), (2, 0, True), (4, np.inf, False)):
        second = first.copy()
        second[index] += off
        given = iter([pn.array(one, device=device).to(dtype=dtype) for one in (first, second)])
        x = pn.ones(5, dtype=dtype, device=device, requires_grad=True)
        y = pn.checkpoint(lambda x: x * next(given), x)  # noqa: B023
        if same:
            y.backward(pn.ones_like(y.detach()))
            assert x.grad is not None
        else:
            with pytest.raises(GradientError, match=rf"array 0: element \({index},\) is .* instead of"):
                y.backward(pn.ones_like(y.detach()))
    numbers = iter([1, 2])
    x = pn.ones(2, device=device, requires_grad=True)
    y = pn.checkpoint(lambda x: (x, pn.full((2,), next(numbers), device=device)), x)[0]
    with pytest.raises(GradientError, match=r"array 1: element \(0,\) is 2 instead of 1"):
        y.sum().backward()


def test_a_hook_may_keep_what_it_is_given(device: str) -> None:
    kept: list[Any] = []
    x = pn.array([1.0, 2.0], requires_grad=True, device=device)
    x.register_hook(kept.append)
    for _ in range(2):
        (x * 3).sum().backward()
        x.grad.mul_(2)
    assert [gradient.tolist() for gradient in kept] == [[3, 3], [3, 3]]
    x.grad = kept[0]
    (x * 4).sum().backward()
    assert (x.grad.tolist(), kept[0].tolist()) == ([7, 7], [3, 3])


def test_gradients_are_checked_where_the_arrays_lie(device: str) -> None:
    met = []

    def function(x: Any) -> Any:
        met.append(x.device)
        return (pn.softmax(x, 1) * x).sum()

    pn.gradcheck(function, leaf(device))
    assert set(met) == {device}


def test_gradcheck_takes_outputs_of_every_floating_dtype(compiled: None) -> None:
    def function(x: Any) -> Any:
        return x * x, (x * 0).to(dtype="bfloat16")

    assert pn.gradcheck(function, pn.array([1.0, 2.0], device="emulated"), order=2)
