"""The layers of a transformer against PyTorch's modules with the same weights.

The vectors and `pynested conform --target torch` check attention in several heads.
"""

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
Pair = tuple[Any, list[Any]]  # an array of ours, and PyTorch's tensor, or one for each component


def operands(lengths: tuple[int, ...], seed: int, layout: Any) -> Pair:
    """Return rows, nested or as a dense batch of equal lengths, and a tensor for each component."""
    generator = np.random.default_rng(seed)
    components = [generator.standard_normal((n if layout else 3, WIDTH)) for n in lengths]
    ours = pn.nested_array(components, layout=layout) if layout else pn.array(np.stack(components))
    return ours.requires_grad_(), [torch.tensor(component, requires_grad=True) for component in components]


def parameters(module: Any) -> tuple[dict[str, Any], list[Pair]]:
    """Draw the weights of a module, and return ours by its names, and both sides."""
    generator, ours = np.random.default_rng(9), {}
    with torch.no_grad():
        for name, weight in module.named_parameters():
            weight.copy_(torch.tensor(generator.standard_normal(weight.shape) / 2))
            ours[name] = pn.array(weight.detach().numpy().copy(), requires_grad=True)
    return ours, [(ours[name], [weight]) for name, weight in module.named_parameters()]


def check(ours: Any, theirs: list[Any], leaves: list[Pair]) -> None:
    """Check results, and the gradients of the leaves for one cotangent."""
    generator = np.random.default_rng(7)
    cotangents = [generator.standard_normal(result.shape) for result in theirs]
    torch.autograd.backward(theirs, list(map(torch.tensor, cotangents)))
    backward(ours.unbind(), list(map(pn.array, cotangents)))
    pairs = [*zip(plain(ours), theirs, strict=True)]
    for leaf, tensors in leaves:
        grads = plain(leaf.grad) if len(tensors) > 1 else [plain(leaf.grad)]
        pairs += [(grad, x.grad) for grad, x in zip(grads, tensors, strict=True)]
    for result, expected in pairs:
        np.testing.assert_allclose(result, expected.detach().numpy(), rtol=1e-9, atol=1e-11)


@LAYOUTS
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("norm_first", "activation", "eps"), [(False, "relu", 1e-5), (True, "gelu", 0.1)])
@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_layers(kind: str, norm_first: bool, activation: str, eps: float, bias: bool, layout: Any) -> None:
    options: dict[str, Any] = {"norm_first": norm_first, "activation": activation, "layer_norm_eps": eps}
    make = getattr(torch.nn, f"Transformer{kind.capitalize()}Layer")
    module = make(WIDTH, HEADS, 12, 0.0, batch_first=True, dtype=torch.float64, bias=bias, **options)
    inputs = [operands(LENGTHS, 0, layout), operands(OTHERS, 1, layout)][: 1 + (kind == "decoder")]
    weights, pairs = parameters(module)
    causal = "is_causal" if kind == "encoder" else "tgt_is_causal"
    results = []
    for components in zip(*(tensors for _, tensors in inputs), strict=True):
        mask = torch.nn.Transformer.generate_square_subsequent_mask(len(components[0])).double()
        results.append(module(*(x[None] for x in components), mask, **{causal: True})[0])
    layer = getattr(pn, f"transformer_{kind}_layer")
    ours = layer(*(x for x, _ in inputs), weights, HEADS, **{causal: True}, **options)
    check(ours, results, [*inputs, *pairs])
