"""Faults planted one at a time in our own code, and the test module that notices each.

    python -m tests.mutation --minutes 60
    python -m tests.mutation --replaced tests/operators --minutes 60

Two kinds of faults are planted: every row of `tests/mutants.toml` and `tests/faults/*.toml` that changes our own code,
and single-token changes drawn from a random seed (`token_changes.py`). Each fault runs the test suite, which must pass
without a fault, until the first failure; the folder that mirrors the changed file runs first. ``--replaced`` names
modules or folders that are going to be deleted: they run only if everything else passes. A fault that only they notice
says what a table of the other tests is missing. `kills.csv` holds one row for each fault; a run appends to it and
leaves out the faults that it already holds.
"""
