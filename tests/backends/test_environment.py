"""Environment variables that hold numbers: the texts that they take, and one message for all others."""

from __future__ import annotations

import re

import pytest

from pynested.backends.environment import whole_number
from pynested.backends.errors import ArgumentError

NAME = "PYNESTED_NUMBER"


@pytest.mark.parametrize(("text", "number"), [("2", 2), ("007", 7), ("9", 9), ("", 1)])
def test_numbers_in_the_range_and_a_default_outside(text: str, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, text)
    assert whole_number(NAME, 1, least=2, greatest=9) == number


@pytest.mark.parametrize(
    "text", ["1", "10", "-3", "+3", " 3", "3 ", "3.0", "3e0", "0x3", "1_0", "²", "٣", "x", "9" * 5000]
)
def test_all_else_is_refused_by_name(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, text)
    message = f"the environment variable {NAME} is {text!r}; it takes a whole number from 2 to 9."
    with pytest.raises(ArgumentError, match=re.escape(message)):
        whole_number(NAME, 5, least=2, greatest=9)
