"""A miniature implementation of `sum` over dimension 1 that is right, and a family of ones that are wrong in one way.

Run as a program it is an adapter: `python miniature.py NAME` answers on stdin and stdout.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pynested.conformance.adapters.base import Operand, Place, PythonAdapter, Target
from pynested.conformance.adapters.serve import serve
from pynested.conformance.placements import Jagged, place_jagged, place_strided
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


class RefusesAsNotImplemented(Right):
    def refuse(self, dim: int) -> None:
        raise NotImplementedError("no kernel for this dim")


class BrokenAdapter(Right):
    def other(self, value: Any) -> Any:
        raise ZeroDivisionError("a bug in the adapter")


class Crashes(Right):
    def one(self, number: int) -> Any:
        if np.isinf(self.x.components[number]).any():
            sys.stderr.write("about to die\n")
            sys.stderr.flush()
            os.abort()
        return super().one(number)


class Found(Right):
    """Is ended by a sanitizer, which names its finding in the middle of what it says."""

    def one(self, number: int) -> Any:
        sys.stderr.write("#0 in sum\nSUMMARY: ASan: overflow sum.c:12 in sum\nShadow bytes\n" + "00 00\n" * 40)
        sys.stderr.flush()
        os._exit(1)


class Hangs(Right):
    def one(self, number: int) -> Any:
        if np.isinf(self.x.components[number]).any():
            time.sleep(60)
        return super().one(number)


class CrashesLater(Right):
    """Damages the process in one call and dies in another, as a write outside an array does."""

    damaged = False

    def call(self, op: str, layout: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        if self.damaged:
            os._exit(7)
        self.damaged = any(np.isinf(one).any() for one in args[0].components)
        return super().call(op, layout, args, kwargs)


def garble(name: str) -> None:
    """Answer the start message as an adapter should and every other one with what is not a reply to it."""
    for line in sys.stdin:
        if json.loads(line)["cmd"] == "start":
            reply: dict[str, Any] | None = {"protocol": 1, "name": name, "version": "0"}
        else:
            reply = {"seq": -1, "missing": "x"} if name == "WrongSeq" else None
        print("Welcome to Garbage!" if reply is None else json.dumps(reply), flush=True)


def main() -> None:
    name = sys.argv[1]
    if name in ("Garbage", "WrongSeq"):
        garble(name)
    elif name == "Absent":
        sys.stdin.readline()
        print(json.dumps({"protocol": 1, "unavailable": "there is no Absent here"}), flush=True)
    elif name == "DiesAtStart":
        sys.exit("cannot find my library")
    else:
        serve(PythonAdapter(globals()[name]()))


if __name__ == "__main__":
    main()
