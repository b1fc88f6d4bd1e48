"""The transformer of `docs/transformer.py` trains as the same model in dense PyTorch, one line after another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn
from docs import transformer
from pynested.conformance.adapters.torch_layers import transformer_encoder_layer

torch = pytest.importorskip("torch")
torch.set_num_threads(1)  # tensors are tiny
functional = torch.nn.functional

LINES = ["", *(transformer.lines_of_text()[i] for i in (0, 7, 40, 41, 99))]
CHARACTERS = "".join(sorted({transformer.START, *"".join(LINES)}))
RATE = 0.1  # of gradient descent


def dense_scores(p: dict[str, Any], read: Any) -> Any:
    """Return the scores of one line: (L,) -> (L, characters)."""
    x = functional.embedding(read, p["characters"]) + p["places"][: len(read)]
    for layer in range(transformer.LAYERS):
        own = {name.split()[1]: one for name, one in p.items() if name.startswith(f"{layer} ")}
        x = transformer_encoder_layer(x, own, transformer.HEADS, is_causal=True, norm_first=True, activation="gelu")
    return functional.linear(functional.layer_norm(x, p["scale"].shape, p["scale"], p["shift"]), p["guess"])


@pytest.mark.parametrize("layout", [pn.strided, pn.jagged], ids=["strided", "jagged"])
def test_scores_losses_and_gradients_of_each_step(layout: Any) -> None:
    p = transformer.new_parameters(len(CHARACTERS), 16, dtype=np.float64)
    mirrored = {name: torch.tensor(one.detach().numpy(), requires_grad=True) for name, one in p.items()}
    read, following = transformer.batch(LINES, CHARACTERS, layout)
    targets = torch.cat([torch.tensor(one.numpy()) for one in following.unbind()])
    for _ in range(4):
        due = [dense_scores(mirrored, torch.tensor(one.numpy())) for one in read.unbind()]
        for one, other in zip(transformer.scores(p, read).unbind(), due, strict=True):
            np.testing.assert_allclose(one.detach().numpy(), other.detach().numpy(), rtol=1e-10, atol=1e-12)
        ours, theirs = transformer.loss(p, read, following), functional.cross_entropy(torch.cat(due), targets)
        assert ours.item() == pytest.approx(theirs.item(), rel=1e-12)
        expected = torch.autograd.grad(theirs, list(mirrored.values()))
        for name, slope, other in zip(p, pn.grad(ours, list(p.values())), expected, strict=True):
            scale = other.abs().max().item()
            np.testing.assert_allclose(slope.numpy(), other.numpy(), rtol=1e-9, atol=1e-12 * scale, err_msg=name)
            with pn.no_grad(), torch.no_grad():
                p[name].sub_(slope, alpha=RATE)
                mirrored[name].sub_(other, alpha=RATE)
