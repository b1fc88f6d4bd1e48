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
LAYOUTS = pytest.mark.parametrize("layout", [pn.jagged, pn.strided], ids=str)


def parameters(dtype: Any = np.float64) -> transformer.Parameters:
    return transformer.new_parameters(len(CHARACTERS), 16, dtype=dtype)


def scores(p: transformer.Parameters, lines: list[str], layout: Any) -> list[np.ndarray]:
    read, _ = transformer.batch(lines, CHARACTERS, layout)
    return [component.detach().numpy() for component in transformer.scores(p, read).unbind()]


def test_the_loss_falls() -> None:
    p = parameters(np.float32)
    losses = list(transformer.train(p, LINES, CHARACTERS, 16, 12, 2e-2))
    assert np.isfinite(losses).all()
    assert np.mean(losses[-4:]) < 0.8 * np.mean(losses[:4])  # the frequent characters are learned
    line = transformer.written(p, CHARACTERS, np.random.default_rng(0))
    assert len(line) <= transformer.LONGEST and set(line) <= set(CHARACTERS)


@LAYOUTS
def test_scores_depend_only_on_the_characters_before_them_in_their_line(layout: Any) -> None:
    p = parameters()
    whole = scores(p, FEW, layout)
    for i, line in enumerate(FEW):
        half = len(line) // 2
        for alone in (line, line[:half]):
            (shown,) = scores(p, [alone], layout)
            np.testing.assert_allclose(shown, whole[i][: len(alone) + 1], rtol=1e-12, atol=1e-12)


@LAYOUTS
def test_the_gradient_is_the_slope_of_the_loss(layout: Any) -> None:
    p, batch = parameters(), transformer.batch(FEW, CHARACTERS, layout)
    generator = np.random.default_rng(5)
    direction = {name: pn.array(generator.standard_normal(value.shape)) for name, value in p.items()}
    gradients = pn.grad(transformer.loss(p, *batch), p)
    slope = sum((gradients[name] * direction[name]).sum().item() for name in p)

    def loss_at(step: float) -> float:
        moved = {name: value.detach() + step * direction[name] for name, value in p.items()}
        return transformer.loss(moved, *batch).item()  # type: ignore[no-any-return]

    assert slope == pytest.approx((loss_at(1e-5) - loss_at(-1e-5)) / 2e-5, rel=1e-6)
    tangent = pn.jvp(lambda moved: transformer.loss(moved, *batch), (p,), (direction,))[1]
    assert slope == pytest.approx(tangent.item(), rel=1e-12)
