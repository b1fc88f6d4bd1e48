"""New arrays like another one: where they lie."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn

LIKE: dict[str, Callable[[Any], Any]] = {
    "empty_like": pn.empty_like,
    "zeros_like": pn.zeros_like,
    "ones_like": pn.ones_like,
    "full_like": lambda x: pn.full_like(x, 7),
    "rand_like": pn.rand_like,
    "randn_like": pn.randn_like,
    "randint_like": lambda x: pn.randint_like(x, 5),
}


@pytest.mark.shows("LIKE-9")
@pytest.mark.parametrize("name", LIKE)
def test_a_result_lies_on_the_device_of_what_it_is_like(name: str) -> None:
    for layout in (pn.jagged, pn.strided):
        for device in ("cpu", "plain"):
            x = pn.nested_array([np.ones((2, 3)), np.ones((0, 3))], layout=layout, device=device)
            assert (x.device, LIKE[name](x).device, LIKE[name](x.values()).device) == (device,) * 3
