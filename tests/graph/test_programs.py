"""Programs of chains: every rule in blocks gives the bits that it gives alone, whatever the numbers are.

All bits but the sign of a NaN, which NumPy's own loops take now from one operand and now from the other.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.numpy import running
from pynested.graph.chains import Chain, places, program
from pynested.graph.chains.operations import OPERATIONS
from pynested.graph.chains.program import Program
from pynested.graph.chains.registers import Register

EDGES = [0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 1e-40, -1e-310, 1.0, -1.0, 0.5, 2.0, -3.25, 88.0, -105.0, 1e30]


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that each call of a program goes through blocks, the last of them shorter."""
    monkeypatch.setattr(program, "LARGE", 0)
    monkeypatch.setattr(program, "BLOCK_BYTES", 512)


def edges(dtype: Any) -> list[pn.NestedArray]:
    """All pairs of numbers at which functions have edges, as two operands of one structure."""
    with np.errstate(over="ignore"):
        pairs = np.array([*product(EDGES, EDGES), (1.0, 1.0)]).astype(str(dtype))
    offsets = pn.array([0, 100, 100, len(pairs)])
    return [pn.nested_array_from_jagged(pn.array(pairs[:, i].copy()), offsets) for i in (0, 1)]


def bits(x: Any) -> bytes:
    """The values, bit for bit, all NaNs alike."""
    values = (x.detach().values() if isinstance(x, pn.NestedArray) else x.detach()).numpy()
    return np.where(np.isnan(values), np.nan, values).tobytes()


def gradients(function: Any, *operands: Any) -> list[Any]:
    """The result, and what arrives at the operands where every result has a cotangent of its own."""
    tracked = [x.detach().requires_grad_() for x in operands]
    y = function(*tracked)
    counted = pn.arange(y.values().numel()).reshape(*y.values().shape).to(y.dtype)
    cotangent = pn.nested_array_from_jagged(counted * 0.25 - 7, y.offsets())
    return [y.detach(), *[one.detach() for one in pn.grad(y, tracked, cotangent, allow_unused=True) if one is not None]]


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("dtype", [pn.float16, pn.float32, pn.float64], ids=str)
@pytest.mark.parametrize("name", [name for name in OPERATIONS if name != "where" and not name.startswith("bitwise")])
def test_every_operation_in_blocks_gives_the_same_bits(name: str, dtype: Any) -> None:
    operator = getattr(pn, name)
    x, y = edges(dtype)
    functions: list[Any] = [lambda x, y: operator(operator(x, y), x), lambda x: operator(operator(2, x), -0.0)]
    if len(OPERATIONS[name].pulls) == 1:
        functions = [lambda x: operator(operator(x))]
    for function in functions:
        compiled, operands = pn.compile(function), [x, y][: function.__code__.co_argcount]
        assert bits(compiled(*operands)) == bits(function(*operands))
        if not OPERATIONS[name].judges:
            found, expected = gradients(compiled, *operands), gradients(function, *operands)
            assert list(map(bits, found)) == list(map(bits, expected))
        assert "2 operators in 1" in compiled.explain()


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("kind", [pn.float16, pn.float32, pn.float64], ids=str)
@pytest.mark.parametrize("other", [pn.float16, pn.float32, pn.float64, pn.int8, pn.int64, pn.bool], ids=str)
def test_dtypes_meet_as_they_do_otherwise(kind: Any, other: Any) -> None:
    def function(x: Any, y: Any, b: Any) -> Any:
        z = pn.where((x > y) | ~(y == 0), (x + y) * y - b, x) / 3
        return pn.where(z >= y, z.to(pn.float16) * x, pn.maximum(x, y * 0.5)) - y.to(pn.float32)

    x = edges(kind)[0]
    y = pn.array(np.arange(x.values().numel()) % 7 - 2).to(other)
    given = x, pn.nested_array_from_jagged(y, x.offsets()), pn.array(3).to(other)
    compiled = pn.compile(function)
    assert bits(compiled(*given)) == bits(function(*given))
    floats = [one for one in given if one.dtype.kind == "f"]

    def of_floats(f: Any) -> Any:
        return lambda *tracked: f(*tracked, *given[len(tracked) :])

    found, expected = (gradients(of_floats(f), *floats) for f in (compiled, function))
    assert [one.dtype for one in found] == [expected[0].dtype, *[one.dtype for one in floats]]
    assert list(map(bits, found)) == list(map(bits, expected))
    assert "chains: " in compiled.explain()


def some_program(chance: np.random.Generator, count: int) -> Program:
    """Sums, products and products with what was compared, of earlier ones; some are results, some parameters too."""
    parameters = [Register(np.dtype(np.float64)) for _ in range(3)]
    known = [*parameters]
    for _ in range(count):
        a, b = (known[i] for i in chance.integers(max(0, len(known) - 6), len(known), 2))
        known.append([a + b, a * b - 1, np.where(a < b, a, b), np.maximum(a, 0.5)][chance.integers(4)])
    return Program(parameters, [known[i] for i in (*chance.integers(3, len(known), 3), -1, 0)])


