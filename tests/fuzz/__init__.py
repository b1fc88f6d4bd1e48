"""The fuzzer: it draws calls, runs them, judges what came, and tells a difference in as few lines as it can.

    python -m tests.fuzz --seed 1 --calls 100000                   every mode, so many calls of each
    python -m tests.fuzz --mode gradient --device emulated
    python -m tests.fuzz --mode forward --seed 7 --only 1234       one plan again: shrunk, as a program

A walk through the package, in the order in which a difference is found:

1. **Draw** (`chance`, `plan`, `draw/`). A seed and a number give one plan, the same on every machine: plain data
   without an array of pynested in it. A `plan.Chain` is memory (numbers, and how they lie), operands that look into it
   (dense, jagged, strided; with holes full of poison, turned, overlapping) and calls that take operands and the results
   of calls before them. `draw/draft.py` holds a chain while it is drawn, with the values that the definitions give, so
   that the next call can be one that fits, nearly fits, or does not fit.
2. **Run** (`run`). A plan becomes arrays and calls of pynested; what comes back is read from the bare buffer and the
   integers of the structure, so that no operator of pynested is trusted to read. Each call has an alarm.
3. **Judge** (`oracle/`, `judge/`). `oracle` says what the specification says of a call on plain data: `Refused` with
   which errors, `Silent`, or an `Answer` by the executable definition with its bound. It is written from the clauses,
   and imports of pynested nothing but `pynested.spec`. `judge` holds the outcome against it, and against what needs no
   expectation. The modes of a campaign differ in what they judge:

   - *forward* (`judge/call.py`, `judge/chains.py`, `judge/laws.py`): values, dtypes, layouts, classes of errors; that
     no buffer changed, holes included; that placement, layout, order and neighbours never show;
   - *gradient* (`judge/gradients.py`, `judge/second.py`, `judge/by_torch.py`): reverse and forward mode and the second
     order against definitions run on complex numbers (`oracle/slopes.py`); with checkpoints, hooks, and writes in
     between, after which a gradient is right or refused; *torch* holds them against PyTorch's dense operators instead;
   - *writes* (`judge/writes.py`, `judge/simulation.py`): writes through views, every byte of memory against NumPy's;
   - *structures* (`judge/structures.py`): malformed offsets, sizes, shapes; brute force reads what is accepted;
   - *tampering* (`judge/tampering.py`): arrays by the back door, and windows of more elements than there is memory;
   - *threads* (`judge/threads.py`): chains, checkpoints and random numbers in several threads.
4. **Shrink** (`shrink/`). Simpler plans are tried as long as one shows the same kind of difference.
5. **Tell** (`tell/`). The smallest plan as a program that can be pasted into a Python session, with what came and what
   was due.

`campaign` puts the five together and counts; warnings are errors there, and memory is limited. The exit code is 1 if
anything differs.
"""
