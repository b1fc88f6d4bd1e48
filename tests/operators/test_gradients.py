"""Derivatives of sample inputs: differences of both orders, half precision, and cotangents in any memory order."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.autograd import flatten
from pynested.spec.table import load_table

from ..batches import Batch, Call
from ..calls import CALLS
from ..nests import BOTH, DENSE, JAGGED, Kind, Numbers
from ..support.samples import EVERY, sample_arguments, samples

TABLE = load_table()
COMPOSED = {"transformer_encoder_layer", "transformer_decoder_layer"}  # of other operators; the law differentiates them
DIFFERENTIABLE = [call for call in CALLS if TABLE[call.op].differentiable and call.op not in COMPOSED]
OPERATORS = pytest.mark.parametrize("op", sorted({call.op for call in DIFFERENTIABLE}))
SCALES = {"acosh": 4.0}  # its poles are too near for differences
NOT_FINITE = {(f"{op}-0{kept}", BOTH) for op in ("std", "var") for kept in ("", " kept")}  # of single elements


def bind(
    call: Call, batch: Batch, placement: str = "packed", dtype: Any = np.float64, device: str = "cpu"
) -> tuple[Callable[..., Any], list[Any]]:
    """Return a call as a function of its floating point buffers, and these buffers."""

    def change(numbers: Numbers, component: int | None) -> Numbers:
        return (SCALES.get(call.op, 1) * numbers).astype(dtype) if numbers.dtype.kind == "f" else numbers

    arguments, keywords, _ = sample_arguments(call, batch, placement, True, change, lambda x: x.to(device=device))
    arrays, rebuild = flatten(arguments)
    varied = [i for i, array in enumerate(arrays) if array.requires_grad]

    def function(*buffers: Any) -> Any:
        changed = dict(zip(varied, buffers, strict=True))
        return call.function(*rebuild([changed.get(i, array) for i, array in enumerate(arrays)]), **keywords)

    return function, [arrays[i].detach() for i in varied]


def batch_of(call: Call, kind: Kind) -> Batch:
    """Return a batch with an empty component, or without one if the call is refused or has no finite value then."""
    if kind is DENSE:
        return Batch(kind, (2, 2))
    batch = Batch(kind, (2, 0, 1))
    if call.refuses(batch) is None:
        function, buffers = bind(call, batch)
        if all(np.isfinite(part.numpy()).all() for part in flatten(function(*buffers))[0]):
            return batch
    return Batch(kind, (3, 3, 2))


@OPERATORS
@EVERY
def test_derivatives_of_both_orders(op: str, every: bool) -> None:
    for number, (call, kind) in enumerate(samples(every, calls=DIFFERENTIABLE)):
        if call.op == op and (str(call), kind) not in NOT_FINITE:
            function, buffers = bind(call, batch_of(call, kind), ("packed", "holes")[number % 2])
            assert pn.gradcheck(function, *buffers), f"{call} {kind}"


# Calls whose gradients primitives compute that no operator calls.
THIRD = (
    "add-vector", "amax-1", "chunk-regular", "embedding", "gelu", "gelu-tanh", "getitem-integer", "mean-1", "relu",
    "select-regular 0", "silu", "softmax-1", "softmax-2", "to_padded_array",
)  # fmt: skip


@pytest.mark.parametrize("call", [call for call in CALLS if str(call) in THIRD], ids=str)
def test_third_derivatives(call: Call) -> None:
    function, buffers = bind(call, Batch(JAGGED, (1, 2)))
    assert pn.gradcheck(lambda xs, g: pn.vjp(function, *xs)[1](g), tuple(buffers), function(*buffers))


@pytest.mark.parametrize(
    ("left", "right"), [((3,), (3,)), ((3,), (3, 2)), ((2, 3), (3,)), ((3,), (4, 3, 2)), ((4, 2, 3), (3,))]
)
def test_products_with_dense_vectors(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    generator = np.random.default_rng(0)
    a, b = generator.normal(size=left), generator.normal(size=right)
    np.testing.assert_allclose(pn.matmul(a, b).numpy(), a @ b)
    pn.gradcheck(pn.matmul, pn.array(a), pn.array(b))


@OPERATORS
@EVERY
def test_gradients_of_half_precision_are_of_half_precision(op: str, every: bool) -> None:
    for call, kind in samples(every, calls=DIFFERENTIABLE):
        if call.op != op or op == "to":
            continue
        function, buffers = bind(call, batch_of(call, kind), dtype=np.float16)
        leaves = [buffer.requires_grad_() for buffer in buffers]
        for result in flatten(function(*leaves))[0]:
            assert result.dtype == np.float16, f"{call} {kind}"
            for create_graph in (False, True):
                result.backward(pn.ones_like(result.detach()), retain_graph=True, create_graph=create_graph)
        assert all(leaf.grad is None or leaf.grad.dtype == np.float16 for leaf in leaves), f"{call} {kind}"


def with_gaps(x: Numbers) -> Numbers:
    return np.stack([x, np.full(x.shape, np.nan)], -1)[..., 0]


def broadcast(x: Numbers) -> Numbers:
    return np.broadcast_to(x.reshape(-1)[0] if x.size else 0.0, x.shape)


NO_COMPILER = pytest.mark.skipif(shutil.which("g++") is None, reason="the emulation needs g++")
# Fortran order, from the end to the beginning, and with gaps; all three at once.
DEVICES = [
    ("cpu", (lambda x: np.array(x.T, order="C").T, lambda x: np.flip(np.flip(x).copy()), with_gaps)),
    pytest.param("emulated", (lambda x: np.flip(with_gaps(np.flip(x).T)).T,), marks=NO_COMPILER),
]


def derivatives(function: Any, buffers: list[Any], order: Any, vectors: list[list[Numbers]]) -> list[Numbers]:
    """Return the tangents, and the cotangents of a pass that is recorded or not, of vectors in a memory order."""
    tangents, cotangents = ([pn.Array(np.asarray(order(v)), buffers[0].device) for v in vs] for vs in vectors)
    results = list(pn.jvp(function, tuple(buffers), tuple(tangents))[1])
    leaves = [buffer.detach().requires_grad_() for buffer in buffers]
    for create_graph in (False, True):
        results += pn.grad(function(*leaves), leaves, cotangents, create_graph=create_graph, allow_unused=True)
    return [result.detach().to("cpu").numpy() for result in results if result is not None]


@OPERATORS
@EVERY
@pytest.mark.parametrize(("device", "orders"), DEVICES)
def test_cotangents_and_tangents_have_any_memory_order(op: str, every: bool, device: str, orders: Any) -> None:
    generator = np.random.default_rng(2)
    for call, kind in samples(every, calls=DIFFERENTIABLE):
        if call.op != op:
            continue
        result_of, buffers = bind(call, batch_of(call, kind), device=device)
        function = lambda *xs, result_of=result_of: flatten(result_of(*xs))[0]  # noqa: E731
        vectors = [[generator.standard_normal(x.shape) for x in xs] for xs in (buffers, function(*buffers))]
        equal = [[np.array(broadcast(v)) for v in vs] for vs in vectors]
        for each, ways in ((vectors, orders), (equal, (broadcast,))):
            expected = derivatives(function, buffers, np.asarray, each)
            for order in ways:
                for result, due in zip(derivatives(function, buffers, order, each), expected, strict=True):
                    np.testing.assert_allclose(result, due, rtol=1e-13, atol=1e-14, err_msg=f"{call} {kind}")
