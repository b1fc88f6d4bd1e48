"""Numbers of every magnitude: results and gradients of every operator that has a bound stay within it.

The expectation is the definition in exact numbers, in the words of a vector, and the comparator judges, so that the
bounds, the elements that are open and the implementation hold each other. A run as long as one likes, with one line for
each difference:

    python -m tests.spec.test_bounds_fuzz --calls 20000 --seed 1
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.conformance.adapters.functions_by_name import BY_NAME
from pynested.spec.bounds import BOUNDS
from pynested.spec.compare import Difference, compare
from pynested.spec.components import Components
from pynested.spec.functions import FUNCTIONS
from pynested.spec.generator.author import Case
from pynested.spec.generator.build import Run
from pynested.spec.generator.gradient import gradient_fields
from pynested.spec.generator.trees import leaves, like
from pynested.spec.pairs import PAIRS
from pynested.spec.reductions import REDUCTIONS
from pynested.spec.table import load_table, run_wise

from ..nests import PLACEMENTS, nest, plain
from .composed import heads, layers
from .magnitudes import Draw, components, numbers, shapes_of

DTYPES = ("float16", "float32", "float64")
FORMS = ("jagged", "strided", "dense")


@dataclass(frozen=True)
class Drawn:
    """A call of an operator, and how its nested operands are handed over: as a jagged, strided or dense array."""

    op: str
    form: str
    placement: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    kind: Any = None

    def __str__(self) -> str:
        shapes = [(one.dtype.name, [x.shape for x in one]) for one in self.args if isinstance(one, Components)]
        return f"{self.op} {self.form} {self.placement} {shapes} {self.kwargs}"


# ---- calls ---------------------------------------------------------------------------------------------------------


def _functions(draw: Draw, op: str, x: Components) -> tuple[list[Any], dict[str, Any], Any]:
    return [x], {"approximate": str(draw.choice(["none", "tanh"]))} if op == "gelu" else {}, None


def _pow(draw: Draw, op: str, x: Components) -> tuple[list[Any], dict[str, Any], Any]:
    """Bases that are not negative, and exponents that do not lead far out of the floats."""
    bases = [np.abs(one) for one in x]
    with np.errstate(all="ignore"):
        reach = [np.finfo(x.dtype).maxexp / np.maximum(np.abs(np.log2(one.astype(np.float64))), 1e-3) for one in bases]
    if draw.random() < 0.3:
        exponents = [draw.integers(-3, 4, one.shape).astype(x.dtype) for one in x]
    else:
        exponents = [
            (draw.uniform(-1, 1, one.shape) * np.minimum(most, 100)).astype(x.dtype)
            for one, most in zip(x, reach, strict=True)
        ]
    return [Components(both, x.shape, x.dtype) for both in (bases, exponents)], {}, None


def _near(draw: Draw, op: str, x: Components) -> tuple[list[Any], dict[str, Any], Any]:
    """Second operands near the first ones, or anything."""
    most = np.finfo(x.dtype).max
    with np.errstate(all="ignore"):
        near = [np.clip(one * draw.choice([0.1, -3, 0.25, 7], one.shape), -most, most).astype(x.dtype) for one in x]
    anything = [numbers(draw, one.shape, x.dtype.name) for one in x]
    return [x, Components(near if draw.random() < 0.5 else anything, x.shape, x.dtype)], {}, None


def _reductions(draw: Draw, op: str, x: Components) -> tuple[list[Any], dict[str, Any], Any]:
    dims = [1, 2, (1, 2), 0, (0, 1), (0, 2), None][draw.integers(7)]
    corrected = op in REDUCTIONS and REDUCTIONS[op].option.startswith("correction")
    asked = {"correction": [0, 1, 0.5][draw.integers(3)]} if corrected else {}
    return [x], {"dim": dims, **asked}, "dense" if dims in (0, (0, 1), (0, 2), None) else None


def _prod(draw: Draw, op: str, x: Components) -> tuple[list[Any], dict[str, Any], Any]:
    """Roots, so that no product is beyond the largest float64, in which expectations are written down."""
    root = max(sum(one.size for one in x) / (1 if x.dtype == np.float64 else 4), 1)
    roots = [np.sign(one) * np.abs(one.astype(np.float64)) ** (1 / root) for one in x]
    return _reductions(draw, op, Components([one.astype(x.dtype) for one in roots], x.shape, x.dtype))


def _runs(draw: Draw, op: str, x: Components) -> tuple[list[Any], dict[str, Any], Any]:
    return [x], {"dim": int(draw.integers(1, 3))}, None


def _layer_norm(draw: Draw, op: str, x: Components) -> tuple[list[Any], dict[str, Any], Any]:
    width, dtype = x.shape[-1], x.dtype.name
    parameters = {name: numbers(draw, (width,), dtype) for name in ("weight", "bias") if draw.random() < 0.4}
    return [x, (width,)], {**parameters, "eps": float(draw.choice([0, 1e-300, 1e-60, 1e-5, 1e-12, 0.5]))}, None


def _products(draw: Draw, op: str, x: Components) -> tuple[list[Any], dict[str, Any], Any]:
    width, columns, dtype = x.shape[-1], int(draw.integers(1, 4)), x.dtype.name
    if op == "linear":
        bias = {"bias": numbers(draw, (columns,), dtype)} if draw.random() < 0.5 else {}
        return [x, numbers(draw, (columns, width), dtype)], bias, None
    if op == "bmm":
        return [x, numbers(draw, (len(x), width, columns), dtype)], {}, None
    return [x, numbers(draw, (width, columns), dtype)], {}, None


def _losses(draw: Draw, op: str, x: Components) -> tuple[list[Any], dict[str, Any], Any]:
    target = Components([draw.integers(0, one.shape[1], one.shape[:1]) for one in x], (len(x), None), np.int64)
    for one in target:
        one[draw.random(one.shape) < 0.2] = -100
    chosen: dict[str, Any] = {"reduction": str(draw.choice(["none", "sum", "mean"]))}
    chosen |= {"label_smoothing": 0.25} if draw.random() < 0.3 else {}
    chosen |= {"weight": np.abs(numbers(draw, (x.shape[-1],), x.dtype.name))} if draw.random() < 0.3 else {}
    return [x, target], chosen, None


def _attention(draw: Draw, op: str, x: Components) -> tuple[list[Any], dict[str, Any], Any]:
    """Keys and values that all components share, or each has its own; perhaps a mask, or a scale."""
    width, keys, dtype = x.shape[-1], int(draw.integers(1, 6)), x.dtype.name
    if draw.random() < 0.5:
        others = [numbers(draw, (keys, size), dtype) for size in (width, int(draw.integers(1, 4)))]
    else:
        others = [Components([numbers(draw, one.shape, dtype) for one in x], x.shape, dtype) for _ in range(2)]
    args: list[Any] = [x, *others]
    kwargs: dict[str, Any] = {}
    if draw.random() < 0.3 and isinstance(others[0], np.ndarray) and op != "flex_attention":
        args.append(numbers(draw, (1, keys), dtype))
    elif draw.random() < 0.5:
        kwargs |= {"score_mod": "causal"} if op == "flex_attention" else {"is_causal": True}
    if draw.random() < 0.4:
        kwargs["scale"] = float(numbers(draw, (1,), "float32")[0])
    return args, kwargs, None


CALLS: dict[str, Callable[..., Any]] = {
    **dict.fromkeys([name for name, one in FUNCTIONS.items() if one.precision in BOUNDS], _functions),
    **dict.fromkeys(("gelu", "silu"), _functions),
    **dict.fromkeys(
        ("sum", "mean", *[name for name in REDUCTIONS if load_table()[name].precision in BOUNDS]), _reductions
    ),
    "pow": _pow,
    **dict.fromkeys([name for name, one in PAIRS.items() if one.precision in BOUNDS and name != "pow"], _near),
    "prod": _prod,
    **dict.fromkeys(("matmul", "bmm", "linear"), _products),
    **dict.fromkeys(run_wise(), _runs),
    "layer_norm": _layer_norm,
    "cross_entropy": _losses,
    "scaled_dot_product_attention": _attention,
    "multi_head_attention": heads,
    **dict.fromkeys(("transformer_encoder_layer", "transformer_decoder_layer"), layers),
    "flex_attention": _attention,
}


def drawn(seed: int, number: int, op: str | None = None) -> Drawn:
    """Call ``number`` of a seed."""
    draw = np.random.default_rng([seed, number])
    op = list(CALLS)[number % len(CALLS)] if op is None else op
    form, placement = str(draw.choice(FORMS)), str(draw.choice(PLACEMENTS))
    x = components(draw, shapes_of(draw, form, int(draw.choice([1, 2, 5]))), str(draw.choice(DTYPES)))
    args, kwargs, kind = CALLS[op](draw, op, x)
    return Drawn(op, form, placement, tuple(args), kwargs, kind)


# ---- judging -------------------------------------------------------------------------------------------------------


def handed(call: Drawn, value: Any, device: str) -> Any:
    """An operand as pynested gets it."""
    if isinstance(value, dict):
        return {name: handed(call, one, device) for name, one in value.items()}
    if isinstance(value, Components) and call.form != "dense":
        made = nest(value, getattr(pn, call.form), call.placement).to(device=device)
        return made.requires_grad_() if value.dtype.kind == "f" else made
    if isinstance(value, Components | np.ndarray):
        array = np.stack(value) if isinstance(value, Components) else value
        return pn.array(array, requires_grad=array.dtype.kind == "f", device=device)
    return value


def read(value: Any) -> Any:
    return plain(value.detach().to(device="cpu"))


def differences(call: Drawn, seed: int = 0, device: str = "cpu") -> Iterator[str]:
    """What pynested answers that the specification does not allow."""
    case = Case(call.op, "", (), call.args, call.kwargs, (), cmp="bound", kind=call.kind)
    with np.errstate(all="ignore"):
        run = Run(case)
        cotangent = cotangents(np.random.default_rng(seed), run.result, run.dtype)
        expected = run.expectation()
        back = gradient_fields(replace(case, cotangent=cotangent), run.arguments, run.result, run.exact, run.dtype)
    args = [handed(call, value, device) for value in call.args]
    kwargs = {name: handed(call, value, device) for name, value in call.kwargs.items()}
    without_gradient = kwargs.keys() - back.get("gradient_kwargs", {})
    kwargs |= {name: kwargs[name].detach() for name in without_gradient if isinstance(kwargs[name], pn.Array)}
    result = (BY_NAME.get(call.op) or getattr(pn, call.op))(*args, **kwargs)
    found = compare(read(result), expected)
    if found is not None:
        yield f"{call}: {found}{where(call, found)}"
    result.backward(handed_back(result, cotangent, device))
    pairs = [*zip(args, back["gradient"], strict=True)]
    pairs += [(kwargs[name], one) for name, one in back.get("gradient_kwargs", {}).items()]
    for operand, one in [alone for pair in pairs for alone in by_name(*pair)]:
        found = compare(read(operand.grad), one) if one else None
        if found is not None:
            yield f"gradient of {call}: {found}{where(call, found)}"


def by_name(operand: Any, gradient: Any) -> list[tuple[Any, Any]]:
    """An operand and its gradient, or those of each name of a mapping."""
    if not isinstance(operand, dict):
        return [(operand, gradient)]
    return [(operand[name], one) for name, one in gradient["mapping"].items()]


def where(call: Drawn, found: Difference) -> str:
    """The number at which a function of one element differs."""
    if call.op not in FUNCTIONS or found.index is None:
        return ""
    component, *place = found.index if found.component is None else (found.component, *found.index)
    return f", at {call.args[0][component][tuple(place)]!r}"


def cotangents(draw: Draw, result: Any, dtype: str) -> Any:
    """Ordinary numbers three times of four, otherwise of every magnitude."""
    make = numbers if draw.random() < 0.25 else lambda draw, shape, dtype: draw.uniform(-4, 4, shape).astype(dtype)
    return like(result, iter([make(draw, leaf.shape, dtype) for leaf in leaves(result)]), dtype)


def handed_back(result: Any, cotangent: Any, device: str) -> Any:
    if isinstance(result, pn.NestedArray):
        ragged = getattr(result.structure, "ragged_dim", 1)
        return nest(cotangent, result.layout, "packed", ragged).to(device=device)
    dense = np.stack(cotangent) if isinstance(cotangent, Components) else cotangent
    return pn.array(dense, device=device)


@pytest.mark.parametrize("op", CALLS)
def test_every_magnitude_stays_within_the_bound(op: str) -> None:
    calls = 3 if op.startswith("transformer") else 12  # which are long
    found = [text for number in range(calls) for text in differences(drawn(7, number, op), number)]
    assert found == []


# A gradient of 1e400 that is off by more, and a score that overflows before the function leaves it out.
@pytest.mark.parametrize(("op", "number"), [("scaled_dot_product_attention", 468), ("flex_attention", 389)])
def test_what_overflows_on_the_way_is_open(op: str, number: int) -> None:
    assert [*differences(drawn(1, number, op), number)] == []


def test_every_operator_with_a_bound_is_called() -> None:
    bounded = {operator.name for operator in load_table().values() if operator.precision in BOUNDS}
    assert set(CALLS) == bounded, f"CALLS of this file and the bounds disagree about {sorted(set(CALLS) ^ bounded)}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--op", choices=list(CALLS))
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    count: Counter[str] = Counter()
    for number in range(options.calls):
        for text in differences(drawn(options.seed, number, options.op), number, options.device):
            count[text.split()[0]] += 1
            print(f"{number}: {text}", flush=True)
    print(f"{options.calls} calls, {count.total()} differences")
    return 1 if count else 0


if __name__ == "__main__":
    raise SystemExit(main())
