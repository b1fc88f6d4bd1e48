"""Operands lie on one device: every operator, and every array among its arguments, on another device than the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends import numpy as cpu
from pynested.backends import registry
from pynested.backends.errors import DeviceError

from ..batches import REGULAR, Batch, Call, Operand, mapped
from ..calls import CALLS
from ..nests import DENSE, Kind, distinct, place

# reshape_as looks at a shape only; nested_array copies what it is given, from wherever that lies.
EXCEPT = ("reshape_as", "nested_array")


class Elsewhere:
    """A device that computes as the CPU does, so that nothing but a check tells the two apart."""

    device = "elsewhere"
    xp = np

    def __getattr__(self, name: str) -> Any:
        return getattr(cpu, name)


def _written(name: str) -> Callable[..., Any]:
    def write(x: Any, *arguments: Any) -> Any:
        return getattr(x, name)(*arguments)

    return write


def _positive(b: Batch) -> Operand:
    return b.of(lambda x: x > 0, np.bool_)


def _padded_into(b: Batch) -> tuple[Any, ...]:
    return b.x(), 0.0, None, np.zeros((b.count, *np.max(b.shapes, axis=0)))


CALLERS = ("map_components", "elementwise")  # of a function that refuses, here a product
WRITES = {name: _written(name) for name in ("copy_", "add_", "sub_", "mul_", "div_", "masked_fill_", "__setitem__")}
MORE = [
    *[Call(op, "nested", lambda b: (b.x(), b.x(1))) for op in ("copy_", "add_", "sub_", "mul_", "div_")],
    *[Call(op, "dense", lambda b: (b.x(), distinct((1,)))) for op in ("copy_", "add_", "mul_")],
    Call("masked_fill_", "nested", lambda b: (b.x(), _positive(b), 0.5)),
    Call("__setitem__", "all", lambda b: (b.x(), slice(None), b.x(1))),
    Call("__setitem__", "one", lambda b: (b.x(), 0, distinct((1,)))),
    Call("__setitem__", "backwards", lambda b: (b.x(), (slice(None), slice(None, None, -1)), b.x(1))),
    Call("to_padded_array", "out", _padded_into, dense=False),
    *[Call(op, "two", lambda b: (b.x(), b.x(1)), dense=False) for op in CALLERS],
]
FUNCTIONS: dict[str, Callable[..., Any]] = {
    **WRITES,
    "map_components": lambda *x: pn.map_components(lambda a, b: a * b, *x),
    "elementwise": lambda *x: pn.elementwise("product", lambda a, b: a * b, *x),
}


def with_one_elsewhere(call: Call, kind: Kind, which: int | None) -> tuple[list[Any], dict[str, Any], int]:
    """The arguments of a call, with array number ``which`` of them on another device; and how many arrays they are."""
    number = -1

    def on(x: pn.Array) -> pn.Array:
        return pn.Array(x.data, Elsewhere.device) if number == which else x

    def made(value: Any) -> Any:
        nonlocal number
        number += 1
        if isinstance(value, np.ndarray):
            return on(pn.array(value))
        x = place(value.components, kind.layout, "packed", value.ragged).array
        return on(x) if kind is DENSE else pn.NestedArray(on(x.data), x.structure)

    given = call.given(Batch(kind, (2, 2) if kind is DENSE else (2, 0, 3)), made)
    return given, {name: mapped(made, value) for name, value in call.keywords.items()}, number + 1


def cases() -> Iterator[tuple[Call, Kind, int]]:
    for call in (*CALLS, *MORE):
        for kind in (DENSE, *REGULAR):
            if kind in call.forms and call.op not in EXCEPT:
                count = with_one_elsewhere(call, kind, None)[2]
                yield from ((call, kind, which) for which in range(count) if count > 1)


def test_no_operand_lies_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry._by_device, Elsewhere.device, Elsewhere())
    accepted, asked = [], set()
    for call, kind, which in cases():
        given, keywords, _ = with_one_elsewhere(call, kind, which)
        asked.add(call.op)
        try:
            (FUNCTIONS.get(call.op) or call.function)(*given, **keywords)
        except DeviceError as error:
            said = (
                "mul"
                if call.op in CALLERS
                else call.op.strip("_").replace("setitem", "assignment").replace("getitem", "index")
            )
            assert str(error).startswith(said), error
        except Exception as error:
            accepted.append(f"{call} ({kind}), array {which}: {type(error).__name__}: {error}")
        else:
            accepted.append(f"{call} ({kind}), array {which}")
    assert not accepted, "\n".join(accepted)
    assert len(asked) > 25
