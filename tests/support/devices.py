"""Devices that need no GPU."""

from __future__ import annotations

import shutil

import pytest

DEVICES = [
    "cpu",
    "plain",
    pytest.param("emulated", marks=pytest.mark.skipif(shutil.which("g++") is None, reason="the emulation needs g++")),
]
