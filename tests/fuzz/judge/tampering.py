"""An array that exists is a valid one: what cannot be is refused when it is made. And vast views are cheap."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

import pynested as pn

from ..draw.tampering import Tampering
from ..run import LAYOUTS, Unreadable, attempt, read
from . import Difference, Found

SOON = 2.0  # seconds that are enough for every view


def check(plan: Tampering, device: str = "cpu") -> tuple[int, Found | None]:
    """Do it; what comes out is refused, or can be read."""
    difference = _vast(plan) if plan.way == "vast" else _tampered(plan)
    return 1, None if difference is None else Found(difference, plan, plan.way)


def _vast(plan: Tampering) -> Difference | None:
    """A window of far more elements than there is memory, and a view of it."""
    x = pn.nested_array_from_strided(np.zeros(4), [[plan.extent]], [[0]])
    outcome = attempt(lambda: eval(plan.expression, {"pn": pn, "x": x}), SOON)
    free = outcome.error is None or outcome.refused
    return None if free else Difference("slow", str(outcome), "what a view costs")


def _tampered(plan: Tampering) -> Difference | None:
    outcome = attempt(lambda: _done(plan))
    if outcome.refused or isinstance(outcome.error, AttributeError):  # attributes may be read-only
        return None
    if outcome.error is not None:
        return Difference("raw error", str(outcome), "an array, or an error of pynested")
    try:
        plain = read(outcome.value)
    except (Unreadable, TypeError, AttributeError, ValueError, IndexError) as error:
        return Difference("unreadable", f"{type(error).__name__}: {error}", "a refusal")
    if not isinstance(outcome.value, pn.NestedArray):
        return None
    shown = attempt(lambda: [one.numpy().shape for one in outcome.value.unbind()])
    sizes = attempt(lambda: [tuple(one) for one in outcome.value.component_sizes().tolist()])
    same = [one.shape for one in plain] == shown.value == sizes.value
    return None if same else Difference("unreadable", f"{shown} under {sizes}", "a refusal")


def _done(plan: Tampering) -> Any:
    n = pn.nested_array([np.array([1.0, 2.0]), np.array([3.0])], layout=LAYOUTS[plan.base])
    m = pn.nested_array([np.ones((2, 2)), np.ones((3, 2)), np.ones((1, 2))], layout=pn.jagged)
    names = {"pn": pn, "n": n, "m": m}
    if plan.way == "elementwise":
        return pn.elementwise("f", lambda a: eval(plan.expression, {**names, "a": a}), n)
    if plan.way == "map_components":
        return pn.map_components(lambda c: eval(plan.expression, {**names, "c": c}), n)
    if plan.way == "pickle":
        offsets = np.asarray(n.structure.offsets)
        return pickle.loads(
            pickle.dumps(n).replace(offsets.tobytes(), eval(plan.expression, {"offsets": offsets}).tobytes())
        )
    value = eval(plan.expression, names)
    if plan.way == "NestedArray":
        return pn.NestedArray(*value)
    setattr(n.structure if plan.way == "offsets" else n, plan.way, value)
    return n
