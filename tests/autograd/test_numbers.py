"""Arguments that are numbers: every spelling of a number is taken, and what is none is refused in words."""

from __future__ import annotations

import enum
import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError, PynestedError
from pynested.structure import Jagged, Strided

from ..batches import nothing_warns
from ..nests import LAYOUTS

DENSE = pn.array([[0.5, -2.0], [3.0, 4.0]])
NESTED = {layout.name: pn.nested_array([[[0.5, -2.0]], [[3.0, 4.0], [5.0, 6.0]]], layout=layout) for layout in LAYOUTS}
LABELS = {name: pn.nested_array([[0], [1, 0]], layout=x.layout) for name, x in NESTED.items()}

Call = Callable[[Any], Any]
REAL: dict[str, Call] = {
    "full": lambda n: pn.full((2,), n, dtype=pn.float64),
    "full_like": lambda n: pn.full_like(DENSE, n),
    "fill_": lambda n: DENSE.clone().fill_(n),
    "arange": lambda n: pn.arange(0, 2, n, dtype=pn.float64),
    "label_smoothing": lambda n: pn.cross_entropy(DENSE, np.array([0, 1]), label_smoothing=n),
}
RANGED = {"p", "label_smoothing", "eps"}  # the ends of the names of what has a range


def _draws() -> np.random.Generator:
    return np.random.default_rng(0)


for _name, _x in {"dense": DENSE, **NESTED}.items():
    REAL |= {
        f"{_name} add": lambda n, x=_x: pn.add(x, n),
        f"{_name} sub": lambda n, x=_x: pn.sub(n, x),
        f"{_name} mul": lambda n, x=_x: pn.mul(x, n),
        f"{_name} div": lambda n, x=_x: pn.div(n, x),
        f"{_name} eq": lambda n, x=_x: pn.eq(x, n),
        f"{_name} lt": lambda n, x=_x: pn.lt(n, x),
        f"{_name} where": lambda n, x=_x: pn.where(x > 3, x, n),
        f"{_name} add alpha": lambda n, x=_x: pn.add(x, x, alpha=n),
        f"{_name} sub alpha": lambda n, x=_x: pn.sub(1, x, alpha=n),
        f"{_name} add_ alpha": lambda n, x=_x: x.clone().add_(x, alpha=n),
        f"{_name} masked_fill": lambda n, x=_x: pn.masked_fill(x, x > 3, n),
        f"{_name} assignment": lambda n, x=_x: _assigned(x.clone(), n),
        f"{_name} eps": lambda n, x=_x: pn.layer_norm(x, 2, eps=n),
        f"{_name} p": lambda n, x=_x: pn.dropout(x, n, generator=_draws()),
    }
for _name, _x in NESTED.items():
    REAL |= {
        f"{_name} padding": lambda n, x=_x: pn.to_padded_array(x, n),
        f"{_name} label_smoothing": lambda n, x=_x, t=LABELS[_name]: pn.cross_entropy(x, t, label_smoothing=n),
    }


def _assigned(x: Any, value: Any) -> Any:
    x[0] = value
    return x


WHOLE: dict[str, Call] = {
    "ignore_index": lambda n: pn.cross_entropy(DENSE, np.array([0, 1]), ignore_index=n),
    "dim": lambda n: pn.sum(DENSE, n),
    "dims": lambda n: pn.mean(NESTED["jagged"], (n,)),
    "index": lambda n: DENSE[n],
    "nested index": lambda n: NESTED["jagged"][n],
    "an index in a tuple": lambda n: NESTED["strided"][:, 0, n],
    "a slice": lambda n: NESTED["jagged"][:, :n],
    "select": lambda n: pn.select(DENSE, n, 0),
    "chunks": lambda n: pn.chunk(DENSE, n)[0],
    "size": lambda n: pn.reshape(DENSE, (4, n)),
    "zeros": lambda n: pn.zeros(n),
    "low": lambda n: pn.randint(n, 2, (2,)),
    "high": lambda n: pn.randint(n, size=(2,)),
    "jagged_dim": lambda n: pn.nested_array_from_jagged(np.ones(2), [0, 2], jagged_dim=n),
    "max_seqlen": lambda n: pn.nested_array_from_jagged(np.ones(2), [0, 1, 2], max_seqlen=n),
    "narrow, start": lambda n: pn.narrow(DENSE, 1, n, 1),
    "narrow, length": lambda n: pn.narrow(DENSE, 1, 0, n),
    "normalized_shape": lambda n: pn.layer_norm(pn.ones(2, 1), n),
    "unflatten": lambda n: pn.unflatten(DENSE, n, (n, 2)),
    "unsqueeze": lambda n: pn.unsqueeze(DENSE, n),
    "permute": lambda n: DENSE.permute((n, 0)),
    "broadcast_to": lambda n: DENSE.broadcast_to((n, 2, 2)),
    "strided size": lambda n: DENSE.as_strided((n,), (n,), n),
    "padded size": lambda n: pn.to_padded_array(NESTED["jagged"][:1], 0.0, (1, n, 2)),
    "size of a dimension": lambda n: NESTED["jagged"].size(n),
    "stride of a dimension": lambda n: NESTED["jagged"].stride(n),
    "ragged_dim": lambda n: Jagged([0, 1], None, n).ragged_dim,
    "buffer_size": lambda n: Strided([[1]], None, None, n).buffer_size,
    "a regular size": lambda n: Strided(np.zeros((0, 1), np.int64), None, None, 0, [n]).outline,
}
for _name, _x in NESTED.items():
    WHOLE |= {
        f"{_name} transpose": lambda n, x=_x: x.transpose(n, 2),
        f"{_name} select": lambda n, x=_x: x.select(n, 0),
        f"{_name} select, index": lambda n, x=_x: x.select(2, n),
        f"{_name} reshape": lambda n, x=_x: x.reshape(2, -1, 2, n),
        f"{_name} unsqueeze": lambda n, x=_x: x.unsqueeze(n),
        f"{_name} unflatten": lambda n, x=_x: x.unflatten(2, (2, n)),
        f"{_name} chunks": lambda n, x=_x: x.chunk(n)[0],
        f"{_name} narrow": lambda n, x=_x: x.narrow(0, n, 1),
        f"{_name} softmax": lambda n, x=_x: x.softmax(n),
        f"{_name} stack": lambda n, x=_x: pn.stack([x, x], n),
    }
