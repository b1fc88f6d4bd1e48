"""Reading and writing by an index: ``x[index]``, ``x[index] = value``, and all other writes in place."""
