"""The vectors accept the definitions, rounded once, and reject definitions with one mistake in them."""

from __future__ import annotations

import functools
import json
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pynested import spec
from pynested.spec import calling, compare, decode_value, load_vectors
from pynested.spec.components import left_align
from pynested.spec.corpus import Case as Vector
from pynested.spec.corpus import read_vectors
from pynested.spec.definitions import definition
from pynested.spec.encoding import Components
from pynested.spec.generator.author import Case
from pynested.spec.generator.build import Run
from pynested.spec.generator.trees import as_dtype
from pynested.spec.table import load_table

Define = Callable[..., Any]
SEVERAL = ("chunk", "unbind")


def accepted(op: str) -> list[Vector]:
    """Return the cases with a result that the definition has in float64 too."""
    vectors = [vector for vector in load_vectors()[op] if "error" not in vector["expect"]]
    return [vector for vector in vectors if not overflows(vector["expect"])]


def overflows(expect: dict[str, Any]) -> bool:
    """Return whether the definition, run in float64, adds up more than any float64."""
    words = expect.get("nested") or expect.get("dense") or {}
    return "open" in words and words["dtype"] == "float64"


def answer(op: str, vector: Vector) -> Any:
    """Return the result of the definition in float64, rounded once to the dtype of the expectation."""
    args = tuple(decode_value(value) for value in vector["args"])
    kwargs = {name: decode_value(value) for name, value in vector["kwargs"].items()}
    case = Case(op, vector["id"], (), args, kwargs, (), several=op in SEVERAL)
    with np.errstate(all="ignore"):
        result = Run(case).result
        first = next(iter(vector["expect"].get("list", ())), vector["expect"])
        expected = first.get("nested") or first.get("dense") or {}
        if not expected:
            return result
        return as_dtype(result, expected["dtype"])


def refused(op: str) -> list[str]:
    """Return the ids of the cases whose expectation the definition does not meet."""
    return [vector["id"] for vector in accepted(op) if compare(answer(op, vector), vector["expect"]) is not None]


@pytest.mark.parametrize("op", [one.name for one in load_table().values() if not one.is_idea and one.name != "dropout"])
def test_the_definitions_meet_the_vectors(op: str) -> None:
    assert refused(op) == []


def test_dropout_meets_its_certain_vectors() -> None:
    certain = [vector for vector in accepted("dropout") if "DROPOUT-8" not in vector["clauses"]]
    assert [one["id"] for one in certain if compare(answer("dropout", one), one["expect"]) is not None] == []


def on_components(change: Callable[[Any], Any], define: Define) -> Define:
    """Return the definition applied to changed components, with the signature that it has."""

    @functools.wraps(define)
    def wrong(self: Any, **kwargs: Any) -> Any:
        return define(changed(self, change), **kwargs)

    return wrong


def changed(self: Components, change: Callable[[Any], Any]) -> Components:
    """Return changed components, whatever their shapes have become."""
    return Components(change(self), (len(self), *[None] * (len(self.shape) - 1)), self.dtype)


def forget_the_last_row(define: Define) -> Define:
    return on_components(lambda self: [x[:-1] if len(x) > 1 else x for x in self], define)


def leak_the_neighbour(define: Define) -> Define:
    def leaked(self: Any) -> Any:
        return [np.concatenate([x, y[:1]]) if len(x) else x for x, y in zip(self, [*self[1:], *self[:1]], strict=True)]

    return on_components(leaked, define)


def swallow_nan(define: Define) -> Define:
    return on_components(lambda self: [np.nan_to_num(x, nan=0.0) for x in self], define)


def in_float16(define: Define) -> Define:
    return on_components(lambda self: [x.astype("float16") if x.dtype.kind == "f" else x for x in self], define)