NUMBERS: dict[str, Call] = REAL | WHOLE


class Level(enum.IntEnum):
    ONE = 1


SPELLINGS = [
    1.0, 1, True, np.bool_(True), Level.ONE, np.float16(1), np.float32(1), np.float64(1), np.array(1.0), np.array(1),
    np.array(1.0, np.float16), pn.array(1.0), pn.array(1), pn.array(1.0, dtype=pn.float32),
    *[np.dtype(name).type(1) for name in ("int8", "int16", "int32", "int64", "uint8")],
]  # fmt: skip
HALVES = [
    0.5,
    np.float16(0.5),
    np.float32(0.5),
    np.float64(0.5),
    np.array(0.5),
    np.array(0.5, np.float32),
    pn.array(0.5),
]


def listed(x: Any) -> Any:
    if isinstance(x, pn.NestedArray):
        return [one.tolist() for one in x.unbind()]
    return x.tolist() if isinstance(x, pn.Array) else x


def integral(value: Any) -> bool:
    kind = value.dtype.kind if hasattr(value, "dtype") else "b" if isinstance(value, bool) else "i"
    return kind in "iu" and not isinstance(value, float)


@pytest.mark.parametrize("name", REAL)
def test_every_spelling_of_a_half(name: str) -> None:
    expected = listed(REAL[name](0.5))
    with nothing_warns():
        for value in HALVES:
            assert listed(REAL[name](value)) == expected, repr(value)


def is_bare_mask(value: Any) -> bool:
    """Return whether a value is a boolean array without dimensions; a ``bool`` of Python is none."""
    return getattr(value, "dtype", None) == np.bool_


@pytest.mark.parametrize("name", NUMBERS)
def test_every_spelling_of_one(name: str) -> None:
    expected = listed(NUMBERS[name](1))
    refuses_bools = name in WHOLE or name.split()[-1] in {"alpha", *RANGED}
    with nothing_warns():
        for value in SPELLINGS:
            is_bool = isinstance(value, bool | np.bool_)
            if name == "index" and is_bare_mask(value):
                assert listed(NUMBERS[name](value)) == [listed(DENSE)]  # as in NumPy, a mask without dimensions
            elif (is_bool and refuses_bools) or (name in WHOLE and not integral(value)):
                with pytest.raises((ArgumentError, PynestedError)):
                    NUMBERS[name](value)
            elif not is_bool:
                assert listed(NUMBERS[name](value)) == expected, repr(value)


NONE_AT_ALL = ["1", b"1", "a", Decimal(1), Fraction(1, 2), object(), {}, np.str_("1"), np.datetime64(1, "s"), 1j]
NONE_AT_ALL += [np.complex64(1), np.longdouble(1), np.timedelta64(1, "s"), np.dtype("int8"), slice(1), [None]]


@pytest.mark.parametrize("name", NUMBERS)
def test_what_is_no_number(name: str) -> None:
    for value in NONE_AT_ALL:
        if isinstance(value, slice) and "index" in name:
            continue
        with warnings.catch_warnings(action="error"), pytest.raises(PynestedError) as caught:
            NUMBERS[name](value)
        assert len(str(caught.value)) > 20


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_beyond_everything(name: str) -> None:
    """An answer, or an error of ours: never one that says no more than that C has no such number."""
    for value in (2**63, -(2**63) - 1, 2**70, 2**2000, -(2**2000), float("1e400"), float("nan"), 10**5000):
        with nothing_warns():
            try:
                NUMBERS[name](value)
            except (PynestedError, OverflowError) as error:
                assert "to convert" not in str(error) and "limit (" not in str(error), error
                assert len(str(error)) < 300 and ":" in str(error)


GIVEN: tuple[tuple[Any, str], ...] = (
    (3, "3"), ("x", "'x'"), ([1, 2], "[1, 2]"), (1 << 90, "an integer of 91 bits"), (None, "None"),
    (DENSE, "an array of shape (2, 2) and dtype float64"), (np.zeros(3), "array([0., 0., 0.])"),
    (np.zeros((40, 2), np.int8), "an array of shape (40, 2) and dtype int8"), (list(range(99)), "a list of 99"),
    (NESTED["jagged"].detach(), "a nested array of shape"), ("x" * 200, "a str"),
)  # fmt: skip


@pytest.mark.parametrize(("given", "words"), GIVEN, ids=[words for _, words in GIVEN])
def test_what_nobody_could_read_is_described(given: Any, words: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        pn.create_block_mask(given, 1, 1, 2, 2)
    assert f"mask_mod must be a function, not {words}" in str(caught.value)


def test_a_condition_on_many_elements_says_what_to_write() -> None:
    with pytest.raises(ArgumentError, match=r"not one. Ask any\(\) or all\(\); .* & for and, .* pn.where for if"):
        bool(DENSE > 0)
    with pytest.raises(ArgumentError, match="4 elements, not one.$"):
        DENSE.item()
