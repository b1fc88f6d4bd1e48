"""Each kernel agrees with `plain` on every backend and code path.

A check runs on every path with one dtype of floats and one of integers, which take turns; `pytest -m exhaustive` runs
the others, and all schedules of the emulated device.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

from pynested.backends.cuda import KernelBackend
from pynested.backends.cuda.emulated_launcher import Emulator, emulated_backend
from pynested.backends.numpy import products
from pynested.backends.quiet import quietly

from . import kernel_checks_moves  # noqa: F401  enters its checks
from .conftest import PATHS, SCHEDULES, force
from .kernel_checks import CHECKS, FLOATS, KERNELS, QuietKernels, same


def in_turns(number: int, choices: Sequence[Any]) -> list[Any]:
    """Mark all choices but one as exhaustive."""
    turn = number % len(choices) if choices else 0
    return [pytest.param(*choice, marks=[pytest.mark.exhaustive][: i != turn]) for i, choice in enumerate(choices)]


def cases_of(group: Any, without: Sequence[str] = ()) -> list[Any]:
    """Return ``(member, name, dtype)``; for each member of the group and each name, two dtypes are not exhaustive."""
    cases = []
    for (turn, member), (number, (name, (dtypes, _))) in product(enumerate(group), enumerate(CHECKS.items())):
        floats = [dtype for dtype in dtypes if dtype in FLOATS and dtype not in without]
        others = [dtype for dtype in dtypes if dtype not in FLOATS]
        for kinds in (floats, others):
            cases += in_turns(turn + number, [(member, name, dtype) for dtype in kinds])
    return cases


def test_every_kernel_of_the_interface_has_a_check() -> None:
    """The check of attention calls its adjoint too, and the check of offsets beyond 32 bits is of several kernels."""
    assert set(KERNELS) - {"attention_backward"} == CHECKS.keys() - {"beyond_32_bits"}


@pytest.mark.parametrize(
    ("path", "name", "dtype"),
    [case for case in cases_of(PATHS, without=("bfloat16",)) if case.values[1] != "beyond_32_bits"],
)
def test_kernels_of_the_cpu(path: str, name: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    force(path, monkeypatch)
    CHECKS[name][1](QuietKernels("cpu"), dtype)


class TwiceComputed(QuietKernels):
    """The plain kernels, which must round once: their results are those of float64 operands, rounded."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        kernel = super().__getattr__(name)

        def compute(*args: Any) -> Any:
            result = kernel(*args)
            wide = kernel(*[x.astype(np.float64) if getattr(x, "dtype", None) in FLOATS else x for x in args])
            for narrow_part, wide_part in zip(*[x if type(x) is tuple else (x,) for x in (result, wide)], strict=True):
                if narrow_part is not None:
                    same(narrow_part, quietly(wide_part.astype, narrow_part.dtype))
            return result

        return compute


@pytest.mark.parametrize("name", sorted(CHECKS.keys() - {"beyond_32_bits"}))
def test_plain_kernels_return_new_contiguous_arrays_and_round_once(name: str) -> None:
    """The checks look at the memory before they compare values, which are those of the same kernel here."""
    dtypes, kernel_check = CHECKS[name]
    for dtype in [dtype for dtype in dtypes if dtype != "bfloat16"]:
        kernel_check(TwiceComputed("plain"), dtype)


def spaced(x: Any) -> Any:
    """Return an array with the elements of ``x`` that is contiguous in no dimension; any other value as it is."""
    if not isinstance(x, np.ndarray) or not x.ndim:
        return x
    every_second = (slice(None, None, 2),) * x.ndim
    copy = np.zeros([2 * size for size in x.shape], x.dtype)[every_second]
    copy[...] = x
    return copy


class SpacedOperands:
    """The kernels of a backend, which get arrays that are not contiguous."""

    def __init__(self, backend: Any) -> None:
        self.backend = backend

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda *args: getattr(self.backend, name)(*map(spaced, args))


@pytest.mark.parametrize("device", ["plain", "cpu", "emulated"])
@pytest.mark.parametrize("name", sorted(CHECKS.keys() - {"beyond_32_bits"}))
def test_operands_need_not_be_contiguous(name: str, device: str, compiled: None) -> None:
    dtypes, kernel_check = CHECKS[name]
    kernel_check(SpacedOperands(QuietKernels(device)), "float32" if "float32" in dtypes else dtypes[0])


