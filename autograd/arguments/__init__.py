"""Arguments in the form in which primitives take them, or a clear error."""
