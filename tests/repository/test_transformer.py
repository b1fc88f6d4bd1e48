"""The transformer of `docs/transformer.py` learns, and its gradient is the slope of its loss in both layouts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn
from docs import transformer

LINES = transformer.lines_of_text()
CHARACTERS = "".join(sorted({transformer.START, *"".join(LINES)}))
FEW = [LINES[i] for i in (3, 40, 41)]


def parameters(dtype: Any = np.float64) -> transformer.Parameters:
    return transformer.new_parameters(len(CHARACTERS), 16, dtype=dtype)


def test_the_loss_falls() -> None:
    p = parameters(np.float32)
    losses = list(transformer.train(p, LINES, CHARACTERS, 16, 12, 2e-2))
    assert np.isfinite(losses).all()
    assert np.mean(losses[-4:]) < 0.8 * np.mean(losses[:4])  # the frequent characters are learned
    line = transformer.written(p, CHARACTERS, np.random.default_rng(0))
    assert len(line) <= transformer.LONGEST and set(line) <= set(CHARACTERS)


@pytest.mark.parametrize("layout", [pn.jagged, pn.strided], ids=str)
def test_scores_depend_only_on_the_characters_before_them_in_their_line(layout: Any) -> None:
    def scores(lines: list[str]) -> list[Any]:
        read, _ = transformer.batch(lines, CHARACTERS, layout)
        return [component.detach().numpy() for component in transformer.scores(p, read).unbind()]

    p = parameters()
    for line, whole in zip(FEW, scores(FEW), strict=True):
        for alone in (line, line[: len(line) // 2]):
            (shown,) = scores([alone])
            np.testing.assert_allclose(shown, whole[: len(alone) + 1], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("layout", [pn.jagged, pn.strided], ids=str)
def test_the_gradient_is_the_slope_of_the_loss(layout: Any) -> None:
    p, batch = parameters(), transformer.batch(FEW, CHARACTERS, layout)
    generator = np.random.default_rng(5)
    direction = {name: pn.array(generator.standard_normal(value.shape)) for name, value in p.items()}
    gradients = pn.grad(transformer.loss(p, *batch), p)
    slope = sum((gradients[name] * direction[name]).sum().item() for name in p)
    losses = [
        transformer.loss({name: p[name].detach() + step * direction[name] for name in p}, *batch).item()
        for step in (1e-5, -1e-5)
    ]
    assert slope == pytest.approx((losses[0] - losses[1]) / 2e-5, rel=1e-6)