@pytest.mark.parametrize("device", ["plain", "cpu", "emulated"])
@pytest.mark.parametrize("name", ["gelu_backward", "silu_backward"])
def test_slopes_are_0_and_1_far_from_0(name: str, device: str, compiled: None) -> None:
    """The square of such a number overflows."""
    for dtype, huge in (("float64", 1e200), ("float32", 1e30), ("float16", 6e4)):
        for options in [(), ("tanh",)] if name == "gelu_backward" else [()]:
            slopes = getattr(QuietKernels(device), name)(np.ones(2, dtype), np.array([-huge, huge], dtype), *options)
            np.testing.assert_array_equal(slopes, np.array([0, 1], dtype))


@pytest.mark.parametrize("device", ["plain", "cpu", "emulated"])
def test_silu_is_a_number_where_exp_overflows(device: str, compiled: None) -> None:
    """There 1 + exp(-x) is exp(-x) but for its rounding, so that silu(x) is x exp(x)."""
    for dtype, x in (("float64", -714.5), ("float64", -711.0), ("float32", -91.0)):
        silu = QuietKernels(device).silu(np.array([x], dtype))
        np.testing.assert_allclose(silu, [-math.exp(x + math.log(-x))], rtol=1e-5 if dtype == "float32" else 1e-12)


@cache
def emulated(schedule: str) -> KernelBackend:
    launcher = Emulator.from_environment()
    launcher.schedule, launcher.seed = SCHEDULES[schedule]
    return emulated_backend(launcher)


@pytest.mark.parametrize(("schedule", "name", "dtype"), cases_of(["forward"]))
def test_kernels_of_the_emulated_device(schedule: str, name: str, dtype: str, compiled: None) -> None:
    CHECKS[name][1](emulated(schedule), dtype)


# Kernels are templates: the order of threads matters alike for all dtypes, so that one dtype on one schedule is quick.
@pytest.mark.parametrize(
    ("schedule", "name", "dtype"),
    [
        case
        for number, (name, (dtypes, _)) in enumerate(CHECKS.items())
        for case in in_turns(7 * number, [*product([*SCHEDULES][1:], [name], dtypes)])
    ],
)
def test_no_schedule_changes_a_kernel(schedule: str, name: str, dtype: str, compiled: None) -> None:
    CHECKS[name][1](emulated(schedule), dtype)


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("dtype", ["float16", "float64", "int8"])
def test_the_best_of_rows_is_that_of_a_reduction(dtype: str) -> None:
    numbers = [0.0, -1.5, 3, 3, np.inf, -np.inf, np.nan] if dtype in FLOATS else [0, 1, 1, 100]
    for shape in ((40, 2), (3, 7, 3), (0, 4), (3, 33)):
        x = np.random.default_rng(shape[-1]).choice(numbers, shape).astype(dtype)
        for ufunc in (np.maximum, np.minimum):
            same(products.extremum_last(ufunc, x[..., ::-1]), np.asarray(ufunc.reduce(x, axis=-1)))


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_concatenate(axis: int) -> None:
    shapes = [[3, 4, 5], [3, 4, 5], [3, 4, 5]]
    for size, shape in enumerate(shapes):
        shape[axis] = size
    arrays = [np.arange(np.prod(s), dtype=d).reshape(s)[:, ::-1] for s, d in zip(shapes, "bid", strict=True)]
    same(QuietKernels("cpu").concatenate(arrays, axis), np.concatenate(arrays, axis))


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("dtype", ["bool", "int16", "float32"])
def test_matmul(dtype: str) -> None:
    """Whole numbers have exact products; each thread multiplies a share of the rows."""
    rng = np.random.default_rng(3)
    for left, right in (((5, 3), (3, 4)), ((1, 0), (0, 2)), ((0, 3), (3, 2)), ((2, 4, 3), (3, 2)), ((4, 3), (5, 3, 2))):
        a, b = (np.asfortranarray(rng.integers(-3, 4, shape).astype(dtype)) for shape in (left, right))
        same(QuietKernels("cpu").matmul(a, b), np.einsum("...ij,...jk->...ik", a, b))


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_sum_first(dtype: str) -> None:
    """Columns have exact sums; NaN and infinity stay in theirs."""
    rows = 1000 * products.FEW_ROWS + 5
    x = np.random.default_rng(rows).integers(-8, 9, (rows, 3)).astype(dtype) / 8
    due = np.array([sum((column * 8).astype(int).tolist()) for column in x.T]) / 8
    same(products.sum_first(np.asfortranarray(x)[:, ::-1]), due[::-1].astype(dtype))
    x[rows // 2, 0], x[-1, 1] = np.nan, -np.inf
    same(products.sum_first(x), np.array([np.nan, -np.inf, due[2]], dtype))
