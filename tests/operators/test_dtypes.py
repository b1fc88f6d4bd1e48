"""The dtype of every result, of dense arrays and in both layouts: that of NumPy's function, or what a table says."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import DTypeError
from pynested.numpy_protocol import OPERATOR_NAMES
from pynested.spec.pairs import PAIRS

from ..nests import LAYOUTS

DTYPES = ("bool", "int8", "uint8", "int16", "int32", "int64", "float16", "float32", "float64")
FLOATS = DTYPES[6:]
NUMBERS = (True, 1, 1.5, np.int8(1), np.int64(1), np.float16(1), np.float32(1), np.float64(1))
FORMS: dict[str, Callable[[Any], Any]] = {
    "dense": pn.array,
    **{layout.name: lambda x, layout=layout: pn.nested_array([x, x[:1]], layout=layout) for layout in LAYOUTS},
}
REFUSED, SAME = "refused", "same"
SUMS = ("sum", "prod", "nansum", "cumsum")
# The dtypes of results for bools, integers and floats, of functions that NumPy has not or has otherwise.
RULES: dict[str, tuple[str, str, str]] = {
    **dict.fromkeys(("ceil", "floor", "round", "trunc", "square", "relu", "sgn"), (REFUSED, SAME, SAME)),
    **dict.fromkeys(("gelu", "silu", "softmax", "softmin", "log_softmax", "dropout"), (REFUSED, REFUSED, SAME)),
    **dict.fromkeys(SUMS, ("int64", "int64", SAME)),
    **dict.fromkeys(("mean", "nanmean", "var", "std", "logsumexp", "reciprocal"), ("float64", "float64", SAME)),
    **dict.fromkeys(("amax", "amin", "clone", "contiguous", "unsqueeze"), (SAME, SAME, SAME)),
    **dict.fromkeys(("argmax", "argmin"), ("int64", "int64", "int64")),
    **dict.fromkeys(("any", "all"), ("bool", "bool", "bool")),
}
ALONG_A_DIMENSION = ("softmax", "softmin", "log_softmax", "cumsum", "argmax", "argmin", "unsqueeze")
UFUNCS = {name: ufunc for ufunc, name in OPERATOR_NAMES.items()}
UFUNCS |= dict.fromkeys(("erf", "erfc", "rsqrt", "sigmoid"), np.exp)  # which NumPy lacks
# Functions that take the dtypes of NumPy's function, and have results of the same dtypes.
REFUSING_INTEGERS = {pair.name for pair in PAIRS.values() for refusal in pair.refused if refusal.group == "integers"}
LIKE_NUMPY = [name for name in UFUNCS if name not in RULES and name != "matmul"]
WITH_DTYPE = (*SUMS, "mean", "nanmean", "softmax", "softmin", "log_softmax")
# Functions of two operands whose result has the dtype to which NumPy promotes these.
PROMOTING: dict[str, Callable[[Any, Any], Any]] = {
    "where": lambda a, b: pn.where(a == a, a, b), "clamp": lambda a, b: pn.clamp(a, b),
    "cat": lambda a, b: pn.cat([a, b]), "stack": lambda a, b: pn.stack([a, b], -1),
    "matmul": lambda a, b: pn.matmul(pn.unsqueeze(a, -1), pn.unsqueeze(b, -2)),
}  # fmt: skip


def dtype_of(function: Callable[..., Any], *operands: Any, **options: Any) -> Any:
    """Return the dtype of the result, or REFUSED."""
    try:
        return function(*operands, **options).dtype
    except DTypeError:
        return REFUSED


def due(name: str, *operands: Any) -> Any:
    """Return the dtype of NumPy's function of these operands, or REFUSED."""
    kinds = {np.asarray(operand).dtype.kind for operand in operands}
    is_quotient = name in ("floor_divide", "remainder", "pow")  # which NumPy takes of bools too
    if (is_quotient and kinds == {"b"}) or (name in REFUSING_INTEGERS and "f" not in kinds):
        return REFUSED
    try:
        with np.errstate(all="ignore"):
            return UFUNCS[name](*operands).dtype
    except TypeError:
        return REFUSED


@pytest.mark.parametrize("name", LIKE_NUMPY)
def test_arrays_as_in_numpy(name: str) -> None:
    for new, kinds in product(FORMS.values(), product(DTYPES, repeat=UFUNCS[name].nin)):
        arrays = [np.ones(2, kind) for kind in kinds]
        assert dtype_of(getattr(pn, name), *map(new, arrays)) == due(name, *arrays), kinds


