"""Single faults, planted one at a time, and what the conformance kit finds of them: its kill rate.

    python -m tests.faults small
    python -m tests.faults programs
    python -m tests.faults pynested --only "a dense row is that of the neighbour"
    python -m tests.faults torch

The faults are data: `small.toml` for the small implementation of tests/conformance/small, `pynested.toml` for our own
code, `programs.toml` for what no call shows alone of it, `torch.toml` for PyTorch's Python file of jagged operators. In
each `old`, found exactly once in `file`, becomes `new`, and `op` names the operators whose cases, or the chapters whose
programs, are run. They were chosen before the cases that are to find them: a
fault that survives says what a case is missing, and is never changed so that a case finds it. `equivalent` is why a
fault cannot be seen from outside, where it turned out so.
"""
