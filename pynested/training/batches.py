"""Batches of sequences of similar lengths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pynested.autograd.arguments.shapes import canonical_int
from pynested.autograd.dispatch import method
from pynested.backends.errors import ArgumentError
from pynested.nested.nested_array import NestedArray
from pynested.structure.validation import as_integers, check_lengths

Ints = NDArray[np.int64]


@method
def batches(
    lengths: Sequence[int] | Ints,
    *,
    most_elements: int | None = None,
    most_components: int | None = None,
    seed: int | None = None,
) -> Iterator[Ints]:
    """Which sequences make up each batch: every one once, those of similar lengths together.

    Nothing is padded, so no padding is saved. What ``most_elements`` keeps even is the memory and the time of a step,
    and operators are faster on components of similar lengths.

    Parameters
    ----------
    lengths : integers (N,)
        Of the sequences, 0 or more.
    most_elements : int, optional
        The lengths of a batch add up to this at most; a longer sequence is a batch of its own.
    most_components : int, optional
        So many sequences are in a batch at most. One of the two must be given.
    seed : int, optional
        Sequences of one length, and the batches, come in an order drawn from it. Without one they come in the order of
        their lengths, the shortest first.

    Yields
    ------
    int64 array
        The numbers of the sequences of one batch.

    Raises
    ------
    ArgumentError
        For neither limit, one below 1, a seed below 0, and an array in place of its lengths.
    StructureError
        For negative lengths.
    DTypeError
        For lengths that are not integers.

    Examples
    --------
    >>> lengths = [5, 1, 4, 1, 9]
    >>> [chosen.tolist() for chosen in pn.training.batches(lengths, most_elements=9)]
    [[1, 3, 2], [0], [4]]
    """
    if isinstance(lengths, NestedArray):
        raise ArgumentError("batches: takes the lengths of the components, not the array: x.lengths_along(1).")
    counted = as_integers("batches", "lengths", lengths, 1)
    check_lengths("batches", counted)
    limits = {"most_elements": most_elements, "most_components": most_components}
    given = {name: canonical_int("batches", name, one) for name, one in limits.items() if one is not None}
    if not given or min(given.values()) < 1:
        raise ArgumentError(
            f"batches: give most_elements or most_components, or both, 1 or above, not {most_elements!r} and "
            f"{most_components!r}."
        )
    seed = None if seed is None else canonical_int("batches", "seed", seed)
    if seed is not None and seed < 0:
        raise ArgumentError(f"batches: seed must be 0 or above, not {seed}.")
    return _drawn(counted, given.get("most_elements"), given.get("most_components"), seed)


def _drawn(lengths: Ints, most_elements: int | None, most_components: int | None, seed: int | None) -> Iterator[Ints]:
    generator = None if seed is None else np.random.default_rng(seed)
    order = np.arange(len(lengths)) if generator is None else generator.permutation(len(lengths))
    order = order[np.argsort(lengths[order], kind="stable")]
    cuts, elements = [0], 0
    for i, length in enumerate(lengths[order].tolist()):
        elements += length
        full = most_elements is not None and elements > most_elements
        if i > cuts[-1] and (full or i - cuts[-1] == most_components):
            cuts.append(i)
            elements = length
    made = [one for one in np.split(order, cuts[1:]) if one.size]
    numbers = range(len(made)) if generator is None else generator.permutation(len(made))
    return iter([made[i] for i in numbers])
