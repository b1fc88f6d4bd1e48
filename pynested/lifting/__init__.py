"""Lifting: how a function of dense arrays becomes one of nested arrays."""
