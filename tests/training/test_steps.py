"""Steps are those of PyTorch and of the formulas, on trees of dense and nested arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError, DTypeError, ShapeError, StructureError

NESTEROV = {"momentum": 0.9, "nesterov": True, "weight_decay": 0.01}
WIDE = {"betas": (0.5, 0.9), "weight_decay": 0.1, "eps": 1e-3}
OPTIMIZERS: list[tuple[str, str, float, dict[str, Any]]] = [
    ("sgd", "SGD", 0.1, {}),
    ("sgd", "SGD", 0.1, {"momentum": 0.9}),
    ("sgd", "SGD", 0.1, NESTEROV),
    ("adam", "Adam", 1e-3, {}),
    ("adam", "Adam", 0.1, WIDE),
    ("adamw", "AdamW", 0.1, {}),
    ("adamw", "AdamW", 0.1, WIDE),
]


@pytest.mark.parametrize(("ours", "theirs", "rate", "words"), OPTIMIZERS, ids=range(len(OPTIMIZERS)))
def test_steps_are_those_of_pytorch(ours: str, theirs: str, rate: float, words: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    generator = np.random.default_rng(0)
    start = {"w": generator.standard_normal((3, 2)), "b": generator.standard_normal(2)}
    mine: Any = {name: pn.array(one, requires_grad=True) for name, one in start.items()}
    parameters = {name: torch.tensor(one, requires_grad=True) for name, one in start.items()}
    optimizer = getattr(torch.optim, theirs)(list(parameters.values()), lr=rate, **words)
    state = None
    for _ in range(5):
        slopes = {name: generator.standard_normal(one.shape) for name, one in start.items()}
        for name, one in parameters.items():
            one.grad = torch.tensor(slopes[name])
        optimizer.step()
        given = {name: pn.array(slope) for name, slope in slopes.items()}
        mine, state = getattr(pn.training, ours)(mine, given, state, learning_rate=rate, **words)
        for name, one in parameters.items():
            np.testing.assert_allclose(mine[name].detach().numpy(), one.detach().numpy(), rtol=1e-12, atol=1e-14)


def test_two_steps_written_out() -> None:
    p, g = 2.0, 0.5
    made, state = pn.training.sgd(pn.array([p]), pn.array([g]), learning_rate=0.1, momentum=0.5)
    assert made.tolist() == [p - 0.1 * g]
    made, state = pn.training.sgd(made, pn.array([g]), state, learning_rate=0.1, momentum=0.5)
    assert made.tolist() == [p - 0.1 * g - 0.1 * (0.5 * g + g)]
    made, moments = pn.training.adam(pn.array([p]), pn.array([g]), learning_rate=0.1, betas=(0.5, 0.75), eps=0.0)
    made, moments = pn.training.adam(made, pn.array([2 * g]), moments, learning_rate=0.1, betas=(0.5, 0.75), eps=0.0)
    m, v = 0.25 * g + 0.5 * 2 * g, 0.75 * 0.25 * g**2 + 0.25 * (2 * g) ** 2
    assert made.item() == pytest.approx(p - 0.1 - 0.1 * (m / 0.75) / math.sqrt(v / (1 - 0.75**2)), rel=1e-14)
    assert moments.steps == 2


def test_trees_keep_their_form_and_the_old_parameters_stay() -> None:
    nested = pn.nested_array([[1.0], [2.0, 3.0]], layout=pn.jagged, requires_grad=True)
    tree = {"a": nested, "b": (pn.array([1.0], dtype=pn.float32), [pn.array(2.0, requires_grad=True)])}
    slopes = {"a": pn.ones_like(nested), "b": (pn.array([1.0], dtype=pn.float32), [pn.array(1.0)])}
    for step in (pn.training.sgd, pn.training.adam, pn.training.adamw):
        made, _ = step(tree, slopes, learning_rate=0.5)
        assert isinstance(made["b"], tuple) and isinstance(made["b"][1], list)
        assert isinstance(made["a"], pn.NestedArray) and made["a"].requires_grad and made["a"].is_leaf
        assert made["b"][0].dtype == np.float32 and not made["b"][0].requires_grad and made["b"][1][0].requires_grad
        assert nested.tolist() == [[1.0], [2.0, 3.0]]
        assert np.less(made["a"].values().detach().numpy(), [1.0, 2.0, 3.0]).all()


def test_a_model_learns() -> None:
    generator = np.random.default_rng(1)
    x = pn.nested_array([generator.standard_normal((n, 3)) for n in (4, 1, 6)], layout=pn.jagged)
    true = pn.array([[1.0, -2.0, 0.5]])
    wanted = pn.linear(x, true)
    w: Any = pn.zeros(1, 3, requires_grad=True)
    state = None
    for step in range(200):
        loss = pn.square(pn.linear(x, w) - wanted).values().mean()
        slope, norm = pn.training.clip_by_norm(pn.grad(loss, w), 10.0)
        w, state = pn.training.adam(w, slope, state, learning_rate=0.3 * (1 - step / 200))
    assert norm < 1e-2
    np.testing.assert_allclose(w.detach().numpy(), true.numpy(), atol=1e-3)


def test_what_makes_no_sense_is_refused() -> None:
    w, g = pn.array([1.0]), pn.array([1.0])
    for call, says in (
        (lambda: pn.training.sgd(w, g, learning_rate=-1.0), "learning_rate must be 0 or above, and finite, not -1.0"),
        (lambda: pn.training.sgd(w, g, learning_rate=math.nan), "not nan"),
        (lambda: pn.training.sgd(w, g, learning_rate=1.0, nesterov=True), "momentum must be above 0"),
        (lambda: pn.training.adam(w, g, betas=(0.9, 1.0)), "betas are two numbers from 0 to below 1"),
        (lambda: pn.training.adam({}, {}), "there is no array among the parameters"),
        (lambda: pn.training.adam([w, w], [g]), r"parameters\[1\] has no gradient"),
        (lambda: pn.training.adam({"a": w}, {"b": g}), r"parameters\['a'\] has no gradient"),
        (lambda: pn.training.adam({"a": w}, {"a": g, "b": g}), r"gradients\['b'\] has no parameter"),
        (lambda: pn.training.adam([w], g), r"parameters\[0\] has no gradient"),
        (lambda: pn.training.adam([w], [None]), "there is no array among the gradients"),
        (
            lambda: pn.training.adam([w], [pn.nested_array([[1.0]])]),
            r"parameters\[0\] is an Array, and its gradient a NestedArray",
        ),
        (
            lambda: pn.training.sgd([w, np.ones(1)], [g, g], learning_rate=1.0),
            r"parameters\[1\] is an array of NumPy.*pn\.array\(x\)",
        ),
        (lambda: pn.training.sgd(w, g, learning_rate="0.1"), "learning_rate is a number, not a str"),  # type: ignore[arg-type]
        (lambda: pn.training.sgd(w, g, learning_rate=lambda step: 1.0), "is a number, not a function"),  # type: ignore[arg-type, misc]
        (lambda: pn.training.adam(w, g, betas=0.9), "betas are two numbers"),  # type: ignore[arg-type]
        (lambda: pn.training.adam(w, g, lr=0.1), "there is no argument 'lr'"),  # type: ignore[call-arg]
        (lambda: pn.training.clip_by_norm(g, 0.0), "most must be above 0"),
        (lambda: pn.training.clip_by_norm(g, "1"), "most must be above 0"),  # type: ignore[arg-type]
        (lambda: pn.training.clip_by_norm({"a": None}, 1.0), "there is no array among the gradients"),
    ):
        with pytest.raises(ArgumentError, match=says):
            call()
    with pytest.raises(ShapeError, match=r"parameters\[1\] has shape \(1,\), and its gradient \(2,\)"):
        pn.training.adam([w, w], [g, pn.ones(2)])
    with pytest.raises(DTypeError, match=r"parameters\[1\] has dtype int64, and steps are made of floats"):
        pn.training.adam([w, pn.array([1])], [g, pn.array([1])])


def test_a_state_is_that_of_this_step_and_of_these_parameters() -> None:
    w, g = pn.array([1.0]), pn.array([1.0])
    momentum = pn.training.sgd(w, g, learning_rate=0.1)[1]
    moments = pn.training.adam(w, g)[1]
    wrong: Any
    for wrong, says in ((momentum, "not a SGDState"), ({}, "not a dict")):
        with pytest.raises(ArgumentError, match=f"the state is AdamState, which the step before gave.*{says}"):
            pn.training.adam(w, g, wrong)
    with pytest.raises(ArgumentError, match="the state is SGDState.*not an AdamState"):
        pn.training.sgd(w, g, moments, learning_rate=0.1)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"the state is that of parameters of shapes \[\(1,\)\]"):
        pn.training.adam([w, w], [g, g], moments)


def test_gradients_stand_beside_parameters_by_their_names() -> None:
    tree = {"a": pn.array([1.0]), "b": pn.array([2.0])}
    slopes = {"b": pn.array([10.0]), "a": pn.array([1.0])}
    made, _ = pn.training.sgd(tree, slopes, learning_rate=0.5)
    assert {name: one.tolist() for name, one in made.items()} == {"a": [0.5], "b": [-3.0]}


def test_a_nested_gradient_has_the_components_of_its_parameter_in_the_same_places() -> None:
    w = pn.nested_array([[1.0], [2.0, 3.0]], layout=pn.jagged)
    with pytest.raises(StructureError, match="component 0"):
        pn.training.adam(w, pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged))
    values, lengths = pn.ones(3), [1, 2]
    first = pn.nested_array_from_jagged(values, [0, 1, 3], lengths)
    swapped = pn.nested_array_from_jagged(values, [2, 0, 3], lengths)
    with pytest.raises(StructureError, match="does not lie in memory as its parameter does"):
        pn.training.adam(first, swapped)


class TestClipping:
    def test_norms(self) -> None:
        tree = {"a": pn.array([3.0, 0.0]), "b": pn.nested_array([[4.0], [12.0]], layout=pn.jagged)}
        clipped, norm = pn.training.clip_by_norm(tree, 6.5)
        assert norm == 13.0
        assert clipped["a"].tolist() == [1.5, 0.0] and clipped["b"].tolist() == [[2.0], [6.0]]
        assert pn.training.clip_by_norm(tree, 13.0)[0] is tree

    def test_sizes_that_squares_have_not(self) -> None:
        assert pn.training.clip_by_norm([pn.array([3e200, 4e200])], 1.0)[1] == pytest.approx(5e200)
        assert pn.training.clip_by_norm([pn.array([3e-200, 4e-200])], 1.0)[1] == pytest.approx(5e-200)

    @pytest.mark.parametrize("bad", [math.nan, math.inf])
    def test_what_is_not_finite_stays_to_be_seen(self, bad: float) -> None:
        tree = [pn.array([1.0, bad])]
        clipped, norm = pn.training.clip_by_norm(tree, 1.0)
        assert clipped is tree and not math.isfinite(norm)


def test_state_dicts() -> None:
    torch = pytest.importorskip("torch")
    module = torch.nn.BatchNorm1d(2)
    weights = pn.training.from_state_dict(module.state_dict())
    assert set(weights) == set(module.state_dict())
    assert weights["weight"].requires_grad and not weights["num_batches_tracked"].requires_grad
    weights["weight"].detach().mul_(2)
    assert module.weight.tolist() == [1, 1]
    with pytest.raises(ArgumentError, match="'x' is int, not a tensor"):
        pn.training.from_state_dict({"x": 1})


def test_what_is_no_state_dict_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"what module\.state_dict\(\) gives, not a list"):
        pn.training.from_state_dict([])  # type: ignore[arg-type]
