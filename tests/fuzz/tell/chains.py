"""Chains as programs."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.conformance.literals import nested_list, number

from ..judge import Difference
from ..plan import Call, Chain, Dense, Jagged, Memory, Operand, Ref
from ..run import NUMPY_NAMES
from . import program

SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "matmul": "@", "eq": "==", "ne": "!=", "lt": "<", "le": "<=",
         "gt": ">", "ge": ">=", "pow": "**", "floor_divide": "//", "remainder": "%", "bitwise_and": "&",
         "bitwise_or": "|", "bitwise_xor": "^"}  # fmt: skip
UFUNCS = {"sub": "subtract", "mul": "multiply", "div": "divide", "neg": "negative", "abs": "absolute", "sgn": "sign",
          "eq": "equal", "ne": "not_equal", "lt": "less", "gt": "greater", "le": "less_equal", "ge": "greater_equal",
          "cat": "concatenate", "clone": "copy", "clamp": "clip", "equal": "array_equal"}  # fmt: skip

WIDE = 2**16  # greater powers of 2 are written as such


def numbers(array: Any) -> str:
    """A NumPy array as text."""
    if isinstance(array, np.ma.MaskedArray):
        return f"np.ma.MaskedArray({numbers(np.asarray(array))}, {np.ma.getmaskarray(array).tolist()})"
    if array.dtype.kind not in "biuf":
        return f"np.array({array.tolist()!r}, {array.dtype.str!r})"
    kind = f"np.{array.dtype.name}".replace("np.bool", "np.bool_")
    if array.size == 0:
        return f"np.zeros({array.shape}, {kind})"
    return f"np.array({nested_list(array)}, {kind})"


def memory(one: Memory) -> str:
    """A memory, lying as it does."""
    if one.order == "F":
        return f"np.asfortranarray({numbers(one.numbers)})"
    if one.order == "reversed":
        return f"{numbers(one.numbers[::-1])}[::-1]"
    if one.order == "gapped":
        return f"np.repeat({numbers(one.numbers)}, 2, axis=0)[::2]"
    if one.order == "repeated":
        return f"np.broadcast_to({numbers(one.numbers[:1])}, {one.numbers.shape})"
    return numbers(one.numbers)


def memories(chain: Chain, device: str) -> list[str]:
    """Memories: arrays of NumPy, and those of pynested that are leaves or lie on a device."""
    lines = []
    for i, one in enumerate(chain.memories):
        lines.append(f"{'m' if one.leaf else 'a'}{i} = {memory(one)}")
        if one.leaf:
            lines.append(f"a{i} = pn.array(m{i}, {_place(device)}, requires_grad=True)")
        elif device != "cpu" and not one.home:
            lines.append(f"d{i} = pn.array(a{i}, {_place(device)})")
    return lines


def _place(device: str) -> str:
    return "copy=False" if device == "cpu" else f"device={device!r}"


def operands(chain: Chain, device: str) -> list[str]:
    """Operands, which look into memories."""
    lines = []
    for i, one in enumerate(chain.operands):
        leaf, home = chain.memories[one.memory].leaf, chain.memories[one.memory].home or device == "cpu"
        ready = leaf or (not home and (not isinstance(one, Dense) or one.spelling == "array"))
        name = f"{'d' if ready and not leaf else 'a'}{one.memory}"
        lines.append(f"x{i} = {operand(one, name, ready)}")
    return lines


def operand(one: Operand, name: str, ready: bool = False) -> str:
    """An operand that looks into the memory of this name, which may be an array of pynested: ``ready``."""
    if isinstance(one, Dense):
        if one.spelling == "array" and not ready:
            return f"pn.array({name}, copy=False)"
        forms = {"matrix": f"{name}.view(np.matrix)", "scalar": f"{name}[()]"}
        forms["masked"] = f"np.ma.MaskedArray({name}, np.arange({name}.size).reshape({name}.shape) == 0)"
        return forms.get(one.spelling, name) if not ready else name
    if isinstance(one, Jagged):
        lengths = "" if one.lengths is None else f", {list(one.lengths)}"
        ragged = "" if one.ragged == 1 else f", jagged_dim={one.ragged}"
        return f"pn.nested_array_from_jagged({name}, {list(one.offsets)}{lengths}{ragged})"
    sizes, strides = ([list(row) for row in rows] for rows in (one.sizes, one.strides))
    if not sizes:
        empty = f"np.zeros((0, {one.rank}), int)"
        return f"pn.nested_array_from_strided({name}, {empty}, {empty}, np.zeros(0, int))"
    if not one.rank:
        flat = f"np.zeros(({len(sizes)}, 0), int)"
        return f"pn.nested_array_from_strided({name}, {flat}, {flat}, {list(one.offsets)})"
    return f"pn.nested_array_from_strided({name}, {sizes}, {strides}, {list(one.offsets)})"


def argument(value: Any) -> str:
    """An argument of a call."""
    if isinstance(value, Ref):
        return str(value)
    if isinstance(value, list):
        return f"[{', '.join(map(argument, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(argument, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, np.dtype):
        return f"pn.{value.name}"
    if isinstance(value, np.generic):
        return f"np.{value.dtype.name}({number(value)})".replace("np.bool(", "np.bool_(")
    if isinstance(value, np.ndarray):
        return numbers(value)
    if value is Ellipsis:
        return "..."
    if type(value) is int and abs(value) > WIDE and not abs(value) & (abs(value) - 1):
        return f"{'-' if value < 0 else ''}2**{value.bit_length() - 1}"
    return number(value) if isinstance(value, float) else repr(value)


def index(value: Any) -> str:
    """What stands between the brackets."""

    def one(item: Any) -> str:
        if not isinstance(item, slice):
            return argument(item)
        parts = ["" if end is None else argument(end) for end in (item.start, item.stop)]
        return ":".join([*parts, argument(item.step)] if item.step is not None else parts)

    if isinstance(value, tuple):
        return ", ".join(map(one, value)) + ("," if len(value) == 1 else "") if value else "()"
    return one(value)


def call(one: Call) -> str:
    """A call as it is spelled."""
    if one.op == "getitem":
        inside = index(one.args[1])
        return f"{one.args[0]}[{inside}]" if one.spelling == "infix" else f"pn.getitem({one.args[0]}, np.s_[{inside}])"
    if one.op == "setitem":
        return f"{one.args[0]}[{index(one.args[1])}] = {argument(one.args[2])}"
    args = list(map(argument, one.args))
    if one.spelling == "infix":
        if one.op in ("neg", "abs"):
            return f"-{args[0]}" if one.op == "neg" else f"abs({args[0]})"
        return f"{args[0]} {SIGNS[one.op]} {args[1]}"
    words = {name: f"pn.{value}" if name == "layout" else argument(value) for name, value in one.kwargs.items()}
    if one.spelling == "numpy":
        named = [f"{NUMPY_NAMES.get(name, name)}={text}" for name, text in words.items()]
        return f"np.{UFUNCS.get(one.op, one.op)}({', '.join([*args, *named])})"
    named = [f"{name}={text}" for name, text in words.items()]
    if one.spelling == "method":
        return f"{args[0]}.{one.op}({', '.join([*args[1:], *named])})"
    return f"pn.{one.op}({', '.join([*args, *named])})"


def steps(calls: tuple[Call, ...]) -> list[str]:
    """Calls, one after the other."""
    return [call(one) if one.op == "setitem" else f"y{i} = {call(one)}" for i, one in enumerate(calls)]


def told(chain: Chain, difference: Difference, device: str = "cpu") -> str:
    """The chain as a program that prints what the last call gives or has written to."""
    lines = [*memories(chain, device), *operands(chain, device), *steps(chain.steps)]
    shown = ""
    if chain.steps:
        last = chain.steps[-1]
        shown = f"y{len(chain.steps) - 1}" if not last.writes else argument(last.args[0])
    return program([*lines, *([f"print({shown})"] if shown else [])], difference)
