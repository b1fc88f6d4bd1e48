"""A chain on a device is one kernel. It returns the bits of the operators, and writes nothing behind its results."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.autograd import flatten
from pynested.backends import registry
from pynested.backends.cuda.kernel_source import source_with_headers
from pynested.backends.cuda.launching_backend import BLOCK
from pynested.backends.dtypes import bfloat16
from pynested.backends.errors import DTypeError, MissingDependency
from pynested.graph.cuda_program import functor_of
from pynested.graph.fusible_ops import OPERATIONS
from tools.nvrtc import ARCHITECTURES, Nvrtc

from ..backends.cuda import stand_in
from .arrays import BIAS, Replayed, assert_same, assert_same_with_gradients, gradients, jagged

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="the emulation needs g++")

Program = Callable[..., Any]
BEHIND, UNTOUCHED = 512, -77

# Operations that IEEE 754 rounds: all implementations agree.
EXACT: dict[str, Program] = {
    "dtypes": lambda x, y, b: (x.to(pn.float64) * y - b * 3).to(pn.float16) * (x + y).to(pn.float32) * (x > 0),
    "a bias": lambda x, y, b: (x * y + b).relu() * b - y / (x + 3),
    "several results": lambda x, y, b: (x * 1.1 + y, (x - y).abs().sqrt() * 0.3),
    "read twice": lambda x, y, b: (x * x + x) * (x - y) * x,
    "steps": lambda x, y, b: (x * 3).floor() * y + pn.sgn(x) - (y * 2).round() * 0.1,
    "the greater": lambda x, y, b: pn.maximum(x, y) - pn.minimum(x * 2, y) + pn.maximum(x, x + 0),
    "a choice": lambda x, y, b: pn.where(((x > y) & ~(x <= b)) | pn.logical_xor(x < 0, y != 0), x * y, 0.5) - b,
    "judgements": lambda x, y, b: (x * y, (x * float("nan")).isnan() & (y == y), pn.logical_or(x, y), (x / 0).isinf()),
    "edges": lambda x, y, b: (x * 0.0 + -0.0, x / 0.0, -(x * 0.0) / y, x * 1e30 * 9e9, (x * 3).floor().round()),
    "filled": lambda x, y, b: (x * 2).masked_fill(y > 0, 0.1) - (y + 1).masked_fill(b > 0, -0.0).to(y.dtype) * x,
}  # fmt: skip


def operands(dtype: Any, *lengths: int) -> tuple[Any, Any, Any]:
    """Return two nested arrays of one structure and a bias, on the device."""
    x = jagged(*lengths).to("emulated").to(dtype)
    y = pn.array(np.random.default_rng(4).normal(size=x.values().shape)).to("emulated").to(dtype)
    return x, pn.nested_array_from_jagged(y, x.offsets()), BIAS.to("emulated").to(dtype)


def results_and_gradients(function: Program, args: tuple[Any, ...]) -> list[Any]:
    return [*flatten(function(*args))[0], *gradients(function, *args)]


def all_exact(x: Any, y: Any, b: Any) -> tuple[Any, ...]:
    results = [function(x, y, b) for function in EXACT.values()]
    return tuple([x for made in results for x in (made if isinstance(made, tuple) else (made,))])


@pytest.mark.parametrize("dtype", [pn.float32, pn.float64, pn.float16], ids=str)
def test_exact_operators_and_gradients_have_the_same_bits(dtype: Any) -> None:
    compiled = Replayed(all_exact)
    for lengths in ((3, 2, 0, 5), (700, 1, 9), (0, 0)):
        assert_same_with_gradients(compiled, all_exact, *operands(dtype, *lengths))
    assert len(compiled.graphs) == 2 and compiled.has_chains


def test_bfloat16_is_rounded_after_each_operator() -> None:
    pytest.importorskip("ml_dtypes")
    function = EXACT["a bias"]
    assert_same_with_gradients(Replayed(function), function, *operands(bfloat16(), 3, 40))


@pytest.mark.parametrize(("name", "dtype"), [
    ("a bias", pn.float32), ("a bias", pn.float16), ("read twice", pn.float32), ("a choice", pn.float32),
    ("several results", pn.float32),
])  # fmt: skip
def test_a_kernel_writes_nothing_behind_its_results(name: str, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    memory: list[Any] = []

    def guarded(shape: tuple[int, ...], dtype: Any) -> Any:
        memory.append(np.full(int(np.prod(shape)) + BEHIND, UNTOUCHED, dtype))
        return memory[-1][:-BEHIND].reshape(shape)

    args = operands(dtype, 40, 0, 690)
    expected = results_and_gradients(EXACT[name], args)
    monkeypatch.setattr(registry.get_backend("emulated"), "default_allocator", guarded)
    results = results_and_gradients(compiled := Replayed(EXACT[name]), args)
    assert compiled.has_chains and all((x[-BEHIND:] == UNTOUCHED).all() for x in memory)
    assert_same(results, expected)


def every_operator(x: Any, y: Any, b: Any) -> tuple[Any, ...]:
    """Return the results of all differentiable operators, of numbers in their domains."""
    x, y = x * 0.25 + 1.5, y * 0.125 + 2.0
    first = {"acosh": x + 1, "asin": x * 0.1, "acos": x * 0.1, "atanh": x * 0.1}
    counts = {name: len(op.vjps) for name, op in OPERATIONS.items() if not op.may_return_bool}
    calls = [(name, [first.get(name, x), y][:count]) for name, count in counts.items()]
    numbers = [pair for name, of in calls if len(of) == 2 for pair in ((name, [x, 3.0]), (name, [3.0, x]))]
    return tuple(getattr(pn, name)(*of) for name, of in (*calls, *numbers))


@pytest.mark.parametrize(("dtype", "rounding"), [(pn.float32, 2.0**-20), (pn.float64, 2.0**-48), (pn.float16, 2.0**-8)])
def test_operators_are_computed_by_their_functors(dtype: Any, rounding: float) -> None:
    compiled, args = Replayed(every_operator), operands(dtype, 3, 0, 30)
    for x, y in zip(*map(results_and_gradients, (compiled, every_operator), (args, args)), strict=True):
        assert y is None or pn.allclose(x, y, rtol=rounding, atol=rounding)
    assert compiled.has_chains, "an operator has no functor of its name in backends/kernels/functors.cuh"
    with pytest.raises(DTypeError, match="needs the functor .Arange."):
        functor_of(np.arange)


def test_a_chain_runs_on_a_gpu_through_cupy() -> None:
    function = EXACT["a bias"]
    with stand_in.installed():
        args = tuple(x.to("cuda") for x in operands(pn.float32, 3, 0, 40))
        compiled = Replayed(function)
        for x, y in zip(*map(results_and_gradients, (compiled, function), (args, args)), strict=True):
            assert x.device == "cuda"
            assert_same(x.to("cpu"), y.to("cpu"))
        assert compiled.has_chains


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_custom_kernel_is_called(device: str, when: str) -> None:
    compiled, x = pn.compile(lambda x: (x * 2).sin()), jagged(2, 3).to(device)
    usual = registry.get_backend(device).sin
    if when == "after":
        assert compiled(x).values().tolist() == (x * 2).sin().values().tolist()
    pn.kernel("sin", device=device)(lambda x, /: x * 0 + 7)
    try:
        assert [compiled(x).values().tolist() for _ in range(2)] == [[[7.0, 7.0]] * 5] * 2
        pn.kernel("sin", device=device)(usual)
        assert compiled(x).values().tolist() == (x * 2).sin().values().tolist()
    finally:
        pn.kernel("sin", device=device)(usual)
        registry.REPLACEMENT_KERNELS[device].pop("sin")


def files_of(compiled: Any) -> list[str]:
    """Return the names of the kernels of all graphs."""
    chains = [chain for graph in compiled.graphs for chain in graph.chains]
    programs = [program for chain in chains for program in chain._forward.values()]
    programs += [program for chain in chains for program, _ in chain._backward.values()]
    return list(dict.fromkeys(file for program in programs for file in program.source_names.values()))


@pytest.mark.parametrize("architecture", [ARCHITECTURES[0], ARCHITECTURES[-1]])
def test_the_compiler_for_gpus_takes_every_operator(architecture: str) -> None:
    try:
        nvrtc = Nvrtc()
    except MissingDependency as error:
        pytest.skip(str(error))
    names = ["chain<unsigned int>", "chain<long long>"]
    for function, dtype in ((every_operator, pn.float32), (all_exact, pn.float16)):
        results_and_gradients(compiled := Replayed(function), operands(dtype, 2, 3))
        for file in files_of(compiled):
            taken = nvrtc.compile(file, names, architecture)
            assert list(taken) == names and all(x.registers * BLOCK <= 65536 for x in taken.values())


def test_one_kernel_for_all_structures_and_for_all_chains_of_one_text() -> None:
    files = []
    for _ in range(2):
        compiled = Replayed(lambda x, y, b: (x + y) * b)
        for lengths in ((2, 3), (5,), (0, 1, 0)):
            results_and_gradients(compiled, operands(pn.float32, *lengths))
        files += files_of(compiled)
    assert len(files) == 4 and len(set(files)) == 2  # forwards and backwards, twice the same
    assert any("Multiply::of(v0, x.r2)" in source_with_headers(file) for file in files)
