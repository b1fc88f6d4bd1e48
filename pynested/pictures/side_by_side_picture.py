"""Arrays side by side, component beside component: padded and ragged, an array and its gradient, step after step."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.backends.errors import ArgumentError, named_type
from pynested.backends.host import to_host
from pynested.nested.component_views import component_ndarray
from pynested.nested.nested_array import NestedArray

from .cells import LINE, Cell, CellFormat, Element, Look, draw_components, labelled_width
from .svg import PAGE, Sheet, text_width
from .truncation import visible_indices, with_gaps

Names = Collection[str]

_LEVELS = ((12, 12), (12, 8), (8, 5), (6, 4), (6, 2))  # components, elements of each
_LEFT, _TOP, _APART = 18, 40, 26
_CELL = 30


def draw_side_by_side(arrays: Mapping[str, Any], padded: Names = (), stretched: Names = ()) -> Sheet:
    """Draw arrays side by side; ``padded`` and ``stretched`` name dense ones, the lengths are those of the nested."""
    lengths = _check(arrays, padded, stretched)
    count = len(lengths)
    for components, limit in _LEVELS:
        shown = visible_indices(count, components)
        columns = {
            name: _column(_read(name, array, count, shown), lengths, limit, name in padded, name in stretched)
            for name, array in arrays.items()
        }
        widths = {name: labelled_width(name, rows.values()) for name, rows in columns.items()}
        if sum(widths.values()) + _APART * len(widths) <= PAGE:
            break
    sheet = Sheet(f"Side by side, {count} components of each: {', '.join(arrays)}")
    lines = with_gaps(shown, count)
    left = _LEFT + text_width(f"[{max(shown, default=0)}]", 12) + 14
    bands: list[dict[float, str]] = [{}]  # names of columns by their left ends
    x = left
    for name, width in widths.items():
        if x > left and x + width > PAGE:
            x = left
            bands.append({})
        bands[-1][x] = name
        x += width + _APART
    for k, band in enumerate(bands):
        top = _TOP + k * (len(lines) * LINE + 54)
        for x, name in band.items():
            sheet.text(x, top - 10, name, size=12, anchor="start", bold=True)
        cells = {x: columns[name].__getitem__ for x, name in band.items()}
        draw_components(sheet, _LEFT, top, lines, lambda i: f"[{i}]", cells)
    return sheet


def _column(
    elements: dict[int, Element], lengths: list[int], limit: int, is_padded: bool, is_stretched: bool
) -> dict[int, list[Cell]]:
    """Return the cells of each component: its elements, the padding behind them, and the repeats.

    An element is a number or a row of numbers. Padding begins at the length of the component. The element of a
    component that is stretched is repeated up to that length; a component of length 0 has none.
    """
    rows: dict[int, list[tuple[Element, Look]]] = {}
    for i, row in elements.items():
        end = min(lengths[i], len(row)) if is_padded else len(row)
        repeats = max(len(visible_indices(lengths[i], limit)) - 1, 0) if is_stretched else 0
        rows[i] = [(row[:end], "number"), (row[end:], "unused"), (row[:1].repeat(repeats, 0), "repeated")]
        if is_stretched and not lengths[i]:
            rows[i] = []
    shown = [part[k] for row in rows.values() for part, _ in row for k in visible_indices(len(part), limit)]
    form = CellFormat(shown, _CELL)

    def cells(i: int, part: Element, look: Look) -> list[Cell]:
        items = with_gaps(visible_indices(len(part), limit), len(part))
        return [form.cell(item, part.__getitem__, (i,), look) for item in items]

    return {i: [cell for part, look in row for cell in cells(i, part, look)] for i, row in rows.items()}


def _check(arrays: Any, padded: Names, stretched: Names) -> list[int]:
    """Return the lengths of the first nested array; ArgumentError for arguments that cannot be drawn."""
    if not isinstance(arrays, Mapping) or not all(isinstance(name, str) for name in arrays):
        raise ArgumentError(
            f"beside: takes arrays by their names (str), as in beside({{'x': x, 'y': y}}), not {named_type(arrays)}"
            f"{' with other keys' if isinstance(arrays, Mapping) else ''}."
        )
    if any(isinstance(names, str) or not isinstance(names, Collection) for names in (padded, stretched)):
        raise ArgumentError("beside: padded and stretched take several names, as in padded=['x'].")
    nested = [x for x in arrays.values() if type(x) is NestedArray]
    if not nested:
        raise ArgumentError("beside: none of the arrays is nested. Draw a dense array alone: picture(x).")
    for name in {*padded, *stretched} - {*arrays}:
        raise ArgumentError(f"beside: there is no {name!r} among the arrays, which are {', '.join(arrays)}.")
    return [(*nested[0].component_shape(i), 1)[0] for i in range(len(nested[0]))]


def _read(name: str, array: Any, count: int, shown: list[int]) -> dict[int, Element]:
    """Return the elements of each component shown; a component without dimensions is one element."""
    if type(array) is NestedArray:
        if len(array) != count:
            raise ArgumentError(f"beside: {name} has {len(array)} components, the first nested array {count}.")
        components = {i: to_host(component_ndarray(array, i)) for i in shown}
    elif isinstance(array, Array) and array.ndim and array.shape[0] == count:
        components = {i: to_host(array.data[i]) for i in shown}
    else:
        raise ArgumentError(
            f"beside: {name} is {getattr(array, 'shape', type(array).__name__)}, which has not one row for each of "
            f"the {count} components."
        )
    return {i: np.atleast_1d(component) for i, component in components.items()}
