"""Faults planted one at a time, and the tests that notice them.

    python -m tests.mutation small
    python -m tests.mutation pynested --only "a dense row is that of the neighbour"
    python -m tests.mutation --minutes 60

The faults are the rows of the tables beside this file; `plant.py` says how a row names what it changes. A row also
names its suite: ``op`` operators, or chapters of programs, for `pynested conform`; ``test`` a test; ``check`` a check
of the CUDA kernels. With a table, the command runs these suites and prints how many faults they kill. `operators`,
`pynested`, `programs`, `gradients`, `graph` and `cuda` change our own code, `small` the small implementation of
`tests/conformance/small`. Faults are chosen before the cases that are to find them: a fault that survives says which
case is missing, and is never changed so that a case finds it. ``equivalent`` says why a fault cannot be seen from
outside.

Without a table the command is the gate of the test suite: every fault of our own code, and single-token changes drawn
from a random seed (`token_changes.py`), run the test suite until the first failure. `kills.csv` holds one row for each
fault; a run appends to it and leaves out the faults that it already holds. To see what tests that you delete had
noticed, run the gate with another file, ``--kills``, and compare.
"""
