"""Parameters by kind: all spellings of a value are equal, and a value of another kind is refused.

Parameters come from the signatures of the public functions, and the other arguments of a call from its sample.
"""

from __future__ import annotations

import enum
import inspect
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

import pynested
from pynested.backends.errors import ArgumentError, DeviceError, DTypeError, LayoutError, PynestedError
from pynested.structure import Jagged, Strided

from ..batches import Batch, nothing_warns
from ..calls import CALLS
from ..nests import JAGGED, plain
from ..support.methods import PUBLIC
from ..support.samples import sample_arguments

pn: Any = pynested
Call = Callable[[Any], Any]
SAMPLES = {call.op: call for call in reversed(CALLS) if JAGGED in call.kinds}
DENSE = pn.array([[0.5, -2.0], [3.0, 4.0]])
NESTED = {str(layout): pn.nested_array([[[0.5, -2.0]], [[3.0, 4.0], [5.0, 6.0]]], layout=layout)
          for layout in (pn.jagged, pn.strided)}  # fmt: skip
JAGGED_X = NESTED[str(pn.jagged)]
# The other arguments of functions without a sample, and of those whose sample takes no other value.
ARGUMENTS: dict[str, dict[str, Any]] = {
    "arange": {"start": 0, "stop": 4}, "full": {"shape": (2,), "fill_value": 1},
    "array": {"data": 1}, "to": {"self": JAGGED_X},
    **{f"{name}_like": {"x": JAGGED_X} for name in ("empty", "full", "ones", "rand", "randn", "randint", "zeros")},
    "full_like": {"x": JAGGED_X, "fill_value": 1}, "randint_like": {"x": JAGGED_X, "low": 0, "high": 2},
    "randint": {"low": 0, "high": 3},
    "normal_": {"self": DENSE.clone()}, "uniform_": {"self": DENSE.clone()}, "chunk": {"self": DENSE, "chunks": 1},
    "select": {"self": DENSE, "dim": 0, "index": 0}, "split": {"self": DENSE, "sizes": 1}, "narrow": {
        "array": DENSE, "dim": 1, "start": 0, "length": 1}, "unflatten": {"self": DENSE, "dim": 1, "sizes": (2, 1)},
    "squeeze": {"self": pn.ones(2, 1)}, "nested_array_from_jagged": {"values": np.ones(2), "offsets": [0, 1, 2]},
    "create_mask": {"mod_fn": pn.noop_mask, "B": 1, "H": 1, "Q_LEN": 2, "KV_LEN": 2},
    "create_block_mask": {"mask_mod": pn.noop_mask, "B": 1, "H": 1, "Q_LEN": 2, "KV_LEN": 2},
}  # fmt: skip
ALIASES = {"axis": "dim", "keepdims": "keepdim"}


def arguments(name: str) -> dict[str, Any]:
    """Return arguments that this function accepts, by name."""
    if name in ARGUMENTS:
        return dict(ARGUMENTS[name])
    made, keywords, _ = sample_arguments(SAMPLES[name], Batch(JAGGED, (2, 1)))
    return dict(inspect.signature(PUBLIC[name]).bind(*made, **keywords).arguments)


def parameters(*annotations: str) -> list[tuple[str, str]]:
    """Return pairs of a function and a parameter with one of these annotations."""
    callable_names = [name for name in PUBLIC if name in ARGUMENTS or name in SAMPLES]
    found = [(name, p) for name in callable_names for p in inspect.signature(PUBLIC[name]).parameters.values()]
    return [(name, p.name) for name, p in found if str(p.annotation) in annotations]


def call(name: str, parameter: str, value: Any) -> Any:
    """Call a function with another value of one parameter, and the same random numbers."""
    values, names = arguments(name), inspect.signature(PUBLIC[name]).parameters
    values.pop(ALIASES.get(parameter, ""), None)
    if parameter == "generator":  # a call that draws no number ignores it
        values |= dict.fromkeys({"p", "dropout_p"}.intersection(names), 0.5)
    if "generator" in names:
        values["generator"] = np.random.default_rng(0)
    made = PUBLIC[name](**values | {parameter: value})
    return pn.array(made.blocks[0]) if type(made) is pn.BlockMask else made


def of(pairs: list[tuple[str, str]]) -> dict[str, Call]:
    return {f"{name}, {parameter}": partial(call, name, parameter) for name, parameter in pairs}


def assigned(x: Any, value: Any) -> Any:
    x[0] = value
    return x


