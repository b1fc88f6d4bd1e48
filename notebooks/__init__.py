"""Notebooks, and what executes them."""
