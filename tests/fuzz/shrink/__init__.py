"""Simpler plans of each mode; `pynested.fuzzing.shrink` tries them."""
