"""Simpler chains: fewer calls, operands, components, arguments; shorter components, plainer memory, simpler numbers."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..judge import Found
from ..oracle import RULES, Nest
from ..plan import Call, Chain, Dense, Jagged, Memory, Operand, Ref, Strided, lengths_of, seen
from .packed import packed

MANY = 24  # numbers of one memory that are tried one by one


def candidates(chain: Chain, found: Found) -> Iterator[Chain]:
    """Simpler chains, of one that differs at a call."""
    last = next((i for i, step in enumerate(chain.steps) if step is found.call), len(chain.steps) - 1)
    if last < len(chain.steps) - 1:
        yield replace(chain, steps=chain.steps[: last + 1])
    call = found.call or Call("", ())
    given = [*zip(call.args, found.values, strict=False), *((call.kwargs[k], v) for k, v in found.options.items())]
    yield from simpler(chain, {ref: value for ref, value in given if isinstance(ref, Ref)})


def simpler(chain: Chain, values: Mapping[Ref, Any]) -> Iterator[Chain]:
    """Simpler chains; ``values`` are what is known of results."""
    yield from _fewer_steps(chain, values)
    yield from _fewer_operands(chain)
    yield from _fewer_components(chain)
    yield from _plainer(chain)
    yield from _shorter(chain)
    yield from _fewer_arguments(chain)
    yield from _simpler_numbers(chain)


# ---- calls -----------------------------------------------------------------------------------------------------------


def _fewer_steps(chain: Chain, values: Mapping[Ref, Any]) -> Iterator[Chain]:
    """Without a call whose result nothing needs; with operands in place of results."""
    for number in range(len(chain.steps) - 2, -1, -1):
        if not any(ref.kind == "y" and ref.number == number for step in chain.steps for ref in step.refs):
            steps = chain.steps[:number] + chain.steps[number + 1 :]
            yield replace(chain, steps=tuple(_renumbered(step, "y", number) for step in steps))
    for ref, value in values.items():
        if ref.kind == "y" and isinstance(value, Nest) and any(ref in step.refs for step in chain.steps):
            memory, operand = packed(value)
            operand = replace(operand, memory=len(chain.memories))
            leaf = bool(chain.leaves) and memory.numbers.dtype.kind == "f"
            memories = (*chain.memories, replace(memory, leaf=leaf))
            new = Ref("x", len(chain.operands))
            steps = tuple(step.mapped(lambda one, ref=ref, new=new: new if one == ref else one) for step in chain.steps)
            yield Chain(memories, (*chain.operands, operand), steps)


def _renumbered(step: Call, kind: str, gone: int) -> Call:
    """The call, of operands or results of which one before is gone."""

    def one(value: Any) -> Any:
        later = isinstance(value, Ref) and value.kind == kind and value.number > gone
        return replace(value, number=value.number - 1) if later else value

    return step.mapped(one)


def _fewer_operands(chain: Chain) -> Iterator[Chain]:
    """Without operands and memories that nothing uses."""
    used = {ref.number for step in chain.steps for ref in step.refs if ref.kind == "x"}
    for number in range(len(chain.operands) - 1, -1, -1):
        if number not in used:
            operands = _without(chain.operands, number)
            yield replace(chain, operands=operands, steps=tuple(_renumbered(one, "x", number) for one in chain.steps))
    for number in range(len(chain.memories) - 1, -1, -1):
        if all(one.memory != number for one in chain.operands):
            operands = tuple(replace(one, memory=one.memory - (one.memory > number)) for one in chain.operands)
            yield replace(chain, memories=_without(chain.memories, number), operands=operands)


def _fewer_arguments(chain: Chain) -> Iterator[Chain]:
    for number, step in enumerate(chain.steps):
        for name in step.kwargs:
            kwargs = {key: value for key, value in step.kwargs.items() if key != name}
            yield _with_step(chain, number, replace(step, kwargs=kwargs))
        if len(step.args) > _needed(step.op):
            yield _with_step(chain, number, replace(step, args=step.args[:-1]))


def _needed(op: str) -> int:
    """The number of arguments that a rule cannot do without; a write needs all."""
    if op not in RULES:
        return 9
    parameters = inspect.signature(RULES[op]).parameters.values()
    return sum(one.default is one.empty and one.kind is not one.VAR_KEYWORD for one in parameters)


# ---- components ------------------------------------------------------------------------------------------------------


def _nested(chain: Chain) -> list[tuple[int, Jagged | Strided, Nest]]:
    """Every nested operand, with its number and what it shows."""
    pairs = enumerate(chain.operands)
    return [(i, one, seen(chain.memories[one.memory], one)) for i, one in pairs if not isinstance(one, Dense)]


def _fewer_components(chain: Chain) -> Iterator[Chain]:
    """Without component i of every operand that has as many; dense ones lose their slice too."""
    for count in sorted({x.count for _, _, x in _nested(chain)}, reverse=True):
        for i in range(count - 1, -1, -1):
            less = _without_component(chain, count, i)
            yield _without_slice(less, count, i)
            yield less


def _without_component(chain: Chain, count: int, i: int) -> Chain:
    operands: list[Operand] = list(chain.operands)
    for number, one, x in _nested(chain):
        if x.count != count:
            continue
        offsets = _without(one.offsets, i)
        if isinstance(one, Strided):
            sizes, strides = _without(one.sizes, i), _without(one.strides, i)
            operands[number] = replace(one, sizes=sizes, strides=strides, offsets=offsets)
        else:
            operands[number] = replace(one, offsets=offsets, lengths=_without(lengths_of(one), i))
    return replace(chain, operands=tuple(operands))


def _without_slice(chain: Chain, count: int, i: int) -> Chain:
    for number in {one.memory for one in chain.operands if isinstance(one, Dense)}:
        whole = chain.memories[number].numbers
        alone = all(isinstance(one, Dense) for one in chain.operands if one.memory == number)
        if alone and whole.ndim and whole.shape[0] == count:
            chain = _with_memory(chain, number, replace(chain.memories[number], numbers=np.delete(whole, i, axis=0)))
    return chain


def _shorter(chain: Chain) -> Iterator[Chain]:
    """Components shorter along a dimension: one of them, or all; everywhere alike, or dense operands alone."""
    nested = _nested(chain)
    for dim in range(1, max((x.rank for _, _, x in nested), default=0)):
        having = [(number, x) for number, _, x in nested if x.rank > dim]
        longest = max((max(x.column(dim), default=0) for _, x in having), default=0)
        for i in (None, *range(max(x.count for _, x in having))):
            for keep in sorted({0, 1, longest - 1} - {longest, -1}):
                changed = chain
                for number, x in having:
                    if any(size > keep for k, size in enumerate(x.column(dim)) if i in (None, k)):
                        changed = _with_operand(changed, number, _cut(x, dim, i, keep))
                if changed is not chain:
                    yield from (changed, _cut_dense(changed, longest, keep))
    for size in sorted({n for memory in chain.memories for n in memory.numbers.shape if n > 1}):
        changed = _cut_dense(chain, size, 1)
        if changed is not chain:
            yield changed


def _cut(x: Nest, dim: int, i: int | None, keep: int) -> Nest:
    """Of component i, or of all, the first entries along a dimension; all, if only one may not be cut."""
    if x.layout == "jagged" and x.ragged != dim:
        i = None
    before = (slice(None),) * (dim - 1)
    parts = [one[(*before, slice(keep))] if i in (None, k) else one for k, one in enumerate(x)]
    return x.like(parts, sizes=[keep if d == dim else size for d, size in enumerate(x.shape[1:], 1)])


def _cut_dense(chain: Chain, size: int, keep: int) -> Chain:
    """Only the first entries along all dimensions of dense operands that have this size."""
    nested = {one.memory for one in chain.operands if not isinstance(one, Dense)}
    for number, memory in enumerate(chain.memories):
        if number not in nested and size in memory.numbers.shape:
            cut = tuple(slice(keep) if n == size else slice(None) for n in memory.numbers.shape)
            chain = _with_memory(chain, number, replace(memory, numbers=memory.numbers[cut].copy()))
    return chain


# ---- memory ----------------------------------------------------------------------------------------------------------


def _plainer(chain: Chain) -> Iterator[Chain]:
    """Packed operands, memory in C order, arrays of the target, functions, the usual dtype, no leaves."""
    for number, one, x in _nested(chain):
        if replace(packed(x)[1], memory=one.memory) != one:
            yield _with_operand(chain, number, x)
    for number, memory in enumerate(chain.memories):
        if memory.home:
            yield _with_memory(chain, number, replace(memory, home=False))
        if memory.order != "C":
            yield _with_memory(chain, number, replace(memory, order="C"))
        if memory.numbers.dtype.kind == "f" and memory.numbers.dtype.itemsize < 8:
            yield _with_memory(chain, number, replace(memory, numbers=memory.numbers.astype(np.float64)))
        if memory.leaf:
            yield _with_memory(chain, number, replace(memory, leaf=False))
    for number, operand in enumerate(chain.operands):
        if isinstance(operand, Dense) and operand.spelling != "array":
            plain = replace(operand, spelling="array")
            yield replace(chain, operands=(*chain.operands[:number], plain, *chain.operands[number + 1 :]))
    for number, step in enumerate(chain.steps):
        if step.spelling != "function" and step.op in RULES and not step.writes:
            yield _with_step(chain, number, replace(step, spelling="function"))


def _simpler_numbers(chain: Chain) -> Iterator[Chain]:
    """All zeros, all ones, or one number after the other."""
    for number, memory in enumerate(chain.memories):
        numbers = memory.numbers
        for value in (0, 1):
            if numbers.size and not (numbers == value).all():
                yield _with_memory(chain, number, replace(memory, numbers=np.full_like(numbers, value)))
    for number, memory in enumerate(chain.memories):
        for at in range(min(memory.numbers.size, MANY)):
            yield from (_with_memory(chain, number, one) for one in _with_simpler(memory, at))


def _with_simpler(memory: Memory, at: int) -> Iterator[Memory]:
    """The memory with 0, 1 or 2 in place of one number that is not as simple."""
    old = memory.numbers.reshape(-1)[at]
    for value in (0, 1, 2):
        if old == value:
            return
        numbers = memory.numbers.copy()
        numbers.reshape(-1)[at] = value
        yield replace(memory, numbers=numbers)


# ---- a chain with something else in it -------------------------------------------------------------------------------


def _without(entries: tuple[Any, ...], i: int) -> tuple[Any, ...]:
    return entries[:i] + entries[i + 1 :]


def _with_step(chain: Chain, number: int, step: Call) -> Chain:
    return replace(chain, steps=(*chain.steps[:number], step, *chain.steps[number + 1 :]))


def _with_memory(chain: Chain, number: int, memory: Memory) -> Chain:
    return replace(chain, memories=(*chain.memories[:number], memory, *chain.memories[number + 1 :]))


def _with_operand(chain: Chain, number: int, value: Nest) -> Chain:
    """The chain with a packed operand that shows ``value``, in a memory of its own."""
    leaf = chain.memories[chain.operands[number].memory].leaf
    memory, operand = packed(value)
    operand = replace(operand, memory=len(chain.memories))
    operands = (*chain.operands[:number], operand, *chain.operands[number + 1 :])
    return replace(chain, memories=(*chain.memories, replace(memory, leaf=leaf)), operands=operands)
