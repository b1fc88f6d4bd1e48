"""Programs of any operators and dtypes, drawn by Hypothesis: a compiled function returns the same bits."""

from __future__ import annotations

from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import pynested as pn
from pynested.graph import block_program

from .arrays import Replayed, assert_same_with_gradients
from .test_block_programs import EDGES

ONE = ["exp", "tanh", "sqrt", "relu", "gelu", "silu", "sigmoid", "abs", "neg", "sgn", "floor", "square", "log1p"]
TWO = ["add", "sub", "mul", "div", "maximum", "minimum", "logaddexp", "remainder"]
BOOLS = ["eq", "lt", "ge", "logical_and", "logical_xor"]
REDUCTIONS = ["sum", "mean", "amax", "amin"]
DTYPES = [pn.float16, pn.float32, pn.float64, pn.int8, pn.int64, pn.bool]
THREE_DTYPES = st.tuples(*[st.sampled_from(DTYPES)] * 3)
NUMBERS = [0.0, -0.0, 2, -3, 0.1, 1e30, float("inf")]
Line = tuple[str, tuple[Any, ...]]
OFFSETS = pn.array([0, 3, 3, 40, 64])
LENGTHS = pn.array([3, 0, 37, 24])  # with lengths an array counts as one with gaps

array = st.integers(0, 9)  # an operand: one of the last arrays that fit
number = st.sampled_from(NUMBERS).map(lambda x: (x,))  # in a tuple, a constant
dtype = st.sampled_from(DTYPES[:3]).map(lambda x: (x,))
lines = st.one_of(
    st.tuples(st.sampled_from(ONE), st.tuples(array)), st.tuples(st.sampled_from(REDUCTIONS), st.tuples(array)),
    st.tuples(st.sampled_from(TWO), st.tuples(array, array)), st.tuples(st.sampled_from(TWO), st.tuples(array, number)),
    st.tuples(st.sampled_from(BOOLS), st.tuples(array, array)),
    st.tuples(st.just("where"), st.tuples(array, array, array)),
    st.tuples(st.sampled_from(["to", "astype"]), st.tuples(array, dtype)),
    st.tuples(st.just("masked_fill"), st.tuples(array, array, st.sampled_from(NUMBERS[:-2]).map(lambda x: (x,)))),
    st.tuples(st.just("clamp"), st.tuples(array, st.just((-0.5,)), array)),
)  # fmt: skip


def run(program: list[Line], *operands: Any) -> list[Any]:
    """Run the lines of a program, and return its last results. A line without fitting operands is left out."""
    known = list(operands)
    for name, arguments in program:
        kinds = "f" if name in (*ONE, *TWO, *REDUCTIONS, "clamp", "masked_fill") else "fbiu"
        chosen: list[Any] = []
        for i, argument in enumerate(arguments):
            kind = "b" if (name, i) in (("where", 0), ("masked_fill", 1)) else kinds
            fitting = [x for x in known if x.dtype.kind in kind and (x.is_nested or (name, i) != ("masked_fill", 0))]
            if type(argument) is int and not fitting:
                break
            chosen.append(fitting[-1 - argument % len(fitting)] if type(argument) is int else argument[0])
        else:
            if name in REDUCTIONS:
                known.append(chosen[0] - getattr(pn, name)(chosen[0], -1, keepdim=True))
            else:
                known.append(getattr(pn if hasattr(pn, name) else chosen.pop(0), name)(*chosen))
    return known[len(operands) :][-4:]


def values(dtype: Any, seed: int) -> Any:
    """Return numbers of all kinds in a dtype."""
    drawn, shape = np.random.default_rng(seed), (64, 5)
    numbers = np.where(drawn.random(shape) < 0.7, drawn.normal(size=shape) * 3, drawn.choice(EDGES, shape))
    with np.errstate(all="ignore"):
        return pn.array(np.nan_to_num(numbers, posinf=9, neginf=-9) if dtype.kind in "biu" else numbers).to(dtype)


@given(st.lists(lines, min_size=3, max_size=12), THREE_DTYPES, st.integers(0, 99), st.booleans(), st.booleans())
@settings(max_examples=150, deadline=None, phases=[x for x in Phase if x is not Phase.explain])  # which traces
def test_programs_give_the_same_bits(drawn: list[Line], dtypes: Any, seed: int, in_blocks: bool, gaps: bool) -> None:
    x, y = (pn.nested_array_from_jagged(values(dtypes[i], seed + i), OFFSETS) for i in (0, 1))
    if gaps:
        x = pn.nested_array_from_jagged(x.values(), OFFSETS, LENGTHS)
    compiled = Replayed(partial(run, drawn))
    with patch.multiple(block_program, LARGE=0 if in_blocks else 1 << 20, BLOCK_BYTES=512):
        assert_same_with_gradients(compiled, partial(run, drawn), x, y, values(dtypes[2], seed + 2)[0])
    assert compiled.graphs and all(graph.calls > 1 for graph in compiled.graphs)
