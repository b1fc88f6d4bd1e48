"""Chains on devices are one kernel, which gives what the operators give, bit for bit where these are exact."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends import registry
from pynested.backends.cuda.emulated import Emulator, emulated_backend
from pynested.backends.cuda.generated import text_of
from pynested.backends.cuda.nvrtc import Nvrtc
from pynested.backends.cuda.report import ARCHITECTURES
from pynested.backends.cuda.segment import BLOCK
from pynested.backends.dtypes import bfloat16
from pynested.backends.errors import DTypeError, MissingDependency, StructureError
from pynested.graph.chains import Chain
from pynested.graph.chains.operations import OPERATIONS
from pynested.graph.cuda import launching
from pynested.graph.cuda.functors import functor_of, literal

from ..backends.cuda import stand_in
from .arrays import assert_same, holed, jagged

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="the emulation needs g++")

Program = Callable[..., Any]
BIAS = pn.array([0.25, -0.5])

# What is rounded as IEEE 754 says: no two implementations differ.
EXACT: dict[str, Program] = {
    "dtypes": lambda x, y, b: (x.to(pn.float64) * y - b * 3).to(pn.float16) * (x + y).to(pn.float32) * (x > 0),
    "a bias": lambda x, y, b: (x * y + b).relu() * b - y / (x + 3),
    "several results": lambda x, y, b: (x * 1.1 + y, (x - y).abs().sqrt() * 0.3),
    "read twice": lambda x, y, b: (x * x + x) * (x - y) * x,
    "steps": lambda x, y, b: (x * 3).floor() * y + pn.sgn(x) - (y * 2).round() * 0.1,
    "the greater": lambda x, y, b: pn.maximum(x, y) - pn.minimum(x * 2, y) + pn.maximum(x, x + 0),
    "a choice": lambda x, y, b: pn.where(((x > y) & ~(x <= b)) | pn.logical_xor(x < 0, y != 0), x * y, 0.5) - b,
    "judgements": lambda x, y, b: (x * y, (x * float("nan")).isnan() & (y == y), pn.logical_or(x, y), (x / 0).isinf()),
    "filled": lambda x, y, b: (x * 2).masked_fill(y > 0, 0.1) - (y + 1).masked_fill(b > 0, -0.0).to(y.dtype) * x,
    "zeros and infinities": lambda x, y, b: (x * 0.0 + -0.0, x / 0.0, -(x * 0.0) / y, x * float("nan"), x * 1e30 * 9e9),
}  # fmt: skip


def operands(dtype: Any, *lengths: int) -> tuple[Any, Any, Any]:
    """Two nested arrays of one structure and a bias, on the device."""
    x = jagged(*lengths).to("emulated").to(dtype)
    chance = np.random.default_rng(4)
    y = pn.array(chance.normal(size=x.values().shape)).to("emulated").to(dtype)
    return x, pn.nested_array_from_jagged(y, x.offsets()), BIAS.to("emulated").to(dtype)


def results_and_gradients(function: Program, given: tuple[Any, ...]) -> tuple[list[Any], list[Any]]:
    """What a function gives, and the gradients of a weighted sum of that by all that goes in, on the CPU."""
    given = tuple(one.detach().requires_grad_() for one in given)
    results = function(*given)
    results = list(results) if isinstance(results, tuple) else [results]
    first, *others = [(one * (i + 1)).sum() for i, one in enumerate(results)]
    total = sum(others, start=first)
    gradients = pn.grad(total, given, allow_unused=True)
    return results, [None if one is None else one.detach() for one in gradients]


def fused(compiled: Any) -> bool:
    """Whether every graph has a chain, and was not given up for the function itself."""
    return all(graph.calls and any("chains: " in note for note in graph.notes) for graph in compiled.graphs)


def all_exact(x: Any, y: Any, b: Any) -> tuple[Any, ...]:
    """All of them in one chain, but those that make NaN of everything."""
    found: list[Any] = []
    for name, function in EXACT.items():
        made = function(x, y, b) if name != "zeros and infinities" else ()
        found += made if isinstance(made, tuple) else (made,)
    return tuple(found)


def test_gradients_that_are_zero_whatever_comes() -> None:
    compiled, (x, _, _) = pn.compile(lambda x: ((x * 3).floor() * 0.5).round()), operands(pn.float32, 2, 3)
    _, (gradient,) = results_and_gradients(compiled, (x,))
    assert gradient.values().numpy().tobytes() == np.zeros((5, 2), np.float32).tobytes() and fused(compiled)


@pytest.mark.parametrize("dtype", [pn.float32, pn.float64, pn.float16], ids=str)
@pytest.mark.parametrize(
    "function", [all_exact, EXACT["zeros and infinities"]], ids=["numbers", "zeros and infinities"]
)
def test_what_is_exact_is_the_same_bit_for_bit_and_so_are_gradients(function: Program, dtype: Any) -> None:
    compiled = pn.compile(function)
    for lengths in ((3, 2, 0, 5), (700, 1, 9), (0, 0)):
        given = operands(dtype, *lengths)
        for found, expected in zip(*map(results_and_gradients, (compiled, function), (given, given)), strict=True):
            assert_same(found, expected)
        assert_same(compiled(*given), function(*given))
    assert len(compiled.graphs) == 2 and fused(compiled)


@pytest.mark.parametrize("dtype", [pn.float32, pn.float64, pn.float16], ids=str)
def test_dropouts_draw_what_they_draw_otherwise(dtype: Any) -> None:
    held: dict[str, Any] = {}

    def function(x: Any, y: Any, b: Any) -> Any:
        pn.manual_seed(3)
        return pn.dropout(pn.dropout(x * y, 0.3) + b, 0.5, generator=held["generator"]) * y, pn.dropout(x, 1)

    compiled, given = pn.compile(function), operands(dtype, 3, 0, 30)
    held["generator"] = np.random.default_rng(3)
    found = results_and_gradients(compiled, given)
    held["generator"] = np.random.default_rng(3)
    assert_same(found, results_and_gradients(function, given))
    assert fused(compiled)


def test_bfloat16_is_rounded_after_each_operator() -> None:
    pytest.importorskip("ml_dtypes")
    function, given = EXACT["a bias"], operands(bfloat16(), 3, 40)
    for found, expected in zip(
        *map(results_and_gradients, (pn.compile(function), function), (given, given)), strict=True
    ):
        assert_same(found, expected)


def every_operator(x: Any, y: Any, b: Any) -> tuple[Any, ...]:
    """Each operator that a chain may have, of numbers that all of them take."""
    x, y = x * 0.25 + 1.5, y * 0.125 + 2.0
    first = {
        "acosh": x + 1,
        "asin": x * 0.1,
        "acos": x * 0.1,
        "atanh": x * 0.1,
        "round": y * 3,
        "floor": y * 5,
        "ceil": x * 7,
        "trunc": x * 9,
    }
    arity = {name: len(one.pulls) for name, one in OPERATIONS.items() if not one.judges}
    given = {name: [first.get(name, x), y][:count] for name, count in arity.items()}
    beside = [pair for name, of in given.items() if len(of) == 2 for pair in ((name, (x, 3.0)), (name, (3.0, x)))]
    return tuple(getattr(pn, name)(*of) for name, of in (*given.items(), *beside))


@pytest.mark.parametrize(("dtype", "rounding"), [(pn.float32, 2.0**-20), (pn.float64, 2.0**-48), (pn.float16, 2.0**-8)])
def test_every_operator_of_a_chain_is_part_of_a_kernel(dtype: Any, rounding: float) -> None:
    compiled, given = pn.compile(every_operator), operands(dtype, 3, 0, 30)
    for found, expected in zip(*map(results_and_gradients, (compiled, every_operator), (given, given)), strict=True):
        for one, other in zip(found, expected, strict=True):
            assert other is None or pn.allclose(one, other, rtol=rounding, atol=rounding)
    assert fused(compiled)


def test_what_has_no_functor_is_refused() -> None:
    with pytest.raises(DTypeError, match="no functor for 'arange'"):
        functor_of(np.arange)
    assert functor_of(np.less_equal) == "LessEqual" and functor_of(np.sign) == "Sgn"


def test_numbers_are_rounded_as_they_meet_others() -> None:
    single, half, double = (np.dtype(one) for one in ("float32", "float16", "float64"))
    assert [literal(0.1, one) for one in (single, half, double)] == ["float(0.1)", "float(0.099975586)", "double(0.1)"]
    assert [literal(x, half) for x in (2, -0.0, 1e-30)] == ["float(2.0)", "float(-0.0)", "float(0.0)"]
    assert literal(1e300, double) == "double(1e+300)" and "0x7ff0000000000000" in literal(1e300, single)


SHAPES = [(), (3,), (1,), (4, 3), (1, 3), (4, 1), (1, 1), (2, 4, 3), (2, 1, 3), (2, 4, 1), (2, 1, 1)]


def test_spread_operands_are_found_where_they_lie() -> None:
    """Each element of a spread operand, worked out from the steps as the kernel does it."""
    for shape, *small in product([(5, 2, 4, 3), (5, 2, 4, 1)], SHAPES, SHAPES):
        if shape[-1] == 1:
            small = [(*one[:-1], 1) for one in small if one]
        sizes, steps = launching.merged(shape, small)
        place = np.unravel_index(np.arange(np.prod(shape)), sizes)
        for one, step in zip(small, steps, strict=True):
            expected = np.broadcast_to(np.arange(int(np.prod(one))).reshape(one), shape).reshape(-1)
            assert sum(i * s for i, s in zip(place, step, strict=True)).tolist() == expected.tolist()
    assert launching.merged((5, 4, 3), [(4, 3), ()]) == ((5, 12), [(0, 1), (0, 0)])


@pytest.mark.parametrize("small", [(3,), (), (4, 1), (2, 4, 3), (2, 1, 3)], ids=str)
def test_dense_operands_are_spread_as_numpy_spreads_them(small: tuple[int, ...]) -> None:
    chance = np.random.default_rng(1)
    x, y = chance.normal(size=(5, 2, 4, 3)), chance.normal(size=small)
    compiled = pn.compile(lambda x, y: (x * y - y) * x)
    a, b = (pn.array(one).to("emulated").requires_grad_() for one in (x, y))
    result = compiled(a, b)
    assert result.detach().numpy().tobytes() == ((x * y - y) * x).tobytes()
    result.sum().backward()
    spread = np.broadcast_to(y, x.shape)
    assert np.allclose(a.grad.numpy(), spread * x + (x * spread - spread), rtol=1e-14)
    extra = tuple(range(4 - len(small))) + tuple(4 - len(small) + d for d, n in enumerate(small) if n == 1)
    assert np.allclose(b.grad.numpy(), ((x - 1) * x).sum(axis=extra).reshape(small), rtol=1e-12)
    assert fused(compiled)


def test_a_chain_runs_on_a_gpu_through_cupy() -> None:
    function: Program = lambda x, y, b: (x * y + b).relu() * b - y  # noqa: E731
    with stand_in.installed():
        given = tuple(one.to("cuda") for one in operands(pn.float32, 3, 0, 40))
        compiled = pn.compile(function)
        for found, expected in zip(*map(results_and_gradients, (compiled, function), (given, given)), strict=True):
            assert [one.device for one in found] == ["cuda"] * len(found)
            assert_same([one.to("cpu") for one in found], [one.to("cpu") for one in expected])
        assert fused(compiled)


def test_operands_that_do_not_line_up_are_left_to_the_operators() -> None:
    function: Program = lambda x, y: (x + y) * 2 - x  # noqa: E731
    compiled = pn.compile(function)
    x, placed = jagged(2, 3).to("emulated"), holed(2, 3).to("emulated")
    for a, b in ((x, placed), (placed, x), (x, pn.randn(2, 1, 2, device="emulated")), (x, x.clone())):
        assert_same(compiled(a, b), function(a, b))
    with pytest.raises(StructureError, match="add: the operands differ at component 1"):
        compiled(x, jagged(2, 4).to("emulated"))


def test_a_kernel_of_somebody_else_is_called() -> None:
    compiled, x = pn.compile(lambda x: (x * 2).sin()), jagged(2, 3).to("emulated")
    before = compiled(x)
    usual = registry.get_backend("emulated").sin
    pn.kernel("sin", device="emulated")(lambda x, /: x * 0 + 7)
    try:
        assert compiled(x).values().numpy().tolist() == [[7.0, 7.0]] * 5
    finally:
        pn.kernel("sin", device="emulated")(usual)
        registry._kernels["emulated"].pop("sin")
    assert_same(compiled(x), before)


def test_derivatives_of_derivatives_and_tangents() -> None:
    function: Program = lambda x, y, b: (x * y + b).tanh() * b - y  # noqa: E731
    x, y, b = operands(pn.float64, 3, 2)
    t = pn.ones_like(x)
    found = []
    for f in (pn.compile(function), function):
        given = x.detach().requires_grad_()
        slope = pn.grad(f(given, y, b).sum(), given, create_graph=True)
        found.append(
            (pn.grad((slope * slope).sum(), given).to("cpu"), pn.jvp(lambda a, f=f: f(a, y, b), (x,), (t,))[1])
        )
    for one, other in zip(*found, strict=True):
        assert pn.allclose(one.to("cpu"), other.to("cpu"), rtol=1e-12)


def files_of(compiled: Any) -> list[str]:
    """The names of the kernels that were written for the first graph."""
    chains = [node.function for node in compiled.graphs[0].program.nodes if isinstance(node.function, Chain)]
    kernels: list[Any] = [getattr(one, "function", one) for chain in chains for one in chain.steps.made.values()]
    return list(dict.fromkeys(file for one in kernels for file in one.files.values()))


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_compiler_for_gpus_takes_every_operator(architecture: str) -> None:
    try:
        nvrtc = Nvrtc()
    except MissingDependency as error:
        pytest.skip(str(error))
    chains = [(every_operator, pn.float32)]
    chains += [(EXACT[name], pn.float16) for name in ("a bias", "a choice", "judgements", "dtypes")]
    names = ["chain<unsigned int>", "chain<long long>"]
    for function, dtype in chains:
        results_and_gradients(compiled := pn.compile(function), operands(dtype, 2, 3))
        for file in files_of(compiled):
            taken = nvrtc.compile(file, names, architecture)
            assert list(taken) == names and all(one.registers * BLOCK <= 65536 for one in taken.values())


def test_one_kernel_for_all_structures_and_for_all_chains_of_one_text() -> None:
    files = []
    for _ in range(2):
        compiled = pn.compile(lambda x, y, b: (x + y) * b)
        for lengths in ((2, 3), (5,), (0, 1, 0)):
            results_and_gradients(compiled, operands(pn.float32, *lengths))
        assert len(compiled.graphs) == 1
        files += files_of(compiled)
    assert len(files) == 4 and len(set(files)) == 2  # forwards and backwards, twice the same
    assert any("Multiply::of(v0, x.r2)" in text_of(file, Path()) for file in files)


@pytest.fixture(params=[("forward", 3), ("reverse", 0), ("random", 1), ("eager", 1)], ids=str)
def scheduled(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The device with threads in another order, and blocks beside each other."""
    schedule, seed = request.param
    backend = emulated_backend(Emulator(schedule, seed, workers=2))
    monkeypatch.setitem(registry._by_device, "emulated", backend)  # type: ignore[arg-type]


@pytest.mark.usefixtures("scheduled")
def test_the_order_of_threads_makes_no_difference() -> None:
    x, y, b = operands(pn.float32, 1200, 0, 900)
    found = (compiled := pn.compile(EXACT["a bias"]))(x, y, b)
    a, c, d = (one.numpy() for one in (x.values(), y.values(), b))
    expected = np.maximum(a * c + d, 0) * d - c / (a + np.float32(3))
    assert found.values().numpy().tobytes() == expected.tobytes() and fused(compiled)
