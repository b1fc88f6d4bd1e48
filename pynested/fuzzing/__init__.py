"""The fuzzer: calls and programs drawn without end, for any target that `conform` can ask.

A call goes down this list, and what came of it comes up again:

- `chance`: random numbers that are the same on every machine
- `plan`: what a seed and a number stand for. A family of `spec/axes/` with any row that it permits, in place of the
  covering array of the frozen cases; other lengths and sizes where a level says only what kind; wilder numbers
- `calls`: the writer of the family makes the call, as it makes those of the vectors, and `build` its exact expectation
- `programs` and `steps`: what some numbers stand for in place of a call: a few calls, each on what those before it have
  made; what is due is reckoned by the memory and the slopes of the specification
- `laws`: the same components in another order, one alone, a part, twice. What is due is picked out of what was due
- `asking`: every layout and placement of these as requests, and a verdict for each reply
- `campaign`: chunks of numbers and their tallies; `workers`: who asks them; `settings`: all that a worker is told
- `smaller` and `shrink`: from a call that differs to the smallest one that differs so
- `telling`: the claim, the differences as `conform` shows them, and vectors that it runs; `command`: `pynested fuzz`

Three things hold everywhere. A plan is data, and a smaller plan is written by the same writer, so no call is ever asked
that the specification does not have. What is due is exact, by the oracle of the vectors, and `conform` has the last
word about each difference. And a chunk is a pure function of settings and numbers: nothing depends on who asks.

What else can be drawn joins at `plan.OFFERED`: a new family, with its writer in `designed.WRITERS`, is drawn by itself.
What programs may call joins at `steps`.
"""
