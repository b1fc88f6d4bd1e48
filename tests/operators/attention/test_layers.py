"""`multi_head_attention` and the layers of a transformer: forms of parameters, weights and dropout."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import pynested as pn

from ...nests import distinct
from ..error_inputs.attention import ATTENTION as WEIGHTS
from ..error_inputs.attention import DECODER, ENCODER

HEADS = 2


def test_dense_rows_need_no_batch() -> None:
    rows = pn.array(distinct((3, 4)))
    nested = pn.as_nested_array([rows])
    expected = pn.multi_head_attention(nested, nested, nested, HEADS, **WEIGHTS)[0]
    assert pn.allclose(pn.multi_head_attention(rows, rows, rows, HEADS, **WEIGHTS), expected)


def test_weights_are_strided_if_queries_and_keys_are_ragged(layout: Any) -> None:
    q, k = (pn.nested_array([distinct((n, 4)) for n in lengths], layout=layout) for lengths in ((2, 1), (0, 3)))
    for query, expected in ((q, pn.strided), (pn.array(distinct((2, 5, 4))), layout)):
        _, weights = pn.multi_head_attention(query, k, k, HEADS, **WEIGHTS, need_weights=True)
        assert weights.layout is expected


def test_weights_of_a_query_that_meets_no_key_are_zeros() -> None:
    mask = np.array([[True, False], [False, False]])
    x = distinct((2, 4))
    _, weights = pn.multi_head_attention(x, x, x, HEADS, **WEIGHTS, attn_mask=pn.array(mask), need_weights=True)
    np.testing.assert_array_equal(weights.numpy(), [[1.0, 0.0], [0.0, 0.0]])


def test_dropped_weights_are_those_that_are_returned() -> None:
    """Values of ones in a single row of each head: the result of a query is the sum of its weights."""
    x = pn.nested_array([distinct((n, 4)) for n in (5, 3)], layout=pn.jagged)
    weights = {"in_proj_weight": np.zeros((12, 4)), "in_proj_bias": np.repeat([0.0, 0.0, 1.0], 4)}
    options: dict[str, Any] = {"dropout_p": 0.5, "need_weights": True, "average_attn_weights": False}
    of_rows = partial(pn.multi_head_attention, x, x, x, HEADS, **weights, out_proj_weight=np.eye(4), **options)
    first, again, other = (of_rows(generator=np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert pn.equal(first[0], again[0]) and not pn.equal(first[0], other[0])
    for out, weights, n in zip(first[0].unbind(), first[1].unbind(), (5, 3), strict=True):
        assert set(np.round(weights.numpy() * n, 12).ravel()) == {0.0, 2.0}
        np.testing.assert_allclose(out.numpy()[:, ::2].T, weights.sum(-1).numpy())


@pytest.mark.parametrize("norm_first", [False, True])
def test_layers_drop_by_their_generator(norm_first: bool) -> None:
    x = pn.nested_array([distinct((n, 4)) for n in (5, 3)], layout=pn.jagged)

    def both(share: float, seed: int) -> list[Any]:
        options = {"norm_first": norm_first, "dropout_p": share, "generator": np.random.default_rng(seed)}
        encoded = pn.transformer_encoder_layer(x, ENCODER, HEADS, **options)
        return [encoded, pn.transformer_decoder_layer(x, x, DECODER, HEADS, **options)]

    for first, again, other, without in zip(both(0.3, 1), both(0.3, 1), both(0.3, 2), both(0.0, 1), strict=True):
        assert pn.equal(first, again) and not pn.equal(first, other) and not pn.equal(first, without)
    if norm_first:  # all that is added is dropped
        assert all(pn.equal(result, x) for result in both(1.0, 1))


def test_a_parameter_of_none_is_a_missing_one() -> None:
    x = pn.nested_array([distinct((2, 4))])
    without = {name: part for name, part in ENCODER.items() if name != "linear1.bias"}
    due = pn.transformer_encoder_layer(x, without, HEADS)
    assert pn.equal(pn.transformer_encoder_layer(x, without | {"linear1.bias": None}, HEADS), due)