def mean_of_means(define: Define) -> Define:
    def wrong(self: Any, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
        if dim is None:
            return np.mean([np.mean(x) if x.size else 0.0 for x in self] or [np.nan])
        return define(self, dim, keepdim, dtype)

    return wrong


def count_the_absent(define: Define) -> Define:
    def wrong(self: Any, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
        if dim == 0:
            with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
                return left_align(self)[0].mean(axis=0, keepdims=keepdim)
        return define(self, dim, keepdim, dtype)

    return wrong


def pad_with_zero(define: Define) -> Define:
    def wrong(self: Any, dim: Any = None, keepdim: bool = False) -> Any:
        return left_align(self)[0].max(axis=0) if dim == 0 else define(self, dim, keepdim)

    return wrong


def without_shift(define: Define) -> Define:
    def wrong(self: Any, dim: int, dtype: Any = None) -> Any:
        powers = [np.exp(x) for x in self]
        return changed(self, lambda _: [one / one.sum(axis=dim - 1, keepdims=True) for one in powers])

    return wrong


def unbiased(define: Define) -> Define:
    def wrong(self: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
        n = np.prod(normalized_shape)
        wider = changed(self, lambda x: [one * np.sqrt((n - 1) / n) if n > 1 else one for one in x])
        return define(wider, normalized_shape, weight, bias, eps)

    return wrong


def other_default(define: Define) -> Define:
    def wrong(self: Any, *args: Any, approximate: str = "tanh") -> Any:
        return define(self, *args, approximate)

    return wrong


def from_the_front(define: Define) -> Define:
    return lambda self, dim, index: define(self, dim, abs(index))


def ignore_weights(define: Define) -> Define:
    def wrong(self: Any, target: Any, weight: Any = None, **kwargs: Any) -> Any:
        return define(self, target, None, **kwargs)

    return wrong


MISTAKES: list[tuple[str, Callable[[Define], Define]]] = [
    ("sum", forget_the_last_row),
    ("sum", leak_the_neighbour),
    ("sum", swallow_nan),
    ("sum", in_float16),
    ("mean", forget_the_last_row),
    ("mean", mean_of_means),
    ("mean", count_the_absent),
    ("amax", leak_the_neighbour),
    ("amax", swallow_nan),
    ("amax", pad_with_zero),
    ("softmax", leak_the_neighbour),
    ("softmax", without_shift),
    ("softmax", swallow_nan),
    ("softmax", in_float16),
    ("layer_norm", unbiased),
    ("layer_norm", in_float16),
    ("gelu", other_default),
    ("exp", in_float16),
    ("select", from_the_front),
    ("cross_entropy", ignore_weights),
    ("matmul", forget_the_last_row),
]


@pytest.mark.parametrize(("op", "mistake"), MISTAKES, ids=[f"{op}-{mistake.__name__}" for op, mistake in MISTAKES])
def test_one_mistake_is_rejected(op: str, mistake: Callable[[Define], Define], monkeypatch: pytest.MonkeyPatch) -> None:
    right = definition(op)
    monkeypatch.setattr(calling, "definition", lambda name: mistake(right) if name == op else definition(name))
    outcomes = [_outcome(op, vector) for vector in accepted(op)]
    assert any(outcome is not None for outcome in outcomes)


def _outcome(op: str, vector: Vector) -> Any:
    try:
        return compare(answer(op, vector), vector["expect"])
    except (ValueError, IndexError) as problem:
        return problem


def test_the_example_in_the_readme_is_a_case() -> None:
    text = (Path(spec.__file__).parent / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    case = json.loads(example)
    assert case in load_vectors()[case["id"].partition("/")[0]]


def test_a_truncated_file_is_refused(tmp_path: Any) -> None:
    folder = tmp_path / "reduction"
    folder.mkdir()
    header = '{"format":"pynested-vectors/2","spec":"0.1","op":"sum","count":2,"cases":[]}'
    (folder / "sum.json").write_text(header, encoding="utf-8")
    with pytest.raises(ValueError, match="announces 2 cases"):
        read_vectors(tmp_path)
    (folder / "sum.json").write_text(header.replace("/2", "/3"), encoding="utf-8")
    with pytest.raises(ValueError, match="format"):
        read_vectors(tmp_path)
    (folder / "sum.json").rename(folder / "mean.json")
    (folder / "mean.json").write_text(header, encoding="utf-8")
    with pytest.raises(ValueError, match="cases of sum"):
        read_vectors(tmp_path)
