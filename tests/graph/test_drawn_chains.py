"""Chains drawn at random: whatever operators meet, in whatever dtypes, a compiled function gives the same bits."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import pynested as pn
from pynested.graph.chains import program

from .test_programs import EDGES, bits

ONE = ["exp", "tanh", "sqrt", "relu", "gelu", "silu", "sigmoid", "abs", "neg", "sgn", "floor", "square", "log1p"]
TWO = ["add", "sub", "mul", "div", "maximum", "minimum", "logaddexp", "remainder"]
JUDGES = ["eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor"]
DTYPES = [pn.float16, pn.float32, pn.float64, pn.int8, pn.int64, pn.bool]
NUMBERS = [0.0, -0.0, 2, -3, 0.1, 1e30, float("inf")]
REDUCTIONS = ["sum", "mean", "amax", "amin"]
WIDTH = 5
Line = tuple[str, tuple[Any, ...]]
OFFSETS = pn.array([0, 3, 3, 40, 64])
LENGTHS = pn.array([3, 0, 37, 24])  # said, an array counts as one with holes

lines = st.one_of(
    st.tuples(st.sampled_from(ONE), st.tuples(st.integers(0, 9))),
    st.tuples(st.sampled_from(TWO), st.tuples(st.integers(0, 9), st.integers(0, 9))),
    st.tuples(st.sampled_from(TWO), st.tuples(st.integers(0, 9), st.sampled_from(NUMBERS).map(lambda n: (n,)))),
    st.tuples(st.sampled_from(JUDGES), st.tuples(st.integers(0, 9), st.integers(0, 9))),
    st.tuples(st.just("where"), st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9))),
    st.tuples(st.just("to"), st.tuples(st.integers(0, 9), st.sampled_from(DTYPES[:3]).map(lambda dtype: (dtype,)))),
    st.tuples(st.just("astype"), st.tuples(st.integers(0, 9), st.sampled_from(DTYPES[:3]).map(lambda dtype: (dtype,)))),
    st.tuples(
        st.just("masked_fill"),
        st.tuples(st.integers(0, 9), st.integers(0, 9), st.sampled_from(NUMBERS[:-2]).map(lambda n: (n,))),
    ),
    st.tuples(st.sampled_from(REDUCTIONS), st.tuples(st.integers(0, 9), st.booleans().map(lambda keepdim: (keepdim,)))),
    st.tuples(st.just("clamp"), st.tuples(st.integers(0, 9), st.just((-0.5,)), st.integers(0, 9))),
)


def run(program: list[Line], *given: Any) -> list[Any]:
    """What the lines make of what is given; an operand is one of the last ten arrays that an operator takes.

    Of a reduction that keeps the dimension it is the difference that later lines may take.
    """
    known, ends = list(given), []
    for name, operands in program:
        kinds = "f" if name in (*ONE, *TWO, *REDUCTIONS, "clamp", "masked_fill") else "fbiu"
        chosen: list[Any] = []
        for i, one in enumerate(operands):
            kind = "b" if (name, i) in (("where", 0), ("masked_fill", 1)) else kinds
            taken = [x for x in known if x.dtype.kind in kind and (x.is_nested or (name, i) != ("masked_fill", 0))]
            if type(one) is int and not taken:
                break
            chosen.append(taken[-1 - one % len(taken)] if type(one) is int else one[0])
        else:
            if name in REDUCTIONS:
                reduced = getattr(pn, name)(chosen[0], -1, keepdim=chosen[1])
                known.append(chosen[0] - reduced) if chosen[1] else ends.append(reduced)
            else:
                known.append(getattr(pn if hasattr(pn, name) else chosen.pop(0), name)(*chosen))
    return known[len(given) :][-3:] + ends[-3:]


def values(dtype: Any, seed: int) -> Any:
    """Numbers of all kinds in a dtype."""
    chance = np.random.default_rng(seed)
    drawn = np.where(
        chance.random((64, WIDTH)) < 0.7, chance.normal(size=(64, WIDTH)) * 3, chance.choice(EDGES, (64, WIDTH))
    )
    with np.errstate(all="ignore"):
        return pn.array(np.nan_to_num(drawn, posinf=9, neginf=-9) if dtype.kind in "biu" else drawn).to(dtype)


def gradients(function: Any, operands: list[Any]) -> list[bytes]:
    """What arrives at operands of floats where each result of floats has a cotangent of its own."""
    fresh = {id(x): x.detach().requires_grad_(x.dtype.kind == "f") for x in operands}
    tracked = [fresh[id(x)] for x in operands]
    results = [one for one in function(*tracked) if one.requires_grad]
    wanted = [x for x in fresh.values() if x.requires_grad]
    weight = (pn.arange(64 * WIDTH).reshape(64, WIDTH) * 0.25 - 7).to(pn.float64)
    weights = [weight[:, 0] if one.is_nested and one.ndim == 2 else weight for one in results]
    sums = [
        (one.to(pn.float64) * pn.nested_array_from_jagged(weights[i] + i, OFFSETS)).sum()
        for i, one in enumerate(results)
    ]
    found = [pn.grad(one, wanted, allow_unused=True, retain_graph=True) for one in sums]
    found += [pn.grad(sum(sums[1:], start=sums[0]), wanted, allow_unused=True)] if sums else []
    return [b"" if one is None else bits(one) for each in found for one in each]


@given(
    st.lists(lines, min_size=3, max_size=12),
    st.tuples(*[st.sampled_from(DTYPES)] * 3),
    st.integers(0, 99),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
@settings(max_examples=150, deadline=None, phases=[one for one in Phase if one is not Phase.explain])  # which traces
def test_programs_give_the_same_bits(
    drawn: list[Line], dtypes: Any, seed: int, in_blocks: bool, twice: bool, holes: bool
) -> None:
    x, y = (pn.nested_array_from_jagged(values(dtypes[i], seed + i), OFFSETS) for i in (0, 1))
    if holes:
        x = pn.nested_array_from_jagged(x.values(), OFFSETS, LENGTHS)
    operands = [x, x if twice else y, values(dtypes[2], seed + 2)[0]]
    compiled = pn.compile(lambda *given: run(drawn, *given))
    with patch.multiple(program, LARGE=0 if in_blocks else 1 << 20, BLOCK_BYTES=512):
        assert list(map(bits, compiled(*operands))) == list(map(bits, run(drawn, *operands)))
        assert gradients(compiled, operands) == gradients(lambda *given: run(drawn, *given), operands)
    assert all(graph.calls for graph in compiled.graphs)
