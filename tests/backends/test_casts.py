"""Casts equal exact arithmetic bit by bit; devices with kernels round once and refuse what overflows."""

from __future__ import annotations

import numpy as np
import pytest

import pynested as pn
from pynested.backends import get_backend

from ..batches import nothing_warns
from ..ragged import test_ways_in as ways_in
from .kernel_checks import ALL
from .kernel_checks_elements import cast as check_cast


@pytest.mark.parametrize("host", ["cpu", "plain"])
@pytest.mark.parametrize("dtype", [name for name in ALL if name != "bfloat16"])
def test_every_pair_without_a_warning(dtype: str, host: str) -> None:
    with nothing_warns():
        check_cast(get_backend(host), dtype)


def of_the_device(way: ways_in.Way) -> ways_in.Way:
    """Return a way for an ndarray, which is moved first: a write takes none of the CPU."""
    return lambda x, values: way(x, pn.array(values))


WRITES = {*ways_in.WRITES, "component"}
MASKED = {"masked_fill", "masked_fill_", "where", "where first"}  # by a mask of the CPU
TIE_OF_BFLOAT16 = np.array([1 + 2.0**-8 + 2.0**-40, 0.1])  # by way of float32 it would be rounded twice, and to 1


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("form", ways_in.FORMS)
def test_numbers_arrive_or_are_refused(form: str, dtype: str, device: str) -> None:
    """Every way into an array, as on the CPU."""
    pairs = [*ways_in.pairs("float32" if dtype == "bfloat16" else dtype)]
    pairs += [(TIE_OF_BFLOAT16, None)] if dtype == "bfloat16" else []
    with pn.set_default_device(device):
        for name, way in ways_in.ways(form).items():
            for values, error in pairs:
                ways_in.check_way(of_the_device(way) if name in WRITES else way, form, dtype, values, error)
        for name in ways_in.NUMBERS.keys() - MASKED:
            for number, error in ways_in.fills(dtype, False):
                ways_in.check_way(ways_in.NUMBERS[name], form, dtype, number, error)
        if dtype != "bfloat16":
            ways_in.test_numbers_that_are_counted_or_drawn(dtype)
        ways_in.test_a_number_must_fit_for_any_alpha(form)


def test_numbers_out_of_range_are_refused_beside_a_mask_and_in_bfloat16(device: str) -> None:
    x = pn.ones(2, dtype=pn.int8, device=device)
    for function in (pn.masked_fill, lambda x, mask, number: pn.where(mask, x, number)):
        with pytest.raises(OverflowError, match="int8"):
            function(x, x > 0, 300)
    with pytest.raises(OverflowError, match="bfloat16"):
        pn.full((2,), 1e300, dtype="bfloat16", device=device)
    tie = pn.array([TIE_OF_BFLOAT16[0]], device=device)
    assert tie.to("bfloat16").tolist() == tie.to("cpu").to(device, "bfloat16").tolist() == [1 + 2.0**-7]


def test_equality_is_exact(device: str) -> None:
    integers, floats = pn.array([2**53 + 1], device=device), pn.array([2.0**53], device=device)
    assert not pn.equal(integers, floats) and not pn.equal(floats, integers)
    assert pn.equal(pn.array([2**53], device=device), floats)
    for dtype in (pn.float64, pn.float32, "bfloat16"):
        assert not pn.equal(pn.array([2.0**63], device=device).to(dtype), pn.array([2**63 - 1], device=device))
