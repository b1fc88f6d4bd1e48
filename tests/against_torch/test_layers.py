"""Attention in heads and the layers of a transformer against PyTorch's modules with the same weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn

torch = pytest.importorskip("torch")
torch.set_num_threads(1)  # tensors are tiny

WIDTH, HEADS = 8, 2
LENGTHS, OTHERS = (3, 1, 4), (2, 3, 5)
LAYOUTS = pytest.mark.parametrize("layout", [pn.jagged, pn.strided, None], ids=["jagged", "strided", "dense"])


def rows(lengths: tuple[int, ...], width: int, seed: int) -> list[np.ndarray]:
    generator = np.random.default_rng(seed)
    return [generator.standard_normal((n, width)) for n in lengths]


def mirrored(module: Any) -> dict[str, Any]:
    """The module's weights, none of them 0 or 1, as arrays of ours."""
    generator = np.random.default_rng(9)
    found = {}
    with torch.no_grad():
        for name, one in module.named_parameters():
            one.copy_(torch.tensor(generator.standard_normal(one.shape) / 2))
            found[name] = pn.array(one.detach().numpy().copy(), requires_grad=True)
    return found


def operands(lengths: tuple[int, ...], width: int, seed: int, layout: Any) -> tuple[Any, list[Any]]:
    """Ours, nested or a dense batch of equal lengths, and theirs, a tensor for each component."""
    components = rows(lengths if layout else (3,) * len(lengths), width, seed)
    ours = pn.nested_array(components, layout=layout) if layout else pn.array(np.stack(components))
    ours.requires_grad_()
    return ours, [torch.tensor(one, requires_grad=True) for one in components]


def each(x: Any) -> list[np.ndarray]:
    return [np.asarray(one.detach().numpy()) for one in x.unbind()]


def check(ours: Any, theirs: list[Any], leaves: list[tuple[Any, Any]]) -> None:
    """Results, and the gradients of leaves of ours and of theirs, agree; theirs may be several tensors."""
    generator = np.random.default_rng(7)
    cotangents = [generator.standard_normal(one.shape) for one in theirs]
    for one, due in zip(each(ours), theirs, strict=True):
        np.testing.assert_allclose(one, due.detach().numpy(), rtol=1e-10, atol=1e-12)
    torch.autograd.backward(theirs, [torch.tensor(g) for g in cotangents])
    nested = isinstance(ours, pn.NestedArray)
    ours.backward(pn.nested_array(cotangents, layout=ours.layout) if nested else pn.array(np.stack(cotangents)))
    for own, other in leaves:
        found = each(own.grad) if isinstance(other, list) else [own.grad.numpy()]
        for one, due in zip(found, other if isinstance(other, list) else [other], strict=True):
            np.testing.assert_allclose(one, due.grad.numpy(), rtol=1e-9, atol=1e-11)


def attention_of(width_of_keys: int, width_of_values: int, bias: bool) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """PyTorch's module, our weights by its names, and as arguments."""
    sizes = {"kdim": width_of_keys, "vdim": width_of_values}
    module = torch.nn.MultiheadAttention(WIDTH, HEADS, bias=bias, batch_first=True, dtype=torch.float64, **sizes)
    p = mirrored(module)
    given: dict[str, Any] = {"in_proj_weight": None, "in_proj_bias": None}
    return module, p, given | {name.replace(".", "_"): one for name, one in p.items()}


@LAYOUTS
@pytest.mark.parametrize(("sizes", "bias"), [((8, 8), True), ((8, 8), False), ((6, 4), True)])
def test_attention_between_two_arrays(layout: Any, sizes: tuple[int, int], bias: bool) -> None:
    module, p, given = attention_of(*sizes, bias)
    shapes = (LENGTHS, WIDTH), (OTHERS, sizes[0]), (OTHERS, sizes[1])
    q, k, v = (operands(n, w, i, layout) for i, (n, w) in enumerate(shapes))
    ours = pn.multi_head_attention(q[0], k[0], v[0], HEADS, **given)
    theirs = [module(*[x[None] for x in one])[0][0] for one in zip(q[1], k[1], v[1], strict=True)]
    check(ours, theirs, [q, k, v, *((p[name], one) for name, one in module.named_parameters())])


