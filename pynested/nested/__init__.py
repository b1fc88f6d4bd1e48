"""`NestedArray`: the class, its methods, and what Python and NumPy ask of it."""
