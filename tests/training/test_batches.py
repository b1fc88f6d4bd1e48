"""Batches hold every sequence once, keep to their limits, and put similar lengths together."""

from __future__ import annotations

from collections.abc import Callable
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
    made = [batch.tolist() for batch in pn.training.batches(lengths, **words)]
    assert sorted(i for batch in made for i in batch) == list(range(len(lengths)))
    for batch in made:
        assert batch and (components is None or len(batch) <= components)
        assert elements is None or len(batch) == 1 or sum(lengths[i] for i in batch) <= elements
    spans = sorted((min(lengths[i] for i in batch), max(lengths[i] for i in batch)) for batch in made)
    assert all(first[1] <= second[0] for first, second in pairwise(spans))
    assert [batch.tolist() for batch in pn.training.batches(lengths, **words)] == made


def test_a_seed_draws_the_order() -> None:
    lengths = np.arange(100)
    orders = {
        tuple(batch[0] for batch in pn.training.batches(lengths, most_components=5, seed=seed)) for seed in range(4)
    }
    assert len(orders) == 4


batches = pn.training.batches
REFUSED: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: batches([1]), ArgumentError, "give most_elements or most_components"),
    (lambda: batches([1], most_elements=0), ArgumentError, "1 or above, not 0 and None"),
    (lambda: batches(pn.nested_array([[1.0], []]), most_elements=1), ArgumentError,  # type: ignore[arg-type]
     "takes the lengths of the components, not the array"),
    (lambda: batches([1], most_elements=1, seed="a"), ArgumentError, "seed must be an integer, not 'a'"),  # type: ignore[arg-type]
    (lambda: batches([1], most_elements=1, seed=-1), ArgumentError, "seed must be 0 or above, not -1"),
    (lambda: batches([-1], most_elements=1), StructureError, ""),
    (lambda: batches([0.5], most_elements=1), DTypeError, ""),  # type: ignore[list-item]
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_arguments_that_do_not_fit_are_refused(number: int) -> None:
    call, error, text = REFUSED[number]
    with pytest.raises(error, match=text or None):
        call()
