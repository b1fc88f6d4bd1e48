"""Every primitive on its own samples: derivatives of both orders, dtypes, and cotangents in any memory order."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pynested.autograd import Array, grad, gradcheck, jvp
from pynested.autograd.primitives import attention  # noqa: F401  (registers its primitives)
from pynested.autograd.primitives.primitive import PRIMITIVES, Primitive
from pynested.backends import transfer
from pynested.backends.errors import DeviceError

from .samples import WITH_RESIDUALS, draw_samples

DIFFERENTIABLE = [
    name
    for name, primitive in PRIMITIVES.items()
    if name not in WITH_RESIDUALS and (callable(primitive.vjps) or any(primitive.vjps))
]
NAMES = pytest.mark.parametrize("name", DIFFERENTIABLE)
NUMBERED = [(name, number) for name in DIFFERENTIABLE for number in range(len(draw_samples(PRIMITIVES[name])))]


def bind(primitive: Primitive, sample: tuple[Any, ...], device: str = "cpu") -> tuple[Callable[..., Any], list[Any]]:
    """Return the primitive as a function of its float arrays, and the arrays of a sample."""
    numbers = [i for i, x in enumerate(sample) if isinstance(x, np.ndarray | np.float64)]
    places = [i for i in numbers if i in primitive.differentiable]

    def function(*arrays: Any) -> Any:
        changed = dict(zip(places, arrays, strict=True))
        return primitive(*[changed.get(i, x) for i, x in enumerate(sample)])

    return function, [Array(transfer(np.asarray(sample[i]), device), device) for i in places]


def as_list(result: Any) -> list[Any]:
    return list(result) if isinstance(result, tuple | list) else [result]


def test_arrays_of_two_devices_are_refused() -> None:
    for primitive in (PRIMITIVES["matmul"], PRIMITIVES["mul"]):
        pair = Array(np.ones((2, 2))), Array(np.ones((2, 2)), "elsewhere")
        with pytest.raises(DeviceError, match=f"{primitive.name}: .*different devices: cpu, elsewhere"):
            primitive(*pair)


@pytest.mark.parametrize(("name", "number"), NUMBERED)
def test_derivatives(name: str, number: int) -> None:
    function, arrays = bind(PRIMITIVES[name], draw_samples(PRIMITIVES[name])[number])
    assert gradcheck(function, *arrays)


@pytest.mark.parametrize("name", [name for name in DIFFERENTIABLE if name != "cast"])
def test_results_and_gradients_have_the_dtype_of_the_arrays(name: str) -> None:
    """In float16, in passes that are recorded or not; `gradcheck` checks float32."""
    for sample in draw_samples(PRIMITIVES[name]):
        function, arrays = bind(PRIMITIVES[name], sample)
        leaves = [a if a is None else Array(a.data.astype(np.float16)).requires_grad_() for a in arrays]
        for result in as_list(function(*leaves)):
            assert result.dtype == np.float16
            if result.requires_grad:
                ones = Array(np.ones(result.shape, np.float16))
                result.backward(ones, retain_graph=True)
                result.backward(ones, create_graph=True)
        assert all(leaf is None or leaf.grad is None or leaf.grad.dtype == np.float16 for leaf in leaves)


# ---- the memory order of cotangents and tangents ------------------------------------------------------------------

Order = Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]


def in_fortran_order(x: Any) -> Any:
    return np.array(x.T, order="C").T


def reversed_in_memory(x: Any) -> Any:
    everywhere = (slice(None, None, -1),) * x.ndim
    return x[everywhere].copy()[everywhere]


def with_gaps(x: Any) -> Any:
    return np.stack([x, np.full(x.shape, np.nan)], -1)[..., 0]


def broadcast(x: Any) -> Any:
    return np.broadcast_to(x.reshape(-1)[0] if x.size else 0.0, x.shape)


def all_at_once(x: Any) -> Any:
    memory = np.full((*reversed(x.shape), 2), np.nan)[..., 0]
    result = memory[(..., *[slice(None, None, -1)] * x.ndim)].T
    result[...] = x
    return result


def cotangents_of(function: Any, arrays: list[Any], cotangents: list[Any], create_graph: bool) -> list[Any]:
    outputs = as_list(function(*arrays))
    weights = [Array(w, y.device) for w, y in zip(cotangents, outputs, strict=True)]
    leaves = [a for a in arrays if a is not None]
    return list(grad(outputs, leaves, weights, create_graph=create_graph, allow_unused=True))


def tangents_of(function: Any, arrays: list[Any], tangents: list[Any]) -> list[Any]:
    leaves = [a for a in arrays if a is not None]

    def of_leaves(*primals: Any) -> Any:
        remaining = iter(primals)
        return function(*[None if a is None else next(remaining) for a in arrays])

    vectors = tuple(Array(v, leaf.device) for v, leaf in zip(tangents, leaves, strict=True))
    return as_list(jvp(of_leaves, tuple(leaf.detach() for leaf in leaves), vectors)[1])


def assert_close(results: list[Any], expected: list[Any]) -> None:
    for result, right in zip(results, expected, strict=True):
        assert (result is None) == (right is None)
        if result is not None:
            np.testing.assert_allclose(result.data, right.data, rtol=1e-13, atol=1e-14)


def check_orders(name: str, device: str, orders: tuple[Order, ...], modes: tuple[bool, ...]) -> None:
    """Check that vjp, recorded or not, and jvp give what they give for contiguous cotangents and tangents."""
    generator = np.random.default_rng(2)
    for sample in draw_samples(PRIMITIVES[name]):
        function, arrays = bind(PRIMITIVES[name], sample, device)
        leaves = [a.requires_grad_() for a in arrays if a is not None]
        ws = [generator.standard_normal(y.shape) for y in as_list(function(*arrays))]
        vs = [generator.standard_normal(leaf.shape) for leaf in leaves]
        equal_ws, equal_vs = [[np.array(broadcast(x)) for x in numbers] for numbers in (ws, vs)]
        for w, v, ways in ((ws, vs, orders), (equal_ws, equal_vs, (broadcast,))):
            expected_tangents = tangents_of(function, arrays, v)
            expected_cotangents = [cotangents_of(function, arrays, w, mode) for mode in modes]
            for way in ways:
                assert_close(tangents_of(function, arrays, [way(x) for x in v]), expected_tangents)
                for mode, expected in zip(modes, expected_cotangents, strict=True):
                    assert_close(cotangents_of(function, arrays, [way(x) for x in w], mode), expected)


@NAMES
def test_cotangents_and_tangents_have_any_memory_order(name: str) -> None:
    check_orders(name, "cpu", (in_fortran_order, reversed_in_memory, with_gaps), (False, True))


@pytest.mark.skipif(shutil.which("g++") is None, reason="the emulation needs g++")
@NAMES
def test_cotangents_and_tangents_have_any_memory_order_on_a_device(name: str) -> None:
    check_orders(name, "emulated", (all_at_once,), (False,))
