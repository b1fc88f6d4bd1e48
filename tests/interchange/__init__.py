"""Tests of `pynested.interchange`; those of a library that is not installed are skipped."""