# Numbers that no signature shows: operands, values of writes, entries of an index, and each size of a shape.
OPERANDS: dict[str, Call] = {
    f"{place} {name}": partial(lambda function, x, n: function(x, n), function, x)
    for place, x in {"dense": DENSE, **NESTED}.items()
    for name, function in {
        "add": pn.add, "sub": lambda x, n: pn.sub(n, x), "mul": pn.mul, "div": lambda x, n: pn.div(n, x), "eq": pn.eq,
        "lt": lambda x, n: pn.lt(n, x), "where": lambda x, n: pn.where(x > 3, x, n),
        "fill_": lambda x, n: x.clone().fill_(n),
        "assignment": lambda x, n: assigned(x.clone(), n)}.items()
}  # fmt: skip
SIZES: dict[str, Call] = {
    "index": lambda n: DENSE[n], "nested index": lambda n: JAGGED_X[n], "a slice": lambda n: JAGGED_X[:, :n],
    "an index in a tuple": lambda n: NESTED[str(pn.strided)][:, 0, n], "reshape": lambda n: pn.reshape(DENSE, (4, n)),
    "zeros": lambda n: pn.zeros(n), "randint": lambda n: pn.randint(n, size=(2,)), "narrow": lambda n: pn.narrow(
        DENSE, 1, n, 1), "length": lambda n: pn.narrow(DENSE, 1, 0, n), "layer_norm": lambda n: pn.layer_norm(
        pn.ones(2, 1), n), "unflatten": lambda n: pn.unflatten(DENSE, 1, (n, 2)),
    "permute": lambda n: DENSE.permute((n, 0)),
    "broadcast_to": lambda n: DENSE.broadcast_to((n, 2, 2)), "as_strided": lambda n: DENSE.as_strided((n,), (n,), n),
    "padded size": lambda n: pn.to_padded_array(JAGGED_X[:1], 0.0, (1, n, 2)), "size": lambda n: JAGGED_X.size(n),
    "stride": lambda n: JAGGED_X.stride(n), "ragged_dim": lambda n: Jagged([0, 1], None, n).ragged_dim,
    "buffer_size": lambda n: Strided([[1]], None, None, n).buffer_size,
    "a regular size": lambda n: Strided(np.zeros((0, 1), np.int64), None, None, 0, [n]).extents,
    **{f"{place} reshape": lambda n, x=x: x.reshape(2, -1, 2, n) for place, x in NESTED.items()},
    **{f"{place} unflatten": lambda n, x=x: x.unflatten(2, (2, n)) for place, x in NESTED.items()},
    **{f"{place} stack": lambda n, x=x: pn.stack([x, x], n) for place, x in NESTED.items()},
}  # fmt: skip
REAL = OPERANDS | of(parameters("float", "float | None"))
INTEGERS = of(parameters("int", "int | None"))
WHOLE = SIZES | INTEGERS | of(parameters("Dims"))
NUMBERS = REAL | WHOLE


class Level(enum.IntEnum):
    ONE = 1


ONES = [
    1.0, 1, True, np.bool_(True), Level.ONE, np.float16(1), np.float32(1), np.float64(1), np.array(1.0), np.array(1),
    np.array(1.0, np.float16), pn.array(1.0), pn.array(1), pn.array(1.0, dtype=pn.float32),
    *[np.dtype(name).type(1) for name in ("int8", "int16", "int32", "int64", "uint8")],
]  # fmt: skip
HALVES = [0.5, np.float16(0.5), np.float32(0.5), np.float64(0.5), np.array(0.5), np.array(0.5, "f4"), pn.array(0.5)]
EMPTY: tuple[int, ...] = ()  # no dimensions, or a shape without any
EMPTY_TAKEN = ("index", "dim", "axis", "zeros", "randint", "layer_norm", "size")
NO_NUMBERS = [
    "1", b"1", "a", Decimal(1), Fraction(1, 2), object(), {}, np.str_("1"), np.datetime64(1, "s"), 1j, np.complex64(1),
    np.longdouble(1), np.timedelta64(1, "s"), np.dtype("int8"), slice(1), [None], EMPTY, np.ma.array(2, mask=True),
]  # fmt: skip
BEYOND = (2**63, -(2**63) - 1, 2**70, 2**2000, -(2**2000), float("1e400"), float("nan"), 10**5000)


def is_integral(value: Any) -> bool:
    kind = value.dtype.kind if hasattr(value, "dtype") else "b" if isinstance(value, bool) else "i"
    return kind in "iu" and not isinstance(value, float)


