"""What both classes have of the operators: methods, Python's signs, ufuncs and functions of NumPy."""
