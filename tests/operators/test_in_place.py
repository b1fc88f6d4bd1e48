"""Writes in place: `f_(x)` is `x.copy_(f(x))`, counts as a write, spares gaps, and writes nothing if it is refused."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError, DTypeError, GradientError, ShapeError, StructureError

from ..nests import LAYOUTS, PLACEMENTS, Placed, assert_same, batch, nest, place, plain
from ..support.methods import IN_PLACE

DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64")
ERRORS = (ArgumentError, DTypeError, GradientError, ShapeError, StructureError, ArithmeticError, ValueError)
FORMS = {"dense": None, "jagged": pn.jagged, "strided": pn.strided}
TWO = [name for name in IN_PLACE if "other" in signature(getattr(pn, name)).parameters]
SHAPES = [(3, 2), (1, 2), (4, 2)]


def components(dtype: str, layout: Any) -> list[np.ndarray]:
    """Return numbers of both signs and the ends of the range; of one length if dense."""
    least, greatest = (-9, 9) if dtype[0] == "f" else (0, 1) if dtype == "bool" else (np.iinfo(dtype).min,) * 2
    if dtype[0] not in "fb":
        greatest = np.iinfo(dtype).max
    numbers = np.array([1, 100 if dtype != "bool" else 1, least, greatest, 3 % (greatest + 1)]).astype(dtype)
    return [numbers, numbers[::-1].copy()] if layout is None else [numbers, numbers[:0], numbers[1:2]]


def operands(name: str, numbers: list[np.ndarray], layout: Any, dtype: str) -> list[tuple[Any, ...]]:
    """Return the arguments of several calls, by the signature of the operator."""

    def shaped(numbers: list[np.ndarray]) -> Any:
        return pn.array(np.stack(numbers)) if layout is None else nest(numbers, layout)

    if name == "masked_fill":
        mask = shaped([part > 0 for part in numbers])
        return [(mask, 1), (mask, 0.5), (mask, 300), (numbers[0][:1] > 0, 0)]
    if name == "clamp":
        halves = shaped([part // 2 if dtype != "bool" else part for part in numbers])
        return [(0, 1), (0.5,), (None, 300), (halves, None)]
    if name in ("cumsum", "dropout"):
        return [(1,), (-1,)] if name == "cumsum" else [(1.0,), (0.0,), (0.5, False)]
    if name not in TWO:
        return [()]
    ones = [np.ones_like(part) for part in numbers]
    return [
        (shaped(ones),),
        (shaped(numbers),),
        (shaped([part.astype(np.int64) + 2 for part in ones]),),
        (shaped([part.astype(np.float32) / 2 for part in ones]),),
        (np.full((len(numbers), 1), 2, dtype),),
        (2,),
        (0.5,),
        (300,),
        *([(shaped(ones),)] if layout is None else [(nest(ones, pn.jagged, "holes"),), (nest(ones, pn.strided),)]),
    ]


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
    except ERRORS as error:
        return type(error)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", IN_PLACE)
def test_the_result_is_copied_into_the_array(name: str, form: str) -> None:
    layout, turns = FORMS[form], itertools.cycle(PLACEMENTS)
    for dtype in DTYPES:
        numbers = components(dtype, layout)
        for arguments in operands(name, numbers, layout, dtype):
            made = place(numbers, layout, next(turns))
            x, alias, before = made.array, made.view(made.buffer), Memory.of(made)
            gaps = made.holes_of(made.buffer.numpy()).copy()
            expected = outcome(lambda x=x, a=arguments: x.clone().copy_(getattr(pn, name)(x, *a)))
            result = outcome(lambda x=x, a=arguments: getattr(x, f"{name}_")(*a))
            if isinstance(expected, type):
                assert result is expected, (dtype, arguments)
                assert Memory.of(made) == before
                continue
            assert_same(x, expected)
            assert x.dtype == dtype and made.buffer.storage.version > before.version
            assert_same(alias, expected)
            assert made.holes_of(made.buffer.numpy()).tobytes() == gaps.tobytes()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", TWO)
def test_an_operand_can_be_the_array_itself_or_overlap_it(name: str, form: str) -> None:
    layout, dtype = FORMS[form], np.int64 if name.startswith(("bitwise", "logical_")) else np.float64
    numbers = [np.arange(1, 7, dtype=dtype).reshape(3, 2), np.arange(3, 9, dtype=dtype).reshape(3, 2)]
    for view in (lambda x: x, lambda x: x[:, ::-1], lambda x: x[:, :, :1]):
        made = place(numbers, layout, "holes")
        expected = plain(made.array.clone().copy_(getattr(pn, name)(made.array, view(made.array.clone()))))
        write = getattr(made.array, f"{name}_")
        assert write(view(made.array)) is made.array
        assert_same(made.array, expected)


# ---- refusals -------------------------------------------------------------------------------------------------------

OTHER_WRITES: dict[str, Callable[[Any], Any]] = {
    "copy_": lambda x: x.copy_(7.0),
    "fill_": lambda x: x.fill_(7.0),
    "zero_": lambda x: x.zero_(),
    "uniform_": lambda x: x.uniform_(),
    "normal_": lambda x: x.normal_(),
    "assignment": lambda x: x.__setitem__(0, 5.0),
    "assignment to a slice": lambda x: x.__setitem__((slice(None), slice(0, 1)), 5.0),
    "assignment backwards": lambda x: x.__setitem__((slice(None), slice(None, None, -1)), 5.0),
    "assignment by a list": lambda x: x.__setitem__([0], 5.0),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", [*(name for name in IN_PLACE if not name.startswith("bitwise")), *OTHER_WRITES])
def test_a_recorded_array_is_written_under_no_grad_only_and_gradients_notice(name: str, form: str) -> None:
    def write(x: Any) -> None:
        arguments = {"clamp": (0, 1), "cumsum": (1,), "dropout": (1.0,), "masked_fill": (x > 2, 0.0)}
        default = (2,) if name in TWO else ()
        OTHER_WRITES[name](x) if name in OTHER_WRITES else getattr(x, f"{name}_")(*arguments.get(name, default))

    label = name.split()[0] if name in OTHER_WRITES else f"{name}_"
    for recorded in (False, True):
        made = place(batch([(3, 2)] * 2), FORMS[form], grad=True)  # of gaps the tape would keep a copy without them
        x, before = made.array * 1.0 if recorded else made.array, Memory.of(made)
        square = (x * x).sum()
        with pytest.raises(GradientError, match=rf"^{label}: this array requires grad.*pn\.no_grad\(\)"):
            write(x)
        assert Memory.of(made) == before
        with pn.no_grad():
            write(x)
        with pytest.raises(GradientError, match="overwritten"):
            square.backward()


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_values_that_do_not_fit_leave_memory_as_it_was(layout: Any, placement: str) -> None:
    backwards, first = (slice(None), slice(None, None, -1)), (slice(None), 0)
    whole = [x.astype(np.int8) for x in batch(SHAPES)]
    for components, index, value, error in (
        (batch(SHAPES), first, np.zeros((3, 4, 5)), (ShapeError, StructureError)),
        (batch(SHAPES), backwards, np.zeros((3, 4, 5)), (ShapeError, StructureError)),
        (batch(SHAPES), 0, [[1.0], [2.0, 3.0]], ArgumentError),
        (batch(SHAPES), [0, 0], 1.0, StructureError),
        (whole, first, np.array([[0.5, 0.5]]), DTypeError),
        (whole, backwards, np.array([[0.5, 0.5]]), DTypeError),
        (whole, first, [300, 0], OverflowError),
        (whole, backwards, [300, 0], OverflowError),
    ):
        made = place(components, layout, placement)
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


# ---- random numbers --------------------------------------------------------------------------------------------------


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
    wide = pn.empty(1000, dtype=dtype).uniform_(-60_000, 60_000).numpy()
    assert np.isfinite(wide).all() and wide.min() < -50_000 and wide.max() > 50_000


def test_the_default_generator_is_that_of_manual_seed_in_a_graph_too() -> None:
    pn.manual_seed(3)
    first = pn.empty(3).uniform_().tolist(), pn.empty(3).normal_().tolist()
    pn.manual_seed(3)
    assert (pn.rand(3).tolist(), pn.randn(3).tolist()) == first
    graph = pn.trace(lambda x: pn.empty_like(x).uniform_() + x, pn.nested_array([[0.0], [0.0, 0.0]]))
    x = pn.nested_array([[5.0, 5.0, 5.0]])
    pn.manual_seed(1)
    traced, again = graph(x).tolist(), graph(x).tolist()
    pn.manual_seed(1)
    assert traced == (pn.rand(1, 3) + 5).tolist() and traced != again
