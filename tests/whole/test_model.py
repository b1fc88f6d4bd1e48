"""The small model of text: it learns, and its gradient is the slope of its loss."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn

from .. import model

LAYOUTS = pytest.mark.parametrize("layout", [pn.strided, pn.jagged], ids=["strided", "jagged"])


def prepared(layout: Any, lines: int = 24) -> tuple[model.Parameters, Any, Any]:
    shown, targets, numbers = model.batch(model.lines_of_text(lines), layout)
    return model.new_parameters(numbers), shown, targets


def test_the_text_has_lines_of_every_length() -> None:
    lengths = [len(line) for line in model.lines_of_text(24)]
    assert min(lengths) == 0
    assert max(lengths) > 60
    assert len(set(lengths)) > 8


@LAYOUTS
def test_the_loss_falls(layout: Any) -> None:
    p, shown, targets = prepared(layout)
    losses = model.train(p, shown, targets, 30, 1.0)
    assert all(np.isfinite(losses))
    assert losses[-1] < 0.7 * losses[0]  # 4.35 to 2.85: which characters are frequent, and a little of the words
    assert model.loss(p, shown, targets).item() < losses[-1] + 0.1


def test_both_layouts_train_alike() -> None:
    strided, jagged = (model.train(*prepared(layout), 10, 1.0) for layout in (pn.strided, pn.jagged))
    np.testing.assert_allclose(strided, jagged, rtol=1e-11)


@LAYOUTS
def test_lines_do_not_see_each_other(layout: Any) -> None:
    p, shown, _ = prepared(layout)
    whole = model.scores(p, shown).unbind()
    for i in (0, 3, 7):
        alone = model.scores(p, pn.nested_array([shown.unbind()[i]], layout=layout)).unbind()[0]
        np.testing.assert_allclose(alone.detach().numpy(), whole[i].detach().numpy(), rtol=1e-12, atol=1e-12)


def directions(p: model.Parameters) -> model.Parameters:
    generator = np.random.default_rng(5)
    return {name: pn.array(generator.standard_normal(one.shape)) for name, one in p.items()}


@LAYOUTS
def test_the_gradient_is_the_slope_of_the_loss(layout: Any) -> None:
    p, shown, targets = prepared(layout)
    model.loss(p, shown, targets).backward()
    along = directions(p)
    pulled = sum((one.grad * along[name]).sum().item() for name, one in p.items())
    step = 1e-5

    def moved(by: float) -> float:
        there = {name: one.detach() + by * along[name] for name, one in p.items()}
        return model.loss(there, shown, targets).item()  # type: ignore[no-any-return]

    assert pulled == pytest.approx((moved(step) - moved(-step)) / (2 * step), rel=1e-7)
    pushed = pn.jvp(lambda there: model.loss(there, shown, targets), (p,), (along,))[1]
    assert pulled == pytest.approx(pushed.item(), rel=1e-12)


@LAYOUTS
def test_each_parameter_has_a_gradient_of_its_own(layout: Any) -> None:
    p, shown, targets = prepared(layout, 8)
    found = pn.grad(model.loss(p, shown, targets), p)
    along = directions(p)
    step = 1e-5
    for name in p:
        ends = []
        for by in (step, -step):
            there = {**p, name: p[name].detach() + by * along[name]}
            ends.append(model.loss(there, shown, targets).item())
        slope = (found[name] * along[name]).sum().item()
        assert slope == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-6, abs=1e-9), name