def check_programs() -> None:
    """Hold programs in blocks against whole ones, which keep every register."""
    chance = np.random.default_rng(5)
    for count in (1, 4, 12, 30, 30, 30):
        made = some_program(chance, count)
        x, y, row = (chance.normal(size=size) for size in ((40, 7), (40, 7), (7,)))
        with np.errstate(all="ignore"):
            expected = made._of_whole_arrays()((40, 7), x, y, row)
            found = made((40, 7), (x, y, row))
        for one, other in zip(found[:-1], expected[:-1], strict=True):
            assert one.tobytes() == np.broadcast_to(other, (40, 7)).tobytes()
        assert found[-1] is x


def test_a_sum_with_a_negative_is_one_call_of_the_same_bits() -> None:
    a, b = (Register(np.dtype(np.float64)) for _ in range(2))
    x, y = (np.array(one) for one in zip(*product(EDGES, EDGES), strict=True))
    with np.errstate(all="ignore"):
        expected = {(-a) + b: (1, (-x) + y), a + (-b): (1, x + (-y)), (-a) + (-b): (2, (-x) + (-y)), a + b: (1, x + y)}
        for made, (calls, sums) in expected.items():
            program = Program([a, b], [made])
            found = np.asarray(program(x.shape, (x, y))[0])
            assert len(program.order) == calls
            assert np.where(np.isnan(found), 0, found).tobytes() == np.where(np.isnan(sums), 0, sums).tobytes()
            assert np.array_equal(np.isnan(found), np.isnan(sums))
    narrow, wide = Register(np.dtype(np.int8)), Register(np.dtype(np.int32))
    least, one = np.array([-128], np.int8), np.array([1], np.int32)
    assert Program([narrow, wide], [-narrow + wide])((1,), (least, one))[0].tolist() == [-127]  # -(-128) is -128 there


KEPT: dict[str, tuple[Any, list[str]]] = {
    "what takes long is kept": (lambda x, y: (x * 0.5 + y).tanh() * x, ["tanh"]),
    "three sums are computed again": (lambda x, y: ((x + y) * 0.5 - y) * x, []),
    "two steps more than relu asks for anyway": (lambda x, y: ((x + y).relu() * 2 - x).abs(), []),
    "what takes long, twice": (lambda x, y: ((x + y).exp() + 1).exp() * y, ["exp", "exp"]),
    "little that follows from what is kept": (lambda x, y: (x.exp() + y).sgn() * x, ["exp"]),
    "of gelu what takes long": (lambda x, y: pn.gelu(x + y) * y + x, ["normal distribution"]),
    "nothing that is not looked at": (lambda x, y: (x * y).sin() + y, []),
    "a result, which is there anyway": (lambda x, y: (x + y).relu(), ["relu"]),
}


@pytest.mark.parametrize(("function", "expected"), KEPT.values(), ids=KEPT)
def test_a_line_keeps_what_takes_more_to_compute_than_to_write_and_to_read(function: Any, expected: list[str]) -> None:
    compiled = pn.compile(function)
    compiled(*[x.requires_grad_() for x in edges(pn.float64)])
    chain = next(node.function for node in compiled.graphs[0].program.nodes if isinstance(node.function, Chain))
    (plan,) = chain.rule.plans.values()
    names = {step.register: step.operation.name for step in chain.steps.steps}
    assert [names[one] for one in plan.keeps] == expected


def test_signs_do_not_lie_where_their_operand_lay() -> None:
    """There NumPy's loop takes a branch at each element."""
    a = Register(np.dtype(np.float64))
    for result in (np.sign(a * 2), np.sign(a * 2) * a, np.tanh(np.sign(a * 2)) * np.sign(a + 1)):
        program = Program([a], [result])
        text = program._of_blocks((0,)).function.__doc__ or ""
        signs = [name for name, one in program._of_blocks((0,)).function.__globals__.items() if one is np.sign]
        calls = [line.strip() for line in text.splitlines() if line.strip().startswith(tuple(signs))]
        assert calls
        for call in calls:
            given, out = call.partition("(")[2].rstrip(")").split(", out=")
            assert given != out


def test_threads_and_blocks_meet_without_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "THREADS", 3)
    chance = np.random.default_rng(6)
    offsets = pn.array([0, 3, 40_000, 40_000, 70_001])
    x, y = (pn.nested_array_from_jagged(pn.array(chance.normal(size=(70_001, 5))), offsets) for _ in range(2))
    row = pn.array(chance.normal(size=5))

    def function(x: Any, y: Any) -> Any:
        return pn.gelu(x * row + y) * y - pn.maximum(x, y)

    compiled = pn.compile(function)
    assert bits(compiled(x, y)) == bits(function(x, y))
    assert list(map(bits, gradients(compiled, x, y))) == list(map(bits, gradients(function, x, y)))
    of_sums = [pn.grad(f(a := x.detach().requires_grad_(), y).sum(), a) for f in (compiled, function)]
    assert bits(of_sums[0]) == bits(of_sums[1])


WRONG: dict[str, Any] = {
    "_last_readers": lambda order: {read: one for one in reversed(order) for read in one.reads},
    "_reads_before_it_writes": lambda one: True,
}


def test_registers_lie_where_nobody_reads_any_more(small_blocks: None, monkeypatch: pytest.MonkeyPatch) -> None:
    check_programs()
    for name, wrong in WRONG.items():
        with monkeypatch.context() as patched:
            patched.setattr(places, name, wrong)
            with pytest.raises(AssertionError):
                check_programs()
