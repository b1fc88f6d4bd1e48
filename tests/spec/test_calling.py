"""The call of a definition, written out."""

from __future__ import annotations

import numpy as np
import pytest

from pynested.spec.calling import arrays, called
from pynested.spec.components import Components


@pytest.mark.parametrize(
    ("op", "args", "name", "dims"),
    [
        ("sum", [-1], "dim", 2),
        ("sum", [(-1, 1)], "dim", (2, 1)),
        ("unsqueeze", [-1], "dim", 3),
        ("transpose", [1, -1], "dim1", 2),
    ],
)
def test_dimensions_are_counted_from_the_front(op: str, args: list, name: str, dims: object) -> None:
    x = Components([np.zeros((2, 3)), np.zeros((1, 3))])
    assert called(op, [x, *args], {})[1][name] == dims


def test_only_what_the_definition_takes_is_given_to_it() -> None:
    x = Components([np.zeros(2)])
    define, given = called("relu", [x], {"requires_grad": True})
    assert list(given.values()) == [x] and define(**given)


def test_arrays_are_found_in_lists() -> None:
    x, row = Components([np.zeros(2)]), np.ones(3)
    assert [one is expected for one, expected in zip(arrays([[x, 2], "sum", row]), (x, row), strict=True)] == [True] * 2
