"""One aligned line per rule: what a primitive computes, and its derivative."""
