"""Tests of writes, once more with arrays on devices: arrays of a GPU have no flag for read-only memory."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import pynested as pn

from ...autograd.test_function import test_cotangents_and_tangents_are_read_only  # noqa: F401
from ...autograd.test_hooks import (
    test_a_hook_can_keep_a_gradient_and_return_it,  # noqa: F401
    test_a_hook_does_not_write_into_a_gradient,  # noqa: F401
)
from ...operators.test_views import (  # noqa: F401
    test_views_made_under_no_grad_stay_unrecorded_and_only_those_of_constants_are_written,
)


@pytest.fixture(autouse=True)
def on_the_device(device: str) -> Iterator[None]:
    """Run the imported tests above with new arrays on the device."""
    with pn.set_default_device(device):
        yield


def test_memory_whose_places_repeat_is_not_written() -> None:
    overlapping = pn.nested_array_from_strided(pn.arange(4.0), [[2, 2]], [[1, 1]], [0])
    for repeating in (pn.array([1.0, 2.0]).broadcast_to((3, 2)), overlapping.unbind()[0]):
        with pytest.raises(pn.errors.GradientError, match="its elements repeat"):
            repeating.add_(1.0)
