"""The transformer of `docs/transformer.py` against the same model in dense PyTorch, one line after another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn
from docs import transformer

torch = pytest.importorskip("torch")
torch.set_num_threads(1)  # tensors are tiny
from torch.nn import functional  # noqa: E402

LINES = transformer.lines_of_text()
CHARACTERS = "".join(sorted({transformer.START, *"".join(LINES)}))


def dense_scores(p: dict[str, Any], read: Any) -> Any:
    """The scores of one line: (L,) -> (L, characters)."""
    x = functional.embedding(read, p["characters"]) + p["places"][: len(read)]
    for layer in range(transformer.LAYERS):

        def linear(name: str, x: Any, layer: int = layer) -> Any:
            return functional.linear(x, p[f"{layer} {name}weight"], p[f"{layer} {name}bias"])

        def normed(name: str, x: Any, layer: int = layer) -> Any:
            scale, shift = (p[f"{layer} {name}.{what}"] for what in ("weight", "bias"))
            return functional.layer_norm(x, scale.shape, scale, shift)

        heads = linear("self_attn.in_proj_", normed("norm1", x)).chunk(3, -1)
        q, k, v = (one.unflatten(-1, (transformer.HEADS, -1)).transpose(0, 1) for one in heads)
        taken = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + linear("self_attn.out_proj.", taken.transpose(0, 1).flatten(1))
        x = x + linear("linear2.", functional.gelu(linear("linear1.", normed("norm2", x))))
    return functional.linear(functional.layer_norm(x, p["scale"].shape, p["scale"], p["shift"]), p["guess"])


def check(p: transformer.Parameters, lines: list[str], layout: Any) -> None:
    """Scores of each line, the loss and every gradient agree at these parameters."""
    read, following = transformer.batch(lines, CHARACTERS, layout)
    mirrored = {name: torch.tensor(one.detach().numpy(), requires_grad=True) for name, one in p.items()}
    found = [dense_scores(mirrored, torch.tensor(one.numpy())) for one in read.unbind()]
    for one, due in zip(transformer.scores(p, read).unbind(), found, strict=True):
        np.testing.assert_allclose(one.detach().numpy(), due.detach().numpy(), rtol=1e-10, atol=1e-12)
    theirs = functional.cross_entropy(
        torch.cat(found), torch.cat([torch.tensor(one.numpy()) for one in following.unbind()])
    )
    ours = transformer.loss(p, read, following)
    assert ours.item() == pytest.approx(theirs.item(), rel=1e-12)
    expected = torch.autograd.grad(theirs, list(mirrored.values()))
    for name, gradient, due in zip(p, pn.grad(ours, list(p.values())), expected, strict=True):
        scale = due.abs().max().item()
        np.testing.assert_allclose(gradient.numpy(), due.numpy(), rtol=1e-9, atol=1e-12 * scale, err_msg=name)


@pytest.mark.parametrize("layout", [pn.strided, pn.jagged], ids=["strided", "jagged"])
def test_loss_and_gradients_before_and_after_training(layout: Any) -> None:
    p = transformer.new_parameters(len(CHARACTERS), 16, dtype=np.float64)
    lines = [LINES[i] for i in (0, 7, 40, 41, 99)]
    assert len({len(line) for line in lines}) > 3
    check(p, lines, layout)
    for _ in transformer.train(p, LINES, CHARACTERS, 5, 8, 1e-2):
        pass
    check(p, lines, layout)
