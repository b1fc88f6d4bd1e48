"""The elementwise kind of rule: partial derivatives given as expressions of the output and the inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

import numpy as np

from pynested.backends.memory import LARGE, empty
from pynested.backends.numpy.running import run

from ...array import Array, zeros_like
from ...numbers import refused_operand
from ...tape import ANOMALY, Line, state
from ..rule import Rule, Samples, Verb, bound, fused_on_device, same_device

Expression = Callable[..., Any]
BLOCK_BYTES = LARGE // 2  # of one operand: those of a block and its temporaries stay in the second-level cache


class Pull:
    """A partial derivative that says itself what becomes of the cotangent: ``pull(g, y, *inputs)``."""

    def __init__(self, pull: Expression) -> None:
        self.pull = pull


def per(divisor: Expression) -> Pull:
    """1 over ``divisor``: the cotangent is divided by it, and rounded once."""
    return Pull(lambda g, y, *inputs: g / divisor(y, *inputs))


Partial = Expression | Pull | int


class Elementwise(Rule):
    """``partials[i](y, *inputs)`` is the derivative of the output with respect to input ``i``; an int is a constant.

    ``saves`` names what each partial looks at, in the order of the inputs and separated by ``|``: ``y`` the output,
    ``a``, ``b`` the inputs; only what somebody will look at is saved. ``fused(k, g, y, x)`` pulls to the one input of a
    rule with a single kernel of the backend ``k``, where nobody wants to differentiate the pass itself.
    """

    broadcasts = True

    def __init__(
        self,
        name: str,
        verb: Verb,
        saves: str,
        *partials: Partial,
        samples: Samples,
        fused: Expression | None = None,
    ) -> None:
        super().__init__(name, verb, len(partials), saves, samples)
        self.partials = [_applied(partial) for partial in partials]
        self.fused = fused
        self.fused_on_cpu = None if fused is None else bound(fused, "cpu")
        looks = [*saves.split("|"), ""]
        self.looks = {(True,): looks[0], (True, False): looks[0], (False, True): looks[1], (True, True): saves}
        self.looks[False, False] = self.looks[False,] = ""

    @overload
    def __call__(self, a: Array, b: Any = None, /) -> Array: ...
    @overload
    def __call__(self, a: Any, b: Any = None, /) -> Any: ...
    def __call__(self, a: Any, b: Any = None, /) -> Any:
        """Compute, and write a line if a gradient is wanted."""
        return self._one(a) if self.arity == 1 else self._two(a, b)

    def _one(self, a: Any) -> Any:
        if type(a) is not Array:
            return self.compute(a)
        device = a.storage.device
        compute = self.compute if device == "cpu" else bound(self.verb, device)
        result = Array(compute(a._bare), device)
        if a.tracked and state.mode:
            self._write(result, (a,), (a.line or a.stand_in(),), self.looks[True,])
        return result

    def _two(self, a: Any, b: Any) -> Any:
        left = right = None
        device = None
        x, y = a, b
        if type(a) is Array:
            x, device = a._bare, a.storage.device
            if a.tracked:
                left = a.line or a.stand_in()
        if type(b) is Array:
            y = b._bare
            if device is None:
                device = b.storage.device
            elif b.storage.device != device:
                same_device(self.name, (a, b))
            if b.tracked:
                right = b.line or b.stand_in()
        if device is None:
            return self.compute(a, b)
        compute = self.compute if device == "cpu" else bound(self.verb, device)
        try:
            output = compute(x, y)
        except OverflowError:
            raise refused_operand(self.name, a, b) from None
        result = Array(output, device)
        if (left is not None or right is not None) and state.mode:
            self._write(result, (a, b), (left, right), self.looks[left is not None, right is not None])
        return result

    def _write(self, result: Array, operands: tuple[Any, ...], sources: tuple[Any, ...], saves: str) -> None:
        """Record ``result`` on a fast path: this is what tiny operations spend their time on."""
        data = result._bare
        line = Line(self, sources, (), data.shape, data.dtype)
        if self.saves_inputs:
            saved: list[Any] = [None] * len(operands)
            line.inputs = saved
            for i, operand in enumerate(operands):
                if "ab"[i] not in saves:
                    continue
                if type(operand) is Array:
                    source = sources[i]
                    saved[i] = source if type(source) is Array else operand
                    line.version += operand.storage.version
                else:
                    saved[i] = operand
        if "y" in saves:
            line.output = Array(data, result.storage.device, result.storage)
        if state.mode == ANOMALY:
            line.save(line.inputs, line.output)
        result.line = line
        result.tracked = True

    def cotangents(self, line: Line, cotangent: Any, inputs: Any, output: Any, needed: set[Any] | None) -> Any:
        """The cotangent times each of the wanted partial derivatives."""
        pulled: list[Any] = []
        for partial, source in zip(self.partials, line.sources, strict=True):
            if source is None or (needed is not None and source not in needed):
                pulled.append(None)
            elif partial == 0:
                pulled.append(zeros_like(cotangent))
            elif partial == 1:
                pulled.append(cotangent)
            elif type(cotangent) is Array:
                if self.fused is None or state.mode:
                    pulled.append(partial(cotangent, output, *inputs))
                else:
                    pulled.append(fused_on_device(self.fused, cotangent, output, *inputs))
            elif self.fused_on_cpu is not None:
                pulled.append(self.fused_on_cpu(cotangent, output, *inputs))
            else:
                pulled.append(_blockwise(partial, cotangent, output, inputs))
        return pulled

    def push(self, line: Line, tangents: list[Any]) -> Any:
        """The sum of the tangents times the partial derivatives."""
        inputs, output = line.saved()
        recorded = Array.made_by(line, output) if output is not None else None
        inputs = inputs or (None,) * len(tangents)
        total = None
        for partial, tangent in zip(self.partials, tangents, strict=True):
            if tangent is None or partial == 0:
                continue
            term = tangent if partial == 1 else partial(tangent, recorded, *inputs)
            total = term if total is None else total + term
        return None if total is None else total.to(line.dtype).broadcast_to(line.shape)


def _applied(partial: Partial) -> Any:
    """``partial`` as a function of the cotangent, the output and the inputs; 0 and 1 stay."""
    if partial in (0, 1):
        return partial
    if partial == -1:
        return lambda g, y, *inputs: -g
    if isinstance(partial, Pull):
        return partial.pull
    expression: Any = partial
    return lambda g, y, *inputs: g * expression(y, *inputs)


def _blockwise(pull: Expression, cotangent: Any, output: Any, inputs: Any) -> Any:
    """``pull``; block by block, on all threads, where everything is large, contiguous and of one shape."""
    if cotangent.nbytes < 2 * BLOCK_BYTES:
        return pull(cotangent, output, *inputs)
    operands = (cotangent, output, *inputs)
    arrays = [x for x in operands if isinstance(x, np.ndarray)]
    if any(x.shape != cotangent.shape or not x.flags.c_contiguous for x in arrays):
        return pull(cotangent, output, *inputs)
    flat = [x.reshape(-1) if isinstance(x, np.ndarray) else x for x in operands]
    result = empty((cotangent.size,), np.result_type(*arrays))
    step = BLOCK_BYTES // cotangent.itemsize

    def work(start: int) -> None:
        block = [x[start : start + step] if isinstance(x, np.ndarray) else x for x in flat]
        result[start : start + step] = pull(*block)

    run(work, [(start,) for start in range(0, result.size, step)], result.nbytes)
    return result.reshape(cotangent.shape)
