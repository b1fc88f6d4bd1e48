"""The generator of the vectors: authored inputs in, exact expectations out (needs mpmath)."""
