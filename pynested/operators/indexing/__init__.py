"""Reading by an index, ``x[index]``; writing by an index, ``x[index] = value``; and all other writes in place."""
