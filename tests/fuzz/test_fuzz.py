"""The fuzzer finds nothing, draws the same from the same numbers, and finds and shrinks a fault that is planted."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable

import pytest

import pynested as pn
from pynested.autograd.primitives import segment, unary
from pynested.operators.indexing import in_place_writes
from pynested.spec.reductions import REDUCTIONS
from pynested.spec.runwise import RUNWISE

from .campaign import MODES, campaign, told
from .draw import OPERATORS
from .oracle import RULES, TABLE

SEED = 20
CALLS = {"forward": 1500, "gradient": 500, "writes": 1500, "structures": 6000, "tampering": 300, "threads": 400}


@pytest.mark.parametrize("mode", CALLS)
def test_nothing_differs(mode: str) -> None:
    report = campaign(mode, SEED, CALLS[mode])
    assert report.calls >= CALLS[mode]
    assert not report.kinds, "\n\n".join(told(mode, SEED, number) for number, _ in report.kinds.values())


@pytest.mark.parametrize("mode", MODES)
def test_a_seed_and_a_number_say_everything(mode: str) -> None:
    draw = MODES[mode].draw
    plans = [repr(draw(SEED, number)) for number in range(20)]
    assert plans == [repr(draw(SEED, number)) for number in reversed(range(20))][::-1]
    assert len({*plans, *(repr(draw(SEED + 1, number)) for number in range(20))}) > 20


def test_every_operator_of_the_table_is_drawn_and_judged() -> None:
    operators = {name for name, entry in TABLE.items() if entry.signature}
    operators -= {"create_nested_block_mask"}  # gives no array
    operators -= {"transformer_encoder_layer", "transformer_decoder_layer"}  # made of operators; parameters have names
    assert not operators - set(OPERATORS), f"drawn nowhere in tests/fuzz/draw: {sorted(operators - set(OPERATORS))}"
    assert not operators - set(RULES), f"judged nowhere in tests/fuzz/oracle: {sorted(operators - set(RULES))}"


Plant = Callable[[pytest.MonkeyPatch], None]


def _sums_are_one_too_much(patch: pytest.MonkeyPatch) -> None:
    right = segment.segment_sum
    patch.setattr(segment, "segment_sum", lambda x, segments: right(x, segments) + 1)


def _sine_is_its_own_derivative(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(unary, "cos", unary.sin)


def _writes_forget_the_sign(patch: pytest.MonkeyPatch) -> None:
    right = in_place_writes.in_target_dtype
    patch.setattr(in_place_writes, "in_target_dtype", lambda *args: abs(right(*args)))


def _strides_are_those_of_packed_components(patch: pytest.MonkeyPatch) -> None:
    right = pn.nested_array_from_strided
    patch.setattr(
        pn, "nested_array_from_strided", lambda values, sizes, strides=None, offsets=None: right(values, sizes)
    )


def _values_can_be_set(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(pn.NestedArray, "data", property(lambda x: x._buffer, lambda x, value: setattr(x, "_buffer", value)))


def _random_numbers_are_for_the_main_thread(patch: pytest.MonkeyPatch) -> None:
    right = pn.rand
    main = threading.current_thread()
    patch.setattr(pn, "rand", lambda n: right(n) if threading.current_thread() is main else 1 / 0)


# The fault of a mode, a pattern of what the program that shows it calls, and how many lines that has at most.
PLANTED: dict[str, tuple[Plant, str, int]] = {
    "forward": (_sums_are_one_too_much, rf"(pn|np)\.({'|'.join(('sum', 'mean', *REDUCTIONS, *RUNWISE))})\(", 9),
    "gradient": (_sine_is_its_own_derivative, r"(sin|cos)\(", 18),
    "writes": (_writes_forget_the_sign, r"_\(", 9),
    "structures": (_strides_are_those_of_packed_components, "nested_array_from_strided", 5),
    "tampering": (_values_can_be_set, "n.data = ", 8),
    "threads": (_random_numbers_are_for_the_main_thread, r"pn\.rand\(1\)", 11),
}


@pytest.mark.parametrize("mode", PLANTED)
def test_a_planted_fault_is_found_and_shrunk(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant, called, lines = PLANTED[mode]
    plant(monkeypatch)
    reports = (campaign(mode, SEED, 1, start=start) for start in range(3000))
    ((number, _),) = next(report.kinds for report in reports if report.kinds).values()
    text = told(mode, SEED, number)
    assert re.search(called, text) and len(text.splitlines()) <= lines, text
    compile(text, mode, "exec")
