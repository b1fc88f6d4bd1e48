"""The gradients in the vectors against a second derivation: the complex step, on the same definitions."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from pynested.spec.compare import Expected
from pynested.spec.corpus import load_vectors
from pynested.spec.definitions import definition
from pynested.spec.encoding import decode_value
from pynested.spec.generator.author import Case
from pynested.spec.generator.build import Run
from pynested.spec.generator.trees import leaves, like
from pynested.spec.generator.write import books
from pynested.spec.table import load_table

from .test_vectors import overflows

STEP = 1e-30
NOT_ANALYTIC = {"abs", "maximum", "minimum"}
OPERATORS = [op for op in load_vectors() if load_table()[op].differentiable and op not in NOT_ANALYTIC]


def expected_values(expected: Any) -> Any:
    """Return value and tolerance of every element of an expected gradient, leaf by leaf."""
    if "list" in expected:
        return [pair for part in expected["list"] for pair in expected_values(part)]
    if "mapping" in expected:
        return [pair for part in expected["mapping"].values() for pair in expected_values(part)]
    if "dense" in expected:
        arrays = [Expected.from_words(expected["dense"])]
    else:
        arrays = [Expected.from_words(expected["nested"], n) for n in range(len(expected["nested"]["shapes"]))]
    return [(one.values.astype(np.float64), 0.0 if one.tol is None else one.tol) for one in arrays]


def stepped(run: Run, name: str, cotangent: list[np.ndarray]) -> list[np.ndarray]:
    """Return the gradient of one operand by a complex step in every element; runs of NaN, 0 / 0, spoil no other."""
    value = run.arguments[name]
    wide = [leaf.astype(np.complex128) if leaf.dtype.kind == "f" else leaf for leaf in leaves(value)]
    gradients = [np.zeros(leaf.shape) for leaf in wide]
    for number, leaf in enumerate(wide):
        step = STEP * np.clip(np.min(np.abs(leaf[leaf != 0]), initial=1), 1e-250, 1)  # small beside every element
        for place in np.ndindex(leaf.shape):
            moved = [one.copy() for one in wide]
            moved[number][place] += step * 1j
            arrays = leaves(run._shaped(run.define(**{**run.arguments, name: like(value, iter(moved))})))
            parts = (np.nansum(array.imag * weight) for array, weight in zip(arrays, cotangent, strict=True))
            gradients[number][place] = sum(parts) / step
    return gradients


def cotangent_of(vector: Mapping[str, Any]) -> list[np.ndarray]:
    return [leaf.astype(np.float64) for leaf in leaves(decode_value(vector["cotangent"]))]


@pytest.mark.parametrize("every", [16, pytest.param(8, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("op", OPERATORS)
def test_gradients_are_complex_steps(op: str, every: int) -> None:
    vectors = {vector["id"]: vector for vector in load_vectors()[op]}
    cases = [case for _, book in books(op) for case in book.cases[:: every if book.part == "axes" else 1]]
    checked = sum(check(case, vectors[case.id]) for case in cases if case.gradient == "auto" and case.error is None)
    assert checked > 0


def check(case: Case, vector: Mapping[str, Any]) -> int:
    with np.errstate(all="ignore"):
        if "gradient" not in vector or case.cotangent is not None or overflows(vector["expect"]):
            return 0
        run, cotangent = Run(case), cotangent_of(vector)
        finite = all(np.isfinite(leaf).all() for leaf in cotangent)  # no step tells 0 times NaN from nothing at all
        if case.result is not None or not finite:
            return 0
        names = list(run.arguments)[: len(case.args)]
        entries = dict(zip(names, vector["gradient"], strict=True)) | vector.get("gradient_kwargs", {})
        for name, expected in entries.items():
            if expected is not None:
                compare_leaves(case.id, stepped(run, name, cotangent), expected_values(expected))
    return 1


def compare_leaves(id_: str, mine: list[np.ndarray], theirs: Any) -> None:
    assert len(mine) == len(theirs), id_
    for gradient, (value, tolerance) in zip(mine, theirs, strict=True):
        scale = 1 + np.nanmax(np.abs(value), initial=0.0)
        near = np.abs(gradient - value) <= np.maximum(tolerance, 1e-12 * scale)
        near |= np.isinf(value) & (np.sign(gradient) == np.sign(value)) & (np.abs(gradient) > 1e15)  # beside a pole
        assert np.all(near | ((gradient == 0) & np.isnan(value))), (id_, gradient, value)


def test_every_differentiable_operator_has_gradients() -> None:
    for op in OPERATORS:
        listed = set(load_table()[op].differentiable)
        assert listed <= {name for vector in load_vectors()[op] for name in gradient_names(op, vector)}, op


def gradient_names(op: str, vector: Mapping[str, Any]) -> set[str]:
    names = zip(inspect.signature(definition(op)).parameters, vector.get("gradient", []), strict=False)
    return {name for name, entry in names if entry is not None} | set(vector.get("gradient_kwargs", {}))