@pytest.mark.parametrize("name", [name for name in LIKE_NUMPY if UFUNCS[name].nin == 2])
def test_numbers_as_in_numpy(name: str) -> None:
    for new, kind, number in product(FORMS.values(), DTYPES, NUMBERS):
        x = np.ones(2, kind)
        assert dtype_of(getattr(pn, name), new(x), number) == due(name, x, number), (kind, number)
        assert dtype_of(getattr(pn, name), number, new(x)) == due(name, number, x), (kind, number)


@pytest.mark.parametrize("name", RULES)
def test_one_operand(name: str) -> None:
    for (form, new), kind in product(FORMS.items(), DTYPES):
        x = new(np.ones(2, kind))
        dtype = dtype_of(getattr(pn, name), x, *((-1,) if name in ALONG_A_DIMENSION else ()))
        rule = RULES[name][0 if kind == "bool" else 2 if kind in FLOATS else 1]
        assert dtype == (kind if rule == SAME else rule), f"{form} {kind}: {dtype}"


@pytest.mark.parametrize("name", WITH_DTYPE)
def test_a_requested_dtype(name: str) -> None:
    for new, kind, requested in product(FORMS.values(), DTYPES, DTYPES):
        due = np.dtype(requested) if name in SUMS or requested in FLOATS else REFUSED
        assert dtype_of(getattr(pn, name), new(np.ones(2, kind)), -1, dtype=requested) == due, (kind, requested)


@pytest.mark.parametrize("name", PROMOTING)
def test_operands_are_promoted(name: str) -> None:
    for new, kinds in product(FORMS.values(), product(DTYPES, repeat=2)):
        a, b = (new(np.ones(2, kind)) for kind in kinds)
        assert dtype_of(PROMOTING[name], a, b) == np.result_type(*kinds), kinds


def test_complex_numbers_are_refused() -> None:
    for new, kind in product(FORMS.values(), DTYPES):
        x = new(np.ones(2, kind))
        assert dtype_of(pn.add, x, 1j) == dtype_of(pn.sum, x, dtype="complex128") == REFUSED


@pytest.mark.parametrize("kind", FLOATS)
def test_gradients_have_the_dtype_of_their_operand(kind: str) -> None:
    for new, other in product(FORMS.values(), FLOATS):
        x = new(np.ones(2, kind)).requires_grad_()
        y = pn.array(np.array(2.0, other), requires_grad=True)
        (x * y).sum().backward()
        assert (x.grad.dtype, y.grad.dtype) == (kind, other)
        assert not any(getattr(pn, name)(x).requires_grad for name in ("isnan", "isinf", "isfinite", "logical_not"))
        assert not any(getattr(pn, name)(x, y).requires_grad for name in ("eq", "ne", "lt", "le", "gt", "ge"))


HALF, SINGLE, DOUBLE = (np.ones((2, 2), kind) for kind in FLOATS)
SMALL, LABELS, FLAGS = np.ones((2, 2), np.int8), np.zeros(2, np.int64), np.ones((2, 2), np.bool_)
PARAMETERS: list[tuple[Callable[[Any], Any], str]] = [
    (lambda new: new(SINGLE) * pn.array(2.0), "float64"), (lambda new: pn.where(new(FLAGS), new(HALF), 2.0), "float16"),
    (lambda new: pn.where(new(FLAGS), new(SMALL), 0.5), "float64"),
    (lambda new: pn.where(new(FLAGS), new(SMALL), 1), "int8"), (lambda new: pn.where(new(FLAGS), True, False), "bool"),
    (lambda new: pn.where(new(FLAGS), new(SMALL), np.float32(0.5)), "float32"),
    (lambda new: pn.masked_fill(new(SMALL), new(FLAGS), 5.0), "int8"),
    (lambda new: pn.layer_norm(new(SINGLE), 2, DOUBLE[0], DOUBLE[0]), "float32"),
    (lambda new: pn.layer_norm(new(SMALL), 2), REFUSED), (lambda new: pn.linear(new(HALF), HALF, HALF[0]), "float16"),
    (lambda new: pn.linear(new(HALF), HALF, SINGLE[0]), "float32"),
    (lambda new: pn.linear(new(HALF), SINGLE), "float32"), (lambda new: pn.embedding(new(LABELS), SMALL), "int8"),
    (lambda new: pn.embedding(new(LABELS.astype("uint8")), HALF), "float16"),
    *((lambda new, how=how: pn.cross_entropy(new(HALF), new(LABELS), reduction=how, weight=DOUBLE[0]), "float16")
      for how in ("none", "sum", "mean")),
    (lambda new: pn.cross_entropy(new(FLAGS), new(LABELS)), REFUSED),
]  # fmt: skip


@pytest.mark.parametrize("row", range(len(PARAMETERS)))
def test_parameters(row: int) -> None:
    function, due = PARAMETERS[row]
    for form, new in FORMS.items():
        assert dtype_of(function, new) == due, form
