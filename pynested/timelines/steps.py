"""The functions inside that a timeline watches, and who notes them."""

from __future__ import annotations

from collections.abc import Iterator
from types import FunctionType
from typing import Any

from pynested.autograd import default_device, random
from pynested.autograd.arguments import canonical, shapes
from pynested.autograd.rules.kinds.elementwise import Elementwise
from pynested.autograd.rules.pairs import PAIRS
from pynested.autograd.rules.rule import Rule, bound
from pynested.backends import memory as pieces
from pynested.backends import numpy as cpu
from pynested.backends import registry
from pynested.backends.cuda.backend import KernelBackend
from pynested.backends.cuda.device import Device
from pynested.backends.interface import Backend
from pynested.backends.storage import Storage
from pynested.components import broadcasting, mapping, packing
from pynested.graph.chains import Chain
from pynested.surface.passing import Point, step

from . import calls, memory, plans, rules
from .dispatch import is_quiet_ufunc
from .recorder import Handler

HANDLERS: dict[str, Handler] = {
    "rule": rules.applied, "elementwise": rules.elementwise, "verb": rules.verb, "launch": rules.launched,
    "pull": rules.pulled, "storage": memory.begun, "write": memory.written, "large": memory.large_piece,
    "lineup": plans.lined_up, "packed": plans.way("packed values, run by run"), "spread": plans.spread,
    "rows": plans.way("the rows of the strided buffer"), "repacked": plans.repacked,
    "gathered": plans.way("each operand gathered into packed components"), "dim": calls.canonical_dim,
    "shape": calls.canonical_shape, "dtype": calls.canonical_dtype, "operand": calls.operand,
    "device": calls.chosen_device,
    "chain": rules.chained, "backend": calls.begun_backend, "random": calls.drawn,
}  # fmt: skip

_FUNCTIONS: dict[str, Any] = {
    "elementwise": Elementwise.__call__, "launch": Device.launch, "storage": Storage.__init__, "write": Storage.wrote,
    "lineup": mapping.elementwise, "packed": broadcasting.jagged_operands, "rows": broadcasting.row_operands,
    "gathered": broadcasting.strided_operands, "spread": broadcasting.dense_rows, "repacked": packing.repacked,
    "dim": shapes.canonical_dim, "shape": shapes.canonical_shape, "dtype": canonical.canonical_dtype,
    "operand": canonical.as_array, "device": default_device.chosen_device, "large": pieces._block,
    "chain": Chain.__call__, "backend": registry.get_backend, "random": random.default,
}  # fmt: skip


def steps() -> list[Point]:
    """The points of all of them, as they are now: rules and verbs may have been added."""
    found = [step(name, function) for name, function in _FUNCTIONS.items()]
    for kind in _kinds(Rule):
        own = vars(kind)
        found += [step(name, own[method]) for name, method in (("rule", "apply"), ("pull", "pull")) if method in own]
    return found + [step("verb", function) for function in dict.fromkeys(_verbs())]


def _kinds(kind: type[Any]) -> Iterator[type[Any]]:
    """A class and all below it."""
    yield kind
    for below in kind.__subclasses__():
        yield from _kinds(below)


def _verbs() -> Iterator[FunctionType]:
    """The verbs of the interface on every device, and what NumPy has besides, made quiet."""
    names = [name for name in vars(Backend) if not name.startswith("_")]
    for entry in PAIRS.values():  # NumPy's are made quiet when they are first asked for
        bound(entry.computed, "cpu")
    for name in [*names, *vars(cpu)]:
        function = vars(cpu).get(name)
        if isinstance(function, FunctionType) and (name in names or is_quiet_ufunc(function)):
            yield function
    for name in names:
        function = vars(KernelBackend).get(name)
        if isinstance(function, FunctionType):
            yield function
