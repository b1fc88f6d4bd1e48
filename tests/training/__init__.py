"""Tests of `pynested.training`."""
