"""Operands lie on one device: every operator, and every array among its arguments, on another device than the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested import operators
from pynested.backends import numpy as cpu
from pynested.backends import registry
from pynested.backends.errors import DeviceError

from ..batches import ROWS, Batch, Call, Operand
from ..calls import CALLS
from ..nests import JAGGED, JAGGED_2, STRIDED, distinct, place

KINDS = {"dense": STRIDED, "jagged": JAGGED, "jagged last": JAGGED_2, "strided": STRIDED}
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


WRITES = {name: _written(name) for name in ("copy_", "add_", "sub_", "mul_", "div_", "masked_fill_", "__setitem__")}
MORE = [
    *[Call(op, "nested", lambda b: (b.x(), b.x(1))) for op in ("ne", "le", "gt", "ge")],
    *[Call(op, "nested", lambda b: (b.x(), b.x(1))) for op in ("copy_", "add_", "sub_", "mul_", "div_")],
    *[Call(op, "dense", lambda b: (b.x(), distinct((1,)))) for op in ("copy_", "add_", "mul_")],
    Call("masked_fill_", "nested", lambda b: (b.x(), _positive(b), 0.5)),
    Call("__setitem__", "all", lambda b: (b.x(), slice(None), b.x(1))),
    Call("__setitem__", "one", lambda b: (b.x(), 0, distinct((1,)))),
    Call("__setitem__", "backwards", lambda b: (b.x(), (slice(None), slice(None, None, -1)), b.x(1))),
    Call("where", "three", lambda b: (_positive(b), b.x(), b.x(1))),
    Call("linear", "bias", lambda b: (b.x(), distinct((3, 2)), distinct((3,))), kinds=ROWS),
    Call("layer_norm", "bias", lambda b: (b.x(), (2,), distinct((2,)), distinct((2,), 1)), kinds=ROWS),
    Call("to_padded_array", "out", lambda b: (b.x(), 0.0, None, np.zeros((b.count, *np.max(b.shapes, axis=0))))),
    Call("cross_entropy", "weight", lambda b: (b.x(), b.labels(2), distinct((2,))), {"reduction": "sum"}, ROWS),
    Call("map_components", "two", lambda b: (b.x(), b.x(1))),
    Call("elementwise", "two", lambda b: (b.x(), b.x(1))),
]
CALLERS = ("map_components", "elementwise")  # of a function that refuses, here a product
FUNCTIONS: dict[str, Callable[..., Any]] = {
    **WRITES,
    "cross_entropy": lambda x, y, weight=None, **options: pn.cross_entropy(x, y, weight=weight, **options),
    "map_components": lambda *x: pn.map_components(lambda a, b: a * b, *x),
    "elementwise": lambda *x: pn.elementwise("product", lambda a, b: a * b, *x),
}


def function(op: str) -> Callable[..., Any]:
    return FUNCTIONS.get(op) or getattr(operators, op, None) or getattr(pn, op)  # type: ignore[return-value]


def arrays_in(value: Any) -> int:
    if isinstance(value, list):
        return sum(map(arrays_in, value))
    return isinstance(value, Operand | np.ndarray)


def with_one_elsewhere(call: Call, form: str, which: int) -> Iterator[Any]:
    """The arguments of a call, with array number ``which`` of them on another device."""
    batch, number = Batch(KINDS[form], (2, 2) if form == "dense" else (2, 0, 3)), -1

    def on(x: pn.Array) -> pn.Array:
        return pn.Array(x.data, Elsewhere.device) if number == which else x

    def made(value: Any) -> Any:
        nonlocal number
        if isinstance(value, list):
            return [made(one) for one in value]
        if not arrays_in(value):
            return value
        number += 1
        if isinstance(value, Operand) and form != "dense":
            x = place(value.components, batch.kind.layout, "packed", value.ragged).array
            return pn.NestedArray(on(x.data), x.structure)
        return on(pn.array(np.stack(list(value.components)) if isinstance(value, Operand) else value))

    return (made(value) for value in call.arguments(batch))


def cases() -> Iterator[tuple[Call, str, int]]:
    for call in (*CALLS, *MORE):
        for form, kind in KINDS.items():
            only_nested = call.op in ("to_padded_array", *CALLERS)
            if kind not in call.kinds or call.op in EXCEPT or (form == "dense" and only_nested):
                continue
            count = sum(map(arrays_in, call.arguments(Batch(kind, (2, 2)))))
            yield from ((call, form, which) for which in range(count) if count > 1)


def test_no_operand_lies_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry._by_device, Elsewhere.device, Elsewhere())
    accepted, asked = [], set()
    for call, form, which in cases():
        given = list(with_one_elsewhere(call, form, which))
        asked.add(call.op)
        try:
            function(call.op)(*given, **call.keywords)
        except DeviceError as error:
            said = (
                "mul"
                if call.op in CALLERS
                else call.op.strip("_").replace("setitem", "assignment").replace("getitem", "index")
            )
            assert str(error).startswith(said), error
        except Exception as error:
            accepted.append(f"{call} ({form}), array {which}: {type(error).__name__}: {error}")
        else:
            accepted.append(f"{call} ({form}), array {which}")
    assert not accepted, "\n".join(accepted)
    assert len(asked) > 25
