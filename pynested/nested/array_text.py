"""Text of a nested array: its `repr`, whose length NumPy's print options limit."""

from __future__ import annotations

import numpy as np

from pynested.autograd.default_device_and_dtype import is_dtype_of_python_numbers
from pynested.backends.host import to_host
from pynested.structure.layout import jagged

from .component_views import component_ndarray
from .nested_array import NestedArray

INDENT = "  "


def as_text(x: NestedArray) -> str:
    """Return ``nested_array([...])``. Each component begins on a new line. A long array lacks its middle."""
    options = np.get_printoptions()
    edge, count = int(options["edgeitems"]), len(x)
    is_long = max(x.numel(), count) > options["threshold"]
    is_elided = is_long and count > 2 * edge
    printed_indices = [*range(edge), *range(count - edge, count)] if is_elided else list(range(count))
    threshold = options["threshold"] // max(len(printed_indices), 1) if is_long else None
    texts = [f"{_component_text(x, i, threshold)}," for i in printed_indices]
    if is_elided:
        texts.insert(edge, f"...  # {count - 2 * edge} more components")
    body = "".join(f"\n{INDENT}{line}" for text in texts for line in text.split("\n"))
    return f"nested_array([{body}\n]{_keyword_text(x)})" if body else f"nested_array([]{_keyword_text(x)})"


def _component_text(x: NestedArray, i: int, threshold: int | None) -> str:
    values = to_host(component_ndarray(x, i))
    shape = f", shape={values.shape}" if not values.size and values.shape != (0,) else ""
    return f"array({np.array2string(values, threshold=threshold, separator=', ', prefix='array(')}{shape})"


def _keyword_text(x: NestedArray) -> str:
    """Return the shape, and every property that differs from its default, as keyword arguments."""
    keywords = [f", shape={x.shape}"]
    if x.layout is jagged:
        keywords.append(", layout=pn.jagged")
    if not is_dtype_of_python_numbers(x.dtype, x.numel()):
        keywords.append(f", dtype={x.dtype}")
    if x.data.node is not None:
        keywords.append(f", made by {x.data.node.operation.name}")
    elif x.requires_grad:
        keywords.append(", requires_grad=True")
    if x.device != "cpu":
        keywords.append(f", device={x.device!r}")
    return "".join(keywords)
