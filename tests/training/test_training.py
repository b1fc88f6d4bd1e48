"""Steps are those of PyTorch and of the formulas, on trees of arrays; batches put similar lengths together."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pynested as pn
from pynested.backends.errors import ArgumentError, DTypeError, ShapeError, StructureError, TraceError

LIMITS = st.integers(1, 12) | st.none()
WIDE = {"betas": (0.5, 0.9), "weight_decay": 0.1, "eps": 1e-3}
OPTIMIZERS: list[tuple[str, str, float, dict[str, Any]]] = [
    ("sgd", "SGD", 0.1, {}), ("sgd", "SGD", 0.1, {"momentum": 0.9}),
    ("sgd", "SGD", 0.1, {"momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
    ("adam", "Adam", 1e-3, {}), ("adam", "Adam", 0.1, WIDE), ("adamw", "AdamW", 0.1, {}), ("adamw", "AdamW", 0.1, WIDE),
]  # fmt: skip


@pytest.mark.parametrize(("ours", "theirs", "rate", "words"), OPTIMIZERS, ids=range(len(OPTIMIZERS)))
def test_steps_are_those_of_pytorch(ours: str, theirs: str, rate: float, words: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    generator = np.random.default_rng(0)
    start = {"w": generator.standard_normal((3, 2)), "b": generator.standard_normal(2)}
    ours_now: Any = {name: pn.array(numbers, requires_grad=True) for name, numbers in start.items()}
    theirs_now = {name: torch.tensor(numbers, requires_grad=True) for name, numbers in start.items()}
    state, optimizer = None, getattr(torch.optim, theirs)(list(theirs_now.values()), lr=rate, **words)
    for _ in range(5):
        slopes = {name: generator.standard_normal(numbers.shape) for name, numbers in start.items()}
        for name, parameter in theirs_now.items():
            parameter.grad = torch.tensor(slopes[name])
        optimizer.step()
        gradients = {name: pn.array(slope) for name, slope in slopes.items()}
        ours_now, state = getattr(pn.training, ours)(ours_now, gradients, state, learning_rate=rate, **words)
        for name, parameter in theirs_now.items():
            np.testing.assert_allclose(ours_now[name].detach().numpy(), parameter.detach().numpy(), 1e-12, 1e-14)


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
    slopes = {"b": (pn.array([1.0], dtype=pn.float32), [pn.array(1.0)]), "a": pn.ones_like(nested)}  # by their names
    for step in (pn.training.sgd, pn.training.adam, pn.training.adamw):
        made, _ = step(tree, slopes, learning_rate=0.5)
        assert isinstance(made["b"], tuple) and isinstance(made["b"][1], list)
        assert isinstance(made["a"], pn.NestedArray) and made["a"].requires_grad and made["a"].is_leaf
        assert made["b"][0].dtype == np.float32 and not made["b"][0].requires_grad and made["b"][1][0].requires_grad
        assert nested.tolist() == [[1.0], [2.0, 3.0]]
        assert np.less(made["a"].values().detach().numpy(), [1.0, 2.0, 3.0]).all()


W, G, NESTED = pn.array([1.0]), pn.array([1.0]), pn.nested_array([[1.0]])
SPLIT = [pn.nested_array(rows, layout=pn.jagged) for rows in ([[1.0], [2.0, 3.0]], [[1.0, 2.0], [3.0]])]
training: Any = pn.training
adam, sgd, clip, batches = training.adam, training.sgd, training.clip_by_norm, training.batches
MOMENTUM, MOMENTS = sgd(W, G, learning_rate=0.1)[1], adam(W, G)[1]
REFUSED: list[tuple[Any, type[Exception], str]] = [
    (lambda: sgd(W, G, learning_rate=-1.0), ArgumentError, "must be a number, 0 or above and finite, not -1.0"),
    (lambda: sgd(W, G, learning_rate=math.nan), ArgumentError, "not nan"),
    (lambda: sgd(W, G, learning_rate="0.1"), ArgumentError, "learning_rate must be a number.*not '0.1'"),
    (lambda: sgd(W, G, learning_rate=lambda step: 1.0), ArgumentError, "must be a number.*not <function"),
    (lambda: sgd(W, G, learning_rate=1.0, nesterov=True), ArgumentError, "momentum must be above 0"),
    (lambda: adam(W, G, betas=(0.9, 1.0)), ArgumentError, "betas are two numbers from 0 to below 1"),
    (lambda: adam(W, G, betas=0.9), ArgumentError, "betas are two numbers"),
    (lambda: adam(W, G, lr=0.1), ArgumentError, "there is no argument 'lr'"),
    # Trees that differ.
    (lambda: adam({}, {}), ArgumentError, "there is no array among the parameters"),
    (lambda: adam([W, W], [G]), ArgumentError, "gradients: a list of 1 does not have the form of a list of 2"),
    (lambda: adam([W, {"b": W}], [G, {"b": None}]), ArgumentError, r"parameters\[1\]\['b'\] has no gradient"),
    (lambda: adam({"a": W}, {"b": G}), ArgumentError, r"with the keys \['b'\] does not have the form of .* \['a'\]"),
    (lambda: adam({"a": W}, {"a": G, "b": G}), ArgumentError, r"with the keys \['a', 'b'\] does not have the form"),
    (lambda: adam([W], G), ArgumentError, "an Array does not have the form of a list of 1"),
    (lambda: adam([W], [None]), ArgumentError, r"parameters\[0\] has no gradient"),
    (lambda: adam([W], [NESTED]), ArgumentError, "gradients: this argument must be dense, not a nested array"),
    (lambda: sgd([W, np.ones(1)], [G, G], learning_rate=1.0), ArgumentError,
     r"parameters\[1\] is an array of NumPy.*pn\.array\(x\)"),
    (lambda: adam([W, W], [G, pn.ones(2)]), ShapeError, r"parameters\[1\] has a gradient of shape \(2,\)"),
    (lambda: adam(W, pn.array([1.0], dtype=pn.float32)), ShapeError, "has a gradient of .* dtype float32 for an array"),
    (lambda: adam([W, pn.array([1])], [G, pn.array([1])]), DTypeError, r"parameters\[1\] has dtype int64"),
    # A state of another step, or of other parameters.
    (lambda: adam(W, G, MOMENTUM), ArgumentError, "the AdamState that the previous step returned.*not this SGDState"),
    (lambda: adam(W, G, {}), ArgumentError, "the AdamState that the previous step returned.*not this dict"),
    (lambda: sgd(W, G, MOMENTS, learning_rate=0.1), ArgumentError, "the SGDState that.*not this AdamState"),
    (lambda: adam([W, W], [G, G], MOMENTS), ArgumentError, r"here float64 \(1,\), float64 \(1,\);"),
    (lambda: adam([W, W.to(pn.float32)], [G, G.to(pn.float32)], adam([W, W], [G, G])[1]), ArgumentError,
     r"here float64 \(1,\), float32 \(1,\);"),
    (lambda: sgd(SPLIT[0], SPLIT[0], sgd(SPLIT[1], SPLIT[1], learning_rate=0.1)[1], learning_rate=0.1), StructureError,
     "sgd: the state.*component 0"),
    (lambda: adam(W, G, training.AdamState(1, [], [G])), ArgumentError, "the state: a list of 0 does not have"),
    # Norms and weights.
    (lambda: clip(G, 0.0), ArgumentError, "most must be above 0"),
    (lambda: clip(G, "1"), ArgumentError, "most must be above 0"),
    (lambda: clip({"a": None}, 1.0), ArgumentError, "there is no array among the gradients"),
    (lambda: training.from_state_dict([]), ArgumentError, r"a mapping, such as module\.state_dict\(\), not a list"),
    (lambda: training.from_state_dict({"x": 1}), ArgumentError, "'x' is int, not a tensor"),
    # Batches.
    (lambda: batches([1]), ArgumentError, "give most_elements or most_components"),
    (lambda: batches([1], most_elements=0), ArgumentError, "1 or above, not {'most_elements': 0,"),
    (lambda: batches(pn.nested_array([[1.0], []]), most_elements=1), ArgumentError,
     r"batches: lengths must be dense\..*x\.lengths_along\(1\)"),
    (lambda: batches([1], most_elements=1, seed="a"), ArgumentError, "seed must be an integer, not 'a'"),
    (lambda: batches([1], most_elements=1, seed=-1), ArgumentError, "seed must be 0 or above, not -1"),
    (lambda: batches([-1], most_elements=1), StructureError, ""),
    (lambda: batches([0.5], most_elements=1), DTypeError, ""),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "text"), REFUSED, ids=range(len(REFUSED)))
def test_arguments_that_do_not_fit_are_refused(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text or None):
        call()


@pytest.mark.parametrize("kind", [float, np.float16, np.float64, Fraction])
def test_a_number_of_any_kind_keeps_the_dtype(kind: Any) -> None:
    """All numbers are powers of 2, which every kind represents."""
    p, half = pn.array([2.0], dtype=pn.float32), kind(0.5)
    stepped, state = sgd(p, p, learning_rate=half, momentum=half, weight_decay=half)
    assert stepped.dtype == state.velocities[0].dtype == np.float32 and stepped.tolist() == [2 - (2 + 1) / 2]
    for step in (adam, pn.training.adamw):
        stepped, moments = step(p, p, learning_rate=half, betas=(half, half), eps=half, weight_decay=half)
        assert stepped.dtype == moments.means[0].dtype == moments.squares[0].dtype == np.float32
    clipped, norm = clip(p, half)
    assert (clipped.dtype, clipped.tolist(), norm) == (np.float32, [0.5], 2.0)


@pytest.mark.parametrize("layout", [pn.strided, pn.jagged])
def test_gaps_of_gradients_do_not_count(layout: Any) -> None:
    for rest in (100.0, math.nan):
        gradient = pn.narrow(pn.array([[3.0, 4.0, rest], [rest, rest, 12.0]]), 1, [0, 2], [2, 1], layout=layout)
        assert clip(gradient, 13.0) == (gradient, 13.0)
        assert clip(gradient, 6.5)[0].tolist() == [[1.5, 2.0], [6.0]]


def test_a_nested_gradient_has_the_components_of_its_parameter_in_any_places() -> None:
    w = pn.nested_array([[1.0], [2.0, 3.0]], layout=pn.jagged)
    with pytest.raises(StructureError, match="component 0"):
        pn.training.adam(w, pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged))
    swapped = pn.nested_array_from_jagged(pn.array([20.0, 30.0, 10.0]), [2, 0, 3], [1, 2])
    assert sgd(w, swapped, learning_rate=0.1)[0].tolist() == [[0.0], [0.0, 0.0]]


@pytest.mark.parametrize("step", [partial(sgd, learning_rate=0.1, momentum=0.9), adam, training.adamw])
def test_a_step_can_be_compiled(step: Any) -> None:
    def train(parameters: Any, x: Any, state: Any) -> Any:
        loss = (x * parameters["w"]).sum() + (parameters["n"] * parameters["n"]).sum()
        return step(parameters, pn.grad(loss, parameters), state)

    x = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged)
    results = []
    for function in (train, pn.compile(train)):
        parameters: Any = {"w": pn.array([0.5], requires_grad=True), "n": x.clone().requires_grad_()}
        state = None
        for _ in range(3):
            parameters, state = function(parameters, x, state)
        results.append([parameters["w"].tolist(), parameters["n"].tolist(), parameters["w"].is_leaf])
    assert results[0] == results[1]
    with pytest.raises(TraceError, match=r"clip_by_norm cannot be recorded(.|\n)*depends on the elements"):
        pn.trace(lambda x: clip(x, 1.0)[0], x)


@pytest.mark.parametrize(("dtype", "large", "most"), [("float16", 6e4, 1e-3), ("float32", 3e38, 1e-3)])
@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_a_small_factor_of_clipping_is_not_rounded(dtype: str, large: float, most: float, device: str) -> None:
    gradient = pn.nested_array([[large], [0.0, -large]], dtype=dtype, device=device)
    clipped, _ = pn.training.clip_by_norm(gradient, most)
    assert (clipped.dtype, clipped.device) == (gradient.dtype, device)
    assert np.allclose(clipped.to("cpu")[1].numpy(), [0, -most / math.sqrt(2)], rtol=2**-10, atol=0)


def test_gradients_are_clipped_by_the_norm_of_all() -> None:
    tree = {"a": pn.array([3.0, 0.0]), "b": pn.nested_array([[4.0], [12.0]], layout=pn.jagged)}
    clipped, norm = pn.training.clip_by_norm(tree, 6.5)
    assert norm == 13.0 and clipped["a"].tolist() == [1.5, 0.0] and clipped["b"].tolist() == [[2.0], [6.0]]
    assert pn.training.clip_by_norm(tree, 13.0)[0] is tree
    for scale in (1e200, 1e-200):  # whose squares overflow, or vanish
        assert pn.training.clip_by_norm([pn.array([3 * scale, 4 * scale])], 1.0)[1] == pytest.approx(5 * scale)
    for bad in (math.nan, math.inf):
        clipped, norm = clip(tree := [pn.array([1.0, bad])], 1.0)
        assert clipped is tree and not math.isfinite(norm)


def test_state_dicts_of_pytorch() -> None:
    torch = pytest.importorskip("torch")
    module = torch.nn.BatchNorm1d(2)
    weights = pn.training.from_state_dict(module.state_dict())
    assert set(weights) == set(module.state_dict())
    assert weights["weight"].requires_grad and not weights["num_batches_tracked"].requires_grad
    weights["weight"].detach().mul_(2)
    assert module.weight.tolist() == [1, 1]


@given(st.lists(st.integers(0, 9), max_size=20), LIMITS, LIMITS, st.integers(0, 5) | st.none())
def test_every_sequence_is_in_one_batch_within_limits(lengths: Any, elements: Any, components: Any, seed: Any) -> None:
    if elements is None and components is None:
        return
    words: dict[str, Any] = {"most_elements": elements, "most_components": components, "seed": seed}
    made = [batch.tolist() for batch in pn.training.batches(lengths, **words)]
    assert sorted(i for batch in made for i in batch) == list(range(len(lengths)))
    for batch in made:
        assert batch and (components is None or len(batch) <= components)
        assert elements is None or len(batch) == 1 or sum(lengths[i] for i in batch) <= elements
    spans = sorted((min(lengths[i] for i in batch), max(lengths[i] for i in batch)) for batch in made)
    assert all(first[1] <= second[0] for first, second in pairwise(spans))
    assert [batch.tolist() for batch in pn.training.batches(lengths, **words)] == made


def test_a_seed_draws_the_order() -> None:
    drawn = [batches(np.arange(100), most_components=5, seed=seed) for seed in range(4)]
    assert len({tuple(batch[0] for batch in made) for made in drawn}) == 4