def compare(name: str, value: Any, expected: Any) -> None:
    np.testing.assert_equal(plain(NUMBERS[name](value)), expected, f"{name} of {value!r}")


@pytest.mark.parametrize("name", REAL)
def test_every_spelling_of_a_half(name: str) -> None:
    expected = plain(REAL[name](0.5))
    with nothing_warns():
        for value in HALVES:
            compare(name, value, expected)


@pytest.mark.parametrize("name", NUMBERS)
def test_every_spelling_of_one(name: str) -> None:
    expected = None if name == "unbind, dim" else plain(NUMBERS[name](1))
    with nothing_warns():
        for value in ONES:
            is_bool = isinstance(value, bool | np.bool_)
            if name == "index" and getattr(value, "dtype", None) == np.bool_:
                compare(name, value, DENSE.numpy()[None])  # as in NumPy, a mask without dimensions
            elif name in WHOLE and not is_integral(value):
                with pytest.raises(PynestedError):
                    NUMBERS[name](value)
            elif not is_bool and expected is not None:
                compare(name, value, expected)


@pytest.mark.parametrize("name", [n for n in REAL if n not in OPERANDS and not n.endswith(("value", "padding"))])
def test_no_real_parameter_takes_a_bool(name: str) -> None:
    with pytest.raises(ArgumentError):
        REAL[name](True)


@pytest.mark.parametrize("name", NUMBERS)
def test_what_is_no_number_is_refused(name: str) -> None:
    for value in NO_NUMBERS:
        if not ((type(value) is slice and "index" in name) or (value is EMPTY and name.endswith(EMPTY_TAKEN))):
            with nothing_warns(), pytest.raises(PynestedError) as caught:
                NUMBERS[name](value)
            assert len(str(caught.value)) > 20


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_beyond_everything(name: str) -> None:
    """Numbers beyond int64 and float64 have a result, or an error of pynested that does not quote Python's."""
    for value in BEYOND:
        with nothing_warns():
            try:
                NUMBERS[name](value)
            except (PynestedError, OverflowError) as error:
                assert "to convert" not in str(error) and "limit (" not in str(error), error
                assert len(str(error)) < 300 and ":" in str(error)


KINDS: dict[str, tuple[Any, list[Any], list[Any], Any]] = {  # annotations, spellings of one value, none, their class
    "dtype": (("DType | None", "DTypeLike | None"), ["float32", "f4", np.float32, np.dtype("float32"), pn.float32],
              ["float33", "complex64", complex, 5, object, np.ones(2)], DTypeError),
    "device": (("str | None",), ["cpu"], ["", "nowhere", "cuda:1", 3, float("nan"), np.ones(2), pn.ones(2)],
               DeviceError),
    "layout": (("Layout | None", "Layout"), [pn.jagged], ["jagged", 1], (LayoutError, ArgumentError)),
    "generator": (("np.random.Generator | None",), [], [3, "a", np.random], ArgumentError),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "name", "parameter"), [
    (kind, *pair) for kind, (annotations, *_) in KINDS.items() for pair in parameters(*annotations)
])  # fmt: skip
def test_other_kinds(kind: str, name: str, parameter: str) -> None:
    _, spellings, none, error = KINDS[kind]
    results = [call(name, parameter, value) for value in spellings]
    assert all(result.dtype == results[0].dtype and result.device == "cpu" for result in results)
    for value in none:
        with pytest.raises(error) as caught:
            call(name, parameter, value)
        assert re.match(rf"{name}(?![a-z_])", str(caught.value)) and len(str(caught.value)) > len(name) + 20


@pytest.mark.parametrize("name", [name for name, x in PUBLIC.items() if "function" in inspect.signature(x).parameters])
def test_what_is_no_function_is_refused(name: str) -> None:
    """As the result of a call in place of the function: ``pn.vjp(f(x), x)``."""
    accepted = [p for p in inspect.signature(PUBLIC[name]).parameters.values() if p.kind != p.KEYWORD_ONLY]
    for no_function in (DENSE, JAGGED_X, 3, "relu"):
        values = {"function": no_function, "name": "the name"}
        positional = [values.get(p.name, DENSE) for p in accepted if p.default is p.empty or p.name == "function"]
        with pytest.raises(ArgumentError, match=rf"^{name}: ") as caught:
            PUBLIC[name](*positional)
        assert "function" in str(caught.value)
