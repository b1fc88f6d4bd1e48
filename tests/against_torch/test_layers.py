"""Attention in heads and the layers of a transformer against PyTorch's modules with the same weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.autograd import backward

from ..nests import plain

torch = pytest.importorskip("torch")
torch.set_num_threads(1)  # tensors are tiny

WIDTH, HEADS = 8, 2
LENGTHS, OTHERS = (3, 1, 4), (2, 3, 5)
LAYOUTS = pytest.mark.parametrize("layout", [pn.jagged, pn.strided, None], ids=["jagged", "strided", "dense"])
Pair = tuple[Any, Any]  # an array of ours, and PyTorch's tensor or a list of one for each component


def operands(lengths: tuple[int, ...], width: int, seed: int, layout: Any) -> Pair:
    """Return rows, nested or as a dense batch of equal lengths, and a tensor for each component."""
    generator = np.random.default_rng(seed)
    components = [generator.standard_normal((n if layout else 3, width)) for n in lengths]
    ours = pn.nested_array(components, layout=layout) if layout else pn.array(np.stack(components))
    return ours.requires_grad_(), [torch.tensor(one, requires_grad=True) for one in components]


def parameters(module: Any) -> tuple[dict[str, Any], list[Pair]]:
    """Draw the weights of a module, and return ours by its names, and both sides."""
    generator, ours = np.random.default_rng(9), {}
    with torch.no_grad():
        for name, one in module.named_parameters():
            one.copy_(torch.tensor(generator.standard_normal(one.shape) / 2))
            ours[name] = pn.array(one.detach().numpy().copy(), requires_grad=True)
    return ours, [(ours[name], one) for name, one in module.named_parameters()]


def check(ours: Any, theirs: list[Any], leaves: list[Pair]) -> None:
    """Check results, and the gradients of the leaves for one cotangent."""
    generator = np.random.default_rng(7)
    cotangents = [generator.standard_normal(one.shape) for one in theirs]
    torch.autograd.backward(theirs, list(map(torch.tensor, cotangents)))
    backward(ours.unbind(), list(map(pn.array, cotangents)))
    pairs = [*zip(plain(ours), theirs, strict=True)]
    for own, other in leaves:
        grads = [(plain(own.grad), other)] if not isinstance(other, list) else zip(plain(own.grad), other, strict=True)
        pairs += [(found, tensor.grad) for found, tensor in grads]
    for found, due in pairs:
        np.testing.assert_allclose(found, due.detach().numpy(), rtol=1e-9, atol=1e-11)


def attention(width_of_keys: int, width_of_values: int, bias: bool) -> tuple[Any, dict[str, Any], list[Pair]]:
    """Return PyTorch's module, our weights as arguments, and both sides."""
    options = {"kdim": width_of_keys, "vdim": width_of_values, "bias": bias, "dtype": torch.float64}
    module = torch.nn.MultiheadAttention(WIDTH, HEADS, batch_first=True, **options)
    ours, pairs = parameters(module)
    names = {name: name.replace(".", "_") for name in ours}
    return module, {"in_proj_weight": None, "in_proj_bias": None} | {names[name]: ours[name] for name in ours}, pairs


@LAYOUTS
@pytest.mark.parametrize(("sizes", "bias"), [((8, 8), True), ((8, 8), False), ((6, 4), True)])
def test_attention_between_two_arrays(layout: Any, sizes: tuple[int, int], bias: bool) -> None:
    module, weights, pairs = attention(*sizes, bias)
    shapes = (LENGTHS, WIDTH), (OTHERS, sizes[0]), (OTHERS, sizes[1])
    q, k, v = (operands(*shape, seed, layout) for seed, shape in enumerate(shapes))
    theirs = [module(*[x[None] for x in one])[0][0] for one in zip(q[1], k[1], v[1], strict=True)]
    check(pn.multi_head_attention(q[0], k[0], v[0], HEADS, **weights), theirs, [q, k, v, *pairs])


@LAYOUTS
@pytest.mark.parametrize("average", [True, False])
def test_weights(layout: Any, average: bool) -> None:
    module, weights, _ = attention(WIDTH, WIDTH, True)
    x, y = operands(LENGTHS, WIDTH, 0, layout), operands(OTHERS, WIDTH, 1, layout)
    options = {"need_weights": True, "average_attn_weights": average}
    found = pn.multi_head_attention(x[0], y[0], y[0], HEADS, **weights, **options)[1]
    check(found, [module(a[None], b[None], b[None], **options)[1][0] for a, b in zip(x[1], y[1], strict=True)], [x, y])


@LAYOUTS
@pytest.mark.parametrize("mask", [np.array([[True, False, True]]), np.array([[0.5, -1.0, 2.0]])], ids=["bool", "float"])
def test_masks(layout: Any, mask: Any) -> None:
    """PyTorch's mask says which keys take no part, ours which do."""
    module, weights, pairs = attention(WIDTH, WIDTH, True)
    x, (memory, ys) = operands(LENGTHS, WIDTH, 0, layout), operands(LENGTHS, WIDTH, 1, None)
    other = torch.tensor(mask if mask.dtype == np.float64 else ~mask)
    theirs = [module(a, b, b, attn_mask=other.expand(len(a), -1))[0] for a, b in zip(x[1], ys, strict=True)]
    ours = pn.multi_head_attention(x[0], memory, memory, HEADS, **weights, attn_mask=mask)
    check(ours, theirs, [x, (memory, ys), *pairs])


@LAYOUTS
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("norm_first", "activation", "eps"), [(False, "relu", 1e-5), (True, "gelu", 0.1)])
@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_layers(kind: str, norm_first: bool, activation: str, eps: float, bias: bool, layout: Any) -> None:
    options: dict[str, Any] = {"norm_first": norm_first, "activation": activation, "layer_norm_eps": eps}
    make = getattr(torch.nn, f"Transformer{kind.capitalize()}Layer")
    module = make(WIDTH, HEADS, 12, 0.0, batch_first=True, dtype=torch.float64, bias=bias, **options)
    given = [operands(LENGTHS, WIDTH, 0, layout), operands(OTHERS, WIDTH, 1, layout)][: 1 + (kind == "decoder")]
    ours, pairs = parameters(module)
    causal = "is_causal" if kind == "encoder" else "tgt_is_causal"
    theirs = [
        module(*(x[None] for x in one), torch.nn.Transformer.generate_square_subsequent_mask(len(one[0])).double(),
               **{causal: True})[0]
        for one in zip(*(other for _, other in given), strict=True)
    ]  # fmt: skip
    layer = getattr(pn, f"transformer_{kind}_layer")
    check(layer(*(x for x, _ in given), ours, HEADS, **{causal: True}, **options), theirs, [*given, *pairs])
