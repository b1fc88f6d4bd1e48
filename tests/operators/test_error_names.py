"""An error names the operator that was called; each of its arrays is refused if it lies on another device."""

from __future__ import annotations

import inspect
import operator
import re
from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import DeviceError, PynestedError
from pynested.spec.pairs import PAIRS

from ..batches import REGULAR, Batch, Call
from ..calls import CALLS
from ..nests import DENSE, Kind
from ..support.methods import ARITHMETIC, COMPARISONS, IN_PLACE
from ..support.samples import EVERY, sample_arguments, samples

COMPONENTS = [np.ones((2, 4)), np.ones((3, 4))]
ARRAYS: dict[str, Callable[[], Any]] = {
    "jagged": lambda: pn.nested_array(COMPONENTS, layout=pn.jagged),
    "strided": lambda: pn.nested_array(COMPONENTS),
    "dense": lambda: pn.ones(2, 3, 4),
}
# No operand of any operator: no array, an array of a dtype that is not supported, and a dictionary.
NO_ARRAYS: list[Any] = ["a", None, object(), np.array(["a"]), np.array([1j]), {"a": 1}]
NO_FITTING_ARRAYS = [pn.ones(2, 7, 5), pn.nested_array([np.ones((7, 5)), np.ones((2, 5))], layout=pn.jagged)]
NAMES = {"getitem": "index"}
PARTS = {"reshape_as": "reshape", "multi_head_attention": "linear"}  # operators whose errors name a part of them
PAIRED = [*PAIRS, "add", "sub", "mul", "div", "maximum", "minimum"]


def is_named(error: BaseException, name: str) -> bool:
    """Return whether a message begins with a name, and not with a longer one."""
    return re.match(rf"{name}(?![a-z_])", str(error)) is not None


def assert_refused(name: str, call: Callable[[], Any]) -> None:
    with pytest.raises((PynestedError, OverflowError)) as caught:
        call()
    assert is_named(caught.value, name), caught.value


@EVERY
def test_operands(every: bool) -> None:
    wrong = []
    for call, kind in samples(every):
        given, keywords, _ = sample_arguments(call, Batch(kind, (2, 2) if kind is DENSE else (2, 0, 3)), grad=True)
        arrays = [i for i, value in enumerate(given) if isinstance(value, pn.Array | pn.NestedArray)]
        for i in arrays:
            for other in (*NO_ARRAYS, *NO_FITTING_ARRAYS):
                try:
                    call.function(*given[:i], other, *given[i + 1 :], **keywords)
                except (PynestedError, OverflowError) as error:
                    names = NAMES.get(call.op, call.op), PARTS.get(call.op, call.op)
                    if not any(is_named(error, name) for name in names):
                        wrong.append(f"{call} {kind}, argument {i}: {error}")
    assert not wrong, "\n".join(wrong)


def with_one_elsewhere(call: Call, kind: Kind, which: int | None) -> tuple[list[Any], dict[str, Any], int]:
    """Return the arguments of a call, with array number ``which`` on another device, and the number of arrays."""
    numbers = count()
    batch = Batch(kind, (2, 2) if kind is DENSE else (2, 0, 3))
    move = lambda x: x.to("plain") if next(numbers) == which else x  # noqa: E731
    arguments, keywords, _ = sample_arguments(call, batch, convert=move)
    return arguments, keywords, next(numbers)


@pytest.mark.parametrize("kind", [DENSE, *REGULAR], ids=str)
def test_no_operand_lies_on_another_device(kind: Kind) -> None:
    """The device "plain" computes as the CPU does, so that nothing but a check can refuse its arrays."""
    for call in CALLS:
        # the first reads a shape only, and the second copies from any device
        if kind not in call.forms or call.op in ("reshape_as", "nested_array"):
            continue
        total = with_one_elsewhere(call, kind, None)[2]
        for which in range(total if total > 1 else 0):
            given, keywords, _ = with_one_elsewhere(call, kind, which)
            with pytest.raises(DeviceError, match=f"^{NAMES.get(call.op, call.op)}"):
                call.function(*given, **keywords)


@pytest.mark.parametrize("layout", ARRAYS)
@pytest.mark.parametrize("name", IN_PLACE)
def test_methods_in_place(name: str, layout: str) -> None:
    method = operator.attrgetter(f"{name}_")
    x, leaf = ARRAYS[layout](), ARRAYS[layout]().requires_grad_()
    if inspect.signature(method(x)).parameters:  # Python itself refuses an argument of a method that has none
        assert_refused(f"{name}_", lambda: method(x)(no_such_argument=1))
    takes_two = name in PAIRED
    for other in (*NO_ARRAYS, *NO_FITTING_ARRAYS) if takes_two else ():
        assert_refused(f"{name}_", lambda: method(ARRAYS[layout]())(other))  # noqa: B023
    arguments: tuple[Any, ...] = (1.0,) if takes_two or name in (*COMPARISONS, "clamp") else ()
    arguments = {"masked_fill": (x > 0, 1.0), "cumsum": (1,)}.get(name, arguments)
    with pytest.raises(PynestedError, match=rf"^{name}_(?![a-z_]).* requires grad"):
        method(leaf)(*arguments)


@pytest.mark.parametrize("layout", ARRAYS)
def test_signs_in_place_name_their_method(layout: str) -> None:
    for sign, name in ARITHMETIC.items():
        if name in IN_PLACE:
            assert_refused(f"{name}_", lambda: getattr(operator, f"i{sign}")(ARRAYS[layout](), pn.ones(2, 7, 5)))  # noqa: B023
