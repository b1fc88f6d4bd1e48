"""Dropout of elements of nested and dense arrays, an operator of the chapter *normalization*."""

from __future__ import annotations

import numpy as np

from pynested.autograd import Array, random
from pynested.autograd.arguments.operands import as_array
from pynested.autograd.arguments.scalars import canonical_real
from pynested.autograd.call_errors import check_flags
from pynested.autograd.dispatch import operator
from pynested.autograd.primitives import binary, movement
from pynested.backends.host import from_host
from pynested.lifting.result_dtypes import check_float
from pynested.nested.layout_conversion import packed
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import ArrayT


@operator
def dropout(
    self: ArrayT, p: float = 0.5, training: bool = True, *, generator: np.random.Generator | None = None
) -> ArrayT:
    """Drop each element with probability ``p``, and divide the others by ``1 - p``: ``(B, *, D) -> (B, *, D)``.

    The shape, the layout and the dtype stay. A dropped element is multiplied by 0, so NaN and infinities become NaN.
    Each element is kept or dropped independently. Gradient: ``g / (1 - p)`` for a kept element, ``0 * g`` for a dropped
    one. Clauses: DROPOUT-1, DROPOUT-3 to DROPOUT-6, DROPOUT-8 to DROPOUT-10. After `torch.nn.functional.dropout`.

    Parameters
    ----------
    p : float
        From 0, which keeps every element, to 1, which drops every one.
    training : bool
        False returns ``self``, whatever ``p`` is.
    generator : numpy.random.Generator, optional
        The source of the random draws, by default that of `manual_seed`. The elements that a state of the generator
        keeps are not specified.

    Raises
    ------
    ArgumentError
        For ``p`` below 0, above 1 or NaN.
    DTypeError
        For bools and integers.

    Examples
    --------
    >>> nt = pn.nested_array([[1.0, np.nan], [3.0]], layout=pn.jagged)
    >>> pn.dropout(nt, 1.0).unbind()
    (array([ 0., nan]), array([0.]))
    """
    check_flags("dropout", training=training)
    probability = canonical_real("dropout", "p", p, 0, 1) * bool(training)
    if not isinstance(self, NestedArray):
        return _drop(as_array("dropout", self), probability, generator)
    x = packed(self) if probability else self  # without drops the result is a view
    return NestedArray(_drop(x.data, probability, generator), x.structure)


def _drop(x: Array, probability: float, generator: np.random.Generator | None) -> Array:
    check_float("dropout", x)
    if not probability:
        return movement.alias(x)
    mask = from_host(random.canonical_generator(generator).random(x.shape) >= probability, x.device)
    return binary.dropout(x, mask, probability)
