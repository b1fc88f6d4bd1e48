"""One call of an elementwise dense function, on whole buffers that are lined up, for all components."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pynested.autograd import Array
from pynested.autograd.arguments.canonical import as_array, operand
from pynested.autograd.rules.rule import apart
from pynested.backends.errors import ArgumentError
from pynested.nested.array import NestedArray, around
from pynested.nested.operands import Operand
from pynested.structure import Jagged, Strided

from .broadcasting import behind_runs, jagged_operands, row_operands, strided_operands
from .packing import in_strided_again, to_jagged


def elementwise(name: str, function: Callable[..., Array], *operands: Operand) -> NestedArray:
    """A ``function`` of dense arrays, elementwise, where at least one operand is nested: ``(B, *, D) -> (B, *, D)``.

    For functions of ours, which give an element for each place; `pynested.elementwise` asks others whether they do.
    """
    first: NestedArray = operands[0] if type(operands[0]) is NestedArray else first_nested(name, operands)
    structure, shape = first._structure, first._buffer._bare.shape
    if structure.tiles:
        datas: list[Any] = []
        for x in operands:
            if type(x) is NestedArray:
                own = x._structure
                if x._buffer._bare.shape != shape or not (own is structure or structure.same_placement(own)):
                    break
                datas.append(x._buffer)
            elif type(x) in (int, float, bool) or (type(x) is Array and behind_runs(x._bare.shape, shape, structure)):
                datas.append(x)
            else:
                break
        else:
            return around(function(*datas), structure)
    given = [x if type(x) is NestedArray else operand(name, x, first.device) for x in operands]
    check_devices(name, given)
    if isinstance(structure, Jagged):
        aligned = jagged_operands(name, first, structure, given)
        if aligned is not None:
            return NestedArray(function(*aligned), structure.packed)
    else:
        rows = row_operands(name, first, structure, given)
        if rows is not None:
            return in_strided_again(function(*rows), structure)
    flats, outline = strided_operands(name, first, given)
    result = NestedArray(function(*flats), Strided.of_packed(outline, len(first)))
    return like_first(result, given)


def like_first(result: NestedArray, operands: Sequence[Any]) -> NestedArray:
    """A strided result in the layout of the first operand, jagged if all that are agree on the one ragged dimension."""
    structures = [x.structure for x in operands if isinstance(x, NestedArray)]
    ragged = {structure.ragged_dim for structure in structures if isinstance(structure, Jagged)}
    if isinstance(structures[0], Strided) or len(ragged) > 1:
        return result
    (r,) = ragged
    others = (*result.regular[: r - 1], *result.regular[r:])
    return result if None in others else to_jagged(result, r)


def first_nested(name: str, operands: Sequence[Any]) -> NestedArray:
    """The first operand that is nested; there must be one."""
    for x in operands:
        if type(x) is NestedArray:
            return x
    raise ArgumentError(f"{name}: no operand is nested; call the function itself, or nest one: pn.as_nested_array(x).")


def together(name: str, a: Any, b: Any) -> tuple[Any, Any]:
    """Two operands, nested or else dense arrays, that lie on one device; a number goes where the other one is."""
    if type(a) is not NestedArray and type(a) is not Array:
        a = as_array(name, a, b.device)
    if type(b) is not NestedArray and type(b) is not Array:
        b = as_array(name, b, a.device)
    if a.device != b.device:
        raise apart(name, {a.device, b.device})
    return a, b


def check_devices(name: str, operands: Sequence[Any]) -> None:
    """All arrays among ``operands`` lie on one device."""
    devices = {x.device for x in operands if isinstance(x, NestedArray | Array)}
    if len(devices) > 1:
        raise apart(name, devices)
