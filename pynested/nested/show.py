"""A nested array as text: one screen, as NumPy's print options say."""

from __future__ import annotations

import numpy as np

from pynested.autograd.default_dtype import is_default_dtype
from pynested.backends.host import to_host
from pynested.components.views import component_data
from pynested.structure.layouts import jagged

from .array import NestedArray

INDENT = "  "


def as_text(x: NestedArray) -> str:
    """``nested_array([...])`` with a component on each line; long arrays show their first and last components."""
    options = np.get_printoptions()
    edge, count = int(options["edgeitems"]), len(x)
    elided = x.numel() > options["threshold"] and count > 2 * edge
    shown = [*range(edge), *range(count - edge, count)] if elided else list(range(count))
    most = options["threshold"] // max(len(shown), 1) if x.numel() > options["threshold"] else None
    texts = [_component(x, i, most) for i in shown]
    if elided:
        texts.insert(edge, f"...  # {count - 2 * edge} more components")
    lines = [INDENT + line for text in texts for line in _comma(text)]
    body = "\n".join(lines)
    return f"nested_array([\n{body}\n]{_facts(x)})" if lines else f"nested_array([]{_facts(x)})"


def _comma(text: str) -> list[str]:
    lines = text.split("\n")
    return lines if text.startswith("...") else [*lines[:-1], lines[-1] + ","]


def _component(x: NestedArray, i: int, most: int | None) -> str:
    values = to_host(component_data(x, i))
    shape = f", shape={values.shape}" if not values.size and values.shape != (0,) else ""
    return f"array({np.array2string(values, threshold=most, separator=', ', prefix='array(')}{shape})"


def _facts(x: NestedArray) -> str:
    facts = [f", shape={x.shape}"]
    if x.layout is jagged:
        facts.append(", layout=pn.jagged")
    if not is_default_dtype(x.dtype):
        facts.append(f", dtype={x.dtype}")
    if x.data.line is not None:
        facts.append(f", made by {x.data.line.rule.name}")
    elif x.requires_grad:
        facts.append(", requires_grad=True")
    if x.device != "cpu":
        facts.append(f", device={x.device!r}")
    return "".join(facts)
