"""Batches of sequences of similar lengths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pynested.autograd.arguments.shapes import canonical_int
from pynested.autograd.decorators import method
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
    """Yield the numbers of the sequences of each batch: every sequence once, those of similar lengths together.

    Nothing is padded, so no padding is saved. ``most_elements`` keeps the memory and the time of a step even, and
    operators are faster on components of similar lengths.

    Parameters
    ----------
    lengths : integers (N,)
        Of the sequences, 0 or more.
    most_elements, most_components : int, optional
        The largest sum of the lengths of a batch, but for a longer sequence, which is a batch of its own; and the
        largest number of its sequences. At least one of the two must be given, 1 or above.
    seed : int, optional
        Sequences of one length, and the batches, come in an order drawn from it. Without one they come in the order of
        their lengths, the shortest first.

    Raises
    ------
    ArgumentError
        For limits and seeds outside of these, and for an array in place of its lengths.
    StructureError, DTypeError
        For negative lengths, and for lengths that are not integers.

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
    given = [canonical_int("batches", name, limit) for name, limit in limits.items() if limit is not None]
    if not given or min(given) < 1:
        raise ArgumentError(
            f"batches: give most_elements or most_components, or both, 1 or above, not {most_elements!r} and "
            f"{most_components!r}."
        )
    if seed is not None and canonical_int("batches", "seed", seed) < 0:
        raise ArgumentError(f"batches: seed must be 0 or above, not {seed}.")
    generator = None if seed is None else np.random.default_rng(seed)
    order = np.arange(len(counted)) if generator is None else generator.permutation(len(counted))
    order = order[np.argsort(counted[order], kind="stable")]
    cuts, elements = [0], 0
    for i, length in enumerate(counted[order].tolist()):
        elements += length
        is_full = most_elements is not None and elements > most_elements
        if i > cuts[-1] and (is_full or i - cuts[-1] == most_components):
            cuts.append(i)
            elements = length
    parts = [part for part in np.split(order, cuts[1:]) if part.size]
    return iter(parts if generator is None else [parts[i] for i in generator.permutation(len(parts))])
