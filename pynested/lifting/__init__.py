"""Lifting of functions of dense arrays to nested arrays: element by element, reductions, along one dimension."""
