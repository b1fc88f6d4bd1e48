"""Writes in place: `f_(x)` is `x.copy_(f(x))`, counts as a write, spares gaps, and writes nothing if it is refused."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.autograd.array_methods import ArrayMethods
from pynested.backends.errors import GradientError, PynestedError, ShapeError, StructureError

from ..batches import Batch
from ..nests import DENSE, LAYOUTS, PLACEMENTS, Placed, assert_same, batch, nest, place, plain
from ..support.methods import IN_PLACE
from ..support.samples import sample_arguments, samples

FORMS = {"dense": None, "jagged": pn.jagged, "strided": pn.strided}
SHAPES = [(3, 2), (1, 2), (4, 2)]


@dataclass(frozen=True)
class Memory:
    """Everything that a write can change: the bytes of the buffer and its version."""

    data: bytes
    version: int

    @classmethod
    def of(cls, made: Placed) -> Memory:
        return cls(made.buffer.detach().numpy().tobytes(), made.buffer.storage.version)


def outcome(call: Callable[[], Any]) -> Any:
    """Return the result as NumPy arrays, or the class of the error."""
    try:
        return plain(call())
    except (PynestedError, OverflowError, ZeroDivisionError) as error:
        return type(error)


def check_write(name: str, made: Placed, *arguments: Any, **options: Any) -> None:
    """Compare `f_(x)` with `x.clone().copy_(f(x))`: the result, or the class of the error."""
    x, alias, before = made.array, made.view(made.buffer), Memory.of(made)
    gaps = made.holes_of(made.buffer.numpy()).copy()
    expected = outcome(lambda: x.clone().copy_(getattr(pn, name)(x, *arguments, **options)))
    assert Memory.of(made) == before
    result = outcome(lambda: getattr(x, f"{name}_")(*arguments, **options))
    if isinstance(expected, type):
        assert result is expected and Memory.of(made) == before
        return
    assert_same(x, expected)
    assert_same(alias, expected)
    assert x.dtype == made.buffer.dtype and made.buffer.storage.version > before.version
    assert made.holes_of(made.buffer.numpy()).tobytes() == gaps.tobytes()


@pytest.mark.parametrize("name", IN_PLACE)
def test_the_result_is_copied_into_the_array(name: str) -> None:
    """An array of int8 cannot represent most results."""
    placements = itertools.cycle(PLACEMENTS)
    for (call, kind), dtype in itertools.product(samples(every=True), ("float64", "int8")):
        if call.op != name:
            continue
        batch = Batch(kind, (2, 2) if kind is DENSE else (2, 0, 3))
        cast = lambda numbers, _, dtype=dtype: numbers.astype(dtype) if numbers.dtype.kind == "f" else numbers  # noqa: E731
        (x, *arguments), keywords, operands = sample_arguments(call, batch, next(placements), change=cast)
        if x is operands[0].array:
            check_write(name, operands[0], *arguments, **keywords)


@pytest.mark.parametrize("form", FORMS)
def test_an_operand_can_be_the_array_itself_or_overlap_it(form: str) -> None:
    numbers = [np.arange(1.0, 7).reshape(3, 2), np.arange(3.0, 9).reshape(3, 2)]
    for view in (lambda x: x, lambda x: x[:, ::-1], lambda x: x[:, :, :1]):
        made = place(numbers, FORMS[form], "holes")
        expected = plain(made.array - view(made.array.clone()))
        assert made.array.sub_(view(made.array)) is made.array
        assert_same(made.array, expected)


WRITES: dict[str, Callable[[Any], Any]] = {
    "mul_": lambda x: x.mul_(2), "masked_fill_": lambda x: x.masked_fill_(x > 2, 0.0), "add_": lambda x: x.__iadd__(1),
    "copy_": lambda x: x.copy_(7.0), "fill_": lambda x: x.fill_(7.0), "zero_": lambda x: x.zero_(),
    "uniform_": lambda x: x.uniform_(), "normal_": lambda x: x.normal_(), "assignment": lambda x: x.__setitem__(0, 5.0),
    "assignment to a slice": lambda x: x.__setitem__((slice(None), slice(0, 1)), 5.0),
    "assignment backwards": lambda x: x.__setitem__((slice(None), slice(None, None, -1)), 5.0),
    "assignment by a list": lambda x: x.__setitem__([0], 5.0),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", WRITES)
def test_a_recorded_array_is_written_under_no_grad_only_and_gradients_notice(name: str, form: str) -> None:
    for recorded in (False, True):
        made = place(batch([(3, 2)] * 2), FORMS[form], grad=True)  # of gaps the tape would keep a copy without them
        x, before = made.array * 1.0 if recorded else made.array, Memory.of(made)
        square = (x * x).sum()
        with pytest.raises(GradientError, match=rf"^{name.split()[0]}: this array requires grad.*pn\.no_grad\(\)"):
            WRITES[name](x)
        assert Memory.of(made) == before
        with pn.no_grad():
            WRITES[name](x)
        with pytest.raises(GradientError, match="overwritten"):
            square.backward()


@pytest.mark.parametrize("name", IN_PLACE)
def test_operands_by_name_are_refused_if_they_require_grad(name: str) -> None:
    for call, kind in samples(every=True):
        if call.op != name:
            continue
        arguments, keywords, _ = sample_arguments(call, Batch(kind, (2, 2) if kind is DENSE else (2, 0, 3)), grad=True)
        bound = inspect.signature(getattr(pn, name)).bind(*arguments, **keywords).arguments
        x, *operands = bound.values()
        if isinstance(x, ArrayMethods) and any(getattr(operand, "requires_grad", False) for operand in operands):
            with pytest.raises(GradientError, match=f"^{name}_: an operand requires grad"):
                getattr(x.detach(), f"{name}_")(**dict([*bound.items()][1:]))


def test_values_that_do_not_fit_leave_memory_as_it_was(layout: Any, placement: str) -> None:
    backwards, first = (slice(None), slice(None, None, -1)), (slice(None), 0)
    wider, counts = batch([(3, 5), (4, 5)]), (([0, 2], 2), (slice(None, None, 2), 2), ([], 0), (slice(0, 0), 0))
    for index, value, error in (
        *((index, np.zeros((3, 4, 5)), (ShapeError, StructureError)) for index in (first, backwards)),
        ([0, 0], 1.0, StructureError),
        *(((picked, ..., slice(0, 1)), nest(wider, layout)[:count], StructureError) for picked, count in counts),
    ):
        made = place(batch(SHAPES), layout, placement)
        before = Memory.of(made)
        with pytest.raises(error):
            made.array[index] = value
        assert Memory.of(made) == before


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float16", "float64"])
def test_lists_without_elements_have_any_dtype(dtype: str) -> None:
    assert pn.zeros(1, 0, dtype=dtype).copy_([[]]).dtype == dtype
    for x in (pn.ones(2, 3, dtype=dtype), *[nest([np.ones(3, dtype)] * 2, layout) for layout in LAYOUTS]):
        x[:, 0:0] = []
        x[:, 0:0] = ()
        assert x.tolist() == [[1, 1, 1]] * 2


@pytest.mark.parametrize("dtype", [pn.float16, pn.float32, pn.float64])
def test_uniform_and_normal_write_the_numbers_of_a_generator(dtype: Any) -> None:
    generator = lambda: np.random.default_rng(7)  # noqa: E731
    uniform, normal = generator().random(3), generator().standard_normal(3)
    buffer = pn.full((6,), 9.0, dtype=dtype)
    x, gaps = pn.nested_array_from_jagged(buffer, [0, 3, 6], lengths=[2, 1]), [2, 4, 5]
    for write, due in (
        (lambda: x.uniform_(-2, high=5, generator=generator()), -2 + uniform * 7),
        (lambda: pn.normal_(x, 3.0, std=2.0, generator=generator()), 3 + normal * 2),
        (lambda: x.normal_(generator=generator()), normal),
    ):
        assert write() is x
        assert buffer.numpy()[[0, 1, 3]].tolist() == due.astype(dtype).tolist()
        assert buffer.numpy()[gaps].tolist() == [9.0] * 3
    epsilon = float(np.finfo(dtype).eps)  # the upper end is never drawn
    assert set(pn.empty(20_000, dtype=dtype).uniform_(1, 1 + 2 * epsilon).tolist()) == {1.0, 1.0 + epsilon}
    assert pn.empty(2, dtype=dtype).uniform_(3, 3).tolist() == [3.0, 3.0]
    tenths = pn.empty(20_000, dtype=dtype).uniform_(0.1, 0.2).numpy()
    assert np.asarray(0.1, dtype) <= tenths.min() and tenths.max() < np.asarray(0.2, dtype)
    wide = pn.empty(1000, dtype=dtype).uniform_(-60_000, 60_000).numpy()
    assert np.isfinite(wide).all() and wide.min() < -50_000 and wide.max() > 50_000


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["uniform_", "normal_"])
def test_a_refused_write_draws_no_random_numbers(name: str, form: str) -> None:
    x, generator = place(batch([(3, 2)] * 2), FORMS[form], grad=True).array, np.random.default_rng(7)
    with pytest.raises(GradientError):
        getattr(x, name)(generator=generator)
    assert generator.random() == np.random.default_rng(7).random()