@LAYOUTS
@pytest.mark.parametrize("average", [True, False])
def test_weights(layout: Any, average: bool) -> None:
    module, _, given = attention_of(WIDTH, WIDTH, True)
    (x, xs), (y, ys) = operands(LENGTHS, WIDTH, 0, layout), operands(OTHERS, WIDTH, 1, layout)
    options = {"need_weights": True, "average_attn_weights": average}
    out, weights = pn.multi_head_attention(x, y, y, HEADS, **given, **options)
    due = [module(a[None], b[None], b[None], **options) for a, b in zip(xs, ys, strict=True)]
    check(weights, [one[1][0] for one in due], [(x, xs), (y, ys)])
    for one, other in zip(each(out), due, strict=True):
        np.testing.assert_allclose(one, other[0][0].detach().numpy(), rtol=1e-10, atol=1e-12)


@LAYOUTS
def test_masks_of_either_kind(layout: Any) -> None:
    """PyTorch's module is told which keys do not take part, and ours which do."""
    module, _, given = attention_of(WIDTH, WIDTH, True)
    x, xs = operands(LENGTHS, WIDTH, 0, layout)
    y = torch.tensor(np.stack(rows((3,) * len(xs), WIDTH, 1)))
    memory = pn.array(y.numpy())
    for mask in (np.array([[True, False, True]]), np.array([[0.5, -1.0, 2.0]])):
        ours = pn.multi_head_attention(x, memory, memory, HEADS, **given, attn_mask=mask)
        other = torch.tensor(mask if mask.dtype == np.float64 else ~mask)
        theirs = [module(a, b, b, attn_mask=other.expand(len(a), -1))[0] for a, b in zip(xs, y, strict=True)]
        check(ours, theirs, [])


VARIANTS: list[dict[str, Any]] = [
    {"norm_first": False, "activation": "relu", "layer_norm_eps": 1e-5},
    {"norm_first": True, "activation": "gelu", "layer_norm_eps": 0.1},
]


@LAYOUTS
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda one: one["activation"])
@pytest.mark.parametrize("bias", [True, False])
def test_encoder_layer(layout: Any, variant: dict[str, Any], bias: bool) -> None:
    module = torch.nn.TransformerEncoderLayer(
        WIDTH, HEADS, 12, 0.0, batch_first=True, dtype=torch.float64, bias=bias, **variant
    )
    p, (x, xs) = mirrored(module), operands(LENGTHS, WIDTH, 0, layout)
    ours = pn.transformer_encoder_layer(x, p, HEADS, is_causal=True, **variant)
    masks = [torch.nn.Transformer.generate_square_subsequent_mask(len(one), dtype=torch.float64) for one in xs]
    theirs = [module(one[None], mask, is_causal=True)[0] for one, mask in zip(xs, masks, strict=True)]
    check(ours, theirs, [(x, xs), *((p[name], one) for name, one in module.named_parameters())])


@LAYOUTS
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda one: one["activation"])
def test_decoder_layer(layout: Any, variant: dict[str, Any]) -> None:
    module = torch.nn.TransformerDecoderLayer(WIDTH, HEADS, 12, 0.0, batch_first=True, dtype=torch.float64, **variant)
    p, (x, xs), (y, ys) = mirrored(module), operands(LENGTHS, WIDTH, 0, layout), operands(OTHERS, WIDTH, 1, layout)
    ours = pn.transformer_decoder_layer(x, y, p, HEADS, tgt_is_causal=True, **variant)
    masks = [torch.nn.Transformer.generate_square_subsequent_mask(len(one), dtype=torch.float64) for one in xs]
    theirs = [module(a[None], b[None], m, tgt_is_causal=True)[0] for a, b, m in zip(xs, ys, masks, strict=True)]
    check(ours, theirs, [(x, xs), (y, ys), *((p[name], one) for name, one in module.named_parameters())])
