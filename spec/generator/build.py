"""From an authored case to its vector: run the definition exactly, round once, write words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..bounds import NO_TOLERANCE, tolerance
from ..calling import called
from ..components import Components, parts_of, stacked
from ..composed_bounds import COMPOSED
from ..encoding import Index, encode_value
from ..numerics import NDArray
from ..overflow import overflowing
from ..pairs import PAIRS
from ..table import load_table
from .author import Case
from .exact import exactly, lift
from .gradient import gradient_fields
from .trees import as_dtype, leaves, like
from .words import bound_fields, exact_fields

__all__ = ["bound", "build"]

_PROMOTING = (
    "add", "sub", "mul", "div", "maximum", "minimum", "clamp", *PAIRS, "where", "matmul", "bmm", "linear", "cat",
    "stack", "scaled_dot_product_attention", "flex_attention", *COMPOSED,
)  # fmt: skip


def build(case: Case) -> dict[str, Any]:
    """Return the vector of a case."""
    vector: dict[str, Any] = {"id": case.id, "clauses": list(case.clauses), "layouts": list(case.layouts)}
    if case.placements:
        vector["placements"] = list(case.placements)
    vector["args"] = [encode_value(argument) for argument in case.args]
    vector["kwargs"] = {name: encode_value(value) for name, value in case.kwargs.items()}
    if case.error is not None:
        return {**vector, "expect": {"error": {"kind": case.error}}, "near": case.near}
    with np.errstate(all="ignore"):
        return {**vector, **_expectation(case)}


def _expectation(case: Case) -> dict[str, Any]:
    run = Run(case)
    if isinstance(run.result, (bool, str, tuple)):
        return {"expect": {"python": encode_value(run.result)}}
    fields = {"expect": run.expectation()}
    if isinstance(case.kind, dict):
        fields["expect"]["kind"] = case.kind
    if run.is_float and (run.exact is not None if case.gradient == "auto" else case.gradient is not None):
        fields |= gradient_fields(case, run.arguments, run.result, run.exact, run.dtype)
    return fields


class Run:
    """The definition of a case, run in float64 for signs and special values and, once asked, in exact numbers."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.define, self.arguments = bound(case)
        self.result = self._shaped(self.define(**self.arguments) if case.result is None else case.result)
        self.dtype = case.dtype or self._dtype()
        self.is_float = np.dtype(self.dtype).kind == "f"
        self._found: dict[str, Any] = {}

    def _shaped(self, result: Any) -> Any:
        """Return the result as Components, one array, or a list of these, as the case says."""
        if isinstance(result, Components):
            return stacked(result) if self.case.kind == "dense" else result
        return result if isinstance(result, (bool, list)) else np.asarray(result)

    def _dtype(self) -> str:
        """Return the dtype of the definition, but of the operands where that is only wide."""
        given = _dtypes(self.case.result)
        if given:
            return str(given[0])
        computed = next(iter(_dtypes(self.result)), None)
        dtypes = [dtype for value in self.arguments.values() for dtype in _dtypes(value)]
        floats = [dtype for dtype in dtypes if dtype.kind == "f"]
        if computed is not None and (computed != np.float64 or not floats):
            return str(computed)
        return str(np.result_type(*dtypes) if self.case.op in _PROMOTING else (floats or dtypes)[0])

    @property
    def exact(self) -> Any:
        """The result in exact numbers that know their slopes, or None where there is no float to be exact."""
        return self._once("exact", self._find_exact)

    @property
    def unshaped(self) -> Any:
        """What the definition gives of exact numbers."""
        return self._once("unshaped", self._find_unshaped)

    def _once(self, name: str, find: Callable[[], Any]) -> Any:
        if name not in self._found:
            self._found[name] = find()
        return self._found[name]

    def _find_exact(self) -> Any:
        if not self.is_float:
            return None
        if self.case.result is not None:
            return None if any(leaf.size for leaf in leaves(self.result)) else self.result
        return self._shaped(self.unshaped)

    def _find_unshaped(self) -> Any:
        first, lifted = 0, dict(self.arguments)
        differentiable = () if self.case.gradient is None else load_table()[self.case.op].differentiable
        for name, value in self.arguments.items():
            if not any(leaf.dtype.kind == "f" for leaf in leaves(value)):
                continue
            lifted[name], first = _lifted(value, first if name in differentiable else None, first)
        return self.define(**lifted)

    def expectation(self) -> dict[str, Any]:
        """Return the `expect` entry."""
        if self.case.cmp == "exact":
            strict = load_table()[self.case.op].precision not in NO_TOLERANCE
            return exact_fields(
                self.result,
                self.exact if self.case.result is None else None,
                self.dtype,
                strict=strict,
                zeros=self.case.zeros,
                open_places=self.case.unspecified,
            )
        precision = load_table()[self.case.op].precision
        of_call = precision, self.define, exactly(self.arguments), self.unshaped, self.dtype
        allowed, open_places = self._shaped(tolerance(*of_call)), self._shaped(overflowing(*of_call))
        return bound_fields(self.result, self.exact, allowed, self.dtype, open_places)


def _dtypes(value: Any) -> list[np.dtype[Any]]:
    if isinstance(value, (Components, np.ndarray)):
        return [value.dtype]
    return [dtype for part in parts_of(value) for dtype in _dtypes(part)]


def _lifted(value: Any, number: int | None, first: int) -> tuple[Any, int]:
    arrays: list[NDArray] = []
    for leaf in leaves(value):
        if leaf.dtype.kind != "f":
            arrays.append(leaf)
            continue
        arrays.append(lift(leaf, None if number is None else first))
        first += leaf.size
    return like(value, iter(arrays)), first


def bound(case: Case) -> tuple[Callable[..., Any], dict[str, Any]]:
    """Return the definition and its arguments by name, operands in the dtype that the call asks for."""
    args = [argument.items if isinstance(argument, Index) else argument for argument in case.args]
    define, arguments = called(case.op, args, case.kwargs)
    dtype = case.kwargs.get("dtype")
    return define, arguments if dtype is None else {name: as_dtype(one, dtype) for name, one in arguments.items()}
