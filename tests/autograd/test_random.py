"""Random numbers: a default stream for each thread and each process, and no number of it twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.autograd.random import generator_state, replay_random


def drawn(count: int = 3) -> list[float]:
    numbers: list[float] = pn.rand(count).tolist()
    return numbers


def test_a_seed_begins_the_stream_of_numpys_generator() -> None:
    expected = np.random.default_rng(5).random(6).tolist()
    returned = pn.manual_seed(5)
    assert drawn(4) == expected[:4]
    assert returned.random(2).tolist() == expected[4:]


class Largest(np.random.Generator):
    """A generator that draws the largest float64 below 1."""

    def random(self, size: Any = None, out: Any = None) -> Any:  # type: ignore[override]
        out = np.empty(size) if out is None else out
        out[...] = 1 - 2.0**-53
        return out


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_random_numbers_stay_below_1(dtype: str) -> None:
    assert (pn.rand(4, dtype=dtype, generator=Largest(np.random.PCG64())) < 1.0).tolist() == [True] * 4


BITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}  # of a significand


@pytest.mark.parametrize("dtype", BITS)
def test_integers_that_a_dtype_of_floats_would_round_are_refused(dtype: str) -> None:
    largest = 2 ** BITS[dtype]
    draws: list[Callable[..., Any]] = [
        lambda low, high: pn.randint(low, high, (9,), dtype=dtype, device="emulated"),
        lambda low, high: pn.randint_like(pn.zeros(9, dtype=dtype, device="emulated"), low, high),
    ]
    for draw in draws:
        assert draw(largest - 1, largest + 1).dtype.name == draw(-largest, 1 - largest).dtype.name == dtype
        assert draw(largest + 2, largest + 3).tolist() == [largest + 2] * 9
        for low, high in ((0, largest + 2), (0, largest + 3), (-largest - 1, 0), (-largest - 2, 0)):
            with pytest.raises(OverflowError, match=f"^randint.*: dtype {dtype} does not represent every integer"):
                draw(low, high)


@pytest.mark.shows("RANDOM-10")
def test_an_argument_generator_leaves_the_default_stream_where_it_is() -> None:
    x = pn.nested_array([[1.0, 2.0], [3.0]])
    draws: list[Callable[[Any], Any]] = [
        lambda g: pn.rand(4, generator=g), lambda g: pn.rand_like(x, generator=g),
        lambda g: pn.randn(4, generator=g), lambda g: pn.randn_like(x, generator=g),
        lambda g: pn.randint(-900, 900, (4,), generator=g), lambda g: pn.randint_like(x, -900, 900, generator=g),
    ]  # fmt: skip
    for draw in draws:
        pn.manual_seed(5)
        expected = drawn(2)
        pn.manual_seed(5)
        generator = np.random.default_rng(8)
        first, second, again = draw(generator), draw(generator), draw(np.random.default_rng(8))
        assert drawn(2) == expected
        assert first.tolist() == again.tolist() != second.tolist()


def test_each_thread_has_a_stream_of_its_own() -> None:
    with ThreadPoolExecutor(1) as other:
        other.submit(pn.manual_seed, 3).result()
        pn.manual_seed(7)
        assert drawn() == np.random.default_rng(7).random(3).tolist()
        assert other.submit(drawn).result() == np.random.default_rng(3).random(3).tolist()
        with ThreadPoolExecutor(1) as third:
            assert len({*drawn(), *other.submit(drawn).result(), *third.submit(drawn).result()}) == 9


def test_drawing_again_leaves_every_stream_unchanged() -> None:
    with ThreadPoolExecutor(1) as other:
        expected = np.random.default_rng(4).random(9).tolist()
        pn.manual_seed(4)
        other.submit(drawn).result()
        state = generator_state()
        first, other_state = drawn(), other.submit(generator_state).result()
        with replay_random(state):
            assert drawn() == first == expected[:3]
            pn.manual_seed(6)  # inside the function that is called again
            assert drawn() == np.random.default_rng(6).random(3).tolist()
            with replay_random(state):
                assert drawn() == first
            assert drawn() == np.random.default_rng(6).random(6)[3:].tolist()
            assert other.submit(generator_state).result() == other_state
        assert drawn() == expected[3:6]
        assert other.submit(generator_state).result() == other_state


FORK = """
import os
import pynested as pn

def child():
    back, into = os.pipe()
    if not os.fork():
        os.write(into, repr(pn.rand(2).tolist()).encode())
        os._exit(0)
    os.wait()
    return os.read(back, 1000).decode()

pn.manual_seed(1)
print(pn.rand(2).tolist(), child(), child(), pn.rand(2).tolist(), sep=chr(10))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_a_forked_process_has_a_stream_of_its_own() -> None:
    run = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, check=True)
    numbers = [json.loads(line) for line in run.stdout.splitlines()]
    assert numbers[0] + numbers[3] == np.random.default_rng(1).random(4).tolist()  # not those of the two children
    assert len({number for drawn in numbers for number in drawn}) == 8
