"""The tables of reductions and of run-wise operators: what each does to a run, and how functions are made of it."""
