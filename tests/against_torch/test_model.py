"""The small model of text against the same model in dense PyTorch, one line after another."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pynested as pn

from .. import model

torch = pytest.importorskip("torch")
torch.set_num_threads(1)  # tensors are tiny
from torch.nn import functional  # noqa: E402


def dense_scores(p: dict[str, Any], characters: Any) -> Any:
    """The scores of one line: (L,) -> (L, numbers)."""
    x = functional.embedding(characters, p["characters"])
    query, key, value = (functional.linear(x, p[name]) for name in ("query", "key", "value"))
    attended = torch.softmax(query @ key.T / math.sqrt(model.WIDTH), dim=1) @ value
    mixed = functional.gelu(functional.layer_norm(x + attended, (model.WIDTH,), p["scale"], p["shift"]))
    return functional.linear(mixed, p["guess"], p["bias"])


def dense_loss(p: dict[str, Any], shown: Any, targets: Any) -> Any:
    """The mean over all hidden characters of the losses of all lines."""
    total, hidden = 0.0, 0
    for characters, answers in zip(shown.unbind(), targets.unbind(), strict=True):
        wanted = torch.tensor(answers.numpy())
        guesses = dense_scores(p, torch.tensor(characters.numpy()))
        total = total + functional.cross_entropy(guesses, wanted, reduction="sum", ignore_index=model.IGNORED)
        hidden += int((wanted != model.IGNORED).sum())
    return total / hidden


def in_torch(p: model.Parameters) -> dict[str, Any]:
    return {name: torch.tensor(one.detach().numpy(), requires_grad=True) for name, one in p.items()}


def check(p: model.Parameters, shown: Any, targets: Any) -> None:
    """Loss, scores and every gradient agree at these parameters."""
    ours, theirs = model.loss(p, shown, targets), dense_loss(mirrored := in_torch(p), shown, targets)
    assert ours.item() == pytest.approx(theirs.item(), rel=1e-13)
    found = pn.grad(ours, p)
    expected = torch.autograd.grad(theirs, list(mirrored.values()))
    for name, gradient in zip(p, expected, strict=True):
        scale = gradient.abs().max().item()
        np.testing.assert_allclose(found[name].numpy(), gradient.numpy(), rtol=1e-11, atol=1e-13 * scale, err_msg=name)
    for one, characters in zip(model.scores(p, shown).unbind(), shown.unbind(), strict=True):
        dense = dense_scores(mirrored, torch.tensor(characters.numpy()))
        np.testing.assert_allclose(one.detach().numpy(), dense.detach().numpy(), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("layout", [pn.strided, pn.jagged], ids=["strided", "jagged"])
def test_loss_and_gradients_before_and_after_training(layout: Any) -> None:
    shown, targets, numbers = model.batch(model.lines_of_text(24), layout)
    p = model.new_parameters(numbers)
    check(p, shown, targets)
    model.train(p, shown, targets, 30, 1.0)
    check(p, shown, targets)


@pytest.mark.parametrize("layout", [pn.strided, pn.jagged], ids=["strided", "jagged"])
def test_training_is_step_by_step_the_same(layout: Any) -> None:
    shown, targets, numbers = model.batch(model.lines_of_text(24), layout)
    p = model.new_parameters(numbers)
    mirrored = in_torch(p)
    losses = model.train(p, shown, targets, 30, 1.0)
    for step, loss in enumerate(losses):
        current = dense_loss(mirrored, shown, targets)
        assert loss == pytest.approx(current.item(), rel=1e-9), step
        gradients = torch.autograd.grad(current, list(mirrored.values()))
        with torch.no_grad():
            for one, gradient in zip(mirrored.values(), gradients, strict=True):
                one.sub_(gradient)
