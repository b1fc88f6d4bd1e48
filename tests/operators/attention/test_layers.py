"""`multi_head_attention` and the layers of a transformer: written out in NumPy, dropped and empty."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn

HEADS, WIDTH = 2, 4
LAYOUTS = pytest.mark.parametrize("layout", [pn.jagged, pn.strided], ids=["jagged", "strided"])


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([seed, *shape]).standard_normal(shape)


GIVEN: dict[str, Any] = {
    "in_proj_weight": numbers(12, 4),
    "in_proj_bias": numbers(12),
    "out_proj_weight": numbers(4, 4),
    "out_proj_bias": numbers(4),
}


def encoder(attentions: tuple[str, ...] = ("self_attn",)) -> dict[str, Any]:
    """The parameters of a layer: norms that change nothing but mean and variance, and the rest at random."""
    p: dict[str, Any] = {"linear1.weight": numbers(6, 4), "linear1.bias": numbers(6), "linear2.weight": numbers(4, 6)}
    for name in attentions:
        p |= {f"{name}.{what.replace('out_proj_', 'out_proj.')}": one for what, one in GIVEN.items()}
    return p | {f"norm{number + 1}.weight": np.ones(4) for number in range(len(attentions) + 1)}


def written_out(q: np.ndarray, k: np.ndarray, count: int, causal: bool) -> np.ndarray:
    """One component, one head after the other."""
    weights, biases = (np.split(GIVEN[f"in_proj_{name}"], 3) for name in ("weight", "bias"))
    made = [x @ weight.T + bias for x, weight, bias in zip((q, k, k), weights, biases, strict=True)]
    heads = []
    for a, b, c in zip(*(np.split(one, count, axis=1) for one in made), strict=True):
        powers = np.exp(a @ b.T / np.sqrt(WIDTH / count)) * (np.tri(len(a), len(b)) if causal else 1)
        heads.append(powers / powers.sum(axis=1, keepdims=True) @ c if len(b) else np.zeros((len(a), WIDTH // count)))
    return np.asarray(np.concatenate(heads, axis=1) @ GIVEN["out_proj_weight"].T + GIVEN["out_proj_bias"])


@LAYOUTS
@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("causal", [False, True])
def test_each_component_is_what_is_written_out(layout: Any, causal: bool, count: int) -> None:
    queries, keys = ([numbers(n, 4, seed=i) for n in lengths] for i, lengths in enumerate(((2, 0, 1, 3), (3, 2, 0, 3))))
    q, k = pn.nested_array(queries, layout=layout), pn.nested_array(keys, layout=layout)
    made = pn.multi_head_attention(q, k, k, count, **GIVEN, is_causal=causal)
    assert made.layout is layout
    for one, a, b in zip(made.unbind(), queries, keys, strict=True):
        np.testing.assert_allclose(one.numpy(), written_out(a, b, count, causal), rtol=1e-12, atol=1e-13)
    for one, a, b in zip(made.unbind(), queries, keys, strict=True):  # dense, and without a batch
        np.testing.assert_allclose(pn.multi_head_attention(a, b, b, count, **GIVEN, is_causal=causal).numpy(), one)


@LAYOUTS
def test_one_matrix_for_all_is_three_apart(layout: Any) -> None:
    x = pn.nested_array([numbers(n, 4) for n in (2, 3)], layout=layout)
    given = dict(GIVEN)
    parts = np.split(given.pop("in_proj_weight"), 3)
    apart = {f"{name}_proj_weight": one for name, one in zip("qkv", parts, strict=True)}
    packed = pn.multi_head_attention(x, x, x, HEADS, **GIVEN)
    for others in ((x, x), (x, pn.clone(x)), (pn.clone(x), x)):
        for weights in (GIVEN, {"in_proj_weight": None, **given, **apart}):
            assert pn.allclose(pn.multi_head_attention(x, *others, HEADS, **weights), packed)


@LAYOUTS
def test_weights_of_queries_that_meet_no_key_are_0(layout: Any) -> None:
    q = pn.nested_array([numbers(2, 4), numbers(1, 4)], layout=layout)
    k = pn.nested_array([numbers(0, 4), numbers(3, 4)], layout=layout)
    made, weights = pn.multi_head_attention(q, k, k, HEADS, **GIVEN, need_weights=True, average_attn_weights=False)
    np.testing.assert_array_equal(made.unbind()[0].numpy(), np.stack([GIVEN["out_proj_bias"]] * 2))
    assert [one.shape for one in weights.unbind()] == [(2, 2, 0), (2, 1, 3)]
    np.testing.assert_allclose(weights.unbind()[1].sum(-1).numpy(), 1)
    assert weights.layout is pn.strided
    regular = pn.array(numbers(2, 5, 4))
    _, weights = pn.multi_head_attention(regular, k, k, HEADS, **GIVEN, need_weights=True)
    assert weights.layout is layout and [one.shape for one in weights.unbind()] == [(5, 0), (5, 3)]


@LAYOUTS
def test_no_components(layout: Any) -> None:
    x = pn.nested_array_from_jagged(pn.array(numbers(0, 4)), [0])
    x = x if layout is pn.jagged else pn.nested_array([numbers(1, 4)])[:0]
    made, weights = pn.multi_head_attention(x, x, x, HEADS, **GIVEN, need_weights=True)
    assert (len(made), made.layout, len(weights)) == (0, layout, 0)
    assert len(pn.transformer_encoder_layer(x, encoder(), HEADS)) == 0


def test_dropped_weights_are_those_that_are_returned() -> None:
    """Values of ones in a single row of each head: what a query gets is the sum of its weights."""
    x = pn.nested_array([numbers(n, 4) for n in (5, 3)], layout=pn.jagged)
    given = {"in_proj_weight": np.zeros((12, 4)), "in_proj_bias": np.repeat([0.0, 0.0, 1.0], 4)}
    options: dict[str, Any] = {"dropout_p": 0.5, "need_weights": True, "average_attn_weights": False}
    drawn = [np.random.default_rng(seed) for seed in (1, 1, 2)]
    first, again, other = (
        pn.multi_head_attention(x, x, x, HEADS, **given, out_proj_weight=np.eye(4), generator=one, **options)
        for one in drawn
    )
    assert pn.equal(first[0], again[0]) and not pn.equal(first[0], other[0])
    for out, weights, n in zip(first[0].unbind(), first[1].unbind(), (5, 3), strict=True):
        assert set(np.round(weights.numpy() * n, 12).ravel()) == {0.0, 2.0}
        np.testing.assert_allclose(out.numpy()[:, ::2].T, weights.sum(-1).numpy())


@pytest.mark.parametrize("norm_first", [False, True])
def test_layers_drop_by_their_generator(norm_first: bool) -> None:
    x = pn.nested_array([numbers(n, 4) for n in (5, 3)], layout=pn.jagged)
    p, q = encoder(), encoder(("self_attn", "multihead_attn"))

    def both(share: float, seed: int) -> list[Any]:
        options = {"norm_first": norm_first, "dropout_p": share, "generator": np.random.default_rng(seed)}
        return [
            pn.transformer_encoder_layer(x, p, HEADS, **options),
            pn.transformer_decoder_layer(x, x, q, HEADS, **options),
        ]

    for first, again, other, without in zip(both(0.3, 1), both(0.3, 1), both(0.3, 2), both(0.0, 1), strict=True):
        assert pn.equal(first, again) and not pn.equal(first, other) and not pn.equal(first, without)
    if norm_first:  # all that is added is dropped
        assert all(pn.equal(one, x) for one in both(1.0, 1))


def test_a_parameter_of_none_is_as_if_it_were_not_there() -> None:
    x, p = pn.nested_array([numbers(2, 4)]), encoder()
    without = {name: one for name, one in p.items() if name != "linear1.bias"}
    found, due = (pn.transformer_encoder_layer(x, one, HEADS) for one in (without | {"linear1.bias": None}, without))
    assert pn.equal(found, due)
