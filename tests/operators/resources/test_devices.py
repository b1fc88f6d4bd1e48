"""Every operator refuses an operand on another device, whichever of its arrays it is, and names itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends import numpy as cpu
from pynested.backends import registry
from pynested.backends.errors import DeviceError

from ...batches import REGULAR, Batch, Call
from ...calls import CALLS
from ...nests import DENSE, Kind, distinct
from ...support.samples import sample_arguments

EXCEPT = ("reshape_as", "nested_array")  # the first reads a shape only, and the second copies from any device


class Elsewhere:
    """A device that computes as the CPU does, so that nothing but a check can refuse its arrays."""

    device = "elsewhere"
    xp = np

    def __getattr__(self, name: str) -> Any:
        return getattr(cpu, name)


def _method(name: str) -> Callable[..., Any]:
    return lambda x, *arguments: getattr(x, name)(*arguments)


def _padded_into(b: Batch) -> tuple[Any, ...]:
    return b.x(), 0.0, None, np.zeros((b.count, *np.max(b.shapes, axis=0)))


WRITES = ("copy_", "add_", "sub_", "mul_", "div_", "masked_fill_", "__setitem__")
DRIVERS: dict[str, Callable[..., Any]] = {  # of a function that refuses, here a product
    "map_components": lambda *x: pn.map_components(lambda a, b: a * b, *x),
    "elementwise": lambda *x: pn.elementwise("product", lambda a, b: a * b, *x),
}
MORE = [
    *[Call(op, "nested", lambda b: (b.x(), b.x(1))) for op in WRITES[:5]],
    *[Call(op, "dense", lambda b: (b.x(), distinct((1,)))) for op in ("copy_", "add_", "mul_")],
    Call("masked_fill_", "nested", lambda b: (b.x(), b.of(lambda x: x > 0, np.bool_), 0.5)),
    Call("__setitem__", "all", lambda b: (b.x(), slice(None), b.x(1))),
    Call("__setitem__", "one", lambda b: (b.x(), 0, distinct((1,)))),
    Call("__setitem__", "backwards", lambda b: (b.x(), (slice(None), slice(None, None, -1)), b.x(1))),
    Call("to_padded_array", "out", _padded_into, dense=False),
    *[Call(op, "two", lambda b: (b.x(), b.x(1)), dense=False) for op in DRIVERS],
]
FUNCTIONS = DRIVERS | {name: _method(name) for name in WRITES}
NAMES = {"__setitem__": "assignment", "getitem": "index"} | dict.fromkeys(DRIVERS, "mul")


def make_arguments(call: Call, kind: Kind, which: int | None) -> tuple[list[Any], dict[str, Any], int]:
    """Return the arguments of a call, array number ``which`` of them on another device, and the number of arrays."""
    number = -1

    def moved(x: Any) -> Any:
        nonlocal number
        number += 1
        if number != which:
            return x
        if isinstance(x, pn.NestedArray):
            return pn.NestedArray(pn.Array(x.data.data, Elsewhere.device), x.structure)
        return pn.Array(x.data, Elsewhere.device)

    batch = Batch(kind, (2, 2) if kind is DENSE else (2, 0, 3))
    return *sample_arguments(call, batch, change=moved), number + 1


def outcome(call: Call, kind: Kind, which: int) -> str:
    """Return the message of the error, or what happened instead."""
    given, keywords, _ = make_arguments(call, kind, which)
    try:
        (FUNCTIONS.get(call.op) or call.function)(*given, **keywords)
    except DeviceError as error:
        return str(error)
    except Exception as error:
        return f"another error: {error!r}"
    return "no error"


def test_no_operand_lies_on_another_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry._by_device, Elsewhere.device, Elsewhere())
    wrong = []
    for call in (*CALLS, *MORE):
        for kind in (DENSE, *REGULAR):
            if kind in call.forms and call.op not in EXCEPT:
                count = make_arguments(call, kind, None)[2]
                for which in range(count if count > 1 else 0):
                    said = outcome(call, kind, which)
                    if not said.startswith(NAMES.get(call.op, call.op.rstrip("_"))):
                        wrong.append(f"{call} {kind}, array {which}: {said}")
    assert not wrong, "\n".join(wrong)
