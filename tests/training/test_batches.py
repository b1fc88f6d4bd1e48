"""Batches hold every sequence once, keep to their limits, and put similar lengths together."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pynested as pn
from pynested.backends.errors import ArgumentError, DTypeError, StructureError

LIMITS = st.integers(1, 12) | st.none()


@given(st.lists(st.integers(0, 9), max_size=20), LIMITS, LIMITS, st.integers(0, 5) | st.none())
def test_every_sequence_is_in_one_batch_within_the_limits(
    lengths: list[int], elements: int | None, components: int | None, seed: int | None
) -> None:
    if elements is None and components is None:
        return
    words: dict[str, Any] = {"most_elements": elements, "most_components": components, "seed": seed}
    made = [one.tolist() for one in pn.training.batches(lengths, **words)]
    assert sorted(i for one in made for i in one) == list(range(len(lengths)))
    for one in made:
        assert one and (components is None or len(one) <= components)
        assert elements is None or len(one) == 1 or sum(lengths[i] for i in one) <= elements
    spans = sorted((min(lengths[i] for i in one), max(lengths[i] for i in one)) for one in made)
    assert all(first[1] <= second[0] for first, second in pairwise(spans))
    assert [one.tolist() for one in pn.training.batches(lengths, **words)] == made


def test_a_seed_draws_the_order() -> None:
    lengths = np.arange(100)
    orders = {tuple(one[0] for one in pn.training.batches(lengths, most_components=5, seed=seed)) for seed in range(4)}
    assert len(orders) == 4


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(ArgumentError, match="give most_elements or most_components"):
        pn.training.batches([1])
    with pytest.raises(ArgumentError, match="1 or above, not 0 and None"):
        pn.training.batches([1], most_elements=0)
    with pytest.raises(ArgumentError, match="takes the lengths of the components, not the array"):
        pn.training.batches(pn.nested_array([[1.0], []]), most_elements=1)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="seed must be an integer, not 'a'"):
        pn.training.batches([1], most_elements=1, seed="a")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="seed must be 0 or above, not -1"):
        pn.training.batches([1], most_elements=1, seed=-1)
    with pytest.raises(StructureError):
        pn.training.batches([-1], most_elements=1)
    with pytest.raises(DTypeError):
        pn.training.batches([0.5], most_elements=1)  # type: ignore[list-item]
