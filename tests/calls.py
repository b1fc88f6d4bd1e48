"""Sample calls of every operator on a small batch.

Properties of all operators run each of them, on nested arrays of both layouts and on dense ones: a call equals its
definition (`operators/test_law.py`) and PyTorch (`against_torch/test_operators.py`), the layout of its result follows
from those of its operands (`operators/test_result_structure.py`), a device computes what the CPU does
(`backends/cuda/test_device_law.py`), and nothing stays in memory (`operators/resources/test_garbage.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

import pynested as pn
from pynested.backends.errors import EmptyReductionError, IndexOutOfRange, StructureError
from pynested.spec.encoding import Components
from pynested.spec.functions import FUNCTIONS
from pynested.spec.pairs import PAIRS, Pair
from pynested.spec.reductions import REDUCTIONS
from pynested.spec.table import run_wise

from .batches import REGULAR, ROWS, Arguments, Batch, Call, Operand, Refusal
from .nests import BOTH, DENSE, JAGGED, JAGGED_2, STRIDED, Numbers, distinct


def _pairs(pair: Pair) -> Iterator[Call]:
    """Yield operands of every kind: floats, of which the first are above 0, or integers."""
    whole, dtype = not pair.gradient, np.dtype("float64" if pair.gradient else pair.dtypes[0])
    first = lambda x: np.rint(64 * x).astype(dtype) if whole else np.abs(x) + 0.3  # noqa: E731
    second = lambda x: np.rint(8 * x).astype(dtype) if whole else x + 1.7  # noqa: E731
    number = 2 if whole else 2.5
    yield Call(pair.name, "nested", lambda b: (b.of(first, dtype), b.of(second, dtype)))
    yield Call(pair.name, "dense", lambda b: (b.of(first, dtype), second(distinct(b.sizes(b.count)))))
    yield Call(pair.name, "dense first", lambda b: (first(distinct(b.sizes(1))), b.of(second, dtype)))
    yield Call(pair.name, "number", lambda b: (b.of(first, dtype), number))
    yield Call(pair.name, "number first", lambda b: (number, b.of(second, dtype)))


def _apart(x: Numbers) -> Numbers:
    """Return numbers that equal none of `distinct`, at which a maximum would have no derivative."""
    return x + 1 / 32


def _elementwise() -> Iterator[Call]:
    for op in ("neg", "gelu", "silu", "logical_not", "clone", "detach", "contiguous", "unbind"):
        yield Call(op, "", lambda b: (b.x(),))
    for function in FUNCTIONS.values():
        yield Call(function.name, "", lambda b, f=function: (b.of(f.inside),), smooth=not function.is_step)
    for op in ("abs", "sgn", "relu"):
        yield Call(op, "", lambda b: (b.x(),), smooth=False)
    yield Call("gelu", "tanh", lambda b: (b.x(), "tanh"))
    for op in ("maximum", "minimum"):
        yield Call(op, "nested", lambda b: (b.x(), b.of(_apart, seed=1)), smooth=False)
        yield Call(op, "dense", lambda b: (b.x(), _apart(distinct(b.sizes(b.count)))), smooth=False)
        yield Call(op, "number", lambda b: (b.x(), 0.01), smooth=False)
    for pair in PAIRS.values():
        yield from _pairs(pair)
    yield Call("clamp", "nested", lambda b: (b.x(), b.of(lambda x: -abs(x) / 2), b.of(lambda x: abs(x) / 4)))
    yield Call("clamp", "dense", lambda b: (b.x(), distinct(b.sizes(b.count)) - 1, 0.5))
    yield Call("clamp", "max", lambda b: (b.x(), None, _apart(distinct(b.sizes(1)[2:]))))
    for op in ("add", "sub", "mul", "div"):
        yield Call(op, "nested", lambda b: (b.x(), b.x(1)))
        yield Call(op, "dense", lambda b: (b.x(), distinct(b.sizes(b.count))))
        yield Call(op, "stretched", lambda b: (b.x(), b.ones()), kinds=REGULAR)
    for op in ("sub", "mul", "maximum", "minimum"):
        yield Call(op, "dense first", lambda b: (_apart(distinct(b.sizes(1))), b.x()), smooth=op in ("sub", "mul"))
    for op in ("add", "div"):
        yield Call(op, "number", lambda b: (b.x(), 2.5))
        yield Call(op, "number first", lambda b: (0.5, b.x()))
        yield Call(op, "vector", lambda b: (b.x(), distinct(b.sizes(1)[2:])))
        yield Call(op, "dense first", lambda b: (distinct(b.sizes(1)), b.x()))
        yield Call(op, "no dimensions", lambda b: (b.x(), np.array(3.0)))
    for op in ("add", "sub"):
        yield Call(op, "alpha", lambda b: (b.x(), b.x(1)), {"alpha": 2.5})


def _comparison() -> Iterator[Call]:
    near = lambda b: b.of(np.abs)  # noqa: E731
    for op in ("eq", "lt", "equal"):
        yield Call(op, "nested", lambda b: (b.x(), near(b)))
    yield Call("allclose", "nested", lambda b: (b.x(), b.of(lambda x: x + 1e-9)))
    yield Call("allclose", "far", lambda b: (b.x(), near(b)), {"atol": 0.01})
    for op in ("eq", "lt"):
        yield Call(op, "dense", lambda b: (b.x(), distinct(b.sizes(b.count))))
        yield Call(op, "number", lambda b: (b.x(), 0.0625))
    yield Call("where", "nested", lambda b: (b.of(lambda x: x > 0, np.bool_), b.x(), b.x(1)))
    yield Call("where", "dense", lambda b: (b.of(lambda x: x > 0, np.bool_), distinct(b.sizes(b.count)), b.x(1)))
    yield Call("where", "condition", lambda b: (distinct(b.sizes(b.count)) > 0, b.x(), 1.0))
    yield Call("masked_fill", "nested", lambda b: (b.x(), b.of(lambda x: x > 0, np.bool_), 0.25))
    yield Call("masked_fill", "dense", lambda b: (b.x(), distinct(b.sizes(b.count)) > 0, 0.25))


def _empty_run(dims: tuple[int, ...]) -> Refusal:
    """Return the refusal of a maximum over ``dims``: a segment is empty and the result has an element there."""

    def refused(b: Batch) -> type[Exception] | None:
        if 0 not in dims:
            runs = [(shape, [n for d, n in enumerate(shape, 1) if d not in dims]) for shape in b.shapes]
            bad = any(0 in shape and 0 not in kept for shape, kept in runs)
            return EmptyReductionError if bad else None
        sizes = [max((s[d - 1] for s in b.shapes), default=b.logical()[d] or 0) for d in (1, 2) if d not in dims]
        present = {p for s in b.shapes for p in np.ndindex(*s)}
        seen = {tuple(k for d, k in enumerate(p, 1) if d not in dims) for p in present}
        return None if seen >= set(np.ndindex(*sizes)) else EmptyReductionError

    return refused


def _reduction() -> Iterator[Call]:
    for dims in ((1,), (2,), (1, 2), (0,), (0, 1), (0, 2), (0, 1, 2)):
        dim = None if len(dims) == 3 else dims if len(dims) == 2 else dims[0]
        for keepdim in (False, True):
            label = f"{dim}" + " kept" * keepdim
            composed = [name for name, reduction in REDUCTIONS.items() if reduction.differentiable]
            for op in ["sum"] if keepdim else ["sum", "mean", *composed]:
                yield Call(op, label, lambda b, dim=dim, keepdim=keepdim: (b.x(), dim, keepdim))
            arguments = lambda b, dim=dim, keepdim=keepdim: (b.x(), dim, keepdim)  # noqa: E731
            for op in ("argmax", "argmin")[: 2 * (len(dims) == 1)]:
                yield Call(op, label, arguments, refuses=_empty_run(dims))
            for op in [name for name, reduction in REDUCTIONS.items() if not reduction.differentiable]:
                yield Call(op, label, lambda b, a=arguments: (b.of(lambda x: x > 0, np.bool_), *a(b)[1:]))
            for op in ("amax", "amin"):
                yield Call(op, label, arguments, refuses=_empty_run(dims), smooth=False)

    for dims in ((3,), (1, 3), (2, 3)):
        yield Call("sum", f"deep {dims}", lambda b, dims=dims: (b.deep(), dims))
        yield Call(
            "amax", f"deep {dims}", lambda b, dims=dims: (b.deep(), dims), refuses=_empty_run(dims), smooth=False
        )


def _runs() -> Iterator[Call]:
    for op in run_wise():
        yield Call(op, "1", lambda b: (b.x(), 1))
        yield Call(op, "2", lambda b: (b.x(), 2))
    yield Call("layer_norm", "", lambda b: (b.x(), (2,)), kinds=ROWS)
    yield Call("layer_norm", "bias", lambda b: (b.x(), (2,), None, distinct((2,))), kinds=ROWS)
    yield Call("layer_norm", "affine", lambda b: (b.x(), (2,), distinct((2,)), distinct((2,), 1)), kinds=ROWS)
    for p, training in ((0.0, True), (1.0, True), (0.5, False)):
        yield Call("dropout", f"{p} {training}", lambda b, p=p, t=training: (b.x(), p, t))
    for op in ("matmul", "bmm"):
        yield Call(op, "nested", lambda b: (b.x(), b.turned()))
        yield Call(op, "dense", lambda b: (b.x(), distinct((b.count, 2, 3))), kinds=ROWS)
        yield Call(op, "dense first", lambda b: (distinct((b.count, 3, 2)), b.x()), kinds=(JAGGED_2,))
    yield Call("matmul", "matrix", lambda b: (b.x(), distinct((2, 3))), kinds=ROWS)
    yield Call("matmul", "vector", lambda b: (b.x(), distinct((2,))), kinds=ROWS)
    yield Call("matmul", "one slice", lambda b: (b.x(), distinct((1, 2, 3))), kinds=ROWS)
    yield Call("matmul", "matrix first", lambda b: (distinct((3, 2)), b.x()), kinds=(JAGGED_2,))
    yield Call("matmul", "one slice first", lambda b: (distinct((1, 3, 2)), b.x()), kinds=(JAGGED_2,))
    yield Call("linear", "", lambda b: (b.x(), distinct((3, 2))), kinds=ROWS)
    yield Call("linear", "bias", lambda b: (b.x(), distinct((3, 2)), distinct((3,))), kinds=ROWS)
    yield Call("embedding", "", lambda b: (b.labels(3), distinct((3, 2))))
    for reduction in ("none", "sum", "mean"):
        keywords = {"reduction": reduction}
        yield Call("cross_entropy", reduction, lambda b: (b.x(), b.labels(2)), keywords, ROWS)
        ignoring = {**keywords, "ignore_index": 1, "label_smoothing": 0.25}
        yield Call("cross_entropy", reduction + " ignoring", lambda b: (b.x(), b.labels(2)), ignoring, ROWS)
        weighing = {**keywords, "weight": np.array([0.5, 2.0]), "label_smoothing": 0.25}
        yield Call("cross_entropy", reduction + " weighing", lambda b: (b.x(), b.labels(2)), weighing, ROWS)


def _others(b: Batch) -> Operand:
    """Return as many components, each a row longer than those of the batch; the longest become empty."""
    made = [distinct(((n + 1) % 4, 2), seed) for seed, n in enumerate(b.lengths, 1)]
    return Operand(Components(made, (b.count, (b.lengths[0] + 1) % 4 if b.kind is DENSE else None, 2), np.float64), 1)


def _per_key(b: Batch) -> Operand:
    """Return numbers to add to the scores of each key of `Batch.x`."""
    made = [distinct((1, n), seed) for seed, n in enumerate(b.lengths, 1)]
    return Operand(Components(made, (b.count, 1, b.lengths[0] if b.kind is DENSE else None), np.float64), 2)


def layer_parameters(weights: Sequence[Numbers], *attentions: str, bias: bool = False) -> dict[str, Numbers]:
    """Return the parameters of a layer of a transformer, as wide as the weights of its attentions."""
    width = len(weights[2])
    names = ("in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias")
    made = {"linear1.weight": distinct((3, width)), "linear2.weight": distinct((width, 3), 1)}
    for attention in attentions:
        made |= {f"{attention}.{name}": weight for name, weight in zip(names, weights, strict=True)}
    norms = [f"norm{number + 1}" for number in range(len(attentions) + 1)]
    made |= {f"{norm}.weight": distinct((width,), number) for number, norm in enumerate(norms)}
    if bias:
        made |= {
            f"{part}.bias": distinct((3 if part == "linear1" else width,), 7) for part in ("linear1", "linear2", *norms)
        }
    return made


def _attention() -> Iterator[Call]:
    op = "scaled_dot_product_attention"
    yield Call(op, "", lambda b: (b.x(), b.x(1), b.x(2)), kinds=ROWS)
    yield Call(op, "causal", lambda b: (b.x(), b.x(1), b.x(2)), {"is_causal": True, "scale": -1.5}, ROWS)
    yield Call(op, "mask", lambda b: (b.x(), b.x(1), b.x(2), _per_key(b)), kinds=ROWS)
    yield Call(op, "causal across", lambda b: (b.x(), _others(b), _others(b)), {"is_causal": True}, ROWS)
    dense_ = lambda b: (b.x(), distinct((b.count, 3, 2)), distinct((b.count, 3, 4), 1))  # noqa: E731
    yield Call(op, "dense keys", dense_, kinds=ROWS)
    masked = lambda b: (b.x(), distinct((4, 2)), distinct((1, 4, 3), 1), distinct((1, 4), 2) * 8)  # noqa: E731
    yield Call(op, "dense mask", masked, kinds=ROWS)
    weights = distinct((6, 2)) / 8, distinct((6,), 1), distinct((2, 2), 2), distinct((2,), 3)
    yield Call("multi_head_attention", "", lambda b: (b.x(), b.x(1), b.x(2), 2, *weights), kinds=ROWS)
    yield Call(op, "dense query", lambda b: (distinct((3, 2)), b.x(1), b.x(2)), kinds=ROWS)
    encoder, decoder = layer_parameters(weights, "self_attn"), layer_parameters(weights, "self_attn", "multihead_attn")
    yield Call("transformer_encoder_layer", "", lambda b: (b.x(), encoder, 2), {"norm_first": True}, ROWS)
    yield Call("transformer_decoder_layer", "", lambda b: (b.x(), b.x(1), decoder, 2), {"norm_first": True}, ROWS)
    options = {"activation": "gelu", "layer_norm_eps": 0.1}
    encoder_2 = layer_parameters(weights, "self_attn", bias=True)
    decoder_2 = layer_parameters(weights, "self_attn", "multihead_attn", bias=True)
    keywords = {"is_causal": True, **options}
    yield Call("transformer_encoder_layer", "causal", lambda b: (b.x(), encoder_2, 1), keywords, ROWS)
    keywords = {"tgt_is_causal": True, **options}
    yield Call("transformer_decoder_layer", "causal", lambda b: (b.x(), _others(b), decoder_2, 1), keywords, ROWS)
    op = "flex_attention"
    yield Call(op, "", lambda b: (b.x(), b.x(1), b.x(2)), kinds=ROWS)
    mod = {"score_mod": lambda score, b, h, q_idx, kv_idx: score * score * 0.5 - score}
    yield Call(op, "function", lambda b: (b.x(), b.x(1), b.x(2)), mod, ROWS)
    yield Call(op, "function across", lambda b: (b.x(), _others(b), _others(b)), {**mod, "scale": -1.5}, ROWS)


def _too_short(index: int) -> Refusal:
    return lambda b: IndexOutOfRange if any(n < max(index + 1, -index) for n in b.lengths) else None


def _no_component(b: Batch) -> type[Exception] | None:
    return IndexOutOfRange if not b.count else None


def _movement() -> Iterator[Call]:
    yield Call("transpose", "", lambda b: (b.x(), 1, 2))
    yield Call("permute", "", lambda b: (b.x(), (0, 2, 1)))
    for order in ((1, 3, 2), (2, 1, 3), (2, 3, 1), (3, 1, 2), (3, 2, 1)):
        yield Call("permute", f"{order}", lambda b, order=order: (b.deep(), (0, *order)))
    yield Call("transpose", "deep", lambda b: (b.deep(), 1, 3))
    yield Call("flatten", "", lambda b: (b.x(), 1))
    for first, last in ((1, 2), (2, 3), (1, 3)):
        yield Call("flatten", f"deep {first} {last}", lambda b, dims=(first, last): (b.deep(), *dims))
    yield Call("squeeze", "", lambda b: (b.ones(), b.ones().ragged % 2 + 1), kinds=REGULAR)
    yield Call("reshape_as", "", lambda b: (b.x(), b.flat()))
    yield Call("select", "0", lambda b: (b.x(), 0, -1), refuses=_no_component)
    yield Call("narrow", "2", lambda b: (b.x(), 2, 1, 1), kinds=ROWS, dense=False)
    yield Call("narrow", "0", lambda b: (b.x(), 0, b.count // 2, b.count - b.count // 2), dense=False)
    for op in ("reshape", "view"):
        sizes = {1: (-1, 2, 1), 2: (2, -1, 1), None: (-1, -1, 1)}
        yield Call(op, "", lambda b, s=sizes: (b.x(), (b.count, *s[None if b.kind.both else b.ragged])))
    for dim in (1, 2, 3):
        yield Call("unsqueeze", f"{dim}", lambda b, dim=dim: (b.x(), dim))
        yield Call("stack", f"{dim}", lambda b, dim=dim: ([b.x(), b.x(1)], dim))
        yield Call("cat", f"{dim - 1}", lambda b, dim=dim: ([b.x(), b.x(1), b.x(2)], dim - 1))
    for sizes in ((2, 1), (1, -1)):
        yield Call("unflatten", f"{sizes}", lambda b, s=sizes: (b.x(), b.kind.regular, s), kinds=REGULAR)
    for index in (0, -1, 1):
        yield Call("select", f"regular {index}", lambda b, i=index: (b.x(), b.kind.regular, i), kinds=REGULAR)
        arguments = lambda b, i=index: (b.x(), b.ragged, i)  # noqa: E731
        yield Call("select", f"ragged {index}", arguments, kinds=REGULAR, refuses=_too_short(index))
    yield Call("chunk", "0", lambda b: (b.x(), 2))
    yield Call("chunk", "regular", lambda b: (b.x(), 2, b.kind.regular), kinds=REGULAR)
    yield Call("split", "0", lambda b: (b.x(), 2))
    yield Call("split", "regular", lambda b: (b.x(), (0, 2), b.kind.regular), kinds=REGULAR)


def _conversion() -> Iterator[Call]:
    def nothing(b: Batch) -> type[Exception] | None:
        return StructureError if not b.count else None

    for op in ("nested_array", "as_nested_array"):
        arguments = lambda b: (list(b.x().components),)  # noqa: E731
        yield Call(op, "strided", arguments, {"layout": pn.strided}, (STRIDED, BOTH), dense=False)
        yield Call(op, "jagged", arguments, {"layout": pn.jagged}, (JAGGED, JAGGED_2), nothing)
    yield Call("as_nested_array", "nested", lambda b: (b.x(),), {"layout": pn.strided}, dense=False)
    yield Call("to_padded_array", "", lambda b: (b.x(), 0.0), dense=False)
    yield Call("to_padded_array", "seven", lambda b: (b.x(), 7.0), dense=False)
    yield Call("to_padded_array", "larger", lambda b: (b.x(), 7.0, (b.count + 1, 4, 4)), dense=False)
    yield Call("to", "float64", lambda b: (b.x(), np.dtype(np.float64)))
    ends = (1, None), (None, None, -1), (-2, None), (None, None, 2), (2, 0, -1), (5, 9)
    ranges = [slice(*numbers) for numbers in ends]
    for part in ranges:
        for dim in (0, 1, 2) if part in ranges[:2] else (1,):
            yield Call("getitem", f"{dim} {part}", lambda b, d=dim, p=part: (b.x(), b.at(d, p)))
    picked: Arguments = lambda b: (b.x(), ([i * 2 % b.count for i in range(b.count)], slice(None), slice(1)))  # noqa: E731
    yield Call("getitem", "list", picked)
    yield Call("getitem", "mask", lambda b: (b.x(), b.of(lambda x: x > 0, np.bool_)), dense=False)
    yield Call("getitem", "none", lambda b: (b.x(), (slice(None), None, ..., None)))
    yield Call("getitem", "component", lambda b: (b.x(), (0, slice(None, None, -1))), refuses=_no_component)
    yield Call("getitem", "regular", lambda b: (b.x(), b.at(b.kind.regular, -1)), kinds=REGULAR)
    yield Call("getitem", "integer", lambda b: (b.x(), b.at(b.ragged, 0)), kinds=REGULAR, refuses=_too_short(0))


CALLS = [
    call
    for chapter in (_elementwise, _comparison, _reduction, _runs, _movement, _conversion, _attention)
    for call in chapter()
]
