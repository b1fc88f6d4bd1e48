"""A miniature implementation of `sum` over dimension 1 that is right, and a family of ones that are wrong in one way.

Run as a program it is an adapter: `python miniature.py NAME` answers on stdin and stdout.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pynested.conformance.adapters.base import Operand, Place, PythonAdapter, Target
from pynested.conformance.adapters.serve import serve
from pynested.conformance.placements import PACKED, Jagged, place_jagged, place_strided
from pynested.spec.encoding import Components


class DimensionError(IndexError):
    pass


@dataclass
class Nested:
    stored: Any
    components: Components
    gradient: Components | None = None


class Right(Target):
    """Sums each component where it lies in memory."""

    def identity(self, device: str) -> dict[str, Any]:
        return {"name": type(self).__name__, "version": "0", "device": device}

    def operand(self, value: Any, place: Place, tracked: bool) -> Operand:
        stored = (place_jagged if place.layout == "jagged" else place_strided)(value, place.placement)
        nested = Nested(stored, value)
        return Operand(nested, lambda: nested.gradient)

    def other(self, value: Any) -> Any:
        return value

    def call(self, op: str, layout: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        self.x, dim = args
        if dim != 1:
            self.refuse(dim)
        self.sums = [self.one(number) for number in range(len(self.x.components))]
        if layout == "jagged":
            return np.stack(self.sums)
        return Components(self.sums)

    def refuse(self, dim: int) -> None:
        raise DimensionError(f"dim {dim}")

    def one(self, number: int) -> Any:
        return self.rows(number).sum(axis=0, dtype=self.x.components.dtype)

    def rows(self, number: int) -> Any:
        stored = self.x.stored
        if isinstance(stored, Jagged):
            start, length = stored.offsets[number], len(self.x.components[number])
            return stored.values[start : start + length]
        step = stored.buffer.itemsize
        view = stored.buffer[stored.offsets[number] :]
        return np.lib.stride_tricks.as_strided(view, stored.sizes[number], stored.strides[number] * step)

    def read(self, result: Any) -> Any:
        return result

    def backward(self, results: Sequence[Any], cotangents: Sequence[Any]) -> None:
        shapes = [component.shape for component in self.x.components]
        pulled = [np.broadcast_to(one, shape) for one, shape in zip(cotangents[0], shapes, strict=True)]
        self.x.gradient = Components(pulled, dtype=np.float32)


class Noisy(Right):
    def call(self, op: str, layout: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        print("a word on stdout")
        print("a warning " * 50, file=sys.stderr)
        return super().call(op, layout, args, kwargs)


class DropsRow(Right):
    def rows(self, number: int) -> Any:
        return super().rows(number)[:-1]


class PackedAndWrong(DropsRow):
    def identity(self, device: str) -> dict[str, Any]:
        return {**super().identity(device), "capabilities": {"placements": [PACKED]}}


class CannotHold(Right):
    """Has no empty components: those of an operand are one row of zeros. And it sums what it holds wrongly."""

    reads_operands = True

    def operand(self, value: Any, place: Place, tracked: bool) -> Operand:
        parts = [one if len(one) else np.zeros((1, *one.shape[1:]), one.dtype) for one in value]
        return super().operand(Components(parts), place, tracked)

    def read(self, result: Any) -> Any:
        return result.components if isinstance(result, Nested) else result

    def one(self, number: int) -> Any:
        return super().one(number) + np.float32(1)


class CannotRead(CannotHold):
    def read(self, result: Any) -> Any:
        if isinstance(result, Nested) and not all(map(len, result.stored_as)):
            raise ValueError("an empty component")
        return super().read(result)

    def operand(self, value: Any, place: Place, tracked: bool) -> Operand:
        built = super().operand(value, place, tracked)
        built.value.stored_as = value
        return built


class LeaksNeighbour(Right):
    """Ignores lengths: a component ends where the next one begins, poison included."""

    def rows(self, number: int) -> Any:
        stored = self.x.stored
        if isinstance(stored, Jagged):
            return stored.values[stored.offsets[number] : stored.offsets[number + 1]]
        return super().rows(number)


class IgnoresCotangent(Right):
    def backward(self, results: Sequence[Any], cotangents: Sequence[Any]) -> None:
        ones = Components([np.ones_like(one) for one in cotangents[0]])
        super().backward(results, [ones])


class NoGradient(Right):
    def backward(self, results: Sequence[Any], cotangents: Sequence[Any]) -> None:
        pass


class RefusesGradient(Right):
    def backward(self, results: Sequence[Any], cotangents: Sequence[Any]) -> None:
        raise RuntimeError("no backward today")


class WrongDType(Right):
    def one(self, number: int) -> Any:
        return super().one(number).astype(np.float64)


class UnknownDType(Right):
    def one(self, number: int) -> Any:
        return super().one(number).astype(np.complex64)


class WrongShape(Right):
    def one(self, number: int) -> Any:
        return super().one(number)[None]


class WrongKind(Right):
    def call(self, op: str, layout: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        return np.stack(list(super().call(op, layout, args, kwargs)))


class WrongErrorKind(Right):
    def refuse(self, dim: int) -> None:
        raise KeyError(dim)


class AcceptsBad(Right):
    def refuse(self, dim: int) -> None:
        return None


class Refuses(Right):
    def rows(self, number: int) -> Any:
        raise ValueError("not with me")


class NotImplemented(Right):
    def call(self, op: str, layout: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        raise NotImplementedError("no kernel")


class PackedOnly(Right):
    """Cannot lay components out in any other way, and says so."""

    def operand(self, value: Any, place: Place, tracked: bool) -> Operand:
        if place.placement != PACKED:
            raise NotImplementedError("only packed components")
        return super().operand(value, place, tracked)


class RefusesAsNotImplemented(Right):
    def refuse(self, dim: int) -> None:
        raise NotImplementedError("no kernel for this dim")


def unwritten() -> int:
    """Return a byte of new memory, which nobody wrote."""
    malloc = ctypes.CDLL(None).malloc
    malloc.restype = ctypes.c_void_p
    return int.from_bytes((ctypes.c_char * 4096).from_address(malloc(4096))[2048])


class Unwritten(Right):
    def one(self, number: int) -> Any:
        return super().one(number) + np.float32(1 + unwritten())


class UnwrittenRefuses(Right):
    def one(self, number: int) -> Any:
        if unwritten():
            raise ValueError("out of bounds")
        return super().one(number)


class UnwrittenCrashes(Right):
    def one(self, number: int) -> Any:
        if unwritten():
            os.abort()
        return super().one(number)


class WritesFirst(Right):
    def one(self, number: int) -> Any:
        return super().one(number) + np.float32(1)


class AlwaysCrashes(Right):
    def one(self, number: int) -> Any:
        os.abort()


class SpeaksAndCrashes(Right):
    """Says something as it ends, without the end of a line."""

    stream = "stdout"

    def one(self, number: int) -> Any:
        print("about to sum", end="", file=getattr(sys, self.stream))
        os.abort()


class SpeaksOnStderrAndCrashes(SpeaksAndCrashes):
    stream = "stderr"


class SpoiltByEarlierCalls(Right):
    asked = 0

    def call(self, *arguments: Any) -> Any:
        self.asked += 1
        return super().call(*arguments)

    def one(self, number: int) -> Any:
        spoilt = self.asked > 1 and os.environ.get("MALLOC_PERTURB_") == "165"  # in one of the processes asked again
        return super().one(number) + np.float32(0 if spoilt else 1)


class BrokenAdapter(Right):
    def other(self, value: Any) -> Any:
        raise ZeroDivisionError("a bug in the adapter")


def main() -> None:
    serve(PythonAdapter(globals()[sys.argv[1]]()))


if __name__ == "__main__":
    main()
