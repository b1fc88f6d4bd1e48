"""The transformer of `docs/transformer.py`: it learns, no line sees another, and no character what comes after it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn
from docs import transformer

LINES = transformer.lines_of_text()
CHARACTERS = "".join(sorted({transformer.START, *"".join(LINES)}))
WIDTH = 16


def parameters(dtype: Any = np.float64) -> transformer.Parameters:
    return transformer.new_parameters(len(CHARACTERS), WIDTH, dtype=dtype)


def scores(p: transformer.Parameters, lines: list[str], layout: Any = pn.jagged) -> list[np.ndarray]:
    return [
        one.detach().numpy() for one in transformer.scores(p, transformer.batch(lines, CHARACTERS, layout)[0]).unbind()
    ]


def test_the_loss_falls() -> None:
    p = parameters(np.float32)
    losses = list(transformer.train(p, LINES, CHARACTERS, 30, 16, 1e-2))
    assert len({len(line) for line in LINES[:16]}) > 8
    assert np.isfinite(losses).all()
    assert np.mean(losses[-5:]) < 0.8 * np.mean(losses[:5])  # 4.5 to 3.1: which characters are frequent


@pytest.mark.parametrize("layout", [pn.jagged, pn.strided], ids=["jagged", "strided"])
def test_lines_do_not_see_each_other_nor_characters_what_follows(layout: Any) -> None:
    p, lines = parameters(), [LINES[i] for i in (3, 40, 41)]
    whole = scores(p, lines, layout)
    for i, line in enumerate(lines):
        np.testing.assert_allclose(scores(p, [line], layout)[0], whole[i], rtol=1e-12, atol=1e-12)
        half = len(line) // 2
        np.testing.assert_allclose(scores(p, [line[:half]], layout)[0], whole[i][: half + 1], rtol=1e-12, atol=1e-12)


def test_it_writes_lines() -> None:
    line = transformer.written(parameters(np.float32), CHARACTERS, np.random.default_rng(0))
    assert 0 <= len(line) <= transformer.LONGEST and set(line) <= set(CHARACTERS)
